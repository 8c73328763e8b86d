/* Checkpoints as JSON lines: what is written is read back as it was. */
#include "front/saved_lines.h"

#include "base/random.h"
#include "base/str.h"
#include "engine/cut.h"
#include "engine/rest.h"
#include "front/exact_json.h"
#include "front/json_value.h"
#include "topology/keyed_store.h"
#include "topology/saver.h"
#include "tuple/key.h"

#include "harness/cm.h"

#include <gale/state.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Values --- */

static const char *text_of(const gale_value *value, gx_buf *out) {
    gx_buf_reset(out);
    gx_json json = gx_json_to(out);
    gx_exact_json(&json, value);
    return gx_buf_text(out);
}

static void reads(const char *text, const gale_value *value) {
    gale_value_owned *owned = NULL;
    assert_int_equal(gx_json_to_exact(gx_str(text), &owned), 0);
    gale_value read = gale_value_owned_view(owned);
    gx_buf a = GX_BUF_INIT(NULL), b = GX_BUF_INIT(NULL);
    assert_int_equal(gx_key_add(value, &a), 0); /* the bytes of a key tell even one NaN from another */
    assert_int_equal(gx_key_add(&read, &b), 0);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    gx_buf_fini(&a);
    gx_buf_fini(&b);
    gale_value_owned_free(owned);
}

static void is_text(const char *expected, gale_value value) {
    gx_buf out = GX_BUF_INIT(NULL);
    assert_string_equal(text_of(&value, &out), expected);
    reads(expected, &value);
    gx_buf_fini(&out);
}

static void every_value_has_a_form_that_is_read_back_as_it_was(void **state) {
    (void)state;
    is_text("null", gale_null());
    is_text("true", gale_bool(true));
    is_text("12", gale_i64(12));
    is_text("9007199254740991", gale_i64((INT64_C(1) << 53) - 1));
    is_text("{\"i64\":\"9007199254740992\"}", gale_i64(INT64_C(1) << 53));
    is_text("{\"i64\":\"-9223372036854775808\"}", gale_i64(INT64_MIN));
    is_text("12.0", gale_f64(12));
    is_text("-0.0", gale_f64(-0.0));
    is_text("{\"f64\":\"inf\"}", gale_f64(INFINITY));
    is_text("{\"f64\":\"-inf\"}", gale_f64(-INFINITY));
    is_text("{\"f64\":\"nan\"}", gale_f64(NAN));
    gale_value strange = gale_f64(0);
    strange.as.i64 = 0x7ff8000000000123;
    is_text("{\"f64\":\"7ff8000000000123\"}", strange);
    is_text("\"the\"", gale_text("the"));
    is_text("\"a\\u0000b\"", gale_string("a\0b", 3));
    is_text("{\"base64\":\"AAE=\"}", gale_bytes("\0\1", 2));
    is_text("{\"string\":\"/w==\"}", gale_string("\xff", 1));
}

static void so_has_every_list_and_map(void **state) {
    (void)state;
    const gale_value items[] = { gale_i64(1), gale_text("x"), gale_null() };
    is_text("[1,\"x\",null]", gale_list(items, 3));
    is_text("[]", gale_list(items, 0));
    is_text("{}", gale_map(items, 0));
    const gale_value plain[] = { gale_text("a"), gale_i64(1), gale_text("i64"), gale_i64(2) };
    is_text("{\"a\":1,\"i64\":2}", gale_map(plain, 2));
    is_text("{\"map\":[[\"i64\",2]]}", gale_map(plain + 2, 1)); /* it would say that it is a number */
    const gale_value odd[] = { gale_string("a\0b", 3), gale_i64(1) };
    is_text("{\"map\":[[\"a\\u0000b\",1]]}", gale_map(odd, 1));
}

static void refused(const char *text) {
    gale_value_owned *owned = NULL;
    assert_int_equal(gx_json_to_exact(gx_str(text), &owned), GALE_INVALID);
}

static void what_only_looks_like_such_a_form_is_refused(void **state) {
    (void)state;
    refused("{\"i64\":5}");
    refused("{\"i64\":\"\"}");
    refused("{\"i64\":\"5x\"}");
    refused("{\"i64\":\"9223372036854775808\"}");
    refused("{\"f64\":\"1.5\"}");
    refused("{\"f64\":null}");
    refused("{\"base64\":\"?\"}");
    refused("{\"string\":[]}");
    refused("{\"map\":{}}");
    refused("{\"map\":[[\"a\"]]}");
    refused("{\"map\":[[1,2]]}");
    refused("[{\"map\":[[{\"string\":\"/w==\"},1],[{\"string\":\"/w==\"},2]]}]"); /* a key twice */
}

