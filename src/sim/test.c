#include "sim/test.h"

#include "base/nearest.h"
#include "base/object.h"
#include "base/options.h"
#include "base/str.h"
#include "base/version.h"
#include "runtime/runtime.h"
#include "sim/simulator.h"
#include "sim/staged.h"
#include "sim/world.h"
#include "tuple/body.h"
#include "tuple/value.h"

#include <stdlib.h>

struct gale_test {
    gx_mark mark;
    gx_heap heap;
    gale_topology *own; /* of a test of one component, or NULL */
    gx_feed feed;
    gx_staged staged;
    gx_seen seen;
    gx_sim_watcher watcher;
    gale_logger logger, given; /* `given`: the caller's */
    gx_simulator *simulator;
    bool began, finished;
    bool restless; /* something was fed since it last settled, or nothing has run yet */
    gale_error fatal;
    gx_buf text; /* of the last answer */
};

static bool is_test(const gale_test *test) {
    return gx_mark_is(test, GX_KIND_TEST);
}

static gx_world *world_of(gale_test *test) {
    return gx_simulator_world(test->simulator);
}

static gx_shared *shared_of(gale_test *test) {
    return &gx_simulator_runtime(test->simulator)->shared;
}

/* --- Making ------------------------------------------------------------------------------------------------------- */

static void log_line(void *user, int32_t level, const char *component, const char *text) {
    gale_test *test = user;
    if (level >= GALE_LOG_INFO) gx_seen_log(&test->seen, component, text);
    if (test->given.write && level >= test->given.level) test->given.write(test->given.user, level, component, text);
}

static gale_logger logger_of(gale_test *test) {
    int32_t level = test->given.write && test->given.level < GALE_LOG_INFO ? test->given.level : GALE_LOG_INFO;
    return (gale_logger){ sizeof(gale_logger), level, log_line, test };
}

static int take_options(const gale_test_options *given, gale_test_options *ret, gale_error *error) {
    int rc = gx_options_take(ret, sizeof *ret, given, "test options", error);
    if (rc < 0) return rc;
    if ((ret->stand_in_count && !ret->stand_ins) || (ret->edge_count && !ret->edges) || (ret->kept_count && !ret->kept))
        return gale_error_set(error, GALE_INVALID, "test options: a count is set, and its array is missing");
    if (ret->executors > GALE_EXECUTORS_MAX)
        return gale_error_set(error, GALE_INVALID, "test options: %u executors, at most %d", ret->executors,
                              GALE_EXECUTORS_MAX);
    if (!ret->seed) ret->seed = 1;
    return GALE_OK;
}

/* Bolts that stand in go with what was refused. */
static int refuse(const gale_test_options *options, int rc) {
    for (size_t i = 0; options->stand_ins && i < options->stand_in_count; i++)
        if (options->stand_ins[i].bolt.free_user) options->stand_ins[i].bolt.free_user(options->stand_ins[i].bolt.user);
    return rc;
}

static gale_test *new_test(gale_error *error) {
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gale_test *test = gx_alloc(&heap, GX_TAG_OTHER, sizeof *test);
    if (!test) {
        gale_error_set(error, GALE_NO_MEMORY, "no memory for a test");
        return NULL;
    }
    test->heap = heap;
    test->fatal = (gale_error)GALE_ERROR_INIT;
    test->feed.heap = test->seen.heap = &test->heap;
    test->text = (gx_buf)GX_BUF_INIT(NULL);
    test->restless = true; /* it is to be opened */
    gx_mark_begin(&test->mark, GX_KIND_TEST);
    return test;
}

static int begin(gale_test *test, const gale_test_options *options, gale_error *error) {
    if (options->logger) test->given = *options->logger;
    test->logger = logger_of(test);
    test->watcher = gx_seen_watcher(&test->seen);
    gx_simulator_options o = { .topology = test->staged.topology,
                               .keep_spouts = true,
                               .keep_sinks = true,
                               .executors = options->executors,
                               .roots = UINT32_MAX,
                               .logger = &test->logger,
                               .led = true,
                               .watcher = &test->watcher };
    int rc = options->faults ? gx_faults_parse(options->faults, &o.faults, error) : GALE_OK;
    if (rc >= 0) rc = gx_simulator_new(&o, &test->simulator, error);
    if (rc >= 0) rc = gx_simulator_begin(test->simulator, options->seed, error);
    test->began = rc >= 0;
    return rc < 0 ? rc : GALE_OK;
}

