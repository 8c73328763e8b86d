/* Tuples become what a command reads; each is answered when it was, and whatever the command does is told. */
#include "connect/exec/run.h"
#include "harness/memory_store.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

static gale_exec_command command_of(const char *text) {
    return (gale_exec_command){ .size = sizeof(gale_exec_command), .command = text };
}

static void begin_with(run *r, const gale_exec_sink_options *options, int64_t count) {
    gale_bolt sink;
    gale_error error = GALE_ERROR_INIT;
    run_init(r);
    int rc = gale_exec_sink_bolt(options, &sink, &error);
    if (rc < 0) print_error("%s\n", error.text);
    assert_int_equal(rc, 0);
    run_add_sink(r, sink, count);
}

static void begin(run *r, const gale_exec_command *command, int64_t count) {
    gale_exec_sink_options options = { .size = sizeof options, .run = command };
    begin_with(r, &options, count);
}

static void must_succeed(run *r) {
    int rc = run_all(r);
    if (rc < 0) print_error("%s\n", r->error.text);
    assert_int_equal(rc, 0);
}

/* --- What it reads --------------------------------------------------------------------------------------------------- */

static void every_tuple_is_a_line_in_order_and_is_acked(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("cat >$GALE_TEST/out");
    begin(&r, &how, 100000);
    must_succeed(&r);
    must_be_numbers(file_text(&r, "out"), 0, 100000);
    assert_int_equal(r.source.acks, 100000);
    assert_int_equal(r.source.fails, 0);
    run_fini(&r);
}

static void lines_are_formed_as_a_file_sink_forms_them(void **state) {
    static const char *const wanted[] = { "0\n", "{\"number\":0}\n", "0\n", "0\n" };
    (void)state;
    for (int format = GALE_EXEC_TSV; format <= GALE_EXEC_TEXT; format++) {
        run r;
        gale_exec_command how = command_of("cat >$GALE_TEST/out");
        gale_exec_sink_options options = { .size = sizeof options, .run = &how, .format = format, .fields = "number" };
        begin_with(&r, &options, 1);
        must_succeed(&r);
        assert_string_equal(file_text(&r, "out"), wanted[format]);
        run_fini(&r);
    }
}

static void a_tuple_that_lacks_a_field_fails(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("cat >$GALE_TEST/out");
    gale_exec_sink_options options = { .size = sizeof options, .run = &how, .fields = "other" };
    begin_with(&r, &options, 3);
    must_succeed(&r);
    assert_string_equal(file_text(&r, "out"), "");
    assert_int_equal(r.source.fails, 3);
    must_say(r.source.text, "exec sink");
    run_fini(&r);
}

static void nothing_is_an_input_too(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("cat >$GALE_TEST/out; echo end >>$GALE_TEST/out");
    begin(&r, &how, 0);
    must_succeed(&r);
    assert_string_equal(file_text(&r, "out"), "end\n");
    run_fini(&r);
}

static void what_lies_in_the_pipe_is_not_acked(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of(
        "while [ ! -e $GALE_TEST/go ]; do sleep 0.01; done; read -r a; >$GALE_TEST/read; "
        "while [ ! -e $GALE_TEST/on ]; do sleep 0.01; done; cat >/dev/null");
    begin(&r, &how, 3);
    run_add_other(&r, 20000);
    assert_int_equal(run_start(&r, true), 0);
    await_count(&r.other.acks, 20000);
    assert_int_equal(r.source.acks, 0);
    make_file(&r, "go");
    await_count(&r.source.acks, 1);
    await_file(&r, "read");
    assert_int_equal(r.source.acks, 1);
    make_file(&r, "on");
    assert_int_equal(run_wait(&r), 0);
    assert_int_equal(r.source.acks, 3);
    run_fini(&r);
}

/* --- One that does not read ------------------------------------------------------------------------------------------ */