/* --- Checkpoints --- */

static void put_u32(gx_buf *to, uint32_t number) {
    for (int i = 24; i >= 0; i -= 8) gx_buf_add_byte(to, (char)(number >> i));
}

static void put_records(gx_changes *to, char kind, const char *name, uint32_t index, uint32_t piece,
                        const gx_buf *records) {
    gx_buf key = GX_BUF_INIT(NULL);
    gx_buf_add_byte(&key, kind);
    if (name) gx_buf_add(&key, name, strlen(name) + 1);
    if (kind == GX_CUT_TASKS || kind == GX_CUT_REST) {
        put_u32(&key, index);
        put_u32(&key, piece);
    }
    gx_changes_put(to, (gale_str){ key.data, key.size }, (gale_str){ records->data, records->size });
    gx_buf_fini(&key);
}

static void put_head(gx_changes *to) {
    gx_buf records = GX_BUF_INIT(NULL);
    const gale_value head[] = { gale_i64(1),   gale_i64(7),      gale_text("t"), gale_i64(5),
                                gale_i64(-40), gale_bool(false), gale_i64(2),    gale_text("of a later version") };
    const gale_value word[] = { gale_text("default"), gale_text("word") };
    const gale_value streams[] = { gale_list(word, 2) };
    gx_record_add(&records, head, 8);
    for (int i = 0; i < 2; i++) {
        const gale_value component[] = { gale_text(i ? "tally" : "lines"),
                                         gale_bool(!i),
                                         gale_i64(i + 1),
                                         gale_bool(i),
                                         gale_i64(i),
                                         gale_list(streams, 1),
                                         gale_list(streams, 0),
                                         gale_text(i ? "count" : "lines") };
        gx_record_add(&records, component, 8);
    }
    put_records(to, GX_CUT_HEAD, NULL, 0, 0, &records);
    gx_buf_fini(&records);
}

static void put_keyed(gx_changes *to, uint32_t scope, gale_value key, gale_value value, int64_t expiry) {
    gx_keyed_names names = {
        .component = "count", .kept = "count", .state = "state", .key = GX_BUF_INIT(NULL), .value = GX_BUF_INIT(NULL)
    };
    gx_buf bytes = GX_BUF_INIT(NULL), scratch = GX_BUF_INIT(NULL);
    gx_packed packed;
    assert_int_equal(gx_key_add(&key, &bytes), 0);
    assert_int_equal(gx_packed_make(&value, &scratch, &packed), 0);
    gx_keyed_value_put(to, gx_keyed_store_key(&names, scope, (gale_str){ bytes.data, bytes.size }), &packed, expiry);
    gx_buf_fini(&names.key);
    gx_buf_fini(&bytes);
    gx_buf_fini(&scratch);
}

/* One that has some of everything. */
static gx_changes a_checkpoint(void) {
    gx_changes all = GX_CHANGES_INIT(NULL);
    gx_buf records = GX_BUF_INIT(NULL);
    put_head(&all);
    put_records(&all, GX_CUT_LETTERS, NULL, 0, 0, &records);
    const gale_value items[] = { gale_i64(3), gale_text("x") };
    put_keyed(&all, 0, gale_text("the"), gale_i64(12), 0);
    put_keyed(&all, 0, gale_list(items, 2), gale_list(items, 2), 77);
    put_keyed(&all, 2, gale_bytes("\0", 1), gale_f64(NAN), INT64_MAX);
    put_records(&all, GX_CUT_ANEW, "lines", 0, 0, &records);
    gx_changes_put(&all, gx_str("zz"), gx_str("of a later version"));
    for (int64_t kind = GX_REST_TREE; kind <= GX_REST_TICK; kind++) {
        const gale_value rest[] = { gale_i64(kind), gale_i64(INT64_MIN), gale_bytes("\x80", 1),
                                    gale_string("\xff", 1) };
        gx_record_add(&records, rest, 4);
    }
    put_records(&all, GX_CUT_REST, NULL, 1, 0, &records);
    gx_buf_reset(&records);
    gx_record_add(&records, NULL, 0);
    gx_record_add(&records, items, 2);
    put_records(&all, GX_CUT_TASKS, "lines", 0, 0, &records);
    put_records(&all, GX_CUT_TASKS, "tally", 1, 0, &records);
    assert_false(all.bytes.failed);
    gx_buf_fini(&records);
    return all;
}

