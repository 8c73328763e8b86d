#include "kit/rig.h"

#include "base/random.h"
#include "kit/csv.h"
#include "kit/parsed.h"

#include <gale/kit.h>
#include <stdio.h>
#include <stdlib.h>

static int make(gale_csv_options options, gale_bolt *ret_bolt, gale_error *error) {
    options.size = sizeof options;
    return gale_csv_bolt(&options, ret_bolt, error);
}

static void begin(rig *r, gale_csv_options options) {
    rig_begin(r, make(options, &r->bolt, NULL), "line, offset");
}

/* --- The splitter --- */

static const gx_csv_format usual = { ',', '"' };

/* The columns in brackets, and what is wrong. */
static const char *columns(gx_csv_format format, const char *record, size_t size) {
    static gx_buf out;
    gx_buf scratch = GX_BUF_INIT(NULL);
    gx_csv csv = gx_csv_begin(format, (gale_str){ record, size }, &scratch);
    gale_str column, kept[20];
    size_t count = 0;
    out = (gx_buf)GX_BUF_INIT(NULL);
    while (count < 20 && gx_csv_next(&csv, &column)) kept[count++] = column;
    /* All of them stay until the end. */
    for (size_t i = 0; i < count; i++) gx_buf_format(&out, "[%.*s]", GX_STR(kept[i]));
    if (csv.problem) gx_buf_add_text(&out, csv.problem);
    gx_buf_fini(&scratch);
    return gx_buf_text(&out);
}

static void expect_columns(gx_csv_format format, const char *record, const char *wanted) {
    char *told = (char *)(uintptr_t)columns(format, record, strlen(record));
    assert_string_equal(told, wanted);
    free(told);
}

static void a_record_is_cut_as_rfc_4180_says(void **state) {
    (void)state;
    expect_columns(usual, "", "[]");
    expect_columns(usual, "a", "[a]");
    expect_columns(usual, "a,b,", "[a][b][]");
    expect_columns(usual, ",", "[][]");
    expect_columns(usual, " a , b ", "[ a ][ b ]");
    expect_columns(usual, "\"a,b\",c", "[a,b][c]");
    expect_columns(usual, "\"\",\"\"", "[][]");
    expect_columns(usual, "\"say \"\"hi\"\"\",\"\"\"\",\"x\"\"y\"", "[say \"hi\"][\"][x\"y]");
    expect_columns(usual, "\"two\nlines\",b", "[two\nlines][b]");
    expect_columns((gx_csv_format){ '\t', '\'' }, "a\t'b\tc'\t\"d\"", "[a][b\tc][\"d\"]");
    expect_columns((gx_csv_format){ ',', 0 }, "a\",\"b", "[a\"][\"b]");
}

static void a_record_that_is_malformed_says_how(void **state) {
    (void)state;
    expect_columns(usual, "a,\"b", "[a]a quote is not closed");
    expect_columns(usual, "\"", "a quote is not closed");
    expect_columns(usual, "\"a\"\"", "a quote is not closed");
    expect_columns(usual, "\"a\"b,c", "something follows a closing quote at once");
    expect_columns(usual, "a,b\"c", "[a]there is a quote in a column that does not begin with one");
}

static void a_text_is_cut_into_records_outside_of_quotes(void **state) {
    (void)state;
    gale_str rest = gx_str("a,b\r\n\"c\nd\",e\n\nlast"), record;
    static const char *const wanted[] = { "a,b", "\"c\nd\",e", "", "last" };
    for (size_t i = 0; i < 4; i++) {
        assert_true(gx_csv_record(usual, &rest, &record));
        assert_true(gx_str_is(record, wanted[i]));
    }
    assert_false(gx_csv_record(usual, &rest, &record));
    rest = gx_str("\"open\nto the end\n");
    assert_true(gx_csv_record(usual, &rest, &record));
    assert_int_equal(record.size, 16);
    rest = gx_str("\"a\nb");
    assert_true(gx_csv_record((gx_csv_format){ ',', 0 }, &rest, &record));
    assert_true(gx_str_is(record, "\"a"));
}

