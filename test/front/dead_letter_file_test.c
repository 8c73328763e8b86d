/* Dead letters read back, and topologies whose spouts emit them. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "front/letter_spout.h"
#include "tuple/json.h"

#include "harness/cm.h"
#include "topology/faults.h"

#include <gale/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REST "\"message_id\":7,\"reason\":\"failed\",\"text\":\"no\",\"place\":\"b\",\"task\":2,\"attempts\":3"
#define LETTER(component, stream, tuple)                                                                               \
    "{\"component\":\"" component "\",\"stream\":\"" stream "\",\"tuple\":" tuple "," REST "}\n"

static gx_dead_letter_file letters_of(const char *text) {
    gale_error error = GALE_ERROR_INIT;
    gx_dead_letter_file letters;
    if (gx_dead_letter_file_parse("f", gx_str(text), NULL, &letters, &error) < 0) fail_msg("%s", error.text);
    return letters;
}

static void refuses_bytes(gale_str text, int code, const char *message) {
    gale_error error = GALE_ERROR_INIT;
    gx_dead_letter_file letters = { .count = 77 };
    assert_int_equal(gx_dead_letter_file_parse("f", text, NULL, &letters, &error), code);
    assert_string_equal(error.text, message);
    assert_int_equal(letters.count, 77);
}

static void refuses(const char *text, int code, const char *message) {
    refuses_bytes(gx_str(text), code, message);
}

static void is_json(const gale_value_owned *owned, const char *expected) {
    gale_value tuple = gale_value_owned_view(owned);
    gx_buf out = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&out);
    gx_json_value(&json, &tuple);
    assert_string_equal(gx_buf_text(&out), expected);
    gx_buf_fini(&out);
}

/* --- Reading --- */

static void nothing_and_blank_lines_hold_no_letter(void **state) {
    (void)state;
    static const char *const texts[] = { "", "\n", " \t\r\n\n" };
    for (size_t i = 0; i < 3; i++) {
        gx_dead_letter_file letters = letters_of(texts[i]);
        assert_int_equal(letters.count, 0);
        gx_dead_letter_file_fini(&letters);
    }
}

static void a_line_is_a_letter(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gale_str line = gx_str(LETTER("lines", "default", "[\"a\"]"));
    gx_letter l;
    assert_int_equal(gx_letter_parse("f", 17, line, &l, &error), 0);
    assert_true(gx_str_equal(l.line, line));
    assert_true(gx_str_is(l.component, "lines"));
    assert_true(gx_str_is(l.stream, "default"));
    assert_true(gx_str_is(l.reason, "failed"));
    assert_true(gx_str_is(l.text, "no"));
    assert_true(gx_str_is(l.place, "b"));
    assert_int_equal(l.message_id, 7);
    assert_int_equal(l.task, 2);
    assert_int_equal(l.attempts, 3);
    assert_true(l.time == 0); /* of an older gale */
    assert_int_equal(l.number, 17);
    is_json(l.tuple, "[\"a\"]");
    gx_letter_fini(&l);
    assert_null(l.tuple);
}

static void a_set_keeps_what_a_replay_needs(void **state) {
    (void)state;
    gx_dead_letter_file letters = letters_of(LETTER("lines", "default", "[\"a\"]") LETTER("", "s", "[1]"));
    assert_string_equal(letters.name, "f");
    assert_int_equal(letters.count, 2);
    assert_true(gx_str_is(letters.items[0].component, "lines"));
    assert_true(gx_str_is(letters.items[0].stream, "default"));
    assert_true(gx_str_is(letters.items[1].component, ""));
    assert_true(gx_str_is(letters.items[1].stream, "s"));
    assert_int_equal(letters.items[1].number, 2);
    is_json(letters.items[0].tuple, "[\"a\"]");
    gx_dead_letter_file_fini(&letters);
}