int gale_test_new(gale_topology *topology, const gale_test_options *options, gale_test **ret_test, gale_error *error) {
    gale_test_options o = { 0 };
    int rc = take_options(options, &o, error);
    if (rc < 0) return rc;
    rc = gx_version_check("libgale-sim", error);
    if (rc < 0) return refuse(&o, rc);
    rc = ret_test ? gale_topology_check(topology, error) : gale_error_set(error, GALE_INVALID, "no place for the test");
    if (rc < 0) return refuse(&o, rc);
    gale_test *test = new_test(error);
    if (!test) return refuse(&o, GALE_NO_MEMORY);
    rc = gx_staged_make(&test->staged, topology, &o, &test->feed, error);
    if (rc >= 0) rc = begin(test, &o, error);
    if (rc < 0)
        gale_test_free(test);
    else
        *ret_test = test;
    return rc;
}

void gale_test_free(gale_test *test) {
    if (!is_test(test)) return;
    gx_simulator_result result;
    if (test->began) gx_simulator_end(test->simulator, &result);
    gx_simulator_free(test->simulator);
    gx_staged_fini(&test->staged);
    gx_feed_fini(&test->feed);
    gx_seen_fini(&test->seen);
    gx_buf_fini(&test->text);
    gale_topology_free(test->own);
    gx_mark_end(&test->mark);
    gx_heap heap = test->heap;
    gx_free(&heap, GX_TAG_OTHER, test, sizeof *test);
}

/* --- Tests of one component --------------------------------------------------------------------------------------- */

static int no_function_next(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)out, (void)wait;
    return GALE_NEXT_DONE;
}

/* A place for streams to come from: the test feeds what stands in for it. */
static int add_sources(gale_topology *topology, const gale_test_input *inputs, size_t count) {
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "input", .next = no_function_next };
    enum { STREAMS_MAX = 64 };
    gale_output outputs[STREAMS_MAX];
    int rc = GALE_OK;
    for (size_t i = 0; i < count && rc >= 0; i++) {
        gale_spout spout = { .size = sizeof spout, .ops = &ops, .outputs = outputs };
        if (!inputs[i].component || gx_topology_find(topology, inputs[i].component)) continue;
        for (size_t k = i; k < count && spout.output_count < STREAMS_MAX; k++)
            if (inputs[k].component && strcmp(inputs[k].component, inputs[i].component) == 0)
                outputs[spout.output_count++] = (gale_output){ inputs[k].stream, inputs[k].fields };
        rc = gale_topology_add_spout(topology, inputs[i].component, spout, 1);
    }
    return rc;
}

static int test_of(gale_topology *own, const gale_test_options *options, gale_test **ret_test, gale_error *error) {
    int rc = gale_test_new(own, options, ret_test, error);
    if (rc < 0)
        gale_topology_free(own);
    else
        (*ret_test)->own = own;
    return rc;
}

int gale_test_new_for_bolt(gale_bolt bolt, const gale_test_input *inputs, size_t input_count,
                           const gale_test_options *options, gale_test **ret_test, gale_error *error) {
    gale_topology *own = inputs && input_count ? gale_topology_new("test") : NULL;
    if (!own) {
        if (bolt.free_user) bolt.free_user(bolt.user);
        return gale_error_set(error, inputs && input_count ? GALE_NO_MEMORY : GALE_INVALID,
                              "a bolt under test needs inputs");
    }
    (void)add_sources(own, inputs, input_count); /* the first error sticks, and is told by the check */
    (void)gale_topology_add_bolt(own, "bolt", bolt, 1);
    for (size_t i = 0; i < input_count; i++)
        (void)gale_topology_subscribe(own, "bolt", inputs[i].component, inputs[i].stream, gale_global());
    return test_of(own, options, ret_test, error);
}

int gale_test_new_for_spout(gale_spout spout, const gale_test_options *options, gale_test **ret_test,
                            gale_error *error) {
    static const char *const kept[] = { "spout" };
    gale_test_options o = { 0 };
    gale_topology *own = gale_topology_new("test");
    if (!own) {
        if (spout.free_user) spout.free_user(spout.user);
        return gale_error_set(error, GALE_NO_MEMORY, "no memory for a test");
    }
    (void)gale_topology_add_spout(own, "spout", spout, 1);
    int rc = take_options(options, &o, error);
    if (rc < 0) return gale_topology_free(own), rc;
    o.size = sizeof o;
    o.kept = kept;
    o.kept_count = 1;
    return test_of(own, &o, ret_test, error);
}

