#include "harness/fake_saver.h"

#include <gale/connect.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MARKERS = 20 };

/* A system with transactions, and markers. */
typedef struct outside {
    gx_buf rows;  /* of what was committed: each text, and a space */
    gx_buf notes; /* of culprits: why, a colon, what the note has, and a newline */
    struct marker {
        uint64_t run, number, rows;
    } markers[MARKERS]; /* of each run */
    uint64_t number;    /* of the last */
    int rc;             /* of the next commits */
    int lost;           /* so many answers are lost: it committed, and says GALE_AGAIN */
    uint64_t calls, looks, drops;
    uint64_t run;             /* of the last epoch that it was asked for */
    bool counts;              /* it has markers with rows; what follows is of such */
    const char *pill;         /* a row behind which it ends the connection; NULL: none */
    bool declines;            /* it refuses that row in words, and does not say which */
    bool hates_notes;         /* it ends the connection behind notes, too */
    int flaps;                /* so many connections end behind whatever rows */
    uint64_t losses;          /* connections that ended */
    gale_manual_clock *clock; /* goes on by 1 s with each transaction; NULL: it stands still */
    uint64_t dies_after;      /* transactions; then it says GALE_AGAIN; 0: never */
} outside;

typedef struct fixture {
    fake_collector fake;
    fake_saver saver;
    outside there;
    gale_epochs *epochs;
} fixture;

/* The marker of a run, made when there is none. */
static struct marker *marker_of(outside *there, uint64_t run) {
    int free = -1;
    for (int i = 0; i < MARKERS; i++) {
        if (there->markers[i].run == run) return &there->markers[i];
        if (!there->markers[i].run && free < 0) free = i;
    }
    assert_true(free >= 0);
    there->markers[free] = (struct marker){ .run = run };
    return &there->markers[free];
}

static void forget(outside *there, uint64_t run) {
    for (int i = 0; i < MARKERS; i++)
        if (there->markers[i].run == run) there->markers[i].run = 0;
}

static int count_markers(const outside *there) {
    int count = 0;
    for (int i = 0; i < MARKERS; i++) count += there->markers[i].run != 0;
    return count;
}

static int end_connection(outside *there, gale_epoch *epoch, gale_error *error) {
    there->losses++;
    return gale_epoch_lost(epoch, "it hung up") ? gale_error_set(error, GALE_AGAIN, "it hung up")
                                                : gale_error_set(error, GALE_COMPONENT, "not even its note is taken");
}

static int note_culprit(outside *there, gale_epoch *epoch, gale_str row) {
    gale_str note = gale_epoch_note(epoch, row.data, row.size);
    gx_buf_format(&there->notes, "%s: %s\n", gale_epoch_culprit(epoch), note.data);
    return 0;
}

/* The rows of a transaction into `rows`. True: the pill is among them. */
static bool read_part(const outside *there, gale_epoch *epoch, gx_buf *rows) {
    const gale_value *values;
    size_t count;
    bool has_pill = false;
    while (gale_epoch_next(epoch, &values, &count) > 0) {
        has_pill = has_pill || (there->pill && values[0].size == strlen(there->pill) &&
                                memcmp(values[0].as.string, there->pill, values[0].size) == 0);
        gx_buf_add(rows, values[0].as.string, values[0].size);
        gx_buf_add_byte(rows, ' ');
    }
    return has_pill;
}

/* One of a system that can divide transactions. */
static int write_part(outside *there, gale_epoch *epoch, struct marker *marker, gx_buf *rows, gale_error *error) {
    bool has_pill = read_part(there, epoch, rows), culprit = gale_epoch_culprit(epoch) != NULL;
    if (there->flaps > 0) {
        there->flaps--;
        return end_connection(there, epoch, error);
    }
    if (culprit ? there->hates_notes : has_pill && !there->declines) return end_connection(there, epoch, error);
    if (!culprit && has_pill) {
        assert_true(gale_epoch_declined(epoch, "a row is refused"));
        return gale_error_set(error, GALE_AGAIN, "a row is refused");
    }
    if (culprit)
        note_culprit(there, epoch, (gale_str){ rows->data, rows->size - 1 });
    else
        gx_buf_add(&there->rows, rows->data, rows->size);
    marker->number = gale_epoch_number(epoch);
    marker->rows = gale_epoch_rows(epoch);
    return 0;
}