static void many_lines_are_many_letters_and_know_their_numbers(void **state) {
    (void)state;
    gx_buf text = GX_BUF_INIT(NULL);
    for (int i = 0; i < 1000; i++) gx_buf_add_text(&text, LETTER("a", "s", "[1]") "\r\n");
    gx_dead_letter_file letters = letters_of(gx_buf_text(&text));
    assert_int_equal(letters.count, 1000);
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(letters.items[i].number, 2 * i + 1);
    gx_dead_letter_file_fini(&letters);
    gx_buf_fini(&text);
}

static void values_come_back_as_they_were_written(void **state) {
    (void)state;
    static const char *const tuples[] = {
        "[]",
        "[null,true,false]",
        "[1,-9223372036854775808,9223372036854775807,1.0,0.1,-2.5e-300]",
        "[\"\",\"\\u0000x\",\"\xc3\xbc\\n\"]",
        "[{\"base64\":\"\"},{\"base64\":\"/w==\"},{\"base64\":\"AAEC\"},{\"base64\":\"AAE=\"}]",
        "[[],{},[[1],{\"a\":[2],\"b\":{\"c\":null}}]]",
        "[{\"base64\":1},{\"a\":1,\"base64\":\"x\"}]",
    };
    for (size_t i = 0; i < sizeof tuples / sizeof *tuples; i++) {
        char line[600];
        snprintf(line, sizeof line, "{\"component\":\"c\",\"stream\":\"s\",\"tuple\":%s," REST "}", tuples[i]);
        gx_dead_letter_file letters = letters_of(line);
        is_json(letters.items[0].tuple, tuples[i]);
        gx_dead_letter_file_fini(&letters);
    }
}

static void an_unknown_place_is_null(void **state) {
    (void)state;
    gx_letter l;
    gale_str line = gx_str("{\"component\":\"c\",\"stream\":\"s\",\"message_id\":0,\"tuple\":[],"
                           "\"reason\":\"timeout\",\"text\":\"\",\"place\":null,\"task\":0,\"attempts\":1}");
    assert_int_equal(gx_letter_parse("f", 1, line, &l, NULL), 0);
    assert_null(l.place.data);
    gx_letter_fini(&l);
}

/* --- Files --- */

typedef struct told {
    int count;
    char last[1000];
} told;

static void note_bad(void *user, const gale_error *error) {
    told *t = user;
    t->count++;
    snprintf(t->last, sizeof t->last, "%s", error->text);
}

static void a_line_that_is_no_letter_is_told_and_the_next_ones_are_read(void **state) {
    (void)state;
    told t = { 0 };
    gx_dead_letter_file_told tell = { note_bad, &t };
    gale_error error = GALE_ERROR_INIT;
    gx_dead_letter_file letters;
    const char *text = LETTER("a", "s", "[1]") "\n{\"component\":\"a\n" LETTER("a", "s", "[2]") "[]\n{}\n" LETTER(
        "a", "s", "[3]") "{\"comp";
    assert_int_equal(gx_dead_letter_file_parse("f", gx_str(text), &tell, &letters, &error), 0);
    assert_int_equal(error.length, 0);
    assert_int_equal(letters.count, 3);
    assert_int_equal(letters.items[1].number, 4);
    assert_int_equal(letters.items[2].number, 7);
    is_json(letters.items[2].tuple, "[3]");
    assert_int_equal(t.count, 4);
    assert_string_equal(t.last, "f:8:2: this is no line of a dead-letter file: the string does not end");
    gx_dead_letter_file_fini(&letters);
}

