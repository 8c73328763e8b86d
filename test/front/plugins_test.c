/* Descriptions of plugins, taken and refused. Files that are loaded: test/plugins. */
#include "front/plugins.h"

#include "base/str.h"
#include "front/arguments.h"
#include "front/builtin.h"
#include "front/plugin_rows.h"
#include "topology/faults.h"

#include "harness/cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- A plugin ----------------------------------------------------------------------------------------------------- */

static int freed;

static void free_it(void *user) {
    freed++;
    free(user);
}

static int execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)tuple, (void)out;
    return 0;
}

static int next(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)out, (void)wait;
    return GALE_NEXT_DONE;
}

static const gale_args_ops *seen_ops;

static int make_bolt(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_bolt_ops ops = { .size = sizeof ops, .name = "weigh", .execute = execute };
    (void)user, (void)error;
    seen_ops = args->ops;
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt, .ops = &ops, .user = malloc(1), .free_user = free_it };
    return 0;
}

static int make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "scale", .next = next };
    (void)args, (void)error;
    *ret_spout = (gale_spout){ .size = sizeof *ret_spout, .ops = &ops, .user = user };
    return 0;
}

static const gale_param good_params[] = {
    GALE_PARAM_MORE("limit", GALE_PARAM_WHOLE, "10", "the most", GALE_PARAM_ABOVE, 0, 100, NULL, "kg", "20"),
    GALE_PARAM_MORE("mode", GALE_PARAM_WORD, "fast", "how", 0, 0, 0, "fast slow", NULL, NULL),
    GALE_PARAM_MORE("by", GALE_PARAM_FIELDS, "", "the key", GALE_PARAM_KEY | GALE_PARAM_INPUT, 0, 0, NULL, NULL, NULL),
    GALE_PARAM("pause", GALE_PARAM_SECONDS, "1.5", "how long"),
    GALE_PARAM("size", GALE_PARAM_BYTES, "100", "how much"),
    GALE_PARAM("share", GALE_PARAM_NUMBER, "1", "which part"),
    GALE_PARAM("deep", GALE_PARAM_BOOL, "true", "is it deep"),
    GALE_PARAM("path", GALE_PARAM_TEXT, NULL, "the file"),
    GALE_PARAM("words", GALE_PARAM_LIST, "", "some"),
    GALE_PARAM("rules", GALE_PARAM_MAP, "", "some"),
};

typedef struct described {
    gale_param params[10];
    gale_class classes[2];
    gale_plugin plugin;
} described;

static void describe(described *d) {
    const gale_plugin plugin = GALE_PLUGIN_INIT("acme", "1.2", "acme.", "MIT", "weighs", d->classes);
    const gale_class classes[2] = {
        GALE_BOLT_CLASS("acme.bolt.Weigh", "weighs", d->params, "weight", make_bolt),
        GALE_SPOUT_CLASS("acme.spout.Scale", "is a scale", d->params, NULL, make_spout),
    };
    memcpy(d->params, good_params, sizeof good_params);
    memcpy(d->classes, classes, sizeof classes);
    d->classes[0].aliases = "com.acme.Weigh  com.acme.Weighing";
    d->classes[0].keys = "acme.scale";
    d->classes[0].flags = GALE_CLASS_REMEMBERS;
    d->plugin = plugin;
}

static int library; /* its address is what a plugin was loaded as */

static gx_plugins *with(const described *d) {
    gx_plugins *plugins = gx_plugins_new(gx_registry_builtin());
    gale_error error = GALE_ERROR_INIT;
    assert_non_null(plugins);
    if (gx_plugins_add(plugins, &d->plugin, "p.so", &library, &error) < 0) fail_msg("%s", error.text);
    return plugins;
}