static void one_that_never_reads_holds_back_its_source_and_nobody_else(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("trap '' TERM; while :; do sleep 1000; done");
    how.stop_wait = 0.05;
    gale_exec_sink_options options = { .size = sizeof options, .run = &how, .max_bytes = 1000 };
    begin_with(&r, &options, 10000000);
    run_add_other(&r, 50000);
    assert_int_equal(run_start(&r, false), 0);
    await_count(&r.other.acks, 50000);
    run_stop(&r);
    assert_true(r.source.emitted < 200000); /* what a pipe, a queue, and one burst have */
    assert_int_equal(r.source.acks, 0);
    run_fini(&r);
}

static int64_t own_clock(void *user) {
    return *(int64_t *)user;
}

/* As many steps as it takes until the condition holds; a millisecond of the clock passes in each. */
#define STEP_UNTIL(r, now, condition)                                                                                  \
    for (int i = 0; !(condition); i++) {                                                                               \
        assert_true(i < PATIENCE_SECONDS * 1000);                                                                      \
        assert_true(gale_runtime_step((r)->runtime) >= 0);                                                             \
        *(now) += GALE_MILLISECOND;                                                                                    \
        usleep(1000);                                                                                                  \
    }

static void what_waits_for_one_that_does_not_read_does_not_time_out(void **state) {
    (void)state;
    run r;
    int64_t now = 0;
    gale_exec_command how = command_of("while [ ! -e $GALE_TEST/go ]; do sleep 0.01; done; cat >$GALE_TEST/out");
    begin(&r, &how, 1000);
    gale_topology_set(r.topology, NULL, "topology.message.timeout.secs", gale_i64(30));
    gale_clock clock = { sizeof clock, own_clock, &now };
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.clock = &clock;
    assert_int_equal(gale_runtime_new(r.topology, &options, &r.runtime, &r.error), 0);
    STEP_UNTIL(&r, &now, r.source.emitted == 1000);
    for (int second = 0; second < 1000; second++) {
        now += GALE_SECOND;
        for (int i = 0; i < 10; i++) assert_true(gale_runtime_step(r.runtime) >= 0);
    }
    assert_int_equal(r.source.acks + r.source.fails, 0);
    make_file(&r, "go");
    STEP_UNTIL(&r, &now, r.source.acks == 1000);
    assert_int_equal(r.source.fails, 0);
    gale_runtime_drain(r.runtime);
    while (gale_runtime_step(r.runtime) >= 0) now += GALE_MILLISECOND;
    must_be_numbers(file_text(&r, "out"), 0, 1000);
    run_fini(&r);
}

static void one_that_reads_slowly_gets_all(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("sleep 0.1; while read -r line; do echo $line; done >$GALE_TEST/out");
    gale_exec_sink_options options = { .size = sizeof options, .run = &how, .max_bytes = 100 };
    begin_with(&r, &options, 20000);
    must_succeed(&r);
    must_be_numbers(file_text(&r, "out"), 0, 20000);
    assert_int_equal(r.source.acks, 20000);
    run_fini(&r);
}

static void one_that_closes_its_input_and_lives_is_ended_without_a_signal_to_us(void **state) {
    (void)state;
    run r;
    struct sigaction pipe;
    assert_int_equal(sigaction(SIGPIPE, NULL, &pipe), 0);
    assert_true(pipe.sa_handler == SIG_DFL); /* it would end this program */
    gale_exec_command how = command_of("trap '' TERM; echo closed >&2; exec <&-; while :; do sleep 1000; done");
    how.stop_wait = 0.02;
    begin(&r, &how, 100000);
    assert_int_equal(run_all(&r), GALE_COMPONENT);
    must_say(r.error.text, "was killed by signal 9 (Killed): closed");
    must_say(r.error.text, "what is to be written to it was not over");
    must_log(&r, "has closed its input and does not end: it is told to");
    assert_int_equal(r.source.acks, 0);
    assert_int_equal(r.source.reason, GALE_REASON_CHILD_EXITED);
    run_fini(&r);
}

/* --- One that dies --------------------------------------------------------------------------------------------------- */