/* A line that leaves a quote open, or does not, is what the whole text says when it is cut there. */
static void a_line_says_whether_its_record_goes_on(void **state) {
    (void)state;
    static const struct {
        const char *line;
        gx_csv_line alone, behind; /* a quote that is open */
    } lines[] = { { "", GX_CSV_WHOLE, GX_CSV_OPEN },          { "a,b", GX_CSV_WHOLE, GX_CSV_OPEN },
                  { "a,\"b", GX_CSV_OPEN, GX_CSV_BROKEN },    { "a,\"b\"", GX_CSV_WHOLE, GX_CSV_BROKEN },
                  { "a\"", GX_CSV_BROKEN, GX_CSV_WHOLE },     { "\"", GX_CSV_OPEN, GX_CSV_WHOLE },
                  { "\"\"", GX_CSV_WHOLE, GX_CSV_OPEN },      { "\"\"\"", GX_CSV_OPEN, GX_CSV_WHOLE },
                  { "a\",\"b", GX_CSV_BROKEN, GX_CSV_OPEN },  { "a\",b\"", GX_CSV_BROKEN, GX_CSV_BROKEN },
                  { "\"a\"b", GX_CSV_BROKEN, GX_CSV_BROKEN }, { "x\"\"y\",\"z\"", GX_CSV_BROKEN, GX_CSV_WHOLE },
                  { "\"a\",", GX_CSV_WHOLE, GX_CSV_BROKEN },  { "\",", GX_CSV_OPEN, GX_CSV_WHOLE } };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(gx_csv_look(usual, gx_str(lines[i].line), false), lines[i].alone);
        assert_int_equal(gx_csv_look(usual, gx_str(lines[i].line), true), lines[i].behind);
    }
    assert_int_equal(gx_csv_look((gx_csv_format){ ',', 0 }, gx_str("\""), false), GX_CSV_WHOLE);
}

/* Every text of five bytes: looked at line by line, it is whole, open or broken as the splitter says of all of it. */
static void a_text_looked_at_by_lines_is_what_it_is_as_a_whole(void **state) {
    (void)state;
    static const char alphabet[] = "a\",\n";
    for (int number = 0; number < 1024; number++) {
        char text[6] = "";
        for (int i = 0, left = number; i < 5; i++, left /= 4) text[i] = alphabet[left % 4];
        gale_str rest = { text, 5 }, record = rest;
        gx_csv_line line = GX_CSV_OPEN;
        for (bool open = false; line == GX_CSV_OPEN && rest.size; open = true) {
            const char *end = memchr(rest.data, '\n', rest.size);
            size_t size = end ? (size_t)(end - rest.data) : rest.size;
            line = gx_csv_look(usual, (gale_str){ rest.data, size }, open);
            rest = (gale_str){ rest.data + size + (end != NULL), rest.size - size - (end != NULL) };
        }
        record.size -= rest.size + (rest.size || text[4] == '\n');
        if (line == GX_CSV_OPEN && text[4] == '\n') record.size = 5; /* an empty line would follow */
        char *told = (char *)(uintptr_t)columns(usual, record.data, record.size);
        bool open = strstr(told, "not closed"), broken = strstr(told, "a quote") && !open;
        broken |= strstr(told, "closing quote") != NULL;
        if ((line == GX_CSV_OPEN) != open || (line == GX_CSV_BROKEN) != broken)
            fail_msg("%s: %d, %s", text, line, told);
        free(told);
    }
}

/* What is quoted whenever it must be, or now and then without need, is read as it was. */
static void what_is_written_as_csv_is_read_again(void **state) {
    (void)state;
    static const char alphabet[] = "ab\"\", \n\r";
    gx_random random = gx_random_new(11, 1);
    for (int round = 0; round < 20000; round++) {
        gx_buf record = GX_BUF_INIT(NULL), wanted = GX_BUF_INIT(NULL);
        uint32_t count = 1 + gx_random_below(&random, 5);
        for (uint32_t c = 0; c < count; c++) {
            gx_buf column = GX_BUF_INIT(NULL);
            for (uint32_t left = gx_random_below(&random, 6); left; left--)
                gx_buf_add_byte(&column, alphabet[gx_random_below(&random, sizeof alphabet - 1)]);
            gx_buf_format(&wanted, "[%s]", gx_buf_text(&column));
            if (c) gx_buf_add_byte(&record, ',');
            bool quoted = strpbrk(gx_buf_text(&column), "\",\n\r") || gx_random_below(&random, 3) == 0;
            if (quoted) gx_buf_add_byte(&record, '"');
            for (size_t i = 0; i < column.size; i++)
                gx_buf_add(&record, column.data[i] == '"' ? "\"\"" : &column.data[i], column.data[i] == '"' ? 2 : 1);
            if (quoted) gx_buf_add_byte(&record, '"');
            gx_buf_fini(&column);
        }
        expect_columns(usual, gx_buf_text(&record), gx_buf_text(&wanted));
        gx_buf_fini(&record);
        gx_buf_fini(&wanted);
    }
}