static void letters_of_any_length_are_read_from_a_file_one_by_one(void **state) {
    (void)state;
    static const int sizes[] = { 0, 60000, 65400, 65536, 3, 200000, 1, 70000 };
    char path[] = "/tmp/gale-letters-XXXXXX";
    static char text[200001];
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(text, 'a', sizeof text);
        text[sizes[i]] = 0;
        fprintf(file, "{\"component\":\"c\",\"stream\":\"s\",\"tuple\":[\"%s\"]," REST "}%s", text,
                i == 7  ? ""
                : i % 2 ? "\n\n"
                        : "\r\n");
    }
    fclose(file);
    gx_letter_reader reader;
    const gx_letter *letter;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_letter_reader_open(&reader, path, &error), 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(gx_letter_reader_next(&reader, &letter, &error), 1);
        gale_value tuple = gale_value_owned_view(letter->tuple);
        assert_int_equal(gale_list_at(&tuple, 0).size, sizes[i]);
        assert_int_equal(letter->number, i + 1 + i / 2);
    }
    assert_int_equal(gx_letter_reader_next(&reader, &letter, &error), 0);
    assert_int_equal(gx_letter_reader_next(&reader, &letter, &error), 0);
    assert_true(reader.capacity < 600000);
    gx_letter_reader_close(&reader);
    remove(path);
}

static void what_is_no_letter_is_refused_with_its_place(void **state) {
    (void)state;
    refuses("{\"a\":1", GALE_SYNTAX, "f:1:7: this is no line of a dead-letter file: expected ',' or '}'");
    refuses("\n\n[1]", GALE_TYPE, "f:3:1: a dead letter must be a JSON object");
    refuses("{\"tupel\":[]}", GALE_NOT_FOUND, "f:1:2: a dead letter has no field 'tupel'; did you mean 'tuple'?");
    refuses("{\"tuple\":[\"stram\",{\"stram\":1}],\"stram\":1}", GALE_NOT_FOUND,
            "f:1:32: a dead letter has no field 'stram'; did you mean 'stream'?");
    refuses("{\"text\":\"tuple\",\"component\":\"c\",\"stream\":\"s\",\"message_id\":1,\"reason\":\"r\",\"place\":null,"
            "\"task\":0,"
            "\"attempts\":1, \"tuple\" : 5}",
            GALE_TYPE, "f:1:110: 'tuple' must be a list");
    refuses("{}", GALE_NOT_FOUND, "f:1:1: a dead letter needs the field 'component'");
    refuses("{\"component\":1}", GALE_TYPE, "f:1:2: 'component' must be a string");
    refuses(LETTER("a", "s", "[]") LETTER("a", "s", "1"), GALE_TYPE, "f:2:31: 'tuple' must be a list");
    refuses(LETTER("a", "s", "[{\"base64\":\"###\"}]"), GALE_TYPE,
            "f:1:31: 'tuple' must be a list of values, not too deep, with base64 where it says so");
    refuses("{\"component\":\"c\",\"component\":\"c\"}", GALE_SYNTAX,
            "f:1:18: this is no line of a dead-letter file: it has two members \"component\"");
}

static void a_tuple_that_is_too_deep_is_refused(void **state) {
    (void)state;
    char deep[300] = "{\"component\":\"c\",\"stream\":\"s\",\"tuple\":";
    for (int i = 0; i < 40; i++) strcat(deep, "[");
    for (int i = 0; i < 40; i++) strcat(deep, "]");
    strcat(deep, "," REST "}");
    gale_error error = GALE_ERROR_INIT;
    gx_dead_letter_file letters;
    assert_int_equal(gx_dead_letter_file_parse("f", gx_str(deep), NULL, &letters, &error), GALE_TYPE);
}

static void bytes_that_are_no_text_are_refused(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gx_dead_letter_file letters;
    assert_int_equal(gx_dead_letter_file_parse("f", (gale_str){ "{\"a\xff\":1}", 8 }, NULL, &letters, &error),
                     GALE_SYNTAX);
    assert_int_equal(gx_dead_letter_file_parse("f", (gale_str){ "\0\0", 2 }, NULL, &letters, &error), GALE_SYNTAX);
    assert_int_equal(gx_dead_letter_file_load("/no/such/file", NULL, &letters, &error), GALE_IO);
}

