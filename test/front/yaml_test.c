#include "front/yaml.h"

#include "base/buf.h"
#include "base/str.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <string.h>

#define IN_QUOTES "; a text with any of [ ] { } , : # in it, or that begins with a sign, is put in quotes: 'a[1] == 2'"

static gx_yaml_doc *parsed(const char *text) {
    gx_yaml_doc *doc = NULL;
    gale_error error = GALE_ERROR_INIT;
    int code = gx_yaml_parse("t.yaml", gx_str(text), NULL, &doc, &error);
    if (code < 0) fail_msg("%s", error.text);
    return doc;
}

static void expect_error_sized(const char *text, size_t size, int code, const char *message) {
    gx_yaml_doc *doc = NULL;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_yaml_parse("t.yaml", (gale_str){ text, size }, NULL, &doc, &error), code);
    assert_string_equal(error.text, message);
    assert_null(doc);
}

static void expect_error(const char *text, int code, const char *message) {
    expect_error_sized(text, strlen(text), code, message);
}

/* --- What is read ------------------------------------------------------------------------------------------------- */

static void nothing_is_a_document_without_root(void **state) {
    (void)state;
    const char *const texts[] = { "", "\n\n", "# a comment\n", "---\n...\n" };
    for (size_t i = 0; i < 3; i++) {
        gx_yaml_doc *doc = parsed(texts[i]);
        assert_null(gx_yaml_root(doc));
        gx_yaml_free(doc);
    }
    gx_yaml_doc *doc = parsed(texts[3]);
    assert_int_equal(gx_yaml_root(doc)->type, GALE_TYPE_NULL);
    gx_yaml_free(doc);
    gx_yaml_free(NULL);
}

static void nodes_know_their_line_and_column(void **state) {
    (void)state;
    gx_yaml_doc *doc = parsed("a: 1\nb:\n  - x\n  - {c: y}\n");
    const gx_yaml *list = gx_yaml_get(gx_yaml_root(doc), "b");
    assert_int_equal(list->type, GALE_TYPE_LIST);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->as.first->line, 3);
    assert_int_equal(list->as.first->column, 5);
    const gx_yaml *c = gx_yaml_get(list->as.first->next, "c");
    assert_int_equal(c->line, 4);
    assert_int_equal(c->column, 9);
    gx_yaml_free(doc);
}

static void plain_scalars_have_types_and_quoted_ones_are_strings(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int type;
    } cases[] = {
        { "~", GALE_TYPE_NULL },          { "null", GALE_TYPE_NULL },    { "yes", GALE_TYPE_BOOL },
        { "Off", GALE_TYPE_BOOL },        { "12", GALE_TYPE_I64 },       { "-0x1f", GALE_TYPE_I64 },
        { "017", GALE_TYPE_I64 },         { "1_000", GALE_TYPE_I64 },    { "1.5", GALE_TYPE_F64 },
        { "-2.5e3", GALE_TYPE_F64 },      { "12:30", GALE_TYPE_I64 },    { "2026-11-22", GALE_TYPE_STRING },
        { "-.inf", GALE_TYPE_F64 },       { "yes!", GALE_TYPE_STRING },  { "'12'", GALE_TYPE_STRING },
        { "\"true\"", GALE_TYPE_STRING }, { "''", GALE_TYPE_STRING },    { "!!str 12", GALE_TYPE_STRING },
        { "!!int 12", GALE_TYPE_I64 },    { "1.2.3", GALE_TYPE_STRING }, { "-9223372036854775808", GALE_TYPE_I64 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gx_yaml_doc *doc = parsed(cases[i].text);
        if (gx_yaml_root(doc)->type != cases[i].type) fail_msg("%s: type %d", cases[i].text, gx_yaml_root(doc)->type);
        gx_yaml_free(doc);
    }
}

static void values_are_read_from_the_tree(void **state) {
    (void)state;
    gx_yaml_doc *doc = parsed("{a: [1, 2.5, true, ~, x], 7: y}");
    gale_value map, list, item;
    assert_int_equal(gx_yaml_value(doc, gx_yaml_root(doc), &map, NULL), 0);
    assert_true(gale_map_get(&map, gx_str("a"), &list));
    assert_int_equal(list.size, 5);
    assert_int_equal(gale_list_at(&list, 0).as.i64, 1);
    assert_true(gale_list_at(&list, 1).as.f64 == 2.5);
    assert_true(gale_list_at(&list, 2).as.boolean);
    assert_int_equal(gale_list_at(&list, 3).type, GALE_TYPE_NULL);
    assert_string_equal(gale_list_at(&list, 4).as.string, "x");
    assert_true(gale_map_get(&map, gx_str("7"), &item));
    gx_yaml_free(doc);
}

