/* What the parts of the load generator share: what was asked for, the connections, the counts. */

#ifndef LOAD_H
#define LOAD_H

#include "answers.h"
#include "latency.h"
#include "reader.h"
#include "signing.h"
#include "watch.h"
#include "wire.h"

enum {
    IN_BYTES = 1 << 21,
    OPEN_IN_FLIGHT = 4096,
    EVENTS = 256,
    NO_MATCH = 20,
    UNSEEN_MAX = 20000, /* transactions ended and not seen: nobody answers an end */
};

enum mode {
    SEND, BATCH, FILL, PULL, PULL_SQL, OPEN, DELAY, TRANSACTION, POP, CREATE, TOUCH, IDLE, REDIS,
    DUMMY,
};

enum fault { SOUND, WRONG_CODE, WRONG_OPAQUE, NO_ANSWER, FEWER, TWICE, EARLY };

struct slot {
    uint64_t since;
    uint32_t opaque;
    bool is_busy;
    bool is_ack;
    bool is_placed;  /* a pull's reader has been sent to its own part of the queue */
    int queue;       /* of a pull */
    uint64_t offset; /* of a pull */
    uint64_t group;  /* of a pop */
};

struct connection {
    struct wire wire;
    bool waits_for_room;
    char *in, *out;
    size_t in_size, out_from, out_size;
    size_t from_end;
    struct slot *slots;
    unsigned *free; /* a stack of slots; for Redis not used, there the slots are a ring */
    unsigned free_count;
    uint64_t sent, answered;
    unsigned pops; /* unanswered ones */
};

struct options {
    enum mode mode;
    int port, reader_port, queues;
    unsigned connections, in_flight, batch;
    size_t body;
    const char *topic;
    const char *access_key, *secret_key; /* NULL: nothing is signed */
    const char *authority; /* NULL: no TLS */
    uint64_t count;
    double seconds, rate, patience, ahead;
    enum fault fault;
};

extern struct options options;
extern struct connection *connections;
extern struct request *requests; /* one for each queue */
extern struct request *acks; /* of a pop, one for each queue */
extern struct request ending; /* of a transaction */
extern unsigned slot_mask;
extern size_t request_max, out_room;
extern struct stamp stamp;
extern struct signer signer;
extern struct latency latency, lateness;
extern int waiter;
extern uint64_t issued, in_flight, good, requests_answered, errors, began, ends, last_answer;
extern struct watch watch;
extern struct reader slave_reader; /* of a slave */
extern uint64_t held_before, seen; /* what the topic held at first, and has got since */
extern uint64_t examined; /* by filtered pulls */
extern uint64_t pop_group, asked; /* the group that pops now, and for how much */
extern uint32_t *poppers; /* by queue and offset: 1 + the last group that it went to */
extern uint64_t queue_room; /* of that table */
extern char first_error[512];

/* sending.c */
uint64_t now_ns(void);
void note_error(const char *what, const char *text, size_t size);
void fail(const char *what);
uint64_t due_at(uint64_t number);
void lose(struct connection *connection, const char *reason);
void flush(struct connection *connection);
char *make_room(struct connection *connection);
struct slot *ask(struct connection *connection, const struct request *request, unsigned index,
                 struct filling *filling, uint64_t since);
void fill(struct connection *connection);
void fill_due(void);

/* taking.c */
void take(struct connection *connection);

#endif
