/* A load generator for RocketMQ brokers (and Redis Streams), one thread, no dependency.
 *
 *     load send   --port N [--connections 4 --in-flight 64 --body 100 --topic T --queues 4]
 *     load batch  …  [--batch 32]          SEND_BATCH_MESSAGE
 *     load pull   …  [--batch 32]          PULL_MESSAGE, each reader following its queue, again
 *                                          from the start at its end
 *     load open   …  --rate 5000           sends on a schedule that no answer delays
 *     load create …  --count 10000         request 17 for T000000, T000001, …
 *     load touch  …  --count 10000         one message to each of them
 *     load idle   …  --connections 1000    one heartbeat each, then silence until stdin ends
 *     load redis  …                        XADD to the streams T:0, T:1, …
 *     load dummy  [--fault code]           the server of dummy.h
 *
 * --count or --seconds ends it; what is then unanswered for --patience seconds (10) is an error.
 * One JSON line on stdout: what was answered well, in how long, what was wrong, and how long
 * answers took: from the write, with `open` from the scheduled time.
 * Every answer is checked: its code, that its opaque is one in flight on that connection, how many
 * messages it speaks of, and for a pull that they are the ones asked for.
 *
 * It must cost far less than what it measures: requests are made once and patched, everything that
 * may be in flight is written in one call, the clock is read once for each read and write. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

#include "dummy.h"
#include "latency.h"
#include "requests.h"

enum { IN_BYTES = 1 << 21, OPEN_IN_FLIGHT = 4096, EVENTS = 256 };

enum mode { SEND, BATCH, PULL, OPEN, CREATE, TOUCH, IDLE, REDIS, DUMMY };
static const char *const MODES[] = {
    "send", "batch", "pull", "open", "create", "touch", "idle", "redis", "dummy",
};
static const char *const FAULTS[] = {"none", "code", "opaque", "silence", "fewer"};

struct slot {
    uint64_t since;
    uint32_t opaque;
    bool is_busy;
    bool is_placed;  /* a pull's reader has been sent to its own part of the queue */
    int queue;       /* of a pull */
    uint64_t offset; /* of a pull */
};

struct connection {
    int fd; /* -1: closed */
    bool waits_for_room;
    char *in, *out;
    size_t in_size, out_from, out_size;
    size_t from_end;
    struct slot *slots;
    unsigned *free; /* a stack of slots; for Redis not used, there the slots are a ring */
    unsigned free_count;
    uint64_t sent, answered;
};

static struct {
    enum mode mode;
    int port, queues;
    unsigned connections, in_flight, batch;
    size_t body;
    const char *topic;
    uint64_t count;
    double seconds, rate, patience;
    enum fault fault;
} options = {
    .connections = 4, .in_flight = 64, .batch = 32, .body = 100, .queues = 4,
    .topic = "BenchTopic", .rate = 5000, .patience = 10,
};

static struct connection *connections;
static struct request *requests; /* one for each queue */
static unsigned slot_mask;
static size_t request_max, out_room;
static struct stamp stamp;
static struct latency latency, lateness;
static int waiter;
static uint64_t issued, in_flight, good, requests_answered, errors, began, ends, last_answer;
static bool is_told; /* that our input is at its end */
static char first_error[512];

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void note_error(const char *what, const char *text, size_t size)
{
    errors++;
    if (first_error[0])
        return;
    int used = snprintf(first_error, sizeof first_error, "%s: ", what);
    char *at = first_error + used;
    for (size_t i = 0; i < size && at < first_error + sizeof first_error - 1; i++)
        *at++ = text[i] == '"' || text[i] == '\\' || text[i] < ' ' ? '\'' : text[i];
}

static void fail(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t due_at(uint64_t number)
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
    epoll_ctl(waiter, EPOLL_CTL_MOD, connection->fd, &event);
}

static void lose(struct connection *connection, const char *reason)
{
    uint64_t lost = connection->sent - connection->answered;
    note_error(reason, "", 0);
    errors += lost;
    in_flight -= lost;
    close(connection->fd);
    connection->fd = -1;
}

