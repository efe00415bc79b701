/* What is answered: every answer is checked, and some ask for more. */

#define _GNU_SOURCE
#include "load.h"

/* Messages that a good answer to a pull holds; sends its reader on. -1: they are not those asked
 * for. */
static int64_t take_pulled(struct slot *slot, unsigned reader, const char *header,
                           const char *body, const char *end)
{
    int64_t next = number_behind(header, body, "\"nextBeginOffset\":\"");
    int64_t max = number_behind(header, body, "\"maxOffset\":\"");
    int64_t min = number_behind(header, body, "\"minOffset\":\"");
    int64_t from = (int64_t)slot->offset;
    int64_t count = options.mode == PULL ? count_records(body, end)
        : count_passing(body, end, slot->offset, (uint64_t)next);
    if (count < 0 || count > options.batch || min < 0 || next <= from
        || (options.mode == PULL && next != from + count))
        return -1;
    examined += (uint64_t)(next - from);
    if (!slot->is_placed) {
        slot->is_placed = true;
        next = min + (max - min) * reader / ((slot_mask + 1) * options.connections);
    }
    slot->offset = (uint64_t)(next < max ? next : min);
    return count;
}

/* Commits a half that was stored; -1: the answer does not say where. */
static int64_t take_half(struct connection *connection, const char *header, const char *body)
{
    struct filling filling = {
        .opaque = OPAQUE_FIRST,
        .holes = {
            (uint64_t)log_offset_of(header, body),
            (uint64_t)number_behind(header, body, "\"queueOffset\":\""),
        },
        .id = text_behind(header, body, "\"transactionId\":\"", ID_DIGITS),
    };
    if ((int64_t)filling.holes[0] < 0 || (int64_t)filling.holes[1] < 0 || !filling.id)
        return -1;
    connection->out_size += write_request(&ending, make_room(connection), &stamp, &filling);
    return 1;
}

/* Acknowledges what a pop brought; -1: it is not as it should be, or was there before. */
static int64_t take_popped(struct connection *connection, uint64_t group, uint64_t since,
                           const char *header, const char *body, const char *end)
{
    static struct popped popped;
    if (!read_popped(&popped, header, body, end) || popped.count > options.batch)
        return -1;
    for (unsigned i = 0; i < popped.count; i++) {
        const struct place *place = &popped.places[i];
        if (place->queue >= (unsigned)options.queues || place->offset >= queue_room)
            return -1;
        uint32_t *popper = &poppers[place->queue * queue_room + place->offset];
        if (*popper == group + 1)
            return -1;
        *popper = (uint32_t)group + 1;
        struct filling filling = {
            .number = group,
            .holes = {
                place->offset, popped.starts[place->queue], popped.time, popped.revive_queue,
                place->offset,
            },
        };
        unsigned index = connection->free[--connection->free_count];
        ask(connection, &acks[place->queue], index, &filling, since)->is_ack = true;
    }
    return 0;
}

/* Messages that a good answer is about. */
static int64_t take_good(struct connection *connection, unsigned index, const char *header,
                         const char *body, const char *end, uint64_t now)
{
    struct slot *slot = &connection->slots[index];
    unsigned reader = (unsigned)(connection - connections) * (slot_mask + 1) + index;
    switch (options.mode) {
    case PULL:
    case PULL_SQL: return take_pulled(slot, reader, header, body, end);
    case BATCH:
    case FILL: return count_ids(header, body) == options.batch ? (int64_t)options.batch : -1;
    case TRANSACTION: return take_half(connection, header, body);
    case OPEN:
        if (!options.reader_port)
            return 1;
        return note_answered(&slave_reader, number_behind(header, body, "\"queueId\":\""),
                             number_behind(header, body, "\"queueOffset\":\""), now) ? 1 : -1;
    case POP:
        return slot->is_ack ? 1
            : take_popped(connection, slot->group, slot->since, header, body, end);
    default: return 1;
    }
}

