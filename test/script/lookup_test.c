/* Fields from a table in a file. */
#include "kit/rig.h"

#include <gale_script.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/gale-lookup-XXXXXX";
static char table[200];

/* A new file takes the place of the old one. */
static void put(const char *name, const char *text) {
    char made[250];
    snprintf(table, sizeof table, "%s/%s", folder, name);
    snprintf(made, sizeof made, "%s.new", table);
    FILE *file = fopen(made, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(made, table), 0);
}

static int make(gale_bolt *ret_bolt, gale_lookup_options options, gale_error *error) {
    options.size = sizeof options;
    options.table = options.table ? options.table : table;
    options.fields = options.fields ? options.fields : "ip";
    options.key = options.key ? options.key : "ip";
    options.add = options.add ? options.add : "city, asn int";
    return gale_lookup_bolt(&options, ret_bolt, error);
}

#define OPTIONS(...) ((gale_lookup_options){ __VA_ARGS__ })

static void begin(rig *r, gale_lookup_options options) {
    rig_begin(r, make(&r->bolt, options, NULL), "ip");
}

/* So much time goes by, and a tick comes. */
static void tick_after(rig *r, double seconds) {
    gale_manual_clock_advance(r->fake.clock, (int64_t)(seconds * 1e9));
    fake_forget(&r->fake);
    assert_int_equal(r->bolt.ops->execute(r->self, fake_tick(&r->fake, 1), &r->fake.collector), 0);
}

static const char simple[] = "asn,ip,city\n1,a,Rome\n2,b,\"Ber\nlin\"\n,c,\n";

static void columns_become_fields(void **state) {
    (void)state;
    rig r;
    put("t.csv", simple);
    begin(&r, OPTIONS(.missing = GALE_LOOKUP_NULL));
    assert_string_equal(r.bolt.outputs[0].fields, "ip, city, asn");
    rig_expect(&r, "a", "[\"a\",\"Rome\",1]\n");
    rig_expect(&r, "b", "[\"b\",\"Ber\\nlin\",2]\n");
    rig_expect(&r, "c", "[\"c\",\"\",null]\n");
    rig_expect(&r, "d", "[\"d\",null,null]\n");
    rig_expect(&r, "", "[\"\",null,null]\n");
    rig_end(&r);
}

static void what_is_missing_goes_where_it_is_told(void **state) {
    (void)state;
    rig r;
    put("t.csv", simple);
    begin(&r, OPTIONS(.missing = GALE_LOOKUP_DROP));
    assert_int_equal(r.bolt.output_count, 1);
    rig_expect(&r, "d", "");
    rig_end(&r);
    begin(&r, OPTIONS(.missing = GALE_LOOKUP_STREAM));
    assert_string_equal(r.bolt.outputs[1].stream, "missing");
    rig_expect(&r, "d", "1:[\"d\"]\n");
    rig_end(&r);
    begin(&r, OPTIONS(.missing = GALE_LOOKUP_FAIL));
    gale_value d = gale_text("d");
    assert_int_equal(rig_take(&r, &d, 1), GALE_NOT_FOUND);
    assert_non_null(strstr(fake_text(&r.fake.reports), "has no row for this tuple of component 'lines'"));
    rig_end(&r);
}

static void keys_are_compared_as_text(void **state) {
    (void)state;
    rig r;
    put("t.csv", "ip,city,asn\n404,x,1\ntrue,y,2\n");
    begin(&r, OPTIONS(.missing = GALE_LOOKUP_DROP));
    gale_value keys[] = { gale_i64(404), gale_bool(true), gale_bytes("404", 3), gale_null(), gale_f64(404) };
    rig_expect_of(&r, &keys[0], 1, "[404,\"x\",1]\n");
    rig_expect_of(&r, &keys[1], 1, "[true,\"y\",2]\n");
    rig_expect_of(&r, &keys[2], 1, "[{\"base64\":\"NDA0\"},\"x\",1]\n");
    rig_expect_of(&r, &keys[3], 1, "");
    rig_expect_of(&r, &keys[4], 1, "");
    rig_end(&r);
}

