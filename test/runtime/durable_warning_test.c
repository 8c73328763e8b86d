/* Who keeps its place by itself, while what is behind it begins empty each time, is warned of it once, at the start. */
#include "harness/cm.h"
#include "harness/memory_store.h"

#include <gale/gale.h>
#include <stdio.h>

static struct {
    memory_store disk;
    gale_store store;
    gale_manual_clock *clock;
    bool durable, resumes, remembers;
    const gale_durable_ops *behind, *far; /* of the bolt that the spout feeds, and of the one behind that */
    uint32_t more;                        /* bolts that count, too */
    char log[4000];
} s;

static int source_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)context;
    *ret_self = user;
    if (s.resumes) gale_resume(out);
    if (s.remembers) gale_remember(out);
    return 0;
}

static int source_next(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)out, (void)wait;
    return GALE_NEXT_DONE;
}

static int pass(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)tuple, (void)out;
    return 0;
}

static int save(void *self, gale_saver *to) {
    (void)self, (void)to;
    return 0;
}

static int restore(void *self, gale_saved *from, gale_collector *out) {
    (void)self, (void)from, (void)out;
    return 0;
}

static const gale_durable_ops keeps = { .size = sizeof keeps, .version = 1, .save = save, .restore = restore };
static const gale_durable_ops outside = {
    .size = sizeof outside, .version = 1, .flags = GALE_DURABLE_OUTSIDE, .save = save, .restore = restore
};
static const gale_spout_ops source_ops = {
    .size = sizeof source_ops, .name = "source", .open = source_open, .next = source_next, .durable = &gale_stateless
};

static void note(void *user, int32_t level, const char *component, const char *text) {
    (void)user;
    size_t used = strlen(s.log);
    if (level == GALE_LOG_WARN)
        snprintf(s.log + used, sizeof s.log - used, "%s: %s\n", component ? component : "", text);
}

static void add_bolt(gale_topology *topology, const char *name, const char *from, gale_bolt_ops *ops,
                     const gale_durable_ops *durable) {
    static const gale_output outputs[] = { { NULL, "x" } };
    *ops = (gale_bolt_ops){
        .size = sizeof *ops, .name = name, .kind = GALE_BOLT_SIMPLE, .execute = pass, .durable = durable
    };
    gale_bolt bolt = { .size = sizeof bolt, .ops = ops, .outputs = outputs, .output_count = 1 };
    gale_topology_add_bolt(topology, name, bolt, 2);
    gale_topology_subscribe(topology, name, from, NULL, gale_shuffle());
}

static const char *run(void) {
    static const gale_output outputs[] = { { NULL, "x" } };
    gale_bolt_ops ops[8];
    gale_topology *topology = gale_topology_new("warned");
    gale_spout from = { .size = sizeof from, .ops = &source_ops, .outputs = outputs, .output_count = 1 };
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_clock clock = gale_manual_clock_handle(s.clock);
    gale_logger logger = { .size = sizeof logger, .level = GALE_LOG_WARN, .write = note };
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime;
    gale_topology_add_spout(topology, "source", from, 2);
    add_bolt(topology, "behind", "source", &ops[0], s.behind);
    add_bolt(topology, "far", "behind", &ops[1], s.far);
    for (uint32_t i = 0; i < s.more; i++) {
        char name[16];
        snprintf(name, sizeof name, "more%u", i);
        add_bolt(topology, name, "far", &ops[2 + i], &gale_keyed);
    }
    options.clock = &clock;
    options.logger = &logger;
    options.executors = 2;
    options.until_drained = true;
    options.store = s.durable ? &s.store : NULL;
    s.log[0] = 0;
    if (gale_runtime_new(topology, &options, &runtime, &error) < 0) fail_msg("%s", error.text);
    for (int i = 0; gale_runtime_step(runtime) != GALE_STOPPED; i++) {
        assert_true(i < 10000);
        if (s.durable) (void)gale_runtime_commit(runtime, NULL);
    }
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    gale_topology_free(topology);
    return s.log;
}

static int setup(void **state) {
    (void)state;
    memset(&s, 0, sizeof s);
    memory_store_init(&s.disk);
    s.store = memory_store_open(&s.disk);
    s.clock = gale_manual_clock_new(0);
    s.behind = &gale_stateless;
    s.far = &keeps;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    s.store.close(s.store.self);
    memory_store_fini(&s.disk);
    gale_manual_clock_free(s.clock);
    return 0;
}

#define WARNING(names)                                                                                                 \
    "source: remembers its place from one run to the next, and what " names                                            \
    " kept is forgotten with each: results will lack what earlier runs read; a durable run (--state DIR; in C the "    \
    "option `store`) keeps "                                                                                           \
    "both together\n"

static void who_remembers_its_place_is_told_who_forgets(void **state) {
    (void)state;
    s.remembers = true;
    assert_string_equal(run(), WARNING("'far'"));
    s.behind = &gale_keyed;
    assert_string_equal(run(), WARNING("'behind', 'far'"));
    s.more = 3;
    assert_string_equal(run(), WARNING("'behind', 'far', 'more0' and 2 more"));
}

static void who_goes_on_is_told_too(void **state) {
    (void)state;
    s.resumes = true;
    assert_string_equal(run(), WARNING("'far'"));
}

static void who_begins_anew_is_not(void **state) {
    (void)state;
    assert_string_equal(run(), "");
}

static void nobody_forgets_in_a_durable_run(void **state) {
    (void)state;
    s.remembers = s.resumes = s.durable = true;
    assert_string_equal(run(), "");
}

static void who_keeps_nothing_of_its_own_forgets_nothing(void **state) {
    (void)state;
    s.remembers = true;
    s.far = &outside;
    assert_string_equal(run(), "");
    s.far = &gale_stateless;
    assert_string_equal(run(), "");
    s.far = NULL; /* it has not said */
    assert_string_equal(run(), "");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(who_remembers_its_place_is_told_who_forgets),
        CASE(who_goes_on_is_told_too),
        CASE(who_begins_anew_is_not),
        CASE(nobody_forgets_in_a_durable_run),
        CASE(who_keeps_nothing_of_its_own_forgets_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
