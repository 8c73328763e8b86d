#include "base/options.h"
#include "base/version.h"
#include "sim/simulator.h"

#include <gale_sim.h>
#include <stdio.h>
#include <string.h>

enum { RUNS = 100 };

static int check(const gale_simulate_options *o, const gale_simulate_result *result, gale_error *error) {
    if (!o->topology) return gale_error_set(error, GALE_INVALID, "simulate: options: the topology is NULL");
    if (!result || result->size < sizeof(size_t) || result->size > GX_OPTIONS_SIZE_MAX)
        return gale_error_set(error, GALE_INVALID, "simulate: the result's size was not set");
    if (o->executors > GALE_EXECUTORS_MAX)
        return gale_error_set(error, GALE_INVALID, "simulate: options: %u executors are more than %d", o->executors,
                              GALE_EXECUTORS_MAX);
    return GALE_OK;
}

static int choose(const gale_simulate_options *o, gx_simulator_options *ret, gale_error *error) {
    *ret = (gx_simulator_options){ .topology = o->topology,
                                   .keep_spouts = o->keep_spouts,
                                   .keep_sinks = o->keep_sinks,
                                   .draw_faults = !o->faults,
                                   .executors = o->executors,
                                   .roots = o->roots,
                                   .logger = o->logger };
    if (!o->faults || strcmp(o->faults, "none") == 0) return GALE_OK;
    return gx_faults_parse(o->faults, &ret->faults, error);
}

static void add(gale_simulate_result *all, uint64_t seed, const gx_simulator_result *one) {
    all->holds = one->holds;
    all->seed = seed;
    snprintf(all->text, sizeof all->text, "%s", one->text);
    all->runs++;
    all->roots += one->roots;
    all->acked += one->acked;
    all->failed += one->failed;
    all->timed_out += one->timed_out;
    all->rejected += one->rejected;
    all->stopped += one->stopped;
    all->deliveries += one->deliveries;
    all->trace = one->trace;
}

static int run_all(gx_simulator *simulator, const gale_simulate_options *o, gale_simulate_result *all,
                   gale_error *error) {
    uint64_t runs = o->runs ? o->runs : RUNS;
    int rc = GALE_OK;
    all->holds = true;
    for (uint64_t i = 0; i < runs && all->holds && rc >= 0; i++) {
        gx_simulator_result one;
        rc = gx_simulator_run(simulator, o->seed + i, &one, error);
        if (rc >= 0) add(all, o->seed + i, &one);
    }
    return rc;
}

int gale_simulate(const gale_simulate_options *options, gale_simulate_result *ret_result, gale_error *error) {
    gale_simulate_options o;
    gx_simulator_options chosen;
    gx_simulator *simulator;
    gale_simulate_result all = GALE_SIMULATE_RESULT_INIT;
    int rc = gx_version_check("libgale-sim", error);
    if (rc == 0) rc = gx_options_take(&o, sizeof o, options, "simulate: options", error);
    if (rc == 0) rc = check(&o, ret_result, error);
    if (rc == 0) rc = choose(&o, &chosen, error);
    if (rc == 0) rc = gx_simulator_new(&chosen, &simulator, error);
    if (rc < 0) return rc;
    rc = run_all(simulator, &o, &all, error);
    gx_simulator_free(simulator);
    if (rc < 0) return rc;
    all.size = ret_result->size;
    memcpy(ret_result, &all, all.size < sizeof all ? all.size : sizeof all);
    return GALE_OK;
}
