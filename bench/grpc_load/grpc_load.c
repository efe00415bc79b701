/* A load generator for RocketMQ's gRPC, one thread, no dependency.
 *
 *     grpc_load send --port N [--connections 4 --in-flight 64 --body 100 --topic T]
 *     grpc_load open …  --rate 1000        sends on a schedule that no answer delays
 *     grpc_load take …  --group G [--batch 32]
 *                                          ReceiveMessage, each message acknowledged by a call of
 *                                          its own; --in-flight receives for each connection
 *     grpc_load hold …  --group G --groups 4
 *                                          a client for each connection, with telemetry and a long
 *                                          poll in one of the groups G-0, G-1, …, until stdin ends
 *
 * Every connection begins with a stream of telemetry, which stays open; load begins when the server
 * has answered the settings of all of them. --count or --seconds ends it; what is then unanswered
 * for --patience seconds (10) is an error. One JSON line on stdout: what was answered well, in how
 * long, what was wrong, and how long answers took: from the write, with `open` from the scheduled
 * time. `hold` prints one when all clients wait, and one at its end.
 * The status of every answer is checked, and that a stream is one that waits for it. */

#define _GNU_SOURCE
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>

#include "../load/latency.h"
#include "calls.h"

enum mode { SEND, OPEN, TAKE, HOLD };
enum kind { TELEMETRY, SENDING, RECEIVING, ACKING };
enum { OK = 20000, MESSAGE_NOT_FOUND = 40401, EVENTS = 256, POLL_SECONDS = 20 };

static const char *const MODES[] = {"send", "open", "take", "hold"};
static const char PING_TEXT[] = "waiting?";

static struct {
    enum mode mode;
    int port;
    unsigned connections, in_flight, batch, groups;
    size_t body;
    const char *topic, *group;
    uint64_t count;
    double seconds, rate, patience;
} options = {
    .connections = 4, .in_flight = 64, .batch = 32, .groups = 1, .body = 100,
    .topic = "BenchTopic", .rate = 1000, .patience = 10,
};

static struct link **links;
static struct bytes send_path, receive_path, ack_path;
static struct bytes sending, acking, *receiving;
static size_t id_at;
static struct latency latency;
static int waiter;
static uint64_t began, ends, last_answer, issued, good, errors;
static unsigned known, waiting, open_calls, next_link;
static bool is_over;
static char first_error[200];

