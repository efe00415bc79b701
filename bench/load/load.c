/* A load generator for RocketMQ brokers (and Redis Streams), one thread, no dependency but OpenSSL
 * where it is to sign requests or to speak TLS (-DWITH_OPENSSL).
 *
 *     load send   --port N [--connections 4 --in-flight 64 --body 100 --topic T --queues 4]
 *     load batch  …  [--batch 32]          SEND_BATCH_MESSAGE
 *     load pull   …  [--batch 32]          PULL_MESSAGE, each reader following its queue, again
 *                                          from the start at its end
 *     load fill   …  [--batch 24]          as batch, with the marks that pull-sql chooses by
 *     load pull-sql …                      as pull, half of what is there by an SQL92 expression
 *     load open   …  --rate 5000           sends on a schedule that no answer delays
 *                   [--reader-port N]      and how long after its answer each is read there
 *     load delay  …  [--ahead 5]           sends that are all due in the same second, so many
 *                                          seconds after the last; then how fast they come out
 *     load transaction …                   halves, each committed, until the messages are there
 *     load pop    …  [--batch 32]          POP_MESSAGE, each message acknowledged by itself; as
 *                                          many messages on their way as --in-flight says
 *     load create …  --count 10000         request 17 for T000000, T000001, …
 *     load touch  …  --count 10000         one message to each of them
 *     load idle   …  --connections 1000    one heartbeat each, then silence until stdin ends
 *     load redis  …                        XADD to the streams T:0, T:1, …
 *     load dummy  [--fault code]           the server of dummy.h
 *
 * send, batch and create may be signed (--access-key K --secret-key S) and go over TLS (--authority
 * FILE: whose certificates are believed).
 *
 * --count or --seconds ends it; what is then unanswered for --patience seconds (10) is an error.
 * One JSON line on stdout: what was answered well, in how long, what was wrong, and how long
 * answers took: from the write, with `open` from the scheduled time.
 * Every answer is checked: its code, that its opaque is one in flight on that connection, how many
 * messages it speaks of, for a pull that they are the ones asked for, for a pop that no message
 * came twice. What has no answer (a commit, a delivery) counts when the topic holds the message;
 * one too many, one too few or one too early is an error.
 *
 * It must cost far less than what it measures: requests are made once and patched, everything that
 * may be in flight is written in one call, the clock is read once for each read and write. */

#define _GNU_SOURCE
#include <getopt.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

#include "dummy.h"
#include "load.h"

static const char *const MODES[] = {
    "send", "batch", "fill", "pull", "pull-sql", "open", "delay", "transaction", "pop", "create",
    "touch", "idle", "redis", "dummy",
};
static const char *const FAULTS[] = {
    "none", "code", "opaque", "silence", "fewer", "twice", "early",
};

struct options options = {
    .connections = 4, .in_flight = 64, .batch = 32, .body = 100, .queues = 4,
    .topic = "BenchTopic", .rate = 5000, .patience = 10, .ahead = 5,
};
struct connection *connections;
struct request *requests;
struct request *acks;
struct request ending;
unsigned slot_mask;
size_t request_max, out_room;
struct stamp stamp;
struct signer signer;
struct latency latency, lateness;
int waiter;
uint64_t issued, in_flight, good, requests_answered, errors, began, ends, last_answer;
static bool is_told; /* that our input is at its end */
struct watch watch;
struct reader slave_reader = {.fd = -1};
uint64_t held_before, seen;
uint64_t examined;
uint64_t pop_group, asked;
uint32_t *poppers;
uint64_t queue_room;
char first_error[512];
static uint64_t due, due_ms;      /* when delayed messages are, by two clocks */
static double first_out, all_out; /* seconds from then to the first and the last of them */

static void *allot(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        fail("memory");
    return memory;
}

