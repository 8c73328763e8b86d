/* The simulator finds bugs: each mutant of the engine (base/mutant.h) must be caught within RUNS runs, by the property
 * that it breaks and not by a crash; without a mutant a quarter of the runs hold. This program has an engine of its own,
 * compiled with GALE_MUTANTS=1. Mutants of checkpoints are looked for in durable runs (sim/lives.h).
 * usage: mutants [RUNS [NAME]]     NAME: of one alone, or a part of it */
#include "base/mutant.h"
#include "sim/lives.h"
#include "sim/simulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static gx_mutant chosen;
static uint64_t occasions;

/* One occasion in 16: a bug that always strikes would be easy to see. One in 4 of what has few. Edges that are drawn again
 * are always: seldom does one of them meet itself. */
bool gx_mutant_strikes(gx_mutant mutant) {
    uint64_t rate = mutant == GX_MUTANT_reset_revives || mutant == GX_MUTANT_late_end ? 4
                    : mutant == GX_MUTANT_edges_again                                 ? 1
                                                                                      : 16;
    return mutant == chosen && occasions++ % rate == rate - 1;
}

#define STUCK "nothing moves, but tree"
#define TOO_LATE "timed out, but every delivery of it was acked long before"
#define TOO_EARLY "deliveries open"
#define TWICE "times, not"

/* Words of the violation that each must show, and of others that the same bug may show first in some run. */
static const struct {
    const char *name;
    const char *shows;
    const char *also[5];
} mutants[] = {
    { "no mutant", NULL, { NULL } },
    { "an ack before init forgotten at the acker tasks", STUCK, { TOO_LATE } },
    { "one parked record lost at the hard limit", "delivered and dropped is", { STUCK, TOO_LATE } },
    { "one edge id used twice", TOO_EARLY, { STUCK, TOO_LATE } },
    { "a settling table that drops what it evicts", STUCK, { TOO_LATE } },
    { "a generation not checked",
      "failed for no cause",
      { STUCK, TOO_LATE, TOO_EARLY, "its spout was told", "was emitted again without having failed" } },
    { "a reset that revives a failed tree",
      TOO_EARLY,
      { STUCK, "something of it had failed", "was answered twice", "has failed, but is open again in its ledger" } },
    { "a tuple emitted once more than is configured", "more often than topology.replay.attempts", { NULL } },
    { "a rejected tuple emitted again", "after it was rejected", { "its figure says" } },
    { "a waiting tree that is in no list", "was to be emitted again", { "is in no list, or in two" } },
    { "a dead letter posted twice", "is a dead letter twice", { NULL } },
    { "a drain that is not awaited", "but a command of task", { NULL } },
    { "a finish that is not awaited", "has not finished", { NULL } },
    { "a remote's tuple that nobody is told of", "never heard of command", { NULL } },
    { "a tuple given up without its letter", "its letter is not the one in the file", { NULL } },
    { "a tree that is open though its source is lost", "something of it had failed", { NULL } },
    { "a row lost when its batch is closed", STUCK, { TOO_LATE, "delivered and dropped is" } },
    { "a batch that goes home twice",
      "a batch is in no place, or in two",
      { "a batch is free twice", "a batch is neither free nor in use" } },
    { "a part's rows that the ack of its tuple leaves out", STUCK, { TOO_LATE, TOO_EARLY } },
    { "a tuple executed before one that is not done", "before the one that it is not done with", { "out of order" } },
    { "a position saved before its state",
      TWICE,
      { "which is not open", "is told that it has", "the run is over, but message" } },
    { "a held tuple forgotten by the checkpoint", "goes on without what it held", { TWICE, "does not end" } },
    { "a sink not cut back, or a prepared part not committed", TWICE, { "that is not prepared", "acked with" } },
    { "restored edges without the new number", "draws edges that were drawn before", { "was acked with" } },
    { "what is late counted as committed", TWICE, { "before one that was promised" } },
    { "an end that does not wait for what is late", "ended too soon", { NULL } },
};

static_assert(sizeof mutants / sizeof *mutants == GX_MUTANT_COUNT, "every mutant has a name");

/* Is it looked for in runs that die and go on? */
static bool is_durable(gx_mutant mutant) {
    return mutant >= GX_MUTANT_position_early;
}

static void say(gx_mutant mutant, uint64_t seed, const char *text) {
    printf("%s: seed %llu: %s\n", mutants[mutant].name, (unsigned long long)seed, text);
    fflush(stdout);
}

static bool is_expected(gx_mutant mutant, const char *text) {
    for (size_t i = 0; i < sizeof mutants->also / sizeof *mutants->also && mutants[mutant].also[i]; i++)
        if (strstr(text, mutants[mutant].also[i])) return true;
    return false;
}

/* One run. What it shows goes to `text`. */
static int run(gx_mutant mutant, gx_simulator *simulator, uint64_t seed, char text[400], gale_error *error) {
    gx_simulator_result result;
    gx_lives_result lives;
    int rc = is_durable(mutant) ? gx_lives_run(seed, NULL, NULL, &lives, error)
                                : gx_simulator_run(simulator, seed, &result, error);
    if (rc >= 0) snprintf(text, 400, "%s", is_durable(mutant) ? lives.text : result.text);
    return rc;
}

/* Runs until one shows what the mutant must show. False when none does, or one shows what is not the mutant's. `*at` is
 * the run. */
static bool shows(gx_mutant mutant, uint64_t runs, uint64_t *at) {
    gx_simulator_options options = { .draw_faults = true };
    gx_simulator *simulator;
    gale_error error = GALE_ERROR_INIT;
    bool shown = false, odd = false;
    chosen = mutant;
    int rc = gx_simulator_new(&options, &simulator, &error);
    for (; rc >= 0 && *at <= runs && !shown && !odd; ++*at) {
        char text[400];
        rc = run(mutant, simulator, *at, text, &error);
        if (rc < 0 || !text[0]) continue;
        say(mutant, *at, text);
        shown = mutants[mutant].shows && strstr(text, mutants[mutant].shows);
        odd = !shown && !is_expected(mutant, text);
    }
    if (rc < 0) say(mutant, *at, error.text);
    gx_simulator_free(simulator);
    if (!shown) printf("%s: %llu occasions\n", mutants[mutant].name, (unsigned long long)occasions);
    return rc >= 0 && !odd && shown == (mutants[mutant].shows != NULL);
}

/* In a process of its own, because a bug may do anything. To crash is not to be caught, as nobody is told what is wrong:
 * what has crashed goes on with the next run. */
static bool is_shown(gx_mutant mutant, uint64_t runs, uint64_t *at) {
    int status = 0;
    for (*at = 1; *at <= runs; ++*at) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) exit(shows(mutant, runs, at) ? EXIT_SUCCESS : EXIT_FAILURE);
        if (child < 0 || waitpid(child, &status, 0) != child) return false;
        if (!WIFSIGNALED(status)) return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
        printf("%s: seed %llu: ended by signal %d\n", mutants[mutant].name, (unsigned long long)*at, WTERMSIG(status));
        if (mutant == GX_MUTANT_NONE) return false;
    }
    return false;
}

int main(int argc, char **argv) {
    uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000;
    uint64_t *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int wrong = 0;
    if (at == MAP_FAILED) return EXIT_FAILURE;
    for (int mutant = GX_MUTANT_NONE; mutant < GX_MUTANT_COUNT; mutant++)
        if (argc <= 2 || strstr(mutants[mutant].name, argv[2]))
            wrong += !is_shown((gx_mutant)mutant, mutant == GX_MUTANT_NONE ? runs / 4 : runs, at);
    return wrong != 0;
}
