/* Word count inside a program: a spout and two bolts of gale's, and one bolt of our own. Reads the standard input.
 *
 *      example_embed < README.md
 */
#include <ctype.h>
#include <gale/gale.h>
#include <stdio.h>

/* Our bolt: one tuple a word, in small letters. It is simple: gale acks the line when this returns 0, fails it
 * otherwise, and the words become part of the line's tree. */
static int split(void *self, const gale_tuple *line, gale_collector *out) {
    (void)self;
    gale_value text = gale_tuple_value(line, 0);
    char word[64];
    size_t size = 0;
    for (size_t i = 0; i <= text.size; i++) {
        char c = i < text.size ? text.as.string[i] : ' ';
        if (isalpha((unsigned char)c) && size < sizeof word) {
            word[size++] = (char)tolower((unsigned char)c);
            continue;
        }
        gale_value value = gale_string(word, size);
        int code = size ? gale_emit(out, 0, &value, 1) : 0;
        if (code < 0) return code;
        size = 0;
    }
    return 0;
}

int main(void) {
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "split", .kind = GALE_BOLT_SIMPLE, .execute = split
    };
    static const gale_output words = { NULL, "word" };
    gale_file_spout_options input = { .size = sizeof input, .path = "-" };
    gale_bolt split_bolt = { .size = sizeof split_bolt, .ops = &ops, .outputs = &words, .output_count = 1 };
    gale_bolt count_bolt, print_bolt;
    gale_spout lines;
    gale_error error = GALE_ERROR_INIT;
    if (gale_file_spout(&input, &lines, &error) < 0 ||
        gale_count_bolt(GALE_COUNT_EMIT_FINISH, &count_bolt, &error) < 0 ||
        gale_printer_bolt(1, &print_bolt, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;

    /* The first error sticks, so that one look at the end is enough. */
    gale_topology *topology = gale_topology_new("word-count");
    gale_topology_add_spout(topology, "lines", lines, 1);
    gale_topology_add_bolt(topology, "split", split_bolt, 1);
    gale_topology_add_bolt(topology, "count", count_bolt, 2);
    gale_topology_add_bolt(topology, "print", print_bolt, 1);
    gale_topology_subscribe(topology, "split", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "count", "split", NULL, gale_fields("word"));
    gale_topology_subscribe(topology, "print", "count", NULL, gale_global());

    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.until_drained = true;
    gale_runtime *runtime = NULL;
    int code = gale_runtime_new(topology, &options, &runtime, &error);
    if (code >= 0) code = gale_runtime_run(runtime, &error);
    if (code < 0) fprintf(stderr, "%s\n", error.text);
    gale_runtime_free(runtime, -1, NULL);
    gale_topology_free(topology);
    return code < 0;
}