static void write_all(const gx_changes *from, gx_buf *out) {
    gx_saved_reader reader = GX_SAVED_READER_INIT;
    gale_error error = GALE_ERROR_INIT;
    gx_change change;
    for (size_t at = 0; gx_changes_next(from, &at, &change);) {
        gx_saved_pair pair;
        if (gx_saved_pair_read(&reader, change.key, change.value, &pair, &error) < 0) fail_msg("%s", error.text);
        assert_int_equal(gx_saved_lines_add(&pair, out, &error), 0);
    }
    gx_saved_lines_end(out);
    gx_saved_reader_fini(&reader);
}

static int put_pair(void *user, gale_str key, gale_str value, gale_error *error) {
    (void)error;
    gx_changes_put(user, key, value);
    return GALE_OK;
}

static int read_all(gale_str text, gx_changes *to, gale_error *error) {
    gx_saved_import import;
    gale_str line;
    int rc = GALE_OK;
    gx_saved_import_begin(&import, "e", put_pair, to);
    while (rc == GALE_OK && gx_str_next(&text, '\n', &line))
        if (line.size) rc = gx_saved_import_line(&import, line, error);
    if (rc == GALE_OK) rc = gx_saved_import_finish(&import, error);
    gx_saved_import_fini(&import);
    return rc;
}

static void assert_same(const gx_changes *a, const gx_changes *b) {
    gx_change one, two;
    size_t at_one = 0, at_two = 0;
    assert_int_equal(a->count, b->count);
    while (gx_changes_next(a, &at_one, &one)) {
        assert_true(gx_changes_next(b, &at_two, &two));
        assert_true(gx_str_equal(one.key, two.key));
        assert_true(gx_str_equal(one.value, two.value));
    }
}

static void a_checkpoint_is_read_back_pair_by_pair(void **state) {
    (void)state;
    gx_changes first = a_checkpoint(), second = GX_CHANGES_INIT(NULL);
    gale_error error = GALE_ERROR_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    write_all(&first, &out);
    if (read_all((gale_str){ out.data, out.size }, &second, &error) < 0) fail_msg("%s", error.text);
    assert_same(&first, &second);
    gx_changes_fini(&first);
    gx_changes_fini(&second);
    gx_buf_fini(&out);
}

static void its_lines_are_for_people(void **state) {
    (void)state;
    gx_changes all = a_checkpoint();
    gx_buf out = GX_BUF_INIT(NULL);
    write_all(&all, &out);
    const char *text = gx_buf_text(&out);
    assert_ptr_equal(
        strstr(text, "{\"gale_state\":1,\"format\":1,\"checkpoint\":7,\"topology\":\"t\",\"time\":5,\"wall\":-40,"
                     "\"complete\":false,\"executors\":2,\"more\":[\"of a later version\"],\"components\":["
                     "{\"name\":\"lines\",\"spout\":true,\"tasks\":1,"),
        text);
    assert_non_null(strstr(text, "\n{\"component\":\"count\",\"state\":\"state\",\"key\":\"the\",\"value\":12}\n"));
    assert_non_null(strstr(text, "\n{\"component\":\"count\",\"state\":\"state\",\"key\":[3,\"x\"],\"value\":[3,\"x\"],"
                                 "\"expires\":77}\n"));
    assert_non_null(
        strstr(text, "\n{\"component\":\"count\",\"state\":\"state\",\"task\":1,\"key\":{\"base64\":\"AA==\"},"));
    assert_non_null(strstr(text, "\n{\"rest\":\"row\",\"executor\":1,\"record\":[{\"i64\":\"-9223372036854775808\"},"));
    assert_non_null(strstr(text, "\n{\"component\":\"tally\",\"task\":1,\"record\":[]}\n"));
    assert_non_null(strstr(text, "\n{\"begins_anew\":\"lines\"}\n"));
    assert_non_null(strstr(text, "\n{\"dead_letters\":[]}\n"));
    assert_non_null(strstr(text, "\n{\"opaque\":{\"base64\":\"eno=\"},"));
    gx_changes_fini(&all);
    gx_buf_fini(&out);
}