static int commit_part(outside *there, gale_epoch *epoch, struct marker *marker, gale_error *error) {
    gx_buf rows = GX_BUF_INIT(NULL);
    if (!gale_epoch_begin(epoch, marker->number, marker->rows)) return 0;
    if (there->clock) gale_manual_clock_advance(there->clock, GALE_SECOND);
    int rc = write_part(there, epoch, marker, &rows, error);
    gx_buf_fini(&rows);
    if (rc < 0 || !there->dies_after || --there->dies_after) return rc;
    there->rc = GALE_AGAIN; /* it is in, and nobody hears of it */
    return gale_error_set(error, GALE_AGAIN, "the answer was lost");
}

static int commit(void *user, gale_epoch *epoch, gale_error *error) {
    outside *there = user;
    const gale_value *values;
    size_t count, rows = 0;
    there->calls++;
    there->run = gale_epoch_run(epoch);
    assert_true(gale_epoch_count(epoch) > 0);
    if (there->rc < 0) return gale_error_set(error, there->rc, "the server is away");
    struct marker *marker = marker_of(there, gale_epoch_run(epoch));
    if (there->counts) return commit_part(there, epoch, marker, error);
    if (marker->number >= gale_epoch_number(epoch)) return 0;
    while (gale_epoch_next(epoch, &values, &count) > 0) {
        assert_int_equal(count, 1);
        gx_buf_add(&there->rows, values[0].as.string, values[0].size);
        gx_buf_add_byte(&there->rows, ' ');
        rows++;
    }
    assert_int_equal(rows, gale_epoch_count(epoch));
    marker->number = there->number = gale_epoch_number(epoch);
    if (gale_epoch_forgets(epoch)) forget(there, gale_epoch_forgets(epoch));
    if (!there->lost) return 0;
    there->lost--;
    return gale_error_set(error, GALE_AGAIN, "the answer was lost");
}

static void count_drop(void *user) {
    ((outside *)user)->drops++;
}

static gale_epochs_options options_of(fixture *f) {
    gale_epochs_options options = GALE_EPOCHS_OPTIONS_INIT;
    options.memory = 400;
    options.commit = commit;
    options.drop = count_drop;
    options.user = &f->there;
    return options;
}

static void begin(fixture *f) {
    gale_epochs_options options = options_of(f);
    assert_int_equal(gale_epochs_new(&f->fake.context, &f->fake.collector, &options, &f->epochs, NULL), 0);
}

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    fake_saver_init(&f->saver, &f->fake);
    f->there.rows = f->there.notes = (gx_buf)GX_BUF_INIT(NULL);
    begin(f);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    gale_epochs_free(f->epochs);
    fake_saver_fini(&f->saver);
    gx_buf_fini(&f->there.rows);
    gx_buf_fini(&f->there.notes);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static int save(void *self, gale_saver *to) {
    return gale_epochs_save(self, to);
}

static int restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gale_epochs_restore(self, from);
}

static const gale_durable_ops durable = { .size = sizeof durable, .version = 1, .save = save, .restore = restore };

static void take(fixture *f, const char *text) {
    gale_value row = gale_text(text);
    assert_int_equal(gale_epochs_take(f->epochs, &row, 1), 0);
}

static void cut(fixture *f) {
    assert_int_equal(fake_save(&f->saver, &durable, f->epochs), 0);
}

/* A whole checkpoint. */
static void make_checkpoint(fixture *f) {
    cut(f);
    assert_int_equal(fake_commit_pledges(&f->saver), 0);
    fake_drop_pledges(&f->saver);
    gale_epochs_committed(f->epochs, f->saver.checkpoint);
}

/* The process dies, and another one goes on from the last cut. */
static void die_and_go_on(fixture *f) {
    fake_drop_pledges(&f->saver);
    gale_epochs_free(f->epochs);
    begin(f);
    assert_int_equal(fake_restore(&f->saver, &durable, f->epochs), 0);
}

static void expect_rows(fixture *f, const char *rows) {
    assert_string_equal(f->there.rows.size ? gx_buf_text(&f->there.rows) : "", rows);
}

