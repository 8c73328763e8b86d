/* gale run FILE.yaml */
#include "cli/bad_letters.h"
#include "cli/command.h"
#include "cli/flux_file.h"
#include "cli/layout.h"
#include "cli/service.h"
#include "cli/state_folder.h"

#include "base/nearest.h"
#include "base/os/file.h"
#include "base/str.h"
#include "front/letter_spout.h"
#include "topology/builder.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

typedef struct choices {
    const char *input, *output, *state, *from, *replay, *log_level, *log_format, *log_file, *events_file;
    const char *member, *listen, *listen_token_file, *listen_cert, *listen_key;
    double rate;
    uint64_t jobs, seed, end_within, figures_every;
    bool overwrite, until_drained, keep_running, exit_by_signal, quiet, json, plan, no_control;
    gx_flux_choices flux;
    gx_words log_events, adopt;
} choices;

#define AT(field) offsetof(choices, field)

static const gx_option options[] = {
    { 0, "input", "PATH", GX_OPTION_TEXT, AT(input), 0, 0,
      "read this instead of the spout's file; - is the standard input" },
    { 0, "output", "PATH", GX_OPTION_TEXT, AT(output), 0, 0,
      "write this instead of the sink's file; - is the standard output" },
    { 0, "overwrite", NULL, GX_OPTION_FLAG, AT(overwrite), 0, 0,
      "sinks may replace what their files hold; without it, and without `overwrite` in the topology, that is refused, "
      "but for the beginning of a durable run" },
    { 0, "state", "DIR", GX_OPTION_TEXT, AT(state), 0, 0,
      "keep the run's state in this folder, and go on from what is in there, whenever the last run ended; what its "
      "sources and sinks promise then is in the documents" },
    { 0, "state-adopt", "[OLD=NEW]", GX_OPTION_PAIRS, AT(adopt), 0, 0,
      "go on from a state that the topology no longer fits: OLD=NEW, a component that was renamed (may be repeated); "
      "alone, whatever else has changed" },
    { 0, "from", "NAME", GX_OPTION_TEXT, AT(from), 0, 0,
      "with --state: begin its folder, which has no state yet, with the checkpoint that gale checkpoint NAME has "
      "kept" },
    { 0, "replay-dead-letters", "PATH", GX_OPTION_TEXT, AT(replay), 0, 0,
      "emit the dead letters of this file instead of what the spouts would, and end" },
    { 0, "rate", "N", GX_OPTION_RATE, AT(rate), 0, 0, "lines a second and spout task" },
    { 0, "member", "I/N", GX_OPTION_TEXT, AT(member), 0, 0,
      "which of how many processes this one is, 2/3: sources that divide among them read their share, and keep it" },
    { 'j', "executors", "N", GX_OPTION_WHOLE, AT(jobs), 1, GALE_EXECUTORS_MAX,
      "threads that run the tasks (default: one a core)" },
    { 0, "until-drained", NULL, GX_OPTION_FLAG, AT(until_drained), 0, 0,
      "fail (128 + signal) when a signal ends it before its input has been answered" },
    { 0, "keep-running", NULL, GX_OPTION_FLAG, AT(keep_running), 0, 0,
      "do not end when a finite input has been answered" },
    { 0, "end-within", "SECONDS", GX_OPTION_WHOLE, AT(end_within), 1, 86400,
      "how long the end after a signal may take: what is in flight, and components that have something to end "
      "(default: "
      "10)" },
    { 0, "exit-by-signal", NULL, GX_OPTION_FLAG, AT(exit_by_signal), 0, 0,
      "exit with 128 + signal after every end by a signal" },
    { 0, "listen", "ADDRESS", GX_OPTION_TEXT, AT(listen), 0, 0,
      "serve the page, figures and metrics at this address: host:port, 127.0.0.1 and 8080 unless it says; the address "
      "to open is printed "
      "with its token" },
    { 0, "listen-token-file", "PATH", GX_OPTION_TEXT, AT(listen_token_file), 0, 0,
      "take the token from this file's first line instead of making one" },
    { 0, "listen-cert", "PATH", GX_OPTION_TEXT, AT(listen_cert), 0, 0, "serve by TLS, with this certificate (PEM)" },
    { 0, "listen-key", "PATH", GX_OPTION_TEXT, AT(listen_key), 0, 0, "the key of the certificate (PEM)" },
    { 0, "no-control", NULL, GX_OPTION_FLAG, AT(no_control), 0, 0,
      "open no socket for your other commands (gale ps, gale top and their like)" },
    GX_FLUX_ROWS,
    { 'q', "quiet", NULL, GX_OPTION_FLAG, AT(quiet), 0, 0, "no live figures, no summary" },
    { 0, "json", NULL, GX_OPTION_FLAG, AT(json), 0, 0,
      "the summary as one JSON object on the standard output (of a topology that prints there: standard error); with "
      "--plan, the plan" },
    { 0, "plan", NULL, GX_OPTION_FLAG, AT(plan), 0, 0, "print tasks, executors and streams, and run nothing" },
    { 0, "seed", "N", GX_OPTION_WHOLE, AT(seed), 1, UINT64_MAX, "seed of all random numbers" },
    { 0, "log-level", "LEVEL", GX_OPTION_TEXT, AT(log_level), 0, 0,
      "trace, debug, info (default), warn, error or off" },
    { 0, "log-format", "FORMAT", GX_OPTION_TEXT, AT(log_format), 0, 0,
      "text (default), or json: an object a line, with what the program itself says" },
    { 0, "log-file", "PATH", GX_OPTION_TEXT, AT(log_file), 0, 0,
      "the log goes there, behind what is there, instead of to the standard error; opened again by SIGHUP" },
    { 0, "figures-every", "SECONDS", GX_OPTION_WHOLE, AT(figures_every), 0, 86400,
      "a line of figures in the log so often; 0: none (default: 60 where the log is on no terminal)" },
    { 0, "log-events", "NAME[=N]", GX_OPTION_WORDS, AT(log_events), 0, 0,
      "log the tuples that component NAME emits, or N percent of them; may be repeated" },
    { 0, "events-file", "PATH", GX_OPTION_TEXT, AT(events_file), 0, 0,
      "where they go, as JSON lines behind what is there (default: events.jsonl); - is the standard output" },
};

