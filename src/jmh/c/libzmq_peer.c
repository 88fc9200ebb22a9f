/*
 * The peer program for libzmq, driven as dev.zmtp.compare.peer.PeerMain is: its package documentation lists roles,
 * workloads, output and commands.
 *
 *     cc -O2 -Wall -Wextra -Werror -o libzmq_peer libzmq_peer.c -lzmq
 *     libzmq_peer <role> key=value...
 *
 * At each end there is one context with one I/O thread, and one thread of the application; a third thread reads commands.
 * All settings are libzmq's defaults but these. A ROUTER waits where it would drop what a full queue does not take
 * (ROUTER_MANDATORY), otherwise requests would get lost. A connecting socket takes no message before its handshake is made
 * (IMMEDIATE), which shows when that is.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#define SECOND_NANOS 1000000000LL
#define LATE_NANOS 1000000
/* Before an open loop begins again: the megabytes that the kernel holds of a connection drain in it. */
#define PAUSE_NANOS 200000000
/* Sends to one socket, or of one burst, before something else has its turn. */
#define BATCH 128
#define REQUEST_FRAMES 6
/* Those that are closed, and not yet gone. */
#define SPARE_SOCKETS 1000

static const size_t request_sizes[REQUEST_FRAMES] = {9, 9, 0, 20, 40, 100};

enum role { RECEIVE, SEND, ANSWER, ASK, PUBLISH, SUBSCRIBE, PAIR };
/* Those from REQREP on are answered. */
enum workload {
    ONEWAY, CONNECTIONS, PUBSUB, NEWS, PROXY, IDLE, LATENCY, REQREP, PEERS, CONNECTS, CUSTOM, ROUNDTRIP, OPENLOOP
};

static const char *const role_names[] = {"receive", "send", "answer", "ask", "publish", "subscribe", "pair", NULL};
static const char *const workload_names[]
    = {"oneway", "connections", "pubsub", "news", "proxy", "idle", "latency", "reqrep", "peers", "connects", "custom",
       "roundtrip", "openloop", NULL};

/* What the arguments say; -1 is what was not said. */
static struct {
    enum role role;
    enum workload workload;
    bool busy;
    bool curve;
    bool ipc;
    bool inproc;
    bool ws;
    bool drops;
    long port, size, ping, pong, outstanding, connections, rate, every, queue, mute;
} args = {.port = -1, .size = -1, .ping = -1, .pong = -1, .outstanding = 1000, .connections = 1, .rate = -1, .every = -1};

/* ---- endings ---- */

static _Noreturn void fail (const char *what)
{
    fprintf (stderr, "libzmq_peer: %s: %s\n", what, zmq_strerror (errno));
    _exit (1);
}

static _Noreturn void usage (const char *format, ...)
{
    va_list values;
    va_start (values, format);
    fputs ("libzmq_peer: ", stderr);
    vfprintf (stderr, format, values);
    fputs ("\nusage: libzmq_peer <role> key=value...\n", stderr);
    va_end (values);
    exit (2);
}

static _Noreturn void unsupported (const char *reason)
{
    printf ("unsupported=%s\n", reason);
    exit (0);
}

/* ---- what is counted ---- */

/* Of one thread, and looked at by another. The other end of a pair counts elsewhere, in another cache line. */
struct counter {
    _Alignas (128) atomic_llong value;
};

static struct counter messages, other_messages, late;

/* Whether an open loop should drop the messages that are overdue. */
static atomic_bool restarts;

static void count (struct counter *counter, long long more)
{
    long long value = atomic_load_explicit (&counter->value, memory_order_relaxed);
    atomic_store_explicit (&counter->value, value + more, memory_order_relaxed);
}

static long long now_nanos (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND_NANOS + now.tv_nsec;
}

/*
 * Times, to three significant digits: 1,024 equal steps from each power of two to the next, and the first 2,048 values one
 * by one. The same as an HdrHistogram, which prints the highest value of a step.
 */
#define HALF_BITS 10
#define HALF (1 << HALF_BITS)
static atomic_llong latencies[(64 - HALF_BITS) * HALF + HALF];

static void record (long long nanos)
{
    uint64_t value = nanos < 0 ? 0 : (uint64_t) nanos;
    int shift = 63 - HALF_BITS - __builtin_clzll (value | (2 * HALF - 1));
    size_t step = ((size_t) shift << HALF_BITS) + (size_t) (value >> shift);
    atomic_fetch_add_explicit (&latencies[step], 1, memory_order_relaxed);
}

