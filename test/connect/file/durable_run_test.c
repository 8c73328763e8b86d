/* From file to file in durable runs that end at any step, without a word: the lines of the output are those of the input,
 * each once, whatever came between. */
#include "base/random.h"
#include "connect/file/settings.h"
#include "harness/cm.h"
#include "harness/memory_store.h"

#include <gale/file.h>
#include <gale/gale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINES = 3000, OUTPUTS = 2 };

/* What outlives a run. */
static struct {
    memory_store disk;
    gale_store store;
    gale_manual_clock *clock;
    char folder[40], in[60], out[60], letters[60];
    uint32_t executors, tasks; /* of the spout */
    int64_t block;             /* that it reads at once, in bytes */
    bool varies;               /* another number of them in each life */
    bool fails;                /* the bolt between fails some lines */
    bool rejects;              /* it rejects every fiftieth: these become dead letters */
    bool append;               /* the files hold a line before the first run */
    uint32_t keep;
    bool turns; /* from the lines to one sink, whose files are rotated */
    gx_random random;
    uint32_t seen[LINES];
} s;

static int setup(void **state) {
    (void)state;
    memset(&s, 0, sizeof s);
    memory_store_init(&s.disk);
    s.store = memory_store_open(&s.disk);
    s.block = 700;
    s.clock = gale_manual_clock_new(0);
    snprintf(s.folder, sizeof s.folder, "/tmp/gale_durable_XXXXXX");
    assert_non_null(mkdtemp(s.folder));
    snprintf(s.in, sizeof s.in, "%s/in", s.folder);
    snprintf(s.out, sizeof s.out, "%s/out", s.folder);
    snprintf(s.letters, sizeof s.letters, "%s/letters", s.folder);
    FILE *in = fopen(s.in, "w");
    assert_non_null(in);
    for (int i = 0; i < LINES; i++) fprintf(in, "line %d\n", i);
    fclose(in);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", s.folder);
    assert_int_equal(system(command), 0);
    s.store.close(s.store.self);
    memory_store_fini(&s.disk);
    gale_manual_clock_free(s.clock);
    return 0;
}

static int pass(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    if (gale_tuple_is_tick(tuple)) return 0;
    gale_handle handle = gale_tuple_handle(tuple);
    gale_value value = gale_tuple_value(tuple, 0);
    if (s.fails && gx_random_below(&s.random, 20) == 0) return gale_fail(out, handle, GALE_REASON_FAILED, NULL);
    if (s.rejects && atoi(value.as.string + 5) % 50 == 7) return gale_reject(out, handle, "no, thanks");
    return gale_emit(out, 0, &value, 1) < 0 ? GALE_NO_MEMORY : gale_ack(out, handle);
}

static const gale_bolt_ops pass_ops = {
    .size = sizeof pass_ops, .name = "pass", .kind = GALE_BOLT_MANUAL, .execute = pass, .durable = &gale_stateless
};

enum { TURN = 2500, KEPT = 4 };

static gale_topology *build_straight(void) {
    gale_topology *topology = gale_topology_new("turns");
    gale_file_spout_options from = { .size = sizeof from, .path = s.in };
    gale_file_sink_options to = { .size = sizeof to, .path = s.out, .rotate_bytes = TURN, .keep = s.keep };
    gale_spout lines;
    gale_bolt sink;
    assert_int_equal(gale_file_spout(&from, &lines, NULL), 0);
    assert_int_equal(gale_file_sink_bolt(&to, &sink, NULL), 0);
    gale_topology_add_spout(topology, "lines", lines, 1);
    gale_topology_add_bolt(topology, "sink", sink, 1);
    gale_topology_subscribe(topology, "sink", "lines", NULL, gale_shuffle());
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(50));
    return topology;
}

static gale_topology *build(void) {
    if (s.turns) return build_straight();
    static const gale_output outputs[] = { { NULL, "line" } };
    gale_topology *topology = gale_topology_new("files");
    gale_file_spout_options from = { .size = sizeof from, .path = s.in, .max_attempts = 1000 };
    gale_file_sink_options to = { .size = sizeof to, .path = s.out, .append = s.append };
    gale_spout lines;
    gale_bolt sink, passing = { .size = sizeof passing, .ops = &pass_ops, .outputs = outputs, .output_count = 1 };
    assert_int_equal(gale_file_spout(&from, &lines, NULL), 0);
    ((gx_file_settings *)lines.user)->block = s.block;
    assert_int_equal(gale_file_sink_bolt(&to, &sink, NULL), 0);
    if (s.varies) s.tasks = (uint32_t[]){ 1, 2, 4, 7 }[gx_random_below(&s.random, 4)];
    gale_topology_add_spout(topology, "lines", lines, s.tasks ? s.tasks : 1);
    gale_topology_add_bolt(topology, "pass", passing, 2);
    gale_topology_add_bolt(topology, "sink", sink, OUTPUTS);
    gale_topology_subscribe(topology, "pass", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "sink", "pass", NULL, gale_fields("line"));
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(s.tasks ? 3 : 7));
    if (s.rejects) gale_topology_set(topology, NULL, "topology.dead_letters.file", gale_text(s.letters));
    return topology;
}

