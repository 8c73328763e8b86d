/* Unique visitors from C: how many different people (address and agent) came in each minute, and in each five?
 *
 *      example_unique_visitors [LOG [TASKS]]       LOG: an access log, or - for the standard input; without it, a
 *                                                  made-up one
 */
#include <gale/gale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TASKS_MAX = 1000 };

/* One line a window. The bolt has one task, and so one thread. */
static int print_window(void *user, const gale_tuple *tuple) {
    (void)user;
    time_t start = (time_t)gale_tuple_value(tuple, 1).as.i64;
    struct tm utc;
    char text[40];
    if (!gmtime_r(&start, &utc) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)) return GALE_INVALID;
    printf("%s\t%lld s\t%lld\n", text, (long long)gale_tuple_value(tuple, 0).as.i64,
           (long long)gale_tuple_value(tuple, 2).as.i64);
    return 0;
}

/* The last field of a late line says how many there were. */
static int count_late(void *user, const gale_tuple *tuple) {
    *(long long *)user = (long long)gale_tuple_value(tuple, gale_tuple_size(tuple) - 1).as.i64;
    return 0;
}

static int count_bad(void *user, const gale_tuple *tuple) {
    (void)tuple;
    ++*(long long *)user;
    return 0;
}

static int lines_of(const char *path, gale_spout *ret_spout, gale_error *error) {
    gale_access_log_spout_options made = { .size = sizeof made, .lines = 20000, .seed = 1 };
    gale_file_spout_options file = { .size = sizeof file, .path = path };
    return path ? gale_file_spout(&file, ret_spout, error) : gale_access_log_spout(&made, ret_spout, error);
}

/* How many tasks count: the argument, or 4. 0 when it is no such number. */
static uint32_t tasks_of(const char *argument) {
    if (!argument) return 4;
    char *end;
    long tasks = strtol(argument, &end, 10);
    return end != argument && !*end && tasks >= 1 && tasks <= TASKS_MAX ? (uint32_t)tasks : 0;
}

/* The first error sticks, and gale_runtime_new tells it. */
static void connect(gale_topology *topology) {
    gale_topology_subscribe(topology, "parse", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "clock", "parse", NULL, gale_global());
    gale_topology_subscribe(topology, "unique", "clock", NULL, gale_fields("host, agent"));
    gale_topology_subscribe(topology, "unique", "clock", "watermark", gale_all());
    gale_topology_subscribe(topology, "total", "unique", NULL, gale_global());
    gale_topology_subscribe(topology, "total", "unique", "watermark", gale_global());
    gale_topology_subscribe(topology, "print", "total", NULL, gale_global());
    gale_topology_subscribe(topology, "late", "clock", "late", gale_global());
    gale_topology_subscribe(topology, "bad", "parse", "bad", gale_global());
}

static int run(gale_topology *topology, gale_error *error) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_logger logger = gale_logger_stderr(GALE_LOG_WARN);
    gale_runtime *runtime = NULL;
    options.until_drained = true;
    options.logger = &logger;
    int code = gale_runtime_new(topology, &options, &runtime, error);
    if (code >= 0) code = gale_runtime_run(runtime, error);
    gale_runtime_free(runtime, -1, NULL);
    return code;
}

int main(int argc, char **argv) {
    static long long late, bad;
    uint32_t tasks = tasks_of(argc > 2 ? argv[2] : NULL);
    if (!tasks) return fprintf(stderr, "TASKS must be a whole number from 1 to %d, not '%s'\n", TASKS_MAX, argv[2]), 1;
    gale_error error = GALE_ERROR_INIT;
    gale_event_time_options by_time = { .size = sizeof by_time,
                                        .output = "time, host, agent",
                                        .lateness_seconds = 120 };
    gale_unique_options visitors = { .size = sizeof visitors, .key = "host, agent", .windows = "60, 300" };
    gale_spout lines;
    gale_bolt parse_bolt, clock_bolt, unique_bolt, total_bolt, print_bolt, late_bolt, bad_bolt;
    if (lines_of(argc > 1 ? argv[1] : NULL, &lines, &error) < 0 ||
        gale_access_log_bolt(NULL, &parse_bolt, &error) < 0 ||
        gale_event_time_bolt(&by_time, &clock_bolt, &error) < 0 ||
        gale_unique_bolt(&visitors, &unique_bolt, &error) < 0 || gale_unique_total_bolt(1, &total_bolt, &error) < 0 ||
        gale_callback_bolt(print_window, NULL, &print_bolt, &error) < 0 ||
        gale_callback_bolt(count_late, &late, &late_bolt, &error) < 0 ||
        gale_callback_bolt(count_bad, &bad, &bad_bolt, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;

    gale_topology *topology = gale_topology_new("unique-visitors");
    gale_topology_add_spout(topology, "lines", lines, 1);
    gale_topology_add_bolt(topology, "parse", parse_bolt, 1);
    gale_topology_add_bolt(topology, "clock", clock_bolt, 1);
    gale_topology_add_bolt(topology, "unique", unique_bolt, tasks);
    gale_topology_add_bolt(topology, "total", total_bolt, 1);
    gale_topology_add_bolt(topology, "print", print_bolt, 1);
    gale_topology_add_bolt(topology, "late", late_bolt, 1);
    gale_topology_add_bolt(topology, "bad", bad_bolt, 1);
    connect(topology);
    int code = run(topology, &error);
    if (code < 0)
        fprintf(stderr, "%s\n", error.text);
    else
        printf("late\t%lld\nbad\t%lld\n", late, bad);
    gale_topology_free(topology);
    return code < 0;
}