enum { OPTION_COUNT = sizeof options / sizeof options[0] };

/* --- The run ------------------------------------------------------------------------------------------------------ */

/* NULL: no events are logged. */
static const char *events_path(const choices *c) {
    if (!c->log_events.count) return NULL;
    return c->events_file ? c->events_file : "events.jsonl";
}

static int load(const char *path, const choices *c, const gale_logger *logger, bool *ret_prints,
                gale_topology **ret_topology, gale_error *error) {
    const gx_named_file files[] = {
        { .who = "gale", .verb = "reads the topology from", .path = path },
        { .who = "--events-file", .verb = "writes", .path = events_path(c), .written = true },
        { .who = "--replay-dead-letters",
          .verb = "reads",
          .path = c->replay,
          .advice = "; move it first, or name another with -c topology.dead_letters.file=PATH",
          .goes_on = true },
        { .who = "--log-file", .verb = "writes", .path = c->log_file, .written = true },
    };
    gale_setting settings[5];
    size_t count = 0;
    if (c->input) settings[count++] = (gale_setting){ "gale.input", gale_text(c->input) };
    if (c->output) settings[count++] = (gale_setting){ "gale.output", gale_text(c->output) };
    if (c->overwrite) settings[count++] = (gale_setting){ "gale.overwrite", gale_bool(true) };
    if (c->rate > 0) settings[count++] = (gale_setting){ "gale.rate", gale_f64(c->rate) };
    if (c->member) settings[count++] = (gale_setting){ "gale.member", gale_text(c->member) };
    gx_flux_options flux = { .settings = settings,
                             .setting_count = count,
                             .ret_prints = ret_prints,
                             .logger = logger,
                             .files = files,
                             .file_count = sizeof files / sizeof *files,
                             .settled = true,
                             .state = c->state };
    return gx_flux_file_load(path, &c->flux, flux, ret_topology, error);
}

