/* Bolts made of expressions. */
#include "kit/streams.h"

#include <gale_script.h>

#include "harness/cm.h"

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
    gale_error error;
} fixture;

static void begin(fixture *f) {
    fake_init(&f->fake);
    streams_use(&f->fake);
    fake_source(&f->fake, "parse", "path, status, ms");
    f->error = (gale_error)GALE_ERROR_INIT;
}

static void prepare(fixture *f, int rc) {
    if (rc < 0) fail_msg("%s", f->error.text);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
}

static int take(fixture *f, const char *path, int64_t status, gale_value ms) {
    gale_value values[3] = { gale_text(path), gale_i64(status), ms };
    fake_forget(&f->fake);
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, values, 3), &f->fake.collector);
}

static void expect(fixture *f, const char *path, int64_t status, double ms, const char *emitted) {
    assert_int_equal(take(f, path, status, gale_f64(ms)), 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

static void expect_error(fixture *f, int rc, int wanted, const char *text) {
    assert_int_equal(rc, wanted);
    assert_string_equal(f->error.text, text);
    f->error = (gale_error)GALE_ERROR_INIT;
}

/* --- Filter --- */

static void make_filter(fixture *f, const char *fields, const char *where) {
    gale_filter_options options = { .size = sizeof options, .fields = fields, .where = where };
    prepare(f, gale_filter_bolt(&options, &f->bolt, &f->error));
}

static void a_filter_passes_what_is_so(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    make_filter(&f, "path, status, ms", "status >= 500 and ms > 1");
    assert_string_equal(f.bolt.outputs[0].fields, "path, status, ms");
    expect(&f, "/a", 500, 2, "[\"/a\",500,2.0]\n");
    expect(&f, "/a", 500, 1, "");
    expect(&f, "/a", 499, 2, "");
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tick(&f.fake, 1), &f.fake.collector), 0);
    end(&f);
}

static void fields_may_come_in_another_order(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    make_filter(&f, "status, path", "path:sub(1, 2) == '/a'");
    expect(&f, "/abc", 200, 0, "[200,\"/abc\"]\n");
    expect(&f, "/b", 200, 0, "");
    end(&f);
}

static void a_field_that_does_not_come_fails_the_tuple(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    make_filter(&f, "paths", "paths");
    assert_int_equal(take(&f, "/a", 1, gale_null()), GALE_FIELDS);
    assert_string_equal(fake_text(&f.fake.reports),
                        "filter: component 'parse', stream 'default', has no field 'paths'; did you mean 'path'?\n");
    end(&f);
}

/* Tuples with such data pass or do not, all of them: nothing fails, and nobody would see it. */
static void a_comparison_that_is_never_true_is_reported_once(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        { "status == '500'", "",
          "filter: where: 'status' is a number, which never equals '500', text; write it without "
          "quotes, or use tostring\n" },
        { "status ~= '500'", "[\"/a\",500,2.0]\n",
          "filter: where: 'status' is a number, which always differs from '500', text; write it without quotes, or use "
          "tostring\n" },
        { "path == 500", "",
          "filter: where: 'path' is text, which never equals 500, a number; write tonumber(path), "
          "or the number in quotes\n" },
        { "starts(path, '/') and status == '500'", "",
          "filter: where: 'status' is a number, which never equals '500', text; write it without quotes, or use "
          "tostring\n" },
        { "'500' == status", "",
          "filter: where: 'status' is a number, which never equals '500', text; write it without "
          "quotes, or use tostring\n" },
        { "path == true", "",
          "filter: where: 'path' is text, which never equals true, bool; write the text in "
          "quotes\n" },
        { "status == 500", "[\"/a\",500,2.0]\n", "" },
        { "status == 500.0", "[\"/a\",500,2.0]\n", "" },
        { "tostring(status) == '500'", "[\"/a\",500,2.0]\n", "" },
        { "path .. status == '/a500'", "[\"/a\",500,2.0]\n", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        begin(&f);
        make_filter(&f, "path, status, ms", cases[i][0]);
        expect(&f, "/a", 500, 2, cases[i][1]);
        assert_string_equal(fake_text(&f.fake.reports), cases[i][2]);
        expect(&f, "/a", 500, 2, cases[i][1]);
        assert_string_equal(fake_text(&f.fake.reports), "");
        end(&f);
    }
}

