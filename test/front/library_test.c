/* Topologies from files, as an application has them: libgale and libgale-front, and no inner header. */
#include <gale/gale.h>
#include <gale_front.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cm.h"

static const char words[] = "name: words\n"
                            "spouts:\n"
                            "  - id: lines\n"
                            "    className: gale.spout.File\n"
                            "    properties: {path: /nowhere}\n"
                            "bolts:\n"
                            "  - {id: split, className: gale.bolt.Split}\n"
                            "  - {id: count, className: gale.bolt.Count, properties: {emit: finish}}\n"
                            "  - id: sink\n"
                            "    className: gale.bolt.FileSink\n"
                            "    properties: {path: '${OUT}'}\n"
                            "streams:\n"
                            "  - {from: lines, to: split, grouping: {type: SHUFFLE}}\n"
                            "  - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}\n"
                            "  - {from: count, to: sink, grouping: {type: GLOBAL}}\n";

static gale_str text_of(const char *text) {
    return (gale_str){ text, strlen(text) };
}

/* A new file in the folder for temporary ones. */
static void write_file(char path[64], const char *text) {
    strcpy(path, "/tmp/gale-front-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void read_file(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

static void run(gale_topology *topology) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.until_drained = true;
    options.executors = 1;
    assert_int_equal(gale_runtime_new(topology, &options, &runtime, &error), 0);
    assert_int_equal(gale_runtime_run(runtime, &error), 0);
    assert_int_equal(gale_runtime_free(runtime, -1, &error), 0);
}

static void a_file_becomes_a_topology_that_runs(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology;
    char file[64], input[64], output[64], properties[64], line[100], found[100];
    write_file(file, words);
    write_file(input, "to be or not to be\n");
    write_file(output, "");
    snprintf(line, sizeof line, "OUT=%s\n", output);
    write_file(properties, line);
    const gale_setting settings[] = { { "gale.input", gale_text(input) }, { "gale.overwrite", gale_bool(true) } };
    const char *const sets[] = { "count.parallelism=2" };
    gale_topology_file_options options = GALE_TOPOLOGY_FILE_OPTIONS_INIT;
    options.properties = properties;
    options.settings = settings;
    options.setting_count = 2;
    options.sets = sets;
    options.set_count = 1;
    assert_int_equal(gale_topology_from_file(file, &options, &topology, &error), 0);
    run(topology);
    gale_topology_free(topology);
    read_file(output, found, sizeof found);
    assert_non_null(strstr(found, "be\t2\n"));
    assert_int_equal(strlen(found), strlen("to\t2\nbe\t2\nor\t1\nnot\t1\n"));
    unlink(file), unlink(input), unlink(output), unlink(properties);
}

static void a_text_is_refused_with_its_place(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = (void *)&error;
    const char *text = "name: t\nspouts:\n  - {id: s, className: gale.spout.Flie}\n";
    assert_int_equal(gale_topology_from_text("mine", text_of(text), NULL, &topology, &error), GALE_NOT_FOUND);
    assert_non_null(strstr(error.text, "mine:3:"));
    assert_non_null(strstr(error.text, "gale.spout.File"));
    assert_ptr_equal(topology, &error);
}

static void a_variable_without_properties_is_refused(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology;
    assert_int_equal(gale_topology_from_text("mine", text_of(words), NULL, &topology, &error), GALE_NOT_FOUND);
    assert_non_null(strstr(error.text, "OUT"));
}

static void a_file_that_is_not_there_is_named(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology;
    assert_true(gale_topology_from_file("/nowhere/t.yaml", NULL, &topology, &error) < 0);
    assert_non_null(strstr(error.text, "/nowhere/t.yaml"));
}

static void what_is_no_argument_is_refused(void **state) {
    (void)state;
    gale_topology *topology;
    const char *const sets[] = { "no equals" };
    gale_topology_file_options no_size = { 0 }, no_sets = GALE_TOPOLOGY_FILE_OPTIONS_INIT, no_keys = no_sets,
                               bad_set = no_sets;
    const gale_setting settings[] = { { NULL, gale_null() } };
    no_sets.set_count = 1;
    no_keys.settings = settings;
    no_keys.setting_count = 1;
    bad_set.sets = sets;
    bad_set.set_count = 1;
    assert_int_equal(gale_topology_from_file(NULL, NULL, &topology, NULL), GALE_INVALID);
    assert_int_equal(gale_topology_from_file("t", NULL, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_topology_from_text(NULL, text_of(words), NULL, &topology, NULL), GALE_INVALID);
    assert_int_equal(gale_topology_from_text("t", (gale_str){ NULL, 3 }, NULL, &topology, NULL), GALE_INVALID);
    assert_int_equal(gale_topology_from_file("t", &no_size, &topology, NULL), GALE_INVALID);
    assert_int_equal(gale_topology_from_file("t", &no_sets, &topology, NULL), GALE_INVALID);
    assert_int_equal(gale_topology_from_file("t", &no_keys, &topology, NULL), GALE_INVALID);
    assert_int_equal(gale_topology_from_file("t", &bad_set, &topology, NULL), GALE_INVALID);
    assert_true(gale_topology_from_text("t", (gale_str){ NULL, 0 }, NULL, &topology, NULL) < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_becomes_a_topology_that_runs),      cmocka_unit_test(a_text_is_refused_with_its_place),
        cmocka_unit_test(a_variable_without_properties_is_refused), cmocka_unit_test(a_file_that_is_not_there_is_named),
        cmocka_unit_test(what_is_no_argument_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
