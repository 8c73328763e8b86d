#include "front/builtin.h"

#include "base/str.h"
#include "front/arguments.h"
#include "front/table.h"
#include "front/units.h"
#include "harness/cm.h"

#include <gale/kit.h>
#include <stdio.h>
#include <string.h>

static const gx_param params[] = {
    GX_ROW(TEXT, "path", NULL, "the file to read"),
    GX_ROW(WHOLE, "maxAttempts", "3", "how often", GX_RANGE(1, 10)),
    GX_ROW(BOOL, "repeat", "false", "again"),
    GX_ROW(WORD, "mode", "", "how", .words = "fast slow"),
    GX_ROW(SECONDS, "pause", "1", "how long", .roles = GX_PARAM_ABOVE, GX_RANGE(0, 100)),
    GX_ROW(FIELDS, "key", "", "which fields", .also = "by"),
    GX_ROW(LIST, "tags", "", "any"),
    GX_ROW(MAP, "rules", "", "names and rules"),
    GX_ROW(NUMBER, "share", "0.5", "a part"),
    GX_ROW(ANY, "any", "", "whatever"),
};

static const gx_class class_ = {
    .name = "test.Class", .kind = GX_CLASS_SPOUT, GX_PARAMS(params), .factories = "make of"
};

typedef struct fixture {
    gx_yaml_doc *doc;
    gx_args args;
    gale_error error;
    int code;
} fixture;

static fixture fill_with(const char *text, const gx_refs *refs) {
    fixture f = { .error = GALE_ERROR_INIT };
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str(text), NULL, &f.doc, &f.error), 0);
    f.code = gx_arguments_read(&class_, refs, f.doc, gx_yaml_root(f.doc), NULL, 0, &f.args, &f.error);
    return f;
}

static fixture fill(const char *text) {
    static const gx_refs none = { NULL, 0 };
    return fill_with(text, &none);
}

static void expect_error(const char *text, int code, const char *message) {
    fixture f = fill(text);
    assert_int_equal(f.code, code);
    assert_string_equal(f.error.text, message);
    gx_yaml_free(f.doc);
}

/* --- Classes ------------------------------------------------------------------------------------------------------ */

static void every_class_is_found_by_each_of_its_names(void **state) {
    (void)state;
    const gx_registry *registry = gx_registry_builtin();
    const gx_class *c;
    for (size_t i = 0; (c = gx_registry_at(registry, i)); i++) {
        assert_ptr_equal(gx_registry_find(registry, gx_str(c->name)), c);
        for (size_t a = 0; a < GX_ALIASES_MAX && c->aliases[a]; a++)
            assert_ptr_equal(gx_registry_find(registry, gx_str(c->aliases[a])), c);
    }
}

/* What comes from outside is checked; so gale's own goes through the same. */
static void every_table_can_be_added_to_a_registry(void **state) {
    (void)state;
    gx_registry all = { .table_count = 0 };
    gale_error error = GALE_ERROR_INIT;
    for (size_t i = 0; i < gx_registry_builtin()->table_count; i++) {
        const gx_class_table *table = &gx_registry_builtin()->tables[i];
        if (gx_registry_add(&all, table->classes, table->count, &error) < 0) fail_msg("%s", error.text);
    }
    assert_int_equal(all.table_count, gx_registry_builtin()->table_count);
}

static int make_nothing(const gx_args *args, gale_bolt *ret, gale_error *error) {
    (void)args;
    return gale_null_bolt(ret, error);
}

static void expect_refused(const gx_class *refused, size_t count, const char *message) {
    gx_registry mine = *gx_registry_builtin();
    gale_error error = GALE_ERROR_INIT;
    size_t tables = mine.table_count;
    assert_true(gx_registry_add(&mine, refused, count, &error) < 0);
    assert_string_equal(error.text, message);
    assert_int_equal(mine.table_count, tables);
}

static void a_table_from_outside_is_used_like_gales_own(void **state) {
    (void)state;
    static const gx_class more[] = {
        { .name = "my.Bolt", .kind = GX_CLASS_BOLT, GX_PARAMS(params), .text = "does", .make_bolt = make_nothing },
    };
    gx_registry mine = *gx_registry_builtin();
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_registry_add(&mine, more, 1, &error), 0);
    assert_ptr_equal(gx_registry_find(&mine, gx_str("my.Bolt")), &more[0]);
    assert_null(gx_registry_find(gx_registry_builtin(), gx_str("my.Bolt")));
    assert_non_null(gx_registry_find(&mine, gx_str("gale.bolt.Split")));
}