static void aliases_are_copies_with_a_place_of_their_own(void **state) {
    (void)state;
    gx_yaml_doc *doc = parsed("a: &x [1, 2]\nb: *x\n");
    const gx_yaml *b = gx_yaml_get(gx_yaml_root(doc), "b");
    assert_int_equal(b->type, GALE_TYPE_LIST);
    assert_int_equal(b->count, 2);
    assert_int_equal(b->line, 2);
    assert_int_equal(b->column, 4);
    assert_int_equal(gx_yaml_get(gx_yaml_root(doc), "a")->line, 1);
    gx_yaml_free(doc);
}

/* "a=1 b=2" of the map at the root's `key`. */
static void expect_map(const char *text, const char *key, const char *expected) {
    gx_yaml_doc *doc = parsed(text);
    gx_buf out = GX_BUF_INIT(NULL);
    const gx_yaml *map = gx_yaml_get(gx_yaml_root(doc), key);
    uint32_t count = 0;
    for (const gx_yaml *k = map->as.first; k; k = k->next->next, count++)
        gx_buf_format(&out, "%s%s=%s@%u", count ? " " : "", k->text.data, k->next->text.data, k->line);
    assert_string_equal(gx_buf_text(&out), expected);
    assert_int_equal(map->count, count);
    gx_buf_fini(&out);
    gx_yaml_free(doc);
}

static void merge_keys_bring_what_the_map_does_not_say_itself(void **state) {
    (void)state;
    expect_map("x: &x {a: 1, b: 2}\nm:\n  <<: *x\n  b: 3\n", "m", "b=3@4 a=1@1");
    expect_map("x: &x {a: 1}\ny: &y {a: 2, c: 4}\nm:\n  d: 5\n  <<: [*x, *y]\n", "m", "d=5@4 a=1@1 c=4@2");
    expect_map("m: {<<: {}, a: 1}", "m", "a=1@1");
    expect_map("m: {'<<': 1}", "m", "<<=1@1");
    expect_map("x: &x {a: 1}\ny: &y {<<: *x, b: 2}\nm: {<<: *y}\n", "m", "b=2@2 a=1@1");
}

static void merges_are_counted_like_aliases(void **state) {
    (void)state;
    gx_buf text = GX_BUF_INIT(NULL);
    gx_buf_add_text(&text, "x: &x {");
    for (int i = 0; i < 1000; i++) gx_buf_format(&text, "k%d: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], ", i);
    gx_buf_add_text(&text, "}\nall:\n");
    for (int i = 0; i < 90; i++) gx_buf_format(&text, "  - {<<: *x, own: %d}\n", i);
    gx_yaml_doc *doc = NULL;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_yaml_parse("t.yaml", (gale_str){ text.data, text.size }, NULL, &doc, &error), GALE_TOO_LARGE);
    gx_buf_fini(&text);
}

static bool is_secret(const char *text) {
    gx_yaml_doc *doc = parsed(text);
    bool secret = false;
    for (const gx_yaml *k = gx_yaml_root(doc)->as.first; k; k = k->next->next) secret |= k->next->secret;
    gx_yaml_free(doc);
    return secret;
}

static void values_of_keys_that_speak_of_secrets_are_hidden(void **state) {
    (void)state;
    static const char *const secret[] = { "password: x",
                                          "db.Password: x",
                                          "API_TOKEN: [x]",
                                          "clientSecret: {a: x}",
                                          "{name: withPassword, args: [x]}",
                                          "{name: token, value: x}" };
    static const char *const open[] = { "path: x", "{name: path, value: x}", "name: password" };
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++) assert_true(is_secret(secret[i]));
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) assert_false(is_secret(open[i]));
    expect_error("password: 99999999999999999999\n", GALE_SYNTAX, "t.yaml:1:11: *** does not fit in 64 bits");
}

static void get_answers_null_for_what_is_not_there(void **state) {
    (void)state;
    gx_yaml_doc *doc = parsed("[1]");
    assert_null(gx_yaml_get(NULL, "a"));
    assert_null(gx_yaml_get(gx_yaml_root(doc), "a"));
    gx_yaml_free(doc);
}