static void print_latencies (void)
{
    const char *comma = "";
    fputs ("latencies ", stdout);
    for (size_t step = 0; step < sizeof latencies / sizeof latencies[0]; step++) {
        long long times = atomic_exchange_explicit (&latencies[step], 0, memory_order_relaxed);
        if (times > 0) {
            size_t shift = step < 2 * HALF ? 0 : (step >> HALF_BITS) - 1;
            uint64_t highest = ((uint64_t) (step - (shift << HALF_BITS) + 1) << shift) - 1;
            printf ("%s%llu:%lld", comma, (unsigned long long) highest, times);
            comma = ",";
        }
    }
    putchar ('\n');
}

/* The bytes that the kernel reports under this name. */
static long long memory (const char *name)
{
    char line[256];
    size_t length = strlen (name);
    long long kibibytes = 0;
    FILE *status = fopen ("/proc/self/status", "r");
    if (status == NULL)
        fail ("/proc/self/status");
    while (fgets (line, sizeof line, status) != NULL)
        if (strncmp (line, name, length) == 0) {
            kibibytes = strtoll (line + length, NULL, 10);
            break;
        }
    fclose (status);
    return kibibytes * 1024;
}

static void print_mark (void)
{
    struct rusage used;
    getrusage (RUSAGE_SELF, &used);
    long long cpu = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * SECOND_NANOS
                    + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000LL;
    printf ("mark nanos=%lld messages=%lld cpu=%lld rss=%lld", now_nanos (), (long long) atomic_load (&messages.value),
            cpu, memory ("VmHWM:"));
    if (args.workload == IDLE)
        printf (" resident=%lld", memory ("VmRSS:"));
    if (args.workload == OPENLOOP || args.workload == NEWS)
        printf (" late=%lld", (long long) atomic_load (&late.value));
    putchar ('\n');
}

/* ---- sockets ---- */

static bool is_answered (void)
{
    return args.workload >= REQREP;
}

static bool is_published (void)
{
    return args.workload == PUBSUB || args.workload == NEWS;
}

static int socket_type (bool binding)
{
    if (args.workload == ROUNDTRIP)
        return binding ? ZMQ_REP : ZMQ_REQ;
    if (is_published ())
        return binding ? ZMQ_XPUB : ZMQ_SUB; /* an XPUB hears how many have subscribed */
    if (is_answered () || (args.role == PAIR && !args.inproc))
        return binding ? ZMQ_ROUTER : ZMQ_DEALER;
    return binding ? ZMQ_PULL : ZMQ_PUSH;
}

static void set (void *socket, int option, int value)
{
    if (zmq_setsockopt (socket, option, &value, sizeof value) != 0)
        fail ("zmq_setsockopt");
}

/* The keys of the examples in the manual, zmq_curve(7), which are no secret. */
static const char server_public[] = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";
static const char server_secret[] = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6";
static const char client_public[] = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
static const char client_secret[] = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs";

static void set_key (void *socket, int option, const char *key)
{
    if (zmq_setsockopt (socket, option, key, 41) != 0)
        fail ("zmq_setsockopt: a key");
}

static void *new_context (void)
{
    void *context = zmq_ctx_new ();
    if (context == NULL || zmq_ctx_set (context, ZMQ_MAX_SOCKETS, (int) args.connections + SPARE_SOCKETS) != 0)
        fail ("zmq_ctx_set");
    return context;
}

static void *new_socket (void *context, bool binding)
{
    void *socket = zmq_socket (context, socket_type (binding));
    if (socket == NULL)
        fail ("zmq_socket");
    if (socket_type (binding) == ZMQ_ROUTER)
        set (socket, ZMQ_ROUTER_MANDATORY, 1);
    if (socket_type (binding) == ZMQ_XPUB) {
        set (socket, ZMQ_XPUB_VERBOSE, 1);
        set (socket, ZMQ_XPUB_NODROP, args.workload == PUBSUB && !args.drops);
    }
    if (args.queue > 0) {
        set (socket, ZMQ_SNDHWM, (int) args.queue);
        set (socket, ZMQ_RCVHWM, (int) args.queue);
    }
    if (args.curve && binding) {
        set (socket, ZMQ_CURVE_SERVER, 1);
        set_key (socket, ZMQ_CURVE_SECRETKEY, server_secret);
    } else if (args.curve) {
        set_key (socket, ZMQ_CURVE_SERVERKEY, server_public);
        set_key (socket, ZMQ_CURVE_PUBLICKEY, client_public);
        set_key (socket, ZMQ_CURVE_SECRETKEY, client_secret);
    }
    return socket;
}