static void a_null_is_compared_with_anything(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    make_filter(&f, "path, status, ms", "ms == 'x' or ms == 5");
    assert_int_equal(take(&f, "/a", 1, gale_null()), 0);
    assert_string_equal(fake_text(&f.fake.reports), "");
    end(&f);
}

static void what_cannot_be_said_fails_the_tuple_and_no_other(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    make_filter(&f, "path, status, ms", "ms > 1");
    assert_int_equal(take(&f, "/a", 1, gale_null()), GALE_TYPE);
    assert_string_equal(fake_text(&f.fake.reports),
                        "filter: where:1: attempt to compare number with nil; with ms = null\n");
    expect(&f, "/a", 1, 2, "[\"/a\",1,2.0]\n");
    end(&f);
}

static void an_emit_that_fails_fails_the_tuple(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    make_filter(&f, "path", "true");
    f.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(take(&f, "/a", 1, gale_null()), GALE_NO_MEMORY);
    end(&f);
}

/* --- Route --- */

static void a_route_takes_the_first_stream_that_is_true(void **state) {
    (void)state;
    fixture f;
    gale_route routes[2] = { { "errors", "status >= 500" }, { "slow", "ms > 100" } };
    gale_route_options options = {
        .size = sizeof options, .fields = "path, status, ms", .routes = routes, .route_count = 2
    };
    begin(&f);
    prepare(&f, gale_route_bolt(&options, &f.bolt, &f.error));
    assert_int_equal(f.bolt.output_count, 3);
    assert_string_equal(f.bolt.outputs[2].stream, "slow");
    expect(&f, "/a", 500, 200, "1:[\"/a\",500,200.0]\n");
    expect(&f, "/a", 200, 200, "2:[\"/a\",200,200.0]\n");
    expect(&f, "/a", 200, 2, "[\"/a\",200,2.0]\n");
    end(&f);
    begin(&f);
    options.all = true;
    prepare(&f, gale_route_bolt(&options, &f.bolt, &f.error));
    expect(&f, "/a", 500, 200, "1:[\"/a\",500,200.0]\n2:[\"/a\",500,200.0]\n");
    expect(&f, "/a", 200, 2, "[\"/a\",200,2.0]\n");
    end(&f);
}

/* --- Map --- */

static void make_map(fixture *f, gale_map_options options) {
    options.size = sizeof options;
    options.fields = "path, status, ms";
    prepare(f, gale_map_bolt(&options, &f->bolt, &f->error));
}

static void a_map_sets_keeps_drops_and_renames(void **state) {
    (void)state;
    fixture f;
    gale_assignment set[3] = { { "class", "status // 100" }, { "ms", "ms / 1000" }, { "label", "class .. ':' .. ms" } };
    begin(&f);
    make_map(&f, (gale_map_options){ .set = set, .set_count = 3 });
    assert_string_equal(f.bolt.outputs[0].fields, "path, status, ms, class, label");
    expect(&f, "/a", 503, 500, "[\"/a\",503,0.5,5,\"5:0.5\"]\n");
    end(&f);
    begin(&f);
    make_map(&f, (gale_map_options){ .set = set, .set_count = 1, .keep = "ms, path", .rename = "path as page" });
    assert_string_equal(f.bolt.outputs[0].fields, "ms, page, class");
    expect(&f, "/a", 503, 500, "[500.0,\"/a\",5]\n");
    end(&f);
    begin(&f); /* `keep` may name what is set, which goes out anyway */
    make_map(&f, (gale_map_options){ .set = set, .set_count = 2, .keep = "class, ms, path" });
    assert_string_equal(f.bolt.outputs[0].fields, "ms, path, class");
    expect(&f, "/a", 503, 500, "[0.5,\"/a\",5]\n");
    end(&f);
    begin(&f);
    make_map(&f, (gale_map_options){ .drop = "status, path" });
    assert_string_equal(f.bolt.outputs[0].fields, "ms");
    expect(&f, "/a", 503, 500, "[500.0]\n");
    end(&f);
}