static void rows_go_out_with_their_checkpoint_and_not_before(void **state) {
    fixture *f = *state;
    take(f, "a");
    take(f, "b");
    cut(f);
    take(f, "c");
    expect_rows(f, "");
    assert_int_equal(fake_commit_pledges(&f->saver), 0);
    expect_rows(f, "a b ");
    gale_epochs_committed(f->epochs, f->saver.checkpoint);
    make_checkpoint(f);
    expect_rows(f, "a b c ");
    assert_int_equal(f->there.number, 2);
}

static void a_run_that_goes_on_has_a_number_of_its_own_and_epochs_keep_theirs(void **state) {
    fixture *f = *state;
    take(f, "a");
    f->there.rc = GALE_AGAIN;
    cut(f);
    assert_int_equal(fake_commit_pledges(&f->saver), GALE_AGAIN);
    uint64_t first = f->there.run;
    assert_true(first > 0);
    die_and_go_on(f);
    cut(f);
    assert_int_equal(fake_commit_pledges(&f->saver), GALE_AGAIN);
    assert_int_equal(f->there.run, first);
    f->there.rc = 0;
    make_checkpoint(f);
    take(f, "b");
    make_checkpoint(f);
    assert_true(f->there.run != first);
}

/* Also those of runs that died while they owed something; one with each epoch. */
static void the_markers_of_runs_before_go_when_nothing_of_them_is_owed(void **state) {
    fixture *f = *state;
    for (int life = 0; life < 3; life++) {
        take(f, "a");
        make_checkpoint(f);
        die_and_go_on(f);
        take(f, "b");
        cut(f);
        if (life == 1) assert_int_equal(fake_commit_pledges(&f->saver), 0);
        die_and_go_on(f);
    }
    for (int i = 0; i < 8; i++) {
        take(f, "c");
        make_checkpoint(f);
    }
    assert_int_equal(count_markers(&f->there), 1);
    expect_rows(f, "a b a b a b c c c c c c c c ");
}

static void an_epoch_without_rows_asks_nothing_of_the_system(void **state) {
    fixture *f = *state;
    make_checkpoint(f);
    make_checkpoint(f);
    assert_int_equal(f->there.calls, 0);
}

static void what_a_crash_kept_goes_out_with_the_next_runs_first_checkpoint(void **state) {
    fixture *f = *state;
    take(f, "a");
    cut(f);
    die_and_go_on(f);
    take(f, "b");
    make_checkpoint(f);
    expect_rows(f, "a b ");
    assert_int_equal(f->there.number, 2);
    make_checkpoint(f);
    expect_rows(f, "a b ");
}

static void what_the_system_has_is_not_sent_again_whenever_the_process_dies(void **state) {
    fixture *f = *state;
    take(f, "a");
    make_checkpoint(f);
    take(f, "b");
    cut(f);
    assert_int_equal(fake_commit_pledges(&f->saver), 0);
    die_and_go_on(f);
    die_and_go_on(f);
    make_checkpoint(f);
    expect_rows(f, "a b ");
}

static void two_epochs_of_a_run_that_died_twice_go_out_in_order(void **state) {
    fixture *f = *state;
    take(f, "a");
    cut(f);
    die_and_go_on(f);
    take(f, "b");
    cut(f);
    die_and_go_on(f);
    make_checkpoint(f);
    expect_rows(f, "a b ");
}

static void what_a_run_makes_that_goes_on_from_an_older_state_comes_again_whenever_it_dies(void **state) {
    fixture *f = *state;
    take(f, "a");
    make_checkpoint(f);
    take(f, "b");
    make_checkpoint(f);
    gx_buf older = GX_BUF_INIT(NULL); /* b is owed in it, and there */
    gx_buf_add(&older, f->saver.records.data, f->saver.records.size);
    take(f, "c");
    make_checkpoint(f);
    take(f, "d");
    make_checkpoint(f);
    gx_buf_reset(&f->saver.records);
    gx_buf_add(&f->saver.records, older.data, older.size);
    gx_buf_fini(&older);
    f->saver.checkpoint = 2;
    die_and_go_on(f);
    take(f, "C");
    cut(f);
    die_and_go_on(f);
    make_checkpoint(f);
    expect_rows(f, "a b c d C ");
    take(f, "D");
    make_checkpoint(f);
    die_and_go_on(f);
    make_checkpoint(f);
    expect_rows(f, "a b c d C D ");
}