static void refused(const described *d, int code, const char *sentence) {
    gx_plugins *plugins = gx_plugins_new(gx_registry_builtin());
    gale_error error = GALE_ERROR_INIT;
    size_t tables = gx_plugins_registry(plugins)->table_count;
    int rc = gx_plugins_add(plugins, &d->plugin, "p.so", &library, &error);
    assert_string_equal(error.text, sentence);
    assert_int_equal(rc, code);
    assert_null(gx_plugins_at(plugins, 0));
    assert_int_equal(gx_plugins_registry(plugins)->table_count, tables);
    assert_int_equal(gx_plugins_add(plugins, &d->plugin, "p.so", &library, NULL), code);
    gx_plugins_free(plugins);
}

/* --- Taken -------------------------------------------------------------------------------------------------------- */

static void its_classes_are_rows_like_gales_own(void **state) {
    (void)state;
    described d;
    describe(&d);
    gx_plugins *plugins = with(&d);
    const gx_registry *all = gx_plugins_registry(plugins);
    const gx_class *weigh = gx_registry_find(all, gx_str("com.acme.Weighing"));
    assert_non_null(weigh);
    assert_ptr_equal(weigh, gx_registry_find(all, gx_str("com.acme.Weigh")));
    assert_string_equal(weigh->name, "acme.bolt.Weigh");
    assert_int_equal(weigh->kind, GX_CLASS_BOLT);
    assert_true(weigh->remembers);
    assert_true(gx_class_reads_key(weigh, "acme.scale"));
    assert_string_equal(weigh->outputs, "weight");
    assert_string_equal(gx_class_param_with(weigh, GX_PARAM_KEY)->name, "by");
    assert_int_equal(weigh->params[0].roles, GX_PARAM_ABOVE);
    assert_int_equal(gx_registry_find(all, gx_str("acme.spout.Scale"))->kind, GX_CLASS_SPOUT);
    assert_non_null(gx_registry_find(all, gx_str("gale.bolt.Split")));
    assert_null(gx_registry_find(gx_registry_builtin(), gx_str("acme.bolt.Weigh")));
    const gx_plugin *plugin = gx_plugins_at(plugins, 0);
    assert_string_equal(plugin->name, "acme");
    assert_string_equal(plugin->path, "p.so");
    assert_null(gx_plugins_at(plugins, 1));
    gx_plugins_free(plugins);
}

static void what_it_described_may_change_when_it_was_taken(void **state) {
    (void)state;
    described d;
    describe(&d);
    gx_plugins *plugins = with(&d);
    memset(&d, 0, sizeof d);
    const gx_class *weigh = gx_registry_find(gx_plugins_registry(plugins), gx_str("acme.bolt.Weigh"));
    assert_string_equal(weigh->params[9].name, "rules");
    gx_plugins_free(plugins);
}

static void a_component_outlives_the_set_that_it_was_made_with(void **state) {
    (void)state;
    described d;
    gale_bolt bolt;
    gale_spout spout;
    gale_error error = GALE_ERROR_INIT;
    describe(&d);
    gx_plugins *plugins = with(&d);
    gx_args bolts = gx_args_of(gx_registry_find(gx_plugins_registry(plugins), gx_str("acme.bolt.Weigh")));
    gx_args spouts = gx_args_of(gx_registry_find(gx_plugins_registry(plugins), gx_str("acme.spout.Scale")));
    assert_int_equal(bolts.class_->make_bolt(&bolts, &bolt, &error), 0);
    assert_int_equal(spouts.class_->make_spout(&spouts, &spout, &error), 0);
    gx_plugins_free(plugins);
    void *self = NULL;
    assert_int_equal(bolt.ops->prepare(bolt.user, NULL, NULL, &self), 0);
    assert_ptr_not_equal(self, bolt.user); /* the plugin's own functions are given the plugin's own */
    assert_int_equal(bolt.ops->execute(self, NULL, NULL), 0);
    freed = 0;
    bolt.free_user(bolt.user);
    assert_int_equal(freed, 1);
    spout.free_user(spout.user);
}

