/* Parts of the connector postgres that need no server. */
#include "connect/postgres/batch.h"
#include "connect/postgres/pgoutput.h"
#include "connect/postgres/places.h"
#include "connect/postgres/row.h"
#include "harness/fake_saver.h"

#include <gale/state.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A number below `bound`, of a seed. */
static uint32_t draw(uint64_t *seed, uint32_t bound) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % bound);
}

/* --- Batches ---------------------------------------------------------------------------------------------------------- */

static void an_empty_batch_has_nothing_to_send(void **state) {
    pg_batch batch = { .rows = NULL };
    gale_str text;
    (void)state;
    pg_batch_begin(&batch, 0);
    assert_false(pg_batch_part(&batch, &text));
    pg_batch_free(&batch);
}

/* Sends until nothing is left; `bad[i]`: the server refuses a part with row i. Each row is taken or refused once, in order, and what is sent is what was
 * written. */
static void send_all(pg_batch *batch, const bool *bad, size_t most) {
    gale_str text;
    size_t seen = 0;
    pg_batch_begin(batch, most);
    while (pg_batch_part(batch, &text)) {
        size_t first = batch->next, count = batch->part, index, wrong = 0, size = 0;
        assert_int_equal(first, seen);
        assert_true(!most || count <= most);
        for (size_t i = first; i < first + count; i++) wrong += bad[i];
        for (size_t i = first; i < first + count; i++) size += pg_batch_row_text(batch, i).size;
        assert_int_equal(text.size, size);
        assert_ptr_equal(text.data, pg_batch_row_text(batch, first).data);
        if (!wrong) {
            pg_batch_taken(batch, &first, &count);
            seen += count;
        } else if (pg_batch_refused(batch, &index)) {
            assert_int_equal(index, seen);
            assert_true(bad[seen++]);
        }
    }
    assert_int_equal(seen, batch->count);
}

static void rows_that_are_refused_are_found_alone_and_all_others_are_taken(void **state) {
    pg_batch batch = { .rows = NULL };
    uint64_t seed = 1;
    bool bad[300];
    (void)state;
    for (int run = 0; run < 300; run++) {
        size_t count = draw(&seed, 300);
        uint32_t rarely = 1 + draw(&seed, 50);
        pg_batch_clear(&batch);
        for (size_t i = 0; i < count; i++) {
            sql_text_print(&batch.text, "row %zu\n", i);
            assert_int_equal(pg_batch_add(&batch, i), 0);
            bad[i] = draw(&seed, rarely) == 0;
        }
        send_all(&batch, bad, draw(&seed, 3) ? draw(&seed, 20) : 0);
    }
    pg_batch_free(&batch);
}

/* --- Texts ------------------------------------------------------------------------------------------------------------ */

static void copied(gale_value value, int64_t unit, const char *expected) {
    sql_text text = { .data = NULL };
    assert_null(pg_text_copy_value(&text, &value, unit));
    assert_string_equal(sql_text_string(&text), expected);
    sql_text_free(&text);
}

static void wrong(gale_value value, int64_t unit, const char *expected) {
    sql_text text = { .data = NULL };
    assert_string_equal(pg_text_copy_value(&text, &value, unit), expected);
    sql_text_free(&text);
}