static void many_records_are_put_in_pieces_as_a_run_does(void **state) {
    (void)state;
    gx_changes all = GX_CHANGES_INIT(NULL);
    gale_error error = GALE_ERROR_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    put_head(&all);
    write_all(&all, &out);
    out.size -= strlen("{\"end\":true}\n");
    for (int i = 0; i < 30000; i++)
        gx_buf_format(
            &out, "{\"component\":\"lines\",\"task\":0,\"record\":[%d,\"0123456789012345678901234567890123456789\"]}\n",
            i);
    gx_saved_lines_end(&out);
    gx_changes_reset(&all);
    if (read_all((gale_str){ out.data, out.size }, &all, &error) < 0) fail_msg("%s", error.text);
    gx_change change;
    int64_t next = 0;
    uint32_t pieces = 0;
    for (size_t at = 0; gx_changes_next(&all, &at, &change);) {
        if (*change.key.data != GX_CUT_TASKS) continue;
        assert_int_equal((unsigned char)change.key.data[change.key.size - 1], pieces++);
        assert_in_range(change.value.size, 1, (1 << 20) + 100);
        gale_str records = change.value;
        const gale_body *body;
        while (gx_records_next(&records, &body)) assert_int_equal(gale_body_value(body, 0).as.i64, next++);
    }
    assert_int_equal(next, 30000);
    assert_true(pieces > 1);
    gx_changes_fini(&all);
    gx_buf_fini(&out);
}

/* Nothing that a hand or a disk does to a line is more than a sentence. */
static void whatever_is_done_to_a_byte_is_read_or_told(void **state) {
    (void)state;
    gx_changes all = a_checkpoint(), read = GX_CHANGES_INIT(NULL);
    gx_buf out = GX_BUF_INIT(NULL);
    gx_random random = gx_random_new(5, 0);
    write_all(&all, &out);
    for (size_t i = 0; i < out.size; i++) {
        gale_error error = GALE_ERROR_INIT;
        char was = out.data[i];
        out.data[i] ^= (char)(1 << (gx_random_next(&random) & 7));
        gx_changes_reset(&read);
        int rc = read_all((gale_str){ out.data, out.size }, &read, &error);
        if (rc < 0) assert_int_equal(strncmp(error.text, "e:", 2), 0);
        out.data[i] = was;
    }
    gx_changes_fini(&all);
    gx_changes_fini(&read);
    gx_buf_fini(&out);
}

/* --- What no run has written --- */

static void damaged(const char *key, size_t key_size, const char *value, size_t size) {
    gx_saved_reader reader = GX_SAVED_READER_INIT;
    gale_error error = GALE_ERROR_INIT;
    gx_saved_pair pair;
    assert_int_equal(gx_saved_pair_read(&reader, (gale_str){ key, key_size }, (gale_str){ value, size }, &pair, &error),
                     GALE_DAMAGED);
    assert_true(error.length > 0);
    gx_saved_reader_fini(&reader);
}

static void pairs_that_no_run_has_written_are_damage(void **state) {
    (void)state;
    damaged("t", 1, "", 0);
    damaged("tlines", 6, "", 0);
    damaged("tlines\0\0\0\0\0\0\0\0", 14, "", 0);    /* a piece's number is cut */
    damaged("tlines\0\0\0\0\0\0\0\0\0", 15, "x", 1); /* no record */
    damaged("r\0\0\0\0\0\0\0\0\0", 10, "", 0);
    damaged("kcount\0state", 12, "", 0);
    damaged("kcount\0state\0\0\0\0\0", 17, "", 0); /* no key */
    damaged("kcount\0state\0\0\0\0\0the\0", 21, "12345678", 8);
    damaged("nlines", 6, "", 0);
    damaged("mm", 2, "", 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_has_a_form_that_is_read_back_as_it_was),
        cmocka_unit_test(so_has_every_list_and_map),
        cmocka_unit_test(what_only_looks_like_such_a_form_is_refused),
        cmocka_unit_test(a_checkpoint_is_read_back_pair_by_pair),
        cmocka_unit_test(its_lines_are_for_people),
        cmocka_unit_test(many_records_are_put_in_pieces_as_a_run_does),
        cmocka_unit_test(whatever_is_done_to_a_byte_is_read_or_told),
        cmocka_unit_test(pairs_that_no_run_has_written_are_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
