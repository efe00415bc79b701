/* What is written: requests as soon as they may be, or when they are due. */

#define _GNU_SOURCE
#include <sys/epoll.h>

#include "load.h"

uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void note_error(const char *what, const char *text, size_t size)
{
    errors++;
    if (first_error[0])
        return;
    int used = snprintf(first_error, sizeof first_error, "%s: ", what);
    char *at = first_error + used;
    for (size_t i = 0; i < size && at < first_error + sizeof first_error - 1; i++)
        *at++ = text[i] == '"' || text[i] == '\\' || text[i] < ' ' ? '\'' : text[i];
}

void fail(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}

uint64_t due_at(uint64_t number)
{
    return began + (uint64_t)((double)number * 1e9 / options.rate);
}

/* Whether one more request is to be made now. */
static bool wants_more(uint64_t now)
{
    if (options.count && issued >= options.count)
        return false;
    if (ends && now >= ends)
        return false;
    if (options.mode == TRANSACTION && issued >= seen + UNSEEN_MAX)
        return false;
    return options.mode != OPEN || due_at(issued) <= now;
}

static void wait_for(struct connection *connection, bool room)
{
    if (connection->waits_for_room == room)
        return;
    connection->waits_for_room = room;
    struct epoll_event event = {
        .events = EPOLLIN | (room ? EPOLLOUT : 0), .data.ptr = connection,
    };
    epoll_ctl(waiter, EPOLL_CTL_MOD, connection->wire.fd, &event);
}

void lose(struct connection *connection, const char *reason)
{
    uint64_t lost = connection->sent - connection->answered;
    note_error(reason, "", 0);
    errors += lost;
    in_flight -= lost;
    close(connection->wire.fd);
    connection->wire.fd = -1;
}

void flush(struct connection *connection)
{
    size_t size = connection->out_size - connection->out_from;
    if (!size)
        return;
    ssize_t sent = write_wire(&connection->wire, connection->out + connection->out_from, size);
    if (sent < 0 && errno != EAGAIN) {
        lose(connection, "connection closed by the server");
        return;
    }
    if (sent > 0)
        connection->out_from += (size_t)sent;
    if (connection->out_from == connection->out_size)
        connection->out_from = connection->out_size = 0;
    wait_for(connection, connection->out_size != 0);
}

char *make_room(struct connection *connection)
{
    if (out_room - connection->out_size < request_max) {
        connection->out_size -= connection->out_from;
        memmove(connection->out, connection->out + connection->out_from, connection->out_size);
        connection->out_from = 0;
    }
    return connection->out + connection->out_size;
}

/* One more request that is to be answered; returns what is kept of it. */
struct slot *ask(struct connection *connection, const struct request *request, unsigned index,
                 struct filling *filling, uint64_t since)
{
    struct slot *slot = &connection->slots[index];
    /* The slot's number stays in the low bits; the rest counts its uses. */
    slot->opaque += slot_mask + 1;
    if (slot->opaque >= OPAQUE_FIRST + OPAQUE_COUNT)
        slot->opaque = OPAQUE_FIRST + index;
    filling->opaque = slot->opaque;
    char *at = make_room(connection);
    size_t size = write_request(request, at, &stamp, filling);
    if (signer.is_on)
        sign_frame(&signer, at, size);
    connection->out_size += size;
    slot->is_busy = true;
    slot->is_ack = false;
    slot->since = since;
    connection->sent++;
    in_flight++;
    return slot;
}

static void issue(struct connection *connection, uint64_t now)
{
    unsigned index = options.mode == REDIS ? (unsigned)(connection->sent & slot_mask)
        : connection->free[--connection->free_count];
    const struct slot *slot = &connection->slots[index];
    bool is_pull = options.mode == PULL || options.mode == PULL_SQL;
    const struct request *request =
        &requests[is_pull ? slot->queue : (int)(issued % (unsigned)options.queues)];
    struct filling filling = {.number = issued, .holes = {slot->offset}};
    uint64_t since = now;
    if (options.mode == OPEN) {
        since = due_at(issued);
        latency_add(&lateness, now - since);
    }
    ask(connection, request, index, &filling, since);
    issued++;
}

/* A group never asks for the last tenth of the topic, so no pop waits; the next group begins at
 * the start. */
static void issue_pop(struct connection *connection, uint64_t now)
{
    if ((asked += options.batch) > held_before / 10 * 9) {
        asked = options.batch;
        pop_group++;
    }
    struct filling filling = {.number = pop_group};
    unsigned index = connection->free[--connection->free_count];
    ask(connection, requests, index, &filling, now)->group = pop_group;
    connection->pops++;
    issued++;
}

/* Whether one more request may be on its way; a pop counts for what it may bring. */
static bool has_leave(const struct connection *connection)
{
    uint64_t unanswered = connection->sent - connection->answered;
    if (options.mode != POP)
        return unanswered < options.in_flight;
    return unanswered + connection->pops * (options.batch - 1) + options.batch
        <= options.in_flight;
}

/* Everything that this connection may have in flight, in one write. */
void fill(struct connection *connection)
{
    uint64_t now = now_ns();
    if (connection->wire.fd < 0)
        return;
    stamp_now(&stamp);
    while (has_leave(connection) && wants_more(now)) {
        if (options.mode == POP)
            issue_pop(connection, now);
        else
            issue(connection, now);
    }
    flush(connection);
}

/* What is due, spread over the connections; one that is full keeps the schedule waiting, and the
 * wait is in the latency, which counts from the scheduled time. */
void fill_due(void)
{
    uint64_t now = now_ns(), first = issued;
    stamp_now(&stamp);
    while (wants_more(now)) {
        struct connection *connection = &connections[issued % options.connections];
        if (connection->wire.fd < 0) {
            issued++;
            note_error("no connection", "", 0);
        } else if (connection->sent - connection->answered >= options.in_flight) {
            break;
        } else {
            issue(connection, now);
        }
    }
    for (unsigned i = 0; i < options.connections && i < issued - first; i++) {
        struct connection *connection = &connections[(first + i) % options.connections];
        if (connection->wire.fd >= 0)
            flush(connection);
    }
}