static void a_map_that_makes_no_sense_is_refused(void **state) {
    (void)state;
    fixture f;
    gale_assignment set[2] = { { "x", "statsu" }, { "y", "1" } };
    gale_map_options options = { .size = sizeof options, .fields = "path, status" };
    begin(&f);
    options.keep = "pth";
    expect_error(&f, gale_map_bolt(&options, &f.bolt, &f.error), GALE_INVALID,
                 "map: keep: there is no field 'pth'; did you mean 'path'?");
    options.keep = "path, clas";
    options.set = (gale_assignment[]){ { "class", "status // 100" }, { "gone", NULL } };
    options.set_count = 2;
    expect_error(&f, gale_map_bolt(&options, &f.bolt, &f.error), GALE_INVALID,
                 "map: keep: there is no field 'clas'; did you mean 'class'?");
    options.set_count = 0;
    options.drop = "path";
    expect_error(&f, gale_map_bolt(&options, &f.bolt, &f.error), GALE_INVALID, "map: keep and drop exclude each other");
    options.keep = NULL;
    options.rename = "path as page";
    expect_error(&f, gale_map_bolt(&options, &f.bolt, &f.error), GALE_INVALID, "map: rename: 'path' does not go out");
    options.rename = "status as";
    expect_error(&f, gale_map_bolt(&options, &f.bolt, &f.error), GALE_INVALID,
                 "map: rename: 'status as' is not 'old as new'");
    options.rename = NULL;
    options.drop = "path, status";
    expect_error(&f, gale_map_bolt(&options, &f.bolt, &f.error), GALE_INVALID,
                 "map: nothing goes out: all fields are dropped, and none is set");
    options.set = set;
    options.set_count = 1;
    expect_error(&f, gale_map_bolt(&options, &f.bolt, &f.error), GALE_SYNTAX,
                 "map: set x:1:1: there is no field 'statsu'; did you mean 'status'?");
    set[0].expression = NULL;
    expect_error(&f, gale_map_bolt(&options, &f.bolt, &f.error), GALE_INVALID, "map: set x is not given");
    set[0].field = "x, y";
    expect_error(&f, gale_map_bolt(&options, &f.bolt, &f.error), GALE_INVALID,
                 "map: set: 'x, y' is no name of a field");
    fake_fini(&f.fake);
}

/* --- Flat map --- */

static void make_flat_map(fixture *f, const char *each, const char *as, const char *keep) {
    gale_flat_map_options options = {
        .size = sizeof options, .fields = "path, status, ms", .each = each, .as = as, .keep = keep
    };
    prepare(f, gale_flat_map_bolt(&options, &f->bolt, &f->error));
}

static void a_flat_map_emits_each_item(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    make_flat_map(&f, "status > 0 and { path, status } or nil", "item", NULL);
    expect(&f, "/a", 7, 0, "[\"/a\"]\n[7]\n");
    expect(&f, "/a", 0, 0, "");
    end(&f);
    begin(&f);
    make_flat_map(&f, "{ { 1, path }, { name = path, n = 2 } }", "n, name", "status");
    assert_string_equal(f.bolt.outputs[0].fields, "status, n, name");
    expect(&f, "/a", 7, 0, "[7,1,\"/a\"]\n[7,2,\"/a\"]\n");
    end(&f);
}

/* One item a part. */
static int take_part(fixture *f, const char *path, const char *emitted) {
    f->fake.part_rows = 1;
    f->fake.part_asked = 0;
    int rc = take(f, path, 1, gale_null());
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
    return rc;
}

static int go_on_elsewhere(fixture *f, uint32_t parts) {
    assert_int_equal(fake_keep(&f->fake, f->bolt.ops->durable, f->self), 0);
    f->bolt.ops->cleanup(f->self);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
    return fake_give_back(&f->fake, f->bolt.ops->durable, f->self, 0, parts);
}

static void a_long_list_is_emitted_in_parts(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    make_flat_map(&f, "{ path, 2, 3 }", "item", NULL);
    assert_int_equal(take_part(&f, "/a", "[\"/a\"]\n"), GALE_MORE);
    assert_int_equal(take_part(&f, "/a", "[2]\n"), GALE_MORE);
    assert_int_equal(take_part(&f, "/a", "[3]\n"), 0);
    assert_int_equal(take_part(&f, "/b", "[\"/b\"]\n"), GALE_MORE);
    assert_int_equal(go_on_elsewhere(&f, 1), 0); /* a cut between two parts */
    assert_int_equal(take_part(&f, "/b", "[2]\n"), GALE_MORE);
    assert_int_equal(go_on_elsewhere(&f, 1), 0);
    assert_int_equal(take_part(&f, "/c", "[\"/c\"]\n"), GALE_MORE); /* "/b" did not come back */
    assert_int_equal(go_on_elsewhere(&f, 2), GALE_STATE);
    assert_string_equal(
        fake_text(&f.fake.reports),
        "flat map: 1 items of a tuple were emitted, and others were not; start it once with as many tasks as before\n");
    end(&f);
}