static void a_table_that_is_not_whole_is_refused_and_nothing_of_it_added(void **state) {
    (void)state;
    static const gx_param twice[] = { GX_ROW(TEXT, "a", "", "one"), GX_ROW(TEXT, "a", "", "two") };
    static const gx_param wordless[] = { GX_ROW(WORD, "a", "", "one") };
    gx_class rows[] = {
        { .name = "my.A", .kind = GX_CLASS_BOLT, .text = "does", .make_bolt = make_nothing },
        { .name = "my.B", .kind = GX_CLASS_BOLT, .text = "does", .make_bolt = make_nothing },
    };
    rows[1].name = "my.A";
    expect_refused(rows, 2, "there is a class 'my.A' already");
    rows[1].name = "gale.bolt.Split";
    expect_refused(rows, 2, "there is a class 'gale.bolt.Split' already");
    rows[1] = (gx_class){ .name = "my.B", .kind = GX_CLASS_SPOUT, .text = "does", .make_bolt = make_nothing };
    expect_refused(rows, 2, "class 'my.B' is made otherwise than its kind says");
    rows[1] = (gx_class){ .name = "my.B", .kind = GX_CLASS_BOLT, .make_bolt = make_nothing };
    expect_refused(rows, 2, "class 'my.B' says nothing of itself");
    rows[1] = (gx_class){
        .name = "my.B", .kind = GX_CLASS_BOLT, .text = "does", .make_bolt = make_nothing, GX_PARAMS(twice)
    };
    expect_refused(rows, 2, "class 'my.B' has a parameter twice");
    rows[1] = (gx_class){
        .name = "my.B", .kind = GX_CLASS_BOLT, .text = "does", .make_bolt = make_nothing, GX_PARAMS(wordless)
    };
    expect_refused(rows, 2, "class 'my.B' has a parameter whose type and words do not fit");
    rows[1].param_count = GX_PARAMS_MAX + 1;
    expect_refused(rows, 2, "class 'my.B' has too many parameters");
}

/* Does a parameter say what its fields are, or do those that come in pass? */
static bool names_outputs(const gx_class *c) {
    for (size_t i = 0; i < c->param_count; i++)
        if ((c->params[i].roles & GX_PARAM_OUTPUT) || strcmp(c->params[i].name, "fields") == 0) return true;
    return false;
}

/* "word, count", as the class's default stream has it; or the one argument, where that says it. */
static void expect_outputs(const gx_class *c, const gale_output *outputs, size_t count) {
    char got[200] = "";
    size_t n = 0;
    for (const char *from = count ? outputs[0].fields : ""; *from; from++) {
        if (*from != ' ') got[n++] = *from;
        if (*from == ',') got[n++] = ' ';
    }
    assert_string_equal(got, c->outputs ? c->outputs : count && names_outputs(c) ? "-" : "");
}

/* Made with its defaults, and the one argument that some need. */
static void expect_made(const gx_args *args) {
    const gx_class *c = args->class_;
    gale_error error = GALE_ERROR_INIT;
    gale_spout spout = { .size = 0 };
    gale_bolt bolt = { .size = 0 };
    gale_value value;
    if (c->kind == GX_CLASS_SPOUT) assert_int_equal(c->make_spout(args, &spout, &error), 0);
    if (c->kind == GX_CLASS_BOLT && c->make_bolt(args, &bolt, &error) != 0) fail_msg("%s: %s", c->name, error.text);
    if (c->kind == GX_CLASS_SPOUT) expect_outputs(c, spout.outputs, spout.output_count);
    if (c->kind == GX_CLASS_BOLT) expect_outputs(c, bolt.outputs, bolt.output_count);
    if (c->make_value) c->make_value(args, &value, &error);
    if (spout.free_user) spout.free_user(spout.user);
    if (bolt.free_user) bolt.free_user(bolt.user);
}

/* Expressions need something to work on. */
static bool is_of_expressions(const gx_class *c) {
    for (size_t i = 0; i < gx_builtin_script.count; i++)
        if (c == &gx_builtin_script.classes[i]) return true;
    return false;
}