/* --- Running ------------------------------------------------------------------------------------------------------ */

static int end_with(gale_test *test, int code, const char *text) {
    if (!test->fatal.code) gale_error_set(&test->fatal, code, "%s", text);
    return test->fatal.code;
}

/* What the run ended with, if it did. */
static int look_at_end(gale_test *test) {
    const gx_sim *sim = world_of(test)->sim;
    if (!gx_oracle_holds(&sim->oracle)) return end_with(test, GALE_DAMAGED, sim->oracle.problem);
    const gale_error *fatal = &shared_of(test)->fatal;
    if (fatal->code) return end_with(test, fatal->code, fatal->length ? fatal->text : gale_error_text(fatal->code));
    if (test->seen.full)
        return end_with(test, GALE_TOO_LARGE, "more was emitted than a test can keep, or memory is out");
    return GALE_OK;
}

static int told(const gale_test *test, gale_error *error) {
    if (!test->fatal.code) return GALE_OK;
    return gale_error_set(error, test->fatal.code, "%s", test->fatal.text);
}

/* A fed spout that had nothing waits for ever. */
static void wake_fed(gale_test *test) {
    gx_shared *shared = shared_of(test);
    for (uint32_t t = 1; t <= shared->plan->task_count; t++)
        if (shared->tasks[t]->is_spout && gx_staged_fed(&test->staged, shared->tasks[t]->context.component))
            shared->tasks[t]->spout.not_before = 0;
}

static int settle(gale_test *test) {
    test->restless = false;
    if (test->fatal.code || test->finished) return test->fatal.code;
    wake_fed(test);
    (void)gx_world_settle(world_of(test));
    return look_at_end(test);
}

int gale_test_settle(gale_test *test, gale_error *error) {
    if (!is_test(test)) return gale_error_set(error, GALE_INVALID, "no test");
    settle(test);
    return told(test, error);
}

/* Each thing that is due happens at its moment. What is due now, though nothing moves, gets a nanosecond. */
static void pass(gale_test *test, int64_t until) {
    gx_world *world = world_of(test);
    while (settle(test) == GALE_OK) {
        int64_t now = gale_test_now(test), due = gx_world_due(world);
        if (now >= until) return;
        if (due <= now) due = now + 1;
        gx_world_move_to(world, due < until ? due : until);
    }
}

int gale_test_advance(gale_test *test, int64_t nanoseconds, gale_error *error) {
    if (!is_test(test)) return gale_error_set(error, GALE_INVALID, "no test");
    int64_t now = gale_test_now(test);
    if (nanoseconds < 0 || nanoseconds > INT64_MAX - now)
        return gale_error_set(error, GALE_INVALID, "time cannot pass by %lld ns", (long long)nanoseconds);
    if (test->finished) return gale_error_set(error, GALE_STATE, "the test has finished, and its time has ended");
    settle(test);
    pass(test, now + nanoseconds);
    return told(test, error);
}

int gale_test_finish(gale_test *test, gale_error *error) {
    if (!is_test(test)) return gale_error_set(error, GALE_INVALID, "no test");
    if (test->finished || settle(test) < 0) return told(test, error);
    test->feed.ended = true;
    wake_fed(test);
    gx_simulator_let_go(test->simulator);
    test->finished = true;
    look_at_end(test);
    return told(test, error);
}

int64_t gale_test_now(const gale_test *test) {
    if (!is_test(test)) return 0;
    const gale_clock *clock = &shared_of((gale_test *)test)->clock;
    return clock->now(clock->user);
}

/* --- Feeding ------------------------------------------------------------------------------------------------------ */