static void an_item_of_the_wrong_shape_fails_the_tuple(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    make_flat_map(&f, "{ { 1, 2, 3 } }", "a, b", NULL);
    assert_int_equal(take(&f, "/a", 1, gale_null()), GALE_TYPE);
    assert_string_equal(fake_text(&f.fake.reports),
                        "flat map: each: item 1 has another number of values than there are fields\n");
    end(&f);
    begin(&f);
    make_flat_map(&f, "status", "a", NULL);
    assert_int_equal(take(&f, "/a", 1, gale_null()), GALE_TYPE);
    assert_string_equal(fake_text(&f.fake.reports), "flat map: each: returned i64, must be a list\n");
    end(&f);
}

/* --- All --- */

static void what_is_not_given_is_refused(void **state) {
    (void)state;
    fixture f;
    gale_filter_options filter = { .size = sizeof filter, .fields = "a" };
    gale_route_options route = { .size = sizeof route, .fields = "a" };
    gale_flat_map_options flat = { .size = sizeof flat, .fields = "a", .as = "b" };
    begin(&f);
    expect_error(&f, gale_filter_bolt(&filter, &f.bolt, &f.error), GALE_INVALID, "filter: where is not given");
    filter.where = "a";
    filter.memory = (uint64_t)1 << 40;
    expect_error(&f, gale_filter_bolt(&filter, &f.bolt, &f.error), GALE_INVALID,
                 "memory is 1099511627776 bytes, at most 268435456\n  of the filter");
    filter.fields = NULL;
    expect_error(&f, gale_filter_bolt(&filter, &f.bolt, &f.error), GALE_INVALID, "filter: fields names no field");
    expect_error(&f, gale_filter_bolt(&filter, NULL, &f.error), GALE_INVALID,
                 "filter: there is no place for its definition");
    expect_error(&f, gale_route_bolt(&route, &f.bolt, &f.error), GALE_INVALID, "route: there are no routes");
    expect_error(&f, gale_flat_map_bolt(&flat, &f.bolt, &f.error), GALE_INVALID, "flat map: each is not given");
    fake_fini(&f.fake);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    fixture f;
    gale_assignment set[2] = { { "a", "path .. '!'" }, { "b", "{ path, { status } }" } };
    gale_map_options options = { .size = sizeof options, .fields = "path, status, ms", .set = set, .set_count = 2 };
    bool whole = false;
    for (uint64_t n = 1; !whole; n++) {
        begin(&f);
        assert_int_equal(gale_map_bolt(&options, &f.bolt, &f.error), 0);
        f.fake.fail_at = n;
        int rc = fake_prepare(&f.fake, &f.bolt, &f.self);
        if (rc == 0) rc = take(&f, "/a", 1, gale_null());
        whole = f.fake.allocations < n;
        f.fake.fail_at = 0;
        if (f.self) expect(&f, "/a", 1, 0, "[\"/a\",1,0.0,\"/a!\",[\"/a\",[1]]]\n");
        assert_true(rc == 0 || rc == GALE_NO_MEMORY || rc == GALE_TOO_LARGE);
        end(&f);
        assert_true(n < 5000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_passes_what_is_so),
        cmocka_unit_test(fields_may_come_in_another_order),
        cmocka_unit_test(a_field_that_does_not_come_fails_the_tuple),
        cmocka_unit_test(a_comparison_that_is_never_true_is_reported_once),
        cmocka_unit_test(a_null_is_compared_with_anything),
        cmocka_unit_test(what_cannot_be_said_fails_the_tuple_and_no_other),
        cmocka_unit_test(an_emit_that_fails_fails_the_tuple),
        cmocka_unit_test(a_route_takes_the_first_stream_that_is_true),
        cmocka_unit_test(a_map_sets_keeps_drops_and_renames),
        cmocka_unit_test(a_map_that_makes_no_sense_is_refused),
        cmocka_unit_test(a_flat_map_emits_each_item),
        cmocka_unit_test(a_long_list_is_emitted_in_parts),
        cmocka_unit_test(an_item_of_the_wrong_shape_fails_the_tuple),
        cmocka_unit_test(what_is_not_given_is_refused),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
