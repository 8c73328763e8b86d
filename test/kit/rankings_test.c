#include "harness/fake_collector.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} fixture;

typedef int (*maker)(int64_t top_n, int64_t emit_seconds, gale_bolt *ret_bolt, gale_error *error);

static void begin(fixture *f, maker make, int64_t top_n) {
    fake_init(&f->fake);
    fake_source(&f->fake, "counter", "obj, count, length");
    assert_int_equal(make(top_n, 2, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
}

static int execute(fixture *f, const gale_value *values, size_t count) {
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, values, count), &f->fake.collector);
}

static void count(fixture *f, const char *word, int64_t number) {
    const gale_value values[] = { gale_text(word), gale_i64(number), gale_i64(9) };
    assert_int_equal(execute(f, values, 3), 0);
}

static void expect_tick(fixture *f, const char *emitted) {
    fake_forget(&f->fake);
    assert_int_equal(f->bolt.ops->execute(f->self, fake_tick(&f->fake, 2), &f->fake.collector), 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

/* Rankings of entries (word, number), in the order given. */
static int merge(fixture *f, const char *const *words, const int64_t *numbers, size_t size) {
    gale_value fields[10][3], rows[10];
    for (size_t i = 0; i < size; i++) {
        fields[i][0] = gale_text(words[i]);
        fields[i][1] = gale_i64(numbers[i]);
        fields[i][2] = gale_i64(9);
        rows[i] = gale_list(fields[i], 3);
    }
    gale_value rankings = gale_list(rows, size);
    return execute(f, &rankings, 1);
}

static void empty_rankings_are_emitted_too(void **state) {
    (void)state;
    fixture f;
    begin(&f, gale_intermediate_rankings_bolt, 5);
    expect_tick(&f, "[[]]\n");
    end(&f);
    begin(&f, gale_total_rankings_bolt, 5);
    expect_tick(&f, "[[]]\n");
    assert_int_equal(merge(&f, NULL, NULL, 0), 0);
    expect_tick(&f, "[[]]\n");
    end(&f);
}

static void the_best_stay_and_equals_rank_by_object(void **state) {
    (void)state;
    fixture f;
    begin(&f, gale_intermediate_rankings_bolt, 3);
    count(&f, "d", 1);
    count(&f, "b", 1);
    expect_tick(&f, "[[[\"b\",1,9],[\"d\",1,9]]]\n");
    count(&f, "c", 5);
    count(&f, "a", 1);
    expect_tick(&f, "[[[\"c\",5,9],[\"a\",1,9],[\"b\",1,9]]]\n");
    expect_tick(&f, "[[[\"c\",5,9],[\"a\",1,9],[\"b\",1,9]]]\n"); /* kept, and not nested deeper */
    count(&f, "c", 0); /* a count may go down, and an evicted object comes only when it is told again */
    expect_tick(&f, "[[[\"a\",1,9],[\"b\",1,9],[\"c\",0,9]]]\n");
    end(&f);
}

static void storms_vectors_hold_but_for_ties(void **state) {
    (void)state;
    fixture f;
    begin(&f, gale_intermediate_rankings_bolt, 3);
    static const struct {
        const char *word;
        int64_t number;
    } inputs[] = { { "A", 5 }, { "B", 4 }, { "C", 3 }, { "D", 4 }, { "A", 1 } };
    for (int i = 0; i < 5; i++) count(&f, inputs[i].word, inputs[i].number);
    expect_tick(&f, "[[[\"B\",4,9],[\"D\",4,9],[\"A\",1,9]]]\n");
    end(&f);
}

static void the_intermediate_never_prunes_and_the_total_does(void **state) {
    (void)state;
    fixture f;
    begin(&f, gale_intermediate_rankings_bolt, 5);
    count(&f, "a", 0);
    expect_tick(&f, "[[[\"a\",0,9]]]\n");
    end(&f);
    begin(&f, gale_total_rankings_bolt, 5);
    fake_source(&f.fake, "intermediate", "rankings");
    static const char *const words[] = { "b", "a", "c" };
    static const int64_t first[] = { 3, 2, 0 }, second[] = { 0, 2, 1 };
    assert_int_equal(merge(&f, words, first, 3), 0);
    expect_tick(&f, "[[[\"b\",3,9],[\"a\",2,9]]]\n");
    assert_int_equal(merge(&f, words, second, 3), 0);
    expect_tick(&f, "[[[\"a\",2,9],[\"c\",1,9]]]\n");
    end(&f);
}

static void other_fields_go_along_none_or_many(void **state) {
    (void)state;
    fixture f;
    begin(&f, gale_intermediate_rankings_bolt, 5);
    gale_value list[] = { gale_i64(1) };
    const gale_value bare[] = { gale_i64(7), gale_i64(3) };
    const gale_value rich[] = { gale_bool(true), gale_i64(2), gale_f64(0.5), gale_list(list, 1), gale_text("x") };
    assert_int_equal(execute(&f, bare, 2), 0);
    assert_int_equal(execute(&f, rich, 5), 0);
    expect_tick(&f, "[[[7,3],[true,2,0.5,[1],\"x\"]]]\n");
    end(&f);
}

static void keep_tuple(void *user, const gale_value *values, size_t count) {
    (void)fake_tuple(user, values, count);
}

static void what_one_emits_the_other_takes(void **state) {
    (void)state;
    fixture f, g;
    begin(&f, gale_intermediate_rankings_bolt, 5);
    begin(&g, gale_total_rankings_bolt, 2);
    count(&f, "x", 1);
    count(&f, "y", 3);
    count(&f, "z", 2);
    f.fake.on_emit = keep_tuple;
    f.fake.on_emit_user = &g.fake;
    expect_tick(&f, "[[[\"y\",3,9],[\"z\",2,9],[\"x\",1,9]]]\n");
    assert_int_equal(g.bolt.ops->execute(g.self, &g.fake.tuple, &g.fake.collector), 0);
    expect_tick(&g, "[[[\"y\",3,9],[\"z\",2,9]]]\n");
    end(&f);
    end(&g);
}

static void expect_refused(fixture *f, const gale_value *values, size_t size, int code, const char *report) {
    fake_forget(&f->fake);
    assert_int_equal(execute(f, values, size), code);
    assert_string_equal(fake_text(&f->fake.reports), report);
}

static void what_cannot_be_ranked_fails_with_component_field_and_type(void **state) {
    (void)state;
    fixture f;
    begin(&f, gale_intermediate_rankings_bolt, 5);
    const gale_value text[] = { gale_text("a"), gale_text("1") }, negative[] = { gale_text("a"), gale_i64(-1) };
    const gale_value none[] = { gale_null(), gale_i64(1) }, other[] = { gale_text("a"), gale_i64(1), gale_null() };
    expect_refused(
        &f, text, 2, GALE_TYPE,
        "intermediate rankings: field 'count' (value 1) of component 'counter' must be i64, is string \"1\"\n");
    expect_refused(&f, text, 1, GALE_FIELDS,
                   "intermediate rankings: a tuple of component 'counter', stream 'default', has 1 value, at least 2 "
                   "needed\n");
    expect_refused(&f, negative, 2, GALE_TYPE,
                   "intermediate rankings: field 'count' (value 1) of component 'counter' must be at least 0, is -1\n");
    expect_refused(&f, none, 2, GALE_TYPE,
                   "intermediate rankings: field 'obj' (value 0) of component 'counter' must be a value, is null\n");
    expect_refused(&f, other, 3, GALE_TYPE,
                   "intermediate rankings: field 'length' (value 2) of component 'counter' must be a value, is null\n");
    expect_tick(&f, "[[]]\n");
    end(&f);
}

static void begin_named(fixture *f, const char *key, const char *value, const char *fields) {
    gale_rankings_options options = { .size = sizeof options, .key = key, .value = value, .fields = fields };
    fake_init(&f->fake);
    fake_source(&f->fake, "parse", "host, user, bytes, agent");
    assert_int_equal(gale_field_rankings_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static int request(fixture *f, const char *host, int64_t bytes, const char *agent) {
    const gale_value values[] = { gale_text(host), gale_null(), gale_i64(bytes), gale_text(agent) };
    return execute(f, values, 4);
}

static void fields_are_ranked_by_their_names(void **state) {
    (void)state;
    fixture f;
    begin_named(&f, "agent", "bytes", "host");
    assert_int_equal(request(&f, "h1", 5, "a1"), 0);
    assert_int_equal(request(&f, "h2", 7, "a2"), 0);
    expect_tick(&f, "[[[\"a2\",7,\"h2\"],[\"a1\",5,\"h1\"]]]\n");
    end(&f);
    begin_named(&f, NULL, "bytes", NULL); /* the first field; a user that is null is in nobody's way */
    assert_int_equal(request(&f, "h1", 5, "a1"), 0);
    expect_tick(&f, "[[[\"h1\",5]]]\n");
    end(&f);
}

static void named_fields_that_cannot_be_ranked_fail(void **state) {
    (void)state;
    fixture f;
    begin_named(&f, "host", "bites", NULL);
    const gale_value values[] = { gale_text("h"), gale_null(), gale_i64(-1), gale_text("a") };
    expect_refused(&f, values, 4, GALE_FIELDS,
                   "intermediate rankings: component 'parse', stream 'default', has no field 'bites'; did you mean "
                   "'bytes'?\n");
    end(&f);
    begin_named(&f, "host", "bytes", "user");
    expect_refused(&f, values, 4, GALE_TYPE,
                   "intermediate rankings: field 'bytes' (value 2) of component 'parse' must be at least 0, is -1\n");
    const gale_value none[] = { gale_text("h"), gale_null(), gale_i64(1), gale_text("a") };
    expect_refused(&f, none, 4, GALE_TYPE,
                   "intermediate rankings: field 'user' (value 1) of component 'parse' must be a value, is null\n");
    end(&f);
    begin_named(&f, "bytes", NULL, NULL);
    expect_refused(&f, none, 4, GALE_TYPE,
                   "intermediate rankings: field 'user' (value 1) of component 'parse' must be i64, is null\n");
    end(&f);
}

static void names_that_are_none_are_refused(void **state) {
    (void)state;
    gale_bolt bolt;
    gale_error error = GALE_ERROR_INIT;
    gale_rankings_options options = { .size = sizeof options, .key = "a, b" };
    assert_int_equal(gale_field_rankings_bolt(&options, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "field rankings bolt: key names 2 fields, must name one: 'a, b'");
    options.key = NULL;
    options.fields = "a,,b";
    assert_int_equal(gale_field_rankings_bolt(&options, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "field rankings bolt: fields has an empty name: 'a,,b'");
    options.fields = NULL;
    options.top_n = -1;
    assert_int_equal(gale_field_rankings_bolt(&options, &bolt, &error), GALE_INVALID);
    assert_int_equal(gale_field_rankings_bolt(NULL, NULL, &error), GALE_INVALID);
}

static void bad_rankings_are_refused_as_a_whole(void **state) {
    (void)state;
    fixture f;
    begin(&f, gale_total_rankings_bolt, 5);
    fake_source(&f.fake, "other", "rankings");
    const gale_value good[] = { gale_text("a"), gale_i64(1) };
    const struct {
        gale_value values[3];
        size_t size;
        const char *fault;
    } wrong[] = {
        { { gale_text("b") }, 1, "has fewer than two values" },
        { { gale_text("b"), gale_f64(1) }, 2, "has a count that is not i64" },
        { { gale_text("b"), gale_i64(-5) }, 2, "has a negative count" },
        { { gale_null(), gale_i64(1) }, 2, "holds a null" },
        { { gale_text("b"), gale_i64(1), gale_null() }, 3, "holds a null" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const gale_value rows[] = { gale_list(good, 2), gale_list(wrong[i].values, wrong[i].size) };
        gale_value rankings = gale_list(rows, 2);
        char report[200];
        snprintf(report, sizeof report, "total rankings: entry 1 of field 'rankings' of component 'other' %s\n",
                 wrong[i].fault);
        expect_refused(&f, &rankings, 1, GALE_TYPE, report);
    }
    gale_value rankings = gale_list(good, 2), number = gale_i64(4);
    expect_refused(&f, &rankings, 1, GALE_TYPE,
                   "total rankings: entry 0 of field 'rankings' of component 'other' is not a list\n");
    expect_refused(&f, &number, 1, GALE_TYPE,
                   "total rankings: field 'rankings' (value 0) of component 'other' must be list, is i64 4\n");
    expect_refused(&f, NULL, 0, GALE_FIELDS,
                   "total rankings: a tuple of component 'other', stream 'default', has 0 values, at least 1 needed\n");
    expect_tick(&f, "[[]]\n");
    end(&f);
}

static void an_object_too_deep_to_be_emitted_does_not_get_in(void **state) {
    (void)state;
    fixture f;
    begin(&f, gale_intermediate_rankings_bolt, 5);
    gale_value nested[GALE_VALUE_DEPTH];
    nested[0] = gale_list(NULL, 0);
    int refused = 0;
    for (int depth = 1; depth < GALE_VALUE_DEPTH; depth++) {
        nested[depth] = gale_list(&nested[depth - 1], 1);
        const gale_value values[] = { nested[depth], gale_i64(depth) };
        if (gx_body_measure(values, 2) < 0) break;
        refused += execute(&f, values, 2) < 0;
    }
    assert_int_equal(refused, 2);
    assert_non_null(strstr(fake_text(&f.fake.reports), "its lists and maps are too deep"));
    fake_forget(&f.fake);
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tick(&f.fake, 2), &f.fake.collector), 0);
    assert_int_equal(f.fake.emissions, 1);
    end(&f);
}

static void arguments_are_checked(void **state) {
    (void)state;
    gale_bolt bolt = { 0 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_intermediate_rankings_bolt(0, 2, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "intermediate rankings bolt: top_n is 0, must be 1 to 1000000");
    assert_int_equal(gale_total_rankings_bolt(5, 0, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "total rankings bolt: emit_seconds is 0, must be 1 to 2147483647");
    assert_int_equal(gale_total_rankings_bolt(-1, 2, &bolt, NULL), GALE_INVALID);
    assert_int_equal(gale_total_rankings_bolt(INT64_MAX, 2, &bolt, NULL), GALE_INVALID);
    assert_int_equal(gale_intermediate_rankings_bolt(5, INT64_MIN, &bolt, NULL), GALE_INVALID);
    assert_null(bolt.ops);
}

static void the_definition_asks_for_its_tick(void **state) {
    (void)state;
    gale_bolt bolt;
    assert_int_equal(gale_total_rankings_bolt(5, 7, &bolt, NULL), 0);
    assert_int_equal(bolt.ops->kind, GALE_BOLT_SIMPLE);
    assert_string_equal(bolt.settings[0].key, "topology.tick.tuple.freq.secs");
    assert_int_equal(bolt.settings[0].value.as.i64, 7);
    bolt.free_user(bolt.user);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    static const char *const words[] = { "a", "b", "c", "d" };
    static const int64_t numbers[] = { 4, 3, 2, 1 };
    for (uint64_t n = 1; n < 30; n++) {
        fixture f;
        fake_init(&f.fake);
        assert_int_equal(gale_total_rankings_bolt(3, 2, &f.bolt, NULL), 0);
        f.fake.fail_at = n;
        if (fake_prepare(&f.fake, &f.bolt, &f.self) < 0) assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
        if (merge(&f, words, numbers, 4) < 0) assert_int_equal(merge(&f, words, numbers, 4), 0);
        int rc = f.bolt.ops->execute(f.self, fake_tick(&f.fake, 2), &f.fake.collector);
        assert_true(rc == 0 || rc == GALE_NO_MEMORY);
        expect_tick(&f, "[[[\"a\",4,9],[\"b\",3,9],[\"c\",2,9]]]\n");
        end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_rankings_are_emitted_too),
        cmocka_unit_test(the_best_stay_and_equals_rank_by_object),
        cmocka_unit_test(storms_vectors_hold_but_for_ties),
        cmocka_unit_test(fields_are_ranked_by_their_names),
        cmocka_unit_test(named_fields_that_cannot_be_ranked_fail),
        cmocka_unit_test(names_that_are_none_are_refused),
        cmocka_unit_test(the_intermediate_never_prunes_and_the_total_does),
        cmocka_unit_test(other_fields_go_along_none_or_many),
        cmocka_unit_test(what_one_emits_the_other_takes),
        cmocka_unit_test(what_cannot_be_ranked_fails_with_component_field_and_type),
        cmocka_unit_test(bad_rankings_are_refused_as_a_whole),
        cmocka_unit_test(an_object_too_deep_to_be_emitted_does_not_get_in),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(the_definition_asks_for_its_tick),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