static void one_that_begins_anew_is_another_run(void **state) {
    fixture *f = *state;
    take(f, "a");
    make_checkpoint(f);
    take(f, "b");
    make_checkpoint(f);
    gale_epochs_free(f->epochs);
    fake_drop_pledges(&f->saver);
    f->saver.checkpoint = 0;
    begin(f);
    take(f, "c");
    make_checkpoint(f);
    expect_rows(f, "a b c ");
}

static void a_commit_whose_answer_was_lost_is_asked_again_and_comes_once(void **state) {
    fixture *f = *state;
    take(f, "a");
    f->there.lost = 1;
    cut(f);
    assert_int_equal(fake_commit_pledges(&f->saver), GALE_AGAIN);
    assert_int_equal(fake_commit_pledges(&f->saver), 0);
    expect_rows(f, "a ");
}

static void while_the_system_is_away_what_nobody_was_asked_for_is_one_epoch(void **state) {
    fixture *f = *state;
    take(f, "a");
    f->there.rc = GALE_AGAIN;
    cut(f);
    assert_int_equal(fake_commit_pledges(&f->saver), GALE_AGAIN);
    for (int i = 0; i < 20; i++) {
        take(f, "b");
        cut(f);
        assert_int_equal(f->saver.pledges.count, 2);
        assert_int_equal(fake_commit_pledges(&f->saver), GALE_AGAIN);
        gale_epochs_committed(f->epochs, f->saver.checkpoint);
    }
    cut(f); /* nothing came since */
    assert_int_equal(f->saver.pledges.count, 2);
    f->there.rc = 0;
    assert_int_equal(fake_commit_pledges(&f->saver), 0);
    expect_rows(f, "a b b b b b b b b b b b b b b b b b b b b ");
    assert_int_equal(f->there.number, 21);
    make_checkpoint(f);
    assert_int_equal(f->saver.pledges.count, 0);
}

/* It is not known what became of it. */
static void what_was_tried_keeps_its_number_and_comes_once_though_its_answer_is_lost_again_and_again(void **state) {
    fixture *f = *state;
    take(f, "a");
    f->there.lost = 1;
    cut(f);
    assert_int_equal(fake_commit_pledges(&f->saver), GALE_AGAIN);
    assert_int_equal(f->there.number, 1);
    take(f, "b");
    cut(f);
    f->there.lost = 1;
    assert_int_equal(fake_commit_pledges(&f->saver), GALE_AGAIN); /* b's */
    take(f, "c");
    make_checkpoint(f);
    expect_rows(f, "a b c ");
}

static void a_pledge_whose_rows_were_taken_back_commits_nothing(void **state) {
    fixture *f = *state;
    fake_saver other;
    fake_saver_init(&other, &f->fake);
    take(f, "a");
    cut(f);
    take(f, "b");
    other.checkpoint = f->saver.checkpoint;
    assert_int_equal(fake_save(&other, &durable, f->epochs), 0);
    assert_int_equal(fake_commit_pledges(&f->saver), 0);
    assert_int_equal(f->there.calls, 0);
    assert_int_equal(fake_commit_pledges(&other), 0);
    expect_rows(f, "a b ");
    assert_int_equal(f->there.number, 2);
    fake_saver_fini(&other);
}

static void a_run_that_dies_while_the_system_is_away_sends_all_in_order(void **state) {
    fixture *f = *state;
    f->there.rc = GALE_AGAIN;
    for (int life = 0; life < 4; life++) {
        take(f, "a");
        cut(f);
        assert_int_equal(fake_commit_pledges(&f->saver), GALE_AGAIN);
        take(f, "b");
        cut(f);
        assert_int_equal(fake_commit_pledges(&f->saver), GALE_AGAIN);
        die_and_go_on(f);
    }
    f->there.rc = 0;
    take(f, "c");
    make_checkpoint(f);
    expect_rows(f, "a b a b a b a b c ");
    make_checkpoint(f);
    assert_int_equal(f->saver.pledges.count, 0);
}

