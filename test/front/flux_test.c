#include "front/flux.h"

#include "base/buf.h"
#include "base/str.h"
#include "front/builtin.h"
#include "front/strangers.h"
#include "front/table.h"
#include "harness/cm.h"
#include "topology/builder.h"

#include <gale/kit.h>
#include <stdlib.h>
#include <string.h>

/* A whole file; tests replace a piece of it. */
static const char whole[] = "name: t\n"
                            "config: {topology.debug: false}\n"
                            "spouts:\n"
                            "  - id: lines\n"
                            "    className: gale.spout.File\n"
                            "    constructorArgs: ['-']\n"
                            "bolts:\n"
                            "  - id: split\n"
                            "    className: gale.bolt.Split\n"
                            "    parallelism: 3\n"
                            "  - id: count\n"
                            "    className: gale.bolt.Count\n"
                            "    parallelism: 2\n"
                            "    numTasks: 4\n"
                            "streams:\n"
                            "  - {from: lines, to: split, grouping: {type: SHUFFLE}}\n"
                            "  - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}\n";

/* `whole` with `from` (which is in it) replaced by `to`. The caller frees the buffer. */
static gx_buf with(const char *from, const char *to) {
    gx_buf out = GX_BUF_INIT(NULL);
    const char *at = strstr(whole, from);
    assert_non_null(at);
    gx_buf_add(&out, whole, (size_t)(at - whole));
    gx_buf_add_text(&out, to);
    gx_buf_add_text(&out, at + strlen(from));
    return out;
}

typedef struct log_lines {
    gx_buf text;
} log_lines;

static void keep_line(void *user, int32_t level, const char *component, const char *text) {
    assert_int_equal(level, GALE_LOG_WARN);
    (void)component;
    gx_buf_format(&((log_lines *)user)->text, "%s\n", text);
}

static int load(const char *text, const gx_flux_options *options, gale_topology **ret_topology, gale_error *error) {
    *error = (gale_error)GALE_ERROR_INIT;
    return gx_flux_parse("t.yaml", gx_str(text), gx_registry_builtin(), options, ret_topology, error);
}

static gale_topology *loaded(const char *text, const gx_flux_options *options) {
    gale_topology *topology = NULL;
    gale_error error;
    if (load(text, options, &topology, &error) < 0) fail_msg("%s", error.text);
    return topology;
}

static void expect_error_with(const char *from, const char *to, const gx_flux_options *options, const char *message) {
    gale_topology *topology = NULL;
    gale_error error;
    gx_buf text = with(from, to);
    assert_true(load(gx_buf_text(&text), options, &topology, &error) < 0);
    assert_string_equal(error.text, message);
    assert_null(topology);
    gx_buf_fini(&text);
}

static void expect_error(const char *from, const char *to, const char *message) {
    expect_error_with(from, to, NULL, message);
}

/* --- What is built ------------------------------------------------------------------------------------------------ */

static void file_becomes_a_topology(void **state) {
    (void)state;
    gale_topology *topology = loaded(whole, NULL);
    assert_string_equal(gale_topology_name(topology), "t");
    assert_int_equal(topology->component_count, 3);
    const gx_component *count = gx_topology_find(topology, "count");
    assert_int_equal(count->input_count, 1);
    assert_int_equal(count->inputs[0].grouping, GALE_GROUPING_FIELDS);
    assert_string_equal(count->inputs[0].fields[0], "word");
    gale_topology_free(topology);
}

static void tasks_are_num_tasks_else_parallelism_else_one(void **state) {
    (void)state;
    gale_topology *topology = loaded(whole, NULL);
    assert_int_equal(gx_component_tasks(topology, gx_topology_find(topology, "lines")), 1);
    assert_int_equal(gx_component_tasks(topology, gx_topology_find(topology, "split")), 3);
    assert_int_equal(gx_component_tasks(topology, gx_topology_find(topology, "count")), 4);
    gale_topology_free(topology);
}

static void components_can_be_referred_to(void **state) {
    (void)state;
    gx_buf text = with("spouts:\n",
                       "components:\n"
                       "  - {id: path, className: java.lang.String, constructorArgs: [a.txt]}\n"
                       "  - {id: same, className: gale.Value, constructorArgs: [{ref: path}]}\n"
                       "spouts:\n  - {id: other, className: gale.spout.File, constructorArgs: [{ref: same}]}\n");
    gale_topology *topology = loaded(gx_buf_text(&text), NULL);
    assert_non_null(gx_topology_find(topology, "other"));
    gale_topology_free(topology);
    gx_buf_fini(&text);
}

static void component_configuration_is_its_own(void **state) {
    (void)state;
    gx_buf text = with("    parallelism: 3\n", "    config: {topology.tick.tuple.freq.secs: 5}\n");
    gale_topology *topology = loaded(gx_buf_text(&text), NULL);
    const gx_component *split = gx_topology_find(topology, "split");
    assert_int_equal(gale_config_i64(split->config, "topology.tick.tuple.freq.secs", 0), 5);
    assert_false(gale_config_get(topology->config, "topology.tick.tuple.freq.secs", &(gale_value){ 0 }));
    gale_topology_free(topology);
    gx_buf_fini(&text);
}

static void assignments_lie_over_the_file(void **state) {
    (void)state;
    const char *assignments[] = { "topology.max.spout.pending=7", "my.key=x" };
    gale_setting setting = { "gale.input", gale_text("b.txt") };
    gx_flux_options options = {
        .assignments = assignments, .assignment_count = 2, .settings = &setting, .setting_count = 1
    };
    gx_buf text = with("{topology.debug: false}", "{my.key: 1}");
    gale_topology *topology = loaded(gx_buf_text(&text), &options);
    assert_int_equal(gale_config_i64(topology->config, "topology.max.spout.pending", 0), 7);
    assert_true(gx_str_is(gale_config_text(topology->config, "my.key", gx_str("")), "x"));
    assert_true(gx_str_is(gale_config_text(topology->config, "gale.input", gx_str("")), "b.txt"));
    gale_topology_free(topology);
    gx_buf_fini(&text);
}

