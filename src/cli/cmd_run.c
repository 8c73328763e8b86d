/* gale run FILE.yaml */
#include "cli/command.h"
#include "cli/session.h"

#include "base/str.h"
#include "front/builtin.h"
#include "front/flux.h"
#include "topology/builder.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

typedef struct choices {
    const char *input, *output, *log_level;
    double rate;
    uint64_t jobs, seed;
    bool until_drained, quiet, json, plan;
    gx_words assignments;
} choices;

#define AT(field) offsetof(choices, field)

static const gx_option options[] = {
    { 0, "input", "PATH", GX_OPTION_TEXT, AT(input), 0, 0,
      "read this instead of the spout's file; - is the standard input" },
    { 0, "output", "PATH", GX_OPTION_TEXT, AT(output), 0, 0,
      "write this instead of the sink's file; - is the standard output" },
    { 0, "rate", "N", GX_OPTION_RATE, AT(rate), 0, 0, "lines a second and spout task" },
    { 'j', "executors", "N", GX_OPTION_WHOLE, AT(jobs), 1, GALE_EXECUTORS_MAX,
      "threads that run the tasks (default: one a core)" },
    { 0, "until-drained", NULL, GX_OPTION_FLAG, AT(until_drained), 0, 0, "end when a finite input has been answered" },
    { 'c', "config", "KEY=VALUE", GX_OPTION_WORDS, AT(assignments), 0, 0,
      "set a key of the configuration; may be repeated" },
    { 'q', "quiet", NULL, GX_OPTION_FLAG, AT(quiet), 0, 0, "no live figures, no summary" },
    { 0, "json", NULL, GX_OPTION_FLAG, AT(json), 0, 0,
      "the summary as one JSON object on the standard output (of a topology that prints there: standard error)" },
    { 0, "plan", NULL, GX_OPTION_FLAG, AT(plan), 0, 0, "print tasks, executors and streams, and run nothing" },
    { 0, "seed", "N", GX_OPTION_WHOLE, AT(seed), 1, UINT64_MAX, "seed of all random numbers" },
    { 0, "log-level", "LEVEL", GX_OPTION_TEXT, AT(log_level), 0, 0,
      "trace, debug, info (default), warn, error or off" },
};

enum { OPTION_COUNT = sizeof options / sizeof options[0] };

/* --- The plan -------------------------------------------------------------------------------------------------------
 */

static void plan_tasks(const gale_topology *topology, const gale_runtime *runtime, gx_buf *out) {
    uint32_t tasks = gale_runtime_task_count(runtime);
    gx_buf_format(out, "%s: %u tasks on %u executors\n\n%5s  %8s  component\n", gale_topology_name(topology), tasks,
                  gale_runtime_executor_count(runtime), "task", "executor");
    for (uint32_t i = 1; i <= tasks; i++) {
        gale_task_stats task = { .size = sizeof task };
        if (gale_runtime_task_stats(runtime, i, &task))
            gx_buf_format(out, "%5u  %8u  %s\n", task.task, task.executor, task.component);
    }
}

/* "split --FIELDS(word)--> count", as Flux prints it. */
static void plan_stream(const gx_component *bolt, const gx_subscription *input, gx_buf *out) {
    gx_buf_format(out, "%s", input->source);
    if (strcmp(input->stream, "default") != 0) gx_buf_format(out, ":%s", input->stream);
    gx_buf_add_text(out, " --");
    for (const char *c = gale_grouping_name(input->grouping); *c; c++)
        gx_buf_add_byte(out, (char)toupper((unsigned char)*c));
    for (uint32_t i = 0; i < input->field_count; i++) gx_buf_format(out, "%s%s", i ? ", " : "(", input->fields[i]);
    gx_buf_format(out, "%s--> %s\n", input->field_count ? ")" : "", bolt->name);
}

static void plan_streams(const gale_topology *topology, gx_buf *out) {
    gx_buf_add_text(out, "\n");
    for (uint32_t c = 0; c < topology->component_count; c++)
        for (uint32_t i = 0; i < topology->components[c]->input_count; i++)
            plan_stream(topology->components[c], &topology->components[c]->inputs[i], out);
}

static int print_plan(gale_topology *topology, uint32_t executors, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime;
    gale_runtime_options runtime_options = GALE_RUNTIME_OPTIONS_INIT;
    runtime_options.executors = executors;
    int code = gale_runtime_new(topology, &runtime_options, &runtime, &error);
    if (code < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    gx_buf out = GX_BUF_INIT(NULL);
    plan_tasks(topology, runtime, &out);
    plan_streams(topology, &out);
    gale_runtime_free(runtime, -1, NULL);
    return gx_session_print(errors, &out);
}

/* --- The run --------------------------------------------------------------------------------------------------------
 */

static int load(const char *path, const choices *c, const gale_logger *logger, bool *ret_prints,
                gale_topology **ret_topology, gale_error *error) {
    gale_setting settings[3];
    size_t count = 0;
    if (c->input) settings[count++] = (gale_setting){ "gale.input", gale_text(c->input) };
    if (c->output) settings[count++] = (gale_setting){ "gale.output", gale_text(c->output) };
    if (c->rate > 0) settings[count++] = (gale_setting){ "gale.rate", gale_f64(c->rate) };
    gx_flux_options flux = { c->assignments.items, c->assignments.count, settings, count, ret_prints, logger };
    return gx_flux_load(path, gx_registry_builtin(), &flux, ret_topology, error);
}

static int run_file(const char *path, const choices *c, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gale_logger logger;
    gale_topology *topology;
    bool prints = false;
    gx_session session = { .terminal = errors,
                           .log_level = c->log_level,
                           .executors = (uint32_t)c->jobs,
                           .seed = c->seed,
                           .until_drained = c->until_drained,
                           .quiet = c->quiet,
                           .json = c->json,
                           .period = GALE_SECOND };
    if (gx_session_logger(&session, &logger, &error) < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    int code = load(path, c, &logger, &prints, &topology, &error);
    if (code < 0) return gx_session_refuse(errors, &error, code == GALE_NO_MEMORY ? GX_EXIT_FAILED : GX_EXIT_USAGE);
    session.json_fd = prints ? 2 : 1;
    session.no_live = prints && isatty(1);
    int exit_code = c->plan ? print_plan(topology, session.executors, errors) : gx_session_run(&session, topology);
    gale_topology_free(topology);
    return exit_code;
}

static int check_assignments(const gx_words *assignments, gale_error *error) {
    for (size_t i = 0; i < assignments->count; i++)
        if (!strchr(assignments->items[i], '='))
            return gale_error_set(error, GALE_INVALID, "-c wants key=value; '%s' has no '='", assignments->items[i]);
    return 0;
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { 0 };
    gx_words words = { .count = 0 };
    int code = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &words, &error);
    if (code == 0 && words.count != 1)
        code = gale_error_set(&error, GALE_INVALID, "gale run takes one topology file, not %zu: gale %s", words.count,
                              gx_cmd_run.usage);
    if (code == 0) code = check_assignments(&c.assignments, &error);
    if (code < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    return run_file(words.items[0], &c, errors);
}

const gx_command gx_cmd_run = {
    .name = "run",
    .usage = "run FILE.yaml [options]",
    .text = "run a topology from a Flux file",
    .more =
        "Ends with Ctrl-C (what is in flight is finished first; a second one stops at once), or with --until-drained.\n"
        "Exit codes: 0 ok, 1 something failed for good, 2 usage or topology, 3 input or output, 128 + signal.\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run,
};
