/* A server that stores nothing: it answers sends, batches and pulls as a broker would, as fast as
 * one thread can. Against it the load generator's own limit shows. Every thousandth answer can be
 * wrong on purpose, so that a test sees whether the generator notices. */

#ifndef DUMMY_H
#define DUMMY_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "load.h"

enum { FAULT_EVERY = 1000, DUMMY_IN = 1 << 20, DUMMY_OUT = 1 << 23, PULLED = 32, RECORD = 250 };

struct dummy_connection {
    int fd;
    size_t from_end;
    size_t in_size;
    char in[DUMMY_IN];
};

struct dummy {
    enum fault fault;
    uint64_t answers;
    struct request send, batch, pull;
    size_t next_offset_at;
    size_t last_id_at, last_record_at; /* what is spoilt when fewer are to be there */
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

static void make_answers(struct dummy *dummy)
{
    make_send_answer(&dummy->send, 1);
    dummy->last_id_at = make_send_answer(&dummy->batch, PULLED);
    struct request *pull = &dummy->pull;
    begin_frame(pull);
    put(pull, "{\"code\":0,\"extFields\":{\"suggestWhichBrokerId\":\"0\",\"groupSysFlag\":\"0\","
        "\"nextBeginOffset\":\"");
    dummy->next_offset_at = put_digits(pull, 12);
    put(pull, "\",\"maxOffset\":\"1000000\",\"minOffset\":\"0\",\"topicSysFlag\":\"0\"");
    end_answer(pull);
    for (int i = 0; i < PULLED; i++) {
        dummy->last_record_at = pull->size;
        put_i32(pull, RECORD);
        put_i32(pull, 0xDAA320A7);
        put_body(pull, RECORD - 8);
    }
    end_frame(pull);
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
        : code == 320 ? &dummy->batch : &dummy->send;
    bool is_wrong = dummy->fault && ++dummy->answers % FAULT_EVERY == 0;
    if (is_wrong && dummy->fault == NO_ANSWER)
        return;
    if (dummy->out_size + answer->size > DUMMY_OUT)
        flush_dummy(dummy, connection->fd);
    char *at = dummy->out + dummy->out_size;
    memcpy(at, answer->bytes, answer->size);
    write_decimal(at + answer->opaque_at, OPAQUE_DIGITS,
                  (uint64_t)opaque + (is_wrong && dummy->fault == WRONG_OPAQUE ? 1 << 20 : 0));
    if (code == 11)
        write_decimal(at + dummy->next_offset_at, 12,
                      (uint64_t)number_behind(header, end, "\"queueOffset\":\"") + PULLED);
    if (is_wrong && dummy->fault == WRONG_CODE)
        at[16] = '2';
    if (is_wrong && dummy->fault == FEWER && code == 11)
        store_i32(at + dummy->last_record_at + 4, 0); /* no record's magic */
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