static void values_are_what_copy_reads(void **state) {
    const gale_value items[] = { gale_i64(1), gale_text("a\"\\\n"), gale_null() };
    const gale_value pairs[] = { gale_text("k"), gale_bool(true) };
    (void)state;
    copied(gale_null(), 0, "\\N");
    copied(gale_bool(true), 0, "t");
    copied(gale_i64(INT64_MIN), 0, "-9223372036854775808");
    copied(gale_i64(0), 0, "0");
    copied(gale_f64(0.1), 0, "0.1");
    copied(gale_f64(-0.0), 0, "-0");
    copied(gale_f64(-12.5), 0, "-12.5");
    copied(gale_f64(0.05), 0, "0.05");
    copied(gale_f64(1e300), 0, "1e+300");
    copied(gale_f64(1.0 / 3), 0, "0.3333333333333333");
    copied(gale_string("a\tb\\c\nd\re", 9), 0, "a\\tb\\\\c\\nd\\re");
    copied(gale_bytes("\x00\xff", 2), 0, "\\\\x00ff");
    copied(gale_list(items, 3), 0, "[1,\"a\\\\\"\\\\\\\\\\\\n\",null]");
    copied(gale_map(pairs, 1), 0, "{\"k\":true}");
    copied(gale_i64(0), 1, "1970-01-01 00:00:00.000000+00");
    copied(gale_i64(-1), 1000, "1969-12-31 23:59:59.999000+00");
    copied(gale_i64(1764072000123456789), 1000000000, "2025-11-25 12:00:00.123456+00");
    copied(gale_f64(1764072000.25), 1, "2025-11-25 12:00:00.250000+00");
    wrong(gale_string("a\0b", 3), 0, "has a NUL, which PostgreSQL has not");
    wrong(gale_f64(1e300), 1, "is no time");
    wrong(gale_i64(INT64_MAX), 1, "is no time");
}

static void places_in_the_log_are_read_as_they_are_written(void **state) {
    char text[20];
    uint64_t lsn;
    (void)state;
    pg_lsn_write(UINT64_MAX, text);
    assert_string_equal(text, "FFFFFFFF/FFFFFFFF");
    assert_true(pg_lsn_read(text, &lsn) && lsn == UINT64_MAX);
    assert_true(pg_lsn_read("16/b374d848", &lsn) && lsn == UINT64_C(0x16b374d848));
    assert_false(pg_lsn_read("16", &lsn));
    assert_false(pg_lsn_read("16/1 ", &lsn));
    assert_false(pg_lsn_read("", &lsn));
}

/* --- Changes ---------------------------------------------------------------------------------------------------------- */

static const char relation[] =
    "R\0\0\0\7public\0t\0d\0\2\1id\0\0\0\0\x14\377\377\377\377\0name\0\0\0\0\x19\377\377\377\377";
static const char insert[] = "I\0\0\0\7N\0\2t\0\0\0\2"
                             "42n";
static const char update[] = "U\0\0\0\7K\0\2t\0\0\0\1"
                             "1nN\0\2t\0\0\0\1"
                             "2u";
static const char delete[] = "D\0\0\0\7K\0\2t\0\0\0\1"
                             "1n";
static const char truncate[] = "T\0\0\0\1\0\0\0\0\7";

#define READ(output, message, change) read_message(output, message, sizeof(message) - 1, change)
static int read_message(pg_output *output, const char *message, size_t size, pg_change *change) {
    static char room[200];
    gale_error error = GALE_ERROR_INIT;
    memcpy(room, message, size);
    room[size] = '\0';
    int rc = pg_output_read(output, room, size, change, &error);
    assert_int_equal(rc != 0, error.length != 0);
    return rc;
}

static void changes_have_the_cells_of_their_rows(void **state) {
    pg_output output;
    pg_change change;
    (void)state;
    assert_int_equal(pg_output_init(&output), 0);
    assert_int_equal(READ(&output, insert, &change), GALE_DAMAGED); /* of what was not described */
    assert_int_equal(READ(&output, relation, &change), 0);
    assert_int_equal(change.kind, PG_CHANGE_NONE);
    assert_int_equal(READ(&output, insert, &change), 0);
    assert_int_equal(change.kind, PG_CHANGE_INSERT);
    assert_string_equal(change.relation->name, "t");
    assert_int_equal(change.relation->attributes[0].type, 20);
    assert_string_equal(change.now[0].text, "42");
    assert_null(change.now[1].text);
    assert_null(change.before);
    assert_int_equal(READ(&output, update, &change), 0);
    assert_string_equal(change.before[0].text, "1");
    assert_string_equal(change.now[0].text, "2");
    assert_true(change.now[1].is_unsent);
    assert_int_equal(READ(&output, delete, &change), 0);
    assert_null(change.now);
    assert_string_equal(change.before[0].text, "1");
    assert_int_equal(READ(&output, truncate, &change), 0);
    assert_int_equal(change.truncated_count, 1);
    pg_output_begin(&output);
    assert_int_equal(READ(&output, insert, &change), GALE_DAMAGED);
    pg_output_free(&output);
}