static void flush(struct connection *connection)
{
    size_t size = connection->out_size - connection->out_from;
    if (!size)
        return;
    ssize_t sent = send(connection->fd, connection->out + connection->out_from, size,
                        MSG_NOSIGNAL);
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

static void issue(struct connection *connection, uint64_t now)
{
    unsigned index = options.mode == REDIS ? (unsigned)(connection->sent & slot_mask)
        : connection->free[--connection->free_count];
    struct slot *slot = &connection->slots[index];
    if (out_room - connection->out_size < request_max) {
        connection->out_size -= connection->out_from;
        memmove(connection->out, connection->out + connection->out_from, connection->out_size);
        connection->out_from = 0;
    }
    const struct request *request =
        &requests[options.mode == PULL ? slot->queue : (int)(issued % (unsigned)options.queues)];
    /* The slot's number stays in the low bits; the rest counts its uses. */
    slot->opaque += slot_mask + 1;
    if (slot->opaque >= OPAQUE_FIRST + OPAQUE_COUNT)
        slot->opaque = OPAQUE_FIRST + index;
    connection->out_size += write_request(request, connection->out + connection->out_size, &stamp,
                                          slot->opaque, slot->offset, issued);
    slot->is_busy = true;
    slot->since = now;
    if (options.mode == OPEN) {
        slot->since = due_at(issued);
        latency_add(&lateness, now - slot->since);
    }
    connection->sent++;
    issued++;
    in_flight++;
}

/* Everything that this connection may have in flight, in one write. */
static void fill(struct connection *connection)
{
    uint64_t now = now_ns();
    if (connection->fd < 0)
        return;
    stamp_now(&stamp);
    while (connection->sent - connection->answered < options.in_flight && wants_more(now))
        issue(connection, now);
    flush(connection);
}

/* What is due, spread over the connections; one that is full keeps the schedule waiting, and the
 * wait is in the latency, which counts from the scheduled time. */
static void fill_due(void)
{
    uint64_t now = now_ns(), first = issued;
    stamp_now(&stamp);
    while (wants_more(now)) {
        struct connection *connection = &connections[issued % options.connections];
        if (connection->fd < 0) {
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
        if (connection->fd >= 0)
            flush(connection);
    }
}

/* Records in the body; -1: they are not whole records one behind the other. */
static int64_t count_records(const char *body, const char *end)
{
    int64_t count = 0;
    while (end - body >= 8) {
        uint32_t size = load_i32(body);
        if (size < 8 || size > (size_t)(end - body) || load_i32(body + 4) != 0xDAA320A7)
            return -1;
        body += size;
        count++;
    }
    return body == end ? count : -1;
}

/* Messages that a good answer to a pull holds; sends its reader on. -1: they are not those asked
 * for. */
static int64_t take_pulled(struct slot *slot, unsigned reader, const char *header,
                           const char *body, const char *end)
{
    int64_t count = count_records(body, end);
    int64_t next = number_behind(header, body, "\"nextBeginOffset\":\"");
    int64_t max = number_behind(header, body, "\"maxOffset\":\"");
    int64_t min = number_behind(header, body, "\"minOffset\":\"");
    if (count <= 0 || count > options.batch || min < 0 || next != (int64_t)slot->offset + count)
        return -1;
    if (!slot->is_placed) {
        slot->is_placed = true;
        next = min + (max - min) * reader / ((slot_mask + 1) * options.connections);
    }
    slot->offset = (uint64_t)(next < max ? next : min);
    return count;
}

/* Messages that an answer speaks of; -1: not as many as it should. */
static int64_t take_batch_ids(const char *header, const char *body)
{
    static const char name[] = "\"msgId\":\"";
    const char *at = memmem(header, (size_t)(body - header), name, sizeof name - 1);
    int64_t ids = at != NULL;
    for (at = at ? at + sizeof name - 1 : body; at < body && *at != '"'; at++)
        ids += *at == ',';
    return ids == options.batch ? ids : -1;
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
    latency_add(&latency, now > slot->since ? now - slot->since : 0);
    static const char code_first[] = "{\"code\":0,";
    bool is_good = !memcmp(header, code_first, sizeof code_first - 1)
        || number_behind(header, body, "\"code\":") == 0;
    unsigned reader = (unsigned)(connection - connections) * (slot_mask + 1) + index;
    int64_t messages = !is_good ? -1
        : options.mode == PULL ? take_pulled(slot, reader, header, body, end)
        : options.mode == BATCH ? take_batch_ids(header, body) : 1;
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

static void take(struct connection *connection)
{
    ssize_t size = recv(connection->fd, connection->in + connection->in_size,
                        IN_BYTES - connection->in_size, 0);
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

static void make_requests(void)
{
    requests = calloc((size_t)options.queues, sizeof *requests);
    if (!requests)
        fail("memory");
    for (int queue = 0; queue < options.queues; queue++) {
        struct request *request = &requests[queue];
        switch (options.mode) {
        case PULL: make_pull(request, options.topic, queue, options.batch); break;
        case CREATE: make_create(request, options.topic, options.count > 1, options.queues); break;
        case IDLE: make_heartbeat(request); break;
        case REDIS: make_xadd(request, options.topic, queue, options.body); break;
        case TOUCH: make_send(request, options.topic, true, 0, options.body, 0); break;
        default:
            make_send(request, options.topic, false, queue, options.body,
                      options.mode == BATCH ? options.batch : 0);
        }
        if (request->size + 24 > request_max)
            request_max = request->size + 24;
    }
}

static void open_connection(struct connection *connection, unsigned number)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)options.port),
        .sin_addr.s_addr = htonl(0x7f000001),
    };
    size_t slots = slot_mask + 1;
    connection->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connection->fd < 0 || connect(connection->fd, (struct sockaddr *)&address, sizeof address))
        fail("connect");
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    fcntl(connection->fd, F_SETFL, O_NONBLOCK);
    connection->in = malloc(IN_BYTES);
    connection->out = malloc(out_room);
    connection->slots = calloc(slots, sizeof *connection->slots);
    connection->free = calloc(slots, sizeof *connection->free);
    if (!connection->in || !connection->out || !connection->slots || !connection->free)
        fail("memory");
    for (unsigned index = 0; index < slots; index++) {
        connection->slots[index].opaque = OPAQUE_FIRST + index;
        connection->slots[index].queue = (int)((number + index) % (unsigned)options.queues);
        connection->free[connection->free_count++] = (unsigned)slots - 1 - index;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(waiter, EPOLL_CTL_ADD, connection->fd, &event);
}

