/* A component whose newer version saves something else: what an older one has saved is brought to it, a version at a time. */
#include "base/atomic.h"
#include "base/random.h"
#include "harness/cm.h"
#include "harness/memory_store.h"

#include <gale/gale.h>
#include <stdio.h>

enum { NUMBERS = 1000, VERSIONS = 3, MARK = 77 };

static struct {
    memory_store disk;
    gale_store store;
    gale_manual_clock *clock;
    gx_random random;
    uint32_t version, tasks;
    bool cannot;       /* there is no `migrate` */
    uint32_t stumbles; /* the version that it fails at */
    uint32_t steps[VERSIONS + 1];
    gx_atomic32 counted[NUMBERS];
} s;

/* --- The source --- */

static int source_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)out;
    *ret_self = calloc(1, sizeof(int64_t));
    return *ret_self ? 0 : GALE_NO_MEMORY;
}

static int source_next(void *self, gale_collector *out, gale_wait *wait) {
    int64_t *next = self;
    (void)wait;
    if (*next >= NUMBERS) return GALE_NEXT_DONE;
    gale_value v = gale_i64(*next);
    if (gale_emit_tracked(out, 0, &v, 1, (uint64_t)*next) < 0) return GALE_NEXT_NOTHING;
    ++*next;
    return GALE_NEXT_EMITTED;
}

static int source_save(void *self, gale_saver *to) {
    gale_value v = gale_i64(*(int64_t *)self);
    return gale_save(to, &v, 1);
}

static int source_restore(void *self, gale_saved *from, gale_collector *out) {
    const gale_value *v;
    size_t count;
    (void)out;
    if (gale_saved_next(from, &v, &count) != 1) return GALE_DAMAGED;
    *(int64_t *)self = v[0].as.i64;
    return 0;
}

static const gale_durable_ops source_durable = {
    .size = sizeof source_durable, .version = 1, .save = source_save, .restore = source_restore
};
static const gale_spout_ops source_ops = { .size = sizeof source_ops,
                                           .name = "numbers",
                                           .open = source_open,
                                           .next = source_next,
                                           .close = free,
                                           .durable = &source_durable };

/* --- The counter, in three versions --- */

typedef struct counter {
    int64_t counts[NUMBERS];
} counter;

static int counter_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)out;
    *ret_self = calloc(1, sizeof(counter));
    return *ret_self ? 0 : GALE_NO_MEMORY;
}

static int count(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    ((counter *)self)->counts[gale_tuple_value(tuple, 0).as.i64]++;
    return 0;
}

static int tell(void *self, gale_collector *out) {
    (void)out;
    for (int i = 0; i < NUMBERS; i++) gx_add_relaxed(&s.counted[i], (uint32_t)((counter *)self)->counts[i]);
    return 0;
}

/* The first version: number and count. The second: a mark, then count and number. The third: count and the number as text. */
static int save_one(gale_saver *to, uint32_t version, int64_t number, int64_t times) {
    char text[20];
    snprintf(text, sizeof text, "%lld", (long long)number);
    const gale_value first[] = { gale_i64(number), gale_i64(times) };
    const gale_value second[] = { gale_i64(times), gale_i64(number) };
    const gale_value third[] = { gale_i64(times), gale_text(text) };
    return gale_save(to, version == 1 ? first : version == 2 ? second : third, 2);
}

static int save_mark(gale_saver *to, uint32_t version) {
    const gale_value mark = gale_i64(MARK);
    return version == 2 ? gale_save(to, &mark, 1) : 0;
}

static int counter_save(void *self, gale_saver *to) {
    int rc = save_mark(to, s.version);
    for (int i = 0; rc == 0 && i < NUMBERS; i++)
        if (((counter *)self)->counts[i]) rc = save_one(to, s.version, i, ((counter *)self)->counts[i]);
    return rc;
}