static gale_runtime *start(void) {
    gale_topology *topology = build();
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_clock clock = gale_manual_clock_handle(s.clock);
    gale_error error = GALE_ERROR_INIT;
    options.clock = &clock;
    options.executors = s.executors;
    options.seed = 7;
    options.until_drained = true;
    options.store = &s.store;
    options.checkpoint_interval = 5 * GALE_MILLISECOND;
    gale_runtime *runtime = NULL;
    if (gale_runtime_new(topology, &options, &runtime, &error) < 0) fail_msg("%s", error.text);
    gale_topology_free(topology);
    return runtime;
}

static bool run(gale_runtime *runtime, uint64_t steps) {
    for (uint64_t i = 0; i < steps; i++) {
        if (gale_runtime_step(runtime) == GALE_STOPPED) return true;
        gale_manual_clock_advance(s.clock, 100000);
        if (gx_random_below(&s.random, 4) == 0) assert_true(gale_runtime_commit(runtime, NULL) >= 0);
    }
    return false;
}

/* Half a line, as of a process that was killed while it wrote. */
static void tear(const char *path) {
    FILE *out = fopen(path, "a");
    assert_non_null(out);
    fputs("line 17\nlin", out);
    fclose(out);
}

static int run_with_crashes(uint32_t most_steps) {
    int runs = 0;
    for (bool over = false; !over; runs++) {
        if (runs > 5000) fail_msg("it does not come to an end");
        gale_runtime *runtime = start();
        gale_error error = GALE_ERROR_INIT;
        gale_checkpoint_stats stats = { .size = sizeof stats };
        over = run(runtime, 1 + gx_random_below(&s.random, most_steps));
        if (over && gale_runtime_wait(runtime, 0, &error) < 0) fail_msg("%s", error.text);
        gale_runtime_checkpoint_stats(runtime, &stats);
        assert_true(stats.complete || !over);
        assert_int_equal(gale_runtime_free(runtime, -1, &error), 0);
        s.store.abandon(s.store.self);
        bool tears = !over && stats.number > 0; /* nothing is written before the first checkpoint */
        if (tears) tear(s.out);
        if (tears && s.rejects) tear(s.letters);
    }
    return runs;
}

/* The whole input, cut where files are full; but for those that are not kept. */
static void assert_turned(void) {
    char line[100], path[100];
    size_t at = 0;
    int number = 1, first = 1;
    FILE *in = fopen(s.in, "r"), *out = NULL;
    while (fgets(line, sizeof line, in)) { /* how many there are */
        if (at + strlen(line) > TURN) number++, at = 0;
        at += strlen(line);
    }
    assert_true(number > 10);
    if (s.keep) first = number - (int)s.keep;
    for (int i = 1; i <= number + 1; i++) {
        snprintf(path, sizeof path, i == number ? "%s/out" : "%s/out.%06d", s.folder, i);
        if ((access(path, F_OK) == 0) != (i >= first && i <= number)) fail_msg("%s of %d", path, number);
    }
    rewind(in);
    number = 0;
    for (at = TURN; fgets(line, sizeof line, in); at += strlen(line)) {
        char is[100] = "";
        if (at + strlen(line) > TURN) {
            if (out) assert_null(fgets(is, sizeof is, out));
            if (out) fclose(out);
            snprintf(path, sizeof path, "%s/out.%06d", s.folder, ++number);
            if (!(out = fopen(path, "r")) && number >= first) out = fopen(s.out, "r");
            at = 0;
        }
        if (out && (!fgets(is, sizeof is, out) || strcmp(is, line) != 0))
            fail_msg("%s: '%s' is not '%s'", path, is, line);
    }
    assert_non_null(out);
    assert_int_equal(fgetc(out), EOF);
    fclose(out);
    fclose(in);
}

