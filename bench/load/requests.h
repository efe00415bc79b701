/* Requests as the Java 5.x client writes them, made once and patched for each use; answers as
 * brokers write them, read as far as a load generator must.
 *
 *     | total i32 | header type u8, header size u24 | header, JSON | body |
 *
 * A made request has places of fixed width: the opaque (7 digits, hence from 1,000,000), the birth
 * time in ms (13 digits), a running number in a name (6 digits), the last 12 hex digits of each
 * unique id (8 of time, 4 of a counter, as the client makes them), and a whole unique id that an
 * answer brought. And it has holes, for offsets and times, which have as many digits as they need:
 * such a request, which never has a body, is put together from its parts. */

#ifndef REQUESTS_H
#define REQUESTS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    OPAQUE_DIGITS = 7,
    OPAQUE_FIRST = 1000000,
    OPAQUE_COUNT = 9000000,
    BORN_DIGITS = 13,
    NUMBER_DIGITS = 6,
    UNIQUE_DIGITS = 12,
    ID_DIGITS = 32,
    HOLES_MAX = 5,
    BATCH_MAX = 1024,
};

/* Messages that a filter is to choose from bear two marks, which follow from their queue offset:
 * a = offset % 4 and b = offset / 4 % 3. Half of any 12 pass. */
enum { MARK_A = 4, MARK_B = 3, MARK_PERIOD = MARK_A * MARK_B };
#define MARK_FILTER "a > 0 AND b > 0"

struct request {
    char *bytes;
    size_t size;
    size_t room;
    size_t opaque_at, born_at, number_at; /* 0: has none */
    size_t hole_at[HOLES_MAX], id_at[2];
    unsigned hole_count, id_count;
    size_t unique_at[BATCH_MAX];
    unsigned unique_count;
};

/* What one use of a request puts into its places. */
struct filling {
    uint32_t opaque;
    uint64_t number;
    uint64_t holes[HOLES_MAX];
    const char *id;
};

/* What changes from one message to the next. */
struct stamp {
    uint64_t born_ms;
    char born[BORN_DIGITS + 1];
    uint64_t counter;
};

static inline void need_room(struct request *request, size_t more)
{
    if (request->size + more <= request->room)
        return;
    request->room = (request->size + more) * 2;
    request->bytes = realloc(request->bytes, request->room);
    if (!request->bytes)
        abort();
}

static inline void put_bytes(struct request *request, const void *bytes, size_t size)
{
    need_room(request, size);
    memcpy(request->bytes + request->size, bytes, size);
    request->size += size;
}

__attribute__((format(printf, 2, 3)))
static inline void put(struct request *request, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof text)
        abort();
    put_bytes(request, text, (size_t)size);
}

static inline size_t put_digits(struct request *request, int digits)
{
    size_t at = request->size;
    put(request, "%0*d", digits, 0);
    return at;
}

static inline void put_i32(struct request *request, uint32_t value)
{
    unsigned char bytes[4] = {
        (unsigned char)(value >> 24), (unsigned char)(value >> 16),
        (unsigned char)(value >> 8), (unsigned char)value,
    };
    put_bytes(request, bytes, 4);
}

static inline void put_body(struct request *request, size_t size)
{
    need_room(request, size);
    for (size_t i = 0; i < size; i++)
        request->bytes[request->size + i] = (char)('a' + i % 26);
    request->size += size;
}

static inline void put_unique_id(struct request *request)
{
    if (request->unique_count == BATCH_MAX)
        abort();
    put(request, "7F000001%04X4E0E2F2A", (unsigned)getpid() & 0xffff);
    request->unique_at[request->unique_count++] = put_digits(request, UNIQUE_DIGITS);
}

static inline void store_i32(char *at, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(at, &value, 4);
}

static inline uint32_t load_i32(const char *at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return __builtin_bswap32(value);
}

static inline void begin_frame(struct request *request)
{
    memset(request, 0, sizeof *request);
    put_i32(request, 0);
    put_i32(request, 0);
}

static inline void put_hole(struct request *request)
{
    if (request->hole_count == HOLES_MAX)
        abort();
    request->hole_at[request->hole_count++] = request->size;
}

static inline void end_flagged_header(struct request *request, int flag)
{
    put(request, ",\"flag\":%d,\"language\":\"JAVA\",\"opaque\":", flag);
    request->opaque_at = put_digits(request, OPAQUE_DIGITS);
    put(request, ",\"serializeTypeCurrentRPC\":\"JSON\",\"version\":513}");
    store_i32(request->bytes + 4, (uint32_t)(request->size - 8));
}

static inline void end_header(struct request *request)
{
    end_flagged_header(request, 0);
}

static inline void end_frame(struct request *request)
{
    store_i32(request->bytes, (uint32_t)(request->size - 4));
}