/* The files of Unix domain sockets have numbers, which stand for ports, and are where the Java programs have theirs. */
static const char *const ipc_endpoint = "ipc://target/compare/socket-%ld";

static long bind_ipc (void *socket)
{
    char endpoint[64];
    long number = 1 + getpid () % 65535;
    snprintf (endpoint, sizeof endpoint, ipc_endpoint, number);
    if (zmq_bind (socket, endpoint) != 0)
        fail ("zmq_bind");
    return number;
}

static const char *const inproc_endpoint = "inproc://pair";

/* What both ends of a pair within a process share. */
static void *inproc_context;

static long bind_inproc (void *socket)
{
    if (zmq_bind (socket, inproc_endpoint) != 0)
        fail ("zmq_bind");
    return 0;
}

static const char *port_endpoint (void)
{
    return args.ws ? "ws://127.0.0.1:%ld" : "tcp://127.0.0.1:%ld";
}

static long bind_somewhere (void *socket)
{
    char endpoint[64];
    size_t length = sizeof endpoint;
    if (zmq_bind (socket, args.ws ? "ws://127.0.0.1:*" : "tcp://127.0.0.1:*") != 0
        || zmq_getsockopt (socket, ZMQ_LAST_ENDPOINT, endpoint, &length) != 0)
        fail ("zmq_bind");
    return strtol (strrchr (endpoint, ':') + 1, NULL, 10);
}

/* Returns as many sockets as there should be connections, each after its handshake. */
static void **connect_all (long port)
{
    char endpoint[64];
    void *context = args.inproc ? inproc_context : new_context ();
    void **sockets = calloc ((size_t) args.connections, sizeof *sockets);
    if (sockets == NULL)
        fail ("calloc");
    if (args.inproc)
        snprintf (endpoint, sizeof endpoint, "%s", inproc_endpoint);
    else
        snprintf (endpoint, sizeof endpoint, args.ipc ? ipc_endpoint : port_endpoint (), port);
    for (long i = 0; i < args.connections; i++) {
        sockets[i] = new_socket (context, false);
        set (sockets[i], ZMQ_IMMEDIATE, 1);
        if (is_published () && zmq_setsockopt (sockets[i], ZMQ_SUBSCRIBE, "", 0) != 0)
            fail ("zmq_setsockopt");
        if (zmq_connect (sockets[i], endpoint) != 0)
            fail ("zmq_connect");
    }
    for (long i = 0; i < args.connections && !is_published (); i++) { /* there, the publisher waits */
        zmq_pollitem_t item = {.socket = sockets[i], .events = ZMQ_POLLOUT};
        while (zmq_poll (&item, 1, -1) < 1)
            if (errno != EINTR)
                fail ("zmq_poll");
    }
    return sockets;
}

/* Sends one frame; with ZMQ_DONTWAIT, returns whether there was room. */
static bool send_frame (void *socket, const void *body, size_t size, int flags)
{
    while (zmq_send (socket, body, size, flags) < 0) {
        if (errno == EAGAIN && (flags & ZMQ_DONTWAIT) != 0)
            return false;
        if (errno != EINTR)
            fail ("zmq_send");
    }
    return true;
}

/* The most bytes that a zmq_msg_t holds in itself: more are on the heap, and can be shared. */
#define INLINE_SIZE 33

/*
 * Sends one frame that was made before; with ZMQ_DONTWAIT, returns whether there was room. A copy of a message shares its
 * content, which saves an allocation and the copying of bytes. Where there is no content to share, zmq_send is one call
 * for three.
 */
static bool send_again (void *socket, zmq_msg_t *prepared, int flags)
{
    size_t size = zmq_msg_size (prepared);
    if (size <= INLINE_SIZE)
        return send_frame (socket, zmq_msg_data (prepared), size, flags);
    zmq_msg_t copy;
    zmq_msg_init (&copy);
    if (zmq_msg_copy (&copy, prepared) != 0)
        fail ("zmq_msg_copy");
    while (zmq_msg_send (&copy, socket, flags) < 0) {
        if (errno == EAGAIN && (flags & ZMQ_DONTWAIT) != 0) {
            zmq_msg_close (&copy);
            return false;
        }
        if (errno != EINTR)
            fail ("zmq_msg_send");
    }
    return true;
}

static void prepare (zmq_msg_t *message, size_t size)
{
    if (zmq_msg_init_size (message, size) != 0)
        fail ("zmq_msg_init_size");
    memset (zmq_msg_data (message), 0, size);
}

