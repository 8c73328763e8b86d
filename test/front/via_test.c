#include "front/via.h"

#include "base/buf.h"
#include "base/str.h"
#include "harness/cm.h"

#include <stdlib.h>

static const char file[] =
    "name: counts\n"
    "spouts:\n"
    "  - {id: lines, className: A}\n"
    "bolts:\n"
    "  - {id: words, className: B}\n"
    "  - {id: count, className: C}\n"
    "streams:\n"
    "  - {from: lines, to: words, grouping: {type: SHUFFLE}}\n"
    "  - {from: words, to: count, grouping: {type: FIELDS, args: [word]}, via: {kafka: {brokers: k, topic: t}}}\n";

typedef struct expanded {
    gx_yaml_doc *doc;
    gx_via *vias;
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

static int expand(expanded *x, const char *text, gale_error *error) {
    gale_error own = GALE_ERROR_INIT;
    *x = (expanded){ .text = GX_BUF_INIT(NULL) };
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str(text), NULL, &x->doc, &own), 0);
    return gx_via_expand(x->doc, &x->vias, error ? error : &own);
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

static char *replaced(const char *from, const char *to) {
    gx_buf text = GX_BUF_INIT(NULL);
    const char *at = strstr(file, from);
    assert_non_null(at);
    gx_buf_add(&text, file, (size_t)(at - file));
    gx_buf_add_text(&text, to);
    gx_buf_add_text(&text, at + strlen(from));
    char *made = strdup(gx_buf_text(&text));
    gx_buf_fini(&text);
    return made;
}

/* --- What it becomes ------------------------------------------------------------------------------------------------- */

static void a_stream_becomes_four_components_and_four_streams(void **state) {
    (void)state;
    expanded x;
    assert_int_equal(expand(&x, file, NULL), 0);
    assert_string_equal(
        items(&x, "spouts"),
        "{id: lines, className: A}\n"
        "{id: words-count-spout, className: gale.spout.Kafka, properties: {topics: [t], emit: value, key, "
        "group: counts-words-count, brokers: k}}\n");
    assert_string_equal(items(&x, "bolts"),
                        "{id: words, className: B}\n"
                        "{id: count, className: C}\n"
                        "{id: words-count-pack, className: gale.bolt.Pack, properties: {key: [word]}}\n"
                        "{id: words-count-sink, className: gale.bolt.KafkaSink, properties: {key: key, value: value, "
                        "markers: gale-markers, brokers: k, topic: t}}\n"
                        "{id: words-count-unpack, className: gale.bolt.Unpack, properties: {fields: [word]}}\n");
    assert_string_equal(items(&x, "streams"),
                        "{from: lines, to: words, grouping: {type: SHUFFLE}}\n"
                        "{from: words, to: words-count-pack, grouping: {type: FIELDS, args: [word]}}\n"
                        "{from: words-count-pack, to: words-count-sink, grouping: {type: FIELDS, args: [key]}}\n"
                        "{from: words-count-spout, to: words-count-unpack, grouping: {type: FIELDS, args: [key]}}\n"
                        "{from: words-count-unpack, to: count, grouping: {type: FIELDS, args: [word]}}\n");
    assert_non_null(x.vias);
    assert_null(x.vias->next);
    assert_ptr_equal(gx_via_of(x.vias, gx_str("words-count-sink")), x.vias);
    assert_null(gx_via_of(x.vias, gx_str("words")));
    end(&x);
}

static void its_components_are_where_the_file_says_via(void **state) {
    (void)state;
    expanded x;
    assert_int_equal(expand(&x, file, NULL), 0);
    const gx_yaml *spout = gx_yaml_get(gx_yaml_root(x.doc), "spouts")->as.first->next;
    assert_int_equal(spout->line, 9);
    assert_int_equal(spout->column, 83);
    assert_int_equal(gx_yaml_get(gx_yaml_get(spout, "properties"), "brokers")->column, 93);
    end(&x);
}

static void settings_go_where_they_belong(void **state) {
    (void)state;
    expanded x;
    char *text = replaced("topic: t",
                          "topic: t, group: g, markers: null, commitEvery: 1, finishWait: 2, properties: {a: 1}, "
                          "propertiesFrom: {b: f}}, parallelism: 3");
    text[strlen(text) - 2] = 0; /* one brace less */
    assert_int_equal(expand(&x, text, NULL), 0);
    assert_non_null(strstr(items(&x, "spouts"),
                           "properties: {topics: [t], emit: value, key, brokers: k, group: g, "
                           "commitEvery: 1, properties: {a: 1}, propertiesFrom: {b: f}}, parallelism: 3}"));
    assert_non_null(strstr(items(&x, "bolts"),
                           "properties: {key: key, value: value, brokers: k, topic: t, finishWait: 2, "
                           "properties: {a: 1}, propertiesFrom: {b: f}}, parallelism: 3}"));
    end(&x);
    free(text);
}