static void files_that_are_rotated_are_those_of_a_run_that_did_not_end_whenever_it_ends(void **state) {
    (void)state;
    int runs = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        teardown(NULL);
        setup(NULL);
        s.random = gx_random_new(seed, 0);
        s.executors = 1 + (uint32_t)(seed % 2);
        s.turns = true;
        s.keep = seed % 3 ? 0 : KEPT;
        runs += run_with_crashes(60);
        assert_turned();
    }
    assert_true(runs > 50);
}

/* Which may have come behind the last checkpoint, when all is done. */
static void what_a_crash_kept_from_being_forgotten_is_forgotten_by_the_next_start(void **state) {
    (void)state;
    char path[100];
    s.random = gx_random_new(1, 0);
    s.executors = 1;
    s.turns = true;
    s.keep = KEPT;
    run_with_crashes(1000000);
    assert_turned();
    for (int number = 1; number <= 3; number++) {
        snprintf(path, sizeof path, "%s/out.%06d", s.folder, number);
        tear(path);
    }
    run_with_crashes(1000000);
    assert_turned();
}

static void put_first(const char *path) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs("first\n", out);
    fclose(out);
}

static void look_at(const char *path) {
    char line[100];
    FILE *out = fopen(path, "r");
    if (!out) fail_msg("%s is not there", path);
    if (s.append && (!fgets(line, sizeof line, out) || strcmp(line, "first\n") != 0)) fail_msg("%s: %s", path, line);
    while (fgets(line, sizeof line, out)) {
        char *end = NULL;
        unsigned long number = strncmp(line, "line ", 5) == 0 ? strtoul(line + 5, &end, 10) : LINES;
        if (number >= LINES || strcmp(end, "\n") != 0) fail_msg("%s: '%s'", path, line);
        s.seen[number]++;
    }
    fclose(out);
}

static void assert_each_line_once(const char *first) {
    char second[100];
    snprintf(second, sizeof second, "%s.1", s.out);
    look_at(first);
    look_at(second);
    for (int i = 0; i < LINES; i++)
        if (s.seen[i] != 1) fail_msg("line %d came %u times", i, s.seen[i]);
}

static void a_run_that_ends_at_any_step_leaves_each_line_once(void **state) {
    (void)state;
    int runs = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        teardown(NULL);
        setup(NULL);
        s.random = gx_random_new(seed, 0);
        s.executors = 1 + (uint32_t)(seed % 3);
        s.fails = seed % 2;
        runs += run_with_crashes(300);
        assert_each_line_once(s.out);
    }
    assert_true(runs > 50);
}

static void another_number_of_tasks_in_each_life_reads_each_line_once(void **state) {
    (void)state;
    int runs = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        teardown(NULL);
        setup(NULL);
        s.random = gx_random_new(seed, 0);
        s.executors = 1 + (uint32_t)(seed % 3);
        s.fails = seed % 2;
        s.varies = true;
        s.block = (int64_t[]){ 10, 100, 1000, 5000 }[seed % 4];
        runs += run_with_crashes(100);
        assert_each_line_once(s.out);
    }
    assert_true(runs > 100);
}

/* Lives that are long enough for a checkpoint. */
static void live_with(uint32_t tasks, uint64_t steps) {
    s.tasks = tasks;
    gale_runtime *runtime = start();
    assert_false(run(runtime, steps));
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    s.store.abandon(s.store.self);
}

static void a_file_that_is_renamed_is_read_on_by_another_number_of_tasks(void **state) {
    (void)state;
    char in[80];
    snprintf(in, sizeof in, "%s/in.1", s.folder);
    s.random = gx_random_new(3, 0);
    s.executors = 2;
    s.fails = true;
    live_with(4, 60);
    assert_int_equal(rename(s.in, in), 0);
    live_with(2, 60);
    live_with(7, 60);
    s.tasks = 3;
    run_with_crashes(100000000);
    assert_each_line_once(s.out);
}

static void what_was_read_to_its_end_is_not_read_again_by_another_number_of_tasks(void **state) {
    (void)state;
    s.random = gx_random_new(1, 0);
    s.executors = 2;
    s.tasks = 4;
    assert_int_equal(run_with_crashes(100000000), 1);
    s.tasks = 2;
    assert_int_equal(run_with_crashes(100000000), 1);
    s.tasks = 7;
    assert_int_equal(run_with_crashes(100000000), 1);
    assert_each_line_once(s.out);
}