/* --- What is refused ---------------------------------------------------------------------------------------------- */

static void tab_in_indentation_is_named(void **state) {
    (void)state;
    expect_error("a:\n\tb: 1\n", GALE_SYNTAX,
                 "t.yaml:2:1: found a tab character where an indentation space is expected");
    expect_error("a:\n  b:\n  \tc: 1\n", GALE_SYNTAX,
                 "t.yaml:3:3: found a tab character where an indentation space is expected");
}

static void text_that_is_no_text_is_refused_with_its_byte(void **state) {
    (void)state;
    expect_error("\x7f"
                 "ELF",
                 GALE_SYNTAX, "t.yaml:1:1: this is not a text file: it holds byte 0x7f");
    expect_error("a: b\nc: \xff\n", GALE_SYNTAX, "t.yaml:2:4: this is not UTF-8 text: it holds byte 0xff");
    expect_error("\xc3\xa4: \xc3", GALE_SYNTAX, "t.yaml:1:4: this is not UTF-8 text: it holds byte 0xc3");
    expect_error_sized("a\0b", 3, GALE_SYNTAX, "t.yaml:1:2: this is not a text file: it holds byte 0x00");
}

static void syntax_errors_say_what_and_where(void **state) {
    (void)state;
    expect_error(
        "a: [1, 2\nb: 3\n", GALE_SYNTAX,
        "t.yaml:2:2: did not find expected ',' or ']', while parsing a flow sequence that begins at 1:4" IN_QUOTES);
    expect_error("a: b: c\n", GALE_SYNTAX, "t.yaml:1:5: mapping values are not allowed in this context" IN_QUOTES);
    expect_error("a: *x\n", GALE_SYNTAX, "t.yaml:1:4: unknown anchor 'x'" IN_QUOTES);
    expect_error("a: 1\n---\nb: 2\n", GALE_SYNTAX, "t.yaml:2:1: a second document begins here; a file holds one");
    expect_error("a: 99999999999999999999\n", GALE_SYNTAX, "t.yaml:1:4: 99999999999999999999 does not fit in 64 bits");
    expect_error("a: !!int x\n", GALE_SYNTAX, "t.yaml:1:4: 'x' does not fit its tag");
}

static void what_is_not_supported_is_refused(void **state) {
    (void)state;
    expect_error("c:\n  <<: x\n", GALE_SYNTAX,
                 "t.yaml:2:7: << must be followed by a map or a list of maps, not a string");
    expect_error("c:\n  <<: [{a: 1}, [b]]\n", GALE_SYNTAX,
                 "t.yaml:2:16: << must be followed by a map or a list of maps, not a list");
    expect_error("a: !java.util.Date 1\n", GALE_UNSUPPORTED, "t.yaml:1:4: the tag '!java.util.Date' is not supported");
    expect_error("a: !set {b}\n", GALE_UNSUPPORTED, "t.yaml:1:4: the tag '!set' is not supported");
}

static void keys_must_be_text_and_unique(void **state) {
    (void)state;
    expect_error("? [a]\n: 1\n", GALE_SYNTAX, "t.yaml:1:3: a key must be text, not a list");
    expect_error("b: 1\na: 2\nb: 3\n", GALE_SYNTAX, "t.yaml:3:1: the key 'b' was given already, at line 1");
}

static void anchor_inside_itself_is_unknown(void **state) {
    (void)state;
    expect_error("a: &x [*x]\n", GALE_SYNTAX, "t.yaml:1:8: unknown anchor 'x'" IN_QUOTES);
}

/* --- Limits ------------------------------------------------------------------------------------------------------- */

static const char *nested(size_t levels, gx_buf *out) {
    for (size_t i = 0; i < levels; i++) gx_buf_add_byte(out, '[');
    for (size_t i = 0; i < levels; i++) gx_buf_add_byte(out, ']');
    return gx_buf_text(out);
}

static void depth_is_limited(void **state) {
    (void)state;
    gx_buf text = GX_BUF_INIT(NULL);
    gx_yaml_doc *doc = parsed(nested(GX_YAML_DEPTH, &text));
    assert_int_equal(gx_yaml_root(doc)->height, GX_YAML_DEPTH);
    gx_yaml_free(doc);
    gx_buf_reset(&text);
    expect_error(nested(GX_YAML_DEPTH + 1, &text), GALE_TOO_LARGE, "t.yaml:1:65: more than 64 levels");
    gx_buf_fini(&text);
}

