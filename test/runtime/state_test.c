/* Keyed state as a component has it from the engine. */
#include "runtime/rig.h"

#include "harness/memory_store.h"

#include <gale/state.h>
#include <stdlib.h>
#include <string.h>

typedef struct counter {
    gale_state *counts;
    int64_t sum;
    int opened, again, unsound, in_execute, in_cleanup; /* what gale_state_open returned */
    gale_collector *out;
    struct counter *next;
} counter;

static counter *counters; /* of all tasks; executors are stepped on one thread */
static double time_to_live;
static rig_spout spout;

static int prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context;
    counter *c = calloc(1, sizeof *c);
    gale_state_options options = GALE_STATE_OPTIONS_INIT, wrong = { sizeof wrong, "", 0, 0 };
    gale_state *unused;
    options.time_to_live = time_to_live;
    c->opened = gale_state_open(out, &options, &c->counts);
    c->again = gale_state_open(out, NULL, &unused);
    c->unsound = gale_state_open(out, &wrong, &unused);
    c->out = out;
    c->next = counters;
    counters = c;
    *ret_self = c;
    return 0;
}

static int execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    counter *c = self;
    gale_state *unused;
    gale_state_options other = { sizeof other, "other", 0, 0 };
    gale_value key = gale_tuple_value(tuple, 1);
    c->in_execute = gale_state_open(out, &other, &unused);
    return gale_state_add(c->counts, &key, 1, NULL);
}

static int sum_up(void *user, const gale_value *key, const gale_value *value) {
    (void)key;
    ((counter *)user)->sum += value->as.i64;
    return 0;
}

static int finish(void *self, gale_collector *out) {
    (void)out;
    counter *c = self;
    return gale_state_each(c->counts, sum_up, c);
}

static void cleanup(void *self) {
    counter *c = self;
    gale_state *unused;
    c->in_cleanup = gale_state_open(c->out, NULL, &unused);
}

static const gale_bolt_ops ops = { .size = sizeof ops,
                                   .name = "counter",
                                   .kind = GALE_BOLT_SIMPLE,
                                   .prepare = prepare,
                                   .execute = execute,
                                   .finish = finish,
                                   .cleanup = cleanup,
                                   .durable = &gale_keyed };

static int setup(void **state) {
    (void)state;
    memset(&spout, 0, sizeof spout);
    spout.to_emit = 1000;
    spout.keys = 30;
    time_to_live = 0;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    while (counters) {
        counter *next = counters->next;
        free(counters);
        counters = next;
    }
    return 0;
}

/* The clock goes on by `later` before the drain. */
static void run(uint32_t executors, int64_t later) {
    rig r;
    rig_init(&r);
    gale_bolt bolt = { .size = sizeof bolt, .ops = &ops };
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "counter", bolt, 3);
    gale_topology_subscribe(r.topology, "counter", "spout", NULL, gale_fields("key"));
    rig_make(&r, executors);
    rig_settle(&r);
    if (later) rig_advance(&r, later, later);
    rig_drain(&r);
    rig_fini(&r);
}

static void a_bolt_counts_by_key(void **state) {
    (void)state;
    for (uint32_t executors = 1; executors <= 2; executors++) {
        teardown(state);
        setup(state);
        run(executors, 0);
        int64_t sum = 0;
        for (const counter *c = counters; c; c = c->next) sum += c->sum;
        assert_int_equal(spout.acks, 1000);
        assert_int_equal(sum, 1000);
    }
}

static void a_state_is_made_while_its_task_is_opened_and_then_no_more(void **state) {
    (void)state;
    run(1, 0);
    for (const counter *c = counters; c; c = c->next) {
        assert_int_equal(c->opened, GALE_OK);
        assert_int_equal(c->again, GALE_EXISTS);
        assert_int_equal(c->unsound, GALE_INVALID);
        assert_int_equal(c->in_execute, GALE_STATE);
        assert_int_equal(c->in_cleanup, GALE_STATE);
    }
}

static void a_time_to_live_goes_by_the_runtimes_clock(void **state) {
    for (int64_t later = 9; later <= 10; later++) {
        teardown(state);
        setup(state);
        time_to_live = 10;
        run(1, later * GALE_SECOND);
        int64_t sum = 0;
        for (const counter *c = counters; c; c = c->next) sum += c->sum;
        assert_int_equal(sum, later == 9 ? 1000 : 0);
    }
}

/* --- Durable --- */

static memory_store memory;
static gale_store store;

/* Numbers, from where it was. */
enum { LAST = 20000, EACH = 10, KEYS = 300 };

static int source_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)out;
    *ret_self = calloc(1, sizeof(int64_t));
    return *ret_self ? 0 : GALE_NO_MEMORY;
}