/* Receives one frame into an initialized message; with ZMQ_DONTWAIT, returns whether there was one. */
static bool receive_frame (void *socket, zmq_msg_t *frame, int flags)
{
    while (zmq_msg_recv (frame, socket, flags) < 0) {
        if (errno == EAGAIN && (flags & ZMQ_DONTWAIT) != 0)
            return false;
        if (errno != EINTR)
            fail ("zmq_msg_recv");
    }
    return true;
}

static void *body_of (long size)
{
    void *body = calloc (1, (size_t) size);
    if (body == NULL)
        fail ("calloc");
    return body;
}

/* ---- workloads, at the end that binds ---- */

static void receive_all (void *socket, struct counter *counter)
{
    zmq_msg_t frame;
    zmq_msg_init (&frame);
    while (true) {
        do
            receive_frame (socket, &frame, 0); /* first the peer's name, if this is a ROUTER */
        while (zmq_msg_more (&frame));
        if (*(const char *) zmq_msg_data (&frame) != 0) {
            errno = EPROTO;
            fail ("first byte");
        }
        count (counter, 1);
    }
}

/* Sends back each n-th message, with the peer's name before it. */
static void echo (void *socket, struct counter *counter, long every)
{
    long until_next = every;
    zmq_msg_t frame;
    zmq_msg_init (&frame);
    while (true) {
        bool answers = --until_next == 0;
        bool more;
        do {
            receive_frame (socket, &frame, 0);
            more = zmq_msg_more (&frame);
            while (answers && zmq_msg_send (&frame, socket, more ? ZMQ_SNDMORE : 0) < 0)
                if (errno != EINTR && errno != EHOSTUNREACH)
                    fail ("zmq_msg_send");
                else if (errno == EHOSTUNREACH)
                    answers = false; /* the peer has gone */
        } while (more);
        if (until_next == 0)
            until_next = every;
        count (counter, 1);
    }
}

static void answer_pings (void *socket, struct counter *counter)
{
    zmq_msg_t ping, pong;
    zmq_msg_init (&ping);
    prepare (&pong, (size_t) args.pong);
    while (true) {
        receive_frame (socket, &ping, 0);
        send_again (socket, &pong, 0);
        count (counter, 1);
    }
}

static void send_all (void *socket, struct counter *counter)
{
    zmq_msg_t message;
    prepare (&message, (size_t) args.size);
    while (true) {
        send_again (socket, &message, 0);
        count (counter, 1);
    }
}

static void await_subscribers (void *socket)
{
    zmq_msg_t subscription;
    zmq_msg_init (&subscription);
    for (long i = 0; i < args.connections + args.mute; i++)
        receive_frame (socket, &subscription, 0);
}

static void publish (void *socket, struct counter *counter)
{
    await_subscribers (socket);
    send_all (socket, counter);
}

struct schedule {
    char *body;
    long long start, due, all;
};

static struct schedule new_schedule (void)
{
    long long now = now_nanos ();
    return (struct schedule){.body = body_of (args.size), .start = now, .due = now};
}

/* Lets the I/O thread have the core of a thread that has nothing to do, because such a thread never waits. */
static void give_way (long long done)
{
    if (done == 0)
        sched_yield ();
}

/* Sends the messages that are due, and returns how many. */
static long long send_due (void *socket, struct schedule *schedule)
{
    long long now = now_nanos (), sent = 0;
    if (atomic_load_explicit (&restarts, memory_order_relaxed)) {
        atomic_store_explicit (&restarts, false, memory_order_relaxed);
        schedule->start = schedule->due = now + PAUSE_NANOS;
        schedule->all = 0;
    }
    while (schedule->due <= now && sent < BATCH) {
        memcpy (schedule->body, &schedule->due, sizeof schedule->due);
        if (!send_frame (socket, schedule->body, (size_t) args.size, ZMQ_DONTWAIT))
            break;
        if (now - schedule->due > LATE_NANOS)
            count (&late, 1);
        sent++;
        schedule->all++;
        schedule->due = schedule->start + schedule->all / args.rate * SECOND_NANOS
                        + schedule->all % args.rate * SECOND_NANOS / args.rate;
    }
    return sent;
}

static void record_since (zmq_msg_t *frame)
{
    long long was_due;
    memcpy (&was_due, zmq_msg_data (frame), sizeof was_due);
    record (now_nanos () - was_due);
}

static void publish_on_time (void *socket, struct counter *counter)
{
    await_subscribers (socket);
    struct schedule schedule = new_schedule ();
    while (true) {
        long long sent = send_due (socket, &schedule);
        count (counter, sent);
        give_way (sent);
    }
}