/* What a make function asks: an input's structure may be shorter, or longer, than it is here. */
static int look_at_inputs(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    struct {
        gale_input input;
        char behind[8];
    } longer = { { sizeof longer, NULL, NULL, NULL }, "behind" };
    gale_input whole = GALE_INPUT_INIT, shorter = { offsetof(gale_input, fields), NULL, NULL, "untouched" },
               sizeless = { 0 };
    assert_int_equal(gale_args_input_count(args), 1);
    assert_true(gale_args_input(args, 0, &whole));
    assert_string_equal(whole.fields, "word, count");
    assert_int_equal(whole.size, sizeof whole);
    assert_true(gale_args_input(args, 0, &shorter));
    assert_string_equal(shorter.stream, "default");
    assert_string_equal(shorter.fields, "untouched");
    assert_true(gale_args_input(args, 0, &longer.input));
    assert_string_equal(longer.input.source, "split");
    assert_string_equal(longer.behind, "behind");
    assert_false(gale_args_input(args, 0, &sizeless));
    assert_false(gale_args_input(args, 1, &whole));
    assert_false(gale_args_input(args, 0, NULL));
    assert_int_equal(gale_args_whole(args, "limit"), 10);
    assert_string_equal(gale_args_text(args, "mode"), "fast");
    assert_true(gale_args_number(args, "pause") > 1.4 && gale_args_number(args, "share") > 0.9);
    assert_true(gale_args_flag(args, "deep"));
    assert_null(gale_args_text(args, "path"));
    assert_false(gale_args_given(args, "limit"));
    assert_int_equal(gale_args_value(args, "rules").type, GALE_TYPE_NULL);
    assert_int_equal(gale_args_whole(args, "mode"), 0); /* of another type: nothing */
    return make_bolt(user, args, ret_bolt, error);
}

static void a_make_function_is_told_all_that_it_may_ask(void **state) {
    (void)state;
    described d;
    gale_bolt bolt;
    gale_error error = GALE_ERROR_INIT;
    const gx_input input = { .source = "split", .stream = "default", .fields = "word, count" };
    describe(&d);
    d.classes[0].make_bolt = look_at_inputs;
    gx_plugins *plugins = with(&d);
    gx_args args = gx_args_of(gx_registry_find(gx_plugins_registry(plugins), gx_str("acme.bolt.Weigh")));
    args.inputs = &input;
    args.input_count = 1;
    if (args.class_->make_bolt(&args, &bolt, &error) < 0) fail_msg("%s", error.text);
    bolt.free_user(bolt.user);
    gx_plugins_free(plugins);
}

static void without_arguments_there_is_nothing(void **state) {
    (void)state;
    const gale_args none = { NULL };
    gale_input input = GALE_INPUT_INIT;
    assert_null(gale_args_text(NULL, "x"));
    assert_int_equal(gale_args_whole(&none, "x"), 0);
    assert_false(gale_args_given(&none, "x"));
    assert_int_equal(gale_args_input_count(NULL), 0);
    assert_false(gale_args_input(&none, 0, &input));
}

static void a_parameter_that_a_class_does_not_have_is_its_mistake_and_frees_what_was_made(void **state) {
    (void)state;
    described d;
    gale_bolt bolt;
    gale_error error = GALE_ERROR_INIT;
    describe(&d);
    d.classes[0].make_bolt = look_at_inputs;
    d.classes[0].param_count = 9; /* without rules */
    gx_plugins *plugins = with(&d);
    const gx_input input = { .source = "split", .stream = "default", .fields = "word, count" };
    gx_args args = gx_args_of(gx_registry_find(gx_plugins_registry(plugins), gx_str("acme.bolt.Weigh")));
    args.inputs = &input;
    args.input_count = 1;
    freed = 0;
    assert_int_equal(args.class_->make_bolt(&args, &bolt, &error), GALE_COMPONENT);
    assert_string_equal(error.text, "acme.bolt.Weigh asks for a parameter 'rules' that it does not have");
    assert_int_equal(freed, 1);
    gx_plugins_free(plugins);
}

