/* The same bolt in the simulator: its servers are virtual, and so are their descriptors. Each answers after a time that is drawn, on the
 * run's clock, and takes only so many questions at once; executors are slow, stall and hear of each other late. Ten thousand are on their
 * way, none is lost, each key's answers come in order, and a seed does the same again. */
#include "base/os/poll.h"
#include "base/random.h"
#include "sim/simulator.h"
#include "system/ask_servers/asker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUESTIONS = 12000,
    FIRST_FD = 1 << 20, /* none of the system's */
    ROOM = 200,         /* questions that a server has taken and not answered */
};

typedef struct server {
    uint32_t numbers[QUESTIONS / SERVERS * 2];
    int64_t ready[QUESTIONS / SERVERS * 2];
    uint32_t received, sent; /* answers that were taken, questions that were */
    uint64_t id;
    int32_t wanted; /* 0: not armed */
} server;

static server servers[SERVERS];
static gx_random draws;
static const gale_context *asks; /* the bolt's task, while it is open */
static int64_t silent_until;     /* no answer comes before: time enough to ask all that may be asked */

static server *server_of(int fd) {
    bool is = fd >= FIRST_FD && fd < FIRST_FD + SERVERS;
    asker_must(is, "a descriptor that nobody opened");
    return &servers[fd - FIRST_FD];
}

static int64_t now(void) {
    return gale_context_now(asks);
}

/* --- The wire --- */

static int open_server(const gale_context *context, int number) {
    asks = context;
    silent_until = gale_context_now(context) + 10 * GALE_SECOND;
    memset(&servers[number], 0, sizeof servers[number]);
    return FIRST_FD + number;
}

/* How many it has not answered by `time`. */
static uint32_t busy_at(const server *s, int64_t time) {
    uint32_t at = s->received;
    while (at < s->sent && s->ready[at] <= time) at++;
    return s->sent - at;
}

static ssize_t send_numbers(int fd, const uint32_t *numbers, size_t bytes) {
    server *s = server_of(fd);
    uint32_t room = ROOM - busy_at(s, now()), count = (uint32_t)(bytes / sizeof *numbers);
    if (count > room) count = room;
    if (!count) return errno = EAGAIN, -1;
    for (uint32_t i = 0; i < count; i++) {
        int64_t before = s->sent ? s->ready[s->sent - 1] : silent_until, soonest = before > now() ? before : now();
        asker_must(s->sent < sizeof s->numbers / sizeof *s->numbers, "a question that was asked before");
        s->numbers[s->sent] = numbers[i];
        s->ready[s->sent++] = soonest + gx_random_below(&draws, 2 * GALE_MILLISECOND);
    }
    return (ssize_t)(count * sizeof *numbers);
}

static ssize_t receive_numbers(int fd, uint32_t *numbers, size_t room) {
    server *s = server_of(fd);
    uint32_t count = 0;
    while (count < room / sizeof *numbers && s->received < s->sent && s->ready[s->received] <= now())
        numbers[count++] = s->numbers[s->received++];
    return count ? (ssize_t)(count * sizeof *numbers) : (errno = EAGAIN, -1);
}

/* --- The set --- */

static int open_set(void) {
    return FIRST_FD - 1;
}

static int arm(int set, int fd, int32_t events, uint64_t id) {
    (void)set;
    server_of(fd)->wanted = events;
    server_of(fd)->id = id;
    return 0;
}

static int forget(int set, int fd) {
    return arm(set, fd, 0, 0);
}

/* When one of the events comes that it is armed for; INT64_MAX: not by itself. */
static int64_t happens_at(const server *s) {
    int64_t at = INT64_MAX;
    if (s->wanted & GX_POLL_READ && s->received < s->sent) at = s->ready[s->received];
    bool full = busy_at(s, now()) == ROOM;
    if (s->wanted & GX_POLL_WRITE && !full) at = now();
    if (s->wanted & GX_POLL_WRITE && full && s->ready[s->sent - ROOM] < at) at = s->ready[s->sent - ROOM];
    return at;
}

static int take(int set, gx_poll_news *news, int room) {
    int count = 0;
    (void)set;
    for (int i = 0; asks && i < SERVERS && count < room; i++) {
        server *s = &servers[i];
        if (!s->wanted || happens_at(s) > now()) continue;
        bool reads = s->received < s->sent && s->ready[s->received] <= now();
        int32_t events = (reads ? GX_POLL_READ : 0) | (busy_at(s, now()) < ROOM ? GX_POLL_WRITE : 0);
        news[count++] = (gx_poll_news){ s->id, events & s->wanted };
        s->wanted = 0;
    }
    return count;
}

static int64_t due(int set) {
    int64_t at = INT64_MAX;
    (void)set;
    for (int i = 0; asks && i < SERVERS; i++) {
        int64_t one = servers[i].wanted ? happens_at(&servers[i]) : INT64_MAX;
        if (one < at) at = one;
    }
    return at;
}

static void close_set(int set) {
    (void)set;
    asks = NULL;
}

/* --- Runs --- */

static gx_simulator_result run(gx_simulator *simulator, uint64_t seed) {
    gx_simulator_result result;
    gale_error error = GALE_ERROR_INIT;
    memset(&asker_said, 0, sizeof asker_said);
    asker_said.in_order = true;
    draws = gx_random_new(seed, 3);
    if (gx_simulator_run(simulator, seed, &result, &error) < 0) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, error.text);
        exit(1);
    }
    return result;
}

/* Queues with a small limit are drawn, too: what they do not take fails. */
static bool is_well(uint64_t seed, const gx_simulator_result *result) {
    bool all = asker_said.acked + asker_said.failed == QUESTIONS && (!asker_said.failed || result->overflowed);
    bool well = result->holds && asker_said.in_order && (result->cut || all);
    if (!well)
        printf("seed %llu: %s; %llu acked, %llu failed, in order: %d\n", (unsigned long long)seed, result->text,
               (unsigned long long)asker_said.acked, (unsigned long long)asker_said.failed, asker_said.in_order);
    return well;
}

int main(int argc, char **argv) {
    static const gx_poll_calls calls = { open_set, arm, arm, forget, take, close_set, due };
    static const asker_wire wire = { open_server, send_numbers, receive_numbers, QUESTIONS };
    uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 50, wrong = 0, most = 0;
    gx_simulator_options options = { .keep_spouts = true, .keep_sinks = true, .roots = UINT32_MAX };
    gx_simulator *simulator = NULL;
    gale_error error = GALE_ERROR_INIT;
    options.topology = asker_topology(&wire);
    gx_poll_use(&calls);
    if (gx_faults_parse("slow=0.0005,stall=0.001,late=0.1,later=0.3", &options.faults, &error) < 0 ||
        gx_simulator_new(&options, &simulator, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    for (uint64_t seed = 1; seed <= runs; seed++) {
        gx_simulator_result first = run(simulator, seed);
        wrong += !is_well(seed, &first);
        if (asker_said.most > most) most = asker_said.most;
        if (seed % 10 == 0 && run(simulator, seed).trace != first.trace) {
            printf("seed %llu does something else the second time\n", (unsigned long long)seed);
            wrong++;
        }
    }
    gx_simulator_free(simulator);
    gale_topology_free(options.topology);
    printf("%llu runs, %llu wrong; %llu questions at once\n", (unsigned long long)runs, (unsigned long long)wrong,
           (unsigned long long)most);
    return wrong || most != IN_FLIGHT;
}