static inline void put_name(struct request *request, const char *topic, bool numbered)
{
    put(request, "%s", topic);
    if (numbered)
        request->number_at = put_digits(request, NUMBER_DIGITS);
}

/* What makes a message more than a plain one: properties as they stand in JSON, before and behind
 * those of every message. */
struct extras {
    int sys_flag;
    const char *before, *behind;
};

static const struct extras PLAIN = {0, "", ""};
static const struct extras HALF = {
    4, "TRAN_MSG\\u0001true\\u0002", "PGROUP\\u0001bench-producers\\u0002",
};

/* SEND_MESSAGE_V2. */
static inline void make_send(struct request *request, const char *topic, bool numbered, int queue,
                             size_t body, const struct extras *extras)
{
    begin_frame(request);
    put(request, "{\"code\":310,\"extFields\":{\"a\":\"bench-producers\",\"b\":\"");
    put_name(request, topic, numbered);
    put(request, "\",\"c\":\"TBW102\",\"d\":\"4\",\"e\":\"%d\",\"f\":\"%d\",\"g\":\"", queue,
        extras->sys_flag);
    request->born_at = put_digits(request, BORN_DIGITS);
    put(request, "\",\"h\":\"0\",\"i\":\"%sUNIQ_KEY\\u0001", extras->before);
    put_unique_id(request);
    put(request, "\\u0002WAIT\\u0001true\\u0002%sTAGS\\u0001TagA\\u0002\",\"j\":\"0\","
        "\"k\":\"false\",\"m\":\"false\",\"n\":\"broker-a\"}", extras->behind);
    end_header(request);
    put_body(request, body);
    end_frame(request);
}

/* SEND_BATCH_MESSAGE; with marks its size is a multiple of MARK_PERIOD, so that the marks follow
 * from the queue offset in whatever order batches are stored. */
static inline void make_batch(struct request *request, const char *topic, int queue, size_t body,
                              unsigned batch, bool with_marks)
{
    static const char after[] = "\x02WAIT\x01true\x02TAGS\x01TagA\x02";
    begin_frame(request);
    put(request, "{\"code\":320,\"extFields\":{\"a\":\"bench-producers\",\"b\":\"%s\","
        "\"c\":\"TBW102\",\"d\":\"4\",\"e\":\"%d\",\"f\":\"0\",\"g\":\"", topic, queue);
    request->born_at = put_digits(request, BORN_DIGITS);
    put(request, "\",\"h\":\"0\",\"i\":\"UNIQ_KEY\\u0001");
    put_unique_id(request);
    put(request, "\\u0002WAIT\\u0001true\\u0002\",\"j\":\"0\",\"k\":\"false\",\"m\":\"true\","
        "\"n\":\"broker-a\"}");
    end_header(request);
    for (unsigned i = 0; i < batch; i++) {
        char before[64];
        int size = with_marks
            ? snprintf(before, sizeof before, "a\x01%u\x02""b\x01%u\x02UNIQ_KEY\x01", i % MARK_A,
                       i / MARK_A % MARK_B)
            : snprintf(before, sizeof before, "UNIQ_KEY\x01");
        uint32_t properties = (uint32_t)size + ID_DIGITS + sizeof after - 1;
        put_i32(request, (uint32_t)(22 + body + properties));
        for (int zero = 0; zero < 3; zero++) /* magic, checksum, flag: the broker's to fill in */
            put_i32(request, 0);
        put_i32(request, (uint32_t)body);
        put_body(request, body);
        put_bytes(request, (char[]){(char)(properties >> 8), (char)properties}, 2);
        put_bytes(request, before, (size_t)size);
        put_unique_id(request);
        put_bytes(request, after, sizeof after - 1);
    }
    end_frame(request);
}

/* END_TRANSACTION, one-way: commit. Holes: place in the log, queue offset; both ids the half's. */
static inline void make_end(struct request *request, const char *topic)
{
    begin_frame(request);
    put(request, "{\"code\":37,\"extFields\":{\"producerGroup\":\"bench-producers\","
        "\"bname\":\"broker-a\",\"commitLogOffset\":\"");
    put_hole(request);
    put(request, "\",\"topic\":\"%s\",\"msgId\":\"", topic);
    request->id_at[request->id_count++] = put_digits(request, ID_DIGITS);
    put(request, "\",\"tranStateTableOffset\":\"");
    put_hole(request);
    put(request, "\",\"commitOrRollback\":\"8\",\"transactionId\":\"");
    request->id_at[request->id_count++] = put_digits(request, ID_DIGITS);
    put(request, "\",\"fromTransactionCheck\":\"false\"}");
    end_flagged_header(request, 2);
    end_frame(request);
}

/* PULL_MESSAGE with its subscription in the header, which asks for no consumer to be known; held
 * while there is no message, or answered at once. Hole: the queue offset. */
