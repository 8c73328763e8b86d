#include "front/builtin.h"

#include "base/str.h"
#include "harness/cm.h"

#include <string.h>

static const gx_param params[] = {
    { "path", GALE_TYPE_STRING, NULL, 0, 0, NULL, "the file to read" },
    { "maxAttempts", GALE_TYPE_I64, "3", 1, 10, NULL, "how often" },
    { "repeat", GALE_TYPE_BOOL, "false", 0, 0, NULL, "again" },
    { "mode", GALE_TYPE_STRING, "", 0, 0, "fast slow", "how" },
};

static const gx_class class_ = { .name = "test.Class", .kind = GX_CLASS_SPOUT, .params = params, .param_count = 4 };

typedef struct fixture {
    gx_yaml_doc *doc;
    gale_value values[GX_PARAMS_MAX];
    gale_error error;
    int code;
} fixture;

static fixture fill_with(const char *text, const gx_refs *refs) {
    fixture f = { .error = GALE_ERROR_INIT };
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str(text), NULL, &f.doc, &f.error), 0);
    f.code = gx_registry_values(&class_, refs, f.doc, gx_yaml_root(f.doc), f.values, &f.error);
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

static void every_class_is_whole_and_its_names_are_unique(void **state) {
    (void)state;
    const gx_registry *registry = gx_registry_builtin();
    for (size_t i = 0; i < registry->class_count; i++) {
        const gx_class *c = &registry->classes[i];
        assert_ptr_equal(gx_registry_find(registry, gx_str(c->name)), c);
        for (size_t a = 0; a < GX_ALIASES_MAX && c->aliases[a]; a++)
            assert_ptr_equal(gx_registry_find(registry, gx_str(c->aliases[a])), c);
        assert_int_equal(!!c->make_spout, c->kind == GX_CLASS_SPOUT);
        assert_int_equal(!!c->make_bolt, c->kind == GX_CLASS_BOLT);
        assert_true(c->param_count <= GX_PARAMS_MAX);
        assert_true(c->text && *c->text);
        for (size_t p = 0; p < c->param_count; p++) assert_true(*c->params[p].text);
    }
}

/* Does a parameter say what its fields are? */
static bool names_outputs(const gx_class *c) {
    for (size_t i = 0; i < c->param_count; i++)
        if (strcmp(c->params[i].name, "output") == 0) return true;
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
    assert_string_equal(got, c->outputs ? c->outputs : names_outputs(c) ? "-" : "");
}

/* Made with its defaults, and the one argument that some need. */
static void every_class_can_be_made(void **state) {
    (void)state;
    static const gx_refs none = { NULL, 0 };
    const gx_registry *registry = gx_registry_builtin();
    gx_yaml_doc *empty = NULL, *path = NULL;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str("{}"), NULL, &empty, &error), 0);
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str("{constructorArgs: ['-']}"), NULL, &path, &error), 0);
    for (size_t i = 0; i < registry->class_count; i++) {
        const gx_class *c = &registry->classes[i];
        gale_value values[GX_PARAMS_MAX];
        gale_spout spout = { .size = 0 };
        gale_bolt bolt = { .size = 0 };
        gx_yaml_doc *doc = c->param_count && !c->params[0].fallback ? path : empty;
        assert_int_equal(gx_registry_values(c, &none, doc, gx_yaml_root(doc), values, &error), 0);
        if (c->kind == GX_CLASS_SPOUT) assert_int_equal(c->make_spout(values, &spout, &error), 0);
        if (c->kind == GX_CLASS_BOLT) assert_int_equal(c->make_bolt(values, &bolt, &error), 0);
        if (c->kind == GX_CLASS_SPOUT) expect_outputs(c, spout.outputs, spout.output_count);
        if (c->kind == GX_CLASS_BOLT) expect_outputs(c, bolt.outputs, bolt.output_count);
        if (spout.free_user) spout.free_user(spout.user);
        if (bolt.free_user) bolt.free_user(bolt.user);
    }
    gx_yaml_free(empty);
    gx_yaml_free(path);
}