/* The first whole second that is far enough ahead. */
static void make_delayed(struct request *request, int queue)
{
    char property[64];
    if (!due_ms) {
        struct timespec wall;
        uint64_t least = (uint64_t)((options.seconds + options.ahead) * 1e9), now = now_ns();
        clock_gettime(CLOCK_REALTIME, &wall);
        uint64_t wall_ns = (uint64_t)wall.tv_sec * 1000000000 + (uint64_t)wall.tv_nsec;
        uint64_t due_seconds = (wall_ns + least) / 1000000000 + 1;
        due_ms = due_seconds * 1000;
        due = now + due_seconds * 1000000000 - wall_ns;
    }
    snprintf(property, sizeof property, "TIMER_DELIVER_MS\\u0001%llu\\u0002",
             (unsigned long long)due_ms);
    struct extras delayed = {0, property, ""};
    make_send(request, options.topic, false, queue, options.body, &delayed);
}

static void note_size(const struct request *request)
{
    size_t size = request->size + 20 * request->hole_count;
    if (size > request_max)
        request_max = size;
}

static void make_request(struct request *request, int queue)
{
    const char *topic = options.topic;
    switch (options.mode) {
    case PULL: make_pull(request, topic, queue, options.batch, NULL, false); break;
    case PULL_SQL: make_pull(request, topic, queue, options.batch, MARK_FILTER, false); break;
    case BATCH: make_batch(request, topic, queue, options.body, options.batch, false); break;
    case FILL: make_batch(request, topic, queue, options.body, options.batch, true); break;
    case DELAY: make_delayed(request, queue); break;
    case TRANSACTION: make_send(request, topic, false, queue, options.body, &HALF); break;
    case POP: make_pop(request, topic, options.batch); break;
    case CREATE: make_create(request, topic, options.count > 1, options.queues); break;
    case IDLE: make_heartbeat(request); break;
    case REDIS: make_xadd(request, topic, queue, options.body); break;
    case TOUCH: make_send(request, topic, true, 0, options.body, &PLAIN); break;
    default: make_send(request, topic, false, queue, options.body, &PLAIN);
    }
    if (signer.is_on)
        add_credentials(&signer, request);
    note_size(request);
}

static void make_requests(void)
{
    requests = allot((size_t)options.queues, sizeof *requests);
    acks = allot((size_t)options.queues, sizeof *acks);
    for (int queue = 0; queue < options.queues; queue++) {
        make_request(&requests[queue], queue);
        make_ack(&acks[queue], options.topic, queue);
        note_size(&acks[queue]);
    }
    make_end(&ending, options.topic);
    note_size(&ending);
}

static void open_connection(struct connection *connection, unsigned number)
{
    size_t slots = slot_mask + 1;
    connection->wire.fd = connect_to(options.port);
    if (connection->wire.fd < 0)
        fail("connect");
    if (options.authority && !begin_tls(&connection->wire, options.authority))
        fail("TLS");
    connection->in = allot(1, IN_BYTES);
    connection->out = allot(1, out_room);
    connection->slots = allot(slots, sizeof *connection->slots);
    connection->free = allot(slots, sizeof *connection->free);
    for (unsigned index = 0; index < slots; index++) {
        connection->slots[index].opaque = OPAQUE_FIRST + index;
        connection->slots[index].queue = (int)((number + index) % (unsigned)options.queues);
        connection->free[connection->free_count++] = (unsigned)slots - 1 - index;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(waiter, EPOLL_CTL_ADD, connection->wire.fd, &event);
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
    /* Each may be a half, with the end of another behind it. */
    out_room = request_max * 2 * (slot_mask + 2);
    connections = allot(options.connections, sizeof *connections);
    for (unsigned number = 0; number < options.connections; number++)
        open_connection(&connections[number], number);
}

/* Takes what the topic holds now. */
static void look(void)
{
    if (!take_watch(&watch)) {
        note_error("not the offset asked for", "", 0);
        close(watch.fd);
        watch.fd = -1;
    }
    if (watch.fd < 0 || watch.unanswered || watch.held == held_before + seen)
        return;
    seen = watch.held - held_before;
    if (options.mode == TRANSACTION)
        last_answer = now_ns();
    for (unsigned i = 0; i < options.connections; i++)
        fill(&connections[i]);
}

static void look_at_reader(void)
{
    if (!take_reader(&slave_reader, now_ns())) {
        note_error("the reader was not given what follows", "", 0);
        close(slave_reader.fd);
        slave_reader.fd = -1;
    }
}

/* Waits for what happens next, and takes it. */
static void turn(int timeout_ms)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(waiter, events, EVENTS, timeout_ms);
    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        if (events[i].data.ptr == &watch) {
            look();
            continue;
        }
        if (events[i].data.ptr == &slave_reader) {
            look_at_reader();
            continue;
        }
        if (!connection) { /* the timer, which needs no reading, or standard input */
            char told[64];
            is_told |= options.mode == IDLE && read(0, told, sizeof told) == 0;
            continue;
        }
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR) && connection->wire.fd >= 0)
            take(connection);
        if (connection->wire.fd >= 0 && options.mode != OPEN)
            fill(connection);
        else if (connection->wire.fd >= 0 && events[i].events & EPOLLOUT)
            flush(connection);
    }
}

