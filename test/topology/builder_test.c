#include "topology/builder.h"

#include "harness/cm.h"
#include "topology/component.h"
#include "topology/faults.h"

#include <string.h>

static int next(void *self, gale_collector *out, gale_wait *wait) {
    (void)self;
    (void)out;
    (void)wait;
    return GALE_NEXT_DONE;
}

static int execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    (void)tuple;
    (void)out;
    return 0;
}

static int frees;

static void free_user(void *user) {
    ++*(int *)user;
    frees++;
}

static const gale_spout_ops spout_ops = { .size = sizeof spout_ops, .name = "lines", .next = next };
static const gale_bolt_ops bolt_ops = { .size = sizeof bolt_ops, .name = "work", .execute = execute };
static const gale_output words[] = { { NULL, "word" } };
static const gale_output two_streams[] = { { NULL, "word, count" }, { "errors", "text" } };

static gale_spout lines_spout(void) {
    return (gale_spout){ .size = sizeof(gale_spout), .ops = &spout_ops, .outputs = words, .output_count = 1 };
}

static gale_bolt work_bolt(void) {
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &bolt_ops, .outputs = words, .output_count = 1 };
}

static gale_topology *topology;

static int fresh(void **state) {
    (void)state;
    frees = 0;
    topology = gale_topology_new("word-count");
    return topology ? 0 : -1;
}

static int done(void **state) {
    (void)state;
    gale_topology_free(topology);
    return 0;
}

static void check_says(const char *text) {
    gale_error e = GALE_ERROR_INIT;
    assert_int_equal(gale_topology_check(topology, &e), GALE_TOPOLOGY);
    assert_string_equal(e.text, text);
    assert_int_equal(e.code, GALE_TOPOLOGY);
    assert_int_equal(e.size, sizeof e);
}

/* The first error sticks: `code` was returned, and everything returns it from now on. */
static void sticks(int code, const char *text) {
    assert_int_equal(code, GALE_TOPOLOGY);
    check_says(text);
    assert_int_equal(gale_topology_add_spout(topology, "later", lines_spout(), 1), GALE_TOPOLOGY);
    assert_int_equal(gale_topology_add_bolt(topology, "later", work_bolt(), 1), GALE_TOPOLOGY);
    assert_int_equal(gale_topology_subscribe(topology, "later", "later", NULL, gale_all()), GALE_TOPOLOGY);
    assert_int_equal(gale_topology_set(topology, NULL, "k", gale_i64(1)), GALE_TOPOLOGY);
    check_says(text);
}

static void add_spout(const char *name) {
    assert_int_equal(gale_topology_add_spout(topology, name, lines_spout(), 1), 0);
}

static void add_bolt(const char *name, const char *source, gale_grouping grouping) {
    assert_int_equal(gale_topology_add_bolt(topology, name, work_bolt(), 2), 0);
    assert_int_equal(gale_topology_subscribe(topology, name, source, NULL, grouping), 0);
}

static void a_sound_topology_is_kept_as_it_was_given(void **state) {
    (void)state;
    gale_setting settings[] = { { "topology.tasks", gale_i64(4) }, { "my.key", gale_text("x") } };
    gale_bolt count = work_bolt();
    count.outputs = two_streams;
    count.output_count = 2;
    count.settings = settings;
    count.setting_count = 2;
    add_spout("lines");
    assert_int_equal(gale_topology_add_bolt(topology, "count", count, 2), 0);
    assert_int_equal(gale_topology_subscribe(topology, "count", "lines", NULL, gale_fields("word")), 0);
    assert_int_equal(gale_topology_check(topology, NULL), 0);
    assert_string_equal(gale_topology_name(topology), "word-count");
    assert_int_equal(topology->component_count, 2);
    gx_component *c = gx_topology_find(topology, "count");
    assert_int_equal(c->output_count, 2);
    assert_int_equal(gx_component_stream(c, NULL), 0);
    assert_int_equal(gx_component_stream(c, "errors"), 1);
    assert_int_equal(gx_component_stream(c, "error"), -1);
    assert_int_equal(gx_output_field(&c->outputs[0], "count"), 1);
    assert_int_equal(gx_output_field(&c->outputs[0], "text"), -1);
    assert_string_equal(c->inputs[0].fields[0], "word");
    assert_int_equal(gx_component_tasks(topology, c), 4);
    assert_ptr_equal(c->bolt.execute, execute);
    assert_null(c->bolt.prepare);
    assert_null(gx_topology_find(topology, "nobody"));
    assert_null(gx_topology_find(topology, NULL));
}

