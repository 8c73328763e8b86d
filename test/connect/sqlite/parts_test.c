/* Parts of the connector sqlite, without the program. */
#include "connect/sqlite/parameters.h"
#include "connect/sqlite/places.h"
#include "connect/sqlite/rows.h"
#include "connect/sqlite/write.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* --- Parameters --------------------------------------------------------------------------------------------------------- */

/* With blanks between them. */
static const char *parameters_of(const char *statement) {
    static char text[400];
    gale_str parameter;
    size_t size = 0;
    text[0] = '\0';
    while (lite_parameter_next(&statement, &parameter))
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%.*s", size ? " " : "", (int)parameter.size,
                                 parameter.data);
    return text;
}

static void parameters_are_found_by_their_signs(void **state) {
    (void)state;
    assert_string_equal(parameters_of("insert into t values (:id, @name, $total, ?, ?12)"), ":id @name $total ? ?12");
    assert_string_equal(parameters_of("x=:ünd_2+:a"), ":ünd_2 :a");
    assert_string_equal(parameters_of(""), "");
    assert_string_equal(parameters_of("select 1 : 2, a$b, 5$x"), "");
}

static void what_is_in_quotes_or_comments_is_none(void **state) {
    (void)state;
    assert_string_equal(parameters_of("':a' \":b\" `:c` [:d] -- :e\n /* :f */ :g"), ":g");
    assert_string_equal(parameters_of("'it''s :a' :b"), ":b");
    assert_string_equal(parameters_of("':a"), "");
    assert_string_equal(parameters_of("-- :a"), "");
    assert_string_equal(parameters_of("/* :a * /"), "");
    assert_string_equal(parameters_of("1 - - :a / * :b"), ":a :b");
}