static bool prints(const char *text, const char *output) {
    bool prints = false;
    gale_setting setting = { "gale.output", gale_text(output ? output : "") };
    gx_flux_options options = { .settings = &setting, .setting_count = output ? 1 : 0, .ret_prints = &prints };
    gale_topology_free(loaded(text, &options));
    return prints;
}

static void who_writes_to_the_standard_output_is_known(void **state) {
    (void)state;
    gx_buf sink = with("gale.bolt.Split\n", "gale.bolt.FileSink\n    constructorArgs: ['-']\n");
    gx_buf printer = with("gale.bolt.Count\n", "gale.bolt.Printer\n");
    /* What follows a sink would have no input. */
    *strstr(gx_buf_text(&sink), "  - {from: split") = '#';
    memcpy(strstr(gx_buf_text(&sink), "gale.bolt.Count"), "gale.bolt.Null ", 15);
    gx_buf_add_text(&sink, "  - {from: lines, to: count, grouping: {type: ALL}}\n");
    assert_false(prints(whole, NULL));
    assert_true(prints(gx_buf_text(&printer), NULL));
    assert_true(prints(gx_buf_text(&sink), NULL));
    assert_false(prints(gx_buf_text(&sink), "out.txt"));
    assert_true(prints(gx_buf_text(&sink), "-"));
    gx_buf_fini(&sink);
    gx_buf_fini(&printer);
}

static void keys_of_a_cluster_are_warned_about(void **state) {
    (void)state;
    log_lines lines = { GX_BUF_INIT(NULL) };
    gale_logger logger = { sizeof logger, GALE_LOG_WARN, keep_line, &lines };
    const char *assignments[] = { "nimbus.seeds=a", "worker.childopts=-Xmx1g" };
    gx_flux_options options = { .assignments = assignments, .assignment_count = 2, .logger = &logger };
    gx_buf text = with("{topology.debug: false}", "{}");
    gale_topology_free(loaded(gx_buf_text(&text), &options));
    assert_string_equal(gx_buf_text(&lines.text), "nimbus.seeds has no effect here\n"
                                                  "worker.childopts has no effect here\n");
    gx_buf_fini(&text);
    gx_buf_fini(&lines.text);
}

static void key_without_effect_is_warned_about_once(void **state) {
    (void)state;
    log_lines lines = { GX_BUF_INIT(NULL) };
    gale_logger logger = { sizeof logger, GALE_LOG_WARN, keep_line, &lines };
    const char *assignments[] = { "topology.workers=3" };
    gx_flux_options options = { .assignments = assignments, .assignment_count = 1, .logger = &logger };
    gx_buf text = with("{topology.debug: false}", "{topology.workers: 2}");
    gale_topology *topology = loaded(gx_buf_text(&text), &options);
    assert_string_equal(gx_buf_text(&lines.text),
                        "t.yaml:2:10: topology.workers has no effect here: there is one process\n");
    gale_topology_free(topology);
    gx_buf_fini(&text);
    gx_buf_fini(&lines.text);
}

/* --- What is refused ---------------------------------------------------------------------------------------------- */

static void missing_fields_are_named(void **state) {
    (void)state;
    expect_error("name: t\n", "", "t.yaml:1:1: a topology needs the field 'name'");
    expect_error("spouts:\n  - id: lines\n    className: gale.spout.File\n    constructorArgs: ['-']\n", "",
                 "t.yaml:1:1: a topology needs the field 'spouts'");
    expect_error("    className: gale.bolt.Split\n", "", "t.yaml:8:5: a bolt needs the field 'className'");
    expect_error("  - id: split\n    ", "  - ", "t.yaml:8:5: a bolt needs the field 'id'");
    expect_error("from: lines, ", "", "t.yaml:16:5: a stream needs the field 'from'");
    expect_error("to: split, ", "", "t.yaml:16:5: a stream needs the field 'to'");
    expect_error(", grouping: {type: SHUFFLE}", "", "t.yaml:16:5: a stream needs the field 'grouping'");
    expect_error("{type: SHUFFLE}", "{}", "t.yaml:16:40: a grouping needs the field 'type'");
    expect_error(", args: [word]", "", "t.yaml:17:40: a FIELDS grouping needs 'args': the names of fields");
}

static void wrong_types_are_refused(void **state) {
    (void)state;
    expect_error("parallelism: 3", "parallelism: three",
                 "t.yaml:10:18: 'parallelism' of a bolt must be a whole number, not a string");
    expect_error("parallelism: 3", "parallelism: 4.5",
                 "t.yaml:10:18: 'parallelism' of a bolt must be a whole number, not 4.5");
    expect_error("id: count", "name: count", "t.yaml:11:5: unknown key 'name' in a bolt; did you mean 'id'?");
    expect_error("id: count", "id: lines", "t.yaml:11:9: the name 'lines' is taken already (line 4)");
    expect_error("parallelism: 3", "parallelism: 0",
                 "t.yaml:10:18: 'parallelism' of a bolt must be in 1 to 32767, not 0");
    expect_error("name: t", "name: [t]", "t.yaml:1:7: 'name' of a topology must be a string, not a list");
    expect_error("{topology.debug: false}", "[1]", "t.yaml:2:9: 'config' must be a map, not a list");
    expect_error("- {from: lines, to: split, grouping: {type: SHUFFLE}}", "- x",
                 "t.yaml:16:5: a stream must be a map, not a string");
    expect_error("id: split", "id: \"a\\0b\"", "t.yaml:8:9: 'id' of a bolt must not hold a NUL character");
}