static void dies_with(const char *command, const char *words, long long acks_most) {
    run r;
    gale_exec_command how = command_of(command);
    begin(&r, &how, 100000);
    assert_int_equal(run_all(&r), GALE_COMPONENT);
    must_say(r.error.text, words);
    assert_true(r.source.acks <= acks_most);
    assert_int_equal(r.source.reason, GALE_REASON_CHILD_EXITED);
    must_say(r.source.text, words);
    run_fini(&r);
}

static void what_one_that_dies_had_not_read_fails_and_the_run_stops(void **state) {
    (void)state;
    dies_with("dd bs=1 count=1 >/dev/null 2>&1; echo no >&2; exit 5", "ended with exit status 5: no", 0);
    dies_with("dd bs=1 count=1 >/dev/null 2>&1; kill -KILL $$", "was killed by signal 9 (Killed)", 0);
    dies_with("read -r a; read -r b; exit 1", "ended with exit status 1", 2);
    dies_with("read -r a; exit 0", "ended with exit status 0", 1);
}

/* Each reads a hundred lines, byte by byte, and no more. */
#define A_HUNDRED "n=0; while [ $n -lt 100 ] && read -r line; do echo $line >>$GALE_TEST/out; n=$((n + 1)); done; "

static void the_next_one_is_given_what_it_had_not_read_in_order(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of(A_HUNDRED "true");
    how.restart = GALE_EXEC_ALWAYS;
    how.restart_wait = how.restart_wait_max = 0.001;
    begin(&r, &how, 950);
    must_succeed(&r);
    must_be_numbers(file_text(&r, "out"), 0, 950);
    assert_int_equal(r.source.acks, 950);
    assert_int_equal(r.source.fails, 0);
    run_fini(&r);
}

/* Between the look at how much is in the pipe and the question whether anybody reads it, the child reads all that it will and ends: the
 * question, asked of this one poll alone, waits for that. */
static atomic_bool slow_question;

int poll(struct pollfd *fds, nfds_t count, int milliseconds) {
    bool slow = atomic_load(&slow_question) && milliseconds == 0;
    struct timespec most = { milliseconds / 1000, milliseconds % 1000 * 1000000L };
    if (slow) most.tv_nsec = 50000000;
    return (int)syscall(SYS_ppoll, fds, count, milliseconds < 0 ? NULL : &most, NULL, 0);
}

static void what_is_read_while_the_sink_looks_is_not_given_twice(void **state) {
    atomic_store(&slow_question, true);
    the_next_one_is_given_what_it_had_not_read_in_order(state);
    atomic_store(&slow_question, false);
}

static void what_one_that_failed_had_read_is_in_doubt_and_the_runs_error_at_its_end(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of(A_HUNDRED "[ $n -lt 100 ] || { echo full >&2; exit 7; }");
    how.restart = GALE_EXEC_FAILURE;
    how.restart_wait = how.restart_wait_max = 0.001;
    begin(&r, &how, 250);
    assert_int_equal(run_all(&r), GALE_COMPONENT);
    must_say(r.error.text,
             "failed, and was started again, after it had read 200 lines: how much of that it did is not");
    must_log(&r, "ended with exit status 7: full; it had read 100 lines since it was started");
    must_be_numbers(file_text(&r, "out"), 0, 250);
    assert_int_equal(r.source.acks, 250);
    assert_int_equal(r.source.fails, 0);
    run_fini(&r);
}

static void one_that_failed_before_it_had_read_anything_is_made_good(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("[ -e $GALE_TEST/once ] || { >$GALE_TEST/once; exit 1; }; cat >$GALE_TEST/out");
    how.restart = GALE_EXEC_FAILURE;
    how.restart_wait = 0.001;
    begin(&r, &how, 10);
    must_succeed(&r);
    must_be_numbers(file_text(&r, "out"), 0, 10);
    run_fini(&r);
}