/* --- Refused ------------------------------------------------------------------------------------------------------ */

static void what_it_says_of_itself_is_looked_at(void **state) {
    (void)state;
    described d;
#define REFUSED(change, code, sentence) (describe(&d), (change), refused(&d, (code), (sentence)))
    REFUSED(d.plugin.size = SIZE_MAX, GALE_INVALID,
            "'p.so' says that its description has 18446744073709551615 bytes: set `size`, and build it again");
    REFUSED(d.plugin.size = sizeof d.plugin - 8, GALE_INVALID,
            "'p.so' says that its description has 72 bytes: set `size`, and build it again");
    REFUSED(d.plugin.needs = 7, GALE_UNSUPPORTED,
            "'p.so' needs a gale with plugin ABI 7, and gale 0.1.0 has 1: update gale, or build it with the headers of "
            "this one");
    REFUSED(d.plugin.name = NULL, GALE_INVALID, "'p.so' has no name of small letters, digits, '-' and '_'");
    REFUSED(d.plugin.version = "", GALE_INVALID, "'p.so' does not say its version");
    REFUSED(d.plugin.version = "1\n2", GALE_INVALID, "'p.so' does not say its version");
    REFUSED(d.plugin.license = "\xff", GALE_INVALID, "'p.so' does not say its licence");
    REFUSED(d.plugin.text = NULL, GALE_INVALID, "'p.so' says nothing of itself (text)");
    static const char *const prefixes[] = { NULL, "", ".", "acme", ".acme.", "ac me." };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        REFUSED(d.plugin.prefix = prefixes[i], GALE_INVALID,
                "'p.so' has no prefix for the names of its classes, such as \"acme.\"");
    REFUSED(d.plugin.prefix = "gale.acme.", GALE_INVALID,
            "'p.so' has the prefix 'gale.acme.', which is gale's or Storm's own: take another");
    REFUSED(d.plugin.prefix = "org.apache.storm.starter.", GALE_INVALID,
            "'p.so' has the prefix 'org.apache.storm.starter.', which is gale's or Storm's own: take another");
    REFUSED(d.plugin.prefix = "org.", GALE_INVALID,
            "'p.so' has the prefix 'org.', which is gale's or Storm's own: take another");
    REFUSED(d.plugin.classes = NULL, GALE_INVALID, "'p.so' has no classes, or they are no table (GALE_TABLE)");
    REFUSED(d.plugin.class_size = 8, GALE_INVALID, "'p.so' has no classes, or they are no table (GALE_TABLE)");
    REFUSED(d.plugin.class_size++, GALE_INVALID, "'p.so' has no classes, or they are no table (GALE_TABLE)");
    REFUSED(d.plugin.class_count = 257, GALE_TOO_LARGE, "'p.so' has more than 256 classes");
}