static void a_message_that_is_cut_off_is_damaged(void **state) {
    static const struct {
        const char *text;
        size_t size;
    } messages[] = { { relation, sizeof relation - 1 },
                     { insert, sizeof insert - 1 },
                     { update, sizeof update - 1 },
                     { delete, sizeof delete - 1 },
                     { truncate, sizeof truncate - 1 } };
    pg_output output;
    pg_change change;
    (void)state;
    assert_int_equal(pg_output_init(&output), 0);
    assert_int_equal(READ(&output, relation, &change), 0);
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        for (size_t size = 0; size < messages[i].size; size++)
            assert_int_equal(read_message(&output, messages[i].text, size, &change), GALE_DAMAGED);
    pg_output_free(&output);
}

/* A change of a table of three columns, of which those of `identity` are the key's. */
enum { COLUMNS = 3 };

static void describe(pg_output *output, unsigned identity) {
    static const char head[] = "R\0\0\0\7public\0t\0d\0\3";
    char text[100];
    size_t size = sizeof head - 1;
    pg_change change;
    memcpy(text, head, size);
    for (unsigned i = 0; i < COLUMNS; i++) {
        const char column[] = { (char)(identity >> i & 1), (char)('a' + i), 0, 0, 0, 0, 25, -1, -1, -1, -1 };
        memcpy(text + size, column, sizeof column);
        size += sizeof column;
    }
    assert_int_equal(read_message(output, text, size, &change), 0);
}

/* Cell `i` is of kind "tnu"[kinds / 3^i % 3]. */
static void look_at_old(pg_output *output, unsigned identity, char row, unsigned kinds) {
    static const pg_row wanted = { .emit = { .places = { 4 }, .count = 1 } };
    static pg_row_values values;
    char text[60] = { 'D', 0, 0, 0, 7, row, 0, COLUMNS };
    size_t size = 8, told = 0;
    pg_change change;
    for (unsigned i = 0, left = kinds; i < COLUMNS; i++, left /= 3) {
        text[size++] = "tnu"[left % 3];
        if (left % 3 == 0) memcpy(text + size, "\0\0\0\1v", 5), size += 5;
    }
    assert_int_equal(read_message(output, text, size, &change), 0);
    pg_row_fill(&wanted, &(pg_event){ .op = "delete", .relation = change.relation, .before = change.before }, &values);
    for (unsigned i = 0, left = kinds; i < COLUMNS; i++, left /= 3) {
        gale_value value;
        bool is = left % 3 != 2 && (row == 'O' || identity >> i & 1);
        char name = (char)('a' + i);
        told += is;
        assert_int_equal(gale_map_get(&values.list[0], (gale_str){ &name, 1 }, &value), is);
        if (is) assert_int_equal(value.type, left % 3 ? GALE_TYPE_NULL : GALE_TYPE_STRING);
    }
    assert_int_equal(values.list[0].size, told);
}

static void old_has_what_the_server_sent_and_nothing_else(void **state) {
    pg_output output;
    (void)state;
    assert_int_equal(pg_output_init(&output), 0);
    for (unsigned identity = 0; identity < 1 << COLUMNS; identity++) {
        describe(&output, identity);
        for (unsigned kinds = 0; kinds < 27; kinds++) {
            look_at_old(&output, identity, 'K', kinds);
            look_at_old(&output, identity, 'O', kinds);
        }
    }
    pg_output_free(&output);
}

/* --- Places ------------------------------------------------------------------------------------------------------------ */

enum { TRANSACTIONS = 40, ROWS_MAX = 5 };

enum { PLACES_MAX = 2000 };