static void fail(const char *what)
{
    fprintf(stderr, "grpc_load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void note_error(const char *what, unsigned code)
{
    if (!errors++)
        snprintf(first_error, sizeof first_error, "%s (%u)", what, code);
}

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Calls. */

static struct call *begin(struct link *link, enum kind kind, const struct bytes *path,
                          const struct bytes *message, uint64_t since)
{
    struct call *call = begin_call(link, kind);
    call->began = since;
    put_call(link, call, path, message, ++issued);
    open_calls++;
    return call;
}

static void send_message(struct link *link, uint64_t since)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t number = issued;
    for (size_t i = ID_DIGITS; i > ID_DIGITS - 12; number >>= 4)
        sending.at[id_at + --i] = digits[number & 15];
    begin(link, SENDING, &send_path, &sending, since);
    link->in_flight++;
}

static bool has_room(const struct link *link)
{
    return link->window > (int64_t)(sending.size + 64);
}

static bool is_done(uint64_t now)
{
    return is_over || (options.count && issued >= options.count) || (ends && now >= ends);
}

/* As many calls as may be in flight. `open` has its own time. */
static void fill(struct link *link, uint64_t now)
{
    if (options.mode == OPEN || known < options.connections)
        return;
    while (link->in_flight < options.in_flight && has_room(link) && !is_done(now)) {
        if (options.mode == SEND) {
            send_message(link, now);
        } else {
            begin(link, RECEIVING, &receive_path, &receiving[link->number % options.groups], now);
            link->in_flight++;
        }
    }
}

/* Answers. */

static void settle(struct link *link, struct call *call)
{
    call->stream = 0;
    open_calls--;
    link->in_flight -= call->kind != ACKING;
}

static void acknowledge(struct link *link, struct call *call, const struct field *message,
                        uint64_t now)
{
    if (!make_ack(&acking, options.topic, options.group, message)) {
        note_error("a message without a receipt", 0);
        return;
    }
    struct call *ack = begin(link, ACKING, &ack_path, &acking, now);
    ack->parent = call;
    call->unanswered++;
}

/* What a receive brought: messages, each in a response of its own, and a status. */
static void take_received(struct link *link, struct call *call, uint64_t now)
{
    const char *at = call->answer.at, *end = at + call->answer.size;
    bool has_status = false;
    while (end - at >= 5) {
        size_t size = load_u32(at + 1);
        struct field content;
        if (size > (size_t)(end - at) - 5)
            break;
        if (find_field(at + 5, size, 2, &content)) {
            acknowledge(link, call, &content, now);
        } else if (find_field(at + 5, size, 1, &content)) {
            unsigned code = status_in(at + 5, size);
            has_status = true;
            if (code != OK && code != MESSAGE_NOT_FOUND)
                note_error("a receive was refused", code);
        }
        at += 5 + size;
    }
    if (at != end || !has_status)
        note_error("a receive without a status", 0);
}

static void take_status(struct call *call, uint64_t now)
{
    const char *at = call->answer.at;
    unsigned code = 0;
    if (call->answer.size >= 5 && load_u32(at + 1) == call->answer.size - 5)
        code = status_in(at + 5, call->answer.size - 5);
    if (code == OK)
        good++;
    else
        note_error(call->kind == SENDING ? "a send was refused" : "an acknowledgement was refused",
                   code);
    latency_add(&latency, now - call->began);
}

static void end_call(struct link *link, struct call *call, uint64_t now)
{
    struct call *parent = call->parent;
    last_answer = now;
    switch (call->kind) {
    case TELEMETRY:
        note_error("a stream of telemetry has ended", 0);
        call->stream = 0;
        open_calls--;
        break;
    case RECEIVING:
        take_received(link, call, now);
        if (!call->unanswered)
            settle(link, call);
        break;
    case ACKING:
        take_status(call, now);
        settle(link, call);
        if (!--parent->unanswered)
            settle(link, parent);
        break;
    default:
        take_status(call, now);
        settle(link, call);
    }
}

/* The place of a stream that waits for an answer. */
static struct call *call_of(struct link *link, uint32_t stream)
{
    struct call *call = &link->calls[stream / 2 % SLOTS];
    return stream && call->stream == stream ? call : NULL;
}

static void take_data(struct link *link, const char *at, size_t size, int flags, uint32_t stream,
                      uint64_t now)
{
    struct call *call = call_of(link, stream);
    credit(link, size);
    if (!call) {
        note_error("data of no call", stream);
        return;
    }
    if (flags & PADDED)
        size -= 1 + (unsigned char)at[0], at++;
    if (call->kind == TELEMETRY) {
        if (!link->is_known) {
            link->is_known = true;
            known++;
        }
    } else {
        put(&call->answer, at, size);
    }
    if (flags & END_STREAM)
        end_call(link, call, now);
}

/* Whether the connection may go on. */
static bool take_frame(struct link *link, const char *frame, size_t size, uint64_t now)
{
    int kind = frame[3], flags = frame[4];
    uint32_t stream = load_u32(frame + 5) & 0x7fffffff;
    const char *at = frame + 9;
    struct call *call;
    switch (kind) {
    case DATA:
        take_data(link, at, size, flags, stream, now);
        return true;
    case HEADERS:
        if (flags & END_STREAM && (call = call_of(link, stream)))
            end_call(link, call, now);
        return true;
    case RST_STREAM:
        if ((call = call_of(link, stream))) {
            note_error("a stream was reset", load_u32(at));
            end_call(link, call, now);
        }
        return true;
    case SETTINGS:
        if (!(flags & ACK))
            put_frame(link, 0, SETTINGS, ACK, 0);
        return true;
    case PING:
        if (flags & ACK) {
            waiting++;
        } else {
            put_frame(link, 8, PING, ACK, 0);
            put(&link->out, at, 8);
        }
        return true;
    case WINDOW_UPDATE:
        if (!stream)
            link->window += load_u32(at) & 0x7fffffff;
        return true;
    case GOAWAY:
        note_error("the server says goodbye", load_u32(at + 4));
        return false;
    default:
        return true;
    }
}

/* Whether the connection is whole. */
static bool take_frames(struct link *link, uint64_t now)
{
    size_t at = 0;
    while (link->in_size - at >= 9) {
        const unsigned char *head = (const unsigned char *)link->in + at;
        size_t size = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        if (size + 9 > IN_BYTES)
            return false;
        if (link->in_size - at < size + 9)
            break;
        if (!take_frame(link, link->in + at, size, now))
            return false;
        at += size + 9;
    }
    link->in_size -= at;
    memmove(link->in, link->in + at, link->in_size);
    return true;
}

/* Connections. */

static void watch(struct link *link, int operation)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = link};
    if (link->is_full)
        event.events |= EPOLLOUT;
    if (epoll_ctl(waiter, operation, link->fd, &event))
        fail("epoll");
}

static void drop(struct link *link, const char *why)
{
    note_error(why, link->number);
    close(link->fd);
    link->fd = -1;
    for (unsigned i = 0; i < SLOTS; i++)
        if (link->calls[i].stream)
            open_calls--;
}