static void unknown_names_are_refused_with_the_nearest(void **state) {
    (void)state;
    expect_error("streams:", "steams:", "t.yaml:15:1: unknown key 'steams' in a topology; did you mean 'streams'?");
    expect_error("parallelism: 3", "paralelism: 3",
                 "t.yaml:10:5: unknown key 'paralelism' in a bolt; did you mean 'parallelism'?");
    expect_error("type: SHUFFLE", "type: SHUFLE", "t.yaml:16:47: unknown grouping 'SHUFLE'; did you mean 'SHUFFLE'?");
    expect_error("from: lines", "from: line", "t.yaml:16:12: there is no spout or bolt 'line'; did you mean 'lines'?");
    expect_error("to: count", "to: cont", "t.yaml:17:23: there is no spout or bolt 'cont'; did you mean 'count'?");
    expect_error("[word]", "[wrod]",
                 "t.yaml:17:62: 'split' has no field 'wrod' in stream 'default'; did you mean 'word'?");
    expect_error("type: SHUFFLE", "type: SHUFFLE, streamId: defalt",
                 "t.yaml:16:66: 'lines' has no stream 'defalt'; did you mean 'default'?");
    expect_error("{topology.debug: false}", "{topology.max.spout.pendin: 1}",
                 "t.yaml:2:10: unknown key 'topology.max.spout.pendin'; did you mean 'topology.max.spout.pending'?");
}

static void what_only_java_can_do_is_refused_with_what_to_do_instead(void **state) {
    (void)state;
    expect_error(
        "name: t\n", "name: t\nworkerHooks: [{id: a}]\n",
        "t.yaml:2:1: 'workerHooks' are Java classes that run in Storm's workers, and cannot run here: take them "
        "out, and let what starts gale begin and end what they did");
    expect_error(
        "name: t\n", "name: t\ntopologySource: {className: a}\n",
        "t.yaml:2:1: 'topologySource' is Java code that makes a topology, and cannot run here: write its spouts, "
        "bolts and streams into the file, or make it in C (gale/topology.h)");
    expect_error(
        "    parallelism: 3\n", "    factory: make\n",
        "t.yaml:10:14: gale.bolt.Split has no factory 'make'; it is made by its constructorArgs or properties");
    gx_buf empty = with("name: t\n", "name: t\nworkerHooks: []\ntopologySource:\nincludes: []\n");
    gale_topology_free(loaded(gx_buf_text(&empty), NULL));
    gx_buf_fini(&empty);
}

static void a_class_of_storms_that_gale_has_not_names_what_to_use_and_what_is_missing(void **state) {
    (void)state;
    expect_error(
        "gale.bolt.Split", "org.apache.storm.flux.wrappers.bolts.FluxShellBolt",
        "t.yaml:9:16: gale has no counterpart of 'org.apache.storm.flux.wrappers.bolts.FluxShellBolt': Storm's "
        "protocol for other languages (multilang) is missing; in Python a spout or bolt is a class or a function of a "
        "program that runs the topology (docs/python.md), in C or C++ one of a plugin (docs/plugins.md)");
    expect_error(
        "gale.bolt.Split", "org.apache.storm.hdfs.bolt.HdfsBolt",
        "t.yaml:9:16: gale has no counterpart of 'org.apache.storm.hdfs.bolt.HdfsBolt': gale.bolt.FileSink writes to "
        "files of this machine, by templates and rotated; what is missing is HDFS");
    expect_error(
        "gale.bolt.Split", "org.apache.storm.hbase.bolt.HBaseBolt",
        "t.yaml:9:16: gale has no counterpart of 'org.apache.storm.hbase.bolt.HBaseBolt': there is no connector; "
        "gale.bolt.FileSink with `format: json` writes lines that a loader of that store can take");
    gx_buf text = GX_BUF_INIT(NULL);
    assert_non_null(gx_stranger(gx_str("org.apache.storm.topology.base.BaseWindowedBolt$Duration"), &text));
    assert_non_null(gx_stranger(gx_str("org.apache.storm.tuple.Fields"), &text));
    assert_null(gx_stranger(gx_str("org.apache.storm.hdfs."), &text));
    assert_null(gx_stranger(gx_str("com.example.MyBolt"), &text));
    gx_buf_fini(&text);
}

static gale_topology *loaded_with(const char *text, const char *set) {
    gx_flux_options options = { .sets = &set, .set_count = 1 };
    return loaded(text, &options);
}

static void a_command_line_sets_what_is_a_components_own(void **state) {
    (void)state;
    gale_topology *topology = loaded_with(whole, "split.parallelism=8");
    assert_int_equal(gx_component_tasks(topology, gx_topology_find(topology, "split")), 8);
    gale_topology_free(topology);
    topology = loaded_with(whole, "count.numTasks = 5");
    assert_int_equal(gx_component_tasks(topology, gx_topology_find(topology, "count")), 5);
    gale_topology_free(topology);
    topology = loaded_with(whole, "split.topology.tick.tuple.freq.secs=3");
    assert_int_equal(gale_config_i64(gx_topology_find(topology, "split")->config, "topology.tick.tuple.freq.secs", 0),
                     3);
    gale_topology_free(topology);
    gale_topology_free(loaded_with(whole, "split.minLetters=3"));
    gale_topology_free(loaded_with(whole, "lines.path=other.txt")); /* over a constructor's argument */
}

static void what_a_command_line_cannot_set_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *set, *message;
    } rows[] = {
        { "cuont.parallelism=8", "--set cuont.parallelism: there is no spout or bolt 'cuont'; did you mean 'count'?" },
        { "split.minLetter=8",
          "--set split.minLetter: gale.bolt.Split has no property 'minLetter'; did you mean 'minLetters'?" },
        { "split.paralelism=8",
          "--set split.paralelism: gale.bolt.Split has no property 'paralelism'; did you mean 'parallelism'?" },
        { "split.minLetters=few",
          "--set split.minLetters: 'minLetters' of gale.bolt.Split must be a whole number, not a string (few)" },
        { "split.minLetters=",
          "--set split.minLetters: 'minLetters' of gale.bolt.Split must be a whole number, not a string" },
        { "split.parallelism= ",
          "--set split.parallelism: 'parallelism' of a bolt must be a whole number, not a string" },
        { "split.parallelism=0", "--set split.parallelism: 'parallelism' of a bolt must be in 1 to 32767, not 0" },
        { "count.parallelism=8",
          "--set count.parallelism: t.yaml:14:15 says numTasks, which goes over parallelism; set count.numTasks" },
        { "split.topology.tick.tuple.freq.secs=often",
          "--set split.topology.tick.tuple.freq.secs: 'topology.tick.tuple.freq.secs' must be a number, not the string "
          "'often'\nin bolt 'split'" },
        { "split", "--set wants ID.NAME=VALUE; 'split' has no '='" },
        { "split.x=[",
          "--set split.x:2:1: did not find expected node content, while parsing a flow node that begins at "
          "2:1; a text with any of [ ] { } , : # in it, or that begins with a sign, is put in quotes: 'a[1] == 2'" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gx_flux_options options = { .sets = &rows[i].set, .set_count = 1 };
        expect_error_with("", "", &options, rows[i].message);
    }
}

