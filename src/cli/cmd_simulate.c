/* gale simulate FILE.yaml, gale simulate --random, gale simulate --durable */
#include "cli/command.h"
#include "cli/flux_file.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/signals.h"

#include "base/hash.h"
#include "base/os/file.h"
#include "base/str.h"
#include "sim/lives.h"
#include "sim/simulator.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct choices {
    const char *faults, *input, *record;
    uint64_t seed, runs, executors, roots;
    bool random, durable, quiet;
    gx_flux_choices flux;
} choices;

#define AT(field) offsetof(choices, field)

static const gx_option options[] = {
    { 0, "seed", "N", GX_OPTION_WHOLE, AT(seed), 1, UINT64_MAX, "seed of the first run; each next run's is one more" },
    { 'n', "runs", "N", GX_OPTION_WHOLE, AT(runs), 1, 1000000000, "how many (default: 100)" },
    { 0, "faults", "NAME=P,...", GX_OPTION_TEXT, AT(faults), 0, 0,
      "odds from 0 to 1; or none (default: drawn for each run)" },
    { 0, "input", "PATH", GX_OPTION_TEXT, AT(input), 0, 0,
      "spouts read this; without it generators stand in for them" },
    { 0, "random", NULL, GX_OPTION_FLAG, AT(random), 0, 0, "a random topology for each run, in place of a file" },
    { 0, "durable", NULL, GX_OPTION_FLAG, AT(durable), 0, 0,
      "random durable runs, which die at drawn places and go on, in place of a file" },
    { 'j', "executors", "N", GX_OPTION_WHOLE, AT(executors), 1, GALE_EXECUTORS_MAX,
      "executors (default: drawn, 1 to 8)" },
    { 0, "roots", "N", GX_OPTION_WHOLE, AT(roots), 1, 100000000, "trees a run (default: drawn, 100 to 260)" },
    { 0, "record", "PATH", GX_OPTION_TEXT, AT(record), 0, 0,
      "keep what was done in this file, and go on where it ends" },
    GX_FLUX_ROWS,
    { 'q', "quiet", NULL, GX_OPTION_FLAG, AT(quiet), 0, 0, "no line for a run that holds" },
};

enum { OPTION_COUNT = sizeof options / sizeof options[0], RECORD_EVERY = 1000, RECORD_LIMIT = 16 << 20 };

typedef struct job {
    const choices *chosen;
    const char *path; /* NULL: random */
    gx_terminal *errors;
    gx_terminal out;
    gx_simulator *simulator; /* NULL: durable */
    gx_death places;         /* where durable runs died */
    uint64_t first, next;    /* seeds */
    uint64_t failures, refused, first_failure;
    uint64_t roots, deliveries;
    gx_buf past;   /* what the record held before */
    gx_buf failed; /* a line a failure */
} job;

/* --- The record --------------------------------------------------------------------------------------------------- */

static uint64_t what_of(const job *j) {
    const choices *c = j->chosen;
    char numbers[80];
    snprintf(numbers, sizeof numbers, "%" PRIu64 " %" PRIu64 " %d", c->executors, c->roots, c->random);
    const char *parts[] = { j->path, c->faults, c->input, numbers, c->durable ? "durable" : NULL };
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts - !c->durable; i++)
        hash = gx_hash_bytes(parts[i] ? parts[i] : "", parts[i] ? strlen(parts[i]) + 1 : 0, hash);
    for (size_t i = 0; i < c->flux.assignments.count; i++)
        hash = gx_hash_bytes(c->flux.assignments.items[i], strlen(c->flux.assignments.items[i]), hash);
    for (size_t i = 0; i < c->flux.sets.count; i++)
        hash = gx_hash_bytes(c->flux.sets.items[i], strlen(c->flux.sets.items[i]), hash);
    if (c->flux.filter) hash = gx_hash_bytes(c->flux.filter, strlen(c->flux.filter), hash);
    return hash;
}

/* Reads where to go on. */
static int read_record(job *j, gale_error *error) {
    gx_file_about about;
    const char *path = j->chosen->record;
    j->past = (gx_buf)GX_BUF_INIT(NULL);
    int rc = gx_file_about_path(path, &about, error);
    if (rc == GALE_NOT_FOUND) {
        gx_progress_begin(&j->past, what_of(j));
        return GALE_OK;
    }
    char *text;
    size_t size;
    if (rc >= 0) rc = gx_file_read_all(path, RECORD_LIMIT, &text, &size, error);
    if (rc < 0) return rc;
    rc = gx_progress_parse(path, (gale_str){ text, size }, what_of(j), &j->next, error);
    gx_buf_add(&j->past, text, size);
    if (size && text[size - 1] != '\n') gx_buf_add_byte(&j->past, '\n');
    free(text);
    return rc;
}