/* With the event log that was asked for. */
static int run_logged(gx_session *session, gale_topology *topology, const choices *c, const gale_logger *logger) {
    gale_error error = GALE_ERROR_INIT;
    gx_event_log events;
    if (!c->log_events.count) return gx_service_run(session, topology);
    int rc = gx_event_log_open(&events, &c->log_events, events_path(c), topology, logger, &error);
    if (rc < 0) return gx_session_refuse(session->terminal, &error, gx_session_exit(rc));
    session->events = &events;
    int exit_code = gx_service_run(session, topology);
    if (gx_event_log_close(&events, &error) == 0) return exit_code;
    return gx_session_refuse(session->terminal, &error, GX_EXIT_IO);
}

static int refuse_adopt(gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, GALE_INVALID, "--state-adopt is of no use without --state DIR");
    return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
}

/* With the state that it goes on from. */
static int run_topology(gx_session *session, gale_topology *topology, const choices *c, const gale_logger *logger) {
    gale_error error = GALE_ERROR_INIT;
    gale_store store;
    session->state = gx_state_folder_of(topology);
    if (!session->state && c->adopt.count) return refuse_adopt(session->terminal);
    if (!session->state && c->from) {
        gale_error_set(&error, GALE_INVALID, "--from %s: no state is kept; --state DIR says where", c->from);
        return gx_session_refuse(session->terminal, &error, GX_EXIT_USAGE);
    }
    if (!session->state) return run_logged(session, topology, c, logger);
    int rc = c->from ? gx_state_folder_begin_from(topology, c->from, logger, &error) : GALE_OK;
    if (rc == GALE_OK) rc = gx_state_folder_open(topology, &store, &error);
    if (rc < 0) return gx_session_refuse(session->terminal, &error, gx_session_exit(rc));
    session->store = &store;
    session->adopt = c->adopt;
    int exit_code = run_logged(session, topology, c, logger);
    store.close(store.self);
    return exit_code;
}

/* --- Dead letters ------------------------------------------------------------------------------------------------- */

/* Lines that are no letters are said, and left out. A file of nothing else is no file of dead letters. */
static int load_letters(gx_session *session, const char *path, gx_dead_letter_file *ret_letters) {
    gale_error error = GALE_ERROR_INIT;
    gx_bad_letters bad = { session->terminal, 0 };
    gx_dead_letter_file_told told = gx_bad_letters_told(&bad);
    int rc = gx_dead_letter_file_load(path, &told, ret_letters, &error);
    if (rc < 0) return gx_session_refuse(session->terminal, &error, gx_session_exit(rc));
    gx_bad_letters_end(&bad, path);
    session->skipped = bad.count > 0;
    if (!bad.count || ret_letters->count) return GX_EXIT_OK;
    gx_dead_letter_file_fini(ret_letters);
    return GX_EXIT_USAGE;
}

static int run_letters(gx_session *session, gale_topology *topology, const choices *c, const gale_logger *logger) {
    gale_error error = GALE_ERROR_INIT;
    gx_dead_letter_file letters;
    if (gx_state_folder_of(topology)) {
        gale_error_set(
            &error, GALE_INVALID,
            "--replay-dead-letters runs other spouts than those whose state is in '%s'; let the run end, and "
            "give -c topology.state.dir= to emit letters without it",
            gx_state_folder_of(topology));
        return gx_session_refuse(session->terminal, &error, GX_EXIT_USAGE);
    }
    int exit_code = load_letters(session, c->replay, &letters);
    if (exit_code != GX_EXIT_OK) return exit_code;
    int rc = gx_letter_spouts(topology, &letters, &error);
    session->until_drained = true;
    exit_code = rc < 0 ? gx_session_refuse(session->terminal, &error, gx_session_exit(rc))
                       : run_logged(session, topology, c, logger);
    gx_dead_letter_file_fini(&letters);
    return exit_code;
}