static void look_at_letters(void) {
    char line[300];
    FILE *letters = fopen(s.letters, "r");
    assert_non_null(letters);
    while (fgets(line, sizeof line, letters)) {
        const char *tuple = strstr(line, "\"tuple\":[\"line ");
        if (!tuple || line[0] != '{') fail_msg("no letter: '%s'", line);
        unsigned long number = strtoul(tuple + 15, NULL, 10);
        assert_int_equal(number % 50, 7);
        s.seen[number]++;
    }
    fclose(letters);
}

static void what_was_rejected_is_one_dead_letter_each(void **state) {
    (void)state;
    int runs = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        teardown(NULL);
        setup(NULL);
        s.random = gx_random_new(seed, 0);
        s.executors = 1 + (uint32_t)(seed % 3);
        s.rejects = true;
        runs += run_with_crashes(120);
        look_at_letters();
        assert_each_line_once(s.out);
    }
    assert_true(runs > 50);
}

/* A run that ends after so many steps, of which none commits. 1 when something was open. */
static int run_first(uint64_t steps) {
    gale_runtime *runtime = start();
    gale_run_stats stats = { .size = sizeof stats };
    for (uint64_t i = 0; i < steps; i++) {
        assert_true(gale_runtime_step(runtime) >= 0);
        gale_manual_clock_advance(s.clock, 100000);
    }
    gale_runtime_stats(runtime, &stats);
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    s.store.abandon(s.store.self);
    return stats.phase >= GALE_PHASE_RUNNING;
}

/* Before the first checkpoint as well. */
static void lines_that_go_behind_others_come_once_whenever_a_run_ends(void **state) {
    (void)state;
    char second[100];
    int runs = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        teardown(NULL);
        setup(NULL);
        snprintf(second, sizeof second, "%s.1", s.out);
        s.random = gx_random_new(seed, 0);
        s.executors = 1 + (uint32_t)(seed % 3);
        s.append = s.rejects = true;
        put_first(s.out);
        put_first(second);
        for (int i = 0; i < 20; i++) runs += run_first(1 + gx_random_below(&s.random, 30));
        run_with_crashes(200);
        look_at_letters();
        assert_each_line_once(s.out);
    }
    assert_true(runs > 60);
}

static void files_that_are_renamed_between_runs_are_gone_on_with(void **state) {
    (void)state;
    char in[80], out[80];
    snprintf(in, sizeof in, "%s/in.1", s.folder);
    snprintf(out, sizeof out, "%s/out.old", s.folder);
    s.random = gx_random_new(1, 0);
    s.executors = 2;
    gale_checkpoint_stats stats = { .size = 0 };
    while (stats.number < 3) {
        gale_runtime *runtime = start();
        assert_false(run(runtime, 100));
        gale_runtime_checkpoint_stats(runtime, &stats);
        assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
        s.store.abandon(s.store.self);
    }
    assert_int_equal(rename(s.in, in), 0);
    assert_int_equal(rename(s.out, out), 0);
    gale_runtime *runtime = start();
    assert_true(run(runtime, 1000000));
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    assert_each_line_once(out);
}

static void what_is_behind_the_end_of_a_run_that_had_ended_is_refused(void **state) {
    (void)state;
    s.random = gx_random_new(1, 0);
    s.executors = 1;
    assert_int_equal(run_with_crashes(1000000), 1);
    FILE *in = fopen(s.in, "a");
    fputs("more\n", in);
    fclose(in);
    gale_runtime *runtime = start();
    gale_error error = GALE_ERROR_INIT;
    assert_true(run(runtime, 1000));
    assert_int_equal(gale_runtime_wait(runtime, 0, &error), GALE_INVALID);
    assert_non_null(strstr(error.text, "has grown by 5 bytes since the run came to its end"));
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    assert_each_line_once(s.out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_that_ends_at_any_step_leaves_each_line_once, setup, teardown),
        cmocka_unit_test_setup_teardown(another_number_of_tasks_in_each_life_reads_each_line_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_renamed_is_read_on_by_another_number_of_tasks, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_read_to_its_end_is_not_read_again_by_another_number_of_tasks, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_was_rejected_is_one_dead_letter_each, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_that_go_behind_others_come_once_whenever_a_run_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_crash_kept_from_being_forgotten_is_forgotten_by_the_next_start, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(files_that_are_rotated_are_those_of_a_run_that_did_not_end_whenever_it_ends,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(files_that_are_renamed_between_runs_are_gone_on_with, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_behind_the_end_of_a_run_that_had_ended_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