static void flush(struct link *link)
{
    if (!flush_link(link)) {
        drop(link, "a connection is broken");
    } else if (link->is_full != (link->out.size > 0)) {
        link->is_full = link->out.size > 0;
        watch(link, EPOLL_CTL_MOD);
    }
}

static void read_link(struct link *link)
{
    ssize_t done = recv(link->fd, link->in + link->in_size, IN_BYTES - link->in_size, 0);
    if (done < 0 && errno == EAGAIN)
        return;
    link->in_size += done > 0 ? (size_t)done : 0;
    if (done <= 0 || !take_frames(link, now_ns()))
        drop(link, "a connection was closed");
}

static void open_link(unsigned number)
{
    struct link *link = links[number] = calloc(1, sizeof *link);
    if (!link || !connect_link(link, options.port))
        fail("connect");
    char client[64], group[64];
    snprintf(client, sizeof client, "load@%d@%u", (int)getpid(), number);
    snprintf(group, sizeof group, "%s-%u", options.group ? options.group : "",
             number % options.groups);
    const char *wanted = options.mode == HOLD ? group : options.group;
    struct bytes first = {0}, settings = make_settings(options.topic, wanted);
    link->number = number;
    put_hello(link);
    put_path(&first, "Telemetry");
    make_fields(link, &first, client);
    struct call *call = begin_call(link, TELEMETRY);
    open_calls++;
    put_frame(link, first.size, HEADERS, END_HEADERS, call->stream);
    put(&link->out, first.at, first.size);
    put_frame(link, settings.size + 5, DATA, 0, call->stream);
    store_u32(memset(grow(&link->out, 5), 0, 5) + 1, (uint32_t)settings.size);
    put(&link->out, settings.at, settings.size);
    link->window -= (int64_t)settings.size + 5;
    free(first.at);
    free(settings.at);
    watch(link, EPOLL_CTL_ADD);
    flush(link);
}

static void make_requests(void)
{
    put_path(&send_path, "SendMessage");
    put_path(&receive_path, "ReceiveMessage");
    put_path(&ack_path, "AckMessage");
    sending = make_send(options.topic, options.body, (uint64_t)time(NULL), &id_at);
    receiving = calloc(options.groups, sizeof *receiving);
    for (unsigned i = 0; options.group && i < options.groups; i++) {
        char group[64];
        snprintf(group, sizeof group, options.mode == HOLD ? "%s-%u" : "%s", options.group, i);
        unsigned poll_seconds = options.mode == HOLD ? POLL_SECONDS : 1;
        receiving[i] = make_receive(options.topic, group, options.batch, poll_seconds);
    }
}

static void open_links(void)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    waiter = epoll_create1(0);
    links = calloc(options.connections, sizeof *links);
    for (unsigned number = 0; number < options.connections; number++)
        open_link(number);
}

/* One wait, and what came. `timer` is a file that is read when it is due, -1: there is none. */
static bool turn(int wait_ms, int timer)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(waiter, events, EVENTS, wait_ms);
    bool is_due = false;
    for (int i = 0; i < count; i++) {
        struct link *link = events[i].data.ptr;
        uint64_t times;
        if (!link) {
            is_due = read(timer, &times, sizeof times) > 0;
            continue;
        }
        if (events[i].events & ~(unsigned)EPOLLOUT)
            read_link(link);
        if (link->fd >= 0) {
            fill(link, now_ns());
            flush(link);
        }
    }
    return is_due;
}

/* Until the server knows all clients. */
static void greet(void)
{
    uint64_t late = now_ns() + (uint64_t)(options.patience * 3e9);
    while (known < options.connections && !errors && now_ns() < late)
        turn(100, -1);
    if (known < options.connections)
        note_error("the server answered no settings", known);
    began = last_answer = now_ns();
    ends = options.seconds > 0 ? began + (uint64_t)(options.seconds * 1e9) : 0;
}

static void start_all(void)
{
    uint64_t now = now_ns();
    for (unsigned i = 0; i < options.connections; i++)
        if (links[i]->fd >= 0) {
            fill(links[i], now);
            flush(links[i]);
        }
}

/* Streams of telemetry stay. */
static unsigned unanswered(void)
{
    unsigned streams = 0;
    for (unsigned i = 0; i < options.connections; i++)
        streams += links[i]->fd >= 0;
    return open_calls > streams ? open_calls - streams : 0;
}

static void finish(void)
{
    is_over = true;
    uint64_t late = now_ns() + (uint64_t)(options.patience * 1e9);
    while (unanswered() && now_ns() < late)
        turn(10, -1);
    if (unanswered())
        note_error("unanswered", unanswered());
}

static void run_full(void)
{
    start_all();
    while (!is_done(now_ns()))
        turn(10, -1);
    finish();
}