static void a_source_may_be_added_after_its_subscriber_and_a_cycle_is_legal(void **state) {
    (void)state;
    add_bolt("a", "b", gale_shuffle());
    add_bolt("b", "a", gale_all());
    assert_int_equal(gale_topology_subscribe(topology, "a", "lines", NULL, gale_global()), 0);
    check_says("bolt 'a' subscribes to component 'lines', which does not exist");
    add_spout("lines");
    assert_int_equal(gale_topology_check(topology, NULL), 0);
}

static void subscribing_again_replaces_the_grouping(void **state) {
    (void)state;
    add_spout("lines");
    add_bolt("count", "lines", gale_fields("nonsense"));
    assert_int_equal(gale_topology_subscribe(topology, "count", "lines", "default", gale_shuffle()), 1);
    gx_component *c = gx_topology_find(topology, "count");
    assert_int_equal(c->input_count, 1);
    assert_int_equal(c->inputs[0].grouping, GALE_GROUPING_SHUFFLE);
    assert_int_equal(c->inputs[0].field_count, 0);
    assert_int_equal(gale_topology_check(topology, NULL), 0);
}

static void tasks_are_counted_as_storm_does(void **state) {
    (void)state;
    gale_spout spout = lines_spout();
    assert_int_equal(gale_topology_add_spout(topology, "lines", spout, 8), 0);
    gx_component *c = gx_topology_find(topology, "lines");
    assert_int_equal(gx_component_tasks(topology, c), 8);
    assert_int_equal(gale_topology_set(topology, NULL, "topology.tasks", gale_i64(5)), 0);
    assert_int_equal(gx_component_tasks(topology, c), 5);
    assert_int_equal(gale_topology_set(topology, "lines", "topology.tasks", gale_i64(20)), 0);
    assert_int_equal(gx_component_tasks(topology, c), 20);
    assert_int_equal(gale_topology_set(topology, NULL, "topology.max.task.parallelism", gale_i64(3)), 0);
    assert_int_equal(gx_component_tasks(topology, c), 3);
    assert_int_equal(gale_topology_set(topology, "lines", "topology.max.task.parallelism", gale_i64(6)), 0);
    assert_int_equal(gx_component_tasks(topology, c), 6);
}

static void a_key_without_effect_returns_one(void **state) {
    (void)state;
    add_spout("lines");
    assert_int_equal(gale_topology_set(topology, NULL, "topology.workers", gale_i64(2)), 1);
    assert_int_equal(gale_topology_set(topology, NULL, "topology.message.timeout.secs", gale_i64(2)), 0);
    assert_int_equal(gale_topology_set(topology, "lines", "topology.message.timeout.secs", gale_i64(2)), 1);
    assert_int_equal(gale_topology_set(topology, "lines", "topology.max.spout.pending", gale_i64(2)), 0);
    assert_int_equal(gale_topology_set(topology, "lines", "gale.rate", gale_i64(2)), 0);
    assert_int_equal(gale_topology_set(topology, "lines", "my.key", gale_i64(2)), 0);
    assert_int_equal(gale_config_i64(gale_topology_config(topology), "topology.message.timeout.secs", 0), 2);
}

static void a_bad_name_of_a_topology_is_its_first_error(void **state) {
    (void)state;
    gale_topology_free(topology);
    topology = gale_topology_new("a.b");
    sticks(GALE_TOPOLOGY, "topology name 'a.b' has a '.'; none of / . : \\ may stand there");
    gale_topology_free(topology);
    topology = gale_topology_new(NULL);
    sticks(GALE_TOPOLOGY, "a topology name is empty");
}