static bool is_over(void)
{
    uint64_t now = now_ns();
    bool is_unseen = (options.mode == TRANSACTION && seen < good)
        || (slave_reader.fd >= 0 && slave_reader.unread);
    if (errors > 1000000)
        return true;
    if ((options.count && issued >= options.count) || (ends && now >= ends))
        return (in_flight == 0 && !is_unseen)
            || now > last_answer + (uint64_t)(options.patience * 1e9);
    bool any = false;
    for (unsigned i = 0; i < options.connections && !any; i++)
        any = connections[i].wire.fd >= 0;
    return !any;
}

static bool is_watched(void)
{
    return options.mode == DELAY || options.mode == TRANSACTION || options.mode == POP
        || options.reader_port;
}

/* What the topic holds before anything is done. */
static void look_first(void)
{
    int port = options.reader_port ? options.reader_port : options.port;
    if (!open_watch(&watch, port, options.topic, (unsigned)options.queues))
        fail("connect");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &watch};
    epoll_ctl(waiter, EPOLL_CTL_ADD, watch.fd, &event);
    ask_watch(&watch, now_ns());
    for (uint64_t began_looking = now_ns(); watch.unanswered && watch.fd >= 0;) {
        if (epoll_wait(waiter, &event, 1, 100) == 1 && !take_watch(&watch))
            fail("not the offsets asked for");
        if (now_ns() > began_looking + (uint64_t)(options.patience * 1e9))
            fail("nobody says what the topic holds");
    }
    held_before = watch.held;
    for (int queue = 0; queue < options.queues; queue++)
        if ((uint64_t)watch.ends[queue] > queue_room)
            queue_room = (uint64_t)watch.ends[queue];
    if (options.reader_port) {
        if (!open_reader(&slave_reader, port, options.topic, &watch))
            fail("connect");
        event.data.ptr = &slave_reader;
        epoll_ctl(waiter, EPOLL_CTL_ADD, slave_reader.fd, &event);
    }
    if (options.mode != POP)
        return;
    if (held_before < 20 * options.batch)
        fail("too few messages to pop");
    poppers = allot((size_t)options.queues * queue_room, sizeof *poppers);
}

/* Waits until everything delayed has come out, and then whether more does. */
static void await_delayed(void)
{
    static const uint64_t before = 100000000, behind = 300000000;
    uint64_t progress = due, counted = 0, now = now_ns();
    bool is_early = false;
    if (now > due)
        note_error("due before all were sent", "", 0);
    while ((now = now_ns()) < due - before)
        turn(1 + (int)((due - before - now) / 1000000));
    while (watch.fd >= 0 && now < progress + (uint64_t)(options.patience * 1e9)) {
        ask_watch(&watch, now);
        turn(1);
        now = now_ns();
        /* Then go on: what is not waited for would be there before the next run's are due. */
        if (seen && now < due && !is_early) {
            note_error("there before it was due", "", 0);
            is_early = true;
        }
        if (seen != counted && now >= due) {
            first_out = counted ? first_out : (double)(now - due) / 1e9;
            all_out = (double)(now - due) / 1e9;
            progress = now;
            counted = seen;
        }
        if (seen >= good && now > progress + behind)
            return;
    }
}