/* --- The bolt --- */

static void a_record_becomes_its_fields(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_csv_options){ .fields = "host, status int, ms float, ok bool, more auto" });
    rig_expect(&r, "a,200,1.5,true,x", "[\"a\",200,1.5,true,\"x\"]\n");
    rig_expect(&r, "\"a, \"\"b\"\"\",-1,2,False,7\r", "[\"a, \\\"b\\\"\",-1,2.0,false,7]\n");
    rig_expect(&r, ",,,,", "[\"\",null,null,null,null]\n");
    rig_tick_is_passed_over(&r);
    rig_end(&r);
}

static void a_record_that_is_none_goes_to_a_stream_of_its_own(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_csv_options){ .fields = "host, status int", .newlines = GALE_CSV_NEWLINES_ALONE });
    rig_expect(&r, "a,2x", "1:[\"a,2x\",\"field 'status': '2x' is no int\"]\n");
    rig_expect(&r, "a", "1:[\"a\",\"it has 1 column, not 2\"]\n");
    rig_expect(&r, "a,1,2,\"3,4\"", "1:[\"a,1,2,\\\"3,4\\\"\",\"it has 4 columns, not 2\"]\n");
    rig_expect(&r, "a,1,\"2", "1:[\"a,1,\\\"2\",\"a quote is not closed\"]\n");
    rig_expect(&r, "", "1:[\"\",\"it has 1 column, not 2\"]\n");
    rig_expect(&r, "a,1234567890123456789012345678901234567890123456789",
               "1:[\"a,1234567890123456789012345678901234567890123456789\",\"field 'status': "
               "'1234567890123456789012345678901234567890'... is no int\"]\n");
    rig_end(&r);
}

static void what_nobody_takes_is_told_first_and_counted(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_csv_options){ .fields = "host, status int" });
    streams_unheard = 1 << 1;
    rig_expect(&r, "a", "");
    assert_string_equal(fake_text(&r.fake.logged), "no CSV record of these fields, it has 1 column, not 2: a\n");
    rig_expect(&r, "b", "");
    assert_string_equal(fake_text(&r.fake.logged), "");
    rig_clean(&r);
    assert_string_equal(fake_text(&r.fake.logged),
                        "2 lines were no CSV record of these fields; who subscribes to the stream 'bad' gets them\n");
    rig_end(&r);
}

static void fewer_and_more_columns_are_taken_where_that_is_asked_for(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_csv_options){ .fields = "a, b, c int", .ragged = true, .newlines = GALE_CSV_NEWLINES_ALONE });
    rig_expect(&r, "1", "[\"1\",null,null]\n");
    rig_expect(&r, "1,2,3,4,5", "[\"1\",\"2\",3]\n");
    rig_expect(&r, "1,\"2", "1:[\"1,\\\"2\",\"a quote is not closed\"]\n");
    rig_end(&r);
}

static void a_header_is_passed_over_where_that_is_asked_for(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_csv_options){ .fields = "a, b", .header = true });
    rig_expect(&r, "a,b", "");
    rig_expect(&r, "\"a\",b\r", "");
    rig_expect(&r, "a,c", "[\"a\",\"c\"]\n");
    rig_expect(&r, "a", "1:[\"a\",\"it has 1 column, not 2\"]\n");
    rig_expect(&r, "a,b,c", "1:[\"a,b,c\",\"it has 3 columns, not 2\"]\n");
    rig_end(&r);
    begin(&r, (gale_csv_options){ .fields = "a, b" });
    rig_expect(&r, "a,b", "[\"a\",\"b\"]\n");
    rig_end(&r);
}