/* A send for each of the times that have come; all of them from their own time on. */
static void run_scheduled(void)
{
    uint64_t step = (uint64_t)(1e9 / options.rate), due = began + step;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(waiter, EPOLL_CTL_ADD, timer, &event);
    while (!is_done(due)) {
        struct itimerspec when = {
            .it_value = {(time_t)(due / 1000000000), (long)(due % 1000000000)},
        };
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
        turn(-1, timer);
        for (uint64_t now = now_ns(); due <= now && !is_done(due); due += step) {
            struct link *link = links[next_link++ % options.connections];
            if (link->fd < 0 || !has_room(link)) {
                note_error("no room for a send", link->number);
                continue;
            }
            send_message(link, due);
            flush(link);
        }
    }
    finish();
}

static void print_held(const char *name, uint64_t count)
{
    printf("{\"%s\":%llu,\"error\":\"%s\"}\n", name, (unsigned long long)count, first_error);
    fflush(stdout);
}

static void run_held(void)
{
    start_all();
    for (unsigned i = 0; i < options.connections; i++) {
        if (links[i]->fd < 0)
            continue;
        /* Its answer comes when the server has read the receive. */
        put_frame(links[i], 8, PING, 0, 0);
        put(&links[i]->out, PING_TEXT, 8);
        flush(links[i]);
    }
    uint64_t late = now_ns() + (uint64_t)(options.patience * 3e9);
    while (waiting < options.connections && now_ns() < late)
        turn(10, -1);
    if (waiting < options.connections)
        note_error("clients do not wait", options.connections - waiting);
    uint64_t before = errors;
    print_held("errors", before);
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char rest[64];
    while (poll(&input, 1, 0) == 0 || read(0, rest, sizeof rest) > 0)
        turn(10, -1);
    print_held("lost", errors - before);
}

static void report(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double seconds = (double)(last_answer - began) / 1e9;
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    printf("{\"mode\":\"%s\",\"count\":%llu,\"seconds\":%.6f,\"rate\":%.1f,\"errors\":%llu,"
           "\"error\":\"%s\",\"cpu_seconds\":%.3f",
           MODES[options.mode], (unsigned long long)good, seconds,
           seconds > 0 ? (double)good / seconds : 0.0, (unsigned long long)errors, first_error,
           cpu);
    latency_print(stdout, &latency, "");
    printf("}\n");
}

static void read_options(int count, char **words)
{
    static const char *const names[] = {
        "port", "connections", "in-flight", "body", "topic", "group", "groups", "batch", "count",
        "seconds", "rate", "patience",
    };
    enum { NAMES = sizeof names / sizeof *names };
    struct option known_options[NAMES + 1] = {0};
    for (int i = 0; i < NAMES; i++)
        known_options[i] = (struct option){names[i], required_argument, NULL, i};
    unsigned mode = 0;
    while (count > 1 && mode <= HOLD && strcmp(words[1], MODES[mode]))
        mode++;
    if (count < 2 || mode > HOLD) {
        fprintf(stderr, "grpc_load: what? send, open, take, hold: see the head of grpc_load.c\n");
        exit(2);
    }
    options.mode = mode;
    for (int name; (name = getopt_long(count - 1, words + 1, "", known_options, NULL)) >= 0;) {
        double number = optarg ? strtod(optarg, NULL) : 0;
        switch (name) {
        case 0: options.port = (int)number; break;
        case 1: options.connections = (unsigned)number; break;
        case 2: options.in_flight = (unsigned)number; break;
        case 3: options.body = (size_t)number; break;
        case 4: options.topic = optarg; break;
        case 5: options.group = optarg; break;
        case 6: options.groups = (unsigned)number; break;
        case 7: options.batch = (unsigned)number; break;
        case 8: options.count = (uint64_t)number; break;
        case 9: options.seconds = number; break;
        case 10: options.rate = number; break;
        case 11: options.patience = number; break;
        default: exit(2);
        }
    }
    bool has_end = options.count || options.seconds > 0 || options.mode == HOLD;
    bool has_group = options.group || options.mode == SEND || options.mode == OPEN;
    if (!has_end || !has_group || !options.port || !options.connections || !options.in_flight
        || !options.groups || options.rate <= 0 || options.in_flight > SLOTS / 64) {
        fprintf(stderr, "grpc_load: --count, --seconds, --group or --port is missing, or a value "
                        "is out of range\n");
        exit(2);
    }
}

int main(int count, char **words)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_TIMERSLACK, 1);
    read_options(count, words);
    make_requests();
    open_links();
    greet();
    if (options.mode == HOLD) {
        run_held();
        return 0;
    }
    if (!errors) {
        if (options.mode == OPEN)
            run_scheduled();
        else
            run_full();
    }
    report();
    return 0;
}
