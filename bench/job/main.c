/* gale_bench_job FILE INPUT OUTPUT: a topology file as `gale run` runs it, on one executor and one thread, with a seed and a clock on which each
 * reading is a microsecond later: the same instructions in every run, for callgrind (bench/budget.py). */
#include <gale/clock.h>
#include <gale/runtime.h>
#include <gale_front.h>
#include <stdio.h>

static int64_t next_microsecond(void *user) {
    int64_t *now = user;
    return *now += GALE_MICROSECOND;
}

static int give_up(const char *what, const gale_error *error) {
    fprintf(stderr, "gale_bench_job: %s: %s\n", what, error->text);
    return 1;
}

int main(int argc, char **argv) {
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology;
    gale_runtime *runtime;
    int64_t now = 0;
    if (argc != 4) return fprintf(stderr, "usage: gale_bench_job FILE INPUT OUTPUT\n"), 2;
    const gale_setting settings[] = { { "gale.input", gale_text(argv[2]) },
                                      { "gale.output", gale_text(argv[3]) },
                                      { "gale.overwrite", gale_bool(true) } };
    gale_topology_file_options file = GALE_TOPOLOGY_FILE_OPTIONS_INIT;
    file.settings = settings;
    file.setting_count = sizeof settings / sizeof *settings;
    if (gale_topology_from_file(argv[1], &file, &topology, &error) < 0) return give_up(argv[1], &error);
    gale_clock clock = { .size = sizeof clock, .now = next_microsecond, .user = &now };
    gale_runtime_options options = {
        .size = sizeof options, .executors = 1, .seed = 1, .clock = &clock, .until_drained = true
    };
    int rc = gale_runtime_new(topology, &options, &runtime, &error);
    gale_topology_free(topology);
    if (rc < 0) return give_up(argv[1], &error);
    while (gale_runtime_step(runtime) != GALE_STOPPED) continue;
    return gale_runtime_free(runtime, -1, &error) < 0 ? give_up(argv[1], &error) : 0;
}