static void a_topology_without_a_spout_is_refused(void **state) {
    (void)state;
    check_says("topology 'word-count' has no spout");
    add_bolt("a", "a", gale_shuffle());
    check_says("topology 'word-count' has no spout");
}

static void a_bolt_without_input_is_refused(void **state) {
    (void)state;
    add_spout("lines");
    assert_int_equal(gale_topology_add_bolt(topology, "x", work_bolt(), 1), 0);
    check_says("bolt 'x' has no input: no stream leads to it");
}

static const char tick_key[] = "topology.tick.tuple.freq.secs";

static void a_bolt_may_have_ticks_for_its_only_input(void **state) {
    (void)state;
    add_spout("lines");
    assert_int_equal(gale_topology_add_bolt(topology, "x", work_bolt(), 1), 0);
    assert_int_equal(gale_topology_subscribe(topology, "x", "__system", "__tick", gale_shuffle()), 0);
    check_says(
        "bolt 'x' subscribes to the ticks of '__system', but would get none: topology.tick.tuple.freq.secs is set "
        "neither for it nor for the topology");
    assert_int_equal(gale_topology_set(topology, "x", tick_key, gale_i64(1)), 0);
    assert_int_equal(gale_topology_check(topology, NULL), 0);
    assert_int_equal(gale_topology_subscribe(topology, "x", "__system", "__tick", gale_all()), 1); /* replaced */
    assert_int_equal(gale_topology_check(topology, NULL), 0);
}

static void the_system_has_one_stream_of_one_field(void **state) {
    (void)state;
    add_spout("lines");
    assert_int_equal(gale_topology_set(topology, NULL, tick_key, gale_f64(0.5)), 0);
    assert_int_equal(gale_topology_add_bolt(topology, "x", work_bolt(), 1), 0);
    assert_int_equal(gale_topology_subscribe(topology, "x", "__system", NULL, gale_all()), 0);
    check_says("bolt 'x' subscribes to stream 'default' of '__system', which declares: __tick");
    assert_int_equal(gale_topology_subscribe(topology, "x", "__system", "__tick", gale_fields("rate")), 1);
    check_says("fields grouping of bolt 'x' on '__system' names field 'rate', which stream '__tick' does not declare; "
               "did you mean 'rate_secs'?");
    assert_int_equal(gale_topology_subscribe(topology, "x", "__system", "__tick", gale_fields("rate_secs")), 1);
    assert_int_equal(gale_topology_check(topology, NULL), 0);
    sticks(gale_topology_subscribe(topology, "x", "__acker", NULL, gale_all()),
           "component name '__acker' begins with '__', which is kept for the system\n"
           "in a subscription of bolt 'x' to '__acker'");
}

static void an_unknown_source_is_refused_with_the_nearest_one(void **state) {
    (void)state;
    add_spout("lines");
    add_bolt("split", "lines", gale_shuffle());
    add_bolt("count", "splt", gale_shuffle());
    check_says("bolt 'count' subscribes to component 'splt', which does not exist; did you mean 'split'?");
}

static void an_unknown_stream_is_refused_with_those_there_are(void **state) {
    (void)state;
    gale_bolt silent = work_bolt();
    silent.output_count = 0;
    add_spout("lines");
    add_bolt("split", "lines", gale_shuffle());
    assert_int_equal(gale_topology_add_bolt(topology, "count", work_bolt(), 1), 0);
    assert_int_equal(gale_topology_subscribe(topology, "count", "split", "errors", gale_all()), 0);
    check_says("bolt 'count' subscribes to stream 'errors' of 'split', which declares: default");
    assert_int_equal(gale_topology_add_bolt(topology, "mute", silent, 1), 0);
    gale_topology_free(topology);
    topology = gale_topology_new("t");
    add_spout("lines");
    assert_int_equal(gale_topology_add_bolt(topology, "mute", silent, 1), 0);
    assert_int_equal(gale_topology_subscribe(topology, "mute", "lines", NULL, gale_all()), 0);
    add_bolt("count", "mute", gale_all());
    check_says("bolt 'count' subscribes to stream 'default' of 'mute', which declares: no stream");
}

