#include "front/overlap.h"

#include "base/str.h"
#include "connect/file/state.h"
#include "front/builtin.h"
#include "front/flux.h"
#include "harness/cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct fixture {
    char folder[64];
    char input[80], link[80], other[80], missing[80];
} fixture;

static void make_file(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("a b\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    snprintf(f->folder, sizeof f->folder, "/tmp/gale-overlap-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->input, sizeof f->input, "%s/input", f->folder);
    snprintf(f->link, sizeof f->link, "%s/link", f->folder);
    snprintf(f->other, sizeof f->other, "%s/other", f->folder);
    snprintf(f->missing, sizeof f->missing, "%s/missing", f->folder);
    make_file(f->input);
    make_file(f->other);
    assert_int_equal(symlink("input", f->link), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    unlink(f->input);
    unlink(f->link);
    unlink(f->other);
    rmdir(f->folder);
    free(f);
    return 0;
}

/* A spout reads `input` and keeps its place in `kept` (NULL: nowhere), a sink writes `output`; `more` is put at the
 * file's end. */
static int load(const char *input, const char *kept, const char *output, const char *more,
                const gx_flux_options *options, gale_error *error) {
    char text[1500], place[200] = "";
    gale_topology *topology = NULL;
    if (kept) snprintf(place, sizeof place, "    properties: [{name: state, value: '%s'}]\n", kept);
    snprintf(text, sizeof text,
             "name: t\n"
             "spouts:\n"
             "  - id: lines\n"
             "    className: gale.spout.File\n"
             "    constructorArgs: ['%s']\n%s"
             "bolts:\n"
             "  - id: sink\n"
             "    className: gale.bolt.FileSink\n"
             "    constructorArgs: ['%s']\n"
             "streams: [{from: lines, to: sink, grouping: {type: SHUFFLE}}]\n%s",
             input, place, output, more);
    *error = (gale_error)GALE_ERROR_INIT;
    int code = gx_flux_parse("t.yaml", gx_str(text), gx_registry_builtin(), options, &topology, error);
    gale_topology_free(topology);
    return code;
}

static void expect_refusal(int code, const gale_error *error, const char *writer, const char *path) {
    char message[300];
    snprintf(message, sizeof message, "t.yaml: '%s' would write to the file that 'lines' reads: '%s'", writer, path);
    assert_int_equal(code, GALE_INVALID);
    assert_string_equal(error->text, message);
}

static void one_file_for_both_is_refused_whatever_it_is_called(void **state) {
    const fixture *f = *state;
    gale_error error;
    expect_refusal(load(f->input, NULL, f->input, "", NULL, &error), &error, "sink", f->input);
    expect_refusal(load(f->input, NULL, f->link, "", NULL, &error), &error, "sink", f->input);
    expect_refusal(load(f->link, NULL, f->input, "", NULL, &error), &error, "sink", f->link);
}

static void two_files_are_fine(void **state) {
    const fixture *f = *state;
    gale_error error;
    assert_int_equal(load(f->input, NULL, f->other, "", NULL, &error), 0);
    assert_int_equal(load(f->input, NULL, f->missing, "", NULL, &error), 0);
}

static void one_that_is_not_there_is_known_by_its_place(void **state) {
    const fixture *f = *state;
    gale_error error;
    char other[100];
    snprintf(other, sizeof other, "%s/./missing", f->folder);
    expect_refusal(load(f->missing, NULL, other, "", NULL, &error), &error, "sink", f->missing);
    assert_int_equal(load(f->missing, NULL, f->other, "", NULL, &error), 0);
    assert_int_equal(load("/no/such/folder/x", NULL, "/no/such/folder/x", "", NULL, &error), 0); /* it cannot be made */
}

static void so_is_one_that_a_link_leads_to(void **state) {
    const fixture *f = *state;
    gale_error error;
    char first[100], second[100], whole[200];
    snprintf(first, sizeof first, "%s/first", f->folder);
    snprintf(second, sizeof second, "%s/second", f->folder);
    assert_int_equal(symlink("second", first), 0);
    assert_int_equal(symlink(f->missing, second), 0);
    expect_refusal(load(f->missing, NULL, first, "", NULL, &error), &error, "sink", f->missing);
    expect_refusal(load(second, NULL, f->missing, "", NULL, &error), &error, "sink", second);
    snprintf(whole, sizeof whole, "%s/third", f->folder);
    assert_int_equal(load(f->missing, NULL, whole, "", NULL, &error), 0);
    unlink(second);
    assert_int_equal(symlink("first", second), 0); /* round and round: cannot be made */
    assert_int_equal(load(f->missing, NULL, first, "", NULL, &error), 0);
    unlink(first);
    unlink(second);
}

static void refuse(int code, const gale_error *error, const char *who, const char *use, const char *path) {
    char message[600];
    snprintf(message, sizeof message, "t.yaml: %s would write to the file that %s: '%s'", who, use, path);
    assert_string_equal(error->text, message);
    assert_int_equal(code, GALE_INVALID);
}

static void a_state_and_what_stands_beside_it_are_nothing_elses(void **state) {
    const fixture *f = *state;
    static const char *const endings[] = { "", ".new", ".lock" };
    gale_error error;
    for (int i = 0; i < 3; i++) {
        char path[100];
        snprintf(path, sizeof path, "%s%s", f->missing, endings[i]);
        refuse(load(f->input, f->missing, path, "", NULL, &error), &error, "'sink'", "'lines' keeps its place in",
               path);
    }
    assert_int_equal(load(f->input, f->missing, f->other, "", NULL, &error), 0);
}

static void so_are_those_of_every_task(void **state) {
    const fixture *f = *state;
    gale_error error;
    gale_topology *topology = NULL;
    char text[1000], path[100];
    snprintf(text, sizeof text,
             "name: t\n"
             "spouts:\n"
             "  - {id: lines, className: gale.spout.File, parallelism: 3, constructorArgs: ['%s'], properties: [{name: "
             "state, value: '%s/s'}]}\n"
             "bolts:\n"
             "  - {id: sink, className: gale.bolt.FileSink, parallelism: 3, constructorArgs: ['%s/s.2.lock']}\n"
             "streams: [{from: lines, to: sink, grouping: {type: SHUFFLE}}]\n",
             f->input, f->folder, f->folder);
    error = (gale_error)GALE_ERROR_INIT;
    int code = gx_flux_parse("t.yaml", gx_str(text), gx_registry_builtin(), NULL, &topology, &error);
    snprintf(path, sizeof path, "%s/s.2.lock", f->folder);
    refuse(code, &error, "'sink'", "'lines' keeps its place in", path);
}

static void dead_letters_have_a_file_of_their_own(void **state) {
    const fixture *f = *state;
    gale_error error;
    const char *const others[] = { f->input, f->other, f->missing, f->link };
    const char *const uses[] = { "'lines' reads", "'sink' writes", "'lines' keeps its place in", "'lines' reads" };
    for (int i = 0; i < 4; i++) {
        char more[200];
        snprintf(more, sizeof more, "config: {topology.dead_letters.file: '%s', topology.replay.attempts: 2}\n",
                 others[i]);
        refuse(load(f->input, f->missing, f->other, more, NULL, &error), &error, "topology.dead_letters.file", uses[i],
               i == 3 ? f->input : others[i]);
    }
}

static void what_the_command_line_names_counts(void **state) {
    const fixture *f = *state;
    gale_error error;
    gx_named_file files[] = { { .who = "--events-file", .verb = "writes", .path = f->other, .written = true },
                              { .who = "gale", .verb = "reads the topology from", .path = f->input } };
    gx_flux_options options = { .files = files, .file_count = 2 };
    refuse(load(f->missing, NULL, f->other, "", &options, &error), &error, "--events-file", "'sink' writes", f->other);
    refuse(load(f->missing, NULL, f->link, "", &options, &error), &error, "'sink'", "gale reads the topology from",
           f->input);
    files[0].path = files[1].path = NULL;
    assert_int_equal(load(f->missing, NULL, f->other, "", &options, &error), 0);
    files[0] = (gx_named_file){ .who = "x", .verb = "reads", .path = f->other, .advice = "; take another" };
    assert_int_equal(load(f->input, NULL, f->other, "", &options, &error), GALE_INVALID);
    assert_non_null(strstr(error.text, "'sink' would write to the file that x reads: '"));
    assert_non_null(strstr(error.text, "other'; take another"));
}

static void two_that_write_have_a_file_each_but_for_the_standard_output(void **state) {
    const fixture *f = *state;
    gale_error error;
    gale_topology *topology = NULL;
    const char *const paths[] = { f->missing, f->other, "-" };
    for (int i = 0; i < 3; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "name: t\n"
                 "spouts:\n"
                 "  - {id: lines, className: gale.spout.File, constructorArgs: ['%s']}\n"
                 "bolts:\n"
                 "  - {id: a, className: gale.bolt.FileSink, constructorArgs: ['%s']}\n"
                 "  - {id: b, className: gale.bolt.FileSink, constructorArgs: ['%s']}\n"
                 "streams:\n"
                 "  - {from: lines, to: a, grouping: {type: SHUFFLE}}\n"
                 "  - {from: lines, to: b, grouping: {type: SHUFFLE}}\n",
                 f->input, paths[i], paths[i]);
        error = (gale_error)GALE_ERROR_INIT;
        int code = gx_flux_parse("t.yaml", gx_str(text), gx_registry_builtin(), NULL, &topology, &error);
        if (i < 2)
            refuse(code, &error, "'b'", "'a' writes", paths[i]);
        else
            assert_int_equal(code, 0);
    }
    gale_topology_free(topology);
}