static void a_bolts_own_fields_must_come_in(void **state) {
    (void)state;
    expect_error(
        "    parallelism: 2\n", "    properties: {key: wrod}\n",
        "t.yaml:13:23: 'key' of 'count' is 'wrod', which 'split' does not have in stream 'default'; did you mean "
        "'word'?");
    expect_error("gale.bolt.Count\n", "gale.bolt.Unique\n    properties: {key: word}\n",
                 "t.yaml:18:12: 'time' of 'count' is 'time', which 'split' does not have in stream 'default'");
}

static void what_is_secret_is_in_no_message(void **state) {
    (void)state;
    expect_error("{topology.debug: false}", "{topology.debug: &a hunter2, my.password: *a}",
                 "t.yaml:2:10: 'topology.debug' must be true or false, not the string '***'");
    gx_properties none = { .count = 0 };
    gx_variables variables = { &none, true };
    gx_flux_options options = { .variables = &variables };
    setenv("GALE_TEST_SECRET", "hunter2", 1);
    expect_error_with("parallelism: 3", "parallelism: ${ENV-GALE_TEST_SECRET}", &options,
                      "t.yaml:10:18: 'parallelism' of a bolt must be a whole number, not a string");
    expect_error_with("parallelism: 3", "properties: {minLetters: '${ENV-GALE_TEST_SECRET}'}", &options,
                      "t.yaml:10:30: 'minLetters' of gale.bolt.Split must be a whole number, not a string (***)");
    expect_error_with("type: SHUFFLE", "type: ${ENV-GALE_TEST_SECRET}", &options,
                      "t.yaml:16:47: unknown grouping '***'");
    expect_error_with("gale.bolt.Split", "${ENV-GALE_TEST_SECRET}", &options,
                      "t.yaml:9:16: unknown class '***'; `gale help classes` lists them");
}

/* An error that a merge brings into two bolts counts once, and both are left out. */
static void an_error_that_is_merged_is_told_once(void **state) {
    (void)state;
    gx_problems problems = { .count = 0 };
    gx_flux_options options = { .problems = &problems };
    gale_topology *topology = NULL;
    gale_error error;
    gx_buf text = with("  - id: split\n    className: gale.bolt.Split\n",
                       "  - &a\n    id: split\n    className: gale.bolt.Splt\n");
    char *streams = strstr(gx_buf_text(&text), "streams:");
    gx_buf merged = GX_BUF_INIT(NULL);
    gx_buf_add(&merged, text.data, (size_t)(streams - text.data));
    gx_buf_format(&merged, "  - {<<: *a, id: other}\n%s", streams);
    assert_int_equal(load(gx_buf_text(&merged), &options, &topology, &error), GALE_NOT_FOUND);
    assert_int_equal(problems.count, 1);
    assert_string_equal(problems.list[0].text, "unknown class 'gale.bolt.Splt'; did you mean 'gale.bolt.Split'?");
    gx_problems_fini(&problems);
    gx_buf_fini(&merged);
    gx_buf_fini(&text);
}

/* --- Bolts that know what comes in -------------------------------------------------------------------------------- */

static gx_buf seen;

static int note_inputs(const gx_args *args, gale_bolt *ret, gale_error *error) {
    static const gale_output out = { NULL, "p, q" };
    gx_buf_format(&seen, "%s:", gx_args_text(args, "name"));
    for (size_t i = 0; i < args->input_count; i++)
        gx_buf_format(&seen, " %s/%s(%s)", args->inputs[i].source, args->inputs[i].stream,
                      args->inputs[i].fields ? args->inputs[i].fields : "?");
    gx_buf_add_text(&seen, "\n");
    int rc = gale_null_bolt(ret, error);
    ret->outputs = &out;
    ret->output_count = 1;
    return rc;
}

static void sources_are_made_before_the_bolts_that_they_lead_to(void **state) {
    (void)state;
    static const gx_param params[] = { GX_ROW(TEXT, "name", NULL, "its own") };
    static const gx_class classes[] = {
        { .name = "my.Bolt", .kind = GX_CLASS_BOLT, GX_PARAMS(params), .text = "does", .make_bolt = note_inputs },
    };
    static const char text[] = "name: t\n"
                               "spouts: [{id: words, className: gale.spout.Words}]\n"
                               "bolts:\n"
                               "  - {id: c, className: my.Bolt, constructorArgs: [c]}\n"
                               "  - {id: b, className: my.Bolt, constructorArgs: [b]}\n"
                               "  - {id: a, className: my.Bolt, constructorArgs: [a]}\n"
                               "streams:\n"
                               "  - {from: a, to: b, grouping: {type: SHUFFLE}}\n"
                               "  - {from: b, to: c, grouping: {type: SHUFFLE}}\n"
                               "  - {from: c, to: b, grouping: {type: SHUFFLE}}\n"
                               "  - {from: words, to: a, grouping: {type: SHUFFLE}}\n"
                               "  - {from: words, to: a, grouping: {type: ALL, streamId: __dead_letter}}\n";
    gx_registry mine = *gx_registry_builtin();
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = NULL;
    seen = (gx_buf)GX_BUF_INIT(NULL);
    assert_int_equal(gx_registry_add(&mine, classes, 1, &error), 0);
    if (gx_flux_parse("t.yaml", gx_str(text), &mine, NULL, &topology, &error) < 0) fail_msg("%s", error.text);
    assert_string_equal(
        gx_buf_text(&seen),
        "a: words/default(word) words/__dead_letter(component, stream, message_id, tuple, reason, text, "
        "place, task, attempts)\n"
        "c: b/default(?)\n"
        "b: a/default(p, q) c/default(p, q)\n");
    assert_string_equal(topology->components[1]->name, "c"); /* the file's order stays */
    gale_topology_free(topology);
    gx_buf_fini(&seen);
}

