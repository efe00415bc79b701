/* A server that stores nothing: it answers what the generator asks as a broker would, as fast as
 * one thread can; of what is committed or due it keeps the number, as messages of queue 0. Against
 * it the load generator's own limit shows. Every thousandth answer can be wrong on purpose, so that
 * a test sees whether the generator notices. */

#ifndef DUMMY_H
#define DUMMY_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "load.h"

enum {
    FAULT_EVERY = 1000,
    DUMMY_IN = 1 << 20,
    DUMMY_OUT = 1 << 23,
    PULLED = 32,
    RECORD = 250,
    OFFSET_DIGITS = 12,
    HELD = 1000000, /* that each queue seems to hold; of pops, that queue 0 does */
    POP_GROUPS = 64,
    EARLY_MS = 60,
};

struct dummy_connection {
    int fd;
    size_t from_end;
    size_t in_size;
    char in[DUMMY_IN];
};

struct dummy {
    enum fault fault;
    uint64_t answers;
    struct request send, batch, pull, pop, ack, max_offset;
    size_t next_offset_at, max_offset_at, start_at, listed_at[PULLED];
    size_t records_at, pop_records_at; /* where the first of them begins */
    size_t last_id_at; /* what is spoilt when fewer are to be there */
    uint64_t came, delayed, due_ms;
    struct { int64_t number; uint64_t next; } groups[POP_GROUPS];
    size_t out_size;
    char *out;
};

static void end_answer(struct request *answer)
{
    put(answer, "},\"flag\":1,\"language\":\"JAVA\",\"opaque\":");
    answer->opaque_at = put_digits(answer, OPAQUE_DIGITS);
    put(answer, ",\"serializeTypeCurrentRPC\":\"JSON\",\"version\":513}");
    store_i32(answer->bytes + 4, (uint32_t)(answer->size - 8));
}

/* Returns where its last comma between ids is. */
static size_t make_send_answer(struct request *answer, int batch)
{
    size_t last_id_at = 0;
    begin_frame(answer);
    put(answer, "{\"code\":0,\"extFields\":{\"queueId\":\"1\",\"transactionId\":"
        "\"C00002021F384E0E2F2A49FAF0BA0001\",\"msgId\":\"");
    for (int i = 0; i < batch; i++) {
        last_id_at = answer->size;
        put(answer, "%s7F0000010000C6DF00000000%08X", i ? "," : "", i * 249);
    }
    put(answer, "\",\"TRACE_ON\":\"true\",\"MSG_REGION\":\"DefaultRegion\",\"queueOffset\":\"1\"");
    end_answer(answer);
    end_frame(answer);
    return last_id_at;
}

/* Returns where the first one begins. */
static size_t put_records(struct request *answer)
{
    size_t first = answer->size;
    for (int i = 0; i < PULLED; i++) {
        put_i32(answer, RECORD);
        put_i32(answer, 0xDAA320A7);
        for (int zero = 0; zero < 3; zero++) /* checksum, queue, flag */
            put_i32(answer, 0);
        put_body(answer, RECORD - 20);
    }
    end_frame(answer);
    return first;
}

static void make_pop_answer(struct dummy *dummy)
{
    struct request *pop = &dummy->pop;
    begin_frame(pop);
    put(pop, "{\"code\":0,\"extFields\":{\"invisibleTime\":\"60000\",\"startOffsetInfo\":\"0 0 ");
    dummy->start_at = put_digits(pop, OFFSET_DIGITS);
    put(pop, "\",\"restNum\":\"1\",\"popTime\":\"1794732599068\",\"reviveQid\":\"0\","
        "\"msgOffsetInfo\":\"0 0");
    for (int i = 0; i < PULLED; i++) {
        put(pop, i ? "," : " ");
        dummy->listed_at[i] = put_digits(pop, OFFSET_DIGITS);
    }
    put(pop, "\"");
    end_answer(pop);
    dummy->pop_records_at = put_records(pop);
}