static void a_full_one_is_full_until_its_rows_are_committed_whatever_lasts(void **state) {
    fixture *f = *state;
    while (!f->fake.congested) take(f, "0123456789");
    f->there.rc = GALE_AGAIN;
    for (int i = 0; i < 3; i++) {
        cut(f);
        assert_int_equal(fake_commit_pledges(&f->saver), GALE_AGAIN);
        gale_epochs_committed(f->epochs, f->saver.checkpoint);
        assert_true(f->fake.congested);
    }
    f->there.rc = 0;
    assert_int_equal(fake_commit_pledges(&f->saver), 0);
    gale_manual_clock_advance(f->fake.clock, GALE_SECOND);
    assert_int_equal(fake_tell_watches(&f->fake), 1);
    assert_false(f->fake.congested);
}

/* --- Culprits --- */

static const char culprit_note[] =
    "3 connections ended behind it while nothing else was on its way (gale.sink.losses): it hung up: base64:eA==\n";

static void expect_notes(fixture *f, const char *note, int count) {
    gx_buf all = GX_BUF_INIT(NULL);
    for (int i = 0; i < count; i++) gx_buf_add_text(&all, note);
    assert_string_equal(f->there.notes.size ? gx_buf_text(&f->there.notes) : "", count ? gx_buf_text(&all) : "");
    gx_buf_fini(&all);
}

/* A hundred rows, and pills among them: the first, two in a row, the last. */
static int take_pills(fixture *f) {
    static const int pills[] = { 0, 41, 42, 99 };
    f->there.counts = true;
    f->there.pill = "x";
    for (int i = 0, next = 0; i < 100; i++) {
        bool is_pill = pills[next] == i;
        take(f, is_pill ? "x" : "a");
        next += is_pill && next < 3;
    }
    return 4;
}

static void expect_neighbours(fixture *f, int count) {
    assert_int_equal(f->there.rows.size, 2 * (size_t)count);
    for (int i = 0; i < count; i++) assert_int_equal(f->there.rows.data[2 * i], 'a');
}

static void a_row_that_ends_connections_is_found_by_halves_and_its_neighbours_come_once(void **state) {
    fixture *f = *state;
    int pills = take_pills(f);
    make_checkpoint(f);
    expect_neighbours(f, 100 - pills);
    expect_notes(f, culprit_note, pills);
    assert_true(f->there.losses <= (uint64_t)(2 + pills * (7 + 1 + GALE_SINK_LOSSES)));
    assert_non_null(strstr(gx_buf_text(&f->fake.logged), "the 100 rows of checkpoint 1 go out in parts"));
    take(f, "b");
    make_checkpoint(f);
    assert_int_equal(f->there.rows.data[f->there.rows.size - 2], 'b');
}

static void a_row_that_is_declined_without_its_name_is_found_without_losses_and_its_note_is_plain(void **state) {
    fixture *f = *state;
    int pills = take_pills(f);
    f->there.declines = true;
    make_checkpoint(f);
    expect_neighbours(f, 100 - pills);
    expect_notes(f, "a row is refused: x\n", pills);
    assert_int_equal(f->there.losses, 0);
}

/* True: it died behind the n-th transaction of the search. */
static bool die_in_search(fixture *f, uint64_t n) {
    int pills = take_pills(f);
    f->there.dies_after = n;
    cut(f);
    bool died = fake_commit_pledges(&f->saver) < 0;
    f->there.rc = 0;
    f->there.dies_after = 0;
    die_and_go_on(f);
    make_checkpoint(f);
    expect_neighbours(f, 100 - pills);
    expect_notes(f, culprit_note, pills);
    return died;
}

static void a_search_goes_on_where_the_process_died(void **state) {
    uint64_t n = 1;
    while (die_in_search(*state, n)) {
        (void)teardown(state);
        (void)setup(state);
        n++;
    }
    assert_true(n > 10);
}

