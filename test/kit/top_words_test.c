/* The bolts of rolling top words, wired by hand, against the second model in test/model, over random events. */
#include "harness/fake_collector.h"
#include "tuple/json.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { TASKS_MAX = 3, EVENTS = 200, RUNS = 40, WORDS = 12 };

typedef struct task {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} task;

typedef struct flow {
    gx_random random;
    int counters, intermediates, top, slots, emit;
    int64_t now; /* ms */
    task counter[TASKS_MAX], intermediate[TASKS_MAX], total;
    gx_buf events;
    gx_buf rankings;
} flow;

/* Zipf is not needed: few words and many ticks make zeros, ties and evictions. */
static const char *const words[WORDS] = {
    "a", "b", "c", "Zebra", "zebra", "gr\xc3\xbc\xc3\x9f", "\xf0\x9f\x99\x82", "two words", "\"", "\\", "0", "aa"
};

static void execute(task *to, const gale_tuple *tuple) {
    assert_int_equal(to->bolt.ops->execute(to->self, tuple, &to->fake.collector), 0);
}

static void to_intermediate(void *user, const gale_value *values, size_t count) {
    flow *f = user;
    task *to = &f->intermediate[gale_value_hash(&values[0]) % (uint64_t)f->intermediates];
    execute(to, fake_tuple(&to->fake, values, count));
}

static void to_total(void *user, const gale_value *values, size_t count) {
    task *to = &((flow *)user)->total;
    execute(to, fake_tuple(&to->fake, values, count));
}

static void to_output(void *user, const gale_value *values, size_t count) {
    assert_int_equal(count, 1);
    flow *f = user;
    gx_json json = gx_json_to(&f->rankings);
    gx_json_value(&json, &values[0]);
    gx_buf_add_byte(&f->rankings, '\n');
}

static void begin_task(flow *f, task *t, void (*on_emit)(void *user, const gale_value *values, size_t count)) {
    fake_init(&t->fake);
    fake_source(&t->fake, "above", "obj, count, length");
    t->fake.on_emit = on_emit;
    t->fake.on_emit_user = f;
    assert_int_equal(fake_prepare(&t->fake, &t->bolt, &t->self), 0);
}

static void end_task(task *t) {
    fake_cleanup(&t->bolt, t->self);
    fake_fini(&t->fake);
}

static void begin(flow *f, uint64_t seed) {
    *f = (flow){ .random = gx_random_new(seed, 0), .events = GX_BUF_INIT(NULL), .rankings = GX_BUF_INIT(NULL) };
    f->counters = 1 + (int)gx_random_below(&f->random, TASKS_MAX);
    f->intermediates = 1 + (int)gx_random_below(&f->random, TASKS_MAX);
    f->top = 1 + (int)gx_random_below(&f->random, 6);
    f->slots = 2 + (int)gx_random_below(&f->random, 4);
    f->emit = 1 + (int)gx_random_below(&f->random, 3);
    for (int i = 0; i < f->counters; i++) {
        assert_int_equal(gale_rolling_count_bolt(f->slots * f->emit, f->emit, &f->counter[i].bolt, NULL), 0);
        begin_task(f, &f->counter[i], to_intermediate);
    }
    for (int i = 0; i < f->intermediates; i++) {
        assert_int_equal(gale_intermediate_rankings_bolt(f->top, 2, &f->intermediate[i].bolt, NULL), 0);
        begin_task(f, &f->intermediate[i], to_total);
    }
    assert_int_equal(gale_total_rankings_bolt(f->top, 2, &f->total.bolt, NULL), 0);
    begin_task(f, &f->total, to_output);
    for (int i = 0; i < WORDS; i++) {
        gale_value word = gale_text(words[i]);
        gx_buf_format(&f->events, "route %s %d\n", words[i],
                      (int)(gale_value_hash(&word) % (uint64_t)f->intermediates));
    }
}

static void end(flow *f) {
    for (int i = 0; i < f->counters; i++) end_task(&f->counter[i]);
    for (int i = 0; i < f->intermediates; i++) end_task(&f->intermediate[i]);
    end_task(&f->total);
    gx_buf_fini(&f->events);
    gx_buf_fini(&f->rankings);
}

static void send_word(flow *f) {
    /* The lower of two numbers: the first words come more often. */
    uint32_t a = gx_random_below(&f->random, WORDS), b = gx_random_below(&f->random, WORDS), word = a < b ? a : b;
    task *to = &f->counter[word % (uint32_t)f->counters];
    gx_buf_format(&f->events, "word@%d %s\n", (int)(word % (uint32_t)f->counters), words[word]);
    execute(to, fake_tuple_text(&to->fake, words[word]));
}

static void tick(flow *f, task *tasks, int count, const char *name) {
    gx_buf_format(&f->events, "tick %s\n", name);
    for (int i = 0; i < count; i++) execute(&tasks[i], fake_tick(&tasks[i].fake, 1));
}

static void move_clock(flow *f) {
    int64_t by = 300 + (int64_t)gx_random_below(&f->random, 2000);
    f->now += by;
    gx_buf_format(&f->events, "time %lld\n", (long long)f->now);
    for (int i = 0; i < f->counters; i++) gale_manual_clock_advance(f->counter[i].fake.clock, by * GALE_MILLISECOND);
}

static void run(flow *f) {
    for (int i = 0; i < EVENTS; i++) {
        switch (gx_random_below(&f->random, 10)) {
        case 0: move_clock(f); break;
        case 1: tick(f, f->counter, f->counters, "counter"); break;
        case 2: tick(f, f->intermediate, f->intermediates, "intermediate"); break;
        case 3: tick(f, &f->total, 1, "total"); break;
        default: send_word(f); break;
        }
    }
}

/* What the model makes of the events. */
static char *ask_model(flow *f, char *path) {
    char command[1000];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, f->events.data, f->events.size), f->events.size);
    close(fd);
    snprintf(command, sizeof command,
             "python3 '%s' --window %d --emit %d --top %d --counters %d --intermediates %d < %s", GALE_TEST_MODEL,
             f->slots * f->emit, f->emit, f->top, f->counters, f->intermediates, path);
    FILE *model = popen(command, "r");
    assert_non_null(model);
    char *text = calloc(1, 1 << 20);
    size_t size = fread(text, 1, (1 << 20) - 1, model);
    assert_int_equal(pclose(model), 0);
    text[size] = 0;
    return text;
}

/* Shows the first line that differs; the events stay where they are. */
static void expect_same(const char *got, const char *wanted, uint64_t seed, const char *path) {
    if (strcmp(got, wanted) == 0) return;
    size_t same = 0, line = 0;
    for (; got[same] && got[same] == wanted[same]; same++) {
        if (got[same] == '\n') line = same + 1;
    }
    fail_msg("seed %llu, events in %s\n  got    %.*s\n  wanted %.*s", (unsigned long long)seed, path,
             (int)strcspn(got + line, "\n"), got + line, (int)strcspn(wanted + line, "\n"), wanted + line);
}

static void the_bolts_do_what_the_second_model_does(void **state) {
    (void)state;
    flow *f = malloc(sizeof *f);
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        begin(f, seed);
        run(f);
        tick(f, &f->total, 1, "total");
        char path[] = "/tmp/gale_events_XXXXXX", *wanted = ask_model(f, path);
        expect_same(fake_text(&f->rankings), wanted, seed, path);
        unlink(path);
        free(wanted);
        end(f);
    }
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bolts_do_what_the_second_model_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