static void its_classes_are_looked_at(void **state) {
    (void)state;
    described d;
    REFUSED(d.classes[1].name = NULL, GALE_INVALID, "'p.so' has a class without a name");
    REFUSED(d.classes[1].name = "acme.", GALE_INVALID,
            "'p.so' has a class 'acme.', which does not begin with its prefix 'acme.': rename it");
    REFUSED(d.classes[1].text = "", GALE_INVALID, "'p.so' says nothing of its class acme.spout.Scale");
    REFUSED(d.classes[1].kind = 2, GALE_UNSUPPORTED,
            "'p.so' has a class acme.spout.Scale of a kind that gale 0.1.0 does not know");
    REFUSED(d.classes[1].flags = 2, GALE_UNSUPPORTED,
            "'p.so' has a class acme.spout.Scale of a kind that gale 0.1.0 does not know");
    REFUSED(d.classes[1].make_spout = NULL, GALE_INVALID,
            "'p.so' has a class acme.spout.Scale that is a spout, and needs make_spout and nothing else to make it");
    REFUSED(d.classes[1].make_bolt = make_bolt, GALE_INVALID,
            "'p.so' has a class acme.spout.Scale that is a spout, and needs make_spout and nothing else to make it");
    REFUSED(d.classes[1].keys = "\x7f", GALE_INVALID, "'p.so' has a class acme.spout.Scale with text that is none");
    REFUSED(d.classes[0].aliases = "a b c d e f g h i j k l m", GALE_TOO_LARGE,
            "'p.so' has a class acme.bolt.Weigh with more than 12 other names");
    REFUSED(d.classes[1].aliases = "com.acme.Weigh", GALE_EXISTS,
            "'p.so' is not whole: there is a class 'com.acme.Weigh' already");
    REFUSED(d.classes[1].params = NULL, GALE_INVALID,
            "'p.so' has a class acme.spout.Scale whose parameters are no table (GALE_TABLE)");
    REFUSED(d.classes[1].param_size = 8, GALE_INVALID,
            "'p.so' has a class acme.spout.Scale whose parameters are no table (GALE_TABLE)");
    REFUSED(d.classes[1].param_count = SIZE_MAX, GALE_TOO_LARGE,
            "'p.so' has a class acme.spout.Scale with more than 64 parameters");
}

static void their_parameters_are_looked_at(void **state) {
    (void)state;
    described d;
#define OF " of acme.bolt.Weigh"
    REFUSED(d.params[0].name = "a b", GALE_INVALID, "'p.so' has a parameter" OF " without a name");
    REFUSED(d.params[0].text = NULL, GALE_INVALID, "'p.so' says nothing of the parameter 'limit'" OF);
    REFUSED(d.params[0].type = -1, GALE_UNSUPPORTED,
            "'p.so' has a parameter 'limit'" OF " of a type or a role that gale 0.1.0 does not know");
    REFUSED(d.params[0].roles = 1u << 31, GALE_UNSUPPORTED,
            "'p.so' has a parameter 'limit'" OF " of a type or a role that gale 0.1.0 does not know");
    REFUSED(d.params[0].words = "a b", GALE_INVALID,
            "'p.so' has a parameter 'limit'" OF " whose type and words do not fit");
    REFUSED(d.params[1].words = "", GALE_INVALID,
            "'p.so' has a parameter 'mode'" OF " whose type and words do not fit");
    REFUSED(d.params[0].also = "", GALE_INVALID, "'p.so' has a parameter 'limit'" OF " with text that is none");
    REFUSED(d.params[0].unit = "\n", GALE_INVALID, "'p.so' has a parameter 'limit'" OF " with text that is none");
    REFUSED(d.params[0].fallback = "0", GALE_INVALID,
            "'p.so' has a parameter 'limit'" OF " whose default '0' is not a whole number");
    REFUSED(d.params[0].fallback = "1.5", GALE_INVALID,
            "'p.so' has a parameter 'limit'" OF " whose default '1.5' is not a whole number");
    REFUSED(d.params[1].fallback = "quick", GALE_INVALID,
            "'p.so' has a parameter 'mode'" OF " whose default 'quick' is not among its words");
    REFUSED(d.params[6].fallback = "maybe", GALE_INVALID,
            "'p.so' has a parameter 'deep'" OF " whose default 'maybe' is not true or false");
    REFUSED(d.params[8].fallback = "a", GALE_INVALID,
            "'p.so' has a parameter 'words'" OF " whose default 'a' is not a list of strings");
}

