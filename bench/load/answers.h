/* What answers hold, read as far as it takes to see that they are right.
 *
 *     a record: | size i32 | magic i32 | checksum i32 | queue i32 | flag i32 | offset i64 | …
 *     a pop's offsets: `0 queue first,second,…;0 queue …`, where 0 says: not a retry topic's */

#ifndef ANSWERS_H
#define ANSWERS_H

#include "requests.h"

enum { RECORD_HEAD = 28, POP_QUEUES_MAX = 64 };

struct place {
    uint32_t queue;
    uint64_t offset;
};

struct popped {
    uint64_t time, revive_queue;
    uint64_t starts[POP_QUEUES_MAX];
    struct place places[BATCH_MAX];
    unsigned count;
};

/* The record at `at`, which ends before `end`: its size, and its place; 0: it is none. */
static inline uint32_t read_record(const char *at, const char *end, struct place *place)
{
    if (end - at < RECORD_HEAD)
        return 0;
    uint32_t size = load_i32(at);
    if (size < RECORD_HEAD || size > (size_t)(end - at) || load_i32(at + 4) != 0xDAA320A7)
        return 0;
    place->queue = load_i32(at + 12);
    place->offset = (uint64_t)load_i32(at + 20) << 32 | load_i32(at + 24);
    return size;
}

/* Records in the body; -1: they are not whole records one behind the other. */
static inline int64_t count_records(const char *body, const char *end)
{
    struct place place;
    int64_t count = 0;
    for (uint32_t size; body < end; body += size, count++)
        if (!(size = read_record(body, end, &place)))
            return -1;
    return count;
}

static inline bool passes(uint64_t offset)
{
    return offset % MARK_A > 0 && offset / MARK_A % MARK_B > 0;
}

/* How many messages of a marked queue pass before the given one. */
static inline uint64_t passing_before(uint64_t offset)
{
    uint64_t count = offset / MARK_PERIOD * (MARK_PERIOD / 2);
    for (uint64_t i = offset - offset % MARK_PERIOD; i < offset; i++)
        count += passes(i);
    return count;
}

/* Records in the body; -1: they are not all those from `from` to before `to` that pass. */
static inline int64_t count_passing(const char *body, const char *end, uint64_t from, uint64_t to)
{
    struct place place;
    uint64_t next = from, count = 0;
    for (uint32_t size; body < end; body += size, count++) {
        if (!(size = read_record(body, end, &place)) || place.offset < next || place.offset >= to
            || !passes(place.offset))
            return -1;
        next = place.offset + 1;
    }
    return count == passing_before(to) - passing_before(from) ? (int64_t)count : -1;
}

/* Messages that an answer to a batch speaks of. */
static inline int64_t count_ids(const char *header, const char *end)
{
    static const char name[] = "\"msgId\":\"";
    const char *at = memmem(header, (size_t)(end - header), name, sizeof name - 1);
    int64_t ids = at != NULL;
    for (at = at ? at + sizeof name - 1 : end; at < end && *at != '"'; at++)
        ids += *at == ',';
    return ids;
}

/* The text behind `name`, which has at least `size` characters; NULL: there is none. */
static const char *text_behind(const char *header, const char *end, const char *name, size_t size)
{
    const char *at = memmem(header, (size_t)(end - header), name, strlen(name));
    return at && (size_t)(end - at) >= strlen(name) + size ? at + strlen(name) : NULL;
}

/* Where in the log the message is, from the answer to its send: the last 16 of the 32 digits of
 * its id; -1: the answer has none. */
static inline int64_t log_offset_of(const char *header, const char *end)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *id = text_behind(header, end, "\"msgId\":\"", ID_DIGITS);
    uint64_t value = 0;
    for (int i = ID_DIGITS - 16; id && i < ID_DIGITS; i++) {
        const char *digit = memchr(digits, id[i], 16);
        if (!digit)
            return -1;
        value = value << 4 | (uint64_t)(digit - digits);
    }
    return id ? (int64_t)value : -1;
}

/* A number at `*at`, and the character behind it; false: it is something else. */
static inline bool read_item(const char **at, const char *end, char behind, uint64_t *value)
{
    int64_t number = read_decimal(*at, end);
    while (*at < end && **at >= '0' && **at <= '9')
        ++*at;
    *value = (uint64_t)number;
    return number >= 0 && *at < end && *(*at)++ == behind;
}

/* `0 queue start;…"` */
static inline bool read_starts(struct popped *popped, const char *at, const char *end)
{
    uint64_t retry, queue, start;
    do {
        if (!read_item(&at, end, ' ', &retry) || retry || !read_item(&at, end, ' ', &queue)
            || queue >= POP_QUEUES_MAX)
            return false;
        start = (uint64_t)read_decimal(at, end);
        popped->starts[queue] = start;
        while (at < end && *at != ';' && *at != '"')
            at++;
    } while (at < end && *at++ == ';');
    return true;
}

/* Whether `0 queue first,second;…"` are the places of the records, in their order. */
static inline bool are_listed(const struct popped *popped, const char *at, const char *end)
{
    uint64_t retry, queue, offset;
    unsigned listed = 0;
    do {
        if (!read_item(&at, end, ' ', &retry) || retry || !read_item(&at, end, ' ', &queue))
            return false;
        do {
            offset = (uint64_t)read_decimal(at, end);
            if (listed == popped->count || popped->places[listed].queue != queue
                || popped->places[listed].offset != offset)
                return false;
            listed++;
            while (at < end && *at >= '0' && *at <= '9')
                at++;
        } while (at < end && *at == ',' && ++at);
    } while (at < end && *at++ == ';');
    return listed == popped->count;
}

/* What a pop brought; false: it is not all there, or does not fit together, or came back. */
static inline bool read_popped(struct popped *popped, const char *header, const char *body,
                               const char *end)
{
    const char *starts = text_behind(header, body, "\"startOffsetInfo\":\"", 1);
    const char *listed = text_behind(header, body, "\"msgOffsetInfo\":\"", 1);
    int64_t time = number_behind(header, body, "\"popTime\":\"");
    int64_t revive_queue = number_behind(header, body, "\"reviveQid\":\"");
    if (!starts || !listed || time < 0 || revive_queue < 0
        || number_behind(header, body, "\"restNum\":\"") < 0)
        return false;
    popped->time = (uint64_t)time;
    popped->revive_queue = (uint64_t)revive_queue;
    popped->count = 0;
    for (const char *at = body; at < end;) {
        struct place *place = &popped->places[popped->count];
        uint32_t size = read_record(at, end, place);
        if (!size || place->queue >= POP_QUEUES_MAX || ++popped->count == BATCH_MAX)
            return false;
        at += size;
    }
    return popped->count && read_starts(popped, starts, body) && are_listed(popped, listed, body);
}

#endif
