/* gale demo top-words | word-count | unique-visitors */
#include "cli/command.h"
#include "cli/demo_view.h"
#include "cli/service.h"

#include "base/nearest.h"
#include "base/os/entropy.h"
#include "base/str.h"

#include <gale/kit.h>
#include <stddef.h>
#include <string.h>

typedef struct choices {
    gx_words inputs;
    double rate;
    uint64_t jobs, seconds, seed;
    const char *log_level, *listen;
} choices;

#define AT(field) offsetof(choices, field)

static const gx_option options[] = {
    { 0, "input", "PATH", GX_OPTION_WORDS, AT(inputs), 0, 0,
      "read this file or folder; may be repeated (default: what the machine has)" },
    { 0, "rate", "N", GX_OPTION_RATE, AT(rate), 0, 0,
      "lines a second (default 400; with --input no limit, but for top-words)" },
    { 'j', "executors", "N", GX_OPTION_WHOLE, AT(jobs), 1, GALE_EXECUTORS_MAX,
      "threads that run the tasks (default: one a core)" },
    { 0, "seconds", "N", GX_OPTION_WHOLE, AT(seconds), 1, 1000000000, "end after so many seconds" },
    { 0, "seed", "N", GX_OPTION_WHOLE, AT(seed), 1, UINT64_MAX,
      "seed of all random numbers and of the documents' order" },
    { 0, "log-level", "LEVEL", GX_OPTION_TEXT, AT(log_level), 0, 0,
      "trace, debug, info, warn, error (default) or off" },
    { 0, "listen", "ADDRESS", GX_OPTION_TEXT, AT(listen), 0, 0,
      "serve its page at this address, as gale run does: 127.0.0.1:8080 unless it says; the address that is printed "
      "lets its reader in" },
};

enum { OPTION_COUNT = sizeof options / sizeof options[0], DEFAULT_RATE = 400, WINDOW = 9, EMIT = 1 };

/* A minute of the made-up log takes two seconds at the default rate. */
enum { LINES_A_MINUTE = 800, LATENESS = 120 };

/* Words that are on top in every English text, and those that manual pages repeat. */
static const char stop_words[] =
    "about above after also another been before being below between both cannot could does done each else even every "
    "from "
    "given have here however into itself just like made make many more most much must need never none note only other "
    "over "
    "same shall should since some such than that their them then there these they this those through thus under unless "
    "until upon used uses using very want well were what when where whether which while will with within without would "
    "your option options default following file files name value";

/* --- Topologies --------------------------------------------------------------------------------------------------- */

/* Adds a bolt whose definition may have failed to be made. */
static int add(gale_topology *topology, const char *name, int made, const gale_bolt *bolt, uint32_t tasks) {
    return made < 0 ? made : gale_topology_add_bolt(topology, name, *bolt, tasks);
}

static int add_split(gale_topology *topology, gx_demo_source *source, const gale_split_options *split,
                     gale_error *error) {
    gale_bolt bolt;
    int rc = gale_topology_add_spout(topology, "lines", gx_demo_spout(source), 1);
    if (rc >= 0) rc = add(topology, "split", gale_split_bolt(split, &bolt, error), &bolt, 1);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "split", "lines", NULL, gale_shuffle());
    return rc;
}

static int top_words(gale_topology *topology, gx_demo_view *view, gale_error *error) {
    gale_split_options split = {
        .size = sizeof split, .lower_case = true, .letters_only = true, .min_letters = 4, .stop_words = stop_words
    };
    gale_bolt bolt;
    int rc = add_split(topology, view->source, &split, error);
    if (rc >= 0) rc = add(topology, "count", gale_rolling_count_bolt(WINDOW, EMIT, &bolt, error), &bolt, 4);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "count", "split", NULL, gale_fields("word"));
    if (rc >= 0)
        rc = add(topology, "rank", gale_intermediate_rankings_bolt(GX_DEMO_ROWS, EMIT, &bolt, error), &bolt, 4);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "rank", "count", NULL, gale_fields("obj"));
    if (rc >= 0) rc = add(topology, "total", gale_total_rankings_bolt(GX_DEMO_ROWS, EMIT, &bolt, error), &bolt, 1);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "total", "rank", NULL, gale_global());
    if (rc >= 0) rc = add(topology, "show", gale_callback_bolt(gx_demo_on_rankings, view, &bolt, error), &bolt, 1);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "show", "total", NULL, gale_global());
    return rc;
}

