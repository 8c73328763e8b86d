/* A program that may be killed at any moment. Lines of a file -> the longest lines (a structure of our own, saved whole) -> how many
 * there are of each first letter (keyed state) -> a file. Start it, kill it with -9, start it again: the file is that of a run that was
 * never killed.
 *
 *      example_durable INPUT OUTPUT STATE-FOLDER [LINES-A-SECOND]
 */
#include <gale/gale.h>
#include <gale_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- The longest line: `save` and `restore` ----------------------------------------------------------------------- */

typedef struct longest {
    int64_t lines;
    size_t size;
    char *text; /* of `size` bytes */
} longest;

static int longest_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)out;
    *ret_self = calloc(1, sizeof(longest));
    return *ret_self ? 0 : GALE_NO_MEMORY;
}

static int keep_longer(longest *l, const char *text, size_t size) {
    if (size <= l->size) return 0;
    char *copy = malloc(size);
    if (!copy) return GALE_NO_MEMORY;
    memcpy(copy, text, size);
    free(l->text);
    l->text = copy;
    l->size = size;
    return 0;
}

static int longest_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    longest *l = self;
    gale_value line = gale_tuple_value(tuple, 0);
    if (!line.size) return 0;
    int rc = keep_longer(l, line.as.string, line.size);
    if (rc < 0) return rc;
    l->lines++;
    gale_value letter = gale_bytes(line.as.string, 1);
    rc = gale_emit(out, 0, &letter, 1);
    return rc < 0 ? rc : 0;
}

static int longest_finish(void *self, gale_collector *out) {
    longest *l = self;
    gale_value values[] = { gale_text("longest"), gale_i64((int64_t)l->size) };
    int rc = gale_emit_unanchored(out, 1, values, 2);
    return rc < 0 ? rc : 0;
}

static void longest_cleanup(void *self) {
    free(((longest *)self)->text);
    free(self);
}

/* Between two calls of `execute`, at each checkpoint. */
static int longest_save(void *self, gale_saver *to) {
    longest *l = self;
    gale_value values[] = { gale_i64(l->lines), gale_bytes(l->text ? l->text : "", l->size) };
    return gale_save(to, values, 2);
}

/* With another number of tasks this may be called more than once (GALE_DURABLE_PARTS): it adds, and replaces nothing. */
static int longest_restore(void *self, gale_saved *from, gale_collector *out) {
    longest *l = self;
    const gale_value *values;
    size_t count;
    (void)out;
    int rc = gale_saved_next(from, &values, &count);
    if (rc < 0) return rc;
    if (rc == 0 || count != 2 || values[0].type != GALE_TYPE_I64 || values[1].type != GALE_TYPE_BYTES)
        return GALE_DAMAGED;
    l->lines += values[0].as.i64;
    return keep_longer(l, values[1].as.bytes, values[1].size);
}

static const gale_durable_ops longest_durable = { .size = sizeof longest_durable,
                                                  .version = 1,
                                                  .flags = GALE_DURABLE_PARTS,
                                                  .save = longest_save,
                                                  .restore = longest_restore };

static const gale_bolt_ops longest_ops = { .size = sizeof longest_ops,
                                           .name = "longest",
                                           .kind = GALE_BOLT_SIMPLE,
                                           .prepare = longest_prepare,
                                           .execute = longest_execute,
                                           .finish = longest_finish,
                                           .cleanup = longest_cleanup,
                                           .durable = &longest_durable };

/* --- Letters: keyed state, of which only what has changed goes into a checkpoint --------------------------------------- */

static int letters_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_state *counts;
    (void)user, (void)context;
    int rc = gale_state_open(out, NULL, &counts);
    if (rc == 0) *ret_self = counts;
    return rc;
}

static int letters_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    gale_value letter = gale_tuple_value(tuple, 0);
    (void)out;
    return gale_state_add(self, &letter, 1, NULL);
}

static int tell(void *user, const gale_value *letter, const gale_value *count) {
    gale_value values[] = { *letter, *count };
    int rc = gale_emit_unanchored(user, 0, values, 2);
    return rc < 0 ? rc : 0;
}

static int letters_finish(void *self, gale_collector *out) {
    return gale_state_each(self, tell, out);
}

static const gale_bolt_ops letters_ops = { .size = sizeof letters_ops,
                                           .name = "letters",
                                           .kind = GALE_BOLT_SIMPLE,
                                           .prepare = letters_prepare,
                                           .execute = letters_execute,
                                           .finish = letters_finish,
                                           .durable = &gale_keyed };

/* --- The topology ----------------------------------------------------------------------------------------------------- */

static int build(char **argv, int argc, gale_topology *topology, gale_error *error) {
    static const gale_output longest_out[] = { { NULL, "letter" }, { "result", "what, count" } };
    static const gale_output letters_out[] = { { NULL, "what, count" } };
    gale_file_spout_options input = { .size = sizeof input, .path = argv[1] };
    gale_file_sink_options output = { .size = sizeof output, .path = argv[2] };
    gale_bolt longest_bolt = {
        .size = sizeof longest_bolt, .ops = &longest_ops, .outputs = longest_out, .output_count = 2
    };
    gale_bolt letters_bolt = {
        .size = sizeof letters_bolt, .ops = &letters_ops, .outputs = letters_out, .output_count = 1
    };
    gale_spout lines;
    gale_bolt sink;
    int rc = gale_file_spout(&input, &lines, error);
    if (rc == 0) rc = gale_file_sink_bolt(&output, &sink, error);
    if (rc < 0) return rc;
    gale_topology_add_spout(topology, "lines", lines, 1);
    gale_topology_add_bolt(topology, "longest", longest_bolt, 1);
    gale_topology_add_bolt(topology, "letters", letters_bolt, 2);
    gale_topology_add_bolt(topology, "sink", sink, 1);
    gale_topology_subscribe(topology, "longest", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "letters", "longest", NULL, gale_fields("letter"));
    gale_topology_subscribe(topology, "sink", "letters", NULL, gale_global());
    gale_topology_subscribe(topology, "sink", "longest", "result", gale_global());
    if (argc > 4) gale_topology_set(topology, "lines", "gale.rate", gale_i64(atoll(argv[4])));
    return gale_topology_check(topology, error);
}

static int run(gale_topology *topology, const gale_store *store, gale_error *error) {
    gale_logger logger = gale_logger_stderr(GALE_LOG_INFO);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_runtime *runtime = NULL;
    options.logger = &logger;
    options.until_drained = true;
    options.store = store; /* this is what makes it durable */
    options.checkpoint_interval = 20 * GALE_MILLISECOND;
    int rc = gale_runtime_new(topology, &options, &runtime, error);
    if (rc == 0) rc = gale_runtime_run(runtime, error);
    (void)gale_runtime_free(runtime, -1, NULL);
    return rc;
}

int main(int argc, char **argv) {
    if (argc < 4) return fprintf(stderr, "example_durable INPUT OUTPUT STATE-FOLDER [LINES-A-SECOND]\n"), 2;
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = gale_topology_new("letters");
    gale_store_options where = GALE_STORE_OPTIONS_INIT;
    gale_store store;
    where.folder = argv[3];
    where.topology = gale_topology_name(topology);
    where.create = true;
    int rc = build(argv, argc, topology, &error);
    if (rc == 0) rc = gale_store_open(&where, &store, &error);
    if (rc == 0) {
        rc = run(topology, &store, &error);
        store.close(store.self); /* when the runtime is freed */
    }
    if (rc < 0) fprintf(stderr, "%s\n", error.text);
    gale_topology_free(topology);
    return rc < 0;
}