/* --- Results that are gone on with -------------------------------------------------------------------------------- */

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void keep_place(const char *path, int64_t offset) {
    gx_file_state place = { .tasks = 1, .offset = offset, .lines = offset ? 1 : 0 };
    char text[GX_FILE_STATE_TEXT];
    write_text(path, gx_file_state_format(&place, text).data);
}

/* As `load`, with what the sink says of what its file holds; "": nothing. */
static int load_appending(const fixture *f, const char *append, const gx_flux_options *options, gale_error *error) {
    char text[1500], property[100] = "";
    gale_topology *topology = NULL;
    if (*append) snprintf(property, sizeof property, "    properties: [{name: append, value: %s}]\n", append);
    snprintf(text, sizeof text,
             "name: t\n"
             "spouts:\n"
             "  - id: lines\n"
             "    className: gale.spout.File\n"
             "    constructorArgs: ['%s']\n"
             "    properties: [{name: state, value: '%s'}]\n"
             "bolts:\n"
             "  - id: sink\n"
             "    className: gale.bolt.FileSink\n"
             "    constructorArgs: ['%s']\n%s"
             "streams: [{from: lines, to: sink, grouping: {type: SHUFFLE}}]\n",
             f->input, f->missing, f->other, property);
    *error = (gale_error)GALE_ERROR_INIT;
    int code = gx_flux_parse("t.yaml", gx_str(text), gx_registry_builtin(), options, &topology, error);
    gale_topology_free(topology);
    return code;
}

