/* The file of dead letters on a disk that fails, and the end of one that a run goes on with: a tuple is given up when
 * its letter is in the file, whole, and not otherwise. */
#include "harness/faulty_disk.h"
#include "runtime/rig.h"

#include <errno.h>
#include <gale/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS = 12, TEXT = 1 << 16 };

static char folder[64];

static const char *path_of_letters(void) {
    static char path[128];
    snprintf(path, sizeof path, "%s/letters", folder);
    return path;
}

static char *content(void) {
    static char text[TEXT];
    FILE *file = fopen(path_of_letters(), "r");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[size] = 0;
    return text;
}

static void put_content(const char *text) {
    FILE *file = fopen(path_of_letters(), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* A spout whose every number fails, for good, and its letters. */
typedef struct world {
    rig r;
    rig_spout spout;
    rig_bolt bolt;
    char log[1000];
} world;

static void keep_log(void *user, int32_t level, const char *component, const char *text) {
    world *w = user;
    size_t size = strlen(w->log);
    (void)component;
    if (level >= GALE_LOG_WARN) snprintf(w->log + size, sizeof w->log - size, "%s\n", text);
}

static int refuse(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt;
    return gale_fail(out, gale_tuple_handle(tuple), GALE_REASON_FAILED, "no, thanks");
}

static world *begin(int64_t attempts) {
    world *w = calloc(1, sizeof *w);
    rig_init(&w->r);
    w->spout.to_emit = NUMBERS;
    w->bolt.on = refuse;
    gale_topology_add_spout(w->r.topology, "from", rig_spout_of(&w->spout), 1);
    gale_topology_add_bolt(w->r.topology, "work", rig_manual(&w->bolt), 1);
    gale_topology_subscribe(w->r.topology, "work", "from", NULL, gale_shuffle());
    gale_topology_set(w->r.topology, NULL, "topology.dead_letters.file", gale_text(path_of_letters()));
    gale_topology_set(w->r.topology, NULL, "topology.replay.attempts", gale_i64(attempts));
    return w;
}

static void make(world *w, uint32_t executors) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_logger logger = { sizeof logger, GALE_LOG_INFO, keep_log, w };
    options.executors = executors;
    options.logger = &logger;
    rig_make_with(&w->r, options);
}

static void end(world *w) {
    rig_fini(&w->r);
    free(w);
}

/* Runs to the end. Returns the code; the numbers given up are added to `*finals`. */
static int run(uint32_t executors, uint64_t *finals) {
    gale_error error = GALE_ERROR_INIT;
    world *w = begin(1);
    make(w, executors);
    rig_settle(&w->r);
    gale_runtime_drain(w->r.runtime);
    rig_settle(&w->r);
    assert_int_equal(rig_stats(&w->r)->phase, GALE_PHASE_CLOSED);
    int code = gale_runtime_wait(w->r.runtime, 0, &error);
    assert_int_equal(w->spout.fails, w->spout.emitted);
    assert_int_equal(rig_stats(&w->r)->given_up, w->spout.finals);
    assert_int_equal(rig_stats(&w->r)->dead_letters, w->spout.finals);
    assert_int_equal(rig_stats(&w->r)->stopped, w->spout.fails - w->spout.finals);
    if (code < 0) assert_non_null(strstr(error.text, "dead letters cannot be kept (topology.dead_letters.file)"));
    *finals += w->spout.finals;
    end(w);
    return code;
}

/* Every line is a letter from its first byte to its last. */
static uint64_t count_letters(void) {
    uint64_t count = 0;
    char *text = content();
    for (char *line = text, *newline; *line; line = newline + 1, count++) {
        newline = strchr(line, '\n');
        if (!newline) fail_msg("half a line at the end: %s", line);
        *newline = 0;
        bool whole = strncmp(line, "{\"component\":\"from\",", 20) == 0 && strstr(line, "\"attempts\":1,\"time\":");
        if (!whole || strstr(line + 1, "{\"component\"")) fail_msg("not one letter: %s", line);
    }
    return count;
}

/* --- Faults --- */

/* A run in which the n-th call fails, and one after it on a sound disk. */
static bool run_twice(faulty_plan plan, uint32_t executors, bool harmless) {
    uint64_t finals = 0;
    (void)remove(path_of_letters());
    faulty_disk_use(plan);
    int code = run(executors, &finals);
    uint64_t hits = faulty_disk_end();
    bool looked = strncmp(faulty_disk_hit(), "about", 5) == 0; /* which no signal interrupts */
    if (!hits || (harmless && !looked)) assert_int_equal(code, GALE_OK);
    if (code == GALE_OK) assert_int_equal(finals, NUMBERS);
    if (plan.kind != FAULTY_DEAD) assert_int_equal(count_letters(), finals);
    uint64_t before = finals;
    assert_int_equal(run(executors, &finals), GALE_OK);
    assert_int_equal(finals, before + NUMBERS);
    assert_int_equal(count_letters(), finals);
    return hits > 0;
}

static void any_call_may_fail_and_what_is_given_up_is_in_the_file(void **state) {
    (void)state;
    static const struct {
        faulty_kind kind;
        int error;
        bool harmless;
    } kinds[] = {
        { FAULTY_ONCE, EIO, false }, { FAULTY_ONCE, ENOSPC, false }, { FAULTY_ONCE, EINTR, true },
        { FAULTY_SHORT, 0, true },   { FAULTY_FULL, 0, false },      { FAULTY_DEAD, 0, false },
    };
    for (uint32_t executors = 1; executors <= 2; executors++)
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            faulty_plan plan = { folder, kinds[i].kind, kinds[i].error, 1 };
            while (run_twice(plan, executors, kinds[i].harmless) || plan.at < NUMBERS) plan.at++;
        }
}