/* What a client knows: which rows it has taken, how often, and which of them have no answer. */
typedef struct knowledge {
    int taken[TRANSACTIONS][ROWS_MAX];
    int64_t open[PLACES_MAX], acked[PLACES_MAX]; /* durable: acked, and told when a checkpoint lasts */
    size_t open_count, acked_count;
} knowledge;

/* A server's log, a client of it, and what would be left of that by a kill. */
typedef struct world {
    fake_collector fake;
    fake_saver savers[2]; /* the checkpoint that lasts, and one that is under way */
    int lasting;
    uint64_t seed;
    uint32_t rows[TRANSACTIONS];
    uint64_t told; /* to the server */
    pg_places places;
    knowledge now, left, under_way;
    bool answered[TRANSACTIONS][ROWS_MAX]; /* for good */
    struct {
        int transaction;
        uint32_t row;
    } of[PLACES_MAX];
    bool durable, saved, saves;
} world;

static uint64_t commit_of(int i) {
    return 100u * (uint64_t)(i + 1);
}

static int save(void *self, gale_saver *to) {
    return pg_places_save(&((world *)self)->places, to);
}

static int restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return pg_places_restore(&((world *)self)->places, from);
}

static const gale_durable_ops ops = { .size = sizeof ops, .version = 1, .save = save, .restore = restore };

/* What has no answer is behind what was told. */
static void tell(world *w) {
    uint64_t confirmed = pg_places_confirmed(&w->places);
    if (confirmed > w->told) w->told = confirmed;
    for (int i = 0; i < TRANSACTIONS; i++)
        for (uint32_t row = 0; row < w->rows[i]; row++)
            if (commit_of(i) < w->told) assert_true(w->answered[i][row]);
}

static void answer(world *w, int64_t place) {
    w->answered[w->of[place].transaction][w->of[place].row] = true;
    pg_places_done(&w->places, place);
}

static void answer_some(world *w) {
    while (w->now.open_count && draw(&w->seed, 3)) {
        size_t i = draw(&w->seed, (uint32_t)w->now.open_count);
        int64_t place = w->now.open[i];
        w->now.open[i] = w->now.open[--w->now.open_count];
        if (w->durable)
            w->now.acked[w->now.acked_count++] = place;
        else
            answer(w, place);
    }
}

static void begin_checkpoint(world *w) {
    assert_int_equal(fake_save(&w->savers[!w->lasting], &ops, w), 0);
    w->savers[w->lasting].checkpoint = w->savers[!w->lasting].checkpoint; /* of both the next is another one */
    w->under_way = w->now;
    w->saves = true;
}

static void end_checkpoint(world *w) {
    w->lasting = !w->lasting;
    w->left = w->under_way;
    w->left.acked_count = 0;
    w->saved = true;
    w->saves = false;
    for (size_t i = 0; i < w->under_way.acked_count; i++) answer(w, w->under_way.acked[i]);
    w->now.acked_count -= w->under_way.acked_count;
    memmove(w->now.acked, w->now.acked + w->under_way.acked_count, w->now.acked_count * sizeof *w->now.acked);
    pg_places_committed(&w->places, w->savers[w->lasting].checkpoint);
}