/* The next pair that this version has saved. */
static int next_pair(gale_saved *from, uint32_t version, int64_t *ret_number, int64_t *ret_times) {
    const gale_value *v;
    size_t values;
    int rc = gale_saved_next(from, &v, &values);
    if (rc == 1 && version == 2 && values == 1) {
        assert_int_equal(v[0].as.i64, MARK);
        rc = gale_saved_next(from, &v, &values);
    }
    if (rc != 1) return rc;
    assert_int_equal(values, 2);
    assert_int_equal(v[1].type, version == 3 ? GALE_TYPE_STRING : GALE_TYPE_I64);
    *ret_number = version == 1 ? v[0].as.i64 : version == 2 ? v[1].as.i64 : atoll(v[1].as.string);
    *ret_times = v[version == 1].as.i64;
    return 1;
}

static int counter_restore(void *self, gale_saved *from, gale_collector *out) {
    int64_t number, times;
    int rc;
    (void)out;
    while ((rc = next_pair(from, s.version, &number, &times)) == 1) {
        gale_value key = gale_i64(number);
        if (gale_saved_is_own(from, &key, 1)) ((counter *)self)->counts[number] += times;
    }
    return rc;
}

static int counter_migrate(void *user, uint32_t version, gale_saved *from, gale_saver *to) {
    int64_t number, times;
    (void)user;
    s.steps[version]++;
    int rc = save_mark(to, version + 1);
    while (rc == 0 && (rc = next_pair(from, version, &number, &times)) == 1)
        rc = save_one(to, version + 1, number, times);
    return version == s.stumbles ? GALE_COMPONENT : rc;
}

#define VERSION(n, migrates)                                                                                           \
    {                                                                                                                  \
        .size = sizeof(gale_durable_ops), .version = n, .flags = GALE_DURABLE_PARTS, .save = counter_save,             \
        .restore = counter_restore, .migrate = migrates                                                                \
    }

static const gale_durable_ops versions[VERSIONS + 1] = {
    { 0 }, VERSION(1, NULL), VERSION(2, counter_migrate), VERSION(3, counter_migrate)
};
static const gale_durable_ops without = VERSION(3, NULL);

#define BOLT(durable_)                                                                                                 \
    {                                                                                                                  \
        .size = sizeof(gale_bolt_ops), .name = "counter", .kind = GALE_BOLT_SIMPLE, .prepare = counter_prepare,        \
        .execute = count, .finish = tell, .cleanup = free, .durable = durable_                                         \
    }

static const gale_bolt_ops bolts[VERSIONS + 1] = { { 0 }, BOLT(&versions[1]), BOLT(&versions[2]), BOLT(&versions[3]) };
static const gale_bolt_ops stuck = BOLT(&without);

/* --- A run --- */

static int try_start(gale_runtime **ret_runtime, gale_error *error) {
    static const gale_output outputs[] = { { NULL, "number" } };
    gale_topology *topology = gale_topology_new("migrating");
    gale_spout from = { .size = sizeof from, .ops = &source_ops, .outputs = outputs, .output_count = 1 };
    gale_bolt to = { .size = sizeof to, .ops = s.cannot ? &stuck : &bolts[s.version] };
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_clock clock = gale_manual_clock_handle(s.clock);
    gale_topology_add_spout(topology, "numbers", from, 1);
    gale_topology_add_bolt(topology, "counter", to, s.tasks);
    gale_topology_subscribe(topology, "counter", "numbers", NULL, gale_fields("number"));
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(10));
    options.clock = &clock;
    options.executors = 2;
    options.seed = 7;
    options.until_drained = true;
    options.store = &s.store;
    options.checkpoint_interval = 5 * GALE_MILLISECOND;
    int rc = gale_runtime_new(topology, &options, ret_runtime, error);
    gale_topology_free(topology);
    return rc;
}

/* So many steps, and then the end, as by a kill. */
static int live(uint32_t version, uint64_t steps, gale_error *error) {
    gale_runtime *runtime = NULL;
    s.version = version;
    memset(s.counted, 0, sizeof s.counted);
    memset(s.steps, 0, sizeof s.steps);
    int rc = try_start(&runtime, error);
    for (uint64_t i = 0; rc >= 0 && i < steps; i++) {
        if (gale_runtime_step(runtime) == GALE_STOPPED) {
            rc = gale_runtime_wait(runtime, 0, error);
            break;
        }
        gale_manual_clock_advance(s.clock, GALE_MILLISECOND);
        assert_true(gale_runtime_commit(runtime, NULL) >= 0);
    }
    if (runtime) assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    s.store.abandon(s.store.self);
    return rc;
}