static int source_next(void *self, gale_collector *out, gale_wait *wait) {
    int64_t *next = self;
    (void)wait;
    for (int i = 0; i < EACH && *next < LAST; i++) {
        gale_value values[2] = { gale_i64(*next), gale_i64(*next % KEYS) };
        if (gale_emit_tracked(out, 0, values, 2, (uint64_t)*next) < 0) return GALE_NEXT_NOTHING;
        ++*next;
    }
    return *next < LAST ? GALE_NEXT_NOTHING : GALE_NEXT_DONE;
}

static int source_save(void *self, gale_saver *to) {
    gale_value next = gale_i64(*(int64_t *)self);
    return gale_save(to, &next, 1);
}

static int source_restore(void *self, gale_saved *from, gale_collector *out) {
    const gale_value *v;
    size_t count;
    (void)out;
    if (gale_saved_next(from, &v, &count) != 1) return GALE_DAMAGED;
    *(int64_t *)self = v[0].as.i64;
    return 0;
}

static gale_spout source(void) {
    static const gale_durable_ops durable = {
        .size = sizeof durable, .version = 1, .save = source_save, .restore = source_restore
    };
    static const gale_spout_ops source_ops = { .size = sizeof source_ops,
                                               .name = "numbers",
                                               .open = source_open,
                                               .next = source_next,
                                               .close = free,
                                               .durable = &durable };
    static const gale_output outputs[] = { { NULL, "number, key" } };
    return (gale_spout){ .size = sizeof(gale_spout), .ops = &source_ops, .outputs = outputs, .output_count = 1 };
}

static const char *grouped_by = "key";

static gale_runtime_options begin(rig *r, uint32_t tasks, uint64_t memory_share) {
    rig_init(r);
    gale_bolt bolt = { .size = sizeof bolt, .ops = &ops };
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    store = memory_store_open(&memory);
    options.store = &store;
    options.checkpoint_interval = GALE_MILLISECOND;
    options.state_memory = memory_share;
    options.executors = 2;
    options.until_drained = true;
    gale_topology_add_spout(r->topology, "spout", source(), 1);
    gale_topology_add_bolt(r->topology, "counter", bolt, tasks);
    gale_topology_subscribe(r->topology, "counter", "spout", NULL, gale_fields(grouped_by));
    return options;
}

/* Steps; checkpoints are made all the time. Ends without a word after so many steps, or when all is done. */
static void live(uint32_t tasks, uint64_t memory_share, uint64_t steps) {
    rig r;
    rig_make_with(&r, begin(&r, tasks, memory_share));
    while (steps-- > 0 && gale_runtime_step(r.runtime) != GALE_STOPPED) {
        gale_manual_clock_advance(r.clock, GALE_MILLISECOND / 4);
        assert_true(gale_runtime_commit(r.runtime, NULL) >= 0);
    }
    rig_fini(&r);
}

/* The counters' sums are added up at the end of the last life alone. */
static void each_number_is_counted_once_however_often_the_run_ends(void **state) {
    for (uint64_t share = 0; share <= 4000; share += 4000) {
        memory_store_init(&memory);
        for (uint32_t life = 0; life < 7; life++) {
            teardown(state);
            live(1 + life % 3, share, life < 6 ? 150 : 100000);
        }
        int64_t sum = 0;
        for (const counter *c = counters; c; c = c->next) sum += c->sum;
        assert_int_equal(sum, LAST);
        assert_true(memory.commits > 50);
        memory_store_fini(&memory);
    }
}

/* The key is not what the tuples are grouped by. */
static void state_that_no_key_divides_keeps_its_number_of_tasks(void **state) {
    memory_store_init(&memory);
    grouped_by = "number";
    live(2, 0, 150);
    assert_true(memory.commits > 0);
    teardown(state);
    rig r;
    gale_error error = GALE_ERROR_INIT;
    gale_runtime_options options = begin(&r, 3, 0);
    assert_int_equal(gale_runtime_new(r.topology, &options, &r.runtime, &error), GALE_STATE);
    assert_non_null(
        strstr(error.text, "'counter' had 2 tasks and has 3 now, and has keyed state whose keys do not say"));
    r.runtime = NULL;
    rig_fini(&r);
    live(2, 0, 150);
    grouped_by = "key";
    memory_store_fini(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_bolt_counts_by_key, setup, teardown),
        cmocka_unit_test_setup_teardown(a_state_is_made_while_its_task_is_opened_and_then_no_more, setup, teardown),
        cmocka_unit_test_setup_teardown(a_time_to_live_goes_by_the_runtimes_clock, setup, teardown),
        cmocka_unit_test_setup_teardown(each_number_is_counted_once_however_often_the_run_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(state_that_no_key_divides_keeps_its_number_of_tasks, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