static void a_key_may_have_several_fields(void **state) {
    (void)state;
    rig r;
    put("t.tsv", "h\tp\tcity\nab\tc\t1\na\tbc\t2\n");
    gale_value values[2] = { gale_text("a"), gale_text("bc") };
    rig_begin(&r,
              make(&r.bolt, OPTIONS(.fields = "port, host", .key = "host, port", .by = "h, p", .add = "city as n auto"),
                   NULL),
              "host, port");
    rig_expect_of(&r, values, 2, "[\"bc\",\"a\",2]\n");
    rig_end(&r);
}

static void tables_may_be_json(void **state) {
    (void)state;
    rig r;
    put("t.json", "[{\"ip\": \"a\", \"geo\": {\"city\": \"Rome\"}, \"asn\": \"7\"}, {\"ip\": 5, \"geo\": null}]");
    begin(&r, OPTIONS(.add = "geo.city as city, asn int, geo"));
    rig_expect(&r, "a", "[\"a\",\"Rome\",7,{\"city\":\"Rome\"}]\n");
    rig_expect(&r, "5", "[\"5\",null,null,null]\n");
    rig_end(&r);
    put("t.json", "{\"a\": {\"city\": \"Rome\", \"asn\": 1}, \"b\": {}}");
    begin(&r, OPTIONS(.missing = GALE_LOOKUP_DROP));
    rig_expect(&r, "a", "[\"a\",\"Rome\",1]\n");
    rig_expect(&r, "b", "[\"b\",null,null]\n");
    rig_expect(&r, "c", "");
    rig_end(&r);
    put("t.jsonl", "\xef\xbb\xbf{\"ip\":\"a\",\"city\":\"x\"}\r\n\n{\"ip\":\"b\",\"asn\":2}");
    begin(&r, OPTIONS(.missing = GALE_LOOKUP_DROP));
    rig_expect(&r, "a", "[\"a\",\"x\",null]\n");
    rig_expect(&r, "b", "[\"b\",null,2]\n");
    rig_end(&r);
}

/* --- What is wrong with a table --- */

static void expect_wrong(const char *name, const char *text, int rc, const char *said) {
    rig r = { .self = NULL };
    gale_error error = GALE_ERROR_INIT;
    char wanted[600];
    if (text) put(name, text);
    if (!text) snprintf(table, sizeof table, "%s/%s", folder, name);
    snprintf(wanted, sizeof wanted, "lookup: %s%s%s\n", *said == ':' ? table : "", said, "");
    fake_init(&r.fake);
    assert_int_equal(make(&r.bolt, OPTIONS(.max_rows = 3, .max_bytes = 200), &error), 0);
    assert_int_equal(fake_prepare(&r.fake, &r.bolt, &r.self), rc);
    if (*said) assert_string_equal(fake_text(&r.fake.reports), wanted);
    rig_end(&r);
}

static void a_start_with_a_table_that_is_wrong_is_refused_with_its_place(void **state) {
    (void)state;
    expect_wrong("t.csv", "", GALE_SYNTAX, ":1:1: there is no line of names");
    expect_wrong("t.csv", "ip,city\n", GALE_SYNTAX, ":1:1: there is no column 'asn'");
    expect_wrong("t.csv", "ip,cty,asn\n", GALE_SYNTAX, ":1:1: there is no column 'city'; did you mean 'cty'?");
    expect_wrong("t.csv", "ip,city,asn\n\na,\"x\ny\",1\nb,c,d\n", GALE_SYNTAX, ":5:5: column 'asn': 'd' is no int");
    expect_wrong("t.csv", "ip,city,asn\na,b\n", GALE_SYNTAX, ":2:1: there are 2 columns, and 3 names");
    expect_wrong("t.csv", "ip,city,asn\na,b\"c,1\n", GALE_SYNTAX,
                 ":2:3: there is a quote in a column that does not begin with one");
    expect_wrong("t.csv", "ip,city,asn\na,b,1\nc,d,2\na,e,3\n", GALE_SYNTAX,
                 ":4:1: the key a has a row already, in line 2");
    expect_wrong("t.csv", "ip,city,asn\na,b,1\nc,d,2\nd,e,3\ne,f,4\n", GALE_TOO_LARGE, "");
    expect_wrong("t.json", "[{\"ip\": 1.5}]", GALE_SYNTAX,
                 ": member 1: a key must be text, a whole number or a truth value, and be there");
    expect_wrong("t.json", "{\"a\": {}, \"b\": 7}", GALE_SYNTAX, ": member 2: a row must be an object");
    expect_wrong("t.json", "[{\"ip\": 1, \"asn\": []}]", GALE_SYNTAX, ": member 1: 'asn': list is no int");
    expect_wrong("t.json", "[\n 7x]", GALE_SYNTAX, ":2:3: expected ',' or ']'");
    expect_wrong("t.jsonl", "{\"ip\": 1}\n\n{\"ip\" 2}\n", GALE_SYNTAX, ":3:7: expected ':'");
    expect_wrong("t.jsonl", "[1]\n", GALE_SYNTAX, ":1:1: a row must be an object");
    expect_wrong("none.csv", NULL, GALE_IO, "");
}

