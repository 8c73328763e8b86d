#include "sim/difference.h"

#include "base/random.h"
#include "harness/cm.h"

#include <gale_test.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 6, WIDTH = 2 };

/* Rows of two small numbers, or of anything. */
typedef struct rows {
    gx_wanted fields[ROWS * WIDTH];
    gx_wanted_row wanted[ROWS];
    gale_value values[ROWS * WIDTH];
    gx_found_row found[ROWS];
    gx_comparison c;
} rows;

static const char *const names[] = { "a", "b" };

static void draw(gx_random *random, rows *r, int32_t order) {
    r->c = (gx_comparison){
        r->wanted, gx_random_below(random, ROWS), r->found, gx_random_below(random, ROWS), names, WIDTH, order
    };
    for (size_t i = 0; i < ROWS * WIDTH; i++) {
        int32_t kind = gx_random_below(random, 3) ? GX_WANTED_VALUE : GX_WANTED_ANY;
        r->fields[i] = (gx_wanted){ .kind = kind, .value = gale_i64(gx_random_below(random, 2)) };
        r->values[i] = gale_i64(gx_random_below(random, 2));
    }
    for (size_t i = 0; i < ROWS; i++) {
        r->wanted[i] = (gx_wanted_row){ r->fields + WIDTH * i, WIDTH };
        r->found[i] = (gx_found_row){ r->values + WIDTH * i, WIDTH };
    }
}

static bool fits(const rows *r, size_t wanted, size_t found) {
    bool whole;
    gx_wanted_row_fits(&r->wanted[wanted], &r->found[found], &whole);
    return whole;
}

/* Can the wanted rows from `at` on each have one of their own of those that are not taken? Tried in every way. */
static bool can_pair(const rows *r, size_t at, unsigned taken) {
    if (at == r->c.wanted_count) return true;
    for (size_t k = 0; k < r->c.found_count; k++)
        if (!(taken >> k & 1) && fits(r, at, k) && can_pair(r, at + 1, taken | 1u << k)) return true;
    return false;
}

static bool same(const rows *r) {
    if (r->c.order == GALE_TEST_CONTAINS) return can_pair(r, 0, 0);
    if (r->c.wanted_count != r->c.found_count) return false;
    if (r->c.order == GALE_TEST_ANY_ORDER) return can_pair(r, 0, 0);
    for (size_t i = 0; i < r->c.wanted_count; i++)
        if (!fits(r, i, i)) return false;
    return true;
}

static void it_differs_when_no_way_of_pairing_is_right(void **state) {
    (void)state;
    gx_random random = gx_random_new(7, 1);
    rows r;
    for (int round = 0; round < 20000; round++) {
        size_t pairs[ROWS];
        gx_buf out = GX_BUF_INIT(NULL);
        draw(&random, &r, (int32_t)gx_random_below(&random, GALE_TEST_ORDER_COUNT));
        bool other = gx_difference(&r.c, pairs, &out);
        assert_int_equal(other, !same(&r));
        assert_int_equal(out.size > 0, other);
        for (size_t i = 0; i < r.c.wanted_count; i++) {
            if (pairs[i] != SIZE_MAX) assert_true(fits(&r, i, pairs[i]));
            for (size_t k = 0; k < i; k++) assert_true(pairs[i] == SIZE_MAX || pairs[i] != pairs[k]);
        }
        gx_buf_fini(&out);
    }
}

/* Every found row that nobody wanted, and every wanted one, has its line. */
static void each_row_has_a_line(void **state) {
    (void)state;
    gx_random random = gx_random_new(8, 1);
    rows r;
    for (int round = 0; round < 5000; round++) {
        gx_buf out = GX_BUF_INIT(NULL);
        draw(&random, &r, (int32_t)gx_random_below(&random, 2));
        if (gx_difference(&r.c, NULL, &out)) {
            size_t lines = 0, beside = 0, none = 0;
            char *rest = (char *)gx_buf_text(&out);
            for (char *line = strtok(rest, "\n"); line; line = strtok(NULL, "\n")) {
                lines++;
                none += line[6] == '+' || line[6] == '-';
                beside += line[6] == '~' || line[6] == ' ';
            }
            assert_int_equal(2 * (beside - 1) + none, r.c.wanted_count + r.c.found_count);
            assert_int_equal(lines, beside + none);
        }
        gx_buf_fini(&out);
    }
}

