#include "connect/spool/rig.h"

/* --- When the disk or memory fails --------------------------------------------------------------------------------- */

/* What somebody has heard. */
typedef struct heard {
    uint64_t safe;     /* all below are to be there */
    uint64_t position; /* all below were answered */
} heard;

/* Some work, of which each step may fail; what is known to be safe is in `h`. */
static void work(rig *r, heard *h) {
    if (open_log(r, NULL) < 0) return;
    if (h->safe < r->log.safe) h->safe = r->log.safe;
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 40; j++)
            if (add(r, 30, NULL) < 0) break;
        if (gx_spool_log_write(&r->log, NULL) < 0) continue;
        if (gx_spool_log_sync(&r->log, NULL) < 0) return; /* nothing is known any more */
        h->safe = r->log.safe;
        gx_spool_record record;
        while (gx_spool_reader_next(&r->reader, &record, NULL) > 0) continue;
        if (i != 2) continue;
        h->position = 60;
        (void)gx_spool_log_answered(&r->log, 60);
        (void)gx_spool_log_forget(&r->log, NULL);
    }
}

static void check_heard(rig *r, const heard *h) {
    gx_spool_record record;
    gx_buf_reset(&r->told);
    assert_int_equal(open_log(r, NULL), 0);
    assert_true(r->log.position <= (h->position ? h->position : 1));
    uint64_t next = r->log.position;
    int rc;
    while ((rc = gx_spool_reader_next(&r->reader, &record, NULL)) > 0) {
        assert_int_equal(number_in(&record), record.number);
        assert_int_equal(record.number, next);
        next++;
    }
    assert_int_equal(rc, 0);
    assert_true(next >= h->safe);
    assert_string_equal(told(r), "");
}

static void try_disk(faulty_kind kind, int error) {
    uint64_t faults = 1;
    for (uint64_t n = 1; faults; n++) {
        rig r;
        heard h = { 0, 0 };
        begin(&r);
        faulty_disk_use((faulty_plan){ .folder = r.home, .kind = kind, .error = error, .at = n });
        work(&r, &h);
        close_log(&r);
        faults = faulty_disk_end();
        check_heard(&r, &h);
        end(&r);
    }
}

static void each_system_call_may_fail(void **state) {
    (void)state;
    try_disk(FAULTY_ONCE, EIO);
    try_disk(FAULTY_ONCE, ENOSPC);
}

static void each_transfer_may_be_short(void **state) {
    (void)state;
    try_disk(FAULTY_SHORT, 0);
}

static void the_disk_may_be_full_from_any_call_on(void **state) {
    (void)state;
    try_disk(FAULTY_FULL, 0);
}

static void the_process_may_die_in_each_call(void **state) {
    (void)state;
    try_disk(FAULTY_DEAD, 0);
}

/* Three records that are safe, and three that find no room from the disk's call `at` on; 0: they do. */
static void fill_disk(rig *r, uint64_t at) {
    begin(r);
    faulty_disk_use((faulty_plan){ .folder = r->home, .kind = FAULTY_FULL, .at = at });
    assert_int_equal(open_log(r, NULL), 0);
    add_many(r, 3, 10);
    make_safe(r);
    add_many(r, 3, 10);
}

static void a_full_disk_is_known_and_gone_on_with_when_there_is_room(void **state) {
    (void)state;
    rig r;
    fill_disk(&r, 0);
    uint64_t calls = faulty_disk_calls();
    end(&r);
    fill_disk(&r, calls + 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gx_spool_log_write(&r.log, NULL), GALE_IO);
        assert_true(r.log.full && !r.log.broken);
    }
    assert_int_equal(r.log.count, 1); /* no other file could be made */
    assert_true(faulty_disk_end() > 0);
    make_safe(&r);
    assert_int_equal(read_from(&r, 1), 6);
    assert_string_equal(told(&r), "");
    end(&r);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    for (size_t n = 1;; n++) {
        rig r;
        heard h = { 0, 0 };
        begin(&r);
        r.counting.fail_at = n;
        work(&r, &h);
        bool all = r.counting.calls < n;
        r.counting.fail_at = 0;
        close_log(&r);
        check_heard(&r, &h);
        end(&r);
        if (all) break;
    }
}

/* --- When somebody else changes its files -------------------------------------------------------------------------- */

typedef enum deed { REMOVED, RENAMED, CUT, FOLDER_REMOVED, FOLDER_RENAMED, DEEDS } deed;

static void do_it(rig *r, const char *path, deed what) {
    char command[3 * GX_FILE_NAME_SIZE];
    if (what == CUT)
        assert_int_equal(truncate(path, 20), 0);
    else if (what < CUT)
        snprintf(command, sizeof command, what == REMOVED ? "rm '%s'" : "mv '%s' '%s.aside'", path, path);
    else
        snprintf(command, sizeof command, what == FOLDER_REMOVED ? "rm -r '%s'" : "mv '%s' '%s.aside'", r->path,
                 r->path);
    if (what != CUT) assert_int_equal(system(command), 0);
}

static void expect_noticed(deed what, bool of_mark, bool at_once) {
    rig r;
    char name[GX_FILE_NAME_SIZE];
    gale_error error = GALE_ERROR_INIT;
    begin_open(&r);
    r.log.at_once = at_once;
    add_many(&r, 50, 100);
    make_safe(&r);
    int rc = of_mark ? gx_spool_log_mark_name(&r.log, name, NULL)
                     : gx_spool_log_name(&r.log, r.log.segments[r.log.count - 1].first, name, NULL);
    assert_int_equal(rc, 0);
    do_it(&r, name, what);
    add_many(&r, 2, 100);
    assert_int_equal(gx_spool_log_write(&r.log, &error), 0);
    rc = gx_spool_log_sync(&r.log, &error);
    (void)gx_spool_log_answered(&r.log, 10);
    if (rc == 0) rc = gx_spool_log_forget(&r.log, &error);
    if (rc != GALE_IO || !strstr(error.text, "by somebody"))
        fail_msg("deed %d, %d %d: %d %s", what, of_mark, at_once, rc, error.text);
    end(&r);
}

static void what_somebody_does_to_its_files_is_said_with_the_next_sync_or_position(void **state) {
    (void)state;
    for (int what = 0; what < DEEDS; what++)
        for (int i = 0; i < 4; i++) expect_noticed((deed)what, i & 1, i & 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_system_call_may_fail),
        cmocka_unit_test(each_transfer_may_be_short),
        cmocka_unit_test(the_disk_may_be_full_from_any_call_on),
        cmocka_unit_test(the_process_may_die_in_each_call),
        cmocka_unit_test(a_full_disk_is_known_and_gone_on_with_when_there_is_room),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(what_somebody_does_to_its_files_is_said_with_the_next_sync_or_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