/* --- Several errors ----------------------------------------------------------------------------------------------- */

static void all_errors_of_a_file_are_told_once_and_in_its_order(void **state) {
    (void)state;
    gx_problems problems = { .count = 0 };
    gx_flux_options options = { .problems = &problems };
    gale_topology *topology = NULL;
    gale_error error;
    gx_buf out = GX_BUF_INIT(NULL);
    static const char text[] =
        "name: t/\n"
        "config: {topology.dbug: true}\n"
        "spouts:\n"
        "  - {id: lines, className: gale.spout.File}\n"
        "bolts:\n"
        "  - {id: split, className: gale.bolt.Splitt}\n"
        "  - {id: count, className: gale.bolt.Count, paralelism: 2, properties: {emit: never, k: 1}}\n"
        "  - {id: sink, className: gale.bolt.Null}\n"
        "  - {id: idle, className: gale.bolt.Null}\n"
        "streams:\n"
        "  - {from: lines, to: split, grouping: {type: SHUFFLE}}\n"
        "  - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}\n"
        "  - {from: cuont, to: sink, grouping: {type: SHUFLE}}\n";
    assert_int_equal(load(text, &options, &topology, &error), GALE_TOPOLOGY);
    assert_string_equal(error.text, "");
    gx_problems_sort(&problems);
    for (size_t i = 0; i < problems.count; i++)
        gx_buf_format(&out, "%u:%u %s\n", problems.list[i].position.line, problems.list[i].position.column,
                      problems.list[i].text);
    assert_string_equal(gx_buf_text(&out),
                        "1:7 topology name 't/' has a '/'; none of / . : \\ may stand there\n"
                        "2:10 unknown key 'topology.dbug'; did you mean 'topology.debug'?\n"
                        "4:5 gale.spout.File needs 'path': the file to read, or '-' for the standard input\n"
                        "6:28 unknown class 'gale.bolt.Splitt'; did you mean 'gale.bolt.Split'?\n"
                        "7:45 unknown key 'paralelism' in a bolt; did you mean 'parallelism'?\n"
                        "7:79 'emit' of gale.bolt.Count must be one of: each finish; not 'never'\n"
                        "7:86 gale.bolt.Count has no property 'k'; it has: emit, key\n"
                        "13:12 there is no spout or bolt 'cuont'; did you mean 'count'?\n"
                        "13:46 unknown grouping 'SHUFLE'; did you mean 'SHUFFLE'?\n");
    assert_null(topology);
    gx_buf_fini(&out);
    gx_problems_fini(&problems);
}

/* --- Groupings ---------------------------------------------------------------------------------------------------- */

#define FIELDS "{type: FIELDS, args: [word]}"
#define PARTIAL "org.apache.storm.grouping.PartialKeyGrouping"

/* What `count` takes `split` by when the file says `text`; fields joined by commas. Warnings come to `lines`. */
static void expect_grouping(const char *text, int32_t kind, const char *fields, const char *warning) {
    log_lines lines = { GX_BUF_INIT(NULL) };
    gale_logger logger = { sizeof logger, GALE_LOG_WARN, keep_line, &lines };
    gx_flux_options options = { .logger = &logger };
    gx_buf file = with(FIELDS, text), names = GX_BUF_INIT(NULL);
    gale_topology *topology = loaded(gx_buf_text(&file), &options);
    const gx_component *count = gx_topology_find(topology, "count");
    const gx_subscription *input = &count->inputs[count->input_count - 1];
    for (uint32_t i = 0; i < input->field_count; i++) gx_buf_format(&names, "%s%s", i ? "," : "", input->fields[i]);
    assert_int_equal(input->grouping, kind);
    assert_string_equal(gx_buf_text(&names), fields);
    const char *said = strstr(gx_buf_text(&lines.text), "t.yaml:17");
    assert_string_equal(said ? said : "", warning);
    gale_topology_free(topology);
    gx_buf_fini(&file);
    gx_buf_fini(&names);
    gx_buf_fini(&lines.text);
}

static void every_grouping_has_a_name(void **state) {
    (void)state;
    expect_grouping("{type: ALL}", GALE_GROUPING_ALL, "", "");
    expect_grouping("{type: GLOBAL}", GALE_GROUPING_GLOBAL, "", "");
    expect_grouping("{type: NONE}", GALE_GROUPING_NONE, "", "");
    expect_grouping("{type: DIRECT}", GALE_GROUPING_DIRECT, "", "");
    expect_grouping("{type: LOCAL_OR_SHUFFLE}", GALE_GROUPING_LOCAL_OR_SHUFFLE, "", "");
    expect_grouping("{type: local_or_shuffle, args: []}", GALE_GROUPING_LOCAL_OR_SHUFFLE, "", "");
    expect_grouping("{type: PARTIAL_KEY}", GALE_GROUPING_PARTIAL_KEY, "", "");
    expect_grouping("{type: PARTIAL_KEY, args: [word]}", GALE_GROUPING_PARTIAL_KEY, "word", "");
    expect_grouping("{type: NONE, args: [word]}", GALE_GROUPING_NONE, "",
                    "t.yaml:17:59: 'args' has no effect in grouping none\n");
    expect_grouping("{type: ALL, customClass: {className: x}}", GALE_GROUPING_ALL, "",
                    "t.yaml:17:65: 'customClass' has no effect in grouping all\n");
}

/* The policy of `count` when its grouping says `text`. */
static int32_t policy_of(const char *text) {
    gx_buf file = with(FIELDS, text);
    gale_topology *topology = loaded(gx_buf_text(&file), NULL);
    const gx_component *count = gx_topology_find(topology, "count");
    int32_t drop = count->inputs[count->input_count - 1].drop;
    gale_topology_free(topology);
    gx_buf_fini(&file);
    return drop;
}

