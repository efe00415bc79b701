/* One HTTP/2 connection of a client: frames out, frames in, as much of it as a load of gRPC calls
 * needs. Header blocks are made once: fields that stay the same are put into the server's table by
 * the first request, and are one byte each after that. Answers' headers are not decoded; what a
 * call led to is in its message. */

#ifndef HTTP2_H
#define HTTP2_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4, PADDED = 8 };
enum { SLOTS = 1 << 12, IN_BYTES = 1 << 18, CREDIT_EVERY = 1 << 28, FIELDS_MAX = 16 };

struct bytes {
    char *at;
    size_t size, room;
};

static inline char *grow(struct bytes *bytes, size_t more)
{
    if (bytes->size + more > bytes->room) {
        bytes->room = 2 * (bytes->size + more);
        bytes->at = realloc(bytes->at, bytes->room);
        if (!bytes->at)
            abort();
    }
    char *end = bytes->at + bytes->size;
    bytes->size += more;
    return end;
}

static inline void put(struct bytes *bytes, const void *data, size_t size)
{
    memcpy(grow(bytes, size), data, size);
}

static inline void put_byte(struct bytes *bytes, unsigned value)
{
    *grow(bytes, 1) = (char)value;
}

static inline void store_u32(char *at, uint32_t value)
{
    value = htonl(value);
    memcpy(at, &value, 4);
}

static inline uint32_t load_u32(const char *at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return ntohl(value);
}

/* A call that is not answered yet. */
struct call {
    uint32_t stream; /* 0: the place is free */
    int kind;
    uint64_t began;
    struct call *parent;
    unsigned unanswered;
    struct bytes answer;
};

struct link {
    int fd;
    unsigned number;
    uint32_t next_stream;
    int64_t window;
    uint64_t uncredited;
    struct bytes out;
    size_t written, in_size;
    bool is_known; /* the server has answered its settings */
    bool is_full;  /* there is more to write than the kernel takes */
    unsigned in_flight;
    char fields[FIELDS_MAX * 2 + 64];
    size_t fields_size, request_id;
    char in[IN_BYTES];
    struct call calls[SLOTS];
};

static inline void put_frame(struct link *link, size_t size, int kind, int flags, uint32_t stream)
{
    char *at = grow(&link->out, 9);
    at[0] = (char)(size >> 16), at[1] = (char)(size >> 8), at[2] = (char)size;
    at[3] = (char)kind, at[4] = (char)flags;
    store_u32(at + 5, stream);
}

static inline void put_text(struct bytes *bytes, const char *text)
{
    size_t size = strlen(text);
    if (size >= 127)
        abort(); /* it would not fit into the first byte */
    put_byte(bytes, (unsigned)size);
    put(bytes, text, size);
}

static const char REQUEST_ID[] = "00000000-0000-4000-8000-000000000000";
static const char PREFACE[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

static inline void put_path(struct bytes *block, const char *method)
{
    char path[100];
    snprintf(path, sizeof path, "/apache.rocketmq.v2.MessagingService/%s", method);
    put(block, "\x83\x86\x04", 3); /* POST, http, and a path that no table keeps */
    put_text(block, path);
}

/* The block of the first request, whose fields the server keeps; later ones name them. */
static inline void make_fields(struct link *link, struct bytes *first, const char *client)
{
    const struct { const char *name, *value; } fields[] = {
        {":authority", "127.0.0.1"}, {"content-type", "application/grpc"}, {"te", "trailers"},
        {"user-agent", "aerobee-load"}, {"x-mq-client-id", client}, {"x-mq-language", "CPP"},
        {"x-mq-protocol", "v2"}, {"x-mq-client-version", "5.0.7"},
        {"x-mq-date-time", "20260101T000000Z"}, {"x-mq-request-id", REQUEST_ID},
        {"grpc-timeout", "9999999S"},
    };
    size_t count = sizeof fields / sizeof *fields;
    struct bytes known = {0};
    for (size_t i = 0; i < count; i++) {
        size_t index = 62 + (count - 1 - i);
        put_byte(first, 0x40);
        put_text(first, fields[i].name);
        put_text(first, fields[i].value);
        if (i + 2 < count) {
            put_byte(&known, 0x80 | (unsigned)index);
            continue;
        }
        put_byte(&known, 0x0f); /* a value that no table keeps, of a name that it has */
        put_byte(&known, (unsigned)index - 15);
        if (i + 2 == count)
            link->request_id = known.size + 1;
        put_text(&known, i + 2 == count ? REQUEST_ID : "30S");
    }
    if (known.size > sizeof link->fields)
        abort();
    memcpy(link->fields, known.at, known.size);
    link->fields_size = known.size;
    free(known.at);
}

/* A free place for a call, and the number of its stream. */
static inline struct call *begin_call(struct link *link, int kind)
{
    struct call *call = NULL;
    for (unsigned tries = 0; !call || call->stream; tries++) {
        if (tries == SLOTS)
            abort();
        call = &link->calls[link->next_stream / 2 % SLOTS];
        link->next_stream += 2;
    }
    call->stream = link->next_stream - 2;
    call->kind = kind;
    call->answer.size = 0;
    call->parent = NULL;
    call->unanswered = 0;
    return call;
}

/* Headers of a call, and its message; the stream of a telemetry stays open. */
static inline void put_call(struct link *link, struct call *call, const struct bytes *path,
                            const struct bytes *message, uint64_t id)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 35; i > 23; i--, id >>= 4)
        link->fields[link->request_id + (size_t)i] = digits[id & 15];
    put_frame(link, path->size + link->fields_size, HEADERS, END_HEADERS, call->stream);
    put(&link->out, path->at, path->size);
    put(&link->out, link->fields, link->fields_size);
    put_frame(link, message->size + 5, DATA, END_STREAM, call->stream);
    char *at = grow(&link->out, 5);
    at[0] = 0;
    store_u32(at + 1, (uint32_t)message->size);
    put(&link->out, message->at, message->size);
    link->window -= (int64_t)message->size + 5;
}

static inline void put_hello(struct link *link)
{
    put(&link->out, PREFACE, sizeof PREFACE - 1);
    put_frame(link, 12, SETTINGS, 0, 0);
    /* No push, and room for all that the server says on a stream. */
    put(&link->out, "\0\2\0\0\0\0\0\4\x7f\xff\xff\xff", 12);
    put_frame(link, 4, WINDOW_UPDATE, 0, 0);
    store_u32(grow(&link->out, 4), 0x7fffffff - 65535);
    link->window = 65535;
    link->next_stream = 1;
}

static inline bool connect_link(struct link *link, int port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(0x7f000001),
    };
    link->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (link->fd < 0 || connect(link->fd, (struct sockaddr *)&address, sizeof address))
        return false;
    setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    fcntl(link->fd, F_SETFL, O_NONBLOCK);
    return true;
}

/* Writes what there is; false: the connection is broken. */
static inline bool flush_link(struct link *link)
{
    while (link->written < link->out.size) {
        ssize_t done = send(link->fd, link->out.at + link->written, link->out.size - link->written,
                            MSG_NOSIGNAL);
        if (done < 0)
            return errno == EAGAIN;
        link->written += (size_t)done;
    }
    link->out.size = link->written = 0;
    return true;
}

static inline void credit(struct link *link, size_t size)
{
    link->uncredited += size;
    if (link->uncredited > CREDIT_EVERY) {
        put_frame(link, 4, WINDOW_UPDATE, 0, 0);
        store_u32(grow(&link->out, 4), (uint32_t)link->uncredited);
        link->uncredited = 0;
    }
}

#endif