static inline void make_pull(struct request *request, const char *topic, int queue, unsigned batch,
                             const char *filter, bool is_held)
{
    begin_frame(request);
    put(request, "{\"code\":11,\"extFields\":{\"queueId\":\"%d\",\"commitOffset\":\"0\","
        "\"subscription\":\"%s\",\"suspendTimeoutMillis\":\"3000\",\"bname\":\"broker-a\","
        "\"sysFlag\":\"%d\",\"expressionType\":\"%s\",\"ReqT\":\"0\",\"topic\":\"%s\","
        "\"consumerGroup\":\"bench-consumers\",\"maxMsgNums\":\"%u\",\"queueOffset\":\"",
        queue, filter ? filter : "*", is_held ? 6 : 4, filter ? "SQL92" : "TAG", topic, batch);
    put_hole(request);
    put(request, "\",\"subVersion\":\"0\",\"maxMsgBytes\":\"2147483647\"}");
    end_header(request);
    end_frame(request);
}

static inline void put_pop_group(struct request *request)
{
    put(request, "bench-pop-%d-", (int)getpid());
    request->number_at = put_digits(request, NUMBER_DIGITS);
}

/* POP_MESSAGE of all queues. The number is the group's. */
static inline void make_pop(struct request *request, const char *topic, unsigned batch)
{
    begin_frame(request);
    put(request, "{\"code\":200050,\"extFields\":{\"pollTime\":\"15000\","
        "\"invisibleTime\":\"60000\",\"queueId\":\"-1\",\"bornTime\":\"");
    request->born_at = put_digits(request, BORN_DIGITS);
    put(request, "\",\"maxMsgNums\":\"%u\",\"bname\":\"broker-a\",\"topic\":\"%s\","
        "\"expType\":\"TAG\",\"exp\":\"*\",\"consumerGroup\":\"", batch, topic);
    put_pop_group(request);
    put(request, "\",\"initMode\":\"0\",\"order\":\"false\"}");
    end_header(request);
    end_frame(request);
}

/* ACK_MESSAGE. Holes: offset, start offset, time and revive queue of the pop, offset. */
static inline void make_ack(struct request *request, const char *topic, int queue)
{
    begin_frame(request);
    put(request, "{\"code\":200051,\"extFields\":{\"queueId\":\"%d\",\"offset\":\"", queue);
    put_hole(request);
    put(request, "\",\"bname\":\"broker-a\",\"topic\":\"%s\",\"consumerGroup\":\"", topic);
    put_pop_group(request);
    put(request, "\",\"extraInfo\":\"");
    put_hole(request);
    put(request, " ");
    put_hole(request);
    put(request, " 60000 ");
    put_hole(request);
    put(request, " 0 broker-a %d ", queue);
    put_hole(request);
    put(request, "\"}");
    end_header(request);
    end_frame(request);
}

/* GET_MAX_OFFSET. */
static inline void make_max_offset(struct request *request, const char *topic, int queue)
{
    begin_frame(request);
    put(request, "{\"code\":30,\"extFields\":{\"queueId\":\"%d\",\"committed\":\"true\","
        "\"bname\":\"broker-a\",\"topic\":\"%s\"}", queue, topic);
    end_header(request);
    end_frame(request);
}

/* UPDATE_AND_CREATE_TOPIC. */
static inline void make_create(struct request *request, const char *topic, bool numbered,
                               int queues)
{
    begin_frame(request);
    put(request, "{\"code\":17,\"extFields\":{\"readQueueNums\":\"%d\",\"perm\":\"6\","
        "\"writeQueueNums\":\"%d\",\"topicFilterType\":\"SINGLE_TAG\",\"topic\":\"",
        queues, queues);
    put_name(request, topic, numbered);
    put(request, "\",\"attributes\":\"\",\"force\":\"false\",\"defaultTopic\":\"TBW102\","
        "\"order\":\"false\",\"topicSysFlag\":\"0\"}");
    end_header(request);
    end_frame(request);
}

/* HEART_BEAT of a producer, after which a broker knows the connection as a client's. */
static inline void make_heartbeat(struct request *request)
{
    begin_frame(request);
    put(request, "{\"code\":34,\"extFields\":{}");
    end_header(request);
    put(request, "{\"clientID\":\"127.0.0.1@%d#", (int)getpid());
    request->number_at = put_digits(request, NUMBER_DIGITS);
    put(request, "\",\"consumerDataSet\":[],\"heartbeatFingerprint\":0,\"producerDataSet\":"
        "[{\"groupName\":\"bench-producers\"}],\"withoutSub\":false}");
    end_frame(request);
}