static int put_record(const job *j, const gx_buf *text, gale_error *error) {
    int rc = text->failed ? gale_error_set(error, GALE_NO_MEMORY, "out of memory")
                          : gx_file_replace(j->chosen->record, text->data, text->size, error);
    return rc < 0 ? gale_error_add(error, "the record '%s' could not be written", j->chosen->record) : rc;
}

static int write_record(job *j, gale_error *error) {
    if (!j->chosen->record || j->next == j->first) return GALE_OK;
    gx_buf all = GX_BUF_INIT(NULL);
    gx_buf_add(&all, j->past.data, j->past.size);
    gx_progress_done(&all, j->first, j->next - 1, j->failures);
    gx_buf_add(&all, j->failed.data, j->failed.size);
    all.failed |= j->past.failed || j->failed.failed;
    int rc = put_record(j, &all, error);
    gx_buf_fini(&all);
    return rc;
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

static bool say(job *j, gx_buf *line) {
    const char *text = gx_buf_text(line);
    bool said = text && gx_terminal_print(&j->out, text);
    gx_buf_fini(line);
    return said;
}

static const char *y_or_ies(uint64_t n) {
    return n == 1 ? "y" : "ies";
}

static bool tell_run(job *j, uint64_t seed, const gx_simulator_result *r) {
    gx_buf line = GX_BUF_INIT(NULL);
    if (!r->holds)
        gx_buf_format(&line, "seed %" PRIu64 ": does not hold: %s\n", seed, r->text);
    else if (r->refused)
        gx_buf_format(&line, "seed %" PRIu64 ": holds; an allocation failed before the start\n", seed);
    else
        gx_buf_format(
            &line,
            "seed %" PRIu64 ": holds; %u task%s on %u executor%s, %" PRIu64 " root%s (%" PRIu64 " acked, %" PRIu64
            " failed, %" PRIu64 " timed out, %" PRIu64 " rejected, %" PRIu64 " stopped), %" PRIu64
            " deliver%s, %" PRIu64 " captured, %" PRIu64 " step%s, %.3f s, trace %016" PRIx64 "\n",
            seed, r->tasks, gx_plural(r->tasks), r->executors, gx_plural(r->executors), r->roots, gx_plural(r->roots),
            r->acked, r->failed, r->timed_out, r->rejected, r->stopped, r->deliveries, y_or_ies(r->deliveries),
            r->captured, r->steps, gx_plural(r->steps), (double)r->elapsed / 1e9, r->trace);
    if (r->holds && j->chosen->quiet) {
        gx_buf_fini(&line);
        return true;
    }
    return say(j, &line);
}

static bool tell_durable(job *j, uint64_t seed, const gx_lives_result *r) {
    gx_buf line = GX_BUF_INIT(NULL);
    if (!r->holds)
        gx_buf_format(&line, "seed %" PRIu64 ": does not hold: %s\n", seed, r->text);
    else if (!j->chosen->quiet)
        gx_buf_format(&line,
                      "seed %" PRIu64 ": holds, %s; %u task%s, %" PRIu64 " message%s, %u %s of which %u died, %" PRIu64
                      " checkpoint%s, %" PRIu64 " deliver%s, %" PRIu64 " step%s, trace %016" PRIx64 "\n",
                      seed, r->exact ? "exactly once" : "at least once", r->tasks, gx_plural(r->tasks), r->messages,
                      gx_plural(r->messages), r->lives, r->lives == 1 ? "life" : "lives", r->deaths, r->checkpoints,
                      gx_plural(r->checkpoints), r->executed, y_or_ies(r->executed), r->steps, gx_plural(r->steps),
                      r->trace);
    return say(j, &line);
}

static void note_failure(job *j, uint64_t seed, const char *text) {
    if (!j->failures++) j->first_failure = seed;
    gx_progress_failed(&j->failed, seed, text);
}

/* GALE_NO_MEMORY, or what is wrong with the topology. */
static int run_one(job *j, uint64_t seed, bool *ret_said, gale_error *error) {
    gx_simulator_result result;
    int rc = gx_simulator_run(j->simulator, seed, &result, error);
    if (rc < 0) return rc;
    j->roots += result.roots;
    j->deliveries += result.deliveries;
    if (!result.holds) note_failure(j, seed, result.text);
    *ret_said = tell_run(j, seed, &result);
    return rc;
}

static int run_durable(job *j, uint64_t seed, bool *ret_said, gale_error *error) {
    gx_lives_result result;
    int rc = gx_lives_run(seed, NULL, &j->places, &result, error);
    if (rc < 0) return rc;
    j->roots += result.messages;
    j->deliveries += result.executed;
    if (!result.holds) note_failure(j, seed, result.text);
    *ret_said = tell_durable(j, seed, &result);
    return rc;
}

static void repeat_hint(const job *j, gx_buf *out) {
    const choices *c = j->chosen;
    gx_buf_format(out, "repeat the first with: gale simulate %s --seed %" PRIu64 " --runs 1",
                  j->path              ? j->path
                  : j->chosen->durable ? "--durable"
                                       : "--random",
                  j->first_failure);
    if (c->faults) gx_buf_format(out, " --faults %s", c->faults);
    if (c->input) gx_buf_format(out, " --input %s", c->input);
    if (c->executors) gx_buf_format(out, " --executors %" PRIu64, c->executors);
    if (c->roots) gx_buf_format(out, " --roots %" PRIu64, c->roots);
    for (size_t i = 0; i < c->flux.assignments.count; i++) gx_buf_format(out, " -c %s", c->flux.assignments.items[i]);
    for (size_t i = 0; i < c->flux.sets.count; i++) gx_buf_format(out, " --set %s", c->flux.sets.items[i]);
    if (c->flux.filter) gx_buf_format(out, " --filter %s", c->flux.filter);
    if (c->flux.environment) gx_buf_add_text(out, " -e");
    gx_buf_add_text(out, "\n");
}

static bool tell_end(job *j) {
    gx_buf out = GX_BUF_INIT(NULL);
    if (!j->chosen->quiet) gx_buf_add_text(&out, "\n");
    if (j->simulator)
        gx_coverage_print(gx_simulator_coverage(j->simulator), &out);
    else
        gx_death_print(&j->places, &out);
    uint64_t runs = j->next - j->first;
    gx_buf_format(&out, "%" PRIu64 " run%s, %" PRIu64 " root%s, %" PRIu64 " deliver%s: ", runs, gx_plural(runs),
                  j->roots, gx_plural(j->roots), j->deliveries, y_or_ies(j->deliveries));
    if (j->failures) {
        gx_buf_format(&out, "%" PRIu64 " do%s not hold\n", j->failures, j->failures == 1 ? "es" : "");
        repeat_hint(j, &out);
    } else {
        gx_buf_add_text(&out, "all hold\n");
    }
    return say(j, &out);
}

/* Returns an exit code. */
static int run_all(job *j) {
    gale_error error = GALE_ERROR_INIT;
    int number = 0, rc = GALE_OK;
    bool said = true;
    for (uint64_t left = j->chosen->runs; left > 0 && !number && said && rc >= 0; left--) {
        uint64_t seed = j->next;
        rc = j->simulator ? run_one(j, seed, &said, &error) : run_durable(j, seed, &said, &error);
        if (rc < 0) return gx_session_refuse(j->errors, &error, rc == GALE_NO_MEMORY ? GX_EXIT_FAILED : GX_EXIT_USAGE);
        j->next++;
        if ((j->next - j->first) % RECORD_EVERY == 0) rc = write_record(j, &error);
        number = gx_signals_asked();
    }
    said = said && tell_end(j);
    if (rc >= 0) rc = write_record(j, &error);
    if (rc < 0) return gx_session_refuse(j->errors, &error, GX_EXIT_IO);
    if (!said) return gx_session_unwritten(j->errors, j->out.broken);
    return j->failures ? GX_EXIT_FAILED : number ? GX_EXIT_SIGNAL + number : GX_EXIT_OK;
}

/* --- Beginning ---------------------------------------------------------------------------------------------------- */

static int read_faults(const choices *c, gx_simulator_options *o, gale_error *error) {
    o->draw_faults = !c->faults;
    if (!c->faults || strcmp(c->faults, "none") == 0) return GALE_OK;
    return gx_faults_parse(c->faults, &o->faults, error);
}

static int load(const job *j, gale_topology **ret_topology, gale_error *error) {
    const choices *c = j->chosen;
    if (!j->path) return GALE_OK;
    char next[GX_FILE_NAME_SIZE];
    int rc = c->record ? gx_file_beside(c->record, ".new", next, error) : GALE_OK;
    if (rc < 0) return rc;
    const gx_named_file files[] = {
        { .who = "gale", .verb = "reads the topology from", .path = j->path },
        { .who = "--record", .verb = "writes", .path = c->record, .written = true },
        { .who = "--record", .verb = "writes", .path = c->record ? next : NULL, .written = true },
    };
    gale_setting setting = { "gale.input", gale_text(c->input ? c->input : "") };
    gx_flux_options flux = { .settings = &setting,
                             .setting_count = c->input ? 1 : 0,
                             .files = files,
                             .file_count = sizeof files / sizeof *files,
                             .dry = true };
    return gx_flux_file_load(j->path, &c->flux, flux, ret_topology, error);
}

/* Before the first run: a thousand runs whose spouts read nothing, or whose record is lost at their end, help nobody. */
static int try_files(const job *j, gale_error *error) {
    const choices *c = j->chosen;
    int fd, rc = c->input ? gx_file_open(c->input, &fd, NULL, error) : GALE_OK;
    if (rc >= 0 && c->input) gx_file_close(fd);
    return rc >= 0 && c->record ? put_record(j, &j->past, error) : rc;
}

static int simulate(job *j) {
    const choices *c = j->chosen;
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = NULL;
    gx_simulator_options o = { .keep_spouts = c->input != NULL,
                               .executors = (uint32_t)c->executors,
                               .roots = c->roots };
    j->next = c->seed;
    int rc = read_faults(c, &o, &error);
    if (rc >= 0) rc = load(j, &topology, &error);
    if (rc >= 0 && c->record) rc = read_record(j, &error);
    o.topology = topology;
    if (rc >= 0 && !c->durable) rc = gx_simulator_new(&o, &j->simulator, &error);
    j->first = j->next;
    int exit_code = GX_EXIT_USAGE;
    if (rc >= 0 && (rc = try_files(j, &error)) < 0) exit_code = GX_EXIT_IO;
    exit_code = rc < 0 ? gx_session_refuse(j->errors, &error, exit_code) : run_all(j);
    gx_simulator_free(j->simulator);
    gale_topology_free(topology);
    return exit_code;
}

static int check(const choices *c, const gx_words *words, gale_error *error) {
    if (c->durable &&
        (c->random || words->count || c->input || c->flux.assignments.count || c->faults || c->executors || c->roots))
        return gale_error_set(
            error, GALE_INVALID,
            "--durable draws everything from the seed: it goes with --seed, --runs, --record and --quiet");
    if (c->durable) return GALE_OK;
    if (c->random && words->count)
        return gale_error_set(error, GALE_INVALID, "--random takes no topology file; '%s' is one", words->items[0]);
    if (c->random && c->input) return gale_error_set(error, GALE_INVALID, "--random has spouts of its own: no --input");
    if (c->random && c->flux.assignments.count)
        return gale_error_set(error, GALE_INVALID, "--random draws its configuration: no --config");
    if (!c->random && words->count != 1)
        return gale_error_set(error, GALE_INVALID, "simulate takes one topology file, not %zu: gale %s", words->count,
                              gx_cmd_simulate.usage);
    for (size_t i = 0; i < c->flux.assignments.count; i++)
        if (!strchr(c->flux.assignments.items[i], '='))
            return gale_error_set(error, GALE_INVALID, "-c wants key=value; '%s' has no '='",
                                  c->flux.assignments.items[i]);
    return GALE_OK;
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .seed = 1, .runs = 100 };
    gx_words words = { .count = 0 };
    int rc = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &words, &error);
    if (rc >= 0) rc = check(&c, &words, &error);
    if (rc < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    job j = { .chosen = &c, .path = c.random || c.durable ? NULL : words.items[0], .errors = errors };
    gx_terminal_init(&j.out, STDOUT_FILENO);
    int exit_code = simulate(&j);
    gx_buf_fini(&j.past);
    gx_buf_fini(&j.failed);
    gx_terminal_fini(&j.out);
    return exit_code;
}

const gx_command gx_cmd_simulate = {
    .name = "simulate",
    .usage = "simulate FILE.yaml|--random|--durable [options]",
    .text = "run a topology on virtual time, in seeded order, with faults, and check every run",
    .more =
        "Faults: slow, hold, fail, forget, twice, reset, stall, late, alloc, open, disk, stop; for example --faults "
        "slow=0.01,fail=0.1.\n"
        "The same seed and options give the same output. Sinks take everything and write nothing.\n"
        "--durable: random topologies with a store; the process dies between steps, in a cut, a commit or a start, "
        "and\n"
        "goes on; each message must have its effects exactly once.\n"
        "Exit codes: 0 every run holds, 1 one does not, 2 usage or topology, 3 input or output, 128 + signal.\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run,
};