static void a_system_that_is_away_or_restarts_blames_no_row(void **state) {
    fixture *f = *state;
    f->there.counts = true;
    for (int i = 0; i < 64; i++) take(f, "a");
    cut(f);
    f->there.rc = GALE_AGAIN;
    for (int i = 0; i < 100; i++) assert_int_equal(fake_commit_pledges(&f->saver), GALE_AGAIN);
    f->there.rc = 0;
    f->there.flaps = 5;
    assert_int_equal(fake_commit_pledges(&f->saver), 0);
    expect_neighbours(f, 64);
    expect_notes(f, "", 0);
}

static void one_row_has_its_losses_before_it_is_the_culprit(void **state) {
    fixture *f = *state;
    f->there.counts = true;
    take(f, "a");
    f->there.flaps = GALE_SINK_LOSSES - 1;
    make_checkpoint(f);
    expect_rows(f, "a ");
    take(f, "b");
    f->there.flaps = GALE_SINK_LOSSES;
    make_checkpoint(f);
    expect_rows(f, "a ");
    assert_int_equal(f->there.losses, 2 * GALE_SINK_LOSSES - 1);
}

static void a_culprit_whose_note_is_not_taken_ends_the_run(void **state) {
    fixture *f = *state;
    take_pills(f);
    f->there.hates_notes = true;
    cut(f);
    assert_int_equal(fake_commit_pledges(&f->saver), GALE_COMPONENT);
    assert_non_null(strstr(f->saver.error.text, "not even its note is taken"));
    assert_true(f->there.losses <= 2 + 7 + 1 + 2 * GALE_SINK_LOSSES);
}

/* The next attempt goes on behind what is in. */
static void a_search_that_takes_long_is_put_off_and_goes_on(void **state) {
    fixture *f = *state;
    int pills = take_pills(f);
    cut(f);
    f->there.clock = f->fake.clock;
    int attempts = 1;
    for (; fake_commit_pledges(&f->saver) == GALE_AGAIN; attempts++) assert_true(attempts < 100);
    assert_true(attempts > 3);
    expect_neighbours(f, 100 - pills);
    expect_notes(f, culprit_note, pills);
}

static void a_run_that_had_come_to_its_end_searches_until_it_is_over(void **state) {
    fixture *f = *state;
    int pills = take_pills(f);
    cut(f);
    f->saver.is_end = true;
    f->there.clock = f->fake.clock;
    die_and_go_on(f);
    expect_neighbours(f, 100 - pills);
    expect_notes(f, culprit_note, pills);
}

static int look_for(void *user, gale_error *error) {
    outside *there = user;
    there->looks++;
    return there->rc < 0 ? gale_error_set(error, there->rc, "the address is wrong") : 0;
}

/* Each step with a look at the clock, as the task has it. */
static void tell_time(fixture *f, int64_t passed) {
    gale_manual_clock_advance(f->fake.clock, passed);
    (void)fake_tell_watches(&f->fake);
}

static void before_there_is_anything_to_send_it_is_told_that_the_system_is_away(void **state) {
    fixture *f = *state;
    gale_epochs_options options = options_of(f);
    gale_epochs_free(f->epochs);
    options.look = look_for;
    assert_int_equal(gale_epochs_new(&f->fake.context, &f->fake.collector, &options, &f->epochs, NULL), 0);
    f->there.rc = GALE_AGAIN;
    make_checkpoint(f);
    tell_time(f, GALE_SECOND);
    assert_string_equal(f->fake.health, "the address is wrong");
    for (int i = 0; i < 100; i++) make_checkpoint(f); /* pauses */
    assert_true(f->there.looks <= 2);
    f->there.rc = 0;
    tell_time(f, 60 * GALE_SECOND);
    make_checkpoint(f);
    tell_time(f, GALE_SECOND);
    assert_string_equal(f->fake.health, "");
    uint64_t looks = f->there.looks;
    tell_time(f, 60 * GALE_SECOND);
    make_checkpoint(f);
    assert_int_equal(f->there.looks, looks);
    assert_int_equal(f->saver.pledges.count, 0);
    assert_int_equal(f->there.calls, 0);
}