static void *serve (void *socket)
{
    struct counter *counter = args.role == PAIR && is_answered () ? &other_messages : &messages;
    switch (args.workload) {
    case ONEWAY:
    case CONNECTIONS:
        receive_all (socket, counter);
        break;
    case PUBSUB:
        publish (socket, counter);
        break;
    case NEWS:
        publish_on_time (socket, counter);
        break;
    case REQREP:
    case PEERS:
    case CONNECTS:
        echo (socket, counter, 1);
        break;
    case ROUNDTRIP:
        answer_pings (socket, counter);
        break;
    case OPENLOOP:
        echo (socket, counter, args.every);
        break;
    default:
        break; /* idle */
    }
    return NULL;
}

/* ---- workloads, at the end that connects ---- */

static void receive_by_turns (void **sockets, struct counter *counter)
{
    zmq_msg_t message;
    zmq_msg_init (&message);
    zmq_pollitem_t *items = calloc ((size_t) args.connections, sizeof *items);
    if (items == NULL)
        fail ("calloc");
    for (long i = 0; i < args.connections; i++)
        items[i] = (zmq_pollitem_t){.socket = sockets[i], .events = ZMQ_POLLIN};
    while (true) {
        long long all = 0;
        for (long i = 0; i < args.connections; i++) {
            int received = 0;
            while (received < BATCH && receive_frame (sockets[i], &message, ZMQ_DONTWAIT)) {
                received++;
                if (args.workload == NEWS)
                    record_since (&message);
            }
            count (counter, received);
            all += received;
        }
        if (all == 0 && zmq_poll (items, (int) args.connections, -1) < 0 && errno != EINTR)
            fail ("zmq_poll");
    }
}

static void send_by_turns (void **sockets, struct counter *counter)
{
    zmq_msg_t message;
    prepare (&message, (size_t) args.size);
    zmq_pollitem_t *items = calloc ((size_t) args.connections, sizeof *items);
    if (items == NULL)
        fail ("calloc");
    for (long i = 0; i < args.connections; i++)
        items[i] = (zmq_pollitem_t){.socket = sockets[i], .events = ZMQ_POLLOUT};
    while (true) {
        long long all = 0;
        for (long i = 0; i < args.connections; i++) {
            int sent = 0;
            while (sent < BATCH && send_again (sockets[i], &message, ZMQ_DONTWAIT))
                sent++;
            count (counter, sent);
            all += sent;
        }
        if (all == 0 && zmq_poll (items, (int) args.connections, -1) < 0 && errno != EINTR)
            fail ("zmq_poll");
    }
}

static bool try_request (void *socket, zmq_msg_t *frames)
{
    if (args.size > 0)
        return send_again (socket, &frames[0], ZMQ_DONTWAIT);
    if (!send_again (socket, &frames[0], ZMQ_SNDMORE | ZMQ_DONTWAIT))
        return false;
    for (int i = 1; i < REQUEST_FRAMES; i++)
        send_again (socket, &frames[i], i < REQUEST_FRAMES - 1 ? ZMQ_SNDMORE : 0);
    return true;
}

/* Keeps requests in flight. */
static void ask (void *socket, struct counter *counter)
{
    zmq_msg_t request[REQUEST_FRAMES];
    for (int i = 0; i < REQUEST_FRAMES; i++)
        prepare (&request[i], args.size > 0 ? (size_t) args.size : request_sizes[i]);
    long in_flight = 0;
    zmq_msg_t frame;
    zmq_msg_init (&frame);
    while (true) {
        while (in_flight < args.outstanding && try_request (socket, request))
            in_flight++;
        receive_frame (socket, &frame, 0); /* waits for one answer, and then takes all that are there */
        do {
            while (zmq_msg_more (&frame))
                receive_frame (socket, &frame, 0);
            in_flight--;
            count (counter, 1);
        } while (receive_frame (socket, &frame, ZMQ_DONTWAIT));
    }
}

static void ping (void *socket, struct counter *counter)
{
    zmq_msg_t ping, pong;
    zmq_msg_init (&pong);
    prepare (&ping, (size_t) args.ping);
    while (true) {
        long long sent = now_nanos ();
        send_again (socket, &ping, 0);
        receive_frame (socket, &pong, 0);
        record (now_nanos () - sent);
        count (counter, 1);
    }
}

