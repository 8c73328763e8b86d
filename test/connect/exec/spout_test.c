/* What a command writes becomes tuples, whatever it does beside that, or instead. */
#include "connect/exec/run.h"

static gale_exec_command command_of(const char *text) {
    return (gale_exec_command){ .size = sizeof(gale_exec_command), .command = text };
}

static gale_exec_spout_options options_of(const gale_exec_command *command) {
    return (gale_exec_spout_options){ .size = sizeof(gale_exec_spout_options), .run = command };
}

static void begin_with(run *r, const gale_exec_spout_options *options) {
    gale_spout spout;
    gale_error error = GALE_ERROR_INIT;
    run_init(r);
    int rc = gale_exec_spout(options, &spout, &error);
    if (rc < 0) print_error("%s\n", error.text);
    assert_int_equal(rc, 0);
    run_add_command(r, spout);
}

static void begin(run *r, const gale_exec_command *command) {
    gale_exec_spout_options options = options_of(command);
    begin_with(r, &options);
}

/* Runs it to its end; what was emitted. */
static void emits(const gale_exec_spout_options *options, const char *lines) {
    run r;
    begin_with(&r, options);
    int rc = run_all(&r);
    if (rc < 0) print_error("%s\n", r.error.text);
    assert_int_equal(rc, 0);
    assert_string_equal(gx_buf_text(&r.kept), lines);
    run_fini(&r);
}

static void text_emits(const char *command, const char *lines) {
    gale_exec_command how = command_of(command);
    gale_exec_spout_options options = options_of(&how);
    emits(&options, lines);
}

/* --- Records --------------------------------------------------------------------------------------------------------- */

static void each_line_is_a_tuple(void **state) {
    (void)state;
    text_emits("printf 'a\\r\\n\\nlong line\\nlast'", "a\n\nlong line\nlast\n");
    text_emits("true", "");
    text_emits("(echo a; echo b) | tr a-z A-Z", "A\nB\n");
    text_emits("printf 'a\\000b\\n' | tr '\\000' '|'", "a|b\n");
}

static void lines_have_numbers_and_a_line_is_text_or_bytes(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("printf 'a\\n\\377\\n'");
    gale_exec_spout_options options = options_of(&how);
    options.emit = "line, number";
    begin_with(&r, &options);
    assert_int_equal(run_all(&r), 0);
    assert_string_equal(gx_buf_text(&r.kept), "a 1\n\377 2\n");
    assert_int_equal(r.kept_type, GALE_TYPE_BYTES);
    run_fini(&r);
}

static void records_may_end_with_a_nul(void **state) {
    (void)state;
    gale_exec_command how = command_of("printf 'a\\nb\\000c\\000\\000d'");
    gale_exec_spout_options options = options_of(&how);
    options.records = GALE_EXEC_NUL;
    emits(&options, "a\nb\nc\n\nd\n");
}

static void a_record_that_is_too_long_is_cut_or_dropped_and_counted(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("echo abcdef; echo ab; head -c 3000000 /dev/zero; echo; echo c");
    gale_exec_spout_options options = options_of(&how);
    options.max_record = 3;
    options.drop_long = true;
    begin_with(&r, &options);
    assert_int_equal(run_all(&r), 0);
    assert_string_equal(gx_buf_text(&r.kept), "ab\nc\n");
    must_log(&r, "2 records of more than 3 bytes, which were dropped");
    run_fini(&r);
    how = command_of("echo abcdef; echo ab");
    options.drop_long = false;
    emits(&options, "abc\nab\n");
}

static void what_fails_is_emitted_again(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("seq 5");
    begin(&r, &how);
    r.fails_first = 2;
    assert_int_equal(run_all(&r), 0);
    assert_int_equal(r.kept_count, 5);
    run_fini(&r);
}

static void many_lines_come_whole_and_in_order(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("seq 200000");
    begin(&r, &how);
    assert_int_equal(run_all(&r), 0);
    assert_int_equal(r.kept_count, 200000);
    must_be_numbers(gx_buf_text(&r.kept), 1, 200000);
    run_fini(&r);
}

/* --- What it is given ------------------------------------------------------------------------------------------------ */

static void words_are_run_without_a_shell_in_their_folder_and_environment(void **state) {
    (void)state;
    const char *words[] = { "sh", "-c",    "echo \"$1|$A|${HOME-none}|$GALE_TASK of $GALE_TASKS\"; pwd",
                            "sh", "a  $b", NULL };
    const char *environment[] = { "A=1 2", "HOME", NULL };
    gale_exec_command how = { .size = sizeof how, .words = words, .environment = environment, .folder = "/usr" };
    gale_exec_spout_options options = options_of(&how);
    emits(&options, "a  $b|1 2|none|0 of 1\n/usr\n");
}