static void a_class_of_expressions_takes_the_fields_that_all_inputs_have(void **state) {
    (void)state;
    static const gx_refs none = { NULL, 0 };
    static const gx_input inputs[] = { { .source = "a", .stream = "default", .fields = "path, status, ms" },
                                       { .source = "b", .stream = "default", .fields = "ms, path" } };
    const gx_class *c = gx_registry_find(gx_registry_builtin(), gx_str("gale.bolt.Filter"));
    if (!c) skip(); /* this gale has no expressions */
    gx_yaml_doc *doc = NULL;
    gale_error error = GALE_ERROR_INIT;
    gx_args args;
    gale_bolt bolt;
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str("{constructorArgs: ['ms > 1']}"), NULL, &doc, &error), 0);
    assert_int_equal(gx_arguments_read(c, &none, doc, gx_yaml_root(doc), NULL, 0, &args, &error), 0);
    assert_int_equal(c->make_bolt(&args, &bolt, &error), GALE_FIELDS);
    args.inputs = inputs;
    args.input_count = 2;
    assert_int_equal(c->make_bolt(&args, &bolt, &error), 0);
    assert_string_equal(bolt.outputs[0].fields, "path, ms");
    bolt.free_user(bolt.user);
    gx_yaml_free(doc);
}

/* Of a class that needs two arguments: its own examples, and one field. NULL: it does not. */
static gx_yaml_doc *two_arguments(const gx_class *c) {
    gale_error error = GALE_ERROR_INIT;
    gx_yaml_doc *doc = NULL;
    char text[300];
    if (c->param_count < 2 || c->params[0].fallback || c->params[1].fallback) return NULL;
    snprintf(text, sizeof text, "{constructorArgs: ['%s', %s]}", c->params[0].example,
             c->params[1].roles & GX_PARAM_OUTPUT ? "'-'" : c->params[1].example);
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str(text), NULL, &doc, &error), 0);
    return doc;
}

/* Made with its defaults, and the arguments that some need. */
static void every_class_can_be_made(void **state) {
    (void)state;
    static const gx_refs none = { NULL, 0 };
    static const gx_input input = { .source = "a", .stream = "default", .fields = "-" };
    gx_yaml_doc *empty = NULL, *path = NULL, *address = NULL;
    gale_error error = GALE_ERROR_INIT;
    const gx_class *c;
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str("{}"), NULL, &empty, &error), 0);
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str("{constructorArgs: ['-']}"), NULL, &path, &error), 0);
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str("{constructorArgs: ['127.0.0.1:514']}"), NULL, &address, &error),
                     0);
    for (size_t i = 0; (c = gx_registry_at(gx_registry_builtin(), i)); i++) {
        gx_yaml_doc *doc = c->param_count && !c->params[0].fallback ? path : empty;
        gx_args args;
        if (is_of_expressions(c)) continue;
        if (c->param_count && (strcmp(c->params[0].name, "listen") == 0 || strcmp(c->params[0].name, "connect") == 0))
            doc = address;
        gx_yaml_doc *two = two_arguments(c);
        if (two) doc = two;
        assert_int_equal(gx_arguments_read(c, &none, doc, gx_yaml_root(doc), NULL, 0, &args, &error), 0);
        args.inputs = &input;
        args.input_count = 1;
        expect_made(&args);
        gx_yaml_free(two);
    }
    gx_yaml_free(empty);
    gx_yaml_free(path);
    gx_yaml_free(address);
}

/* The text that `gale help classes` shows as an example is one. */
static void every_example_is_taken(void **state) {
    (void)state;
    static const gx_refs none = { NULL, 0 };
    const gx_class *c;
    char text[300];
    for (size_t i = 0; (c = gx_registry_at(gx_registry_builtin(), i)); i++)
        for (size_t p = 0; p < c->param_count; p++) {
            if (!c->params[p].example) continue;
            gx_class alone = { .name = c->name, .params = &c->params[p], .param_count = 1 };
            gx_yaml_doc *doc = NULL;
            gx_args args;
            gale_error error = GALE_ERROR_INIT;
            snprintf(text, sizeof text, "properties: [{name: %s, value: %s}]", c->params[p].name, c->params[p].example);
            assert_int_equal(gx_yaml_parse("t.yaml", gx_str(text), NULL, &doc, &error), 0);
            if (gx_arguments_read(&alone, &none, doc, gx_yaml_root(doc), NULL, 0, &args, &error) < 0)
                fail_msg("%s: %s", c->name, error.text);
            assert_true(args.given[0]);
            gx_yaml_free(doc);
        }
}

