#include "front/flux.h"

#include "base/str.h"
#include "front/builtin.h"
#include "harness/cm.h"
#include "topology/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct fixture {
    char folder[64], sub[80], other[96], empty[96], broken[96];
} fixture;

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    snprintf(f->folder, sizeof f->folder, "/tmp/gale-include-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->sub, sizeof f->sub, "%s/sub", f->folder);
    assert_int_equal(mkdir(f->sub, 0700), 0);
    snprintf(f->other, sizeof f->other, "%s/other.yaml", f->sub);
    snprintf(f->empty, sizeof f->empty, "%s/empty.yaml", f->sub);
    snprintf(f->broken, sizeof f->broken, "%s/broken.yaml", f->sub);
    write_file(f->other, "name: other\n"
                         "config: {my.key: 2, my.other: ${x}}\n"
                         "components:\n"
                         "  - {id: path, className: java.lang.String, constructorArgs: [other.txt]}\n"
                         "spouts:\n"
                         "  - {id: lines, className: gale.spout.Generator, parallelism: 7}\n"
                         "  - {id: words, className: gale.spout.Words}\n"
                         "bolts:\n"
                         "  - {id: count, className: gale.bolt.Count}\n"
                         "streams:\n"
                         "  - {from: words, to: count, grouping: {type: FIELDS, args: [word]}}\n"
                         "includes: [{file: deeper.yaml}]\n"
                         "workerHooks: [{id: hook}]\n");
    write_file(f->empty, "");
    write_file(f->broken, "spouts: [\n");
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    unlink(f->other);
    unlink(f->empty);
    unlink(f->broken);
    rmdir(f->sub);
    rmdir(f->folder);
    free(f);
    return 0;
}

static void keep_line(void *user, int32_t level, const char *component, const char *text) {
    (void)level;
    (void)component;
    gx_buf_format(user, "%s\n", text);
}

/* A file in the folder, which includes what `includes` says. */
static int load(const fixture *f, const char *includes, gx_buf *log, gale_topology **ret_topology, gale_error *error) {
    char name[100], text[600];
    gx_property list[] = { { gx_str("x"), gx_str("12") } };
    gx_properties properties = { list, 1, NULL };
    gx_variables variables = { &properties, false };
    gale_logger logger = { sizeof logger, GALE_LOG_WARN, keep_line, log };
    gx_flux_options options = { .variables = &variables, .logger = &logger };
    snprintf(name, sizeof name, "%s/main.yaml", f->folder);
    snprintf(text, sizeof text,
             "name: main\n"
             "includes: [%s]\n"
             "config: {my.key: 1}\n"
             "spouts:\n"
             "  - {id: lines, className: gale.spout.Generator, parallelism: 3}\n"
             "bolts:\n"
             "  - {id: split, className: gale.bolt.Split}\n"
             "streams:\n"
             "  - {from: lines, to: split, grouping: {type: SHUFFLE}}\n"
             "  - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}\n",
             includes);
    *error = (gale_error)GALE_ERROR_INIT;
    return gx_flux_parse(name, gx_str(text), gx_registry_builtin(), &options, ret_topology, error);
}

static gale_topology *loaded(const fixture *f, const char *includes, gx_buf *log) {
    gale_topology *topology = NULL;
    gale_error error;
    if (load(f, includes, log, &topology, &error) < 0) fail_msg("%s", error.text);
    return topology;
}

static uint32_t tasks(const gale_topology *topology, const char *name) {
    return gx_component_tasks(topology, gx_topology_find(topology, name));
}

static void what_is_included_is_added_and_yields(void **state) {
    const fixture *f = *state;
    gx_buf log = GX_BUF_INIT(NULL);
    gale_topology *topology = loaded(f, "{file: sub/other.yaml}", &log);
    assert_string_equal(gale_topology_name(topology), "main");
    assert_int_equal(topology->component_count, 4);
    assert_int_equal(tasks(topology, "lines"), 3);
    assert_int_equal(gale_config_i64(topology->config, "my.key", 0), 1);
    assert_int_equal(gale_config_i64(topology->config, "my.other", 0), 12); /* variables of the same properties */
    assert_int_equal(gx_topology_find(topology, "count")->input_count, 2);
    assert_non_null(strstr(gx_buf_text(&log), "other.yaml:2:10: 'my.key' is at "));
    assert_non_null(strstr(gx_buf_text(&log), "other.yaml:6:10: 'lines' is at "));
    assert_non_null(strstr(gx_buf_text(&log), "main.yaml:5:10, too, which stays (override: true would replace it)\n"));
    assert_non_null(strstr(gx_buf_text(&log), "other.yaml:12:1: 'includes' of a file that is included is not read"));
    assert_non_null(strstr(gx_buf_text(&log), "other.yaml:13:1: 'workerHooks' of a file that is included is not read"));
    gale_topology_free(topology);
    gx_buf_fini(&log);
}

static void what_overrides_replaces(void **state) {
    const fixture *f = *state;
    gx_buf log = GX_BUF_INIT(NULL);
    gale_topology *topology = loaded(f, "{file: sub/other.yaml, override: true, resource: false}", &log);
    assert_string_equal(gale_topology_name(topology), "other");
    assert_int_equal(tasks(topology, "lines"), 7);
    assert_int_equal(gale_config_i64(topology->config, "my.key", 0), 2);
    assert_int_equal(gx_topology_find(topology, "count")->input_count, 2); /* streams are added */
    gale_topology_free(topology);
    gx_buf_fini(&log);
}

static void a_resource_is_looked_for_beside_the_file(void **state) {
    const fixture *f = *state;
    gx_buf log = GX_BUF_INIT(NULL);
    gale_topology_free(loaded(f, "{resource: true, file: /sub/other.yaml}", &log));
    gx_buf_fini(&log);
}

static void expect_error(const fixture *f, const char *includes, const char *ending) {
    gale_topology *topology = NULL;
    gale_error error;
    gx_buf log = GX_BUF_INIT(NULL);
    assert_true(load(f, includes, &log, &topology, &error) < 0);
    if (!strstr(error.text, ending)) fail_msg("%s", error.text);
    assert_null(topology);
    gx_buf_fini(&log);
}

static void what_cannot_be_included_is_refused_where_it_is_wrong(void **state) {
    const fixture *f = *state;
    expect_error(f, "{file: none.yaml}", "/main.yaml:2:19: cannot open '");
    expect_error(f, "{file: sub/empty.yaml}", "/sub/empty.yaml: the file is empty");
    expect_error(f, "{file: sub/broken.yaml}", "/sub/broken.yaml:2:1: did not find expected node content");
    expect_error(f, "{fil: x}", "/main.yaml:2:13: unknown key 'fil' in an include; did you mean 'file'?");
    expect_error(f, "{override: true}", "/main.yaml:2:12: an include needs the field 'file'");
    expect_error(f, "{file: sub/other.yaml, override: 1}",
                 "/main.yaml:2:45: 'override' of an include must be true or false, not a whole number");
    expect_error(f, "sub/other.yaml", "/main.yaml:2:12: an include must be a map, not a string");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_included_is_added_and_yields),
        cmocka_unit_test(what_overrides_replaces),
        cmocka_unit_test(a_resource_is_looked_for_beside_the_file),
        cmocka_unit_test(what_cannot_be_included_is_refused_where_it_is_wrong),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
