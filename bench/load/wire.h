/* What a connection is read and written by: the socket itself, or TLS on it (-DWITH_OPENSSL). */

#ifndef WIRE_H
#define WIRE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

struct wire {
    int fd; /* -1: closed */
    void *tls; /* NULL: plain */
};

#ifdef WITH_OPENSSL
#include <openssl/ssl.h>

/* Shakes hands as a client that believes one authority; false: the server is not believed. */
static inline bool begin_tls(struct wire *wire, const char *authority)
{
    static SSL_CTX *context;
    if (!context) {
        context = SSL_CTX_new(TLS_client_method());
        if (!context || SSL_CTX_load_verify_locations(context, authority, NULL) != 1)
            return false;
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE
                         | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    }
    SSL *tls = SSL_new(context);
    wire->tls = tls;
    int flags = fcntl(wire->fd, F_GETFL);
    fcntl(wire->fd, F_SETFL, flags & ~O_NONBLOCK);
    bool is_begun = tls && SSL_set_fd(tls, wire->fd) == 1 && SSL_connect(tls) == 1;
    fcntl(wire->fd, F_SETFL, flags);
    return is_begun;
}

static inline ssize_t tls_result(SSL *tls, int result)
{
    if (result > 0)
        return result;
    int error = SSL_get_error(tls, result);
    if (error == SSL_ERROR_ZERO_RETURN)
        return 0;
    errno = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? EAGAIN : EPROTO;
    return -1;
}

static inline ssize_t write_wire(struct wire *wire, const char *bytes, size_t size)
{
    if (!wire->tls)
        return send(wire->fd, bytes, size, MSG_NOSIGNAL);
    return tls_result(wire->tls, SSL_write(wire->tls, bytes, (int)size));
}

/* As recv; with TLS all that has come, because what OpenSSL keeps does not wake anybody. */
static inline ssize_t read_wire(struct wire *wire, char *bytes, size_t size)
{
    if (!wire->tls)
        return recv(wire->fd, bytes, size, 0);
    ssize_t got = 0, more = 1;
    while (more > 0 && (size_t)got < size) {
        more = tls_result(wire->tls, SSL_read(wire->tls, bytes + got, (int)(size - (size_t)got)));
        got += more > 0 ? more : 0;
    }
    return got ? got : more;
}

#else

static inline bool begin_tls(struct wire *wire, const char *authority)
{
    (void)wire, (void)authority;
    fprintf(stderr, "load: built without OpenSSL, it cannot speak TLS\n");
    exit(2);
}

static inline ssize_t write_wire(struct wire *wire, const char *bytes, size_t size)
{
    return send(wire->fd, bytes, size, MSG_NOSIGNAL);
}

static inline ssize_t read_wire(struct wire *wire, char *bytes, size_t size)
{
    return recv(wire->fd, bytes, size, 0);
}

#endif
#endif