static void two_plugins_do_not_take_each_others_names(void **state) {
    (void)state;
    described d;
    gale_error error = GALE_ERROR_INIT;
    describe(&d);
    gx_plugins *plugins = with(&d);
    assert_int_equal(gx_plugins_add(plugins, &d.plugin, "q.so", &error, &error), GALE_EXISTS);
    assert_string_equal(error.text, "'q.so' is the plugin 'acme', and so is 'p.so': load one of them");
    d.plugin.name = "other";
    assert_int_equal(gx_plugins_add(plugins, &d.plugin, "q.so", &error, &error), GALE_EXISTS);
    assert_string_equal(error.text,
                        "'q.so' has a class 'acme.bolt.Weigh', which the plugin 'acme' ('p.so') has already: load "
                        "one of them");
    assert_null(gx_plugins_at(plugins, 1));
    gx_plugins_free(plugins);
}

static void there_is_an_end_to_the_number_of_plugins(void **state) {
    (void)state;
    described d;
    gale_error error = GALE_ERROR_INIT;
    gx_plugins *plugins = gx_plugins_new(gx_registry_builtin());
    char names[GX_TABLES_MAX][2][24];
    size_t count = 0;
    int rc = 0;
    for (; rc == 0 && count < GX_TABLES_MAX; count++) {
        describe(&d);
        snprintf(names[count][0], sizeof names[count][0], "acme%zu", count);
        snprintf(names[count][1], sizeof names[count][1], "acme.bolt.Weigh%zu", count);
        d.plugin.name = names[count][0];
        d.classes[0].name = names[count][1];
        d.classes[0].aliases = NULL;
        d.plugin.class_count = 1;
        rc = gx_plugins_add(plugins, &d.plugin, "p.so", &library, &error);
    }
    size_t room = GX_TABLES_MAX - gx_registry_builtin()->table_count;
    char sentence[100];
    snprintf(sentence, sizeof sentence, "'p.so' is one plugin too many: %zu are loaded", room);
    assert_int_equal(rc, GALE_TOO_LARGE);
    assert_string_equal(error.text, sentence);
    gx_plugins_free(plugins);
}

/* --- Without memory ----------------------------------------------------------------------------------------------- */

static void without_memory_nothing_is_added_and_nothing_lost(void **state) {
    (void)state;
    described d;
    describe(&d);
    gx_plugins *plugins = gx_plugins_new(gx_registry_builtin());
    long n = 0;
    do {
        gale_error error = GALE_ERROR_INIT;
        fail_call(++n);
        int rc = gx_plugins_add(plugins, &d.plugin, "p.so", &library, &error);
        fail_call(0);
        if (rc == 0) break;
        assert_int_equal(rc, GALE_NO_MEMORY);
        assert_string_equal(error.text, "'p.so' cannot be loaded: out of memory");
        assert_null(gx_plugins_at(plugins, 0));
    } while (n < 100);
    assert_in_range(n, 4, 20);
    gx_args args = gx_args_of(gx_registry_find(gx_plugins_registry(plugins), gx_str("acme.bolt.Weigh")));
    gale_bolt bolt;
    freed = 0;
    fail_call(2); /* the first is the plugin's own */
    assert_int_equal(args.class_->make_bolt(&args, &bolt, NULL), GALE_NO_MEMORY);
    assert_int_equal(freed, 1);
    fail_call(0);
    gx_plugins_free(plugins);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_classes_are_rows_like_gales_own),
        cmocka_unit_test(what_it_described_may_change_when_it_was_taken),
        cmocka_unit_test(a_component_outlives_the_set_that_it_was_made_with),
        cmocka_unit_test(a_make_function_is_told_all_that_it_may_ask),
        cmocka_unit_test(without_arguments_there_is_nothing),
        cmocka_unit_test(a_parameter_that_a_class_does_not_have_is_its_mistake_and_frees_what_was_made),
        cmocka_unit_test(what_it_says_of_itself_is_looked_at),
        cmocka_unit_test(its_classes_are_looked_at),
        cmocka_unit_test(their_parameters_are_looked_at),
        cmocka_unit_test(two_plugins_do_not_take_each_others_names),
        cmocka_unit_test(there_is_an_end_to_the_number_of_plugins),
        cmocka_unit_test(without_memory_nothing_is_added_and_nothing_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
