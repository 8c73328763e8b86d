#include "front/buffer.h"

#include "base/buf.h"
#include "base/str.h"
#include "harness/cm.h"

static const char head[] = "name: counts\n"
                           "spouts:\n"
                           "  - {id: lines, className: A}\n"
                           "bolts:\n"
                           "  - {id: words, className: B}\n"
                           "  - {id: count, className: C}\n"
                           "streams:\n";

typedef struct expanded {
    gx_yaml_doc *doc;
    gx_buffer *buffers;
    gx_buf text;
} expanded;

static void write_node(gx_buf *out, const gx_yaml *node) {
    if (gx_yaml_is_scalar(node)) return (void)gx_buf_add(out, node->text.data, node->text.size);
    bool map = node->type == GALE_TYPE_MAP;
    gx_buf_add_text(out, map ? "{" : "[");
    for (const gx_yaml *child = node->as.first; child; child = child->next) {
        write_node(out, child);
        if (map) {
            gx_buf_add_text(out, ": ");
            child = child->next;
            write_node(out, child);
        }
        if (child->next) gx_buf_add_text(out, ", ");
    }
    gx_buf_add_text(out, map ? "}" : "]");
}

static int expand(expanded *x, const char *streams, gale_error *error) {
    *x = (expanded){ .text = GX_BUF_INIT(NULL) };
    gx_buf_add_text(&x->text, head);
    gx_buf_add_text(&x->text, streams);
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str(gx_buf_text(&x->text)), NULL, &x->doc, error), 0);
    return gx_buffer_expand(x->doc, &x->buffers, error);
}

static void end(expanded *x) {
    gx_buf_fini(&x->text);
    gx_yaml_free(x->doc);
}

/* A list of the root, an item a line. */
static const char *items(expanded *x, const char *key) {
    const gx_yaml *list = gx_yaml_get(gx_yaml_root(x->doc), key);
    gx_buf_reset(&x->text);
    for (const gx_yaml *item = list->as.first; item; item = item->next) {
        write_node(&x->text, item);
        gx_buf_add_text(&x->text, "\n");
    }
    return gx_buf_text(&x->text);
}

static void a_stream_becomes_two_components_and_two_streams(void **state) {
    (void)state;
    expanded x;
    gale_error error = GALE_ERROR_INIT;
    const char *streams = "  - {from: lines, to: words, grouping: {type: SHUFFLE}}\n"
                          "  - {from: words, to: count, grouping: {type: FIELDS, args: [word], streamId: s}, "
                          "buffer: {disk: 1 GB, path: p, maxAttempts: 5}}\n";
    assert_int_equal(expand(&x, streams, &error), 0);
    assert_string_equal(items(&x, "spouts"),
                        "{id: lines, className: A}\n"
                        "{id: words-count-drain, className: gale.spout.DiskBuffer, properties: {path: p, maxAttempts: "
                        "5, fields: tuple}}\n");
    assert_string_equal(
        items(&x, "bolts"),
        "{id: words, className: B}\n"
        "{id: count, className: C}\n"
        "{id: words-count-buffer, className: gale.bolt.DiskBuffer, properties: {path: p, disk: 1 GB}}\n");
    assert_string_equal(items(&x, "streams"),
                        "{from: lines, to: words, grouping: {type: SHUFFLE}}\n"
                        "{from: words, to: words-count-buffer, grouping: {type: SHUFFLE, streamId: s}}\n"
                        "{from: words-count-drain, to: count, grouping: {type: FIELDS, args: [word]}}\n");
    assert_non_null(gx_buffer_of_spout(x.buffers, gx_str("words-count-drain")));
    assert_null(gx_buffer_of_spout(x.buffers, gx_str("words-count-buffer")));
    end(&x);
}

static void several_tasks_have_the_keys_of_a_stream_by_fields(void **state) {
    (void)state;
    expanded x;
    gale_error error = GALE_ERROR_INIT;
    const char *streams = "  - {id: w, from: words, to: count, grouping: {type: FIELDS, args: [word]}, "
                          "buffer: {disk: 1 GB, path: p, parallelism: 3}}\n"
                          "  - {from: lines, to: words, grouping: {type: ALL}, buffer: {disk: 1 GB, path: q, "
                          "parallelism: 2}}\n";
    assert_int_equal(expand(&x, streams, &error), 0);
    assert_string_equal(items(&x, "streams"), "{from: words, to: w-buffer, grouping: {type: FIELDS, args: [word]}}\n"
                                              "{from: w-drain, to: count, grouping: {type: FIELDS, args: [word]}}\n"
                                              "{from: lines, to: lines-words-buffer, grouping: {type: SHUFFLE}}\n"
                                              "{from: lines-words-drain, to: words, grouping: {type: ALL}}\n");
    assert_non_null(strstr(items(&x, "bolts"), "path: p, disk: 1 GB}, parallelism: 3}"));
    end(&x);
}

static void a_file_without_one_stays_as_it_is(void **state) {
    (void)state;
    expanded x;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(expand(&x, "  - {from: lines, to: words, grouping: {type: SHUFFLE}}\n", &error), 0);
    assert_null(x.buffers);
    assert_string_equal(items(&x, "streams"), "{from: lines, to: words, grouping: {type: SHUFFLE}}\n");
    end(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_becomes_two_components_and_two_streams),
        cmocka_unit_test(several_tasks_have_the_keys_of_a_stream_by_fields),
        cmocka_unit_test(a_file_without_one_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