static void the_first_line_of_each_file_is_a_header_whatever_its_names(void **state) {
    (void)state;
    rig r;
    rig_begin(&r, make((gale_csv_options){ .fields = "a, b int", .header = true }, &r.bolt, NULL),
              "line, number, file");
    const gale_value first[] = { gale_text("id,age"), gale_i64(1), gale_text("x.csv") };
    const gale_value second[] = { gale_text("1,7"), gale_i64(2), gale_text("x.csv") };
    const gale_value other[] = { gale_text("k,n"), gale_i64(1), gale_text("y.csv") };
    const gale_value nowhere[] = { gale_text("1,8"), gale_i64(1), gale_null() };
    rig_expect_of(&r, first, 3, "");
    assert_string_equal(fake_text(&r.fake.logged),
                        "passes over the first line of each file as its header; this one has "
                        "other names than `fields`: id,age\n");
    rig_expect_of(&r, second, 3, "[\"1\",7]\n");
    rig_expect_of(&r, other, 3, "");
    rig_expect_of(&r, nowhere, 3, "[\"1\",8]\n"); /* a message of something else than a file */
    rig_end(&r);
    rig_begin(&r, make((gale_csv_options){ .fields = "a, b" }, &r.bolt, NULL), "line, number, file");
    rig_expect_of(&r, first, 3, "[\"id\",\"age\"]\n");
    rig_end(&r);
}

static void a_first_record_that_looks_like_a_header_of_other_names_is_logged(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_csv_options){ .fields = "customer, name, city", .header = true });
    rig_expect(&r, "id,Name,city", "[\"id\",\"Name\",\"city\"]\n");
    assert_string_equal(fake_text(&r.fake.logged),
                        "the first record looks like a header, but is read as data, since its names are not those of "
                        "`fields`: id,Name,city; with `file` and `number` in its input, Csv passes over the first line "
                        "of each file\n");
    rig_expect(&r, "id,Name,city", "[\"id\",\"Name\",\"city\"]\n");
    assert_string_equal(fake_text(&r.fake.logged), "");
    rig_end(&r);
    begin(&r, (gale_csv_options){ .fields = "customer, name, city", .header = true });
    rig_expect(&r, "7,ada,bonn", "[\"7\",\"ada\",\"bonn\"]\n"); /* of a run that goes on */
    assert_string_equal(fake_text(&r.fake.logged), "");
    rig_end(&r);
}

static void a_field_is_read_by_its_name_and_others_are_kept(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_csv_options){ .fields = "a", .field = "line", .keep = "offset" });
    const gale_value values[] = { gale_text("x"), gale_i64(77) }, turned[] = { gale_i64(78), gale_text("y") };
    rig_expect_of(&r, values, 2, "[77,\"x\"]\n");
    fake_source(&r.fake, "others", "offset, line");
    rig_expect_of(&r, turned, 2, "[78,\"y\"]\n");
    fake_source(&r.fake, "others", "lines, offset");
    assert_int_equal(rig_take(&r, values, 2), GALE_FIELDS);
    assert_string_equal(fake_text(&r.fake.reports),
                        "csv bolt: component 'others', stream 'default', has no field 'line'; did you mean 'lines'?\n");
    assert_string_equal(r.bolt.outputs[0].fields, "offset, a");
    assert_string_equal(r.bolt.outputs[1].fields, "line, problem");
    rig_end(&r);
}

static void what_is_no_text_fails_with_its_type(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_csv_options){ .fields = "a" });
    rig_fails(&r, gale_i64(7), GALE_TYPE,
              "csv bolt: field 'line' (value 0) of component 'lines' must be string or bytes, is i64 7\n");
    assert_int_equal(rig_take(&r, NULL, 0), GALE_FIELDS);
    rig_end(&r);
}

static void only_a_column_that_is_no_text_comes_out_as_bytes(void **state) {
    (void)state;
    rig r;
    gale_value line = gale_bytes("a,\xff,\xc3\xa4", 6);
    begin(&r, (gale_csv_options){ .fields = "a, b, c" });
    rig_expect_of(&r, &line, 1, "[\"a\",{\"base64\":\"/w==\"},\"\xc3\xa4\"]\n");
    line = gale_bytes("\xff\xff,b", 4);
    rig_expect_of(&r, &line, 1, "1:[{\"base64\":\"//8sYg==\"},\"it has 2 columns, not 3\"]\n");
    rig_end(&r);
}