/* --- How it ends ----------------------------------------------------------------------------------------------------- */

static void ends_with(const char *command, const char *words) {
    run r;
    gale_exec_command how = command_of(command);
    begin(&r, &how);
    assert_int_equal(run_all(&r), GALE_COMPONENT);
    must_say(r.error.text, words);
    run_fini(&r);
}

static void one_that_fails_stops_the_run_with_its_last_words(void **state) {
    (void)state;
    ends_with("echo a; exit 3", "command 'echo a; exit 3' ended with exit status 3");
    ends_with("echo first >&2; printf '\\033last\\n\\n' >&2; exit 1", "ended with exit status 1: \\u001blast");
    ends_with("printf 'no end of line' >&2; kill -KILL $$", "was killed by signal 9 (Killed): no end of line");
    ends_with("exec kill -SEGV $$", "was killed by signal 11");
}

static void what_it_has_written_is_emitted_before_that(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("seq 1000; exit 3");
    begin(&r, &how);
    assert_int_equal(run_all(&r), GALE_COMPONENT);
    assert_int_equal(r.kept_count, 1000);
    run_fini(&r);
}

static void one_that_cannot_be_run_stops_the_start(void **state) {
    (void)state;
    run r;
    const char *words[] = { "gale-no-such-program", NULL };
    gale_exec_command how = { .size = sizeof how, .words = words };
    begin(&r, &how);
    assert_int_equal(run_start(&r, true), GALE_NOT_FOUND);
    must_say(r.error.text, "cannot run 'gale-no-such-program': there is no such program in PATH");
    run_fini(&r);
}

/* --- Again ----------------------------------------------------------------------------------------------------------- */

static gale_exec_command again_of(const char *text, int32_t restart) {
    gale_exec_command how = command_of(text);
    how.restart = restart;
    how.restart_wait = 0.001;
    how.restart_wait_max = 0.002;
    return how;
}

static void one_that_fails_is_started_again_when_that_is_wanted(void **state) {
    (void)state;
    run r;
    gale_exec_command how = again_of(
        "echo x >>$GALE_TEST/runs; n=$(grep -c x $GALE_TEST/runs); echo run $n; [ $n = 3 ]", GALE_EXEC_FAILURE);
    begin(&r, &how);
    assert_int_equal(run_all(&r), 0);
    assert_string_equal(gx_buf_text(&r.kept), "run 1\nrun 2\nrun 3\n");
    must_log(&r, "ended with exit status 1: it is started again in 0.00");
    must_log(&r, "is not well: command 'echo x");
    must_log(&r, "is well again, after ");
    run_fini(&r);
}

static void so_many_failures_in_a_row_are_too_many(void **state) {
    (void)state;
    run r;
    gale_exec_command how = again_of("echo x; echo no >&2; exit 7", GALE_EXEC_FAILURE);
    how.restart_wait_max = 1000;
    how.restart_max = 3;
    begin(&r, &how);
    assert_int_equal(run_all(&r), GALE_COMPONENT);
    must_say(r.error.text, "ended with exit status 7: no");
    assert_int_equal(r.kept_count, 4);
    run_fini(&r);
}

static void one_is_started_again_for_ever(void **state) {
    (void)state;
    run r;
    gale_exec_command how = again_of("echo tick", GALE_EXEC_ALWAYS);
    begin(&r, &how);
    assert_int_equal(run_start(&r, false), 0);
    await_count(&r.kept_count, 20);
    run_stop(&r);
    run_fini(&r);
}

static void one_that_is_gone_when_it_is_to_start_again_counts_as_a_failure(void **state) {
    (void)state;
    run r;
    char script[100];
    const char *words[] = { script, NULL };
    gale_exec_command how = {
        .size = sizeof how, .words = words, .restart = GALE_EXEC_FAILURE, .restart_wait = 0.001, .restart_max = 1
    };
    run_init(&r);
    snprintf(script, sizeof script, "%s/script", r.folder);
    FILE *file = fopen(script, "w");
    fputs("#!/bin/sh\nrm $0\nexit 1\n", file);
    fclose(file);
    assert_int_equal(chmod(script, 0700), 0);
    gale_spout spout;
    gale_exec_spout_options options = options_of(&how);
    assert_int_equal(gale_exec_spout(&options, &spout, NULL), 0);
    run_add_command(&r, spout);
    assert_int_equal(run_all(&r), GALE_COMPONENT);
    must_say(r.error.text, "there is no such program");
    run_fini(&r);
}