/* What the builtin class `name` makes of an object: its values, or the error of making them or it. */
static int make_spout(const char *name, const char *text, gale_error *error) {
    static const gx_refs none = { NULL, 0 };
    const gx_class *c = gx_registry_find(gx_registry_builtin(), gx_str(name));
    gx_yaml_doc *doc = NULL;
    gale_value values[GX_PARAMS_MAX];
    gale_spout spout = { .size = 0 };
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str(text), NULL, &doc, error), 0);
    int code = gx_registry_values(c, &none, doc, gx_yaml_root(doc), values, error);
    if (code == 0) code = c->make_spout(values, &spout, error);
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
    assert_string_equal(error.text, "'stateInterval' must be a number, not string");
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
    assert_string_equal(f.values[0].as.string, "a.txt");
    assert_int_equal(f.values[1].as.i64, 5);
    assert_false(f.values[2].as.boolean);
    assert_int_equal(f.values[3].type, GALE_TYPE_NULL);
    gx_yaml_free(f.doc);
}

static void properties_and_methods_fill_by_name(void **state) {
    (void)state;
    fixture f = fill("constructorArgs: [a]\n"
                     "properties:\n  - {name: repeat, value: true}\n"
                     "configMethods:\n  - {name: withMaxAttempts, args: [7]}\n  - {name: setMode, args: [slow]}\n");
    assert_int_equal(f.code, 0);
    assert_int_equal(f.values[1].as.i64, 7);
    assert_true(f.values[2].as.boolean);
    assert_string_equal(f.values[3].as.string, "slow");
    gx_yaml_free(f.doc);
}

static void references_stand_for_components(void **state) {
    (void)state;
    gx_ref ref = { gx_str("where"), gale_string("b.txt", 5) };
    gx_refs refs = { &ref, 1 };
    fixture f = fill_with("constructorArgs: [{ref: where}]", &refs);
    assert_int_equal(f.code, 0);
    assert_string_equal(f.values[0].as.string, "b.txt");
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
    assert_int_equal(f.values[1].as.i64, 3);
    gx_yaml_free(f.doc);
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
                 "t.yaml:1:19: an argument of test.Class must be a single value, not a list");
    expect_error("constructorArgs: a", GALE_TYPE,
                 "t.yaml:1:18: 'constructorArgs' of test.Class must be a list, not a string");
    expect_error("constructorArgs: [{reflist: [a]}]", GALE_UNSUPPORTED,
                 "t.yaml:1:19: reflist is not supported yet: no class takes one");
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
    expect_error("constructorArgs: [\"a\\0b\"]", GALE_INVALID,
                 "t.yaml:1:19: 'path' of test.Class must not hold a NUL character");
}

static void too_many_unknown_and_double_arguments_are_refused(void **state) {
    (void)state;
    expect_error("constructorArgs: [a, 1, true, fast, 5]", GALE_INVALID,
                 "t.yaml:1:37: test.Class takes at most 4 constructorArgs (path, maxAttempts, repeat, mode), not 5");
    expect_error("properties: [{name: pth, value: a}]", GALE_NOT_FOUND,
                 "t.yaml:1:21: test.Class has no property 'pth'; did you mean 'path'?");
    expect_error("properties: [{name: foobar, value: a}]", GALE_NOT_FOUND,
                 "t.yaml:1:21: test.Class has no property 'foobar'; it has: path, maxAttempts, repeat, mode");
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_class_is_whole_and_its_names_are_unique),
        cmocka_unit_test(every_class_can_be_made),
        cmocka_unit_test(a_file_spout_takes_a_state_and_its_interval),
        cmocka_unit_test(unknown_class_is_refused_with_the_nearest_one_of_its_kind),
        cmocka_unit_test(arguments_fill_in_order_and_defaults_do_the_rest),
        cmocka_unit_test(properties_and_methods_fill_by_name),
        cmocka_unit_test(references_stand_for_components),
        cmocka_unit_test(null_leaves_the_default),
        cmocka_unit_test(missing_argument_is_named_with_its_meaning),
        cmocka_unit_test(wrong_types_are_refused),
        cmocka_unit_test(the_class_is_called_what_the_file_calls_it),
        cmocka_unit_test(values_out_of_range_are_refused),
        cmocka_unit_test(too_many_unknown_and_double_arguments_are_refused),
        cmocka_unit_test(malformed_properties_and_methods_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
