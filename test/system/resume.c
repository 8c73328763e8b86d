/* Word count over a file, with a state file, that can be killed at any moment: a word is counted by appending
 * "LINE INDEX\n" to a file with one write, before its tuple is acked. Ends when every line is answered.
 *
 * usage: resume INPUT STATE COUNTED EXECUTORS PENDING INTERVAL    (lines of INPUT: their number, and words; as many
 * counting tasks as executors) */
#include <gale/file.h>
#include <gale/runtime.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int counted = -1;

static void give_up(const char *text) {
    fprintf(stderr, "%s\n", text);
    exit(1);
}

/* (line) to (word, number, index) for each word behind the number. */
static int split(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    gale_value line = gale_tuple_value(tuple, 0);
    const char *at = line.as.string, *end = at + line.size;
    const char *blank = memchr(at, ' ', line.size);
    gale_value number = gale_string(at, (size_t)((blank ? blank : end) - at));
    for (int64_t index = 0; blank; index++) {
        at = blank + 1;
        blank = memchr(at, ' ', (size_t)(end - at));
        const gale_value values[] = { gale_string(at, (size_t)((blank ? blank : end) - at)), number, gale_i64(index) };
        int rc = gale_emit(out, 0, values, 3);
        if (rc < 0) return rc;
    }
    return 0;
}

static int count(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)out;
    gale_value number = gale_tuple_value(tuple, 1), index = gale_tuple_value(tuple, 2);
    char text[60];
    int size = snprintf(text, sizeof text, "%.*s %d\n", (int)number.size, number.as.string, (int)index.as.i64);
    return write(counted, text, (size_t)size) == size ? 0 : GALE_IO;
}

static gale_bolt bolt_of(const gale_bolt_ops *ops, const gale_output *outputs) {
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = ops, .outputs = outputs, .output_count = outputs ? 1 : 0 };
}

static void build(gale_topology *t, gale_spout lines, uint32_t counters) {
    static const gale_output words[] = { { NULL, "word, number, index" } };
    static const gale_bolt_ops splits = { .size = sizeof splits, .name = "split", .execute = split };
    static const gale_bolt_ops counts = { .size = sizeof counts, .name = "count", .execute = count };
    gale_topology_add_spout(t, "lines", lines, 1);
    gale_topology_add_bolt(t, "split", bolt_of(&splits, words), 1);
    gale_topology_add_bolt(t, "count", bolt_of(&counts, NULL), counters);
    gale_topology_subscribe(t, "split", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(t, "count", "split", NULL, gale_fields("word"));
}

int main(int argc, char **argv) {
    if (argc != 7) give_up("usage: resume INPUT STATE COUNTED EXECUTORS PENDING INTERVAL");
    counted = open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (counted < 0) give_up("cannot open the file of what was counted");
    gale_error error = GALE_ERROR_INIT;
    gale_file_spout_options from = {
        .size = sizeof from, .path = argv[1], .state = argv[2], .state_interval = strtod(argv[6], NULL)
    };
    gale_spout lines;
    if (gale_file_spout(&from, &lines, &error) < 0) give_up(error.text);
    gale_topology *topology = gale_topology_new("resume");
    build(topology, lines, (uint32_t)atoi(argv[4]));
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(atoi(argv[5])));
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = (uint32_t)atoi(argv[4]);
    options.until_drained = true;
    gale_runtime *runtime = NULL;
    int rc = gale_runtime_new(topology, &options, &runtime, &error);
    if (rc >= 0) rc = gale_runtime_start(runtime, &error);
    if (rc >= 0) rc = gale_runtime_wait(runtime, -1, &error);
    if (rc < 0) give_up(error.text);
    gale_runtime_free(runtime, -1, NULL);
    gale_topology_free(topology);
    return 0;
}