static void an_unknown_field_is_refused_with_the_nearest_one(void **state) {
    (void)state;
    gale_spout spout = lines_spout();
    spout.outputs = two_streams;
    spout.output_count = 2;
    assert_int_equal(gale_topology_add_spout(topology, "split", spout, 1), 0);
    add_bolt("count", "split", gale_fields("count, wrod"));
    check_says(
        "fields grouping of bolt 'count' on 'split' names field 'wrod', which stream 'default' does not declare; "
        "did you mean 'word'?");
    /* Storm would take it: another stream of the source has it. */
    assert_int_equal(gale_topology_subscribe(topology, "count", "split", NULL, gale_fields("text")), 1);
    check_says(
        "fields grouping of bolt 'count' on 'split' names field 'text', which stream 'default' does not declare");
}

static void a_name_is_taken_once_by_spouts_and_bolts_together(void **state) {
    (void)state;
    add_spout("a");
    sticks(gale_topology_add_bolt(topology, "a", work_bolt(), 1), "bolt 'a' has the name of a spout");
}

static void names_of_components_are_checked(void **state) {
    (void)state;
    sticks(gale_topology_add_spout(topology, "__acker", lines_spout(), 1),
           "spout name '__acker' begins with '__', which is kept for the system");
}

static void parallelism_is_at_least_one(void **state) {
    (void)state;
    sticks(gale_topology_add_spout(topology, "lines", lines_spout(), 0),
           "spout 'lines' has parallelism 0, at least 1 is needed");
}

static void too_many_tasks_are_refused(void **state) {
    (void)state;
    assert_int_equal(gale_topology_add_spout(topology, "a", lines_spout(), GALE_TASKS_MAX), 0);
    assert_int_equal(gale_topology_check(topology, NULL), 0);
    assert_int_equal(gale_topology_add_spout(topology, "b", lines_spout(), UINT32_MAX), 0);
    check_says("topology 'word-count' has 4295000062 tasks, at most 32767");
}

static void a_stream_is_declared_once(void **state) {
    (void)state;
    static const gale_output twice[] = { { NULL, "a" }, { "default", "b" } };
    gale_spout spout = lines_spout();
    spout.outputs = twice;
    spout.output_count = 2;
    sticks(gale_topology_add_spout(topology, "lines", spout, 1),
           "stream 'default' is declared twice\nin spout 'lines'");
}

static void a_field_is_declared_once(void **state) {
    (void)state;
    static const gale_output twice[] = { { "out", "a, b, a" } };
    gale_bolt bolt = work_bolt();
    bolt.outputs = twice;
    sticks(gale_topology_add_bolt(topology, "x", bolt, 1), "field 'a' comes twice\nin stream 'out'\nin bolt 'x'");
}

static void a_definition_that_is_not_filled_in_is_refused(void **state) {
    (void)state;
    gale_bolt short_one = work_bolt();
    short_one.size = offsetof(gale_bolt, settings);
    sticks(gale_topology_add_bolt(topology, "x", short_one, 1),
           "bolt 'x' is not filled in: its size, its ops or an array is missing");
}

static void a_spout_without_next_and_a_bolt_without_execute_are_refused(void **state) {
    (void)state;
    gale_spout_ops old = spout_ops;
    old.size = offsetof(gale_spout_ops, next); /* a table that ends before it */
    gale_spout spout = lines_spout();
    spout.ops = &old;
    sticks(gale_topology_add_spout(topology, "lines", spout, 1), "spout 'lines' has no function 'next'");
    gale_topology_free(topology);
    topology = gale_topology_new("t");
    gale_bolt_ops empty = { .size = sizeof empty };
    gale_bolt bolt = work_bolt();
    bolt.ops = &empty;
    sticks(gale_topology_add_bolt(topology, "x", bolt, 1), "bolt 'x' has no function 'execute' or 'execute_batch'");
}

static int save_nothing(void *self, gale_saver *to) {
    (void)self, (void)to;
    return 0;
}

