/* Counts the words of a file, or of the standard input.
 *
 *      build/bin/@NAME@ README.md
 */
#include "words.h"

#include <gale/gale.h>
#include <signal.h>
#include <stdio.h>

/* The first error sticks, and is told when a runtime is made of it. */
static gale_topology *make_topology(const char *path, gale_error *error) {
    gale_file_spout_options input = { .size = sizeof input, .path = path };
    gale_spout lines;
    gale_bolt count, print;
    if (gale_file_spout(&input, &lines, error) < 0) return NULL;
    if (gale_count_bolt(GALE_COUNT_EMIT_FINISH, &count, error) < 0 || gale_printer_bolt(1, &print, error) < 0) return NULL;
    gale_topology *topology = gale_topology_new("@NAME@");
    gale_topology_add_spout(topology, "lines", lines, 1);
    gale_topology_add_bolt(topology, "split", words_bolt(), 1);
    gale_topology_add_bolt(topology, "count", count, 2);
    gale_topology_add_bolt(topology, "print", print, 1);
    gale_topology_subscribe(topology, "split", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "count", "split", NULL, gale_fields("word"));
    gale_topology_subscribe(topology, "print", "count", NULL, gale_global());
    return topology;
}

static gale_runtime *runtime;

/* The first Ctrl-C finishes what has been read, the second one does not wait for it. Both calls are allowed in a signal handler. */
static void on_signal(int number) {
    static volatile sig_atomic_t asked;
    (void)number;
    if (asked)
        gale_runtime_stop(runtime);
    else
        gale_runtime_drain(runtime);
    asked = 1;
}

static void hear_signals(void (*handler)(int)) {
    signal(SIGINT, handler);
    signal(SIGTERM, handler);
}

int main(int argc, char **argv) {
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = make_topology(argc > 1 ? argv[1] : "-", &error);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_logger logger = gale_logger_stderr(GALE_LOG_WARN);
    options.until_drained = true;
    options.logger = &logger;
    int code = topology ? gale_runtime_new(topology, &options, &runtime, &error) : error.code;
    if (code >= 0) {
        hear_signals(on_signal);
        code = gale_runtime_run(runtime, &error);
        hear_signals(SIG_DFL);
    }
    if (code < 0) fprintf(stderr, "%s\n", error.text);
    gale_runtime_free(runtime, -1, NULL);
    gale_topology_free(topology);
    return code < 0;
}