static void one_that_dies_in_a_line_is_followed_by_one_that_has_it_whole(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("if [ ! -e $GALE_TEST/half ]; then dd bs=1 count=5 status=none "
                                       ">$GALE_TEST/half; exit 1; fi; cat >$GALE_TEST/out");
    how.restart = GALE_EXEC_ALWAYS;
    how.restart_wait = 0.001;
    begin(&r, &how, 10);
    assert_int_equal(run_all(&r), GALE_COMPONENT);
    must_say(r.error.text, "after it had read 2 lines:");
    assert_string_equal(file_text(&r, "half"), "0\n1\n2");
    assert_string_equal(file_text(&r, "out"), "2\n3\n4\n5\n6\n7\n8\n9\n");
    assert_int_equal(r.source.acks, 10);
    run_fini(&r);
}

static void so_many_failures_in_a_row_are_too_many(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("echo >>$GALE_TEST/runs; exit 1");
    how.restart = GALE_EXEC_FAILURE;
    how.restart_wait = 0.001;
    how.restart_max = 2;
    begin(&r, &how, 5);
    assert_int_equal(run_all(&r), GALE_COMPONENT);
    assert_string_equal(file_text(&r, "runs"), "\n\n\n");
    run_fini(&r);
}

/* --- The end --------------------------------------------------------------------------------------------------------- */

static void one_that_has_read_all_and_ended_well_is_done(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("for i in 0 1 2; do read -r line; echo $line >>$GALE_TEST/out; done");
    begin(&r, &how, 3);
    must_succeed(&r);
    must_be_numbers(file_text(&r, "out"), 0, 3);
    run_fini(&r);
}

static void ends_with(const char *command, double finish_wait, const char *words) {
    run r;
    gale_exec_command how = command_of(command);
    gale_exec_sink_options options = { .size = sizeof options, .run = &how, .finish_wait = finish_wait };
    how.stop_wait = PATIENCE_SECONDS;
    begin_with(&r, &options, 3);
    assert_int_equal(run_all(&r), GALE_COMPONENT);
    must_say(r.error.text, words);
    assert_int_equal(r.source.acks, 3);
    run_fini(&r);
}

static void the_status_that_it_ends_with_is_the_runs(void **state) {
    (void)state;
    ends_with("cat >/dev/null; echo full >&2; exit 6", PATIENCE_SECONDS, "ended with exit status 6: full");
    ends_with("cat >/dev/null; kill -KILL $$", PATIENCE_SECONDS, "was killed by signal 9 (Killed)");
    ends_with("cat >/dev/null; exec sleep 1000", 0.05,
              "was killed by signal 15 (Terminated); it had not ended by itself within 0.05 s (finishWait)");
}

static void one_that_works_on_behind_its_input_is_waited_for_and_the_log_says_so(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("cat >/dev/null; while [ ! -e $GALE_TEST/go ]; do sleep 0.01; done; "
                                       "echo done >$GALE_TEST/out");
    gale_exec_sink_options options = { .size = sizeof options, .run = &how, .finish_wait = PATIENCE_SECONDS };
    how.stop_wait = 0.001;
    begin_with(&r, &options, 3);
    assert_int_equal(run_start(&r, true), 0);
    await_log(&r, "to end: it has 120 s (finishWait) from the last line that it has read");
    make_file(&r, "go");
    assert_int_equal(run_wait(&r), 0);
    assert_string_equal(file_text(&r, "out"), "done\n");
    run_fini(&r);
}

static void is_cut_short_with_words(const char *command, double stop_wait, const char *how_it_ended) {
    run r;
    char words[300];
    gale_exec_command how = command_of(command);
    how.stop_wait = stop_wait;
    begin(&r, &how, 3);
    assert_int_equal(run_start(&r, false), 0);
    await_count(&r.source.acks, 1);
    run_stop(&r);
    snprintf(words, sizeof words,
             "the run is cut short, and its command with it, by SIGTERM%s; it had read 1 line since it was started, "
             "which may not be done",
             how_it_ended);
    must_log(&r, words);
    run_fini(&r);
}