static void what_would_be_saved_and_never_given_back_is_refused(void **state) {
    (void)state;
    gale_durable_ops durable = { .size = sizeof durable, .version = 1, .save = save_nothing };
    gale_spout_ops lasting = spout_ops;
    lasting.durable = &durable;
    gale_spout spout = lines_spout();
    spout.ops = &lasting;
    sticks(gale_topology_add_spout(topology, "lines", spout, 1),
           "spout 'lines': ops.durable has 'save' and no 'restore'");
    gale_topology_free(topology);
    topology = gale_topology_new("t");
    durable.size = 0;
    gale_bolt_ops kept = bolt_ops;
    kept.durable = &durable;
    gale_bolt bolt = work_bolt();
    bolt.ops = &kept;
    gale_error error = GALE_ERROR_INIT;
    assert_true(gale_topology_add_bolt(topology, "x", bolt, 1) < 0);
    assert_true(gale_topology_check(topology, &error) < 0);
    assert_non_null(strstr(error.text, "bolt 'x': ops.durable"));
}

static void a_longer_table_of_a_later_version_is_taken_unless_it_offers_more(void **state) {
    (void)state;
    struct {
        gale_spout_ops known;
        void *later[4];
    } longer = { spout_ops, { NULL } };
    longer.known.size = sizeof longer;
    gale_spout spout = lines_spout();
    spout.size = sizeof spout + 64;
    spout.ops = &longer.known;
    assert_int_equal(gale_topology_add_spout(topology, "lines", spout, 1), 0);
    assert_ptr_equal(topology->components[0]->spout.next, next);
    longer.later[3] = topology;
    assert_int_equal(gale_topology_add_spout(topology, "more", spout, 1), GALE_UNSUPPORTED);
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_topology_check(topology, &error), GALE_UNSUPPORTED);
    assert_string_equal(error.text,
                        "spout 'more': ops: something is set that gale " GALE_VERSION_TEXT " does not know");
}

static int choose(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                  uint32_t *ret_indices) {
    (void)self, (void)targets, (void)values, (void)count, (void)ret_indices;
    return 0;
}

static const gale_custom_ops custom_ops = { .size = sizeof custom_ops, .name = "mine", .choose = choose };

static void the_user_of_a_custom_grouping_is_freed_once(void **state) {
    (void)state;
    int users[4] = { 0 };
    add_spout("lines");
    add_bolt("count", "lines", gale_custom(&custom_ops, &users[0], free_user));
    assert_int_equal(users[0], 0);
    gale_grouping other = gale_custom(&custom_ops, &users[1], free_user);
    assert_int_equal(gale_topology_subscribe(topology, "count", "lines", NULL, other), 1);
    assert_int_equal(users[0], 1);
    assert_ptr_equal(gx_topology_find(topology, "count")->inputs[0].custom.choose, choose);
    assert_null(gx_topology_find(topology, "count")->inputs[0].custom.prepare);
    other.user = &users[2];
    assert_int_equal(gale_topology_subscribe(topology, "cuont", "lines", NULL, other), GALE_TOPOLOGY);
    assert_int_equal(users[2], 1);
    other.user = &users[3];
    assert_int_equal(gale_topology_subscribe(topology, "count", "lines", NULL, other), GALE_TOPOLOGY);
    assert_int_equal(users[3], 1);
    gale_topology_free(topology);
    topology = NULL;
    assert_int_equal(users[0], 1);
    assert_int_equal(users[1], 1);
}

static void in_an_open_topology_a_bolt_may_come_behind_its_subscriptions(void **state) {
    (void)state;
    int users[3] = { 0 };
    topology->open = true;
    for (int i = 0; i < 3; i++) {
        gale_grouping grouping = gale_custom(&custom_ops, &users[i], free_user);
        const char *bolt = i == 2 ? "nobody" : "count", *stream = i == 1 ? "errors" : NULL;
        assert_int_equal(gale_topology_subscribe(topology, bolt, "lines", stream, grouping), 0);
    }
    assert_int_equal(gx_topology_note_gap(topology, "nobody", "t.yaml:3:4"), 0);
    gale_spout spout = lines_spout();
    spout.outputs = two_streams;
    spout.output_count = 2;
    assert_int_equal(gale_topology_add_spout(topology, "lines", spout, 1), 0);
    assert_int_equal(gale_topology_add_bolt(topology, "count", work_bolt(), 1), 0);
    const gx_component *count = gx_topology_find(topology, "count");
    assert_int_equal(count->input_count, 2);
    assert_string_equal(count->inputs[1].stream, "errors");
    check_says("t.yaml:3:4: a stream of 'lines' leads to bolt 'nobody', which does not exist");
    gale_topology_free(topology);
    topology = NULL;
    for (int i = 0; i < 3; i++) assert_int_equal(users[i], 1);
}