/* A socket is one thread's: this one looks for answers between what it sends, and never waits. */
static void send_on_time (void *socket, struct counter *counter)
{
    struct schedule schedule = new_schedule ();
    zmq_msg_t reply;
    zmq_msg_init (&reply);
    while (true) {
        long long sent = send_due (socket, &schedule), received = 0;
        count (counter, sent);
        while (receive_frame (socket, &reply, ZMQ_DONTWAIT)) {
            record_since (&reply);
            received++;
        }
        give_way (sent + received);
    }
}

/* Keeps requests in flight, each to another socket. Answers come in the order of the requests. */
static void ask_in_turn (void **sockets, struct counter *counter)
{
    zmq_msg_t request;
    prepare (&request, (size_t) args.size);
    long oldest = 0, next = args.outstanding % args.connections;
    zmq_msg_t answer;
    zmq_msg_init (&answer);
    for (long i = 0; i < args.outstanding; i++)
        send_again (sockets[i % args.connections], &request, 0);
    while (true) {
        receive_frame (sockets[oldest], &answer, 0);
        count (counter, 1);
        send_again (sockets[next], &request, 0);
        oldest = (oldest + 1) % args.connections;
        next = (next + 1) % args.connections;
    }
}

/* Makes connections all the time, each for one request. */
static void connect_again (long port, struct counter *counter)
{
    char endpoint[64];
    void *context = new_context ();
    void *request = body_of (args.size);
    void **sockets = calloc ((size_t) args.outstanding, sizeof *sockets);
    zmq_msg_t answer;
    zmq_msg_init (&answer);
    if (sockets == NULL)
        fail ("calloc");
    snprintf (endpoint, sizeof endpoint, "tcp://127.0.0.1:%ld", port);
    for (long i = 0; true; i = (i + 1) % args.outstanding) {
        if (sockets[i] != NULL) {
            receive_frame (sockets[i], &answer, 0);
            count (counter, 1);
            set (sockets[i], ZMQ_LINGER, 0);
            zmq_close (sockets[i]);
        }
        sockets[i] = new_socket (context, false);
        if (zmq_connect (sockets[i], endpoint) != 0)
            fail ("zmq_connect");
        send_frame (sockets[i], request, (size_t) args.size, 0);
    }
}