static void numbers_are_the_same_by_value_and_texts_as_bytes(void **state) {
    (void)state;
    const struct {
        gale_value wanted, found;
        double within;
        bool fits;
    } pairs[] = {
        { gale_i64(2), gale_f64(2.0), 0, true },
        { gale_f64(2.5), gale_i64(2), 0, false },
        { gale_f64(2.5), gale_i64(2), 0.5, true },
        { gale_i64(INT64_MAX), gale_i64(INT64_MAX - 1), 0, false },
        { gale_f64(0.0 / 0.0), gale_f64(0.0 / 0.0), 0, true },
        { gale_text("ab"), gale_bytes("ab", 2), 0, true },
        { gale_text("2"), gale_i64(2), 0, false },
        { gale_null(), gale_null(), 0, true },
        { gale_null(), gale_bool(false), 0, false },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const gx_wanted wanted = { .kind = GX_WANTED_VALUE, .value = pairs[i].wanted, .within = pairs[i].within };
        if (gx_wanted_fits(&wanted, &pairs[i].found) != pairs[i].fits) fail_msg("pair %zu", i);
    }
}

static void what_is_too_wide_stands_below(void **state) {
    (void)state;
    char text[101] = { 0 };
    memset(text, 'x', 100);
    gale_value value = gale_text(text);
    const gx_wanted field = { .kind = GX_WANTED_VALUE, .value = gale_text("y") };
    const gx_wanted_row wanted = { &field, 1 };
    const gx_found_row found = { &value, 1 };
    const gx_comparison c = { &wanted, 1, &found, 1, names, 1, GALE_TEST_IN_ORDER };
    gx_buf out = GX_BUF_INIT(NULL);
    assert_true(gx_difference(&c, NULL, &out));
    assert_int_equal(strncmp(gx_buf_text(&out), "      ~ expected [\"y\"]\n           found [\"xxx", 41), 0);
    gx_buf_fini(&out);
}

/* So many that not all can be compared with all, and most of them right. */
static void many_rows_are_compared_where_they_stand(void **state) {
    (void)state;
    enum { MANY = 5000 };
    gx_wanted *fields = calloc(MANY, sizeof *fields);
    gale_value *values = calloc(MANY, sizeof *values);
    gx_wanted_row *wanted = calloc(MANY, sizeof *wanted);
    gx_found_row *found = calloc(MANY, sizeof *found);
    for (int i = 0; i < MANY; i++) {
        fields[i] = (gx_wanted){ .kind = GX_WANTED_VALUE, .value = gale_i64(i) };
        values[i] = gale_i64(i == 2500 ? -1 : i);
        wanted[i] = (gx_wanted_row){ &fields[i], 1 };
        found[i] = (gx_found_row){ &values[i], 1 };
    }
    const gx_comparison c = { wanted, MANY, found, MANY, names, 1, GALE_TEST_IN_ORDER };
    gx_buf out = GX_BUF_INIT(NULL);
    assert_true(gx_difference(&c, NULL, &out));
    const char *text = gx_buf_text(&out);
    if (!strstr(text, "... 2497 as expected ...") || !strstr(text, "[2500]") || !strstr(text, "[-1]") ||
        out.size > 2000)
        fail_msg("%s", text);
    gx_buf_fini(&out);
    free(fields);
    free(values);
    free(wanted);
    free(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_differs_when_no_way_of_pairing_is_right),
        cmocka_unit_test(each_row_has_a_line),
        cmocka_unit_test(numbers_are_the_same_by_value_and_texts_as_bytes),
        cmocka_unit_test(what_is_too_wide_stands_below),
        cmocka_unit_test(many_rows_are_compared_where_they_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