/* What the builtin class `name` makes of an object: its values, or the error of making them or it. */
static int make_spout(const char *name, const char *text, gale_error *error) {
    static const gx_refs none = { NULL, 0 };
    const gx_class *c = gx_registry_find(gx_registry_builtin(), gx_str(name));
    gx_yaml_doc *doc = NULL;
    gx_args args;
    gale_spout spout = { .size = 0 };
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str(text), NULL, &doc, error), 0);
    int code = gx_arguments_read(c, &none, doc, gx_yaml_root(doc), NULL, 0, &args, error);
    if (code == 0) code = c->make_spout(&args, &spout, error);
    if (spout.free_user) spout.free_user(spout.user);
    gx_yaml_free(doc);
    return code;
}

static void a_file_spout_takes_a_state_and_its_interval(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    static const char *const right[] = {
        "properties: [{name: path, value: a}, {name: state, value: s}]",
        "properties: [{name: path, value: a}, {name: state, value: s}, {name: stateInterval, value: 0.25}]",
        "properties: [{name: path, value: a}, {name: state, value: s}, {name: stateInterval, value: 5}]",
    };
    for (int i = 0; i < 3; i++) assert_int_equal(make_spout("gale.spout.File", right[i], &error), 0);
    assert_int_equal(make_spout("gale.spout.File",
                                "properties: [{name: path, value: a}, {name: stateInterval, value: often}]", &error),
                     GALE_TYPE);
    assert_string_equal(error.text, "t.yaml:1:67: 'stateInterval' of gale.spout.File must be a number of seconds, or a "
                                    "duration such as 250ms, 10s or 1h30m, not a string (often)");
    assert_int_equal(make_spout("gale.spout.File",
                                "properties: [{name: path, value: '-'}, {name: repeat, value: true},"
                                " {name: state, value: s}]",
                                &error),
                     GALE_INVALID);
}

static void expect_class_error(const char *text, int32_t kind, int code, const char *message) {
    const gx_class *found = NULL;
    gx_yaml_doc *doc = NULL;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str(text), NULL, &doc, &error), 0);
    assert_int_equal(gx_registry_class(gx_registry_builtin(), doc, gx_yaml_root(doc), "a bolt", kind, &found, &error),
                     code);
    assert_string_equal(error.text, message);
    assert_null(found);
    gx_yaml_free(doc);
}

