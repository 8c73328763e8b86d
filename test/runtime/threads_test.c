/* Topologies on real threads: everything is answered, nothing is lost, and it all comes to an end. For the thread
 * sanitizer, too; times are only bounds after which something is wrong. */
#include "harness/memory_store.h"
#include "runtime/rig.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static rig_spout spouts[3];
static rig_bolt a, c;

static int pass(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    return rig_pass(bolt, tuple, out);
}

static int drop(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt, (void)tuple, (void)out;
    return 0;
}

static int fail_some(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt;
    if (gale_tuple_value(tuple, 0).as.i64 % 10 != 3) return 0;
    gale_report(out, "threes are bad");
    return GALE_COMPONENT;
}

static void build(rig *r, uint64_t to_emit, uint32_t bolts) {
    memset(spouts, 0, sizeof spouts);
    memset(&a, 0, sizeof a);
    memset(&c, 0, sizeof c);
    a.on = pass;
    c.on = drop;
    rig_init(r);
    for (int i = 0; i < 3; i++) {
        char name[] = "spout0";
        name[5] = (char)('0' + i);
        spouts[i].to_emit = to_emit;
        spouts[i].keys = 13;
        gale_topology_add_spout(r->topology, name, rig_spout_of(&spouts[i]), 1);
    }
    gale_topology_add_bolt(r->topology, "a", rig_simple(&a), bolts);
    gale_topology_add_bolt(r->topology, "c", rig_simple(&c), bolts);
    gale_topology_subscribe(r->topology, "a", "spout0", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "a", "spout1", NULL, gale_fields("key"));
    gale_topology_subscribe(r->topology, "a", "spout2", NULL, gale_all());
    gale_topology_subscribe(r->topology, "c", "a", NULL, gale_fields("key"));
}

static void start(rig *r, uint32_t executors, bool until_drained) {
    gale_clock clock = gale_clock_monotonic();
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = executors;
    options.clock = &clock;
    options.until_drained = until_drained;
    options.spins = 50;
    rig_make_with(r, options);
    gale_error error = GALE_ERROR_INIT;
    if (gale_runtime_start(r->runtime, &error) < 0) fail_msg("%s", error.text);
}

static void expect_end(rig *r) {
    gale_error error = GALE_ERROR_INIT;
    if (gale_runtime_wait(r->runtime, 120 * GALE_SECOND, &error) < 0) fail_msg("%s", error.text);
}

static void all_is_acked_on(uint32_t executors, uint32_t bolts) {
    rig r;
    build(&r, 20000, bolts);
    start(&r, executors, true);
    expect_end(&r);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(spouts[i].acks, 20000);
        assert_string_equal(spouts[i].log, "oadc");
    }
    assert_int_equal(rig_stats(&r)->acked, 60000);
    assert_int_equal(r.stats.open, 0);
    uint64_t executed = 0;
    for (uint32_t i = 0; i < bolts; i++) executed += rig_task(&r, "c", i).executed;
    assert_int_equal(executed, 20000 * (2 + bolts));
    rig_fini(&r);
}

static void everything_is_acked_on_one_thread(void **state) {
    (void)state;
    all_is_acked_on(1, 3);
}

static void everything_is_acked_on_two_threads(void **state) {
    (void)state;
    all_is_acked_on(2, 1);
    all_is_acked_on(2, 3);
}

static void everything_is_acked_on_eight_threads(void **state) {
    (void)state;
    all_is_acked_on(8, 7);
}

static void failures_travel_between_threads_with_their_words(void **state) {
    (void)state;
    rig r;
    build(&r, 5000, 3);
    c.on = fail_some;
    start(&r, 3, true);
    expect_end(&r);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(spouts[i].acks, 4500);
        assert_int_equal(spouts[i].fails, 500);
        assert_string_equal(spouts[i].last_text, "threes are bad");
        assert_string_equal(spouts[i].last_component, "c");
    }
    rig_fini(&r);
}

/* A spout whose executor is slow to make its first step must not look as if it had nothing to say. */
static void a_run_until_drained_waits_for_spouts_on_other_executors(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        rig r;
        build(&r, 500, 1);
        gale_topology_set(r.topology, "spout1", "gale.executor", gale_i64(1));
        gale_topology_set(r.topology, "spout2", "gale.executor", gale_i64(3));
        start(&r, 4, true);
        expect_end(&r);
        for (int k = 0; k < 3; k++) assert_int_equal(spouts[k].acks, 500);
        rig_fini(&r);
    }
}

static void an_endless_run_is_drained_and_loses_nothing(void **state) {
    (void)state;
    rig r;
    build(&r, UINT64_MAX, 2);
    start(&r, 3, false);
    for (int i = 0; i < 50; i++) rig_stats(&r); /* the equation holds while it runs */
    while (rig_stats(&r)->acked < 20000) {
    }
    gale_runtime_deactivate(r.runtime);
    gale_runtime_activate(r.runtime);
    gale_runtime_drain(r.runtime);
    expect_end(&r);
    uint64_t emitted = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(spouts[i].acks, spouts[i].emitted);
        emitted += spouts[i].emitted;
    }
    assert_int_equal(rig_stats(&r)->acked, emitted);
    rig_fini(&r);
}