static void a_grouping_may_name_a_drop_policy(void **state) {
    (void)state;
    assert_int_equal(policy_of(FIELDS), GALE_DROP_NOTHING);
    assert_int_equal(policy_of("{type: SHUFFLE, drop: oldest}"), GALE_DROP_OLDEST);
    assert_int_equal(policy_of("{type: FIELDS, args: [word], drop: NEWEST}"), GALE_DROP_NEWEST);
    assert_int_equal(policy_of("{type: SHUFFLE, drop: nothing}"), GALE_DROP_NOTHING);
    expect_error("type: SHUFFLE", "type: SHUFFLE, drop: odlest",
                 "t.yaml:16:62: 'drop' must be oldest, newest or nothing, not 'odlest'; did you mean 'oldest'?");
    expect_error("type: SHUFFLE", "type: SHUFFLE, drop: [oldest]",
                 "t.yaml:16:62: 'drop' of a grouping must be a string, not a list");
    expect_error("type: SHUFFLE", "type: SHUFFLE, dorp: oldest",
                 "t.yaml:16:56: unknown key 'dorp' in a grouping; did you mean 'drop'?");
}

static void storms_partial_key_class_is_known(void **state) {
    (void)state;
    expect_grouping("{type: CUSTOM, customClass: {className: " PARTIAL "}}", GALE_GROUPING_PARTIAL_KEY, "", "");
    expect_grouping("{type: CUSTOM, customClass: {className: " PARTIAL ", constructorArgs: [word]}}",
                    GALE_GROUPING_PARTIAL_KEY, "word", "");
    expect_grouping("{type: CUSTOM, customClass: {className: " PARTIAL ", constructorArgs: [[word]]}}",
                    GALE_GROUPING_PARTIAL_KEY, "word", "");
    expect_grouping("{type: CUSTOM, customClass: {className: org.apache.storm.grouping.ShuffleGrouping}}",
                    GALE_GROUPING_SHUFFLE, "", "");
    expect_grouping("{type: CUSTOM, args: [word], customClass: {className: " PARTIAL "}}", GALE_GROUPING_PARTIAL_KEY,
                    "", "t.yaml:17:61: 'args' has no effect in grouping custom\n");
}

static void a_custom_grouping_that_cannot_be_made_is_refused(void **state) {
    (void)state;
    expect_error(FIELDS, "{type: CUSTOM}", "t.yaml:17:40: a CUSTOM grouping needs 'customClass'");
    expect_error(FIELDS, "{type: CUSTOM, customClass: x}", "t.yaml:17:68: a customClass must be a map, not a string");
    expect_error(FIELDS, "{type: CUSTOM, customClass: {}}", "t.yaml:17:68: a customClass needs the field 'className'");
    expect_error(
        FIELDS, "{type: CUSTOM, customClass: {className: com.example.Mine}}",
        "t.yaml:17:80: unknown grouping class 'com.example.Mine' (org.apache.storm.grouping has PartialKeyGrouping, "
        "ShuffleGrouping and LoadAwareShuffleGrouping; others are made with gale_custom)");
    expect_error(
        FIELDS, "{type: CUSTOM, customClass: {className: my.PartialKeyGruping}}",
        "t.yaml:17:80: unknown grouping class 'my.PartialKeyGruping' (org.apache.storm.grouping has "
        "PartialKeyGrouping, ShuffleGrouping and LoadAwareShuffleGrouping; others are made with gale_custom); did "
        "you mean '" PARTIAL "'?");
    expect_error(FIELDS, "{type: CUSTOM, customClass: {className: " PARTIAL ", constructorArgs: [wrod]}}",
                 "t.yaml:17:144: 'split' has no field 'wrod' in stream 'default'; did you mean 'word'?");
    expect_error(FIELDS, "{type: CUSTOM, customClass: {className: " PARTIAL ", constructorArgs: [[[word]]]}}",
                 "t.yaml:17:145: a field's name must be a string, not a list");
    expect_error(FIELDS, "{type: CUSTOM, customClass: {className: " PARTIAL ", properties: [{name: a, value: b}]}}",
                 "t.yaml:17:126: a customClass has no 'properties' here: fields are its constructorArgs");
    expect_error(FIELDS, "{type: PARTIAL_KEY, args: [wrod]}",
                 "t.yaml:17:67: 'split' has no field 'wrod' in stream 'default'; did you mean 'word'?");
    expect_error(FIELDS, "{type: PARTIAL_KY}",
                 "t.yaml:17:47: unknown grouping 'PARTIAL_KY'; did you mean 'PARTIAL_KEY'?");
}

static void a_second_grouping_for_one_stream_replaces_the_first_with_a_warning(void **state) {
    (void)state;
    expect_grouping(FIELDS "}\n  - {from: split, to: count, grouping: {type: ALL}", GALE_GROUPING_ALL, "", "");
    log_lines lines = { GX_BUF_INIT(NULL) };
    gale_logger logger = { sizeof logger, GALE_LOG_WARN, keep_line, &lines };
    gx_flux_options options = { .logger = &logger };
    gx_buf file = with(FIELDS, FIELDS "}\n  - {from: split, to: count, grouping: {type: ALL}");
    gale_topology *topology = loaded(gx_buf_text(&file), &options);
    assert_int_equal(gx_topology_find(topology, "count")->input_count, 1);
    assert_non_null(strstr(gx_buf_text(&lines.text),
                           "t.yaml:18:12: 'count' subscribes again to stream 'default' of 'split': this grouping "
                           "replaces the one before\n"));
    gale_topology_free(topology);
    gx_buf_fini(&file);
    gx_buf_fini(&lines.text);
}

static void a_stream_may_come_from_the_system(void **state) {
    (void)state;
    expect_error("{from: lines, to: split, grouping: {type: SHUFFLE}}",
                 "{from: __system, to: split, grouping: {type: ALL, streamId: __tick}}",
                 "t.yaml:16:3: bolt 'split' subscribes to the ticks of '__system', but would get none: "
                 "topology.tick.tuple.freq.secs is set "
                 "neither for it nor for the topology");
    expect_error("{from: lines, to: split, grouping: {type: SHUFFLE}}",
                 "{from: __system, to: split, grouping: {type: ALL, streamId: __tock}}",
                 "t.yaml:16:65: '__system' has no stream '__tock'; did you mean '__tick'?");
    gx_buf file = with("{topology.debug: false}", "{topology.tick.tuple.freq.secs: 1}");
    gx_buf_add_text(&file, "  - {from: __system, to: count, grouping: {type: ALL, streamId: __tick}}\n");
    gale_topology *topology = loaded(gx_buf_text(&file), NULL);
    assert_non_null(gx_topology_find(topology, "count")->ticks);
    assert_int_equal(gx_topology_find(topology, "count")->input_count, 1);
    gale_topology_free(topology);
    gx_buf_fini(&file);
}