/* XADD of one field to one stream; Redis answers in order, so it bears no number. */
static inline void make_xadd(struct request *request, const char *topic, int queue, size_t body)
{
    char stream[300];
    memset(request, 0, sizeof *request);
    int size = snprintf(stream, sizeof stream, "%s:%d", topic, queue);
    put(request, "*5\r\n$4\r\nXADD\r\n$%d\r\n%s\r\n$1\r\n*\r\n$4\r\nbody\r\n$%zu\r\n", size, stream,
        body);
    put_body(request, body);
    put(request, "\r\n");
}

static inline void stamp_now(struct stamp *stamp)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    if (ms != stamp->born_ms) {
        stamp->born_ms = ms;
        snprintf(stamp->born, sizeof stamp->born, "%013llu", (unsigned long long)ms);
    }
}

static inline void write_decimal(char *at, int digits, uint64_t value)
{
    while (digits--) {
        at[digits] = (char)('0' + value % 10);
        value /= 10;
    }
}

static inline void write_unique(char *at, struct stamp *stamp)
{
    uint64_t value = (stamp->born_ms & 0xffffffff) << 16 | (stamp->counter++ & 0xffff);
    for (int digit = UNIQUE_DIGITS - 1; digit >= 0; digit--, value >>= 4)
        at[digit] = "0123456789ABCDEF"[value & 15];
}

/* As many digits as it has; returns how many. */
static inline size_t write_number(char *at, uint64_t value)
{
    char digits[20];
    size_t from = sizeof digits;
    do {
        digits[--from] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    memcpy(at, digits + from, sizeof digits - from);
    return sizeof digits - from;
}

/* The parts with numbers between them; returns the size, and how wide each number became. */
static inline size_t write_parts(const struct request *request, char *at, const uint64_t *holes,
                                 size_t *widths)
{
    size_t from = 0, size = 0;
    for (unsigned i = 0; i < request->hole_count; i++) {
        memcpy(at + size, request->bytes + from, request->hole_at[i] - from);
        size += request->hole_at[i] - from;
        from = request->hole_at[i];
        widths[i] = write_number(at + size, holes[i]);
        size += widths[i];
    }
    memcpy(at + size, request->bytes + from, request->size - from);
    size += request->size - from;
    store_i32(at, (uint32_t)(size - 4));
    store_i32(at + 4, (uint32_t)(size - 8));
    return size;
}

/* Where a place is now: behind the numbers that came before it. */
static inline size_t moved(const struct request *request, const size_t *widths, size_t place)
{
    size_t now = place;
    for (unsigned i = 0; i < request->hole_count && request->hole_at[i] <= place; i++)
        now += widths[i];
    return now;
}

/* Writes the request to `at`; returns its size. */
static inline size_t write_request(const struct request *request, char *at, struct stamp *stamp,
                                   const struct filling *filling)
{
    size_t size = request->size, widths[HOLES_MAX];
    if (request->hole_count)
        size = write_parts(request, at, filling->holes, widths);
    else
        memcpy(at, request->bytes, size);
    if (request->opaque_at)
        write_decimal(at + moved(request, widths, request->opaque_at), OPAQUE_DIGITS,
                      filling->opaque);
    if (request->born_at)
        memcpy(at + moved(request, widths, request->born_at), stamp->born, BORN_DIGITS);
    if (request->number_at)
        write_decimal(at + moved(request, widths, request->number_at), NUMBER_DIGITS,
                      filling->number);
    for (unsigned i = 0; i < request->id_count; i++)
        memcpy(at + moved(request, widths, request->id_at[i]), filling->id, ID_DIGITS);
    for (unsigned i = 0; i < request->unique_count; i++)
        write_unique(at + request->unique_at[i], stamp);
    return size;
}

/* The number that the text begins with; -1: it begins with none. */
static inline int64_t read_decimal(const char *at, const char *end)
{
    int64_t value = -1;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        value = (value < 0 ? 0 : value * 10) + (*at - '0');
    return value;
}

/* The number behind `name` in the text, which ends before `end`; -1: there is none. */
static inline int64_t number_behind(const char *text, const char *end, const char *name)
{
    size_t size = strlen(name);
    const char *at = memmem(text, (size_t)(end - text), name, size);
    return at ? read_decimal(at + size, end) : -1;
}

/* The opaque of a JSON header. Headers of one server end alike, so it is looked for where it was
 * the last time, counted from the end, and all over only when it is not there. */
static inline int64_t opaque_of(const char *header, const char *end, size_t *from_end)
{
    static const char name[] = "\"opaque\":";
    size_t size = sizeof name - 1;
    const char *at = NULL;
    if (*from_end >= size && *from_end <= (size_t)(end - header)
        && !memcmp(end - *from_end, name, size))
        at = end - *from_end;
    else if ((at = memmem(header, (size_t)(end - header), name, size)))
        *from_end = (size_t)(end - at);
    return at ? read_decimal(at + size, end) : -1;
}

#endif