static void take_frame(struct connection *connection, const char *frame, size_t size, uint64_t now)
{
    const char *header = frame + 8, *end = frame + size;
    const char *body = header + (load_i32(frame + 4) & 0xffffff);
    if (size < 8 || frame[4] || body > end) {
        note_error("not a frame with a JSON header", "", 0);
        return;
    }
    int64_t opaque = opaque_of(header, body, &connection->from_end);
    unsigned index = (unsigned)(opaque - OPAQUE_FIRST) & slot_mask;
    struct slot *slot = &connection->slots[index];
    if (opaque < 0 || !slot->is_busy || slot->opaque != (uint64_t)opaque) {
        note_error("answer to nothing", header, (size_t)(body - header));
        return;
    }
    slot->is_busy = false;
    connection->free[connection->free_count++] = index;
    connection->answered++;
    in_flight--;
    requests_answered++;
    last_answer = now;
    connection->pops -= options.mode == POP && !slot->is_ack;
    /* A message that is popped is through when it is acknowledged. */
    if (options.mode != POP || slot->is_ack)
        latency_add(&latency, now > slot->since ? now - slot->since : 0);
    static const char code_first[] = "{\"code\":0,";
    bool is_good = !memcmp(header, code_first, sizeof code_first - 1)
        || number_behind(header, body, "\"code\":") == 0
        || (options.mode == PULL_SQL && number_behind(header, body, "\"code\":") == NO_MATCH);
    int64_t messages = is_good ? take_good(connection, index, header, body, end, now) : -1;
    if (messages < 0)
        note_error(is_good ? "not the messages asked for" : "refused", header,
                   (size_t)(body - header));
    else
        good += (uint64_t)messages;
}

/* Frames, or Redis' `$size\r\nid\r\n`; returns how many bytes were whole answers. */
static size_t take_frames(struct connection *connection, uint64_t now)
{
    size_t at = 0;
    while (connection->in_size - at >= 4) {
        size_t whole = 4 + (size_t)load_i32(connection->in + at);
        if (whole > IN_BYTES || whole < 8) {
            lose(connection, "impossible frame size");
            return connection->in_size;
        }
        if (connection->in_size - at < whole)
            break;
        take_frame(connection, connection->in + at, whole, now);
        at += whole;
    }
    return at;
}

static size_t take_replies(struct connection *connection, uint64_t now)
{
    const char *start = connection->in, *end = start + connection->in_size;
    while (start < end) {
        const char *line = memchr(start, '\n', (size_t)(end - start));
        const char *id = line && *start == '$' ? line + 1 : NULL;
        const char *stop = id ? memchr(id, '\n', (size_t)(end - id)) : line;
        if (!stop)
            break;
        if (connection->answered == connection->sent) {
            note_error("answer to nothing", start, (size_t)(stop - start));
        } else {
            struct slot *slot = &connection->slots[connection->answered++ & slot_mask];
            in_flight--;
            requests_answered++;
            last_answer = now;
            latency_add(&latency, now - slot->since);
            if (id && memchr(id, '-', (size_t)(stop - id)))
                good++;
            else
                note_error("refused", start, (size_t)(stop - start));
        }
        start = stop + 1;
    }
    return (size_t)(start - connection->in);
}

void take(struct connection *connection)
{
    ssize_t size = read_wire(&connection->wire, connection->in + connection->in_size,
                             IN_BYTES - connection->in_size);
    if (size <= 0) {
        if (size == 0 || errno != EAGAIN)
            lose(connection, "connection closed by the server");
        return;
    }
    connection->in_size += (size_t)size;
    uint64_t now = now_ns();
    size_t used = options.mode == REDIS ? take_replies(connection, now)
        : take_frames(connection, now);
    connection->in_size -= used;
    memmove(connection->in, connection->in + used, connection->in_size);
}
