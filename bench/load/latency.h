/* How long answers took: counts in buckets of 1.6 %, so that a percentile costs no memory per
 * answer. A value below 64 ns has a bucket of its own; above, each power of two has 64. */

#ifndef LATENCY_H
#define LATENCY_H

#include <stdint.h>
#include <stdio.h>

enum { SUB_BITS = 6, SUB = 1 << SUB_BITS, POWERS = 48 };

struct latency {
    uint64_t counts[POWERS * SUB];
    uint64_t total;
    uint64_t max;
};

static inline void latency_add(struct latency *latency, uint64_t ns)
{
    unsigned bucket = (unsigned)ns;
    if (ns >= SUB) {
        int power = 63 - __builtin_clzll(ns);
        bucket = (unsigned)((power - SUB_BITS + 1) << SUB_BITS)
            + (unsigned)((ns >> (power - SUB_BITS)) & (SUB - 1));
        if (bucket >= POWERS * SUB)
            bucket = POWERS * SUB - 1;
    }
    latency->counts[bucket]++;
    latency->total++;
    if (ns > latency->max)
        latency->max = ns;
}

/* The top of the bucket in which the given share of all values has been reached, in ns. */
static inline uint64_t latency_at(const struct latency *latency, double share)
{
    uint64_t wanted = (uint64_t)(share * (double)latency->total);
    uint64_t seen = 0;
    for (unsigned bucket = 0; bucket < POWERS * SUB; bucket++) {
        seen += latency->counts[bucket];
        if (seen > wanted || (seen == latency->total && seen)) {
            uint64_t top = bucket;
            if (bucket >= SUB) {
                int shift = (int)(bucket >> SUB_BITS) - 1;
                top = ((uint64_t)((bucket & (SUB - 1)) + SUB + 1) << shift) - 1;
            }
            return top < latency->max ? top : latency->max;
        }
    }
    return 0;
}

/* ,"p50_us":…,…,"max_us":… with an optional prefix before each name. */
static inline void latency_print(FILE *out, const struct latency *latency, const char *prefix)
{
    static const struct { const char *name; double share; } asked[] = {
        {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999},
    };
    for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++) {
        double us = (double)latency_at(latency, asked[i].share) / 1000.0;
        fprintf(out, ",\"%s%s_us\":%.1f", prefix, asked[i].name, us);
    }
    fprintf(out, ",\"%smax_us\":%.1f", prefix, (double)latency->max / 1000.0);
}

#endif