/* --- A table that changes --- */

static void a_table_that_changed_is_read_again(void **state) {
    (void)state;
    rig r;
    put("t.csv", simple);
    begin(&r, OPTIONS(.refresh = 2));
    assert_true(r.bolt.settings[0].value.as.f64 >= 1.99);
    put("t.csv", "ip,city,asn\na,Paris,9\n");
    rig_expect(&r, "a", "[\"a\",\"Rome\",1]\n"); /* it is not time */
    tick_after(&r, 2);
    assert_non_null(strstr(fake_text(&r.fake.logged), "has changed, and was read again: 1 rows"));
    rig_expect(&r, "a", "[\"a\",\"Paris\",9]\n");
    rig_expect(&r, "b", "[\"b\",null,null]\n");
    tick_after(&r, 2);
    assert_string_equal(fake_text(&r.fake.logged), "");
    rig_end(&r);
}

static void a_table_that_cannot_be_read_leaves_the_old_one_and_is_told_once(void **state) {
    (void)state;
    rig r;
    put("t.csv", simple);
    begin(&r, OPTIONS(.refresh = 1));
    put("t.csv", "ip,city,asn\na,Paris,x\n");
    tick_after(&r, 1);
    assert_non_null(
        strstr(fake_text(&r.fake.logged), "t.csv:2:9: column 'asn': 'x' is no int; the table of before stays: 3 rows"));
    tick_after(&r, 1);
    assert_string_equal(fake_text(&r.fake.logged), "");
    rig_expect(&r, "a", "[\"a\",\"Rome\",1]\n");
    assert_int_equal(unlink(table), 0);
    tick_after(&r, 1);
    assert_non_null(strstr(fake_text(&r.fake.logged), "is not there any more; the table of before stays"));
    tick_after(&r, 1);
    assert_string_equal(fake_text(&r.fake.logged), "");
    put("t.csv", "ip,city,asn\na,Paris,9\n");
    tick_after(&r, 1);
    rig_expect(&r, "a", "[\"a\",\"Paris\",9]\n");
    rig_end(&r);
}

/* While a large one is read, piece by piece, the old one serves. */
static void a_large_table_is_read_by_pieces(void **state) {
    (void)state;
    enum { ROWS = 30000 };
    rig r;
    put("t.csv", simple);
    begin(&r, OPTIONS(.refresh = 1));
    char *text = malloc(ROWS * 32), *at = text + sprintf(text, "ip,city,asn\n");
    assert_non_null(text);
    for (int i = 0; i < ROWS; i++) at += sprintf(at, "k%d,city %d,%d\n", i, i, i);
    put("t.csv", text);
    free(text);
    int steps = 0;
    gale_manual_clock_advance(r.fake.clock, 1000000000);
    for (rig_expect(&r, "a", "[\"a\",\"Rome\",1]\n"); steps < 1000; steps++) {
        gale_value a = gale_text("a");
        assert_int_equal(rig_take(&r, &a, 1), 0);
        if (strcmp(fake_text(&r.fake.emitted), "[\"a\",null,null]\n") == 0) break;
        assert_string_equal(fake_text(&r.fake.emitted), "[\"a\",\"Rome\",1]\n");
    }
    assert_in_range(steps, 10, 100);
    rig_expect(&r, "k29999", "[\"k29999\",\"city 29999\",29999]\n");
    rig_end(&r);
}