/* --- What it may do to others ---------------------------------------------------------------------------------------- */

/* Another pair on the same executor has done all its work, while the child goes on; then the run is stopped. */
static void others_go_on(const char *command, const char *started) {
    run r;
    gale_exec_command how = command_of(command);
    how.stop_wait = 0.05;
    begin(&r, &how);
    run_add_other(&r, 20000);
    assert_int_equal(run_start(&r, false), 0);
    await_file(&r, started);
    await_count(&r.other.acks, 20000);
    run_stop(&r);
    run_fini(&r);
}

static void nothing_that_a_child_does_holds_others_up(void **state) {
    (void)state;
    others_go_on("trap '' TERM; >$GALE_TEST/on; while :; do sleep 1000; done",
                 "on");                                         /* hangs, and does not want to end */
    others_go_on(">$GALE_TEST/on; cat /dev/zero", "on");        /* an endless line */
    others_go_on("exec >&-; >$GALE_TEST/on; sleep 1000", "on"); /* has closed its output */
    others_go_on(">$GALE_TEST/on; exec yes", "on");             /* writes for ever */
    others_go_on(">$GALE_TEST/on; exec yes >&2", "on");         /* the same, to its standard error */
    others_go_on(">$GALE_TEST/on; cat /dev/zero >&2", "on");
}

static void what_floods_its_standard_error_is_not_held_back_and_little_of_it_is_logged(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of(
        "yes \"a line of an error $(printf %080d 7)\" | head -n 2000000 >&2; echo out; echo end >&2; exit 2");
    begin(&r, &how);
    run_add_other(&r, 20000);
    assert_int_equal(run_all(&r), GALE_COMPONENT);
    assert_string_equal(gx_buf_text(&r.kept), "out\n");
    must_say(r.error.text, "ended with exit status 2: end");
    must_log(&r, "a line of an error");
    must_log(&r, " on its standard error, which are left out");
    assert_int_equal(r.other.acks, 20000);
    run_fini(&r);
}

static void dropped_errors_are_read_and_the_last_one_is_kept(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("echo secret >&2; echo why >&2; exit 1");
    how.errors = GALE_EXEC_DROP;
    begin(&r, &how);
    assert_int_equal(run_all(&r), GALE_COMPONENT);
    must_say(r.error.text, "ended with exit status 1: why");
    assert_null(strstr(gx_buf_text(&r.logged), "secret"));
    run_fini(&r);
}

/* The pipe and a buffer hold what it has written; the rest waits in it. */
static void a_child_that_is_faster_waits(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("for i in $(seq 100000); do echo >>$GALE_TEST/written; echo $i; done");
    begin(&r, &how);
    r.holds = true;
    gale_topology_set(r.topology, "command", "topology.max.spout.pending", gale_i64(1));
    assert_int_equal(run_start(&r, false), 0);
    await_count(&r.kept_count, 1);
    run_stop(&r);
    assert_string_equal(gx_buf_text(&r.kept), "1\n");
    assert_true(strlen(file_text(&r, "written")) < 50000);
    run_fini(&r);
}

static void one_that_closes_its_output_is_done_and_is_ended(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("echo a; exec >&-; trap '' TERM; while :; do sleep 1000; done");
    how.stop_wait = 0.02;
    begin(&r, &how);
    assert_int_equal(run_all(&r), 0);
    assert_string_equal(gx_buf_text(&r.kept), "a\n");
    must_log(&r, "has closed its output and does not end: it is told to");
    run_fini(&r);
}

static void what_it_leaves_in_the_background_ends_with_it(void **state) {
    (void)state;
    text_emits("sleep 1000 & echo a", "a\n");
}

/* --- Faults and misuse ----------------------------------------------------------------------------------------------- */

static void memory_that_is_out_stops_the_start_and_leaves_nothing(void **state) {
    (void)state;
    int rc = GALE_NO_MEMORY;
    for (size_t n = 1; rc != 0; n++) {
        run r;
        counting_allocator counting = { .fail_at = n };
        gale_allocator allocator = counting_handle(&counting);
        gale_exec_command how = command_of("seq 3");
        begin(&r, &how);
        r.allocator = &allocator;
        rc = run_all(&r);
        if (rc == 0 && counting.calls < n) assert_string_equal(gx_buf_text(&r.kept), "1\n2\n3\n");
        if (rc == 0 && counting.calls >= n) rc = GALE_NO_MEMORY; /* it was made good */
        run_fini(&r);
        assert_int_equal(counting.blocks, 0);
    }
}