static void live_well(uint32_t version, uint64_t steps) {
    gale_error error = GALE_ERROR_INIT;
    if (live(version, steps, &error) < 0) fail_msg("%s", error.text);
}

static void expect_refused(uint32_t version, int code, const char *text) {
    gale_error error = GALE_ERROR_INIT;
    uint64_t commits = s.disk.commits;
    assert_int_equal(live(version, 100, &error), code);
    if (!strstr(error.text, text)) fail_msg("%s", error.text);
    assert_int_equal(s.disk.commits, commits);
}

static void live_to_the_end(uint32_t version) {
    live_well(version, 1000000);
    for (int i = 0; i < NUMBERS; i++)
        if (s.counted[i] != 1) fail_msg("number %d was counted %u times", i, s.counted[i]);
}

static int setup(void **state) {
    (void)state;
    memset(&s, 0, sizeof s);
    memory_store_init(&s.disk);
    s.store = memory_store_open(&s.disk);
    s.clock = gale_manual_clock_new(0);
    s.tasks = 2;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    s.store.close(s.store.self);
    memory_store_fini(&s.disk);
    gale_manual_clock_free(s.clock);
    return 0;
}

/* --- Tests --- */

static void what_was_saved_is_brought_on_one_version_after_the_other(void **state) {
    (void)state;
    live_well(1, 40);
    live_well(2, 40);
    assert_int_equal(s.steps[1], s.tasks);
    live_well(2, 40);
    assert_int_equal(s.steps[1], 0);
    live_well(3, 40);
    assert_int_equal(s.steps[2], s.tasks);
    live_to_the_end(3);
}

static void two_versions_are_gone_through_at_once(void **state) {
    (void)state;
    live_well(1, 40);
    live_well(3, 40);
    assert_int_equal(s.steps[1], s.tasks);
    assert_int_equal(s.steps[2], s.tasks);
    live_to_the_end(3);
}

static void another_number_of_tasks_migrates_all_parts(void **state) {
    (void)state;
    live_well(1, 40);
    s.tasks = 5;
    live_well(3, 40);
    s.tasks = 3;
    live_to_the_end(3);
}

static void a_migration_that_fails_is_refused_and_changes_nothing(void **state) {
    (void)state;
    live_well(1, 40);
    s.stumbles = 2;
    expect_refused(3, GALE_COMPONENT, "what 'counter' has saved could not be brought from version 2 to 3: ");
    s.stumbles = 1;
    expect_refused(2, GALE_COMPONENT, "what 'counter' has saved could not be brought from version 1 to 2: ");
    live_well(1, 40);
    s.stumbles = 0;
    live_to_the_end(3);
}

static void without_a_migration_an_older_version_is_refused(void **state) {
    (void)state;
    live_well(2, 40);
    s.cannot = true;
    expect_refused(3, GALE_UNSUPPORTED, "what 'counter' has saved is of version 2, it is 3 now, and it cannot migrate");
    s.cannot = false;
    live_to_the_end(2);
}

static void a_newer_version_is_refused_by_an_older_component(void **state) {
    (void)state;
    live_well(3, 40);
    expect_refused(2, GALE_UNSUPPORTED, "what 'counter' has saved is of version 3, newer than the 2 that it knows");
    live_to_the_end(3);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_was_saved_is_brought_on_one_version_after_the_other),
        CASE(two_versions_are_gone_through_at_once),
        CASE(another_number_of_tasks_migrates_all_parts),
        CASE(a_migration_that_fails_is_refused_and_changes_nothing),
        CASE(without_a_migration_an_older_version_is_refused),
        CASE(a_newer_version_is_refused_by_an_older_component),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
