/* A consumer at another broker, a slave: how long after the answer to a send its message is read
 * there. One held pull for each queue, on a connection of its own. */

#ifndef READER_H
#define READER_H

#include "answers.h"
#include "latency.h"
#include "watch.h"

enum { READER_IN = 1 << 21, READER_BATCH = 32, PULL_NOT_FOUND = 19, PULL_RETRY = 20 };

/* Of a message: nothing known, read before its send was answered, or when that was. */
enum { UNKNOWN = 0, READ_FIRST = 1 };

struct read_queue {
    struct request pull;
    uint64_t first, next; /* offsets: of the first message of this run, of the next pull */
    uint64_t *notes;      /* by offset from the first on */
    size_t room;
};

struct reader {
    int fd; /* -1: none */
    unsigned queue_count;
    struct read_queue *queues;
    uint64_t unread; /* answered, and not read yet */
    struct latency lag;
    size_t in_size, from_end;
    char in[READER_IN];
};

static inline bool ask_reader(struct reader *reader, unsigned queue)
{
    char bytes[2048];
    struct stamp unused = {0};
    struct filling filling = {
        .opaque = OPAQUE_FIRST + queue, .holes = {reader->queues[queue].next},
    };
    size_t size = write_request(&reader->queues[queue].pull, bytes, &unused, &filling);
    /* The last pull of this queue was answered, so there is room for this one. */
    return send(reader->fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* From the ends of the queues on, which a watch of the same broker has seen. */
static inline bool open_reader(struct reader *reader, int port, const char *topic,
                               const struct watch *watch)
{
    reader->fd = connect_to(port);
    reader->queue_count = watch->queues;
    reader->queues = calloc(watch->queues, sizeof *reader->queues);
    if (reader->fd < 0 || !reader->queues)
        return false;
    for (unsigned queue = 0; queue < watch->queues; queue++) {
        struct read_queue *read = &reader->queues[queue];
        read->first = read->next = (uint64_t)watch->ends[queue];
        make_pull(&read->pull, topic, (int)queue, READER_BATCH, NULL, true);
        if (!ask_reader(reader, queue))
            return false;
    }
    return true;
}

/* The note of a message; NULL: it is of an earlier run, or of no queue. */
static inline uint64_t *note_of(struct reader *reader, int64_t queue, int64_t offset)
{
    if (queue < 0 || queue >= reader->queue_count)
        return NULL;
    struct read_queue *read = &reader->queues[queue];
    if (offset < (int64_t)read->first)
        return NULL;
    size_t index = (size_t)offset - read->first;
    if (index >= read->room) {
        size_t room = 2 * index + 4096;
        read->notes = realloc(read->notes, room * sizeof *read->notes);
        if (!read->notes)
            abort();
        memset(read->notes + read->room, 0, (room - read->room) * sizeof *read->notes);
        read->room = room;
    }
    return &read->notes[index];
}

/* Notes the answer to a send; false: it speaks of no message of this run. */
static inline bool note_answered(struct reader *reader, int64_t queue, int64_t offset,
                                 uint64_t now)
{
    uint64_t *note = note_of(reader, queue, offset);
    if (!note)
        return false;
    if (*note == READ_FIRST) {
        latency_add(&reader->lag, 0);
    } else {
        *note = now;
        reader->unread++;
    }
    return true;
}

static inline void note_read(struct reader *reader, unsigned queue, uint64_t now)
{
    uint64_t *note = note_of(reader, queue, (int64_t)reader->queues[queue].next++);
    if (*note != UNKNOWN) {
        latency_add(&reader->lag, now - *note);
        reader->unread--;
    }
    *note = READ_FIRST;
}

/* Takes the answer to one pull and asks for what follows; false: it is not as it should be. */
static inline bool take_pull(struct reader *reader, const char *frame, size_t size, uint64_t now)
{
    const char *header = frame + 8, *end = frame + size;
    const char *body = header + (load_i32(frame + 4) & 0xffffff);
    int64_t queue = opaque_of(header, body, &reader->from_end) - OPAQUE_FIRST;
    int64_t code = number_behind(header, body, "\"code\":");
    if (queue < 0 || queue >= reader->queue_count)
        return false;
    if (code == 0) {
        struct place place;
        for (uint32_t record; body < end; body += record) {
            record = read_record(body, end, &place);
            if (!record || place.queue != queue || place.offset != reader->queues[queue].next)
                return false;
            note_read(reader, (unsigned)queue, now);
        }
    } else if (code != PULL_NOT_FOUND && code != PULL_RETRY) {
        return false;
    }
    return ask_reader(reader, (unsigned)queue);
}

/* Takes what has come; false: it was no answer to a pull. */
static inline bool take_reader(struct reader *reader, uint64_t now)
{
    ssize_t got = recv(reader->fd, reader->in + reader->in_size, READER_IN - reader->in_size, 0);
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    reader->in_size += (size_t)got;
    size_t at = 0;
    for (size_t whole; reader->in_size - at >= 8; at += whole) {
        whole = 4 + (size_t)load_i32(reader->in + at);
        size_t header = load_i32(reader->in + at + 4) & 0xffffff;
        if (whole > READER_IN || 8 + header > whole)
            return false;
        if (reader->in_size - at < whole)
            break;
        if (!take_pull(reader, reader->in + at, whole, now))
            return false;
    }
    reader->in_size -= at;
    memmove(reader->in, reader->in + at, reader->in_size);
    return true;
}

#endif