static void aliases_cannot_make_a_tree_too_deep(void **state) {
    (void)state;
    gx_buf text = GX_BUF_INIT(NULL);
    gx_buf_add_text(&text, "- &a ");
    nested(40, &text);
    gx_buf_add_text(&text, "\n- [[[[[[[[[[[[[[[[[[[[[[[[*a]]]]]]]]]]]]]]]]]]]]]]]]\n");
    expect_error(gx_buf_text(&text), GALE_TOO_LARGE, "t.yaml:2:27: more than 64 levels");
    gx_buf_fini(&text);
}

static void alias_bomb_is_refused(void **state) {
    (void)state;
    expect_error("a: &a [x,x,x,x,x,x,x,x,x,x]\n"
                 "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                 "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
                 "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                 "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
                 "f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
                 GALE_TOO_LARGE, "t.yaml:6:29: more than 1000000 values, aliases spelled out");
}

static void anchors_are_limited(void **state) {
    (void)state;
    gx_buf text = GX_BUF_INIT(NULL);
    for (int i = 0; i <= GX_YAML_ANCHORS; i++) gx_buf_format(&text, "- &a%d x\n", i);
    expect_error(gx_buf_text(&text), GALE_TOO_LARGE, "t.yaml:1001:3: more than 1000 anchors");
    gx_buf_fini(&text);
}

static void large_text_is_refused_unread(void **state) {
    (void)state;
    gx_yaml_doc *doc = NULL;
    gale_error error = GALE_ERROR_INIT;
    gale_str text = { "", (size_t)GX_YAML_BYTES + 1 };
    assert_int_equal(gx_yaml_parse("t.yaml", text, NULL, &doc, &error), GALE_TOO_LARGE);
    assert_string_equal(error.text, "t.yaml: larger than 16 MiB");
}

/* --- Faults ------------------------------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state) {
    (void)state;
    gx_buf text = GX_BUF_INIT(NULL);
    gx_buf_add_text(&text, "key: &a0 x\n");
    for (int i = 1; i < 300; i++) gx_buf_format(&text, "key-%d: &a%d [a string of some length, 1]\n", i, i);
    gx_buf_add_text(&text, "last: *a0\n");
    size_t fail_at = 1;
    for (;; fail_at++) {
        counting_allocator counting = { .fail_at = fail_at };
        gale_allocator allocator = counting_handle(&counting);
        gx_yaml_doc *doc = NULL;
        gale_error error = GALE_ERROR_INIT;
        int code = gx_yaml_parse("t.yaml", (gale_str){ text.data, text.size }, &allocator, &doc, &error);
        if (code == 0) {
            gx_yaml_free(doc);
            assert_int_equal(counting.blocks, 0);
            break;
        }
        if (code != GALE_NO_MEMORY) fail_msg("%s", error.text);
        assert_string_equal(error.text, "t.yaml: out of memory");
        assert_int_equal(counting.blocks, 0);
    }
    assert_true(fail_at > 3);
    gx_buf_fini(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_a_document_without_root),
        cmocka_unit_test(nodes_know_their_line_and_column),
        cmocka_unit_test(plain_scalars_have_types_and_quoted_ones_are_strings),
        cmocka_unit_test(values_are_read_from_the_tree),
        cmocka_unit_test(aliases_are_copies_with_a_place_of_their_own),
        cmocka_unit_test(merge_keys_bring_what_the_map_does_not_say_itself),
        cmocka_unit_test(merges_are_counted_like_aliases),
        cmocka_unit_test(values_of_keys_that_speak_of_secrets_are_hidden),
        cmocka_unit_test(get_answers_null_for_what_is_not_there),
        cmocka_unit_test(tab_in_indentation_is_named),
        cmocka_unit_test(text_that_is_no_text_is_refused_with_its_byte),
        cmocka_unit_test(syntax_errors_say_what_and_where),
        cmocka_unit_test(what_is_not_supported_is_refused),
        cmocka_unit_test(keys_must_be_text_and_unique),
        cmocka_unit_test(anchor_inside_itself_is_unknown),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(aliases_cannot_make_a_tree_too_deep),
        cmocka_unit_test(alias_bomb_is_refused),
        cmocka_unit_test(anchors_are_limited),
        cmocka_unit_test(large_text_is_refused_unread),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
