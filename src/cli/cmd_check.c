/* gale check FILE.yaml... */
#include "cli/command.h"
#include "cli/flux_file.h"
#include "cli/problem_list.h"
#include "cli/schema.h"
#include "cli/session.h"

#include "base/json.h"
#include "base/str.h"
#include "front/builtin.h"
#include "front/connecting.h"

#include <stddef.h>

typedef struct choices {
    gx_flux_choices flux;
    const char *member;
    bool json, strict, schema, quiet;
} choices;

#define AT(field) offsetof(choices, field)

static const gx_option options[] = {
    GX_FLUX_ROWS,
    { 0, "member", "I/N", GX_OPTION_TEXT, AT(member), 0, 0, "check what gale run --member I/N would run" },
    { 0, "strict", NULL, GX_OPTION_FLAG, AT(strict), 0, 0, "warnings make the exit code 1" },
    { 0, "json", NULL, GX_OPTION_FLAG, AT(json), 0, 0, "the problems as one JSON object" },
    { 0, "schema", NULL, GX_OPTION_FLAG, AT(schema), 0, 0,
      "print a JSON Schema of topology files, for editors, and check nothing" },
    { 'q', "quiet", NULL, GX_OPTION_FLAG, AT(quiet), 0, 0, "say nothing of files that have no problem" },
};

enum { OPTION_COUNT = sizeof options / sizeof options[0] };

/* --- Telling ------------------------------------------------------------------------------------------------------ */

static void add_text(const char *path, const gx_problems *problems, const gx_variables *variables, const choices *c,
                     gx_buf *out) {
    size_t warnings = problems->count - problems->errors;
    gx_problem_list(problems, variables, out);
    if (!problems->count && !c->quiet) gx_buf_format(out, "%s: nothing is wrong\n", path);
    if (!problems->count) return;
    gx_buf_format(out, "%s: ", path);
    if (problems->errors) gx_buf_format(out, "%zu error%s", problems->errors, gx_plural(problems->errors));
    if (warnings) gx_buf_format(out, "%s%zu warning%s", problems->errors ? ", " : "", warnings, gx_plural(warnings));
    gx_buf_add_text(out, problems->more ? ", and more\n" : "\n");
}

static void add_json(const gx_problems *problems, gx_json *json) {
    for (size_t i = 0; i < problems->count; i++) {
        const gx_problem *problem = &problems->list[i];
        gx_json_open(json, '{');
        gx_json_key(json, gx_str("file"));
        gx_json_string(json, gx_str(problem->position.file));
        gx_json_key(json, gx_str("line"));
        gx_json_u64(json, problem->position.line);
        gx_json_key(json, gx_str("column"));
        gx_json_u64(json, problem->position.column);
        gx_json_key(json, gx_str("severity"));
        gx_json_string(json, gx_str(problem->warning ? "warning" : "error"));
        gx_json_key(json, gx_str("text"));
        gx_json_string(json, gx_str(problem->text));
        gx_json_close(json, '}');
    }
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */

typedef struct checking {
    const choices *chosen;
    gx_buf out;
    gx_json json;
    size_t errors, warnings;
} checking;

static void tell(checking *k, const char *path, gx_problems *problems, const gx_variables *variables) {
    gx_problems_sort(problems);
    k->errors += problems->errors;
    k->warnings += problems->count - problems->errors;
    if (k->chosen->json)
        add_json(problems, &k->json);
    else
        add_text(path, problems, variables, k->chosen, &k->out);
}

static void check_file(checking *k, const char *path) {
    gale_error error = GALE_ERROR_INIT;
    gx_problems *problems = gx_problems_new();
    gale_topology *topology = NULL;
    gx_properties properties = { .count = 0 };
    if (!problems) return (void)k->errors++;
    const gx_named_file files[] = { { .who = "gale", .verb = "reads the topology from", .path = path } };
    const gale_setting member = { "gale.member", gale_text(k->chosen->member ? k->chosen->member : "") };
    gx_flux_options flux = { .settings = &member,
                             .setting_count = k->chosen->member ? 1 : 0,
                             .files = files,
                             .file_count = 1,
                             .problems = problems,
                             .settled = true };
    int rc = gx_flux_file_load(path, &k->chosen->flux, flux, &topology, &error);
    if (rc < 0 && error.code) {
        gx_position position = { path, 0, 0 };
        (void)gx_problems_add(problems, false, rc, position, error.text);
    }
    gale_topology_free(topology);
    const char *filter = k->chosen->flux.filter;
    bool read = filter && gx_properties_load(filter, &properties, NULL) == 0;
    const gx_variables variables = { read ? &properties : NULL, k->chosen->flux.environment };
    tell(k, path, problems, &variables);
    if (read) gx_properties_fini(&properties);
    gx_problems_free(problems);
}

static int finish(checking *k, gx_terminal *errors) {
    if (k->chosen->json) {
        gx_json_close(&k->json, ']');
        gx_json_key(&k->json, gx_str("errors"));
        gx_json_u64(&k->json, k->errors);
        gx_json_key(&k->json, gx_str("warnings"));
        gx_json_u64(&k->json, k->warnings);
        gx_json_close(&k->json, '}');
        gx_buf_add_text(&k->out, "\n");
    }
    int printed = gx_session_print(errors, &k->out);
    if (printed != GX_EXIT_OK) return printed;
    return k->errors ? GX_EXIT_USAGE : k->warnings && k->chosen->strict ? GX_EXIT_FAILED : GX_EXIT_OK;
}

static int check_files(const choices *c, const gx_words *files, gx_terminal *errors) {
    checking k = { .chosen = c, .out = GX_BUF_INIT(NULL) };
    k.json = gx_json_to(&k.out);
    if (c->json) {
        gx_json_open(&k.json, '{');
        gx_json_key(&k.json, gx_str("problems"));
        gx_json_open(&k.json, '[');
    }
    for (size_t i = 0; i < files->count; i++) check_file(&k, files->items[i]);
    return finish(&k, errors);
}

/* With the classes of plugins that the command line names, and of gale's connectors that are there. */
static int print_schema(const choices *c, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    gx_plugins *plugins = gx_plugins_new(gx_registry_builtin());
    int rc = plugins ? gx_flux_file_plugins(&c->flux.plugins, plugins, &error)
                     : gale_error_set(&error, GALE_NO_MEMORY, "out of memory");
    if (rc == 0) gx_connecting_all(plugins);
    if (rc == 0) gx_schema(gx_plugins_registry(plugins), &out);
    gx_plugins_free(plugins);
    return rc < 0 ? gx_session_refuse(errors, &error, GX_EXIT_USAGE) : gx_session_print(errors, &out);
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .json = false };
    gx_words files = { .count = 0 };
    int rc = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &files, &error);
    if (rc == 0 && !c.schema && files.count == 0)
        rc = gale_error_set(&error, GALE_INVALID, "check wants topology files: gale %s", gx_cmd_check.usage);
    if (rc == 0 && c.schema && files.count)
        rc = gale_error_set(&error, GALE_INVALID, "--schema checks no file: gale check --schema");
    if (rc < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    return c.schema ? print_schema(&c, errors) : check_files(&c, &files, errors);
}

const gx_command gx_cmd_check = {
    .name = "check",
    .usage = "check FILE.yaml... [options]",
    .text = "tell all that is wrong with topology files",
    .more = "Nothing is run, and no file of a component is opened. Values of keys that speak of passwords, tokens or\n"
            "secrets, and what came from the environment, are not shown.\n"
            "Exit codes: 0 no errors; 1 warnings, with --strict; 2 errors.\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run,
};