static void while_the_system_is_away_the_task_says_so(void **state) {
    fixture *f = *state;
    take(f, "a");
    f->there.rc = GALE_AGAIN;
    cut(f);
    assert_int_equal(fake_commit_pledges(&f->saver), GALE_AGAIN);
    gale_manual_clock_advance(f->fake.clock, GALE_SECOND);
    assert_int_equal(fake_tell_watches(&f->fake), 1);
    assert_string_equal(f->fake.health, "the server is away");
    f->there.rc = 0;
    assert_int_equal(fake_commit_pledges(&f->saver), 0);
    gale_manual_clock_advance(f->fake.clock, GALE_SECOND);
    assert_int_equal(fake_tell_watches(&f->fake), 1);
    assert_string_equal(f->fake.health, "");
    gale_epochs_committed(f->epochs, f->saver.checkpoint);
    expect_rows(f, "a ");
}

static void a_full_one_asks_for_a_checkpoint_and_holds_back_who_feeds_it(void **state) {
    fixture *f = *state;
    while (!f->fake.wishes) take(f, "0123456789");
    assert_false(f->fake.congested);
    while (!f->fake.congested) take(f, "0123456789");
    assert_int_equal(f->fake.wishes, 1);
    cut(f);
    assert_true(f->fake.congested);
    assert_int_equal(fake_commit_pledges(&f->saver), 0);
    gale_epochs_committed(f->epochs, f->saver.checkpoint);
    assert_false(f->fake.congested);
}

static void what_had_come_to_its_end_goes_out_when_it_is_looked_at_again(void **state) {
    fixture *f = *state;
    take(f, "a");
    cut(f);
    f->saver.is_end = true;
    f->there.rc = GALE_AGAIN;
    fake_drop_pledges(&f->saver);
    gale_epochs_free(f->epochs);
    begin(f);
    assert_int_equal(fake_restore(&f->saver, &durable, f->epochs), GALE_IO);
    assert_string_equal(fake_text(&f->fake.reports), "the server is away\n");
    f->fake.reports.size = 0;
    f->there.rc = 0;
    die_and_go_on(f);
    expect_rows(f, "a ");
}

static void a_pledge_may_outlive_its_task(void **state) {
    fixture *f = *state;
    take(f, "a");
    cut(f);
    gale_epochs_free(f->epochs);
    f->epochs = NULL;
    assert_int_equal(f->there.drops, 0);
    assert_int_equal(fake_commit_pledges(&f->saver), 0);
    fake_drop_pledges(&f->saver);
    assert_int_equal(f->there.drops, 1);
    expect_rows(f, "a ");
}

static void what_was_not_written_so_is_refused_with_a_sentence(void **state) {
    fixture *f = *state;
    take(f, "a");
    cut(f);
    fake_drop_pledges(&f->saver);
    size_t whole = f->saver.records.size;
    for (size_t size = 0; size < whole; size += 8) {
        gale_str part = { f->saver.records.data, size };
        if (!gx_records_are_whole(part)) continue;
        gale_epochs_free(f->epochs);
        begin(f);
        f->saver.records.size = size;
        assert_int_equal(fake_restore(&f->saver, &durable, f->epochs), GALE_DAMAGED);
        assert_non_null(strstr(fake_text(&f->fake.reports), "epochs: record "));
        f->fake.reports.size = 0;
    }
    f->saver.records.size = whole;
}

