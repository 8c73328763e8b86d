/* gale test FILE.test.yaml... */
#include "cli/case_report.h"
#include "cli/command.h"
#include "cli/flux_file.h"
#include "cli/problem_list.h"
#include "cli/session.h"
#include "cli/signals.h"

#include "base/os/file.h"
#include "base/str.h"
#include "cases/case_paths.h"
#include "cases/play.h"
#include "front/builtin.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

typedef struct choices {
    const char *filter, *junit;
    uint64_t seed;
    gx_words plugins;
    bool tap, list, quiet;
} choices;

#define AT(field) offsetof(choices, field)

static const gx_option options[] = {
    { 0, "filter", "NAME", GX_OPTION_TEXT, AT(filter), 0, 0, "only cases whose names have this in them" },
    { 0, "seed", "N", GX_OPTION_WHOLE, AT(seed), 1, INT64_MAX, "each case once, with this seed" },
    { 0, "list", NULL, GX_OPTION_FLAG, AT(list), 0, 0, "name the cases, and run none" },
    { 0, "tap", NULL, GX_OPTION_FLAG, AT(tap), 0, 0, "results as TAP, version 13" },
    { 0, "junit", "FILE", GX_OPTION_TEXT, AT(junit), 0, 0, "results as JUnit's XML, to this file as well" },
    { 0, "plugin", "PLUGIN", GX_OPTION_WORDS, AT(plugins), 0, 0,
      "load a plugin, by its name or the path of its .so file; may be repeated" },
    { 'q', "quiet", NULL, GX_OPTION_FLAG, AT(quiet), 0, 0, "no line for a case that passes" },
};

enum { OPTION_COUNT = sizeof options / sizeof options[0] };

typedef struct job {
    const choices *chosen;
    gx_plugins *plugins;
    gx_terminal out;
    gx_case_report report;
    int signal;  /* that asked for an end */
    bool spoilt; /* memory is out */
} job;

/* --- Cases -------------------------------------------------------------------------------------------------------- */

static bool is_chosen(const job *j, const gx_case *c) {
    return !j->chosen->filter || strstr(c->name->text.data, j->chosen->filter);
}

static void list_case(job *j, const char *path, const gx_case *c) {
    gx_buf line = GX_BUF_INIT(NULL);
    gx_buf_format(&line, "%s: %s\n", path, c->name->text.data);
    const char *text = gx_buf_text(&line);
    if (text) (void)gx_terminal_print(&j->out, text);
    gx_buf_fini(&line);
}

static void run_case(job *j, const char *path, const gx_case_file *file, const gx_case *c) {
    gx_buf text = GX_BUF_INIT(NULL);
    gx_case_result result = { .file = path, .name = c->name->text.data, .passed = true };
    result.seed = j->chosen->seed ? j->chosen->seed : (uint64_t)c->seed;
    result.seeds = j->chosen->seed ? 1 : (uint64_t)c->seeds;
    for (uint64_t i = 0; i < result.seeds && result.passed && !j->signal; i++) {
        result.passed = gx_case_play(file, c, result.seed, &text);
        result.seed += result.passed;
        j->signal = gx_signals_asked();
    }
    result.text = gx_buf_text(&text);
    j->spoilt |= !result.text;
    if (!j->signal || !result.passed) gx_case_report_add(&j->report, &result);
    gx_buf_fini(&text);
}

static void refuse_file(job *j, const char *path, gx_problems *problems, const gx_variables *variables) {
    gx_buf text = GX_BUF_INIT(NULL);
    gx_problems_sort(problems);
    gx_problem_list(problems, variables, &text);
    const gx_case_result result = { .file = path, .text = gx_buf_text(&text) };
    gx_case_report_add(&j->report, &result);
    gx_buf_fini(&text);
}