/* What SQLite itself finds in a statement is found, name by name and in its order. */
static void they_are_those_that_sqlite_finds(void **state) {
    static const char *const statements[] = {
        "select :a, ':b', @c, $d, 1 as \":e\" /* :f */, 2 as [:g], 3 as `:h`, :a2 -- :i",
        "select :a::b + $c(d) *#e, ?",
        "select 'a''' || :x || '--' || :y, /**/ :z",
        "select 1-:a, 2--:b\n, :c, x'00', :d",
        "select case when :a then :b else $c end as \"it\"\"s :d\"",
    };
    sqlite3 *db;
    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        const char *at = statements[i];
        sqlite3_stmt *statement;
        gale_str parameter;
        assert_int_equal(sqlite3_prepare_v2(db, at, -1, &statement, NULL), SQLITE_OK);
        for (int n = 1; n <= sqlite3_bind_parameter_count(statement); n++) {
            const char *name = sqlite3_bind_parameter_name(statement, n);
            assert_true(lite_parameter_next(&at, &parameter));
            assert_int_equal(parameter.size, name ? strlen(name) : 1);
            assert_memory_equal(parameter.data, name ? name : "?", parameter.size);
        }
        assert_false(lite_parameter_next(&at, &parameter));
        assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void a_name_is_without_its_sign_and_a_number_has_none(void **state) {
    (void)state;
    gale_str name = lite_parameter_name((gale_str){ ":id", 3 });
    assert_int_equal(name.size, 2);
    assert_memory_equal(name.data, "id", 2);
    assert_int_equal(lite_parameter_name((gale_str){ "?7", 2 }).size, 0);
}

/* --- Texts -------------------------------------------------------------------------------------------------------------- */

static void names_are_quoted_so_that_they_stay_names(void **state) {
    sql_text text = { .data = NULL };
    (void)state;
    lite_text_name(&text, (gale_str){ "a`b\"", 4 });
    lite_text_defined(&text, (gale_str){ "a`b\"", 4 });
    assert_string_equal(sql_text_string(&text), "`a``b\"`\"a`b\"\"\"");
    sql_text_free(&text);
}

static void values_are_json_as_in_dead_letters(void **state) {
    const gale_value items[] = { gale_null(),
                                 gale_bool(true),
                                 gale_i64(INT64_MIN),
                                 gale_f64(0.1),
                                 gale_f64(3),
                                 gale_f64(NAN),
                                 gale_f64(-INFINITY),
                                 gale_text("a\"\\\n\x01ü"),
                                 gale_bytes("\x00\xff", 2),
                                 gale_bytes("abc", 3),
                                 gale_bytes("", 0),
                                 gale_list(NULL, 0) };
    const gale_value pairs[] = { gale_text("k\""), gale_list(items, sizeof items / sizeof *items) };
    gale_value map = gale_map(pairs, 1);
    sql_text text = { .data = NULL };
    (void)state;
    lite_text_json(&text, &map);
    assert_string_equal(sql_text_string(&text),
                        "{\"k\\\"\":[null,true,-9223372036854775808,0.1,3.0,null,null,\"a\\\"\\\\\\n\\u0001ü\","
                        "{\"base64\":\"AP8=\"},{\"base64\":\"YWJj\"},{\"base64\":\"\"},[]]}");
    sql_text_free(&text);
}

/* --- Rows --------------------------------------------------------------------------------------------------------------- */

static void rows_keep_what_they_were_given(void **state) {
    lite_rows rows = { .width = 3 };
    char name[40];
    size_t size;
    (void)state;
    for (int64_t i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "name %d", (int)i);
        const gale_value values[] = { gale_i64(i), i % 3 ? gale_text(name) : gale_null(),
                                      gale_bytes(name, (size_t)(i % 6)) };
        assert_int_equal(lite_rows_add(&rows, values, &size), 0);
        if (i % 10 == 9) lite_rows_drop(&rows);
    }
    assert_int_equal(rows.count, 900);
    for (size_t i = 0; i < rows.count; i++) {
        size_t number = i / 9 * 10 + i % 9;
        snprintf(name, sizeof name, "name %zu", number);
        gale_value id = lite_rows_value(&rows, i, 0), text = lite_rows_value(&rows, i, 1),
                   bytes = lite_rows_value(&rows, i, 2);
        gale_value expected = number % 3 ? gale_text(name) : gale_null(), some = gale_bytes(name, number % 6);
        assert_int_equal(id.as.i64, number);
        assert_true(gale_value_equal(&text, &expected));
        assert_true(gale_value_equal(&bytes, &some));
    }
    lite_rows_refuse(&rows, 5, "no");
    assert_string_equal(rows.rows[5].why, "no");
    lite_rows_clear(&rows);
    assert_int_equal(rows.count, 0);
    lite_rows_free(&rows);
}

static void values_go_to_sqlite_and_back(void **state) {
    const gale_value given[] = { gale_null(),   gale_i64(INT64_MIN),       gale_f64(0.25),   gale_text("ü"),
                                 gale_text(""), gale_bytes("\x00\xff", 2), gale_bytes("", 0) };
    sqlite3 *db;
    sqlite3_stmt *statement;
    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT ?", -1, &statement, NULL), SQLITE_OK);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        assert_int_equal(lite_bind(statement, 1, &given[i]), SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        gale_value there = lite_column_value(statement, 0);
        assert_int_equal(there.type, given[i].type);
        assert_true(gale_value_equal(&there, &given[i]));
        assert_int_equal(sqlite3_reset(statement), SQLITE_OK);
    }
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* --- Writing ------------------------------------------------------------------------------------------------------------ */

typedef struct written {
    char path[40];
    lite_settings settings;
    lite_table table;
    lite_column column;
    lite_write write;
    lite_rows rows;
    int commits;
} written;

static int count_commit(void *user) {
    ((written *)user)->commits++;
    return 0;
}

