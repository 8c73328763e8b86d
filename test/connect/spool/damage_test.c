#include "connect/spool/rig.h"

/* --- Torn ---------------------------------------------------------------------------------------------------------- */

static void a_record_that_was_not_written_to_its_end_is_cut_and_nobody_is_told(void **state) {
    (void)state;
    rig r;
    char name[ROOM];
    begin_open(&r);
    name_of(&r, 1, name);
    add_many(&r, 3, 0);
    make_safe(&r);
    int64_t before = size_of(name);
    add_many(&r, 1, 20);
    make_safe(&r);
    for (int64_t size = size_of(name) - 1; size > before; size--) {
        close_log(&r);
        assert_int_equal(truncate(name, size), 0);
        assert_int_equal(open_log(&r, NULL), 0);
        assert_int_equal(read_from(&r, 1), 3);
        assert_int_equal(size_of(name), before);
        add_many(&r, 1, 20);
        make_safe(&r);
        assert_int_equal(read_from(&r, 4), 1);
    }
    assert_string_equal(told(&r), "");
    end(&r);
}

static void zeros_at_the_end_are_what_a_loss_of_power_leaves(void **state) {
    (void)state;
    rig r;
    char name[ROOM];
    begin_open(&r);
    name_of(&r, 1, name);
    add_many(&r, 3, 0);
    make_safe(&r);
    close_log(&r);
    int64_t before = size_of(name);
    assert_int_equal(truncate(name, before + 4096), 0);
    assert_int_equal(open_log(&r, NULL), 0);
    assert_int_equal(size_of(name), before);
    add_many(&r, 1, 0);
    make_safe(&r);
    assert_int_equal(read_from(&r, 1), 4);
    assert_string_equal(told(&r), "");
    end(&r);
}

/* --- Damaged ------------------------------------------------------------------------------------------------------- */

static void flip(const char *name, int64_t at) {
    unsigned char byte;
    int fd = open(name, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0xff;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void check_damage(rig *r, const char *name, int64_t at, int64_t size) {
    char file[3 * ROOM + 20];
    snprintf(file, sizeof file, "'%s' is damaged: ", name);
    flip(name, at);
    gx_buf_reset(&r->told);
    assert_int_equal(open_log(r, NULL), 0);
    uint64_t missing = count_missing(r);
    assert_int_equal(missing, at < GX_SPOOL_SEGMENT_HEAD ? 0 : 1);
    assert_int_equal(r->reader.lost, missing);
    const char *first = strstr(told(r), file);
    assert_non_null(first);
    assert_string_equal(strchr(first, '\n'), "\n"); /* once, and nothing else */
    if (missing) assert_non_null(strstr(told(r), " is lost; the rest goes on. Look at the disk"));
    assert_int_equal(read_from(r, 0), 0);
    close_log(r);
    assert_int_equal(size_of(name), size);
    flip(name, at);
}

static void each_byte_that_is_damaged_costs_one_record_and_is_told(void **state) {
    (void)state;
    rig r;
    char names[3][ROOM];
    begin_with_some(&r);
    for (size_t i = 0; i < 3; i++) name_of(&r, r.log.segments[i].first, names[i]);
    close_log(&r);
    for (size_t i = 0; i < 3; i++)
        for (int64_t at = 0, size = size_of(names[i]); at < size; at++) check_damage(&r, names[i], at, size);
    assert_int_equal(open_log(&r, NULL), 0);
    gx_buf_reset(&r.told);
    assert_int_equal(count_missing(&r), 0);
    assert_string_equal(told(&r), "");
    end(&r);
}

static void a_damaged_position_is_an_older_one(void **state) {
    (void)state;
    rig r;
    char name[120];
    begin_with_some(&r);
    snprintf(name, sizeof name, "%s/position", r.path);
    answer(&r, 5);
    answer(&r, 9);
    close_log(&r);
    for (int64_t at = 0; at < size_of(name); at++) {
        flip(name, at);
        assert_int_equal(open_log(&r, NULL), 0);
        assert_true(r.log.position == 5 || r.log.position == 9);
        assert_int_equal(read_from(&r, r.log.position), SOME - r.log.position + 1);
        close_log(&r);
        flip(name, at);
    }
    assert_int_equal(truncate(name, 0), 0);
    assert_int_equal(open_log(&r, NULL), 0);
    assert_int_equal(read_from(&r, 1), SOME);
    assert_string_equal(told(&r), "");
    end(&r);
}

static void behind_damage_at_the_very_end_a_new_segment_begins(void **state) {
    (void)state;
    rig r;
    char name[ROOM];
    begin_open(&r);
    name_of(&r, 1, name);
    add_many(&r, 3, 0);
    make_safe(&r);
    close_log(&r);
    flip(name, size_of(name) - 40); /* in the head of the last */
    assert_int_equal(open_log(&r, NULL), 0);
    add_many(&r, 2, 0);
    make_safe(&r);
    assert_int_equal(r.log.count, 2);
    gx_spool_record record;
    const uint64_t wanted[] = { 1, 2, 4, 5 };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(gx_spool_reader_next(&r.reader, &record, NULL), 1);
        assert_int_equal(record.number, wanted[i]);
    }
    assert_non_null(strstr(told(&r), "record 3 is lost"));
    end(&r);
}

static void a_segment_that_is_gone_or_shorter_is_told_and_the_others_go_on(void **state) {
    (void)state;
    rig r;
    char name[ROOM];
    begin_with_some(&r);
    uint64_t second = r.log.segments[1].first, third = r.log.segments[2].first;
    name_of(&r, second, name);
    assert_int_equal(truncate(name, 40), 0);
    assert_int_equal(count_missing(&r), third - second);
    assert_non_null(strstr(told(&r), "are lost"));
    gx_buf_reset(&r.told);
    close_log(&r);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(open_log(&r, NULL), 0);
    assert_int_equal(count_missing(&r), third - second);
    assert_non_null(strstr(told(&r), "are lost"));
    end(&r);
}

static void damage_of_what_is_answered_is_nobodys_matter(void **state) {
    (void)state;
    rig r;
    char name[ROOM];
    begin_with_some(&r);
    name_of(&r, 1, name);
    answer(&r, 10);
    close_log(&r);
    flip(name, 60);
    assert_int_equal(open_log(&r, NULL), 0);
    assert_int_equal(read_from(&r, 10), SOME - 9);
    assert_string_equal(told(&r), "");
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_that_was_not_written_to_its_end_is_cut_and_nobody_is_told),
        cmocka_unit_test(zeros_at_the_end_are_what_a_loss_of_power_leaves),
        cmocka_unit_test(each_byte_that_is_damaged_costs_one_record_and_is_told),
        cmocka_unit_test(a_damaged_position_is_an_older_one),
        cmocka_unit_test(behind_damage_at_the_very_end_a_new_segment_begins),
        cmocka_unit_test(a_segment_that_is_gone_or_shorter_is_told_and_the_others_go_on),
        cmocka_unit_test(damage_of_what_is_answered_is_nobodys_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