static void expect_kept(const fixture *f, int code, const gale_error *error, const char *who) {
    char message[600];
    snprintf(message, sizeof message,
             "t.yaml: 'sink' would replace '%s' (append: false), but %s: what that one wrote would be lost; leave "
             "`append` out, or write to another file",
             f->other, who);
    assert_string_equal(error->text, message);
    assert_int_equal(code, GALE_INVALID);
}

static void results_are_not_replaced_by_a_run_that_goes_on(void **state) {
    const fixture *f = *state;
    gale_error error;
    char who[200];
    assert_int_equal(load_appending(f, "false", NULL, &error), 0); /* no state: from the beginning */
    keep_place(f->missing, 0);
    assert_int_equal(load_appending(f, "false", NULL, &error), 0);
    keep_place(f->missing, 4);
    snprintf(who, sizeof who, "'lines' goes on with an earlier run (state '%s')", f->missing);
    expect_kept(f, load_appending(f, "false", NULL, &error), &error, who);
    assert_int_equal(load_appending(f, "true", NULL, &error), 0);
    assert_int_equal(load_appending(f, "", NULL, &error), 0); /* the sink sees for itself */
    gx_flux_options dry = { .dry = true };
    assert_int_equal(load_appending(f, "false", &dry, &error), 0);
    write_text(f->other, "");
    assert_int_equal(load_appending(f, "false", NULL, &error), 0); /* nothing is lost */
    unlink(f->missing);
}

static void nor_by_one_that_emits_letters_again(void **state) {
    const fixture *f = *state;
    gale_error error;
    gx_named_file letters = { .who = "--replay-dead-letters", .verb = "reads", .path = f->missing, .goes_on = true };
    gx_flux_options options = { .files = &letters, .file_count = 1 };
    char other[100];
    fixture moved = *f;
    snprintf(other, sizeof other, "%s.s", f->missing);
    snprintf(moved.missing, sizeof moved.missing, "%.70s.s", f->missing);
    expect_kept(f, load_appending(&moved, "false", &options, &error), &error,
                "--replay-dead-letters goes on with an earlier run");
    letters.path = NULL;
    assert_int_equal(load_appending(&moved, "false", &options, &error), 0);
}