static int word_count(gale_topology *topology, gx_demo_view *view, gale_error *error) {
    gale_split_options split = { .size = sizeof split };
    gale_bolt bolt;
    int rc = add_split(topology, view->source, &split, error);
    if (rc >= 0) rc = add(topology, "count", gale_count_bolt(GALE_COUNT_EMIT_EACH, &bolt, error), &bolt, 4);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "count", "split", NULL, gale_fields("word"));
    if (rc >= 0) rc = add(topology, "show", gale_callback_bolt(gx_demo_on_count, view, &bolt, error), &bolt, 1);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "show", "count", NULL, gale_global());
    return rc;
}

/* The lines of a log: the one that was named, or a made-up one. */
static int add_log(gale_topology *topology, gx_demo_source *source, gale_error *error) {
    if (source->documents->count) return gale_topology_add_spout(topology, "lines", gx_demo_spout(source), 1);
    gale_access_log_spout_options log = { .size = sizeof log, .lines_a_minute = LINES_A_MINUTE, .seed = source->seed };
    gale_spout spout;
    int rc = gale_access_log_spout(&log, &spout, error);
    if (rc >= 0) rc = gale_topology_add_spout(topology, "lines", spout, 1);
    if (rc >= 0) rc = gale_topology_set(topology, "lines", "gale.rate", gale_f64(source->rate));
    return rc;
}

static int unique_visitors(gale_topology *topology, gx_demo_view *view, gale_error *error) {
    gale_event_time_options by_time = { .size = sizeof by_time,
                                        .output = "time, host, agent",
                                        .lateness_seconds = LATENESS };
    gale_unique_options visitors = { .size = sizeof visitors, .key = "host, agent", .windows = "60, 300" };
    gale_bolt bolt;
    int rc = add_log(topology, view->source, error);
    if (rc >= 0) rc = add(topology, "parse", gale_access_log_bolt(NULL, &bolt, error), &bolt, 1);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "parse", "lines", NULL, gale_shuffle());
    if (rc >= 0) rc = add(topology, "clock", gale_event_time_bolt(&by_time, &bolt, error), &bolt, 1);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "clock", "parse", NULL, gale_global());
    if (rc >= 0) rc = add(topology, "unique", gale_unique_bolt(&visitors, &bolt, error), &bolt, 4);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "unique", "clock", NULL, gale_fields("host, agent"));
    if (rc >= 0) rc = gale_topology_subscribe(topology, "unique", "clock", "watermark", gale_all());
    if (rc >= 0) rc = add(topology, "total", gale_unique_total_bolt(EMIT, &bolt, error), &bolt, 1);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "total", "unique", NULL, gale_global());
    if (rc >= 0) rc = gale_topology_subscribe(topology, "total", "unique", "watermark", gale_global());
    if (rc >= 0) rc = add(topology, "show", gale_callback_bolt(gx_demo_on_window, view, &bolt, error), &bolt, 1);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "show", "total", NULL, gale_global());
    if (rc >= 0) rc = gale_topology_subscribe(topology, "show", "total", "now", gale_global());
    if (rc >= 0) rc = add(topology, "late", gale_callback_bolt(gx_demo_on_late, view, &bolt, error), &bolt, 1);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "late", "clock", "late", gale_global());
    if (rc >= 0) rc = add(topology, "bad", gale_callback_bolt(gx_demo_on_bad, view, &bolt, error), &bolt, 1);
    if (rc >= 0) rc = gale_topology_subscribe(topology, "bad", "parse", "bad", gale_global());
    return rc;
}

typedef struct demo {
    const char *name;
    int (*build)(gale_topology *topology, gx_demo_view *view, gale_error *error);
    bool finite; /* a named input is read once, as fast as it goes */
    bool makes;  /* without one it makes lines of its own */
} demo;

static const demo demos[] = { { "top-words", top_words, false, false },
                              { "word-count", word_count, true, false },
                              { "unique-visitors", unique_visitors, true, true } };

enum { DEMO_COUNT = sizeof demos / sizeof demos[0] };

/* --- Running ------------------------------------------------------------------------------------------------------ */

static gx_server_options served(const choices *c) {
    return (gx_server_options){ .control = true, .listen = c->listen };
}

static int run_topology(const choices *c, gx_demo_view *view, gale_topology *topology, gx_terminal *errors) {
    bool one_screen = view->terminal->is_tty && errors->is_tty;
    gx_session session = { .terminal = one_screen ? view->terminal : errors,
                           .log_level = c->log_level ? c->log_level : "error",
                           .executors = (uint32_t)c->jobs,
                           .seed = c->seed,
                           .until_drained = !view->source->repeat,
                           .drain_after = (int64_t)c->seconds * GALE_SECOND,
                           .period = view->terminal->is_tty ? GALE_SECOND / 2 : GALE_SECOND,
                           .on_tick = gx_demo_on_tick,
                           .user = view,
                           .serve = served(c) };
    int exit_code = gx_service_run(&session, topology);
    return view->terminal->broken ? gx_session_unwritten(errors, view->terminal->broken) : exit_code;
}