static void run_file(job *j, const char *path) {
    gale_error error = GALE_ERROR_INIT;
    gx_case_file file;
    gx_problems *problems = gx_problems_new();
    int rc = problems ? gx_case_file_load(path, gx_registry_builtin(), j->plugins, problems, &file, &error)
                      : GALE_NO_MEMORY;
    if (rc < 0) {
        j->spoilt = true;
        if (problems) gx_case_file_fini(&file);
        gx_problems_free(problems);
        return;
    }
    if (problems->errors)
        refuse_file(j, path, problems, &file.variables);
    else
        for (size_t i = 0; i < file.count && !j->signal; i++) {
            if (!is_chosen(j, &file.cases[i])) continue;
            if (j->chosen->list)
                list_case(j, path, &file.cases[i]);
            else
                run_case(j, path, &file, &file.cases[i]);
        }
    gx_case_file_fini(&file);
    gx_problems_free(problems);
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static int write_junit(job *j, gx_buf *junit, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    const char *path = j->chosen->junit;
    int rc = junit->failed ? gale_error_set(&error, GALE_NO_MEMORY, "out of memory")
                           : gx_file_replace(path, junit->data, junit->size, &error);
    return rc < 0 ? gx_session_refuse(errors, &error, GX_EXIT_IO) : GX_EXIT_OK;
}

static int finish(job *j, gx_terminal *errors) {
    gx_buf junit = GX_BUF_INIT(NULL);
    const gx_case_report *report = &j->report;
    bool nothing = !report->cases && !report->broken;
    gale_error error = GALE_ERROR_INIT;
    int code = report->broken ? GX_EXIT_USAGE : report->failed || j->spoilt ? GX_EXIT_FAILED : GX_EXIT_OK;
    if (!j->chosen->list || report->broken) gx_case_report_end(&j->report, j->chosen->junit ? &junit : NULL);
    if (j->chosen->junit && !j->chosen->list) {
        int written = write_junit(j, &junit, errors);
        if (written != GX_EXIT_OK) code = written;
    }
    gx_buf_fini(&junit);
    if (j->out.broken) return gx_session_unwritten(errors, j->out.broken);
    if (j->spoilt) {
        gale_error_set(&error, GALE_NO_MEMORY, "out of memory");
        return gx_session_refuse(errors, &error, code);
    }
    if (nothing && !j->chosen->list && !j->signal) {
        gale_error_set(&error, GALE_NOT_FOUND, "no case is called so%s%s", j->chosen->filter ? ": " : "",
                       j->chosen->filter ? j->chosen->filter : "");
        return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    }
    return j->signal ? GX_EXIT_SIGNAL + j->signal : code;
}

/* What components print is no part of the results. The descriptor on which those are told, or -1. */
static int lead_output_away(void) {
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    bool led = out >= 0 && nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0;
    if (nowhere >= 0) close(nowhere);
    return led ? out : -1;
}

static int run_all(const choices *c, const gx_case_paths *paths, gx_plugins *plugins, gx_terminal *errors) {
    job j = { .chosen = c,
              .plugins = plugins,
              .report = { .tap = c->tap, .quiet = c->quiet, .has_junit = c->junit != NULL } };
    gale_error error = GALE_ERROR_INIT;
    int out = lead_output_away();
    if (out < 0) {
        gale_error_set(&error, GALE_IO, "cannot write to standard output");
        return gx_session_refuse(errors, &error, GX_EXIT_IO);
    }
    gx_terminal_init(&j.out, out);
    gx_case_report_begin(&j.report, &j.out);
    for (size_t i = 0; i < paths->count && !j.signal; i++) run_file(&j, paths->list[i]);
    int code = finish(&j, errors);
    gx_terminal_fini(&j.out);
    close(out);
    return code;
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .tap = false };
    gx_words words = { .count = 0 };
    gx_case_paths paths = { .list = NULL };
    int rc = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &words, &error);
    if (rc == 0 && words.count == 0)
        rc = gale_error_set(&error, GALE_INVALID, "test wants files of cases, or folders: gale %s", gx_cmd_test.usage);
    gx_plugins *plugins = gx_plugins_new(gx_registry_builtin());
    if (rc == 0 && !plugins) rc = gale_error_set(&error, GALE_NO_MEMORY, "out of memory");
    if (rc == 0) rc = gx_flux_file_plugins(&c.plugins, plugins, &error);
    for (size_t i = 0; i < words.count && rc == 0; i++) rc = gx_case_paths_add(&paths, words.items[i], &error);
    int code = rc < 0 ? gx_session_refuse(errors, &error, GX_EXIT_USAGE) : run_all(&c, &paths, plugins, errors);
    gx_case_paths_fini(&paths);
    gx_plugins_free(plugins);
    return code;
}

const gx_command gx_cmd_test = {
    .name = "test",
    .usage = "test FILE.test.yaml|FOLDER... [options]",
    .text = "run the cases that stand beside topologies",
    .more =
        "A case feeds a topology, lets time pass and says what is to come of it; it runs on the simulator, on virtual\n"
        "time, and repeats exactly by its seed. docs/testing-topologies.md says what a file of cases may have.\n"
        "Exit codes: 0 all passed; 1 cases failed; 2 a file cannot be used.\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run,
};