static void what_is_no_regular_file_may_be_both(void **state) {
    (void)state;
    gale_error error;
    assert_int_equal(load("/dev/null", NULL, "/dev/null", "", NULL, &error), 0);
}

static void a_file_that_keeps_the_place_counts_as_written(void **state) {
    const fixture *f = *state;
    gale_error error;
    expect_refusal(load(f->input, f->input, f->other, "", NULL, &error), &error, "lines", f->input);
}

static void the_configuration_names_other_paths(void **state) {
    const fixture *f = *state;
    gale_error error;
    char more[200];
    snprintf(more, sizeof more, "config: {gale.output: '%s'}\n", f->link);
    expect_refusal(load(f->input, NULL, f->other, more, NULL, &error), &error, "sink", f->input);
    snprintf(more, sizeof more, "config: {gale.output: '%s'}\n", f->other);
    assert_int_equal(load(f->input, NULL, f->input, more, NULL, &error), 0);
}

static void so_does_the_command_line(void **state) {
    const fixture *f = *state;
    gale_error error;
    gale_setting settings[] = { { "gale.input", gale_text(f->link) }, { "gale.output", gale_text(f->input) } };
    gx_flux_options options = { .settings = settings, .setting_count = 2 };
    expect_refusal(load(f->other, NULL, f->missing, "", &options, &error), &error, "sink", f->link);
}

/* With '-' as the first argument, if there is one. */
static gx_used used_of(const char *class_, const char *id) {
    gx_args args = gx_args_of(gx_registry_find(gx_registry_builtin(), gx_str(class_)));
    args.values[0] = gale_text("-");
    return gx_used_of(&args, id);
}

static void a_class_names_its_files_by_the_roles_of_its_parameters(void **state) {
    (void)state;
    gx_used sink = used_of("gale.bolt.FileSink", "s");
    assert_string_equal(sink.writes, "-");
    assert_null(sink.reads);
    gx_used input = used_of("gale.spout.Stdin", "i");
    assert_string_equal(input.reads, "-");
    assert_null(input.writes);
    gx_used printer = used_of("gale.bolt.Printer", "p");
    assert_string_equal(printer.writes, "-");
    gx_used null = used_of("gale.bolt.Null", "n");
    assert_null(null.reads);
    assert_null(null.writes);
}

static void nothing_used_is_nothing_to_refuse(void **state) {
    (void)state;
    gale_topology *topology = gale_topology_new("t");
    assert_int_equal(gx_overlap_check(&(gx_files){ .topology = topology }, NULL), 0);
    gale_topology_free(topology);
}

static void a_sink_does_not_write_what_a_pattern_follows(void **state) {
    fixture *f = *state;
    gale_error error;
    char pattern[200], wanted[300];
    snprintf(pattern, sizeof pattern, "%s/o*[r]', 3, false, ~, 1, line, true, 'start", f->folder); /* other */
    assert_int_equal(load(pattern, NULL, f->other, "", NULL, &error), GALE_INVALID);
    snprintf(wanted, sizeof wanted, "'sink' would write to the file that 'lines' reads: '%s/o*[r]'", f->folder);
    if (!strstr(error.text, wanted)) assert_string_equal(error.text, wanted);
    assert_int_equal(load(pattern, NULL, f->missing, "", NULL, &error), GALE_OK);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(one_file_for_both_is_refused_whatever_it_is_called),
        CASE(a_sink_does_not_write_what_a_pattern_follows),
        CASE(two_files_are_fine),
        CASE(one_that_is_not_there_is_known_by_its_place),
        CASE(so_is_one_that_a_link_leads_to),
        CASE(a_state_and_what_stands_beside_it_are_nothing_elses),
        CASE(so_are_those_of_every_task),
        CASE(dead_letters_have_a_file_of_their_own),
        CASE(what_the_command_line_names_counts),
        CASE(two_that_write_have_a_file_each_but_for_the_standard_output),
        CASE(results_are_not_replaced_by_a_run_that_goes_on),
        CASE(nor_by_one_that_emits_letters_again),
        CASE(what_is_no_regular_file_may_be_both),
        CASE(a_file_that_keeps_the_place_counts_as_written),
        CASE(the_configuration_names_other_paths),
        CASE(so_does_the_command_line),
        cmocka_unit_test(a_class_names_its_files_by_the_roles_of_its_parameters),
        cmocka_unit_test(nothing_used_is_nothing_to_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