static void shape_of_the_graph_is_checked(void **state) {
    (void)state;
    expect_error("  - {from: lines, to: split, grouping: {type: SHUFFLE}}\n", "",
                 "t.yaml:8:9: bolt 'split' has no input: no stream leads to it");
    expect_error("to: split", "to: lines", "t.yaml:16:23: 'lines' is a spout; a stream leads to a bolt");
    expect_error("id: count", "id: split", "t.yaml:11:9: the name 'split' is taken already (line 8)");
    expect_error("name: t", "name: a/b", "t.yaml:1:7: topology name 'a/b' has a '/'; none of / . : \\ may stand there");
}

static void error_of_a_component_gets_its_place(void **state) {
    (void)state;
    expect_error("gale.bolt.Count\n", "gale.bolt.RollingCount\n    constructorArgs: [1, 2]\n",
                 "t.yaml:11:5: rolling count bolt: a window of 1 seconds, emitted every 2, has 0 slots, must have 2 to "
                 "1000000");
}

static void unknown_components_class_is_refused(void **state) {
    (void)state;
    expect_error("name: t\n", "name: t\ncomponents: [{id: a, className: java.util.Random}]\n",
                 "t.yaml:2:33: gale has no counterpart of 'java.util.Random': it is an object of Java's; properties of "
                 "gale's classes are texts, numbers, lists and maps");
    expect_error("name: t\n",
                 "name: t\ncomponents:\n  - {id: a, className: gale.Value, constructorArgs: [1]}\n"
                 "  - {id: a, className: gale.Value, constructorArgs: [1]}\n",
                 "t.yaml:4:10: there is a component 'a' already");
}

static void setting_that_no_component_reads_is_an_error(void **state) {
    (void)state;
    gale_setting setting = { "gale.output", gale_text("b.txt") };
    gx_flux_options options = { .settings = &setting, .setting_count = 1 };
    expect_error_with("", "", &options, "t.yaml: no component reads gale.output (gale.bolt.FileSink would)");
    const gale_setting member = { "gale.member", gale_text("1/3") };
    gx_flux_options shared = { .settings = &member, .setting_count = 1 };
    expect_error_with("", "", &shared,
                      "t.yaml: --member 1/3: nothing in this file takes a share by it, as gale.spout.Kafka does: each "
                      "process would read all, or what its group gives it");
}

static void bad_assignments_are_refused(void **state) {
    (void)state;
    const char *unknown[] = { "topology.max.spout.pendin=7" }, *shapeless[] = { "x" };
    gx_flux_options options = { .assignments = unknown, .assignment_count = 1 };
    expect_error_with("", "", &options,
                      "unknown key 'topology.max.spout.pendin'; did you mean 'topology.max.spout.pending'?");
    options.assignments = shapeless;
    expect_error_with("", "", &options, "'x' is no 'key=value'");
}

/* An access log: host, user, time, request... */
static const char requests[] = "name: t\n"
                               "spouts:\n"
                               "  - {id: lines, className: gale.spout.AccessLog}\n"
                               "bolts:\n"
                               "  - {id: parse, className: gale.bolt.AccessLog}\n"
                               "  - {id: count, className: %s, parallelism: 2, properties: [%s]}\n"
                               "streams:\n"
                               "  - {from: lines, to: parse, grouping: {type: SHUFFLE}}\n"
                               "  - {from: parse, to: count, grouping: %s}\n";

static void expect_refused(const char *class_, const char *grouping, const char *message) {
    gx_buf text = GX_BUF_INIT(NULL);
    gx_buf_format(&text, requests, class_, "", grouping);
    gale_topology *topology = NULL;
    gale_error error;
    assert_int_equal(load(gx_buf_text(&text), NULL, &topology, &error), GALE_TOPOLOGY);
    assert_string_equal(error.text, message);
    gx_buf_fini(&text);
}

static void expect_grouped(const char *class_, const char *properties, const char *grouping, const char *message) {
    gx_buf text = GX_BUF_INIT(NULL);
    log_lines lines = { GX_BUF_INIT(NULL) };
    gale_logger logger = { sizeof logger, GALE_LOG_WARN, keep_line, &lines };
    gx_flux_options options = { .logger = &logger };
    gale_topology *topology = NULL;
    gale_error error;
    gx_buf_format(&text, requests, class_, properties, grouping);
    assert_int_equal(load(gx_buf_text(&text), &options, &topology, &error), 0);
    if (lines.text.size) lines.text.size--; /* the line's end */
    assert_string_equal(gx_buf_text(&lines.text), message);
    gale_topology_free(topology);
    gx_buf_fini(&lines.text);
    gx_buf_fini(&text);
}