static void a_file_that_is_not_kept_when_it_is_closed_fails_the_run(void **state) {
    (void)state;
    uint64_t finals = 0;
    bool seen = false;
    for (uint64_t n = 1; !seen; n++) {
        (void)remove(path_of_letters());
        faulty_disk_use((faulty_plan){ folder, FAULTY_ONCE, EIO, n });
        int code = run(1, &finals);
        assert_true(faulty_disk_end() > 0);
        seen = strcmp(faulty_disk_hit(), "close_written") == 0;
        if (seen) assert_int_equal(code, GALE_IO);
    }
}

/* --- The end of a file from before --- */

#define LETTER                                                                                                         \
    "{\"component\":\"from\",\"stream\":\"default\",\"message_id\":7,\"tuple\":[\"}\\\"\"],\"reason\":\"failed\","     \
    "\"text\":\"\",\"place\":null,\"task\":0,\"attempts\":1}"

static void check_end(const char *before, const char *after, const char *said) {
    put_content(before);
    world *w = begin(1);
    w->spout.to_emit = 0;
    make(w, 1);
    rig_settle(&w->r);
    assert_string_equal(content(), after);
    if (!said) assert_string_equal(w->log, "");
    if (said && !strstr(w->log, said)) fail_msg("%s was not said, but: %s", said, w->log);
    end(w);
}

static void half_a_letter_is_cut_off_when_the_next_run_begins(void **state) {
    (void)state;
    static const char cut[] = "half a dead letter stood at its end, of a run that died, and was cut off";
    char text[2 * sizeof LETTER + 2];
    for (size_t size = 1; size < sizeof LETTER - 1; size++) {
        snprintf(text, sizeof text, "%s\n%.*s", LETTER, (int)size, LETTER);
        check_end(text, LETTER "\n", cut);
        check_end(text + sizeof LETTER, "", cut);
    }
}