static void unknown_class_is_refused_with_the_nearest_one_of_its_kind(void **state) {
    (void)state;
    expect_class_error("className: gale.bolt.Splt", GX_CLASS_BOLT, GALE_NOT_FOUND,
                       "t.yaml:1:12: unknown class 'gale.bolt.Splt'; did you mean 'gale.bolt.Split'?");
    expect_class_error("className: com.example.LogInfoBolt", GX_CLASS_BOLT, GALE_NOT_FOUND,
                       "t.yaml:1:12: unknown class 'com.example.LogInfoBolt'; did you mean "
                       "'org.apache.storm.flux.wrappers.bolts.LogInfoBolt'?");
    expect_class_error("className: xyz", GX_CLASS_BOLT, GALE_NOT_FOUND,
                       "t.yaml:1:12: unknown class 'xyz'; `gale help classes` lists them");
    expect_class_error("className: gale.spout.File", GX_CLASS_BOLT, GALE_TYPE,
                       "t.yaml:1:12: gale.spout.File is a spout, not a bolt");
    expect_class_error("className: java.lang.String", GX_CLASS_BOLT, GALE_TYPE,
                       "t.yaml:1:12: java.lang.String is a component, not a bolt");
    expect_class_error("id: x", GX_CLASS_BOLT, GALE_TOPOLOGY, "t.yaml:1:1: a bolt needs the field 'className'");
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

static void arguments_fill_in_order_and_defaults_do_the_rest(void **state) {
    (void)state;
    fixture f = fill("constructorArgs: [a.txt, 5]");
    assert_int_equal(f.code, 0);
    assert_string_equal(f.args.values[0].as.string, "a.txt");
    assert_int_equal(f.args.values[1].as.i64, 5);
    assert_false(f.args.values[2].as.boolean);
    assert_int_equal(f.args.values[3].type, GALE_TYPE_NULL);
    gx_yaml_free(f.doc);
}

static void properties_and_methods_fill_by_name(void **state) {
    (void)state;
    fixture f = fill("constructorArgs: [a]\n"
                     "properties:\n  - {name: repeat, value: true}\n"
                     "configMethods:\n  - {name: withMaxAttempts, args: [7]}\n  - {name: setMode, args: [slow]}\n");
    assert_int_equal(f.code, 0);
    assert_int_equal(f.args.values[1].as.i64, 7);
    assert_true(f.args.values[2].as.boolean);
    assert_string_equal(f.args.values[3].as.string, "slow");
    gx_yaml_free(f.doc);
}

static void references_stand_for_components(void **state) {
    (void)state;
    gx_ref ref = { gx_str("where"), gale_string("b.txt", 5) };
    gx_refs refs = { &ref, 1 };
    fixture f = fill_with("constructorArgs: [{ref: where}]", &refs);
    assert_int_equal(f.code, 0);
    assert_string_equal(f.args.values[0].as.string, "b.txt");
    gx_yaml_free(f.doc);
    f = fill_with("properties: [{name: path, ref: where}]", &refs);
    assert_int_equal(f.code, 0);
    gx_yaml_free(f.doc);
    f = fill_with("constructorArgs: [{ref: were}]", &refs);
    assert_string_equal(f.error.text,
                        "t.yaml:1:25: no component 'were' is declared before this; did you mean 'where'?");
    gx_yaml_free(f.doc);
}

static void null_leaves_the_default(void **state) {
    (void)state;
    fixture f = fill("constructorArgs: [a, ~]");
    assert_int_equal(f.code, 0);
    assert_int_equal(f.args.values[1].as.i64, 3);
    gx_yaml_free(f.doc);
}

static void defaults_have_units_as_files_do(void **state) {
    static const gx_param rows[] = {
        { .name = "memory", .type = GX_PARAM_BYTES, .fallback = "64 MiB" },
        { .name = "timeout", .type = GX_PARAM_SECONDS, .fallback = "5m" },
        { .name = "limit", .type = GX_PARAM_BYTES, .fallback = "100" },
        { .name = "pause", .type = GX_PARAM_SECONDS, .fallback = "2" },
    };
    static const gx_class units = { .name = "test.Units", .params = rows, .param_count = 4 };
    gx_args args = gx_args_of(&units);
    (void)state;
    assert_int_equal(gx_args_value(&args, "memory")->type, GALE_TYPE_I64);
    assert_int_equal(gx_args_value(&args, "memory")->as.i64, 64 << 20);
    assert_int_equal(gx_args_value(&args, "timeout")->type, GALE_TYPE_F64);
    assert_true(gx_args_value(&args, "timeout")->as.f64 == 300);
    assert_int_equal(gx_args_value(&args, "limit")->as.i64, 100);
    assert_true(gx_args_value(&args, "pause")->as.f64 == 2);
}

static void missing_argument_is_named_with_its_meaning(void **state) {
    (void)state;
    expect_error("{id: x}", GALE_INVALID, "t.yaml:1:1: test.Class needs 'path': the file to read");
}

static void wrong_types_are_refused(void **state) {
    (void)state;
    expect_error("constructorArgs: [12]", GALE_TYPE,
                 "t.yaml:1:19: 'path' of test.Class must be a string, not a whole number (12); put it in quotes");
    expect_error("constructorArgs: [a, five]", GALE_TYPE,
                 "t.yaml:1:22: 'maxAttempts' of test.Class must be a whole number, not a string (five)");
    expect_error("constructorArgs: [a, 4.5]", GALE_TYPE,
                 "t.yaml:1:22: 'maxAttempts' of test.Class must be a whole number, not 4.5");
    expect_error("constructorArgs: [a, 1, 1]", GALE_TYPE,
                 "t.yaml:1:25: 'repeat' of test.Class must be true or false, not a whole number (1)");
    expect_error("constructorArgs: [~]", GALE_TYPE,
                 "t.yaml:1:19: 'path' of test.Class must be a string, not nothing (~); put it in quotes");
    expect_error("constructorArgs: [[a]]", GALE_TYPE,
                 "t.yaml:1:19: 'path' of test.Class must be a string, not a list; put a text with [ ] { } in quotes");
    expect_error("constructorArgs: a", GALE_TYPE,
                 "t.yaml:1:18: 'constructorArgs' of test.Class must be a list, not a string");
    expect_error("constructorArgs: [{reflist: [a]}]", GALE_NOT_FOUND,
                 "t.yaml:1:30: no component 'a' is declared before this");
    expect_error("constructorArgs: [{reflist: a}]", GALE_TYPE,
                 "t.yaml:1:29: 'reflist' must be a list of ids, not a string");
    expect_error("constructorArgs: [{reflist: [[a]]}]", GALE_TYPE,
                 "t.yaml:1:30: 'reflist' must be a list of ids, not of a list");
    expect_error(
        "properties: [{name: path, value: a}, {name: key, value: [a, 1]}]", GALE_TYPE,
        "t.yaml:1:57: 'key' of test.Class must be names of fields, as a list or with commas between them, not a "
        "list");
    expect_error("properties: {path: a, tags: [1]}", GALE_TYPE,
                 "t.yaml:1:29: 'tags' of test.Class must be a list of strings, not a list");
    expect_error("properties: {path: a, rules: x}", GALE_TYPE,
                 "t.yaml:1:30: 'rules' of test.Class must be a map, not a string (x)");
    expect_error("properties: {path: a, share: x}", GALE_TYPE,
                 "t.yaml:1:30: 'share' of test.Class must be a number, not a string (x)");
}

static void the_class_is_called_what_the_file_calls_it(void **state) {
    (void)state;
    expect_error("{className: java.lang.Thing, id: x}", GALE_INVALID,
                 "t.yaml:1:1: java.lang.Thing needs 'path': the file to read");
}

static void values_out_of_range_are_refused(void **state) {
    (void)state;
    expect_error("constructorArgs: [a, 11]", GALE_INVALID,
                 "t.yaml:1:22: 'maxAttempts' of test.Class must be in 1 to 10, not 11");
    expect_error("properties: [{name: mode, value: fsat}]", GALE_INVALID,
                 "t.yaml:1:34: 'mode' of test.Class must be one of: fast slow; not 'fsat'; did you mean 'fast'?");
    expect_error("properties: {path: a, pause: 0}", GALE_INVALID,
                 "t.yaml:1:30: 'pause' of test.Class must be above 0 and at most 100, not 0");
    expect_error("properties: {path: a, pause: 2m}", GALE_INVALID,
                 "t.yaml:1:30: 'pause' of test.Class must be above 0 and at most 100, not 2m");
    expect_error("properties: {path: a, share: 1e999}", GALE_INVALID,
                 "t.yaml:1:30: 'share' of test.Class must be finite, not 1e999");
    expect_error("constructorArgs: [\"a\\0b\"]", GALE_INVALID,
                 "t.yaml:1:19: 'path' of test.Class must not hold a NUL character");
}

static void too_many_unknown_and_double_arguments_are_refused(void **state) {
    (void)state;
    expect_error(
        "constructorArgs: [a, 1, true, fast, 5, k, t, {}, 1, 1, 1]", GALE_INVALID,
        "t.yaml:1:56: test.Class takes at most 10 constructorArgs (path, maxAttempts, repeat, mode, pause, key, "
        "tags, rules, share, any), not 11");
    expect_error("properties: [{name: pth, value: a}]", GALE_NOT_FOUND,
                 "t.yaml:1:21: test.Class has no property 'pth'; did you mean 'path'?");
    expect_error(
        "properties: [{name: foobar, value: a}]", GALE_NOT_FOUND,
        "t.yaml:1:21: test.Class has no property 'foobar'; it has: path, maxAttempts, repeat, mode, pause, key, tags, "
        "rules, share, any");
    expect_error("configMethods: [{name: withPth, args: [a]}]", GALE_NOT_FOUND,
                 "t.yaml:1:24: test.Class has no method 'withPth'; did you mean 'path'?");
    expect_error("{constructorArgs: [a], properties: [{name: path, value: b}]}", GALE_EXISTS,
                 "t.yaml:1:57: 'path' of test.Class is given twice");
}

static void malformed_properties_and_methods_are_refused(void **state) {
    (void)state;
    expect_error("properties: [{name: path}]", GALE_INVALID, "t.yaml:1:14: a property needs either 'value' or 'ref'");
    expect_error("properties: [{name: path, value: a, ref: b}]", GALE_INVALID,
                 "t.yaml:1:14: a property needs either 'value' or 'ref', not both");
    expect_error("properties: [{nam: path}]", GALE_TOPOLOGY,
                 "t.yaml:1:15: unknown key 'nam' in a property; did you mean 'name'?");
    expect_error("properties: [path]", GALE_TYPE, "t.yaml:1:14: a property must be a map, not a string");
    expect_error("configMethods: [{name: path, args: [a, b]}]", GALE_INVALID,
                 "t.yaml:1:36: path takes one argument, not 2");
    expect_error("configMethods: [{name: path}]", GALE_INVALID, "t.yaml:1:17: path takes one argument, not 0");
}

/* --- Types -------------------------------------------------------------------------------------------------------- */

static void values_are_converted_as_the_table_says(void **state) {
    (void)state;
    fixture f = fill("properties: {path: a, maxAttempts: 5.0, mode: FAST, pause: 1m30s, by: [x, y], tags: 'p, q',"
                     " rules: {b: 1, a: 2}, share: 2, any: [1]}");
    assert_string_equal(f.error.text, "");
    assert_int_equal(gx_args_whole(&f.args, "maxAttempts"), 5);
    assert_true(gx_args_is(&f.args, "mode", "fast"));
    assert_true(gx_args_number(&f.args, "pause") == 90);
    assert_string_equal(gx_args_text(&f.args, "key"), "x, y");
    const gale_value *tags = gx_args_value(&f.args, "tags"), *rules = gx_args_value(&f.args, "rules");
    assert_int_equal(tags->size, 2);
    assert_string_equal(tags->as.items[1].as.string, "q");
    assert_int_equal(rules->size, 2);
    assert_string_equal(rules->as.items[0].as.string, "b"); /* as the file has them */
    assert_true(gx_args_number(&f.args, "share") == 2);
    assert_int_equal(gx_args_value(&f.args, "any")->type, GALE_TYPE_LIST);
    assert_true(gx_args_given(&f.args, "key") && !gx_args_given(&f.args, "repeat"));
    gx_yaml_free(f.doc);
}

static void durations_have_units(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } rows[] = { { "10", 10 },  { "0.25", 0.25 }, { "250ms", 0.25 }, { "1.5s", 1.5 },
                 { "5m", 300 }, { "2h", 7200 },   { "1d", 86400 },   { "1h30m", 5400 },
                 { " 3s ", 3 }, { "0s", 0 },      { "7us", 7e-6 },   { "1e3", 1000 } };
    static const char *const wrong[] = {
        "", "s", "10x", "10 s", "1h30", "-1s", "1..5s", ".s", "999999999999999999999s"
    };
    double seconds;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(gx_duration_read(gx_str(rows[i].text), &seconds));
        assert_true(seconds == rows[i].seconds);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(gx_duration_read(gx_str(wrong[i]), &seconds));
}

