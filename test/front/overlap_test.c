#include "front/overlap.h"

#include "base/str.h"
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

static void two_files_are_fine_and_so_is_one_that_is_not_there(void **state) {
    const fixture *f = *state;
    gale_error error;
    assert_int_equal(load(f->input, NULL, f->other, "", NULL, &error), 0);
    assert_int_equal(load(f->input, NULL, f->missing, "", NULL, &error), 0);
    assert_int_equal(load(f->missing, NULL, f->missing, "", NULL, &error), 0);
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

static void a_class_names_its_files_by_the_places_of_its_parameters(void **state) {
    (void)state;
    gale_value values[GX_PARAMS_MAX] = { gale_text("-") };
    const gx_registry *registry = gx_registry_builtin();
    gx_used sink = gx_used_of(gx_registry_find(registry, gx_str("gale.bolt.FileSink")), "s", values);
    assert_string_equal(sink.writes, "-");
    assert_null(sink.reads);
    gx_used input = gx_used_of(gx_registry_find(registry, gx_str("gale.spout.Stdin")), "i", values);
    assert_string_equal(input.reads, "-");
    assert_null(input.writes);
    gx_used printer = gx_used_of(gx_registry_find(registry, gx_str("gale.bolt.Printer")), "p", values);
    assert_string_equal(printer.writes, "-");
    gx_used null = gx_used_of(gx_registry_find(registry, gx_str("gale.bolt.Null")), "n", values);
    assert_null(null.reads);
    assert_null(null.writes);
}

static void nothing_used_is_nothing_to_refuse(void **state) {
    (void)state;
    gale_topology *topology = gale_topology_new("t");
    assert_int_equal(gx_overlap_check(topology, NULL, 0, NULL), 0);
    gale_topology_free(topology);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(one_file_for_both_is_refused_whatever_it_is_called),
        CASE(two_files_are_fine_and_so_is_one_that_is_not_there),
        CASE(what_is_no_regular_file_may_be_both),
        CASE(a_file_that_keeps_the_place_counts_as_written),
        CASE(the_configuration_names_other_paths),
        CASE(so_does_the_command_line),
        cmocka_unit_test(a_class_names_its_files_by_the_places_of_its_parameters),
        cmocka_unit_test(nothing_used_is_nothing_to_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