/* --- The definition --- */

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    RIG_REFUSES(make(&bolt, OPTIONS(.table = ""), &error), "lookup: table is not given");
    RIG_REFUSES(make(&bolt, OPTIONS(.table = "t.csv", .by = "a, b"), &error),
                "lookup: by names 2 columns, and key 1 fields");
    RIG_REFUSES(make(&bolt, OPTIONS(.table = "t.csv", .by = "a int"), &error),
                "lookup: by: 'a int': is no column's name");
    RIG_REFUSES(make(&bolt, OPTIONS(.table = "t.csv", .add = "ip"), &error),
                "lookup: add: 'ip' goes out already; give it another name with 'as'");
    RIG_REFUSES(make(&bolt, OPTIONS(.table = "t.csv", .add = "a whole"), &error),
                "lookup: add: 'whole' is no type (string, int, float, bool, auto)");
    RIG_REFUSES(make(&bolt, OPTIONS(.table = "t.csv", .add = "a as"), &error),
                "lookup: add: 'a as': there is no name behind 'as'");
    RIG_REFUSES(make(&bolt, OPTIONS(.table = "t.json", .add = "a..b"), &error), "lookup: add: 'a..b' is no path");
    RIG_REFUSES(make(&bolt, OPTIONS(.table = "t.csv", .format = "xml"), &error),
                "lookup: format 'xml' is none of csv, json and jsonl");
    RIG_REFUSES(make(&bolt, OPTIONS(.table = "t.csv", .missing = 7), &error),
                "lookup: missing is 7, which is no gale_lookup_missing");
    RIG_REFUSES(make(&bolt, OPTIONS(.table = "t.csv", .refresh = -1), &error),
                "lookup: refresh is -1 seconds, must be 0.01 to 1e+06");
    RIG_REFUSES(make(NULL, OPTIONS(.table = "t.csv"), &error), "lookup: there is no place for its definition");
}

/* Also while it is read again: the old table serves then, and the new one when there is memory. */
static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    bool whole = false;
    for (uint64_t n = 1; !whole; n++) {
        rig r = { .self = NULL };
        gale_value a = gale_text("a");
        put("t.csv", simple);
        fake_init(&r.fake);
        streams_use(&r.fake);
        fake_source(&r.fake, "lines", "ip");
        assert_int_equal(make(&r.bolt, OPTIONS(.refresh = 1), NULL), GALE_OK);
        r.fake.fail_at = n;
        int rc = fake_prepare(&r.fake, &r.bolt, &r.self);
        assert_true(rc == GALE_OK || rc == GALE_NO_MEMORY);
        if (rc == GALE_OK) {
            rc = rig_take(&r, &a, 1);
            put("t.csv", "ip,city,asn\na,Paris,9\n");
            tick_after(&r, 1);
            assert_true(rc == GALE_OK || rc == GALE_NO_MEMORY);
            whole = r.fake.allocations < n;
            r.fake.fail_at = 0;
            tick_after(&r, 1);
            rig_expect(&r, "a", "[\"a\",\"Paris\",9]\n");
        }
        rig_end(&r);
        assert_true(n < 200);
    }
}

static int set_up(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    static const char *const names[] = { "t.csv", "t.tsv", "t.json", "t.jsonl" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(table, sizeof table, "%s/%s", folder, names[i]);
        (void)unlink(table);
    }
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_become_fields),
        cmocka_unit_test(what_is_missing_goes_where_it_is_told),
        cmocka_unit_test(keys_are_compared_as_text),
        cmocka_unit_test(a_key_may_have_several_fields),
        cmocka_unit_test(tables_may_be_json),
        cmocka_unit_test(a_start_with_a_table_that_is_wrong_is_refused_with_its_place),
        cmocka_unit_test(a_table_that_changed_is_read_again),
        cmocka_unit_test(a_table_that_cannot_be_read_leaves_the_old_one_and_is_told_once),
        cmocka_unit_test(a_large_table_is_read_by_pieces),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
