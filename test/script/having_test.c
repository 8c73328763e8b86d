/* Expressions over a window's rows. */
#include "harness/fake_collector.h"

#include <gale_script.h>

#include "harness/cm.h"

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
    gale_window_options window;
    gale_error error;
} fixture;

static void begin(fixture *f, const char *aggregates) {
    fake_init(&f->fake);
    fake_source(&f->fake, "parse", "path, bad");
    f->error = (gale_error)GALE_ERROR_INIT;
    f->window = (gale_window_options){
        .size = sizeof f->window, .key = "path", .aggregates = aggregates, .length = 10, .slide = 0
    };
}

static int set(fixture *f, const char *expression) {
    gale_having_options options = { .size = sizeof options, .expression = expression };
    f->error = (gale_error)GALE_ERROR_INIT;
    return gale_window_having(&options, &f->window, &f->error);
}

static void make(fixture *f, const char *aggregates, const char *expression) {
    begin(f, aggregates);
    if (set(f, expression) < 0) fail_msg("%s", f->error.text);
    if (gale_window_bolt(&f->window, &f->bolt, &f->error) < 0) fail_msg("%s", f->error.text);
}

static void prepare(fixture *f, const char *aggregates, const char *expression) {
    make(f, aggregates, expression);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void take(fixture *f, void *self, const char *path, gale_value bad) {
    gale_value values[2] = { gale_text(path), bad };
    assert_int_equal(f->bolt.ops->execute(self, fake_tuple(&f->fake, values, 2), &f->fake.collector), 0);
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
}

/* How many rows the end tells. */
static uint64_t rows(fixture *f, void *self) {
    fake_forget(&f->fake);
    f->fake.emissions = 0;
    assert_int_equal(f->bolt.ops->finish(self, &f->fake.collector), 0);
    return f->fake.emissions;
}

static void a_row_is_told_when_the_expression_is_true_of_it(void **state) {
    (void)state;
    fixture f;
    prepare(&f, "count, sum(bad) as errors", "errors / count > 0.3 and row['end'] - start == 10");
    take(&f, f.self, "/a", gale_i64(1));
    take(&f, f.self, "/a", gale_i64(0));
    take(&f, f.self, "/b", gale_i64(0));
    assert_int_equal(rows(&f, f.self), 1);
    assert_memory_equal(fake_text(&f.fake.emitted), "~[\"/a\",", 7);
    end(&f);
}

static void lists_and_the_library_can_be_used(void **state) {
    (void)state;
    fixture f;
    prepare(&f, "top(bad, 2) as most", "starts(path, '/a') and most[1][1] == 'x' and #most == 2");
    take(&f, f.self, "/a", gale_text("x"));
    take(&f, f.self, "/a", gale_text("y"));
    take(&f, f.self, "/b", gale_text("x"));
    take(&f, f.self, "/b", gale_text("y"));
    take(&f, f.self, "/aa", gale_text("x"));
    assert_int_equal(rows(&f, f.self), 1);
    end(&f);
}

static void a_row_of_which_nothing_can_be_said_is_left_out_with_a_report(void **state) {
    (void)state;
    fixture f;
    prepare(&f, "max(bad) as worst", "worst > 5");
    take(&f, f.self, "/a", gale_null());
    take(&f, f.self, "/b", gale_i64(6));
    assert_int_equal(rows(&f, f.self), 1);
    assert_memory_equal(fake_text(&f.fake.emitted), "~[\"/b\",", 7);
    assert_string_equal(fake_text(&f.fake.reports),
                        "window: 'having' could not be said of a row, which is left out: window: having:1: attempt to "
                        "compare number with nil; with worst = null\n");
    end(&f);
}

static void an_expression_that_takes_too_much_leaves_out_its_row_alone(void **state) {
    (void)state;
    fixture f;
    prepare(&f, "count", "if path == '/a' then while true do end end return true");
    take(&f, f.self, "/a", gale_null());
    take(&f, f.self, "/b", gale_null());
    assert_int_equal(rows(&f, f.self), 1);
    assert_non_null(strstr(fake_text(&f.fake.reports), "it took more than 3000000 units of work"));
    end(&f);
}

static void each_task_computes_by_itself(void **state) {
    (void)state;
    fixture f;
    void *other;
    prepare(&f, "count", "tostring(count) == '1'");
    assert_int_equal(fake_prepare(&f.fake, &f.bolt, &other), 0);
    take(&f, f.self, "/a", gale_null());
    take(&f, other, "/a", gale_null());
    assert_int_equal(rows(&f, f.self), 1);
    f.bolt.ops->cleanup(f.self);
    f.self = other;
    assert_int_equal(rows(&f, other), 1);
    end(&f);
}

static void expect_error(fixture *f, const char *expression, int rc, const char *text) {
    assert_int_equal(set(f, expression), rc);
    assert_string_equal(f->error.text, text);
    assert_null(f->window.having);
    assert_null(f->window.having_user);
}

static void what_is_wrong_is_said_where_it_is_defined(void **state) {
    (void)state;
    fixture f;
    gale_having_options options = { .size = sizeof options, .expression = "count > 1", .memory = UINT64_C(1) << 40 };
    begin(&f, "count, sum(bad) as errors");
    expect_error(&f, "count > 5 and erors", GALE_SYNTAX,
                 "window: having:1:15: there is no field 'erors'; did you mean 'errors'?");
    expect_error(&f, "bad > 5", GALE_SYNTAX, "window: having:1:1: there is no field 'bad'");
    expect_error(&f, "count >", GALE_SYNTAX, "window: having:1: unexpected symbol near <eof>");
    expect_error(&f, "", GALE_SYNTAX, "window: having: is empty");
    expect_error(&f, NULL, GALE_INVALID, "window: having is not given");
    assert_int_equal(gale_window_having(&options, &f.window, &f.error), GALE_INVALID);
    assert_string_equal(f.error.text, "memory is 1099511627776 bytes, at most 268435456\n  of the window's having");
    assert_int_equal(gale_window_having(&options, NULL, &f.error), GALE_INVALID);
    f.window.aggregates = "cuont";
    expect_error(&f, "count > 5", GALE_INVALID,
                 "window bolt: aggregates, column 1: there is no function 'cuont'; did you mean 'count'?");
    f.window.size = 8;
    expect_error(&f, "count > 5", GALE_INVALID, "window: having: there is no window");
    fake_fini(&f.fake);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    bool whole = false;
    for (uint64_t n = 1; !whole; n++) {
        fixture f;
        make(&f, "count", "#(path .. '!') > count");
        f.fake.fail_at = n;
        int rc = fake_prepare(&f.fake, &f.bolt, &f.self);
        whole = f.fake.allocations < n;
        f.fake.fail_at = 0;
        assert_true(rc == 0 || rc == GALE_NO_MEMORY);
        if (rc == 0) {
            take(&f, f.self, "/a", gale_null());
            assert_int_equal(rows(&f, f.self), 1);
        }
        end(&f);
        assert_true(n < 5000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_told_when_the_expression_is_true_of_it),
        cmocka_unit_test(lists_and_the_library_can_be_used),
        cmocka_unit_test(a_row_of_which_nothing_can_be_said_is_left_out_with_a_report),
        cmocka_unit_test(an_expression_that_takes_too_much_leaves_out_its_row_alone),
        cmocka_unit_test(each_task_computes_by_itself),
        cmocka_unit_test(what_is_wrong_is_said_where_it_is_defined),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