static void sizes_have_units(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes;
    } rows[] = { { "10", 10 },
                 { "10B", 10 },
                 { "64 KB", 64000 },
                 { "64KiB", 65536 },
                 { " 100 mB ", 100000000 },
                 { "1.5 kB", 1500 },
                 { "2 GiB", INT64_C(2) << 30 },
                 { "1TB", INT64_C(1000000000000) },
                 { "0.5KiB", 512 },
                 { "8000000000000000000", 8000000000000000000 } };
    static const char *const wrong[] = { "",     "KB",  "10 K",   "10 XB", "10 KiBB",           "1.5",  "1.0001 KB",
                                         "-1 B", "1e3", "10Kib2", "ten",   "99999999999999 GB", "10 i", "." };
    int64_t bytes;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!gx_size_read(gx_str(rows[i].text), &bytes)) fail_msg("%s is none", rows[i].text);
        assert_int_equal(bytes, rows[i].bytes);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (gx_size_read(gx_str(wrong[i]), &bytes)) fail_msg("%s is one", wrong[i]);
}

static void references_make_lists_and_stand_in_them(void **state) {
    (void)state;
    gx_ref list[] = { { gx_str("a"), gale_string("x", 1) }, { gx_str("b"), gale_string("y", 1) } };
    gx_refs refs = { list, 2 };
    fixture f = fill_with(
        "properties: {path: {ref: a}, tags: {reflist: [b, a]}, key: [{ref: b}, z], any: {k: {ref: a}}}", &refs);
    assert_string_equal(f.error.text, "");
    assert_string_equal(gx_args_text(&f.args, "path"), "x");
    assert_string_equal(gx_args_value(&f.args, "tags")->as.items[0].as.string, "y");
    assert_string_equal(gx_args_text(&f.args, "key"), "y, z");
    assert_string_equal(gx_args_value(&f.args, "any")->as.items[1].as.string, "x");
    gx_yaml_free(f.doc);
}