static void run(void)
{
    began = last_answer = now_ns();
    if (options.seconds > 0)
        ends = began + (uint64_t)(options.seconds * 1e9);
    if (options.mode != OPEN) {
        for (unsigned i = 0; i < options.connections; i++)
            fill(&connections[i]);
        while (!is_over()) {
            if (options.mode == TRANSACTION && watch.fd >= 0)
                ask_watch(&watch, now_ns());
            turn(options.mode == TRANSACTION ? 1 : 100);
        }
        if (options.mode == DELAY)
            await_delayed();
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
    if ((options.mode == DELAY || options.mode == TRANSACTION) && seen != good) {
        note_error(seen < good ? "messages did not come" : "more messages than were sent", "", 0);
        errors += (seen < good ? good - seen : seen - good) - 1;
    }
    if (slave_reader.unread) {
        note_error("messages were not read", "", 0);
        errors += slave_reader.unread - 1;
    }
    printf("{\"mode\":\"%s\",\"count\":%llu,\"requests\":%llu,\"seconds\":%.6f,\"rate\":%.1f,"
           "\"errors\":%llu,\"error\":\"%s\",\"cpu_seconds\":%.3f",
           MODES[options.mode], (unsigned long long)good, (unsigned long long)requests_answered,
           seconds, seconds > 0 ? (double)good / seconds : 0.0, (unsigned long long)errors,
           first_error, cpu);
    latency_print(stdout, &latency, "");
    if (options.mode == OPEN)
        latency_print(stdout, &lateness, "late_");
    if (options.reader_port)
        latency_print(stdout, &slave_reader.lag, "lag_");
    if (options.mode == PULL_SQL)
        printf(",\"examined_rate\":%.1f", seconds > 0 ? (double)examined / seconds : 0.0);
    if (options.mode == DELAY)
        printf(",\"first_out_ms\":%.1f,\"out_seconds\":%.6f,\"out_rate\":%.1f",
               first_out * 1000, all_out, all_out > 0 ? (double)seen / all_out : 0.0);
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
        {"patience", required_argument, NULL, 'w'}, {"ahead", required_argument, NULL, 'a'},
        {"access-key", required_argument, NULL, 'u'},
        {"secret-key", required_argument, NULL, 'y'},
        {"authority", required_argument, NULL, 'z'},
        {"fault", required_argument, NULL, 'x'}, {"reader-port", required_argument, NULL, 'l'},
        {NULL, 0, NULL, 0},
    };
    if (argc < 2) {
        fprintf(stderr, "load: what? send, pull, …: see the head of load.c\n");
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
        case 'a': options.ahead = atof(optarg); break;
        case 'u': options.access_key = optarg; break;
        case 'y': options.secret_key = optarg; break;
        case 'z': options.authority = optarg; break;
        case 'l': options.reader_port = atoi(optarg); break;
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
    if (options.mode == FILL)
        options.batch -= options.batch % MARK_PERIOD;
    if (options.mode == POP && options.in_flight < options.batch)
        options.in_flight = options.batch;
    bool ends_some_time = options.count || options.seconds > 0 || options.mode == DUMMY;
    if (!ends_some_time || options.connections < 1 || options.in_flight < 1 || options.queues < 1
        || options.batch < 1 || options.batch >= BATCH_MAX || options.in_flight > OPEN_IN_FLIGHT
        || (options.reader_port && options.mode != OPEN) || strlen(options.topic) > 200 || options.body > 1 << 20 || options.rate <= 0) {
        fprintf(stderr, "load: --count or --seconds is missing, or a value is out of range\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    if (options.access_key && options.secret_key)
        set_signer(&signer, options.access_key, options.secret_key);
    if (options.mode == DUMMY)
        return serve_dummy(options.fault);
    waiter = epoll_create1(0);
    make_requests();
    if (is_watched())
        look_first();
    open_connections();
    run();
    report();
    if (options.mode == IDLE)
        hold();
    return errors != 0;
}