static int print_plan(gale_topology *topology, const choices *c, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime;
    gale_runtime_options runtime_options = GALE_RUNTIME_OPTIONS_INIT;
    runtime_options.executors = (uint32_t)c->jobs;
    int rc = gale_runtime_new(topology, &runtime_options, &runtime, &error);
    if (rc < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    gx_buf out = GX_BUF_INIT(NULL);
    (c->json ? gx_layout_json : gx_layout_text)(topology, runtime, &out);
    gale_runtime_free(runtime, -1, NULL);
    return gx_session_print(errors, &out);
}

/* --- The log ------------------------------------------------------------------------------------------------------ */

enum { FIGURES_UNSAID = UINT32_MAX, FIGURES_SECONDS = 60 };

/* A terminal has a line of figures that moves. */
static int64_t figures_every(const choices *c, const gx_terminal *errors) {
    if (c->figures_every != FIGURES_UNSAID) return (int64_t)c->figures_every * GALE_SECOND;
    return c->quiet || (errors->is_tty && !c->log_file) ? 0 : FIGURES_SECONDS * GALE_SECOND;
}

static int begin_log(const choices *c, gx_terminal *errors, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(gx_str(c->log_format));
    char hint[100];
    bool json = c->log_format && strcmp(c->log_format, "json") == 0;
    if (c->log_format && !json && strcmp(c->log_format, "text") != 0) {
        gx_nearest_offer(&nearest, gx_str("text"));
        gx_nearest_offer(&nearest, gx_str("json"));
        return gale_error_set(error, GALE_INVALID, "--log-format must be text or json, not '%s'%s", c->log_format,
                              gx_nearest_hint(&nearest, hint, sizeof hint));
    }
    return c->plan ? 0 : gx_terminal_log_to(errors, c->log_file, json, error);
}

/* --- A file ------------------------------------------------------------------------------------------------------- */

/* --- What it is changed to ---------------------------------------------------------------------------------------- */

typedef struct reloading {
    const char *path;
    const gale_logger *logger;
    const gx_session *session;
    const char *name;         /* the topology's */
    choices begun, now, next; /* as it was begun with, and by what was asked since */
    gx_change_words kept;
} reloading;

/* Another folder would have another state. */
static int check_folder(const gx_session *session, const gale_topology *topology, gale_error *error) {
    const char *folder = gx_state_folder_of(topology), *own = session->state;
    if (folder == own || (folder && own && strcmp(folder, own) == 0)) return 0;
    return gale_error_set(error, GALE_INVALID,
                          "the run keeps its state in '%s', and is now to keep it in '%s': end it, and start it anew",
                          own ? own : "", folder ? folder : "");
}

/* The socket, the figures and the state have it. */
static int check_name(const reloading *r, const gale_topology *topology, gale_error *error) {
    const char *name = gale_topology_name(topology);
    if (strcmp(name, r->name) == 0) return 0;
    return gale_error_set(error, GALE_INVALID,
                          "the run is '%s', and is now to be '%s': a run keeps its name; end it, and start it anew",
                          r->name, name);
}

/* What changes have laid over the file since the run began, in words. */
static void add_laid(const gx_words *begun, const gx_words *now, const char *option, gx_buf *out) {
    for (size_t i = 0; i < now->count; i++)
        if (i >= begun->count || now->items[i] != begun->items[i])
            gx_buf_format(out, "%s%s %s", out->size ? " " : "", option, now->items[i]);
}

static void laid_text(const reloading *r, const choices *now, gx_buf *out) {
    add_laid(&r->begun.flux.assignments, &now->flux.assignments, "-c", out);
    add_laid(&r->begun.flux.sets, &now->flux.sets, "--set", out);
    add_laid(&r->begun.adopt, &now->adopt, "--state-adopt", out);
}

/* Who changes a file does not think of what was said to another one. */
static void add_laid_words(const reloading *r, gale_error *error) {
    gx_buf words = GX_BUF_INIT(NULL);
    gale_error found = *error;
    laid_text(r, &r->now, &words);
    const char *text = words.size ? gx_buf_text(&words) : NULL;
    if (text)
        gale_error_set(error, found.code, "%s\nearlier changes have laid over the file: %s (--forget takes that back)",
                       found.text, text);
    gx_buf_fini(&words);
}

static int lay(reloading *r, const gx_change *change, gale_error *error) {
    r->next = change->forget ? r->begun : r->now;
    int rc = gx_change_lay(&r->kept, &change->settings, &r->next.flux.assignments, error);
    if (rc == 0) rc = gx_change_lay(&r->kept, &change->sets, &r->next.flux.sets, error);
    if (rc == 0) rc = gx_change_lay(&r->kept, &change->adopt, &r->next.adopt, error);
    if (rc == 0 && r->next.adopt.count && !r->session->store)
        rc = gale_error_set(error, GALE_INVALID, "there is nothing to adopt without a state");
    return rc;
}

static int load_changed(void *user, const gx_change *change, gale_topology **ret_topology, gx_words *ret_adopt,
                        gale_error *error) {
    reloading *r = user;
    bool prints;
    int rc = lay(r, change, error);
    if (rc < 0) return rc;
    rc = load(r->path, &r->next, r->logger, &prints, ret_topology, error);
    if (rc < 0 && !change->forget) add_laid_words(r, error);
    if (rc < 0) return rc;
    *ret_adopt = r->next.adopt;
    rc = check_name(r, *ret_topology, error);
    if (rc == 0) rc = check_folder(r->session, *ret_topology, error);
    if (rc < 0) gale_topology_free(*ret_topology);
    return rc;
}

static void settle(void *user, gx_change *change, const gale_logger *logger) {
    reloading *r = user;
    gx_buf words = GX_BUF_INIT(NULL);
    r->now = r->next;
    laid_text(r, &r->now, &words);
    const char *text = words.size ? gx_buf_text(&words) : NULL;
    gx_change_laid(change, text);
    if (text) gale_log(logger, GALE_LOG_INFO, NULL, "changes have laid over its file: %s", text);
    gx_buf_fini(&words);
}

/* Can be changed while it runs, whoever asks for that. */
static int run_changing(gx_session *session, gale_topology *topology, const char *path, const choices *c,
                        const gale_logger *logger) {
    reloading r = {
        .path = path, .logger = logger, .session = session, .name = gale_topology_name(topology), .begun = *c, .now = *c
    };
    session->reloader = (gx_reloader){ &r, load_changed, settle };
    int exit_code = run_topology(session, topology, c, logger);
    gx_change_words_free(&r.kept);
    return exit_code;
}

static gx_server_options served(const char *path, const choices *c) {
    return (gx_server_options){ .control = !c->no_control,
                                .listen = c->listen,
                                .token_file = c->listen_token_file,
                                .certificate = c->listen_cert,
                                .key = c->listen_key,
                                .file = path };
}

static int run_file(const char *path, const choices *c, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gale_logger logger;
    gale_topology *topology;
    gx_manager manager;
    bool prints = false;
    gx_session session = { .terminal = errors,
                           .log_level = c->log_level,
                           .executors = (uint32_t)c->jobs,
                           .seed = c->seed,
                           .until_drained = c->until_drained,
                           .keep_running = c->keep_running,
                           .end_within = c->end_within,
                           .exit_by_signal = c->exit_by_signal,
                           .quiet = c->quiet,
                           .json = c->json,
                           .serve = served(path, c),
                           .period = GALE_SECOND,
                           .figures_every = figures_every(c, errors),
                           .reopens = true,
                           .manager = &manager };
    int rc = begin_log(c, errors, &error);
    if (rc == 0) rc = gx_session_logger(&session, &logger, &error);
    gx_session_log_deeds(&session);
    if (rc < 0) return gx_session_refuse(errors, &error, gx_session_exit(rc));
    gx_manager_begin(&manager, &logger);
    rc = load(path, c, &logger, &prints, &topology, &error);
    if (rc < 0) gx_manager_end(&manager);
    if (rc < 0) return gx_session_refuse(errors, &error, rc == GALE_NO_MEMORY ? GX_EXIT_FAILED : GX_EXIT_USAGE);
    session.json_fd = prints ? 2 : 1;
    session.no_live = (prints && isatty(1)) || !gx_terminal_is_for_people(errors);
    int exit_code = c->plan     ? print_plan(topology, c, errors)
                    : c->replay ? run_letters(&session, topology, c, &logger)
                                : run_changing(&session, topology, path, c, &logger);
    gx_manager_end(&manager);
    gale_topology_free(topology);
    return exit_code;
}

/* What contradicts each other. */
static int check_choices(const choices *c, gale_error *error) {
    if (c->replay && c->adopt.count)
        return gale_error_set(error, GALE_INVALID, "--state-adopt is of no use with --replay-dead-letters");
    if (c->replay && (c->input || c->rate > 0))
        return gale_error_set(error, GALE_INVALID, "%s is of no use with --replay-dead-letters: no spout reads it",
                              c->input ? "--input" : "--rate");
    if (c->from && (c->replay || c->plan))
        return gale_error_set(error, GALE_INVALID, "--from is of no use with %s",
                              c->replay ? "--replay-dead-letters" : "--plan");
    if (c->keep_running && (c->until_drained || c->replay))
        return gale_error_set(error, GALE_INVALID, "--keep-running and %s contradict each other",
                              c->replay ? "--replay-dead-letters" : "--until-drained");
    if (c->events_file && !c->log_events.count)
        return gale_error_set(error, GALE_INVALID, "--events-file is of no use without --log-events");
    gx_server_options serve = served(NULL, c);
    return gx_server_check(&serve, error);
}

/* In the form that was asked for before what is wrong; no file is made for it. */
static int refuse_words(const choices *c, const gale_error *error, gx_terminal *errors) {
    bool json = c->log_format && strcmp(c->log_format, "json") == 0 && !c->log_file;
    if (json) (void)gx_terminal_log_to(errors, NULL, true, NULL);
    return gx_session_refuse(errors, error, GX_EXIT_USAGE);
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .figures_every = FIGURES_UNSAID };
    gx_words words = { .count = 0 };
    int rc = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &words, &error);
    if (rc == 0 && words.count != 1)
        rc = gale_error_set(&error, GALE_INVALID, "run takes one topology file, not %zu: gale %s", words.count,
                            gx_cmd_run.usage);
    if (rc == 0) rc = check_choices(&c, &error);
    if (rc < 0) return refuse_words(&c, &error, errors);
    return run_file(words.items[0], &c, errors);
}

const gx_command gx_cmd_run = {
    .name = "run",
    .usage = "run FILE.yaml [options]",
    .text = "run a topology from a Flux file",
    .more =
        "Ends when a finite input has been answered, and with Ctrl-C, SIGTERM, or SIGHUP of a terminal that closes. A "
        "signal\n"
        "drains: spouts stop, and what is in flight is finished, for 10 s at the most; a second Ctrl-C or SIGTERM "
        "stops "
        "at\n"
        "once. SIGHUP without such a terminal opens logs and the files of sinks again, after they were rotated.\n"
        "With --state it makes a checkpoint instead, and the next run goes on from there.\n"
        "What fails for good: what is out of attempts, where the engine tries again (topology.replay.attempts); what\n"
        "is rejected; dead letters; and what spouts give up.\n"
        "Exit codes: 0 ok, a drained end by a signal too; 1 something failed for good; 2 usage or topology; 3 input\n"
        "or output; 128 + signal: it cut the run short, before all in flight was finished or, with --until-drained,\n"
        "before the input had ended. gale drain is like SIGTERM, gale kill like a second one (143).\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run,
};