static void make_answers(struct dummy *dummy)
{
    make_send_answer(&dummy->send, 1);
    make_pop_answer(dummy);
    begin_frame(&dummy->ack);
    put(&dummy->ack, "{\"code\":0,\"extFields\":{");
    end_answer(&dummy->ack);
    end_frame(&dummy->ack);
    begin_frame(&dummy->max_offset);
    put(&dummy->max_offset, "{\"code\":0,\"extFields\":{\"offset\":\"");
    dummy->max_offset_at = put_digits(&dummy->max_offset, OFFSET_DIGITS);
    put(&dummy->max_offset, "\"");
    end_answer(&dummy->max_offset);
    end_frame(&dummy->max_offset);
    dummy->last_id_at = make_send_answer(&dummy->batch, PULLED);
    struct request *pull = &dummy->pull;
    begin_frame(pull);
    put(pull, "{\"code\":0,\"extFields\":{\"suggestWhichBrokerId\":\"0\",\"groupSysFlag\":\"0\","
        "\"nextBeginOffset\":\"");
    dummy->next_offset_at = put_digits(pull, OFFSET_DIGITS);
    put(pull, "\",\"maxOffset\":\"%d\",\"minOffset\":\"0\",\"topicSysFlag\":\"0\"", HELD);
    end_answer(pull);
    dummy->records_at = put_records(pull);
}

static void place_record(char *records, int number, uint64_t offset)
{
    store_i32(records + number * RECORD + 20, (uint32_t)(offset >> 32));
    store_i32(records + number * RECORD + 24, (uint32_t)offset);
}

/* The next messages of the queue, with a filter those that pass. */
static void answer_pull(struct dummy *dummy, char *at, const char *header, const char *end,
                        bool twice)
{
    bool is_filtered = text_behind(header, end, "\"expressionType\":\"SQL92\"", 0);
    uint64_t next = (uint64_t)number_behind(header, end, "\"queueOffset\":\"");
    for (int i = 0; i < PULLED; next++)
        if (!is_filtered || passes(next))
            place_record(at + dummy->records_at, i++, next);
    if (twice)
        place_record(at + dummy->records_at, 0, next - 1);
    write_decimal(at + dummy->next_offset_at, OFFSET_DIGITS, next);
}

static void answer_pop(struct dummy *dummy, char *at, const char *header, const char *end,
                       bool again)
{
    const char *group = text_behind(header, end, "\"consumerGroup\":\"bench-pop-", 1);
    int64_t number = group ? number_behind(group, end, "-") : 0;
    uint64_t *next = &dummy->groups[number % POP_GROUPS].next;
    if (dummy->groups[number % POP_GROUPS].number != number) {
        dummy->groups[number % POP_GROUPS].number = number;
        *next = 0;
    }
    if (again && *next)
        *next -= PULLED;
    write_decimal(at + dummy->start_at, OFFSET_DIGITS, *next);
    for (int i = 0; i < PULLED; i++, ++*next) {
        write_decimal(at + dummy->listed_at[i], OFFSET_DIGITS, *next);
        place_record(at + dummy->pop_records_at, i, *next);
    }
}

static uint64_t messages_in(struct dummy *dummy, int64_t queue)
{
    struct stamp now = {0};
    stamp_now(&now);
    if (now.born_ms + (dummy->fault == EARLY ? EARLY_MS : 0) >= dummy->due_ms) {
        dummy->came += dummy->delayed;
        dummy->delayed = 0;
    }
    return queue == 0 ? HELD + dummy->came : 0;
}

/* What a request leaves behind: one message, or by a fault none, or two. */
static uint64_t messages_of(const struct dummy *dummy, bool is_wrong)
{
    return !is_wrong ? 1 : dummy->fault == FEWER ? 0 : dummy->fault == TWICE ? 2 : 1;
}

static void flush_dummy(struct dummy *dummy, int fd)
{
    for (size_t sent = 0; sent < dummy->out_size;) {
        ssize_t size = send(fd, dummy->out + sent, dummy->out_size - sent, MSG_NOSIGNAL);
        if (size > 0) {
            sent += (size_t)size;
            continue;
        }
        struct pollfd room = {.fd = fd, .events = POLLOUT};
        if (poll(&room, 1, 1000) <= 0 || room.revents & (POLLERR | POLLHUP))
            break;
    }
    dummy->out_size = 0;
}