static void a_stream_of_its_own_and_an_id_are_kept(void **state) {
    (void)state;
    expanded x;
    char *text = replaced("{from: words, to: count, grouping: {type: FIELDS, ",
                          "{id: keyed, from: words, to: count, grouping: "
                          "{type: FIELDS, streamId: late, ");
    assert_int_equal(expand(&x, text, NULL), 0);
    assert_non_null(strstr(items(&x, "streams"), "{from: words, to: keyed-pack, grouping: {type: FIELDS, args: [word], "
                                                 "streamId: late}}\n"));
    assert_non_null(
        strstr(items(&x, "streams"), "{from: keyed-unpack, to: count, grouping: {type: FIELDS, args: [word]}}\n"));
    end(&x);
    free(text);
}

static void a_file_without_one_stays_as_it_is(void **state) {
    (void)state;
    expanded x;
    char *text = replaced(", via: {kafka: {brokers: k, topic: t}}", "");
    assert_int_equal(expand(&x, text, NULL), 0);
    assert_null(x.vias);
    assert_string_equal(items(&x, "spouts"), "{id: lines, className: A}\n");
    end(&x);
    free(text);
}

/* --- What is wrong ---------------------------------------------------------------------------------------------------- */

static void refused(const char *from, const char *to, const char *words) {
    expanded x;
    gale_error error = GALE_ERROR_INIT;
    char *text = replaced(from, to);
    assert_true(expand(&x, text, &error) < 0);
    assert_string_equal(error.text, words);
    end(&x);
    free(text);
}

static void what_is_wrong_is_told_with_its_place(void **state) {
    (void)state;
    refused("topic: t", "topc: t",
            "t.yaml:9:96: unknown key 'topc' in a stream's `via: {kafka: ...}`; did you mean 'topic'?");
    refused(", topic: t", "", "t.yaml:9:83: a stream's `via: {kafka: ...}` needs the field 'topic'");
    refused("kafka: {", "kafak: {", "t.yaml:9:76: unknown key 'kafak' in a stream's `via`; did you mean 'kafka'?");
    refused("{kafka: {brokers: k, topic: t}}", "words", "t.yaml:9:75: a stream's `via` must be a map, not a string");
    refused("type: FIELDS", "type: ALL",
            "t.yaml:9:47: a stream with `via` is grouped by FIELDS, which become the messages' key: any other grouping "
            "needs "
            "no topic in between, or a stage of its own (docs/scaling.md)");
    refused(", args: [word]", "", "t.yaml:9:40: a FIELDS grouping needs 'args': the names of fields");
    refused("args: [word]", "args: [[word]]", "t.yaml:9:62: a field's name must be a string");
    refused("args: [word]", "args: [word], drop: oldest",
            "t.yaml:9:69: unknown key 'drop' in a grouping of a stream with `via`");
}

static void all_that_is_wrong_can_be_kept_and_the_stream_then_goes_straight_on(void **state) {
    (void)state;
    expanded x = { .text = GX_BUF_INIT(NULL) };
    gale_error error = GALE_ERROR_INIT;
    gx_problems *problems = gx_problems_new();
    char *text = replaced("topic: t", "topc: t");
    assert_int_equal(gx_yaml_parse("t.yaml", gx_str(text), NULL, &x.doc, &error), 0);
    gx_yaml_collect(x.doc, problems);
    assert_int_equal(gx_via_expand(x.doc, &x.vias, &error), 0);
    assert_int_equal(problems->errors, 1);
    assert_null(x.vias);
    assert_non_null(strstr(items(&x, "streams"), "{from: words, to: count, grouping: {type: FIELDS, args: [word]}}\n"));
    gx_problems_free(problems);
    end(&x);
    free(text);
}

static void what_it_is_grouped_by_goes_in(void **state) {
    (void)state;
    expanded x;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(expand(&x, file, NULL), 0);
    assert_int_equal(gx_via_shape(x.doc, x.vias, "line, word", &error), 0);
    assert_int_equal(gx_via_shape(x.doc, x.vias, "line, wrod", &error), GALE_NOT_FOUND);
    assert_string_equal(error.text,
                        "t.yaml:9:62: 'words' has no field 'word' in stream 'default'; did you mean 'wrod'?");
    end(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_becomes_four_components_and_four_streams),
        cmocka_unit_test(its_components_are_where_the_file_says_via),
        cmocka_unit_test(settings_go_where_they_belong),
        cmocka_unit_test(a_stream_of_its_own_and_an_id_are_kept),
        cmocka_unit_test(a_file_without_one_stays_as_it_is),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
        cmocka_unit_test(all_that_is_wrong_can_be_kept_and_the_stream_then_goes_straight_on),
        cmocka_unit_test(what_it_is_grouped_by_goes_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