static void a_record_that_cannot_be_emitted_fails(void **state) {
    (void)state;
    rig r;
    gale_value good = gale_text("a"), bad = gale_text("a,b");
    begin(&r, (gale_csv_options){ .fields = "a" });
    r.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(rig_take(&r, &good, 1), GALE_NO_MEMORY);
    assert_int_equal(rig_take(&r, &bad, 1), GALE_NO_MEMORY);
    rig_end(&r);
}

/* Excel writes one at the beginning of a file. */
static void a_byte_order_mark_is_passed_over(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_csv_options){ .fields = "a, b", .header = true });
    const gale_value header[] = { gale_text("\xef\xbb\xbf"
                                            "a,b"),
                                  gale_i64(0) };
    const gale_value record[] = { gale_text("\xef\xbb\xbf\"1,5\",\xef\xbb\xbf"), gale_i64(1) };
    const gale_value cut[] = { gale_text("\xef\xbb,2"), gale_i64(2) };
    const gale_value bad[] = { gale_text("\xef\xbb\xbf"
                                         "1"),
                               gale_i64(3) };
    rig_expect_of(&r, header, 2, "");
    rig_expect_of(&r, record, 2, "[\"1,5\",\"\xef\xbb\xbf\"]\n");
    assert_int_equal(rig_take(&r, cut, 2), GALE_OK); /* half of one is none */
    assert_string_equal(fake_text(&r.fake.emitted), "[\"\xef\xbb\",\"2\"]\n");
    rig_expect_of(&r, bad, 2,
                  "1:[\"\xef\xbb\xbf"
                  "1\",\"it has 1 column, not 2\"]\n"); /* as it came */
    rig_end(&r);
}

static void names_may_have_colons_and_be_called_as(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_csv_options){ .fields = "as int, dc:title, n:int string" });
    const gale_value record[] = { gale_text("1,x,2"), gale_i64(0) };
    rig_expect_of(&r, record, 2, "[1,\"x\",\"2\"]\n");
    rig_end(&r);
}

static int make_any(gale_bolt *ret_bolt) {
    return make((gale_csv_options){ .fields = "a, b" }, ret_bolt, NULL);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    rig_survives(make_any, "line", "\"say \"\"hi\"\"\",\"\"\"\"", 4);
}

#define REFUSES(message, ...) RIG_REFUSES(make((gale_csv_options){ __VA_ARGS__ }, &bolt, &error), message)

static void options_that_are_wrong_are_told(void **state) {
    (void)state;
    REFUSES("csv bolt: fields names no field", .keep = "a");
    REFUSES("csv bolt: fields names no field", .fields = "");
    REFUSES("csv bolt: fields has an empty name", .fields = "a,,b");
    REFUSES("csv bolt: fields has an empty name", .fields = "a, ");
    REFUSES("csv bolt: fields: 'a' goes out already", .fields = "a, b, a int");
    REFUSES("csv bolt: fields: 'a' goes out already", .fields = "a", .keep = "a");
    REFUSES(
        "csv bolt: fields: 'flaot' is no type of 'ms flaot' (string, int, float, bool, auto); did you mean 'float'?",
        .fields = "ms flaot");
    REFUSES("csv bolt: fields: 'ms as took int': it has no 'as' to rename with; gale.bolt.Map renames",
            .fields = "a, ms as took int");
    REFUSES("csv bolt: fields: 'ms int as took': it has no 'as' to rename with; gale.bolt.Map renames",
            .fields = "ms int as took");
    REFUSES("csv bolt: fields: 'ms as took': it has no 'as' to rename with; gale.bolt.Map renames",
            .fields = "ms as took");
    REFUSES("csv bolt: fields: 'user name string' is neither 'name' nor 'name type'", .fields = "user name string");
    REFUSES("csv bolt: fields: 'n:int': a type stands behind a blank: 'n int'", .fields = "n:int");
    REFUSES("csv bolt: fields: 'n: float': a type stands behind a blank: 'n float'", .fields = "n: float");
    REFUSES("csv bolt: keep has an empty name: 'a,'", .fields = "b", .keep = "a,");
    REFUSES("csv bolt: field names 2 fields, must name one: 'a,b'", .fields = "c", .field = "a,b");
    REFUSES("csv bolt: separator must be one character of ASCII, and no end of a line", .fields = "a", .separator = "");
    REFUSES("csv bolt: separator must be one character of ASCII, and no end of a line", .fields = "a",
            .separator = "\xc3\xa4");
    REFUSES("csv bolt: quote must be one character of ASCII, and no end of a line", .fields = "a", .quote = "''");
    REFUSES("csv bolt: quote and separator are the same, '\"'", .fields = "a", .separator = "\"");
}