static void answer_frame(struct dummy *dummy, struct dummy_connection *connection,
                         const char *frame)
{
    const char *header = frame + 8, *end = header + (load_i32(frame + 4) & 0xffffff);
    int64_t code = number_behind(header, end, "\"code\":");
    int64_t opaque = opaque_of(header, end, &connection->from_end);
    const struct request *answer = code == 11 ? &dummy->pull
        : code == 30 ? &dummy->max_offset : code == 200050 ? &dummy->pop
        : code == 200051 ? &dummy->ack : code == 320 ? &dummy->batch : &dummy->send;
    bool is_counted = code != 30 && code != 200051; /* what is asked for other things' sake */
    bool is_wrong = dummy->fault && is_counted && ++dummy->answers % FAULT_EVERY == 0;
    int64_t due_ms = code == 310 ? number_behind(header, end, "TIMER_DELIVER_MS\\u0001") : -1;
    if (due_ms >= 0) {
        dummy->due_ms = (uint64_t)due_ms;
        dummy->delayed += messages_of(dummy, is_wrong);
    }
    if (code == 37)
        dummy->came += messages_of(dummy, is_wrong);
    if (code == 37 || (is_wrong && dummy->fault == NO_ANSWER))
        return;
    if (dummy->out_size + answer->size > DUMMY_OUT)
        flush_dummy(dummy, connection->fd);
    char *at = dummy->out + dummy->out_size;
    memcpy(at, answer->bytes, answer->size);
    write_decimal(at + answer->opaque_at, OPAQUE_DIGITS,
                  (uint64_t)opaque + (is_wrong && dummy->fault == WRONG_OPAQUE ? 1 << 20 : 0));
    if (code == 11)
        answer_pull(dummy, at, header, end, is_wrong && dummy->fault == TWICE);
    if (code == 200050)
        answer_pop(dummy, at, header, end, is_wrong && dummy->fault == TWICE);
    if (code == 30)
        write_decimal(at + dummy->max_offset_at, OFFSET_DIGITS,
                      messages_in(dummy, number_behind(header, end, "\"queueId\":\"")));
    if (is_wrong && dummy->fault == WRONG_CODE)
        at[16] = '2';
    if (is_wrong && dummy->fault == FEWER && (code == 11 || code == 200050))
        store_i32(at + answer->size - RECORD + 4, 0); /* no record's magic */
    if (is_wrong && dummy->fault == FEWER && code == 320)
        at[dummy->last_id_at] = ';';
    dummy->out_size += answer->size;
}

/* false: the connection is over. */
static bool serve_connection(struct dummy *dummy, struct dummy_connection *connection)
{
    ssize_t size = recv(connection->fd, connection->in + connection->in_size,
                        DUMMY_IN - connection->in_size, 0);
    if (size <= 0)
        return false;
    connection->in_size += (size_t)size;
    size_t at = 0;
    while (connection->in_size - at >= 4) {
        size_t whole = 4 + (size_t)load_i32(connection->in + at);
        if (whole > DUMMY_IN)
            return false;
        if (connection->in_size - at < whole)
            break;
        answer_frame(dummy, connection, connection->in + at);
        at += whole;
    }
    connection->in_size -= at;
    memmove(connection->in, connection->in + at, connection->in_size);
    flush_dummy(dummy, connection->fd);
    return true;
}

/* Prints its port, then serves until it is killed. */
static int serve_dummy(enum fault fault)
{
    struct dummy *dummy = calloc(1, sizeof *dummy);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int waiter = epoll_create1(0);
    if (!dummy || !(dummy->out = malloc(DUMMY_OUT))
        || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096)
        || getsockname(listener, (struct sockaddr *)&address, &size)) {
        perror("dummy");
        return 1;
    }
    dummy->fault = fault;
    make_answers(dummy);
    printf("{\"port\":%d}\n", ntohs(address.sin_port));
    fflush(stdout);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(waiter, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        if (epoll_wait(waiter, &event, 1, -1) != 1)
            continue;
        struct dummy_connection *connection = event.data.ptr;
        if (connection) {
            if (!serve_connection(dummy, connection)) {
                close(connection->fd);
                free(connection);
            }
            continue;
        }
        connection = calloc(1, sizeof *connection);
        if (!connection || (connection->fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) < 0)
            return 1;
        setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        event = (struct epoll_event){.events = EPOLLIN, .data.ptr = connection};
        epoll_ctl(waiter, EPOLL_CTL_ADD, connection->fd, &event);
    }
}

#endif