static void every_allocation_may_fail_while_letters_are_read(void **state) {
    (void)state;
    const char *text = LETTER("lines", "default", "[1,\"a\",{\"base64\":\"AAE=\"},[],{},[{\"a\":[2,{\"b\":null}]}]]")
        LETTER("lines", "side", "[]");
    int failed = 0;
    for (long n = 1;; n++) {
        gale_error error = GALE_ERROR_INIT;
        gx_dead_letter_file letters = { .count = 77 };
        fail_call(n);
        int code = gx_dead_letter_file_parse("f", gx_str(text), NULL, &letters, &error);
        bool met = has_failed;
        fail_call(0);
        if (code == 0) gx_dead_letter_file_fini(&letters);
        if (!met) break;
        assert_int_equal(code, GALE_NO_MEMORY);
        assert_int_equal(letters.count, 77);
        failed++;
    }
    assert_true(failed > 5);
}

/* --- Emitting them again --- */

typedef struct seen {
    int count;
    int fails; /* of the first so many */
    int64_t values[64];
} seen;

static int on_tuple(void *self, const gale_tuple *tuple, gale_collector *out) {
    seen *s = self;
    (void)out;
    s->values[s->count++] = gale_tuple_value(tuple, 0).as.i64;
    return s->count <= s->fails ? GALE_COMPONENT : 0;
}

static int never_next(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)out, (void)wait;
    return GALE_NEXT_DONE;
}

static bool freed;

static void note_free(void *user) {
    (void)user;
    freed = true;
}

static gale_topology *topology_of(seen *s, gale_grouping grouping) {
    static const gale_spout_ops spout_ops = { .size = sizeof spout_ops, .name = "none", .next = never_next };
    static const gale_bolt_ops bolt_ops = { .size = sizeof bolt_ops, .name = "see", .execute = on_tuple };
    static const gale_output outputs[] = { { NULL, "a" }, { "side", "a, b" } };
    gale_spout spout = { sizeof spout, &spout_ops, s, note_free, outputs, 2, NULL, 0 };
    gale_bolt bolt = { .size = sizeof bolt, .ops = &bolt_ops, .user = s };
    gale_topology *t = gale_topology_new("t");
    freed = false;
    gale_topology_add_spout(t, "lines", spout, 2);
    gale_topology_add_bolt(t, "see", bolt, 1);
    gale_topology_subscribe(t, "see", "lines", NULL, grouping);
    gale_topology_subscribe(t, "see", "lines", "side", gale_shuffle());
    return t;
}

static gale_run_stats run(gale_topology *t) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 2;
    options.until_drained = true;
    assert_int_equal(gale_runtime_new(t, &options, &runtime, &error), GALE_OK);
    while (gale_runtime_step(runtime) != GALE_STOPPED) {
    }
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(runtime, &stats);
    gale_runtime_free(runtime, -1, NULL);
    return stats;
}

static void letters_are_emitted_once_into_the_streams_that_they_came_from(void **state) {
    (void)state;
    seen s = { 0 };
    gale_error error = GALE_ERROR_INIT;
    gale_topology *t = topology_of(&s, gale_shuffle());
    gx_dead_letter_file letters = letters_of(LETTER("lines", "default", "[1]") LETTER("lines", "side", "[2,3]")
                                                 LETTER("lines", "default", "[4]"));
    assert_int_equal(gx_letter_spouts(t, &letters, &error), 0);
    assert_true(freed);
    gale_run_stats stats = run(t);
    assert_int_equal(stats.trees, 3);
    assert_int_equal(stats.acked, 3);
    assert_int_equal(s.count, 3);
    assert_int_equal(s.values[0] + s.values[1] + s.values[2], 7);
    gale_topology_free(t);
    gx_dead_letter_file_fini(&letters);
}

static void a_topology_of_letters_without_letters_ends_at_once(void **state) {
    (void)state;
    seen s = { 0 };
    gale_error error = GALE_ERROR_INIT;
    gale_topology *t = topology_of(&s, gale_shuffle());
    gx_dead_letter_file letters = letters_of("");
    assert_int_equal(gx_letter_spouts(t, &letters, &error), 0);
    assert_int_equal(run(t).trees, 0);
    gale_topology_free(t);
    gx_dead_letter_file_fini(&letters);
}