static void misuse_is_refused(void **state) {
    fixture *f = *state;
    gale_epochs_options options = options_of(f);
    gale_epochs *epochs = NULL;
    options.commit = NULL;
    assert_int_equal(gale_epochs_new(&f->fake.context, &f->fake.collector, &options, &epochs, NULL), GALE_INVALID);
    assert_int_equal(gale_epochs_new(NULL, &f->fake.collector, &options, &epochs, NULL), GALE_INVALID);
    assert_null(epochs);
    assert_int_equal(gale_epochs_take(NULL, NULL, 0), GALE_INVALID);
    assert_int_equal(gale_epochs_take(f->epochs, NULL, 1), GALE_INVALID);
    assert_int_equal(gale_epochs_save(f->epochs, NULL), GALE_INVALID);
    assert_int_equal(gale_epochs_restore(f->epochs, NULL), GALE_INVALID);
    gale_epochs_committed(NULL, 1);
    gale_epochs_free(NULL);
    assert_int_equal(gale_epoch_next(NULL, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_epoch_count(NULL), 0);
    assert_int_equal(gale_epoch_rows(NULL), 0);
    assert_false(gale_epoch_begin(NULL, 0, 0));
    assert_false(gale_epoch_lost(NULL, NULL));
    assert_false(gale_epoch_declined(NULL, NULL));
    assert_null(gale_epoch_culprit(NULL));
    assert_null(gale_epoch_note(NULL, "", 0).data);
}

/* A row, a cut, another row and a cut; with the n-th allocation refused, for every n: nothing is lost and nothing leaks. */
static void every_allocation_may_fail(void **state) {
    fixture *f = *state;
    gale_epochs_free(f->epochs);
    f->epochs = NULL;
    for (uint64_t n = 1;; n++) {
        gale_epochs_options options = options_of(f);
        gale_value row = gale_text("a");
        f->fake.fail_at = f->fake.allocations + n;
        int rc = gale_epochs_new(&f->fake.context, &f->fake.collector, &options, &f->epochs, NULL);
        if (rc == 0) rc = gale_epochs_take(f->epochs, &row, 1);
        if (rc == 0) rc = fake_save(&f->saver, &durable, f->epochs);
        if (rc == 0) rc = gale_epochs_take(f->epochs, &row, 1);
        if (rc == 0) rc = fake_save(&f->saver, &durable, f->epochs);
        bool failed = f->fake.allocations >= f->fake.fail_at;
        f->fake.fail_at = 0;
        fake_drop_pledges(&f->saver);
        gale_epochs_free(f->epochs);
        f->epochs = NULL;
        assert_int_equal(rc, failed ? GALE_NO_MEMORY : 0);
        if (!failed) break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_go_out_with_their_checkpoint_and_not_before, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_that_goes_on_has_a_number_of_its_own_and_epochs_keep_theirs, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_markers_of_runs_before_go_when_nothing_of_them_is_owed, setup, teardown),
        cmocka_unit_test_setup_teardown(an_epoch_without_rows_asks_nothing_of_the_system, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_crash_kept_goes_out_with_the_next_runs_first_checkpoint, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_the_system_has_is_not_sent_again_whenever_the_process_dies, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(two_epochs_of_a_run_that_died_twice_go_out_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_run_makes_that_goes_on_from_an_older_state_comes_again_whenever_it_dies,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_begins_anew_is_another_run, setup, teardown),
        cmocka_unit_test_setup_teardown(a_commit_whose_answer_was_lost_is_asked_again_and_comes_once, setup, teardown),
        cmocka_unit_test_setup_teardown(while_the_system_is_away_what_nobody_was_asked_for_is_one_epoch, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            what_was_tried_keeps_its_number_and_comes_once_though_its_answer_is_lost_again_and_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pledge_whose_rows_were_taken_back_commits_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_that_dies_while_the_system_is_away_sends_all_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_one_is_full_until_its_rows_are_committed_whatever_lasts, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_row_that_ends_connections_is_found_by_halves_and_its_neighbours_come_once,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_row_that_is_declined_without_its_name_is_found_without_losses_and_its_note_is_plain, setup, teardown),
        cmocka_unit_test_setup_teardown(a_search_goes_on_where_the_process_died, setup, teardown),
        cmocka_unit_test_setup_teardown(a_system_that_is_away_or_restarts_blames_no_row, setup, teardown),
        cmocka_unit_test_setup_teardown(one_row_has_its_losses_before_it_is_the_culprit, setup, teardown),
        cmocka_unit_test_setup_teardown(a_culprit_whose_note_is_not_taken_ends_the_run, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_that_had_come_to_its_end_searches_until_it_is_over, setup, teardown),
        cmocka_unit_test_setup_teardown(a_search_that_takes_long_is_put_off_and_goes_on, setup, teardown),
        cmocka_unit_test_setup_teardown(before_there_is_anything_to_send_it_is_told_that_the_system_is_away, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(while_the_system_is_away_the_task_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_one_asks_for_a_checkpoint_and_holds_back_who_feeds_it, setup, teardown),
        cmocka_unit_test_setup_teardown(what_had_come_to_its_end_goes_out_when_it_is_looked_at_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pledge_may_outlive_its_task, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_not_written_so_is_refused_with_a_sentence, setup, teardown),
        cmocka_unit_test_setup_teardown(misuse_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