static void one_whose_run_is_cut_short_is_told_soon_and_killed_soon_and_the_log_says_what_it_had_read(void **state) {
    (void)state;
    is_cut_short_with_words("read -r a; exec sleep 1000", PATIENCE_SECONDS,
                            ": command 'read -r a; exec sleep 1000' was killed by signal 15 (Terminated)");
    is_cut_short_with_words("trap '' TERM; read -r a; exec sleep 1000", 0.05,
                            ", and SIGKILL 0.05 s later: command 'trap '' TERM; read -r a; exec sleep 1000' was killed "
                            "by signal 9 (Killed)");
    is_cut_short_with_words("trap '' TERM; read -r a; exec sleep 1000", PATIENCE_SECONDS,
                            ", and SIGKILL 1 s later: command 'trap '' TERM; read -r a; exec sleep 1000' was killed "
                            "by signal 9 (Killed)");
}

static void a_durable_run_says_what_a_kill_loses_and_lets_the_child_end_when_it_is_suspended(void **state) {
    (void)state;
    run r;
    memory_store disk;
    memory_store_init(&disk);
    gale_store store = memory_store_open(&disk);
    gale_exec_command how = command_of("cat >/dev/null; sleep 0.3; echo done >$GALE_TEST/out");
    gale_exec_sink_options options = { .size = sizeof options, .run = &how, .finish_wait = PATIENCE_SECONDS };
    how.stop_wait = 0.001;
    begin_with(&r, &options, 3);
    r.store = &store;
    assert_int_equal(run_start(&r, false), 0);
    await_count(&r.source.acks, 3);
    gale_runtime_suspend(r.runtime);
    assert_int_equal(run_wait(&r), 0);
    assert_string_equal(file_text(&r, "out"), "done\n");
    must_log(&r, "has read and not done when it is killed is lost: the state has what it has not read");
    run_fini(&r);
    store.close(store.self);
    memory_store_fini(&disk);
}

static void one_that_does_not_end_when_a_run_is_suspended_is_told(void **state) {
    (void)state;
    run r;
    memory_store disk;
    memory_store_init(&disk);
    gale_store store = memory_store_open(&disk);
    gale_exec_command how = command_of("cat >/dev/null; exec sleep 1000");
    gale_exec_sink_options options = { .size = sizeof options, .run = &how, .finish_wait = 0.05 };
    how.stop_wait = PATIENCE_SECONDS;
    begin_with(&r, &options, 3);
    r.store = &store;
    assert_int_equal(run_start(&r, false), 0);
    await_count(&r.source.acks, 3);
    gale_runtime_suspend(r.runtime);
    assert_int_equal(run_wait(&r), 0);
    must_log(&r, "(Terminated); it had not ended by itself within 0.05 s (finishWait)");
    run_fini(&r);
    store.close(store.self);
    memory_store_fini(&disk);
}

static void what_it_says_at_its_end_does_not_keep_it_from_ending(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("cat >/dev/null; yes | head -c 30000000 >&2; echo well >$GALE_TEST/out");
    gale_exec_sink_options options = { .size = sizeof options, .run = &how, .finish_wait = PATIENCE_SECONDS };
    begin_with(&r, &options, 3);
    must_succeed(&r);
    assert_string_equal(file_text(&r, "out"), "well\n");
    run_fini(&r);
}

/* --- Faults and misuse ----------------------------------------------------------------------------------------------- */

static void memory_that_is_out_leaves_nothing(void **state) {
    (void)state;
    bool reached = true;
    for (size_t n = 1; reached; n++) {
        run r;
        counting_allocator counting = { .fail_at = n };
        gale_allocator allocator = counting_handle(&counting);
        gale_exec_command how = command_of("cat >/dev/null");
        begin(&r, &how, 100);
        r.allocator = &allocator;
        (void)run_all(&r);
        reached = counting.calls >= n;
        run_fini(&r);
        assert_int_equal(counting.blocks, 0);
    }
}

