/* The simulator finds bugs: each mutant of the engine (base/mutant.h) must be caught within RUNS runs, and without one
 * the same runs hold. This program has an engine of its own, compiled with GALE_MUTANTS=1. usage: mutants [RUNS] */
#include "base/mutant.h"
#include "engine/simulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static gx_mutant chosen;
static uint64_t occasions;

/* One occasion in 16: a bug that always strikes would be easy to see. */
bool gx_mutant_strikes(gx_mutant mutant) {
    return mutant == chosen && occasions++ % 16 == 15;
}

static const char *const names[] = { "no mutant",
                                     "an ack before init forgotten at the acker tasks",
                                     "one parked record lost at the hard limit",
                                     "one edge id used twice",
                                     "a settling table that drops what it evicts",
                                     "a generation not checked",
                                     "a reset that revives a failed tree" };

static_assert(sizeof names / sizeof *names == GX_MUTANT_COUNT, "every mutant has a name");

/* False when some run does not hold. */
static bool hold(gx_mutant mutant, uint64_t runs) {
    gx_simulator_options options = { .draw_faults = true };
    gx_simulator *simulator;
    gx_simulator_result result = { .holds = true };
    gale_error error = GALE_ERROR_INIT;
    chosen = mutant;
    int rc = gx_simulator_new(&options, &simulator, &error);
    uint64_t seed = 0;
    while (rc >= 0 && result.holds && seed < runs) rc = gx_simulator_run(simulator, ++seed, &result, &error);
    if (rc < 0) printf("seed %llu: %s\n", (unsigned long long)seed, error.text), exit(2);
    if (result.holds)
        printf("%s: %llu runs hold; it had %llu occasions\n", names[mutant], (unsigned long long)runs,
               (unsigned long long)occasions);
    else
        printf("%s: seed %llu: %s\n", names[mutant], (unsigned long long)seed, result.text);
    gx_simulator_free(simulator);
    return result.holds;
}

/* In a process of its own, because a bug may do anything: to crash is to be caught, too. */
static bool is_caught(gx_mutant mutant, uint64_t runs) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) exit(hold(mutant, runs) ? EXIT_SUCCESS : EXIT_FAILURE);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return false;
    if (WIFSIGNALED(status)) printf("%s: ended by signal %d\n", names[mutant], WTERMSIG(status));
    return WIFSIGNALED(status) || WEXITSTATUS(status) == EXIT_FAILURE;
}

int main(int argc, char **argv) {
    uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    int wrong = !hold(GX_MUTANT_NONE, runs);
    for (int mutant = GX_MUTANT_NONE + 1; mutant < GX_MUTANT_COUNT; mutant++)
        wrong += !is_caught((gx_mutant)mutant, runs);
    return wrong != 0;
}