/* A subscriber that wants everything and reads no message, as one whose process is stopped. It belongs to no library. */
static void open_mute (long port)
{
    static const unsigned char subscription[] = {0, 1, 1};
    unsigned char heard[64 + 2 + 255]; /* a greeting and a READY, after which libzmq takes a message */
    static const unsigned char said[64 + 27]
        = "\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL"
          "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
          "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
          "\4\x19\5READY\xbSocket-Type\0\0\0\3SUB";
    struct sockaddr_in to
        = {.sin_family = AF_INET, .sin_port = htons ((uint16_t) port), .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    int few = 4096; /* what the kernel takes for it is soon full */
    int mute = socket (AF_INET, SOCK_STREAM, 0);
    if (mute < 0 || setsockopt (mute, SOL_SOCKET, SO_RCVBUF, &few, sizeof few) != 0
        || connect (mute, (struct sockaddr *) &to, sizeof to) != 0
        || write (mute, said, sizeof said) != (ssize_t) sizeof said
        || recv (mute, heard, 66, MSG_WAITALL) != 66 || recv (mute, heard + 66, heard[65], MSG_WAITALL) != heard[65]
        || write (mute, subscription, sizeof subscription) != (ssize_t) sizeof subscription)
        fail ("a subscriber that never reads");
}

/* ---- a proxy between two publishers and a subscriber, each on a thread of its own, of which nobody drops anything ---- */

#define PUBLISHERS 2

static const char *const front_endpoint = "inproc://front";
static const char *const back_endpoint = "inproc://back";

static void *proxy_socket (int type, const char *endpoint, bool binding)
{
    void *socket = zmq_socket (inproc_context, type);
    if (socket == NULL)
        fail ("zmq_socket");
    if (type == ZMQ_XPUB)
        set (socket, ZMQ_XPUB_NODROP, 1);
    if (type == ZMQ_SUB && zmq_setsockopt (socket, ZMQ_SUBSCRIBE, "", 0) != 0)
        fail ("zmq_setsockopt");
    if ((binding ? zmq_bind (socket, endpoint) : zmq_connect (socket, endpoint)) != 0)
        fail (endpoint);
    return socket;
}

static void *run_proxy (void *ends)
{
    zmq_proxy (((void **) ends)[0], ((void **) ends)[1], NULL);
    fail ("zmq_proxy");
}

static void *proxy_subscriber (void *unused)
{
    receive_all (proxy_socket (ZMQ_SUB, back_endpoint, false), &messages);
    return unused;
}

static void *proxy_publisher (void *unused)
{
    void *socket = proxy_socket (ZMQ_XPUB, front_endpoint, false);
    zmq_msg_t subscription;
    zmq_msg_init (&subscription);
    receive_frame (socket, &subscription, 0);
    send_all (socket, &other_messages);
    return unused;
}

static void *drive (void *port)
{
    struct counter *counter = args.role == PAIR && !is_answered () ? &other_messages : &messages;
    if (args.workload == CONNECTS) {
        puts ("ready");
        connect_again (*(long *) port, counter);
    }
    void **sockets = connect_all (*(long *) port);
    for (long i = 0; i < args.mute; i++)
        open_mute (*(long *) port);
    puts ("ready");
    switch (args.workload) {
    case ONEWAY:
        send_all (sockets[0], counter);
        break;
    case CONNECTIONS:
        send_by_turns (sockets, counter);
        break;
    case PUBSUB:
    case NEWS:
        receive_by_turns (sockets, counter);
        break;
    case REQREP:
        ask (sockets[0], counter);
        break;
    case PEERS:
        ask_in_turn (sockets, counter);
        break;
    case ROUNDTRIP:
        ping (sockets[0], counter);
        break;
    case OPENLOOP:
        send_on_time (sockets[0], counter);
        break;
    default:
        break; /* idle */
    }
    return NULL;
}

/* ---- arguments and commands ---- */

static int one_of (const char *const *names, const char *what, const char *name)
{
    for (int i = 0; names[i] != NULL; i++)
        if (name != NULL && strcmp (names[i], name) == 0)
            return i;
    usage ("%s: %s (expected: one that there is)", what, name == NULL ? "none" : name);
}

static void require (const char *key, long value, long least, long most)
{
    if (value < least || value > most)
        usage ("%s: %ld (expected: %ld to %ld)", key, value, least, most);
}

static void parse (int argc, char **argv)
{
    static const struct {
        const char *key;
        long *value;
    } numbers[] = {{"port", &args.port},
                   {"size", &args.size},
                   {"ping", &args.ping},
                   {"pong", &args.pong},
                   {"outstanding", &args.outstanding},
                   {"connections", &args.connections},
                   {"rate", &args.rate},
                   {"every", &args.every},
                   {"queue", &args.queue},
                   {"mute", &args.mute}};
    const char *workload = NULL;
    static const char *const pollings[] = {"block", "busy", NULL};
    static const char *const securities[] = {"none", "curve", NULL};
    static const char *const media[] = {"tcp", "ipc", "inproc", "ws", NULL};
    static const char *const fulls[] = {"wait", "drop", NULL};
    args.role = (enum role) one_of (role_names, "role", argc > 1 ? argv[1] : NULL);
    for (int i = 2; i < argc; i++) {
        char *value = strchr (argv[i], '=');
        if (value == NULL)
            usage ("argument: %s (expected: key=value)", argv[i]);
        *value++ = '\0';
        if (strcmp (argv[i], "workload") == 0) {
            workload = value;
            continue;
        }
        if (strcmp (argv[i], "polling") == 0) {
            args.busy = one_of (pollings, "polling", value) == 1;
            continue;
        }
        if (strcmp (argv[i], "security") == 0) {
            args.curve = one_of (securities, "security", value) == 1;
            continue;
        }
        if (strcmp (argv[i], "medium") == 0) {
            int medium = one_of (media, "medium", value);
            args.ipc = medium == 1;
            args.inproc = medium == 2;
            args.ws = medium == 3;
            continue;
        }
        if (strcmp (argv[i], "full") == 0) {
            args.drops = one_of (fulls, "full", value) == 1;
            continue;
        }
        size_t n = 0, all = sizeof numbers / sizeof numbers[0];
        while (n < all && strcmp (argv[i], numbers[n].key) != 0)
            n++;
        if (n == all)
            usage ("key: %s (expected: workload, polling, security, medium, full, port, size, ping, pong, outstanding, connections, rate, every, queue or mute)",
                   argv[i]);
        char *end;
        *numbers[n].value = strtol (value, &end, 10);
        if (end == value || *end != '\0' || *numbers[n].value < 0)
            usage ("%s: %s (expected: a number)", argv[i], value);
    }
    args.workload = (enum workload) one_of (workload_names, "workload", workload);
    bool binds = args.role == RECEIVE || args.role == ANSWER || args.role == PUBLISH;
    if (args.role != PAIR
        && (is_answered () != (args.role == ASK || args.role == ANSWER)
            || is_published () != (args.role == PUBLISH || args.role == SUBSCRIBE)))
        usage ("role: %s (expected: another one in workload %s)", argv[1], workload);
    if (!binds && args.role != PAIR)
        require ("port", args.port, 1, 65535);
    if ((args.workload == OPENLOOP || args.workload == PEERS || args.workload == CONNECTS) && args.size < 0)
        args.size = 24;
    if (args.workload == REQREP && args.size < 0)
        args.size = 0;
    if (args.inproc && args.role != PAIR)
        usage ("medium: inproc (expected: another one but for a pair)");
    bool scheduled = args.workload == OPENLOOP || args.workload == NEWS;
    if (args.workload == ONEWAY || args.workload == CONNECTIONS || args.workload == PUBSUB || args.workload == PROXY
        || scheduled)
        require ("size", args.size, scheduled ? (long) sizeof (long long) : 1, 1 << 26);
    if (args.workload == PROXY && args.role != PAIR)
        usage ("role: %s (expected: pair in this workload)", argv[1]);
    if (args.workload == ROUNDTRIP) {
        require ("ping", args.ping, 1, 1 << 26);
        require ("pong", args.pong, 1, 1 << 26);
    }
    if (scheduled && (args.role == PAIR || binds == is_published ()))
        require ("rate", args.rate, 1, 1000000000);
    if (args.workload == OPENLOOP && (binds || args.role == PAIR))
        require ("every", args.every, 1, 1000000000);
    require ("outstanding", args.outstanding, 1, 1000000000);
    require ("connections", args.connections, 1,
             args.workload == CONNECTIONS || is_published () || args.workload == PEERS || args.workload == IDLE ? 20000 : 1);
}

static void obey (void)
{
    char line[64];
    while (fgets (line, sizeof line, stdin) != NULL) {
        line[strcspn (line, "\n")] = '\0';
        if (strcmp (line, "exit") == 0) {
            return;
        } else if (strcmp (line, "mark") == 0) {
            print_mark ();
        } else if (strcmp (line, "latencies") == 0) {
            print_latencies ();
        } else if (strcmp (line, "restart") == 0) {
            atomic_store (&restarts, true);
        } else {
            fprintf (stderr, "libzmq_peer: command: %s (expected: mark, latencies, restart or exit)\n", line);
            _exit (1);
        }
        fflush (stdout);
    }
}

static void start (void *(*run) (void *), void *argument)
{
    pthread_t thread;
    if ((errno = pthread_create (&thread, NULL, run, argument)) != 0)
        fail ("pthread_create");
}

int main (int argc, char **argv)
{
    static long port;
    setvbuf (stdout, NULL, _IOLBF, 0);
    parse (argc, argv);
    if (args.busy)
        unsupported ("its I/O thread always blocks");
    if (args.curve && !zmq_has ("curve"))
        unsupported ("it was built without CURVE");
    if (args.workload == CUSTOM)
        unsupported ("it has no custom encoders and decoders");
    if (args.workload == LATENCY)
        unsupported ("it is measured by replies");
    /* Each socket has a file of its own besides its connection. */
    struct rlimit files;
    if (getrlimit (RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit (RLIMIT_NOFILE, &files);
    }
    port = args.port;
    if (args.workload == PROXY) {
        static void *ends[2];
        inproc_context = new_context ();
        ends[0] = proxy_socket (ZMQ_XSUB, front_endpoint, true);
        ends[1] = proxy_socket (ZMQ_XPUB, back_endpoint, true);
        start (run_proxy, ends);
        start (proxy_subscriber, NULL);
        for (int i = 0; i < PUBLISHERS; i++)
            start (proxy_publisher, NULL);
        puts ("ready");
        obey ();
        _exit (0);
    }
    if (args.inproc)
        inproc_context = new_context ();
    if (args.role == RECEIVE || args.role == ANSWER || args.role == PUBLISH || args.role == PAIR) {
        void *socket = new_socket (args.inproc ? inproc_context : new_context (), true);
        port = args.inproc ? bind_inproc (socket) : args.ipc ? bind_ipc (socket) : bind_somewhere (socket);
        if (args.role != PAIR)
            printf ("port=%ld\n", port);
        start (serve, socket);
    }
    if (args.role == SEND || args.role == ASK || args.role == SUBSCRIBE || args.role == PAIR)
        start (drive, &port);
    obey ();
    fflush (stdout);
    _exit (0); /* the sockets are not closed, as other threads use them */
}