static void a_custom_grouping_needs_its_function(void **state) {
    (void)state;
    int user = 0;
    gale_custom_ops empty = { .size = sizeof empty, .name = "mine" }, none = { .size = 8, .choose = choose };
    const gale_custom_ops *tables[] = { NULL, &empty, &none };
    for (int i = 0; i < 3; i++) {
        gale_topology_free(topology);
        assert_int_equal(fresh(state), 0);
        add_spout("lines");
        assert_int_equal(gale_topology_add_bolt(topology, "count", work_bolt(), 2), 0);
        gale_grouping grouping = gale_custom(tables[i], &user, free_user);
        sticks(gale_topology_subscribe(topology, "count", "lines", NULL, grouping),
               "custom grouping has no function 'choose'\nin a subscription of bolt 'count' to 'lines'");
        assert_int_equal(user, i + 1);
    }
}

static void a_grouping_of_an_older_program_is_as_long_as_it_says(void **state) {
    (void)state;
    int user = 0;
    gale_grouping grouping = gale_custom(&custom_ops, &user, free_user);
    grouping.kind = GALE_GROUPING_SHUFFLE;
    grouping.size = offsetof(gale_grouping, custom);
    add_spout("lines");
    add_bolt("count", "lines", grouping);
    assert_null(gx_topology_find(topology, "count")->inputs[0].free_user);
    grouping.size = offsetof(gale_grouping, fields);
    sticks(gale_topology_subscribe(topology, "count", "lines", NULL, grouping),
           "the grouping is not valid\nin a subscription of bolt 'count' to 'lines'");
}

static void partial_key_names_fields_that_exist_or_none(void **state) {
    (void)state;
    static const gale_output nothing[] = { { NULL, "" } };
    gale_spout mute = lines_spout();
    mute.outputs = nothing;
    add_spout("lines");
    assert_int_equal(gale_topology_add_spout(topology, "mute", mute, 1), 0);
    add_bolt("count", "lines", gale_partial_key(NULL));
    assert_int_equal(gale_topology_check(topology, NULL), 0);
    assert_int_equal(gale_topology_subscribe(topology, "count", "lines", NULL, gale_partial_key("wrd")), 1);
    check_says("partial_key grouping of bolt 'count' on 'lines' names field 'wrd', which stream 'default' does not "
               "declare; did you mean 'word'?");
    assert_int_equal(gale_topology_subscribe(topology, "count", "lines", NULL, gale_partial_key("word")), 1);
    assert_int_equal(gale_topology_check(topology, NULL), 0);
    assert_int_equal(gale_topology_subscribe(topology, "count", "mute", NULL, gale_partial_key(NULL)), 0);
    check_says("partial_key grouping of bolt 'count' on 'mute' needs a field, and stream 'default' has none");
}

static void only_a_bolt_that_exists_subscribes(void **state) {
    (void)state;
    add_spout("lines");
    add_bolt("count", "lines", gale_shuffle());
    sticks(gale_topology_subscribe(topology, "cuont", "lines", NULL, gale_all()),
           "bolt 'cuont' does not exist; did you mean 'count'?");
    gale_topology_free(topology);
    topology = gale_topology_new("t");
    add_spout("lines");
    sticks(gale_topology_subscribe(topology, "lines", "lines", NULL, gale_all()),
           "spout 'lines' cannot subscribe to anything");
}