static void a_bolt_that_is_grouped_by_another_field_than_its_key_is_refused_unless_the_file_names_the_key(
    void **state) {
    (void)state;
    static const char by_request[] = "{type: FIELDS, args: [request]}", count[] = "gale.bolt.Count";
    expect_refused(
        count, by_request,
        "t.yaml:9:40: 'count' is grouped by 'request', but counts 'host', the first field of 'parse': give it "
        "the property 'key' with the value request, or group it by host");
    expect_grouped("gale.bolt.RollingCount", "{name: field, value: agent}", "{type: PARTIAL_KEY, args: [request]}",
                   "t.yaml:9:40: 'count' is grouped by 'request', but its 'key' is 'agent': what is equal would come "
                   "to several tasks");
    expect_refused(count, "{type: FIELDS, args: [host, user]}",
                   "t.yaml:9:40: 'count' is grouped by 'user', but counts 'host', the first field of 'parse': give it "
                   "the property 'key' with the value user, or group it by host");
    expect_grouped("gale.bolt.Dedupe", "{name: key, value: 'host, agent'}", by_request,
                   "t.yaml:9:40: 'count' is grouped by 'request', but its 'key' is 'host, agent': what is equal would "
                   "come to several tasks");
    expect_grouped(count, "{name: field, value: request}", by_request, "");
    expect_grouped(count, "", "{type: FIELDS, args: [host]}", "");
    expect_grouped(
        count, "", "{type: SHUFFLE}",
        "t.yaml:6:10: 'count' has 2 tasks and takes what comes from 'parse' by shuffle: what is equal comes to "
        "several of them, and each knows a part of it; a grouping by fields brings it to one");
    expect_grouped(count, "", "{type: GLOBAL}", "");
    expect_grouped(
        "gale.bolt.Unique", "{name: key, value: 'host, agent'}", "{type: FIELDS, args: [agent]}",
        "t.yaml:6:10: 'count' goes by the tuples' own time ('time') and hears no watermark: it tells nothing "
        "before the input ends; the stream `watermark` of a gale.bolt.EventTime (grouping ALL) tells it");
    expect_grouped("gale.bolt.Null", "", by_request, "");
}

static void assignments_that_nothing_reads_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *assignment, *message;
    } rows[] = {
        { "nonsense=5", "unknown key 'nonsense'" },
        { "max.spout.pendng=5", "unknown key 'max.spout.pendng'; did you mean 'topology.max.spout.pending'? A "
                                "component's own key needs a name "
                                "that is not Storm's, as 'my.max.spout.pendng'" },
        { "worker=5", "unknown key 'worker'; did you mean 'topology.workers'?" },
        { "storm=5", "unknown key 'storm'" },
        { " count.parallelism = 3",
          "unknown key 'count.parallelism': -c sets keys of the whole topology; what is 'count's "
          "own (t.yaml:11:9) is set with --set count.parallelism=..." },
        { "split.gale.executor=0", "unknown key 'split.gale.executor': -c sets keys of the whole topology; what is "
                                   "'split's own (t.yaml:8:9) is set with --set split.gale.executor=..." },
        { "=5", "a configuration key is empty" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gx_flux_options options = { .assignments = &rows[i].assignment, .assignment_count = 1 };
        expect_error_with("", "", &options, rows[i].message);
    }
}

static void an_assignment_may_change_what_the_file_gives_a_component(void **state) {
    (void)state;
    const char *assignments[] = { "my.own=2" };
    gx_flux_options options = { .assignments = assignments, .assignment_count = 1 };
    gx_buf text = with("    parallelism: 3\n", "    parallelism: 3\n    config: {my.own: 1}\n");
    gale_topology_free(loaded(gx_buf_text(&text), &options));
    gx_buf_fini(&text);
}

static void empty_and_absent_files_are_refused(void **state) {
    (void)state;
    gale_topology *topology = NULL;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(load("", NULL, &topology, &error), GALE_TOPOLOGY);
    assert_string_equal(error.text, "t.yaml: the file is empty");
    assert_int_equal(load("just text", NULL, &topology, &error), GALE_TYPE);
    assert_string_equal(error.text, "t.yaml:1:1: a topology must be a map, not a string");
    assert_int_equal(gx_flux_load("/no/such.yaml", gx_registry_builtin(), NULL, &topology, &error), GALE_IO);
    assert_string_equal(error.text, "cannot open '/no/such.yaml': No such file or directory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_becomes_a_topology),
        cmocka_unit_test(tasks_are_num_tasks_else_parallelism_else_one),
        cmocka_unit_test(components_can_be_referred_to),
        cmocka_unit_test(component_configuration_is_its_own),
        cmocka_unit_test(assignments_lie_over_the_file),
        cmocka_unit_test(who_writes_to_the_standard_output_is_known),
        cmocka_unit_test(keys_of_a_cluster_are_warned_about),
        cmocka_unit_test(key_without_effect_is_warned_about_once),
        cmocka_unit_test(missing_fields_are_named),
        cmocka_unit_test(wrong_types_are_refused),
        cmocka_unit_test(unknown_names_are_refused_with_the_nearest),
        cmocka_unit_test(what_only_java_can_do_is_refused_with_what_to_do_instead),
        cmocka_unit_test(a_class_of_storms_that_gale_has_not_names_what_to_use_and_what_is_missing),
        cmocka_unit_test(a_command_line_sets_what_is_a_components_own),
        cmocka_unit_test(what_a_command_line_cannot_set_is_refused),
        cmocka_unit_test(a_bolts_own_fields_must_come_in),
        cmocka_unit_test(an_error_that_is_merged_is_told_once),
        cmocka_unit_test(what_is_secret_is_in_no_message),
        cmocka_unit_test(sources_are_made_before_the_bolts_that_they_lead_to),
        cmocka_unit_test(all_errors_of_a_file_are_told_once_and_in_its_order),
        cmocka_unit_test(every_grouping_has_a_name),
        cmocka_unit_test(a_grouping_may_name_a_drop_policy),
        cmocka_unit_test(storms_partial_key_class_is_known),
        cmocka_unit_test(a_custom_grouping_that_cannot_be_made_is_refused),
        cmocka_unit_test(a_second_grouping_for_one_stream_replaces_the_first_with_a_warning),
        cmocka_unit_test(a_stream_may_come_from_the_system),
        cmocka_unit_test(shape_of_the_graph_is_checked),
        cmocka_unit_test(error_of_a_component_gets_its_place),
        cmocka_unit_test(unknown_components_class_is_refused),
        cmocka_unit_test(setting_that_no_component_reads_is_an_error),
        cmocka_unit_test(a_bolt_that_is_grouped_by_another_field_than_its_key_is_refused_unless_the_file_names_the_key),
        cmocka_unit_test(bad_assignments_are_refused),
        cmocka_unit_test(assignments_that_nothing_reads_are_refused),
        cmocka_unit_test(an_assignment_may_change_what_the_file_gives_a_component),
        cmocka_unit_test(empty_and_absent_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