static void references_cannot_make_a_value_without_end(void **state) {
    (void)state;
    gale_value pairs[40][2];
    gx_ref ref = { gx_str("a"), gale_null() };
    gx_refs refs = { &ref, 1 };
    for (int i = 0; i < 40; i++) {
        pairs[i][0] = pairs[i][1] = i ? gale_list(pairs[i - 1], 2) : gale_i64(1);
        ref.value = gale_list(pairs[i], 2);
    }
    fixture f = fill_with("properties: {path: a, any: {ref: a}}", &refs);
    assert_int_equal(f.code, GALE_TOO_LARGE);
    assert_string_equal(f.error.text, "t.yaml:1:28: more than 100000 parts, references spelled out");
    gx_yaml_free(f.doc);
}

static void a_factory_takes_arguments_in_order(void **state) {
    (void)state;
    fixture f = fill("{factory: of, factoryArgs: [a.txt, 5]}");
    assert_string_equal(f.error.text, "");
    assert_int_equal(gx_args_whole(&f.args, "maxAttempts"), 5);
    gx_yaml_free(f.doc);
    f = fill("{factory: nowhere, factoryArgs: [b], constructorArgs: [a.txt]}"); /* as in Storm */
    assert_string_equal(gx_args_text(&f.args, "path"), "a.txt");
    gx_yaml_free(f.doc);
    expect_error("{factory: mak}", GALE_NOT_FOUND,
                 "t.yaml:1:11: test.Class has no factory 'mak' (it has: make of); did you mean 'make'?");
    expect_error("{factoryArgs: [a]}", GALE_TOPOLOGY,
                 "t.yaml:1:15: 'factoryArgs' are of no use without 'factory', the method that takes them");
}

