/* How many messages a topic holds, asked over and over on a connection of its own: what a broker
 * does behind its answers shows there when it is done. */

#ifndef WATCH_H
#define WATCH_H

#include <errno.h>
#include <fcntl.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "requests.h"

enum { WATCH_EVERY_NS = 5000000, WATCH_IN = 1 << 16 };

struct watch {
    int fd;
    unsigned queues, unanswered;
    struct request *requests;
    int64_t *ends; /* by queue; -1: not answered yet */
    uint64_t held; /* of all queues, when all were answered last */
    uint64_t asked_at;
    size_t in_size, from_end;
    char in[WATCH_IN];
};

/* A socket that never waits; -1: there is nobody. */
static inline int connect_to(int port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(0x7f000001),
    };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address))
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static inline bool open_watch(struct watch *watch, int port, const char *topic, unsigned queues)
{
    watch->fd = connect_to(port);
    watch->queues = queues;
    watch->requests = calloc(queues, sizeof *watch->requests);
    watch->ends = calloc(queues, sizeof *watch->ends);
    if (watch->fd < 0 || !watch->requests || !watch->ends)
        return false;
    for (unsigned queue = 0; queue < queues; queue++)
        make_max_offset(&watch->requests[queue], topic, (int)queue);
    return true;
}

/* Asks again when it is time to. */
static inline void ask_watch(struct watch *watch, uint64_t now)
{
    if (watch->unanswered || now < watch->asked_at + WATCH_EVERY_NS)
        return;
    struct stamp unused = {0};
    for (unsigned queue = 0; queue < watch->queues; queue++) {
        char bytes[1024];
        struct filling filling = {.opaque = OPAQUE_FIRST + queue};
        size_t size = write_request(&watch->requests[queue], bytes, &unused, &filling);
        watch->ends[queue] = -1;
        /* The last question was answered, so there is room for this one. */
        if (send(watch->fd, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
            return;
    }
    watch->unanswered = watch->queues;
    watch->asked_at = now;
}

static inline bool take_max_offset(struct watch *watch, const char *frame)
{
    const char *header = frame + 8, *end = header + (load_i32(frame + 4) & 0xffffff);
    int64_t queue = opaque_of(header, end, &watch->from_end) - OPAQUE_FIRST;
    if (queue < 0 || queue >= watch->queues || watch->ends[queue] >= 0
        || number_behind(header, end, "\"code\":") != 0)
        return false;
    watch->ends[queue] = number_behind(header, end, "\"offset\":\"");
    watch->unanswered--;
    return watch->ends[queue] >= 0;
}

/* Takes what has come; false: it was no answer. All are there when nothing is unanswered. */
static inline bool take_watch(struct watch *watch)
{
    ssize_t got = recv(watch->fd, watch->in + watch->in_size, WATCH_IN - watch->in_size, 0);
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    watch->in_size += (size_t)got;
    size_t at = 0;
    for (size_t whole; watch->in_size - at >= 8; at += whole) {
        whole = 4 + (size_t)load_i32(watch->in + at);
        size_t header = load_i32(watch->in + at + 4) & 0xffffff;
        if (whole > WATCH_IN || 8 + header > whole)
            return false;
        if (watch->in_size - at < whole)
            break;
        if (!take_max_offset(watch, watch->in + at))
            return false;
    }
    watch->in_size -= at;
    memmove(watch->in, watch->in + at, watch->in_size);
    if (!watch->unanswered) {
        watch->held = 0;
        for (unsigned queue = 0; queue < watch->queues; queue++)
            watch->held += (uint64_t)watch->ends[queue];
    }
    return true;
}

#endif