static void an_endless_run_is_stopped_and_answers_everything(void **state) {
    (void)state;
    rig r;
    build(&r, UINT64_MAX, 2);
    start(&r, 2, false);
    while (rig_stats(&r)->acked < 5000) {
    }
    gale_runtime_stop(r.runtime);
    expect_end(&r);
    for (int i = 0; i < 3; i++) assert_int_equal(spouts[i].acks + spouts[i].fails, spouts[i].emitted);
    assert_int_equal(rig_stats(&r)->open, 0);
    rig_fini(&r);
}

static void ticks_come_on_parked_threads(void **state) {
    (void)state;
    rig r;
    build(&r, 0, 1);
    c.on = rig_take;
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_f64(0.002));
    start(&r, 2, false);
    while (rig_task(&r, "c", 0).ticks < 20) {
    }
    gale_runtime_stop(r.runtime);
    expect_end(&r);
    assert_true(c.ticks >= 20);
    rig_fini(&r);
}

/* A spout that waits for a byte in a pipe. */
typedef struct listener {
    int fd;
    atomic_int asked;
} listener;

static int listener_next(void *self, gale_collector *out, gale_wait *wait) {
    listener *l = self;
    char byte;
    (void)out;
    atomic_fetch_add(&l->asked, 1);
    if (read(l->fd, &byte, 1) == 1) return GALE_NEXT_DONE;
    wait->fd = l->fd;
    return GALE_NEXT_READABLE;
}

/* On a clock that stands still: no time that passes makes it ask again. */
static void a_descriptor_that_becomes_readable_wakes_its_spout(void **state) {
    (void)state;
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "listener", .next = listener_next };
    static const gale_output outputs[] = { { NULL, "byte" } };
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    listener l = { .fd = ends[0] };
    rig r;
    rig_init(&r);
    gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = &l, .outputs = outputs, .output_count = 1 };
    gale_topology_add_spout(r.topology, "spout", spout, 1);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.until_drained = true;
    options.spins = 50;
    rig_make_with(&r, options);
    assert_int_equal(gale_runtime_start(r.runtime, NULL), GALE_OK);
    while (!atomic_load(&l.asked)) sched_yield();
    assert_int_equal(write(ends[1], "!", 1), 1);
    expect_end(&r);
    rig_fini(&r);
    close(ends[0]);
    close(ends[1]);
}

/* Waits for a byte in a pipe, but not beyond its time. */
typedef struct patient {
    int fd;
    int64_t until;
    gale_clock clock;
} patient;

static int patient_next(void *self, gale_collector *out, gale_wait *wait) {
    patient *p = self;
    (void)out;
    if (p->clock.now(p->clock.user) >= p->until) return GALE_NEXT_DONE;
    wait->fd = p->fd;
    wait->until = p->until;
    return GALE_NEXT_READABLE;
}

/* Nothing else wakes it. */
static void a_spout_that_waits_for_a_descriptor_may_say_until_when(void **state) {
    (void)state;
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "patient", .next = patient_next };
    static const gale_output outputs[] = { { NULL, "byte" } };
    gale_clock clock = gale_clock_monotonic();
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    patient p = { .fd = ends[0], .until = clock.now(clock.user) + 20 * GALE_MILLISECOND, .clock = clock };
    rig r;
    rig_init(&r);
    gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = &p, .outputs = outputs, .output_count = 1 };
    gale_topology_add_spout(r.topology, "spout", spout, 1);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.until_drained = true;
    options.clock = &clock;
    rig_make_with(&r, options);
    assert_int_equal(gale_runtime_start(r.runtime, NULL), GALE_OK);
    expect_end(&r);
    rig_fini(&r);
    close(ends[0]);
    close(ends[1]);
}

static void freeing_a_running_runtime_stops_it(void **state) {
    (void)state;
    rig r;
    build(&r, UINT64_MAX, 2);
    start(&r, 2, false);
    while (rig_stats(&r)->acked < 1000) {
    }
    rig_fini(&r);
    for (int i = 0; i < 3; i++) assert_int_equal(spouts[i].acks + spouts[i].fails, spouts[i].emitted);
}

/* Twenty microseconds of work a tuple. */
static int toil(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_clock clock = gale_clock_monotonic();
    int64_t until = clock.now(clock.user) + 20000;
    (void)bolt, (void)tuple, (void)out;
    while (clock.now(clock.user) < until) {
    }
    return 0;
}