static void as_many_columns_as_there_may_be_are_taken(void **state) {
    (void)state;
    char fields[4000], line[4000], *f = fields, *l = line;
    for (int i = 0; i < GX_PARSED_COLUMNS; i++) {
        f += sprintf(f, "%sf%d int", i ? "," : "", i);
        l += sprintf(l, "%s%d", i ? "," : "", i);
    }
    rig r;
    begin(&r, (gale_csv_options){ .fields = fields, .keep = "offset" });
    const gale_value values[] = { gale_text(line), gale_i64(-1) };
    assert_int_equal(rig_take(&r, values, 2), GALE_OK);
    assert_non_null(strstr(fake_text(&r.fake.emitted), "[-1,0,1,2,"));
    assert_non_null(strstr(fake_text(&r.fake.emitted), ",254,255]\n"));
    rig_end(&r);
    strcpy(f, ",one");
    REFUSES("csv bolt: fields names more than 256", .fields = fields);
    char lengthy[GX_PARSED_TEXT + 2] = { 0 };
    memset(lengthy, 'a', sizeof lengthy - 1);
    REFUSES("csv bolt: the names of its fields have more than 8192 bytes", .fields = lengthy);
}

static void without_options_or_a_place_nothing_is_made(void **state) {
    (void)state;
    gale_csv_options options = { .size = 0 };
    RIG_REFUSES(gale_csv_bolt(NULL, &bolt, &error), "csv bolt: fields names no field");
    RIG_REFUSES(gale_csv_bolt(&options, &bolt, &error),
                "csv bolt: options.size is 0; set it to the size of the structure");
    RIG_REFUSES(gale_csv_bolt(&options, NULL, &error), "csv bolt: there is no place for its definition");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_says_whether_its_record_goes_on),
        cmocka_unit_test(a_text_looked_at_by_lines_is_what_it_is_as_a_whole),
        cmocka_unit_test(a_record_is_cut_as_rfc_4180_says),
        cmocka_unit_test(a_record_that_is_malformed_says_how),
        cmocka_unit_test(a_text_is_cut_into_records_outside_of_quotes),
        cmocka_unit_test(what_is_written_as_csv_is_read_again),
        cmocka_unit_test(a_record_becomes_its_fields),
        cmocka_unit_test(a_record_that_is_none_goes_to_a_stream_of_its_own),
        cmocka_unit_test(what_nobody_takes_is_told_first_and_counted),
        cmocka_unit_test(fewer_and_more_columns_are_taken_where_that_is_asked_for),
        cmocka_unit_test(a_byte_order_mark_is_passed_over),
        cmocka_unit_test(names_may_have_colons_and_be_called_as),
        cmocka_unit_test(a_header_is_passed_over_where_that_is_asked_for),
        cmocka_unit_test(the_first_line_of_each_file_is_a_header_whatever_its_names),
        cmocka_unit_test(a_first_record_that_looks_like_a_header_of_other_names_is_logged),
        cmocka_unit_test(a_field_is_read_by_its_name_and_others_are_kept),
        cmocka_unit_test(what_is_no_text_fails_with_its_type),
        cmocka_unit_test(only_a_column_that_is_no_text_comes_out_as_bytes),
        cmocka_unit_test(a_record_that_cannot_be_emitted_fails),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(options_that_are_wrong_are_told),
        cmocka_unit_test(as_many_columns_as_there_may_be_are_taken),
        cmocka_unit_test(without_options_or_a_place_nothing_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