static void one_that_cannot_be_run_stops_the_start(void **state) {
    (void)state;
    run r;
    gale_exec_command how = command_of("cat");
    how.folder = "/no/such/folder";
    begin(&r, &how, 1);
    assert_int_equal(run_start(&r, true), GALE_NOT_FOUND);
    must_say(r.error.text, "in the folder '/no/such/folder': No such file or directory");
    run_fini(&r);
}

static void refused(gale_exec_sink_options options, const char *words) {
    gale_bolt sink;
    gale_error error = GALE_ERROR_INIT;
    gale_exec_command how = command_of("cat");
    options.size = sizeof options;
    if (!options.run) options.run = &how;
    assert_int_equal(gale_exec_sink_bolt(&options, &sink, &error), GALE_INVALID);
    must_say(error.text, words);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    gale_bolt sink;
    gale_exec_command none = { .size = sizeof none };
    assert_int_equal(gale_exec_sink_bolt(NULL, &sink, NULL), GALE_INVALID);
    assert_int_equal(gale_exec_sink_bolt(NULL, NULL, NULL), GALE_INVALID);
    refused((gale_exec_sink_options){ .run = &none }, "exec sink: there is no command to run");
    refused((gale_exec_sink_options){ .finish_wait = -1 },
            "exec sink: finish_wait is -1, must be 0 to 1000000 seconds");
    refused((gale_exec_sink_options){ .format = 4 }, "exec sink: format is 4");
    refused((gale_exec_sink_options){ .fields = "a,,b" }, "exec sink: fields");
    refused((gale_exec_sink_options){ .format = GALE_EXEC_TEXT, .fields = "a, b" }, "of which format text writes one");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tuple_is_a_line_in_order_and_is_acked),
        cmocka_unit_test(lines_are_formed_as_a_file_sink_forms_them),
        cmocka_unit_test(a_tuple_that_lacks_a_field_fails),
        cmocka_unit_test(nothing_is_an_input_too),
        cmocka_unit_test(what_lies_in_the_pipe_is_not_acked),
        cmocka_unit_test(one_that_never_reads_holds_back_its_source_and_nobody_else),
        cmocka_unit_test(what_waits_for_one_that_does_not_read_does_not_time_out),
        cmocka_unit_test(one_that_reads_slowly_gets_all),
        cmocka_unit_test(one_that_closes_its_input_and_lives_is_ended_without_a_signal_to_us),
        cmocka_unit_test(what_one_that_dies_had_not_read_fails_and_the_run_stops),
        cmocka_unit_test(the_next_one_is_given_what_it_had_not_read_in_order),
        cmocka_unit_test(what_is_read_while_the_sink_looks_is_not_given_twice),
        cmocka_unit_test(what_one_that_failed_had_read_is_in_doubt_and_the_runs_error_at_its_end),
        cmocka_unit_test(one_that_failed_before_it_had_read_anything_is_made_good),
        cmocka_unit_test(one_that_dies_in_a_line_is_followed_by_one_that_has_it_whole),
        cmocka_unit_test(so_many_failures_in_a_row_are_too_many),
        cmocka_unit_test(one_that_has_read_all_and_ended_well_is_done),
        cmocka_unit_test(the_status_that_it_ends_with_is_the_runs),
        cmocka_unit_test(one_that_works_on_behind_its_input_is_waited_for_and_the_log_says_so),
        cmocka_unit_test(one_whose_run_is_cut_short_is_told_soon_and_killed_soon_and_the_log_says_what_it_had_read),
        cmocka_unit_test(a_durable_run_says_what_a_kill_loses_and_lets_the_child_end_when_it_is_suspended),
        cmocka_unit_test(one_that_does_not_end_when_a_run_is_suspended_is_told),
        cmocka_unit_test(what_it_says_at_its_end_does_not_keep_it_from_ending),
        cmocka_unit_test(memory_that_is_out_leaves_nothing),
        cmocka_unit_test(one_that_cannot_be_run_stops_the_start),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