static void what_may_be_a_letter_gets_its_newline_and_stays(void **state) {
    (void)state;
    static const char ended[] = "the last line had no newline, and has one now";
    check_end("", "", NULL);
    check_end("\n", "\n", NULL);
    check_end(LETTER "\n", LETTER "\n", NULL);
    check_end(LETTER, LETTER "\n", ended);
    check_end(LETTER "\n" LETTER, LETTER "\n" LETTER "\n", ended);
    check_end(LETTER " ", LETTER " \n", ended);
    check_end("a table of another program's", "a table of another program's\n", ended);
    check_end("{\"stream\":\"default\"", "{\"stream\":\"default\"\n", ended);
}

static void a_long_line_is_searched_for_its_beginning(void **state) {
    (void)state;
    static char text[30000], after[30002];
    for (size_t size = 4090; size < 4100; size++) {
        memset(text, 0, sizeof text);
        snprintf(text, sizeof text, "%s\n{\"component\":\"", LETTER);
        size_t head = sizeof LETTER;
        memset(text + strlen(text), 'x', size - (strlen(text) - head));
        check_end(text, LETTER "\n", "was cut off");
        text[head] = 'x';
        memcpy(after, text, strlen(text));
        memcpy(after + strlen(text), "\n", sizeof "\n");
        check_end(text, after, "has one now");
    }
}

/* --- Two runs --- */

static void a_file_that_another_run_appends_to_is_refused(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    char expected_text[200];
    uint64_t finals = 0;
    world *first = begin(1);
    make(first, 1);
    gale_runtime_step(first->r.runtime);
    world *second = begin(1);
    make(second, 1);
    rig_settle(&second->r);
    assert_int_equal(rig_stats(&second->r)->phase, GALE_PHASE_CLOSED);
    assert_int_equal(gale_runtime_wait(second->r.runtime, 0, &error), GALE_STATE);
    snprintf(expected_text, sizeof expected_text, "'%s' is in use by another run", path_of_letters());
    assert_non_null(strstr(error.text, expected_text));
    assert_non_null(strstr(error.text, "topology.dead_letters.file"));
    end(second);
    rig_settle(&first->r);
    assert_int_equal(first->spout.finals, NUMBERS);
    end(first);
    assert_int_equal(run(1, &finals), GALE_OK);
    assert_int_equal(count_letters(), 2 * NUMBERS);
}

/* --- Ends --- */

static int stop_and_refuse(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_stop(out, GALE_IO, "the printer is on fire");
    return refuse(bolt, tuple, out);
}

static void what_fails_when_the_run_closes_with_attempts_left_was_stopped(void **state) {
    (void)state;
    world *w = begin(3);
    w->bolt.on = stop_and_refuse;
    make(w, 1);
    rig_settle(&w->r);
    assert_int_equal(rig_stats(&w->r)->phase, GALE_PHASE_CLOSED);
    assert_true(w->spout.fails > 0);
    assert_int_equal(w->spout.finals, 0);
    assert_int_equal(w->spout.last_failure.reason, GALE_REASON_STOPPED);
    assert_int_equal(rig_stats(&w->r)->failed, 0);
    assert_int_equal(rig_stats(&w->r)->stopped, w->spout.fails);
    assert_string_equal(content(), "");
    end(w);
}

static int begin_without_file(void **state) {
    (void)state;
    (void)remove(path_of_letters());
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_without_file, begin_without_file)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(any_call_may_fail_and_what_is_given_up_is_in_the_file),
        TEST(a_file_that_is_not_kept_when_it_is_closed_fails_the_run),
        TEST(half_a_letter_is_cut_off_when_the_next_run_begins),
        TEST(what_may_be_a_letter_gets_its_newline_and_stays),
        TEST(a_long_line_is_searched_for_its_beginning),
        TEST(a_file_that_another_run_appends_to_is_refused),
        TEST(what_fails_when_the_run_closes_with_attempts_left_was_stopped),
    };
    snprintf(folder, sizeof folder, "/tmp/gale-letter-file-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    int failed = rig_run_on_both_ledgers(tests);
    (void)rmdir(folder);
    return failed;
}