static int by_number(const void *a, const void *b) {
    const int64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void die_and_go_on(world *w) {
    pg_places_close(&w->places);
    assert_int_equal(pg_places_open(&w->places, &w->fake.context), 0);
    w->now = w->left;
    w->saves = false;
    if (!w->saved) return;
    assert_int_equal(fake_restore(&w->savers[w->lasting], &ops, w), 0);
    assert_true(w->told <= w->places.end); /* or it would be taken for somebody else's */
    qsort(w->now.open, w->now.open_count, sizeof *w->now.open, by_number);
    for (size_t i = 0; i < w->now.open_count; i++) pg_places_again(&w->places, w->now.open[i]);
    pg_places_restored(&w->places);
}

static void disturb(world *w) {
    answer_some(w);
    if (w->durable && draw(&w->seed, 6) == 0) {
        if (w->saves)
            end_checkpoint(w);
        else
            begin_checkpoint(w);
    }
    if (draw(&w->seed, 5) == 0) tell(w);
}

static void take_row(world *w, int transaction, uint32_t row) {
    int64_t place;
    assert_int_equal(pg_places_row(&w->places, &place), 0);
    w->of[place].transaction = transaction;
    w->of[place].row = row;
    w->now.taken[transaction][row]++;
    w->now.open[w->now.open_count++] = place;
    pg_places_taken(&w->places);
}

/* One connection: what the server sends, until it breaks. True: to the end. */
static bool stream(world *w) {
    for (int i = 0; i < TRANSACTIONS; i++) {
        if (commit_of(i) + 50 <= w->told) continue;
        uint64_t skip = pg_places_begin(&w->places, commit_of(i));
        for (uint32_t row = 0; row < w->rows[i]; row++) {
            if (draw(&w->seed, 60) == 0) return false;
            disturb(w);
            if (skip != UINT64_MAX && row >= skip) take_row(w, i, row);
        }
        disturb(w);
        assert_int_equal(pg_places_end(&w->places, commit_of(i), commit_of(i) + 50), 0);
        if (draw(&w->seed, 4) == 0) pg_places_idle(&w->places, commit_of(i) + 60);
        disturb(w);
    }
    return true;
}

static void run_world(uint64_t seed, bool durable) {
    static world w;
    memset(&w, 0, sizeof w);
    w.seed = seed;
    w.durable = durable;
    fake_init(&w.fake);
    w.fake.context.durable = durable;
    for (int i = 0; i < 2; i++) fake_saver_init(&w.savers[i], &w.fake);
    for (int i = 0; i < TRANSACTIONS; i++) w.rows[i] = draw(&w.seed, ROWS_MAX + 1);
    assert_int_equal(pg_places_open(&w.places, &w.fake.context), 0);
    while (!stream(&w))
        if (durable && draw(&w.seed, 2)) die_and_go_on(&w);
    while (w.now.open_count) answer_some(&w);
    if (durable && w.saves) end_checkpoint(&w);
    if (durable) begin_checkpoint(&w);
    if (durable) end_checkpoint(&w);
    assert_true(pg_places_are_done(&w.places));
    tell(&w);
    assert_true(w.told >= commit_of(TRANSACTIONS - 1) + 50);
    for (int i = 0; i < TRANSACTIONS; i++)
        for (uint32_t row = 0; row < w.rows[i]; row++) assert_int_equal(w.now.taken[i][row], 1);
    pg_places_close(&w.places);
    for (int i = 0; i < 2; i++) fake_saver_fini(&w.savers[i]);
    fake_fini(&w.fake);
}

static void each_row_is_taken_once_however_often_the_connection_breaks(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) run_world(seed, false);
}

static void and_in_a_durable_run_however_often_it_dies(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) run_world(seed, true);
}

static void what_was_saved_and_is_none_is_damaged(void **state) {
    fake_collector fake;
    fake_saver saver;
    world *w = calloc(1, sizeof *w);
    (void)state;
    assert_non_null(w);
    fake_init(&fake);
    fake_saver_init(&saver, &fake);
    assert_int_equal(pg_places_open(&w->places, &fake.context), 0);
    assert_int_equal(fake_restore(&saver, &ops, w), GALE_DAMAGED);
    pg_places_close(&w->places);
    fake_saver_fini(&saver);
    fake_fini(&fake);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_batch_has_nothing_to_send),
        cmocka_unit_test(rows_that_are_refused_are_found_alone_and_all_others_are_taken),
        cmocka_unit_test(values_are_what_copy_reads),
        cmocka_unit_test(places_in_the_log_are_read_as_they_are_written),
        cmocka_unit_test(changes_have_the_cells_of_their_rows),
        cmocka_unit_test(old_has_what_the_server_sent_and_nothing_else),
        cmocka_unit_test(a_message_that_is_cut_off_is_damaged),
        cmocka_unit_test(each_row_is_taken_once_however_often_the_connection_breaks),
        cmocka_unit_test(and_in_a_durable_run_however_often_it_dies),
        cmocka_unit_test(what_was_saved_and_is_none_is_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