static void a_grouping_must_be_valid(void **state) {
    (void)state;
    add_spout("lines");
    add_bolt("count", "lines", gale_shuffle());
    sticks(gale_topology_subscribe(topology, "count", "lines", NULL, gale_fields("")),
           "fields grouping names no field\nin a subscription of bolt 'count' to 'lines'");
    gale_topology_free(topology);
    topology = gale_topology_new("t");
    add_spout("lines");
    add_bolt("count", "lines", gale_shuffle());
    sticks(gale_topology_subscribe(topology, "count", "lines", NULL, gale_grouping_of(99, NULL)),
           "the grouping is not valid\nin a subscription of bolt 'count' to 'lines'");
}

static void a_setting_must_be_valid(void **state) {
    (void)state;
    gale_error e = GALE_ERROR_INIT;
    gale_setting settings[] = { { "topology.task", gale_i64(1) } };
    gale_bolt bolt = work_bolt();
    bolt.settings = settings;
    bolt.setting_count = 1;
    assert_int_equal(gale_topology_add_bolt(topology, "x", bolt, 1), GALE_CONFIG);
    assert_int_equal(gale_topology_check(topology, &e), GALE_CONFIG);
    assert_string_equal(e.text, "unknown key 'topology.task'; did you mean 'topology.tasks'?\nin bolt 'x'");
    gale_topology_free(topology);
    topology = gale_topology_new("t");
    add_spout("lines");
    sticks(gale_topology_set(topology, "line", "k", gale_i64(1)),
           "key 'k' is set for component 'line', which does not exist; did you mean 'lines'?");
}

static void user_is_freed_once_whether_added_or_not(void **state) {
    (void)state;
    int freed[3] = { 0, 0, 0 };
    gale_spout spout = lines_spout();
    gale_bolt bolt = work_bolt();
    spout.user = &freed[0];
    spout.free_user = free_user;
    assert_int_equal(gale_topology_add_spout(topology, "lines", spout, 1), 0);
    assert_int_equal(frees, 0);
    bolt.user = &freed[1];
    bolt.free_user = free_user;
    assert_int_equal(gale_topology_add_bolt(topology, "lines", bolt, 1), GALE_TOPOLOGY);
    assert_int_equal(freed[1], 1);
    bolt.user = &freed[2];
    assert_int_equal(gale_topology_add_bolt(topology, "other", bolt, 1), GALE_TOPOLOGY); /* the error stuck */
    assert_int_equal(freed[2], 1);
    gale_topology_free(topology);
    topology = NULL;
    assert_int_equal(freed[0], 1);
    assert_int_equal(frees, 3);
}

/* Everything that allocates. Returns the first error. */
static int build(int *users) {
    gale_setting settings[] = { { "topology.tasks", gale_i64(2) } };
    gale_spout spout = lines_spout();
    gale_bolt bolt = work_bolt();
    spout.outputs = bolt.outputs = two_streams;
    spout.output_count = bolt.output_count = 2;
    spout.user = &users[0];
    bolt.user = &users[1];
    spout.free_user = bolt.free_user = free_user;
    bolt.settings = settings;
    bolt.setting_count = 1;
    (void)gale_topology_add_spout(topology, "lines", spout, 1);
    (void)gale_topology_add_bolt(topology, "count", bolt, 1);
    (void)gale_topology_subscribe(topology, "count", "lines", NULL, gale_shuffle());
    (void)gale_topology_subscribe(topology, "count", "lines", NULL, gale_fields("word, count"));
    (void)gale_topology_subscribe(topology, "count", "lines", "errors", gale_custom(&custom_ops, &users[2], free_user));
    (void)gale_topology_set(topology, NULL, "a", gale_i64(1));
    return gale_topology_check(topology, NULL);
}

static void without_memory_building_fails_and_frees_all(void **state) {
    (void)state;
    gale_topology_free(topology);
    bool finished = false;
    long n = 1;
    for (; !finished; n++) {
        int users[3] = { 0 };
        fail_call(n);
        topology = gale_topology_new("t");
        int code = topology ? build(users) : GALE_NO_MEMORY;
        finished = !has_failed;
        fail_call(0);
        assert_int_equal(code, finished ? 0 : GALE_NO_MEMORY);
        bool made = topology != NULL;
        gale_topology_free(topology);
        topology = NULL;
        assert_int_equal(users[0], made);
        assert_int_equal(users[1], made);
        assert_int_equal(users[2], made);
    }
    assert_true(n > 30);
}