static void refused(const gale_exec_spout_options *options, const char *words) {
    gale_spout spout;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_exec_spout(options, &spout, &error), GALE_INVALID);
    must_say(error.text, words);
    assert_int_equal(gale_exec_spout(options, &spout, NULL), GALE_INVALID);
}

static void command_refused(gale_exec_command how, const char *words) {
    how.size = sizeof how;
    gale_exec_spout_options options = options_of(&how);
    refused(&options, words);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    const char *words[] = { "ls", NULL }, *none[] = { NULL }, *nameless[] = { "=x", NULL };
    gale_exec_command how = command_of("ls");
    gale_exec_spout_options options = options_of(&how);
    gale_spout spout;
    assert_int_equal(gale_exec_spout(&options, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_exec_spout(NULL, &spout, NULL), GALE_INVALID);
    options.emit = "lin";
    refused(&options, "emit has 'lin', may have line, number; did you mean 'line'?");
    options.emit = "line, line";
    refused(&options, "emit has 'line' twice");
    options = options_of(&how);
    options.records = 2;
    refused(&options, "records is 2");
    options = options_of(&how);
    options.max_record = GALE_EXEC_RECORD_MAX + 1;
    refused(&options, "max_record is 67108865 bytes");
    options = options_of(NULL);
    refused(&options, "there is no command to run");
    command_refused((gale_exec_command){ .command = "" }, "there is no command to run");
    command_refused((gale_exec_command){ .words = none }, "there is no command to run");
    command_refused((gale_exec_command){ .words = words, .command = "ls" }, "command and words exclude each other");
    command_refused((gale_exec_command){ .words = words, .folder = "" }, "the folder has no name");
    command_refused((gale_exec_command){ .words = words, .environment = nameless },
                    "'=x' in the environment has no name");
    command_refused((gale_exec_command){ .words = words, .restart = 3 }, "restart is 3");
    command_refused((gale_exec_command){ .words = words, .errors = -1 }, "errors is -1");
    command_refused((gale_exec_command){ .words = words, .restart_wait = 1 }, "it is never started again");
    command_refused((gale_exec_command){ .words = words, .restart = 1, .restart_wait = -1 }, "restart_wait is -1");
    command_refused((gale_exec_command){ .words = words, .restart = 1, .restart_wait_max = 1e7 },
                    "restart_wait_max is 1e+07");
    command_refused((gale_exec_command){ .words = words, .stop_wait = -1 }, "stop_wait is -1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_a_tuple),
        cmocka_unit_test(lines_have_numbers_and_a_line_is_text_or_bytes),
        cmocka_unit_test(records_may_end_with_a_nul),
        cmocka_unit_test(a_record_that_is_too_long_is_cut_or_dropped_and_counted),
        cmocka_unit_test(what_fails_is_emitted_again),
        cmocka_unit_test(many_lines_come_whole_and_in_order),
        cmocka_unit_test(words_are_run_without_a_shell_in_their_folder_and_environment),
        cmocka_unit_test(one_that_fails_stops_the_run_with_its_last_words),
        cmocka_unit_test(what_it_has_written_is_emitted_before_that),
        cmocka_unit_test(one_that_cannot_be_run_stops_the_start),
        cmocka_unit_test(one_that_fails_is_started_again_when_that_is_wanted),
        cmocka_unit_test(so_many_failures_in_a_row_are_too_many),
        cmocka_unit_test(one_is_started_again_for_ever),
        cmocka_unit_test(one_that_is_gone_when_it_is_to_start_again_counts_as_a_failure),
        cmocka_unit_test(nothing_that_a_child_does_holds_others_up),
        cmocka_unit_test(what_floods_its_standard_error_is_not_held_back_and_little_of_it_is_logged),
        cmocka_unit_test(dropped_errors_are_read_and_the_last_one_is_kept),
        cmocka_unit_test(a_child_that_is_faster_waits),
        cmocka_unit_test(one_that_closes_its_output_is_done_and_is_ended),
        cmocka_unit_test(what_it_leaves_in_the_background_ends_with_it),
        cmocka_unit_test(memory_that_is_out_stops_the_start_and_leaves_nothing),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