static int run_view(const demo *d, const choices *c, gx_demo_view *view, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = gale_topology_new(d->name);
    int rc = topology ? d->build(topology, view, &error) : GALE_NO_MEMORY;
    if (rc >= 0)
        rc = gale_topology_check(topology, &error);
    else if (topology && !error.code)
        gale_topology_check(topology, &error);
    if (!error.code) error.code = rc;
    int exit_code = rc < 0 ? gx_session_refuse(errors, &error, GX_EXIT_FAILED)
                           : run_topology(c, view, topology, errors);
    gale_topology_free(topology);
    return exit_code;
}

static int run_documents(const demo *d, const choices *c, const gx_documents *documents, gx_terminal *errors) {
    bool once = d->finite && c->inputs.count;
    gx_demo_source source = { .documents = documents, .seed = c->seed ? c->seed : gx_os_entropy(), .repeat = !once };
    source.rate = c->rate > 0 ? c->rate : once ? 0 : DEFAULT_RATE;
    gx_terminal standard;
    gx_demo_view view;
    gx_terminal_init(&standard, 1);
    bool made = gx_demo_view_init(&view, d->name, &standard, &source);
    int exit_code = made ? run_view(d, c, &view, errors) : GX_EXIT_FAILED;
    gx_demo_view_fini(&view);
    gx_terminal_fini(&standard);
    return exit_code;
}

static int find_demo(const gx_words *words, const demo **ret_demo, gale_error *error) {
    if (words->count != 1)
        return gale_error_set(error, GALE_INVALID, "demo takes one name, not %zu: gale %s", words->count,
                              gx_cmd_demo.usage);
    gx_nearest nearest = gx_nearest_to(gx_str(words->items[0]));
    char hint[100];
    for (size_t i = 0; i < DEMO_COUNT; i++) {
        gx_nearest_offer(&nearest, gx_str(demos[i].name));
        if (strcmp(words->items[0], demos[i].name) == 0) return *ret_demo = &demos[i], 0;
    }
    gx_nearest_hint(&nearest, hint, sizeof hint);
    return gale_error_set(error, GALE_NOT_FOUND, "unknown demo '%s'%s%s", words->items[0], *hint ? hint : ": gale ",
                          *hint ? "" : gx_cmd_demo.usage);
}

/* A demonstration goes round and round, in an order of its own. */
static int check_inputs(const gx_words *inputs, gale_error *error) {
    for (size_t i = 0; i < inputs->count; i++)
        if (strcmp(inputs->items[i], "-") == 0)
            return gale_error_set(error, GALE_UNSUPPORTED,
                                  "demo reads files and folders, not the standard input (gale run does)");
    return 0;
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .seed = 0 };
    gx_words words = { .count = 0 };
    const demo *d = NULL;
    gx_documents documents = { .count = 0 };
    int rc = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &words, &error);
    if (rc == 0) rc = find_demo(&words, &d, &error);
    if (rc == 0) rc = check_inputs(&c.inputs, &error);
    const gx_server_options serve = served(&c);
    if (rc == 0) rc = gx_server_check(&serve, &error);
    if (rc < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    if (c.inputs.count)
        rc = gx_documents_find(c.inputs.items, c.inputs.count, &documents, &error);
    else if (!d->makes)
        rc = gx_documents_find_any(&documents, &error);
    if (rc < 0) return gx_session_refuse(errors, &error, rc == GALE_NO_MEMORY ? GX_EXIT_FAILED : GX_EXIT_IO);
    int exit_code = run_documents(d, &c, &documents, errors);
    gx_documents_fini(&documents);
    return exit_code;
}

const gx_command gx_cmd_demo = {
    .name = "demo",
    .usage = "demo top-words|word-count|unique-visitors [options]",
    .text = "watch words move, over text that this machine has; or the visitors of a web server",
    .more = "top-words        the ten words that came most often in the last 9 seconds, every second\n"
            "word-count       all words since the start; with --input, of that text, once\n"
            "unique-visitors  how many different visitors came each minute and each five minutes, by a made-up\n"
            "                 access log, two seconds to a minute; with --input, by that log, once. Lines over 120\n"
            "                 seconds behind are late, and those that are no line of a log are bad: neither counts.\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run,
};