static void a_bolt_asks_for_the_places_of_its_fields(void **state) {
    (void)state;
    static const char *const names[] = { "word", "count" };
    static const gx_schema_stream stream = { "default", names, 2 };
    static const gx_input input = { "split", &stream };
    const struct gale_inputs inputs = { &input, 1 };
    gale_context context = { .size = sizeof context, .inputs = &inputs };
    assert_int_equal(gale_context_field(&context, "split", NULL, "count"), 1);
    assert_int_equal(gale_context_field(&context, "split", "default", "word"), 0);
    assert_int_equal(gale_context_field(&context, "split", NULL, "wrod"), -1);
    assert_int_equal(gale_context_field(&context, "split", "errors", "word"), -1);
    assert_int_equal(gale_context_field(&context, "lines", NULL, "word"), -1);
    assert_int_equal(gale_context_field(&context, NULL, NULL, "word"), -1);
    context.inputs = NULL;
    assert_int_equal(gale_context_field(&context, "split", NULL, "word"), -1);
}

static void every_reason_has_a_name(void **state) {
    (void)state;
    assert_string_equal(gale_reason_name(GALE_REASON_FAILED), "failed");
    assert_string_equal(gale_reason_name(GALE_REASON_TIMEOUT), "timeout");
    assert_string_equal(gale_reason_name(GALE_REASON_CHILD_EXITED), "child exited");
    assert_string_equal(gale_reason_name(GALE_REASON_SOURCE_LOST), "source lost");
    assert_string_equal(gale_reason_name(GALE_REASON_COUNT), "unknown");
    assert_string_equal(gale_reason_name(-1), "unknown");
    assert_string_equal(gale_reason_name(GALE_REASON_USER + 5), "user");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, done)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_sound_topology_is_kept_as_it_was_given),
        CASE(a_source_may_be_added_after_its_subscriber_and_a_cycle_is_legal),
        CASE(subscribing_again_replaces_the_grouping),
        CASE(tasks_are_counted_as_storm_does),
        CASE(a_key_without_effect_returns_one),
        CASE(a_bad_name_of_a_topology_is_its_first_error),
        CASE(a_topology_without_a_spout_is_refused),
        CASE(a_bolt_without_input_is_refused),
        CASE(a_bolt_may_have_ticks_for_its_only_input),
        CASE(the_system_has_one_stream_of_one_field),
        CASE(an_unknown_source_is_refused_with_the_nearest_one),
        CASE(an_unknown_stream_is_refused_with_those_there_are),
        CASE(an_unknown_field_is_refused_with_the_nearest_one),
        CASE(a_name_is_taken_once_by_spouts_and_bolts_together),
        CASE(names_of_components_are_checked),
        CASE(parallelism_is_at_least_one),
        CASE(too_many_tasks_are_refused),
        CASE(a_stream_is_declared_once),
        CASE(a_field_is_declared_once),
        CASE(a_definition_that_is_not_filled_in_is_refused),
        CASE(a_spout_without_next_and_a_bolt_without_execute_are_refused),
        CASE(what_would_be_saved_and_never_given_back_is_refused),
        CASE(a_longer_table_of_a_later_version_is_taken_unless_it_offers_more),
        CASE(only_a_bolt_that_exists_subscribes),
        CASE(the_user_of_a_custom_grouping_is_freed_once),
        CASE(in_an_open_topology_a_bolt_may_come_behind_its_subscriptions),
        CASE(a_custom_grouping_needs_its_function),
        CASE(a_grouping_of_an_older_program_is_as_long_as_it_says),
        CASE(partial_key_names_fields_that_exist_or_none),
        CASE(a_grouping_must_be_valid),
        CASE(a_setting_must_be_valid),
        CASE(user_is_freed_once_whether_added_or_not),
        CASE(without_memory_building_fails_and_frees_all),
        CASE(a_bolt_asks_for_the_places_of_its_fields),
        CASE(every_reason_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