static int unknown(const gale_test *test, const char *component, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(gx_str(component));
    char hint[100];
    for (uint32_t i = 0; i < test->staged.component_count; i++)
        if (test->staged.fed[i]) gx_nearest_offer(&nearest, gx_str(test->staged.fed[i]->built->name));
    return gale_error_set(error, GALE_NOT_FOUND, "'%s' is not fed%s", component ? component : "(NULL)",
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int check_values(const gx_component *c, int stream, const gale_value *values, size_t count, gale_error *error) {
    uint32_t fields = c->outputs[stream].field_count;
    if (count != fields)
        return gale_error_set(error, GALE_FIELDS, "%zu values for the %u fields of '%s'", count, fields, c->name);
    if ((count && !values) || gx_body_measure(values, count) < 0)
        return gale_error_set(error, GALE_INVALID, "a value for '%s' is not valid", c->name);
    return GALE_OK;
}

int64_t gale_test_feed(gale_test *test, const char *component, const char *stream, const gale_value *values,
                       size_t count, gale_error *error) {
    if (!is_test(test)) return gale_error_set(error, GALE_INVALID, "no test");
    if (test->finished) return gale_error_set(error, GALE_STATE, "the input has ended (gale_test_finish)");
    gx_fed *fed = component ? gx_staged_fed(&test->staged, component) : NULL;
    if (!fed) return unknown(test, component, error);
    int index = gx_component_stream(fed->built, stream);
    if (index < 0 || (uint32_t)index >= fed->built->output_count)
        return gale_error_set(error, GALE_NOT_FOUND, "'%s' has no stream '%s'", component, stream ? stream : "default");
    int rc = check_values(fed->built, index, values, count, error);
    if (rc < 0) return rc;
    rc = gx_fed_add(fed, (uint32_t)index, values, count);
    if (rc < 0) return gale_error_set(error, rc, "no memory for what is fed");
    test->restless = true;
    return (int64_t)test->feed.count - 1;
}

/* --- Looking ------------------------------------------------------------------------------------------------------ */

static void settle_if_restless(gale_test *test) {
    if (test->restless) settle(test);
}

const gx_feed *gx_test_feed(gale_test *test) {
    settle_if_restless(test);
    return &test->feed;
}

gx_seen *gx_test_seen(gale_test *test) {
    settle_if_restless(test);
    return &test->seen;
}

const gx_component *gx_test_component(const gale_test *test, const char *name) {
    return name ? gx_topology_find(test->staged.topology, name) : NULL;
}

const char *gx_test_fatal(const gale_test *test) {
    return test->fatal.code ? test->fatal.text : NULL;
}

size_t *gx_test_new_tuples(gale_test *test, const gx_component *component, uint32_t stream, size_t *ret_count) {
    const gx_seen *seen = gx_test_seen(test);
    size_t *numbers = calloc(seen->tuple_count + 1, sizeof *numbers), count = 0;
    for (size_t i = 0; numbers && i < seen->tuple_count; i++)
        if (seen->tuples[i].component == component && seen->tuples[i].stream == stream && !seen->tuples[i].looked_at)
            numbers[count++] = i;
    *ret_count = count;
    return numbers;
}

/* The message id that the engine knows is the number of the simulator's tree. */
const char *gx_test_where(gale_test *test, uint64_t number) {
    enum { ROOM = GALE_OPEN_TREES_MAX };
    const gx_oracle *oracle = &world_of(test)->sim->oracle;
    gale_open_tree *trees = calloc(ROOM, sizeof *trees);
    gx_buf_reset(&test->text);
    if (trees) trees[0].size = sizeof *trees;
    int count = trees ? gale_runtime_open_trees(gx_simulator_runtime(test->simulator), trees, ROOM, 0) : 0;
    for (int i = 0; i < count; i++) {
        uint64_t tree = trees[i].message_id;
        if (tree >= oracle->tree_count || oracle->trees[tree].message_id != number) continue;
        gx_buf_add_text(&test->text, trees[i].text);
        break;
    }
    free(trees);
    const char *text = gx_buf_text(&test->text);
    return text ? text : "";
}

/* --- What was emitted --------------------------------------------------------------------------------------------- */

static const char *say(gale_test *test, const char *format, const char *a, const char *b) {
    gx_buf_reset(&test->text);
    gx_buf_format(&test->text, format, a, b);
    const char *text = gx_buf_text(&test->text);
    return text ? text : "out of memory";
}

typedef struct comparing {
    gx_wanted *fields; /* rows * count */
    gx_wanted_row *wanted;
    gx_found_row *found;
    size_t *numbers, found_count, *pairs;
} comparing;

static void end_comparing(comparing *k) {
    free(k->fields);
    free(k->wanted);
    free(k->found);
    free(k->numbers);
    free(k->pairs);
}

static bool begin_comparing(gale_test *test, const gx_component *c, uint32_t stream, const gale_value *values,
                            size_t count, size_t rows, comparing *k) {
    k->numbers = gx_test_new_tuples(test, c, stream, &k->found_count);
    k->fields = calloc(rows * count + 1, sizeof *k->fields);
    k->wanted = calloc(rows + 1, sizeof *k->wanted);
    k->pairs = calloc(rows + 1, sizeof *k->pairs);
    k->found = calloc(k->found_count + 1, sizeof *k->found);
    if (!k->numbers || !k->fields || !k->wanted || !k->pairs || !k->found) return false;
    for (size_t i = 0; i < rows * count; i++)
        k->fields[i] = (gx_wanted){ .kind = GX_WANTED_VALUE, .value = *gx_value_sound(&values[i]) };
    for (size_t i = 0; i < rows; i++) k->wanted[i] = (gx_wanted_row){ k->fields + i * count, (uint32_t)count };
    for (size_t i = 0; i < k->found_count; i++) {
        const gx_seen_tuple *tuple = &test->seen.tuples[k->numbers[i]];
        k->found[i] = (gx_found_row){ tuple->values, tuple->count };
    }
    return true;
}

static void take_looked_at(gale_test *test, const comparing *k, int32_t order, size_t rows) {
    bool some = order == GALE_TEST_CONTAINS;
    for (size_t i = 0; i < (some ? rows : k->found_count); i++)
        if (!some || k->pairs[i] != SIZE_MAX) test->seen.tuples[k->numbers[some ? k->pairs[i] : i]].looked_at = true;
}

static const char *compare(gale_test *test, const gx_component *c, uint32_t stream, int32_t order, comparing *k,
                           size_t rows) {
    static const char *const orders[] = { "", ", in any order", ", among others" };
    const gx_output *output = &c->outputs[stream];
    const gx_comparison comparison = {
        k->wanted, rows, k->found, k->found_count, (const char *const *)output->fields, output->field_count, order
    };
    gx_buf_reset(&test->text);
    gx_buf_format(&test->text, "'%s' did not emit to '%s' what is wanted%s\n", c->name, output->name, orders[order]);
    bool differs = gx_difference(&comparison, k->pairs, &test->text);
    take_looked_at(test, k, order, rows);
    const char *text = gx_buf_text(&test->text);
    return !text ? "out of memory" : differs ? text : NULL;
}

const char *gale_test_differs(gale_test *test, const char *component, const char *stream, int32_t order,
                              const gale_value *values, size_t count, size_t rows) {
    if (!is_test(test)) return "there is no test";
    if (order < 0 || order >= GALE_TEST_ORDER_COUNT) return "the order is none of gale_test_order";
    if (rows && (!values || !count || count > UINT32_MAX || rows > UINT32_MAX)) return "there are no values";
    settle_if_restless(test);
    const gx_component *c = gx_test_component(test, component);
    int index = c ? gx_component_stream(c, stream) : -1;
    if (!c) return say(test, "there is no component '%s'%s", component ? component : "(NULL)", "");
    if (index < 0 || (uint32_t)index >= c->output_count)
        return say(test, "'%s' has no stream '%s'", component, stream ? stream : "default");
    if (test->fatal.code) return say(test, "the run has ended: %s%s", test->fatal.text, "");
    comparing k = { NULL, NULL, NULL, NULL, 0, NULL };
    bool made = begin_comparing(test, c, (uint32_t)index, values, count, rows, &k);
    const char *text = made ? compare(test, c, (uint32_t)index, order, &k, rows) : "out of memory";
    end_comparing(&k);
    return text;
}

int gale_test_take(gale_test *test, const char *component, const char *stream, const gale_value **ret_values,
                   size_t *ret_count) {
    if (!is_test(test) || !ret_values || !ret_count) return GALE_INVALID;
    settle_if_restless(test);
    const gx_component *c = gx_test_component(test, component);
    int index = c ? gx_component_stream(c, stream) : -1;
    for (size_t i = 0; index >= 0 && i < test->seen.tuple_count; i++) {
        gx_seen_tuple *tuple = &test->seen.tuples[i];
        if (tuple->component != c || tuple->stream != (uint32_t)index || tuple->looked_at) continue;
        tuple->looked_at = true;
        *ret_values = tuple->values;
        *ret_count = tuple->count;
        return GALE_OK;
    }
    return GALE_NOT_FOUND;
}

const char *gale_test_report(gale_test *test, const char *component, size_t n) {
    if (!is_test(test) || !component) return NULL;
    settle_if_restless(test);
    for (size_t i = 0; i < test->seen.report_count; i++)
        if (strcmp(test->seen.reports[i].component, component) == 0 && n-- == 0) return test->seen.reports[i].text;
    return NULL;
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */

int gale_test_answer_of(gale_test *test, uint64_t number, gale_test_answer *ret_answer) {
    if (!is_test(test) || !ret_answer) return GALE_INVALID;
    size_t size = ret_answer->size ? ret_answer->size : sizeof *ret_answer;
    if (size > sizeof *ret_answer) return GALE_INVALID;
    settle_if_restless(test);
    if (number >= test->feed.count) return GALE_NOT_FOUND;
    const gx_fed_tuple *tuple = &test->feed.list[number];
    gale_test_answer answer = { .size = size,
                                .state = tuple->state,
                                .reason = tuple->reason,
                                .attempts = tuple->attempts,
                                .final = tuple->final,
                                .component = tuple->component ? tuple->component : "",
                                .text = tuple->text ? tuple->text : "" };
    if (tuple->state == GALE_TEST_OPEN) answer.text = gx_test_where(test, number);
    memcpy(ret_answer, &answer, size);
    return GALE_OK;
}

/* "[1] to 'lines': failed at 'split' (rejected): no words\n" */
static void tell_answer(gale_test *test, size_t number, gx_buf *out) {
    const gx_fed_tuple *tuple = &test->feed.list[number];
    gale_value list = gale_value_owned_view(tuple->values);
    gx_buf_add_text(out, "  ");
    gx_found_show(&list, out);
    gx_buf_format(out, ", fed to '%s', ", tuple->to->built->name);
    if (tuple->state == GALE_TEST_ACKED)
        gx_buf_add_text(out, "was acked\n");
    else if (tuple->state == GALE_TEST_WAITS)
        gx_buf_add_text(out, "was not emitted yet\n");
    else if (tuple->state == GALE_TEST_OPEN)
        gx_buf_format(out, "was not answered: %s\n", gx_test_where(test, number));
    else
        gx_buf_format(out, "failed%s%s (%s): %s\n", tuple->component ? " at " : "",
                      tuple->component ? tuple->component : "", gale_reason_name(tuple->reason),
                      tuple->text ? tuple->text : "");
}

static const char *hand_out(gale_test *test, gx_buf *told) {
    gx_buf_reset(&test->text);
    gx_buf_add(&test->text, told->data, told->size);
    test->text.failed |= told->failed;
    gx_buf_fini(told);
    const char *text = gx_buf_text(&test->text);
    return text ? text : "out of memory";
}

const char *gale_test_not_acked(gale_test *test) {
    if (!is_test(test)) return "there is no test";
    settle_if_restless(test);
    gx_buf told = GX_BUF_INIT(NULL);
    gx_buf_add_text(&told, "not all that was fed was acked\n");
    size_t before = told.size;
    for (size_t i = 0; i < test->feed.count; i++)
        if (test->feed.list[i].state != GALE_TEST_ACKED) tell_answer(test, i, &told);
    if (told.size != before || told.failed) return hand_out(test, &told);
    gx_buf_fini(&told);
    return test->fatal.code ? say(test, "the run has ended: %s%s", test->fatal.text, "") : NULL;
}

const char *gale_test_not_failed(gale_test *test, uint64_t number, int32_t reason, const char *text) {
    if (!is_test(test)) return "there is no test";
    settle_if_restless(test);
    if (number >= test->feed.count) return "no tuple with this number was fed";
    const gx_fed_tuple *tuple = &test->feed.list[number];
    bool right = tuple->state == GALE_TEST_FAILED && tuple->reason == reason &&
                 (!text || (tuple->text && strstr(tuple->text, text)));
    if (right) return NULL;
    gx_buf told = GX_BUF_INIT(NULL);
    gx_buf_format(&told, "the tuple did not fail as is wanted (%s%s%s)\n", gale_reason_name(reason), text ? ": " : "",
                  text ? text : "");
    tell_answer(test, number, &told);
    return hand_out(test, &told);
}