static void open_connections(void)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    slot_mask = 0;
    while (slot_mask + 1 < options.in_flight)
        slot_mask = slot_mask * 2 + 1;
    out_room = request_max * (slot_mask + 2);
    connections = calloc(options.connections, sizeof *connections);
    if (!connections)
        fail("memory");
    for (unsigned number = 0; number < options.connections; number++)
        open_connection(&connections[number], number);
}

/* Waits for what happens next, and takes it. */
static void turn(int timeout_ms)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(waiter, events, EVENTS, timeout_ms);
    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        if (!connection) { /* the timer, which needs no reading, or standard input */
            char told[64];
            is_told |= options.mode == IDLE && read(0, told, sizeof told) == 0;
            continue;
        }
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR) && connection->fd >= 0)
            take(connection);
        if (connection->fd >= 0 && options.mode != OPEN)
            fill(connection);
        else if (connection->fd >= 0 && events[i].events & EPOLLOUT)
            flush(connection);
    }
}

static bool is_over(void)
{
    uint64_t now = now_ns();
    if (errors > 1000000)
        return true;
    if ((options.count && issued >= options.count) || (ends && now >= ends))
        return in_flight == 0 || now > last_answer + (uint64_t)(options.patience * 1e9);
    bool any = false;
    for (unsigned i = 0; i < options.connections && !any; i++)
        any = connections[i].fd >= 0;
    return !any;
}

static void run(void)
{
    began = last_answer = now_ns();
    if (options.seconds > 0)
        ends = began + (uint64_t)(options.seconds * 1e9);
    if (options.mode != OPEN) {
        for (unsigned i = 0; i < options.connections; i++)
            fill(&connections[i]);
        while (!is_over())
            turn(100);
        return;
    }
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = NULL};
    epoll_ctl(waiter, EPOLL_CTL_ADD, timer, &event);
    prctl(PR_SET_TIMERSLACK, 1ul);
    while (!is_over()) {
        fill_due();
        uint64_t next = due_at(issued);
        struct itimerspec at = {0};
        at.it_value.tv_sec = (time_t)(next / 1000000000);
        at.it_value.tv_nsec = (long)(next % 1000000000);
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
        turn(100);
    }
}