static void properties_may_be_a_map(void **state) {
    (void)state;
    fixture f = fill("properties: {path: a.txt, repeat: true}");
    assert_true(gx_args_flag(&f.args, "repeat"));
    gx_yaml_free(f.doc);
    expect_error("properties: {pth: a.txt}", GALE_NOT_FOUND,
                 "t.yaml:1:14: test.Class has no property 'pth'; did you mean 'path'?");
}

static void several_errors_of_one_object_are_kept(void **state) {
    (void)state;
    static const gx_refs none = { NULL, 0 };
    gx_problems problems = { .count = 0 };
    gx_yaml_doc *doc = NULL;
    gx_args args;
    gale_error error = GALE_ERROR_INIT;
    const char *text =
        "{constructorArgs: [1, x], properties: [{nam: a}, {name: mode, value: no}], configMethods: [{name: x}]}";
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str(text), NULL, &doc, &error), 0);
    gx_yaml_collect(doc, &problems);
    assert_int_equal(gx_arguments_read(&class_, &none, doc, gx_yaml_root(doc), NULL, 0, &args, &error), 0);
    assert_int_equal(problems.errors, 5);
    static const uint32_t columns[] = { 20, 23, 41, 70, 99 };
    for (size_t i = 0; i < problems.count; i++) assert_int_equal(problems.list[i].position.column, columns[i]);
    assert_string_equal(problems.list[0].text,
                        "'path' of test.Class must be a string, not a whole number (1); put it in quotes");
    gx_problems_fini(&problems);
    gx_yaml_free(doc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_class_is_found_by_each_of_its_names),
        cmocka_unit_test(every_table_can_be_added_to_a_registry),
        cmocka_unit_test(a_table_from_outside_is_used_like_gales_own),
        cmocka_unit_test(a_table_that_is_not_whole_is_refused_and_nothing_of_it_added),
        cmocka_unit_test(every_example_is_taken),
        cmocka_unit_test(values_are_converted_as_the_table_says),
        cmocka_unit_test(durations_have_units),
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(references_make_lists_and_stand_in_them),
        cmocka_unit_test(references_cannot_make_a_value_without_end),
        cmocka_unit_test(a_factory_takes_arguments_in_order),
        cmocka_unit_test(properties_may_be_a_map),
        cmocka_unit_test(several_errors_of_one_object_are_kept),
        cmocka_unit_test(every_class_can_be_made),
        cmocka_unit_test(a_class_of_expressions_takes_the_fields_that_all_inputs_have),
        cmocka_unit_test(a_file_spout_takes_a_state_and_its_interval),
        cmocka_unit_test(unknown_class_is_refused_with_the_nearest_one_of_its_kind),
        cmocka_unit_test(arguments_fill_in_order_and_defaults_do_the_rest),
        cmocka_unit_test(properties_and_methods_fill_by_name),
        cmocka_unit_test(references_stand_for_components),
        cmocka_unit_test(null_leaves_the_default),
        cmocka_unit_test(defaults_have_units_as_files_do),
        cmocka_unit_test(missing_argument_is_named_with_its_meaning),
        cmocka_unit_test(wrong_types_are_refused),
        cmocka_unit_test(the_class_is_called_what_the_file_calls_it),
        cmocka_unit_test(values_out_of_range_are_refused),
        cmocka_unit_test(too_many_unknown_and_double_arguments_are_refused),
        cmocka_unit_test(malformed_properties_and_methods_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