/* A file with a table of numbers that are below 1000, and rows 0, 1, 2 ... for it. */
static void begin(written *w, size_t count) {
    size_t size;
    *w = (written){ .path = "/tmp/gale-sqlite-XXXXXX" };
    int fd = mkstemp(w->path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    w->settings = (lite_settings){ .path = w->path, .sync = "PRAGMA synchronous = off", .timeout = 1 };
    w->column = (lite_column){ .field = (char[]){ "n" }, .name = (char[]){ "n" } };
    static char insert[] = "INSERT INTO t VALUES (?1)";
    w->table = (lite_table){ .columns = &w->column, .count = 1, .insert = insert };
    w->write = (lite_write){ .table = &w->table, .base = { .given = &w->settings } };
    assert_true(lite_base_open(&w->write.base));
    assert_true(lite_base_run(&w->write.base, "CREATE TABLE t (n CHECK (n % 100 <> 7))"));
    (void)sqlite3_commit_hook(w->write.base.db, count_commit, w);
    w->rows.width = 1;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(lite_rows_add(&w->rows, (const gale_value[]){ gale_i64((int64_t)i) }, &size), 0);
}

static void end(written *w) {
    lite_write_end(&w->write);
    lite_rows_free(&w->rows);
    assert_int_equal(unlink(w->path), 0);
}

static int64_t count_rows(written *w) {
    sqlite3_stmt *statement = lite_base_prepare(&w->write.base, "SELECT count(*) FROM t");
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(statement, 0);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    return count;
}

static void a_transaction_has_no_more_rows_than_it_is_told(void **state) {
    written w;
    (void)state;
    begin(&w, 1000);
    assert_true(lite_write_rows(&w.write, &w.rows, 300));
    assert_int_equal(w.commits, 4);
    assert_int_equal(count_rows(&w), 990);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(w.rows.rows[i].state, i % 100 == 7 ? LITE_ROW_REFUSED : LITE_ROW_TAKEN);
    end(&w);
}

/* The file may have so many pages, until it is opened anew. */
static void what_is_in_is_not_written_again_when_the_rest_is(void **state) {
    written w;
    (void)state;
    begin(&w, 20000);
    assert_true(lite_base_run(&w.write.base, "PRAGMA max_page_count = 40"));
    assert_false(lite_write_rows(&w.write, &w.rows, 1000));
    size_t done = w.rows.done;
    assert_true(done > 0 && done < 20000 && done % 1000 == 0);
    assert_true(strstr(w.write.base.why, "there is no room for it"));
    assert_true(lite_base_open(&w.write.base));
    assert_int_equal(count_rows(&w), done / 100 * 99);
    assert_true(lite_write_rows(&w.write, &w.rows, 1000));
    assert_int_equal(count_rows(&w), 19800);
    end(&w);
}

/* --- Places ------------------------------------------------------------------------------------------------------------- */

static void places_are_done_once_in_any_order(void **state) {
    lite_places places = { .list = NULL };
    uint64_t seed = 1;
    size_t left = 3000;
    (void)state;
    for (int64_t i = 0; i < 3000; i++) assert_int_equal(lite_places_add(&places, i * 3 - 4000), 0);
    while (left) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int64_t place = (int64_t)((seed >> 33) % 9000) - 4000;
        bool was = lite_places_done(&places, place);
        if (was) left--;
        assert_false(was && (place + 4000) % 3);
        assert_false(lite_places_done(&places, place));
        assert_int_equal(places.count, left);
    }
    assert_int_equal(lite_places_add(&places, INT64_MIN), 0);
    assert_true(lite_places_done(&places, INT64_MIN));
    lite_places_free(&places);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_found_by_their_signs),
        cmocka_unit_test(what_is_in_quotes_or_comments_is_none),
        cmocka_unit_test(they_are_those_that_sqlite_finds),
        cmocka_unit_test(a_name_is_without_its_sign_and_a_number_has_none),
        cmocka_unit_test(names_are_quoted_so_that_they_stay_names),
        cmocka_unit_test(values_are_json_as_in_dead_letters),
        cmocka_unit_test(rows_keep_what_they_were_given),
        cmocka_unit_test(values_go_to_sqlite_and_back),
        cmocka_unit_test(a_transaction_has_no_more_rows_than_it_is_told),
        cmocka_unit_test(what_is_in_is_not_written_again_when_the_rest_is),
        cmocka_unit_test(places_are_done_once_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