static void report(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double seconds = (double)(last_answer - began) / 1e9;
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    if (in_flight) {
        note_error("unanswered", "", 0);
        errors += in_flight - 1;
    }
    printf("{\"mode\":\"%s\",\"count\":%llu,\"requests\":%llu,\"seconds\":%.6f,\"rate\":%.1f,"
           "\"errors\":%llu,\"error\":\"%s\",\"cpu_seconds\":%.3f",
           MODES[options.mode], (unsigned long long)good, (unsigned long long)requests_answered,
           seconds, seconds > 0 ? (double)good / seconds : 0.0, (unsigned long long)errors,
           first_error, cpu);
    latency_print(stdout, &latency, "");
    if (options.mode == OPEN)
        latency_print(stdout, &lateness, "late_");
    printf("}\n");
    fflush(stdout);
}

/* Nothing is sent any more; whoever reads our output has seen that all are open, and says by
 * ending our input when it has seen enough. */
static void hold(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (epoll_ctl(waiter, EPOLL_CTL_ADD, 0, &event))
        fail("standard input must be a pipe");
    uint64_t before = errors;
    while (!is_told)
        turn(-1);
    printf("{\"closed\":%llu}\n", (unsigned long long)(errors - before));
}

static int choose(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return (int)i;
    fprintf(stderr, "load: no such thing as %s\n", name);
    exit(2);
}

static void read_options(int argc, char **argv)
{
    static const struct option named[] = {
        {"port", required_argument, NULL, 'p'}, {"connections", required_argument, NULL, 'c'},
        {"in-flight", required_argument, NULL, 'f'}, {"body", required_argument, NULL, 'b'},
        {"topic", required_argument, NULL, 't'}, {"queues", required_argument, NULL, 'q'},
        {"batch", required_argument, NULL, 'n'}, {"count", required_argument, NULL, 'k'},
        {"seconds", required_argument, NULL, 's'}, {"rate", required_argument, NULL, 'r'},
        {"patience", required_argument, NULL, 'w'}, {"fault", required_argument, NULL, 'x'},
        {NULL, 0, NULL, 0},
    };
    if (argc < 2) {
        fprintf(stderr, "load: send, batch, pull, open, create, touch, idle, redis or dummy?\n");
        exit(2);
    }
    options.mode = (enum mode)choose(argv[1], MODES, sizeof MODES / sizeof *MODES);
    for (int letter; (letter = getopt_long(argc - 1, argv + 1, "", named, NULL)) != -1;) {
        switch (letter) {
        case 'p': options.port = atoi(optarg); break;
        case 'c': options.connections = (unsigned)atoi(optarg); break;
        case 'f': options.in_flight = (unsigned)atoi(optarg); break;
        case 'b': options.body = (size_t)atol(optarg); break;
        case 't': options.topic = optarg; break;
        case 'q': options.queues = atoi(optarg); break;
        case 'n': options.batch = (unsigned)atoi(optarg); break;
        case 'k': options.count = (uint64_t)atoll(optarg); break;
        case 's': options.seconds = atof(optarg); break;
        case 'r': options.rate = atof(optarg); break;
        case 'w': options.patience = atof(optarg); break;
        case 'x':
            options.fault = (enum fault)choose(optarg, FAULTS, sizeof FAULTS / sizeof *FAULTS);
            break;
        default: exit(2);
        }
    }
    if (options.mode == OPEN)
        options.in_flight = OPEN_IN_FLIGHT;
    if (options.mode == IDLE) {
        options.in_flight = 1;
        options.count = options.connections;
    }
    bool ends_some_time = options.count || options.seconds > 0 || options.mode == DUMMY;
    if (!ends_some_time || options.connections < 1 || options.in_flight < 1 || options.queues < 1
        || options.batch < 1 || options.batch >= BATCH_MAX || options.in_flight > OPEN_IN_FLIGHT
        || strlen(options.topic) > 200 || options.body > 1 << 20 || options.rate <= 0) {
        fprintf(stderr, "load: --count or --seconds is missing, or a value is out of range\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    if (options.mode == DUMMY)
        return serve_dummy(options.fault);
    waiter = epoll_create1(0);
    make_requests();
    open_connections();
    run();
    report();
    if (options.mode == IDLE)
        hold();
    return errors != 0;
}
