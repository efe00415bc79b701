/* Signatures of requests, as the Java client makes them: HMAC-SHA1 over the values of all fields,
 * in the order of their names, and the body; base64.
 *
 * A request gets its credentials when it is made (`add_credentials`), with a place of 28 characters
 * for the signature before all others, and is signed each time it was written. It needs OpenSSL's
 * libcrypto (-DWITH_OPENSSL): a generator must cost far less than what it measures. */

#ifndef SIGNING_H
#define SIGNING_H

#include "requests.h"

#ifdef WITH_OPENSSL
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

enum { FIELDS_MAX = 32, SIGNATURE_CHARS = 28, HMAC_BLOCK = 64 };

struct signer {
    bool is_on;
    SHA_CTX inner, outer;
    char fields[300]; /* before those of a request */
};

struct signed_field {
    const char *name, *value;
    size_t name_size, value_size;
};

static inline void set_signer(struct signer *signer, const char *key, const char *secret)
{
    unsigned char block[HMAC_BLOCK] = {0};
    memcpy(block, secret, strlen(secret) < HMAC_BLOCK ? strlen(secret) : HMAC_BLOCK);
    for (int i = 0; i < HMAC_BLOCK; i++)
        block[i] ^= 0x36;
    SHA1_Init(&signer->inner);
    SHA1_Update(&signer->inner, block, HMAC_BLOCK);
    for (int i = 0; i < HMAC_BLOCK; i++)
        block[i] ^= 0x36 ^ 0x5c;
    SHA1_Init(&signer->outer);
    SHA1_Update(&signer->outer, block, HMAC_BLOCK);
    snprintf(signer->fields, sizeof signer->fields,
             "\"Signature\":\"%028d\",\"AccessKey\":\"%s\"", 0, key);
    signer->is_on = true;
}

static inline void move_place(size_t *place, size_t by)
{
    if (*place)
        *place += by;
}

/* Puts the credentials before the other fields; everything behind them moves. */
static inline void add_credentials(const struct signer *signer, struct request *request)
{
    static const char fields[] = "\"extFields\":{";
    char *at = memmem(request->bytes + 8, request->size - 8, fields, sizeof fields - 1);
    if (!at)
        return;
    size_t place = (size_t)(at - request->bytes) + sizeof fields - 1;
    size_t size = strlen(signer->fields);
    bool is_more = request->bytes[place] != '}';
    need_room(request, size + 1);
    memmove(request->bytes + place + size + is_more, request->bytes + place,
            request->size - place);
    memcpy(request->bytes + place, signer->fields, size);
    if (is_more)
        request->bytes[place + size] = ',';
    size += is_more;
    request->size += size;
    move_place(&request->opaque_at, size);
    move_place(&request->born_at, size);
    move_place(&request->number_at, size);
    for (unsigned i = 0; i < request->hole_count; i++)
        request->hole_at[i] += size;
    for (unsigned i = 0; i < request->id_count; i++)
        request->id_at[i] += size;
    for (unsigned i = 0; i < request->unique_count; i++)
        request->unique_at[i] += size;
    store_i32(request->bytes, (uint32_t)(request->size - 4));
    store_i32(request->bytes + 4, load_i32(request->bytes + 4) + (uint32_t)size);
}

/* The fields of a header of ours, in the order of their names; returns how many. */
static inline unsigned sorted_fields(const char *at, struct signed_field *fields)
{
    unsigned count = 0;
    while (*at == '"' && count < FIELDS_MAX) {
        struct signed_field field = {.name = at + 1};
        const char *end = strchr(field.name, '"');
        field.name_size = (size_t)(end - field.name);
        field.value = end + 3;
        end = strchr(field.value, '"'); /* no value of ours has one */
        field.value_size = (size_t)(end - field.value);
        at = end[1] == ',' ? end + 2 : end + 1;
        unsigned place = count++;
        for (; place; place--) {
            const struct signed_field *other = &fields[place - 1];
            size_t shared = field.name_size < other->name_size ? field.name_size : other->name_size;
            int order = memcmp(other->name, field.name, shared);
            if (order < 0 || (order == 0 && other->name_size <= field.name_size))
                break;
            fields[place] = *other;
        }
        fields[place] = field;
    }
    return count;
}

/* A value without its escapes, of which ours has only \u00XX; returns its size. */
static inline size_t write_plain(char *to, const char *value, size_t size)
{
    char *start = to;
    for (size_t i = 0; i < size; i++) {
        if (value[i] != '\\') {
            *to++ = value[i];
        } else {
            *to++ = (char)(value[i + 5] - '0');
            i += 5;
        }
    }
    return (size_t)(to - start);
}

static inline void write_base64(char *at, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t word = (uint32_t)bytes[i] << 16 | (i + 1 < size ? bytes[i + 1] : 0u) << 8
            | (i + 2 < size ? bytes[i + 2] : 0u);
        for (int digit = 0; digit < 4; digit++)
            *at++ = i + (size_t)digit <= size ? digits[word >> (18 - 6 * digit) & 63] : '=';
    }
}

/* Signs a frame that was written. */
static inline void sign_frame(const struct signer *signer, char *frame, size_t size)
{
    static const char first[] = "\"Signature\":\"";
    char *header = frame + 8, *body = header + (load_i32(frame + 4) & 0xffffff);
    char *at = memmem(header, 64, first, sizeof first - 1);
    if (!at)
        return;
    struct signed_field fields[FIELDS_MAX];
    char plain[4096];
    size_t plain_size = 0;
    /* Behind the signature itself and the comma. */
    unsigned count = sorted_fields(at + sizeof first - 1 + SIGNATURE_CHARS + 2, fields);
    for (unsigned i = 0; i < count; i++)
        plain_size += write_plain(plain + plain_size, fields[i].value, fields[i].value_size);
    unsigned char digest[SHA_DIGEST_LENGTH];
    SHA_CTX state = signer->inner;
    SHA1_Update(&state, plain, plain_size);
    SHA1_Update(&state, body, (size_t)(frame + size - body));
    SHA1_Final(digest, &state);
    state = signer->outer;
    SHA1_Update(&state, digest, sizeof digest);
    SHA1_Final(digest, &state);
    write_base64(at + sizeof first - 1, digest, sizeof digest);
}

#else

struct signer {
    bool is_on;
};

static inline void set_signer(struct signer *signer, const char *key, const char *secret)
{
    (void)signer, (void)key, (void)secret;
    fprintf(stderr, "load: built without OpenSSL, it cannot sign\n");
    exit(2);
}

static inline void add_credentials(const struct signer *signer, struct request *request)
{
    (void)signer, (void)request;
}

static inline void sign_frame(const struct signer *signer, char *frame, size_t size)
{
    (void)signer, (void)frame, (void)size;
}

#endif
#endif