/* What is left on the spout's executor is what it had been given before its work was seen to be heavy, and its turns. */
static void shuffle_shares_heavy_work_among_executors(void **state) {
    (void)state;
    rig r;
    memset(spouts, 0, sizeof spouts);
    memset(&a, 0, sizeof a);
    spouts[0].to_emit = 4000;
    a.on = toil;
    rig_init(&r);
    gale_topology_add_spout(r.topology, "spout0", rig_spout_of(&spouts[0]), 1);
    gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 2);
    gale_topology_subscribe(r.topology, "a", "spout0", NULL, gale_shuffle());
    gale_topology_set(r.topology, "spout0", "gale.executor", gale_i64(0));
    start(&r, 2, true);
    expect_end(&r);
    assert_int_equal(spouts[0].acks, 4000);
    assert_true(rig_task(&r, "a", 0).executor != rig_task(&r, "a", 1).executor);
    for (uint32_t i = 0; i < 2; i++) assert_in_range(rig_task(&r, "a", i).executed, 1000, 3000);
    rig_fini(&r);
}

static void the_longest_bound_is_no_bound(void **state) {
    (void)state;
    rig r;
    gale_error error = GALE_ERROR_INIT;
    gale_open_tree trees[4] = { { .size = sizeof trees[0] } };
    build(&r, UINT64_MAX, 2);
    start(&r, 2, false);
    assert_true(gale_runtime_open_trees(r.runtime, trees, 4, INT64_MAX) >= 0);
    gale_runtime_drain(r.runtime);
    assert_int_equal(gale_runtime_wait(r.runtime, INT64_MAX, &error), 0);
    assert_int_equal(gale_runtime_free(r.runtime, INT64_MAX, &error), 0);
    r.runtime = NULL;
    rig_fini(&r);
}

/* --- Without threads --- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 }; /* which wants more memory than a limit could tell from a thread's */
#else
enum { SANITIZED = 0 };
#endif

enum { STACK = 64 << 20 }; /* larger than those that earlier threads left */

/* So much more address space, and no more. */
static void limit_memory(uint64_t more) {
    unsigned long long pages = 0;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, STACK) || pthread_setattr_default_np(&attributes)) _exit(1);
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%llu", &pages) != 1) _exit(2);
    fclose(file);
    rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
    if (setrlimit(RLIMIT_AS, &(struct rlimit){ most, most }) != 0) _exit(3);
}

/* In a process of its own. 0: the start was refused, and there was an end to wait for. */
static int start_with(uint64_t more, const gale_store *store) {
    rig r;
    build(&r, 100, 1);
    gale_clock clock = gale_clock_monotonic();
    gale_runtime_options options = { .size = sizeof options, .executors = 8, .clock = &clock };
    gale_error error = GALE_ERROR_INIT;
    options.store = store;
    rig_make_with(&r, options);
    limit_memory(more);
    if (gale_runtime_start(r.runtime, &error) != GALE_NO_MEMORY) return 4;
    if (!strstr(error.text, store ? "the system refuses" : "the system refuses thread")) return 5;
    if (gale_runtime_wait(r.runtime, -1, &error) < 0) return 6;
    return gale_runtime_free(r.runtime, 10 * GALE_SECOND, &error) < 0 ? 7 : 0;
}

static void a_start_without_memory_for_threads_comes_to_an_end(void **state) {
    (void)state;
    if (SANITIZED) skip();
    for (uint64_t more = STACK / 2; more < 6 * STACK; more += 2 * STACK) { /* for none, two, four of eight */
        pid_t child = fork();
        int status = 0;
        if (child == 0) _exit(start_with(more, NULL));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static int start_durable_with(uint64_t more) {
    memory_store disk;
    memory_store_init(&disk);
    gale_store store = memory_store_open(&disk);
    return start_with(more, &store);
}

/* Those that commit come first: none, one, both, and some of the others. */
static void a_durable_start_without_memory_for_threads_comes_to_an_end(void **state) {
    (void)state;
    if (SANITIZED) skip();
    for (uint64_t more = STACK / 2; more < 5 * STACK; more += STACK) {
        pid_t child = fork();
        int status = 0;
        if (child == 0) _exit(start_durable_with(more));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_acked_on_one_thread),
        cmocka_unit_test(everything_is_acked_on_two_threads),
        cmocka_unit_test(everything_is_acked_on_eight_threads),
        cmocka_unit_test(failures_travel_between_threads_with_their_words),
        cmocka_unit_test(a_run_until_drained_waits_for_spouts_on_other_executors),
        cmocka_unit_test(an_endless_run_is_drained_and_loses_nothing),
        cmocka_unit_test(an_endless_run_is_stopped_and_answers_everything),
        cmocka_unit_test(ticks_come_on_parked_threads),
        cmocka_unit_test(a_descriptor_that_becomes_readable_wakes_its_spout),
        cmocka_unit_test(a_spout_that_waits_for_a_descriptor_may_say_until_when),
        cmocka_unit_test(freeing_a_running_runtime_stops_it),
        cmocka_unit_test(the_longest_bound_is_no_bound),
        cmocka_unit_test(a_start_without_memory_for_threads_comes_to_an_end),
        cmocka_unit_test(a_durable_start_without_memory_for_threads_comes_to_an_end),
        cmocka_unit_test(shuffle_shares_heavy_work_among_executors),
    };
    return rig_run_on_both_ledgers(tests);
}
