/* Messages of RocketMQ's gRPC protocol: requests as bytes, and what an answer says. */

#ifndef CALLS_H
#define CALLS_H

#include "http2.h"

enum { SIZED = 2 };

static inline void put_varint(struct bytes *bytes, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(bytes, (unsigned)(value & 0x7f) | 0x80);
    put_byte(bytes, (unsigned)value);
}

static inline void put_number(struct bytes *bytes, unsigned field, uint64_t value)
{
    put_varint(bytes, field << 3);
    put_varint(bytes, value);
}

static inline void put_sized(struct bytes *bytes, unsigned field, const void *data, size_t size)
{
    put_varint(bytes, field << 3 | SIZED);
    put_varint(bytes, size);
    put(bytes, data, size);
}

static inline void put_string(struct bytes *bytes, unsigned field, const char *text)
{
    put_sized(bytes, field, text, strlen(text));
}

static inline void put_part(struct bytes *bytes, unsigned field, struct bytes *part)
{
    put_sized(bytes, field, part->at, part->size);
    free(part->at);
}

static inline void put_resource(struct bytes *bytes, unsigned field, const char *name)
{
    struct bytes resource = {0};
    put_string(&resource, 2, name);
    put_part(bytes, field, &resource);
}

static inline void put_seconds(struct bytes *bytes, unsigned field, uint64_t seconds)
{
    struct bytes duration = {0};
    put_number(&duration, 1, seconds);
    put_part(bytes, field, &duration);
}

enum { ID_DIGITS = 34 };

/* A SendMessage of one message; `id_at` is where its id begins. */
static inline struct bytes make_send(const char *topic, size_t body, uint64_t wall_s, size_t *id_at)
{
    static const char id[] = "01000000000000000000000000000000ab";
    struct bytes request = {0}, message = {0}, system = {0}, filling = {0};
    put_string(&system, 3, id);
    put_number(&system, 5, 1); /* as it is */
    put_number(&system, 6, 1); /* normal */
    put_seconds(&system, 7, wall_s);
    put_string(&system, 8, "load.example");
    put_resource(&message, 1, topic);
    put_part(&message, 3, &system);
    memset(grow(&filling, body), 'x', body);
    put_part(&message, 4, &filling);
    put_part(&request, 1, &message);
    char *found = memmem(request.at, request.size, id, ID_DIGITS);
    *id_at = (size_t)(found - request.at);
    return request;
}

static inline struct bytes make_receive(const char *topic, const char *group, unsigned batch,
                                        unsigned poll_seconds)
{
    struct bytes request = {0}, queue = {0}, broker = {0}, filter = {0};
    put_resource(&request, 1, group);
    put_resource(&queue, 1, topic);
    put_string(&broker, 1, "broker-a");
    put_part(&queue, 4, &broker);
    put_part(&request, 2, &queue);
    put_number(&filter, 1, 1);
    put_string(&filter, 2, "*");
    put_part(&request, 3, &filter);
    put_number(&request, 4, batch);
    put_seconds(&request, 5, 300);
    put_seconds(&request, 7, poll_seconds);
    return request;
}

static inline struct bytes make_settings(const char *topic, const char *group)
{
    struct bytes command = {0}, settings = {0}, about = {0}, agent = {0};
    put_number(&settings, 1, group ? 3 : 1);
    put_seconds(&settings, 4, 3);
    if (group) {
        struct bytes entry = {0}, filter = {0};
        put_number(&filter, 1, 1);
        put_string(&filter, 2, "*");
        put_resource(&entry, 1, topic);
        put_part(&entry, 2, &filter);
        put_resource(&about, 1, group);
        put_part(&about, 2, &entry);
        put_seconds(&about, 5, 20);
    } else {
        put_resource(&about, 1, topic);
    }
    put_part(&settings, group ? 6 : 5, &about);
    put_number(&agent, 1, 2);
    put_string(&agent, 2, "5.0.7");
    put_part(&settings, 7, &agent);
    put_part(&command, 2, &settings);
    return command;
}

/* Reading: a field of a message, and the position after it; 0: there is none, or it is broken. */
struct field {
    unsigned number;
    uint64_t value;
    const char *at;
    size_t size;
};

static inline const char *read_varint(const char *at, const char *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        *value |= (uint64_t)(*at & 0x7f) << shift;
        if (!(*at++ & 0x80))
            return at;
    }
    return NULL;
}

static inline const char *read_field(const char *at, const char *end, struct field *field)
{
    uint64_t tag, size;
    if (at >= end || !(at = read_varint(at, end, &tag)))
        return NULL;
    field->number = (unsigned)(tag >> 3);
    field->at = at;
    field->size = 0;
    switch (tag & 7) {
    case 0: return read_varint(at, end, &field->value);
    case 1: return end - at >= 8 ? at + 8 : NULL;
    case 5: return end - at >= 4 ? at + 4 : NULL;
    case 2:
        if (!(at = read_varint(at, end, &size)) || size > (uint64_t)(end - at))
            return NULL;
        field->at = at;
        field->size = (size_t)size;
        return at + size;
    default: return NULL;
    }
}

static inline bool find_field(const char *at, size_t size, unsigned number, struct field *field)
{
    for (const char *end = at + size; (at = read_field(at, end, field));)
        if (field->number == number)
            return true;
    return false;
}

/* The code in the status that a response has as its first field; 0: it has none. */
static inline unsigned status_in(const char *at, size_t size)
{
    struct field status, code;
    if (!find_field(at, size, 1, &status) || !find_field(status.at, status.size, 1, &code))
        return 0;
    return (unsigned)code.value;
}

/* An AckMessage for a delivered message; false: it has no receipt. */
static inline bool make_ack(struct bytes *request, const char *topic, const char *group,
                            const struct field *message)
{
    struct field system, id, handle;
    if (!find_field(message->at, message->size, 3, &system)
        || !find_field(system.at, system.size, 3, &id)
        || !find_field(system.at, system.size, 12, &handle))
        return false;
    struct bytes entry = {0};
    request->size = 0;
    put_resource(request, 1, group);
    put_resource(request, 2, topic);
    put_sized(&entry, 1, id.at, id.size);
    put_sized(&entry, 2, handle.at, handle.size);
    put_part(request, 3, &entry);
    return true;
}

#endif