static void a_letter_that_fails_again_is_not_emitted_once_more(void **state) {
    (void)state;
    seen s = { .fails = 1 };
    gale_error error = GALE_ERROR_INIT;
    gale_topology *t = topology_of(&s, gale_shuffle());
    gx_dead_letter_file letters = letters_of(LETTER("lines", "default", "[1]") LETTER("lines", "default", "[4]"));
    assert_int_equal(gx_letter_spouts(t, &letters, &error), 0);
    gale_run_stats stats = run(t);
    assert_int_equal(stats.acked, 1);
    assert_int_equal(stats.failed, 1);
    gale_topology_free(t);
    gx_dead_letter_file_fini(&letters);
}

static void does_not_fit(gale_grouping grouping, const char *text, int code, const char *message) {
    seen s = { 0 };
    gale_error error = GALE_ERROR_INIT;
    gale_topology *t = topology_of(&s, grouping);
    gx_dead_letter_file letters = letters_of(text);
    assert_int_equal(gx_letter_spouts(t, &letters, &error), code);
    assert_string_equal(error.text, message);
    assert_false(freed);
    gale_topology_free(t);
    gx_dead_letter_file_fini(&letters);
}

static void letters_that_do_not_fit_the_topology_are_refused_before_anything_is_replaced(void **state) {
    (void)state;
    does_not_fit(gale_shuffle(), LETTER("lines", "default", "[1]") LETTER("line", "default", "[1]"), GALE_NOT_FOUND,
                 "f:2: the topology has no spout 'line'; did you mean 'lines'?");
    does_not_fit(gale_shuffle(), LETTER("see", "default", "[1]"), GALE_NOT_FOUND,
                 "f:1: the topology has no spout 'see'");
    does_not_fit(gale_shuffle(), LETTER("lines", "sied", "[1]"), GALE_NOT_FOUND,
                 "f:1: spout 'lines' has no stream 'sied'; did you mean 'side'?");
    does_not_fit(gale_shuffle(), LETTER("lines", "__dead_letter", "[1]"), GALE_NOT_FOUND,
                 "f:1: spout 'lines' has no stream '__dead_letter'");
    does_not_fit(gale_shuffle(), LETTER("lines", "side", "[1]"), GALE_FIELDS,
                 "f:1: the tuple has 1 value, and stream 'side' of 'lines' has 2 fields");
    does_not_fit(
        gale_direct(), LETTER("lines", "default", "[1]"), GALE_UNSUPPORTED,
        "f:1: stream 'default' of 'lines' has a consumer with direct grouping, and the letter does not say which "
        "task it was for");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_and_blank_lines_hold_no_letter),
        cmocka_unit_test(a_line_is_a_letter),
        cmocka_unit_test(a_set_keeps_what_a_replay_needs),
        cmocka_unit_test(a_line_that_is_no_letter_is_told_and_the_next_ones_are_read),
        cmocka_unit_test(letters_of_any_length_are_read_from_a_file_one_by_one),
        cmocka_unit_test(many_lines_are_many_letters_and_know_their_numbers),
        cmocka_unit_test(values_come_back_as_they_were_written),
        cmocka_unit_test(an_unknown_place_is_null),
        cmocka_unit_test(what_is_no_letter_is_refused_with_its_place),
        cmocka_unit_test(a_tuple_that_is_too_deep_is_refused),
        cmocka_unit_test(bytes_that_are_no_text_are_refused),
        cmocka_unit_test(every_allocation_may_fail_while_letters_are_read),
        cmocka_unit_test(letters_are_emitted_once_into_the_streams_that_they_came_from),
        cmocka_unit_test(a_topology_of_letters_without_letters_ends_at_once),
        cmocka_unit_test(a_letter_that_fails_again_is_not_emitted_once_more),
        cmocka_unit_test(letters_that_do_not_fit_the_topology_are_refused_before_anything_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
