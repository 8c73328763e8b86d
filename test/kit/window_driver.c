/* A window bolt that is told what to do by lines on its standard input, for a model to be compared with (window_model.py).
 *
 *     bolt KEY AGGREGATES LENGTH SLIDE TIME EMIT EXACT COUNTERS TASKS     separated by tabs; KEY and TIME "-": none
 *     tuple VALUE...      fields k, l, x, y, w, time: i5, f0.5, sabc, n (null), each to the task that its key leads to
 *     advance NS | tick | mark SECONDS | finish
 *     cut TASKS           a checkpoint, and on from it with so many tasks
 *
 * After each line it writes what was emitted, and what was refused, then "."; all tasks' lines, one task after the other. */
#include "harness/fake_collector.h"
#include "harness/memory_store.h"

#include <gale/kit.h>
#include <stdio.h>

#include "harness/cm.h"

enum { TASKS_MAX = 4, FIELDS = 6, LINE = 4096 };

static fake_collector fakes[TASKS_MAX];
static void *selves[TASKS_MAX];
static gx_buf saved[TASKS_MAX];
static uint32_t tasks;
static gale_bolt bolt;
static memory_store memory;
static gale_store store;
static uint64_t checkpoint;
static bool has_key;

static void start(uint32_t count, uint32_t before, int64_t now) {
    for (uint32_t t = 0; t < count; t++) {
        fake_collector *fake = &fakes[t];
        fake_init(fake);
        gale_manual_clock_advance(fake->clock, now - gale_context_now(&fake->context));
        fake->context.task_index = t;
        fake->context.task_count = count;
        fake->context.durable = true;
        fake->store = &store;
        fake->by_key = has_key;
        if (fake_prepare(fake, &bolt, &selves[t]) < 0) {
            printf("%s\n", fake_text(&fake->reports));
            exit(1);
        }
        for (uint32_t p = 0; p < before; p++) {
            if (before == count && p != t) continue;
            gx_buf_reset(&fake->saved);
            gx_buf_add(&fake->saved, saved[p].data, saved[p].size);
            int rc = fake_give_back(fake, bolt.ops->durable, selves[t], p, before);
            if (rc < 0) printf("restore: %d %s\n", rc, fake_text(&fake->reports));
        }
    }
    tasks = count;
}

static void stop(void) {
    for (uint32_t t = 0; t < tasks; t++) {
        bolt.ops->cleanup(selves[t]);
        fake_end_states(&fakes[t]);
        fake_fini(&fakes[t]);
    }
}

static void cut(uint32_t count) {
    uint32_t before = tasks;
    int64_t now = gale_context_now(&fakes[0].context);
    checkpoint++;
    for (uint32_t t = 0; t < tasks; t++) {
        gx_changes changes = GX_CHANGES_INIT(NULL);
        gx_change change;
        assert_int_equal(fake_keep(&fakes[t], bolt.ops->durable, selves[t]), 0);
        gx_buf_reset(&saved[t]);
        gx_buf_add(&saved[t], fakes[t].saved.data, fakes[t].saved.size);
        assert_int_equal(gx_keyed_cut(&fakes[t].keyed, checkpoint, &changes), 0);
        for (size_t at = 0; gx_changes_next(&changes, &at, &change);) {
            if (change.remove)
                (void)store.remove(store.self, change.key.data, change.key.size, NULL);
            else
                (void)store.put(store.self, change.key.data, change.key.size, change.value.data, change.value.size,
                                NULL);
        }
        gx_changes_fini(&changes);
    }
    (void)store.commit(store.self, 0, NULL, NULL);
    stop();
    start(count, before, now);
}

static void flush(void) {
    for (uint32_t t = 0; t < tasks; t++) {
        fputs(fake_text(&fakes[t].emitted), stdout);
        for (const char *c = fake_text(&fakes[t].reports); *c; c = strchr(c, '\n') + 1)
            printf("!%.*s\n", (int)(strchr(c, '\n') - c), c);
        fake_forget(&fakes[t]);
    }
    printf(".\n");
    fflush(stdout);
}

static gale_value value_of(const char *word) {
    switch (word[0]) {
    case 'i': return gale_i64(strtoll(word + 1, NULL, 10));
    case 'f': return gale_f64(strtod(word + 1, NULL));
    case 's': return gale_text(word + 1);
    default: return gale_null();
    }
}

static int execute(uint32_t t, const gale_tuple *tuple) {
    return bolt.ops->execute(selves[t], tuple, &fakes[t].collector);
}

static void take_tuple(char *words, uint32_t key_count) {
    gale_value values[FIELDS];
    char *rest = NULL;
    for (int i = 0; i < FIELDS; i++) values[i] = value_of(strtok_r(i ? NULL : words, "\t\n", &rest));
    uint32_t t = has_key ? gx_saved_owner(values, key_count, tasks) : 0;
    fake_source(&fakes[t], "source", "k, l, x, y, w, time");
    (void)execute(t, fake_tuple(&fakes[t], values, FIELDS));
}

static void take_mark(int64_t mark) {
    gale_value values[2] = { gale_i64(mark), gale_i64(mark) };
    for (uint32_t t = 0; t < tasks; t++) {
        fake_source(&fakes[t], "clock", "mark, newest");
        fakes[t].stream.name = "watermark";
        (void)execute(t, fake_tuple(&fakes[t], values, 2));
    }
}

static void make_bolt(char *words, uint32_t *ret_key_count) {
    char *word[9], *rest = NULL;
    gale_error error = GALE_ERROR_INIT;
    for (int i = 0; i < 9; i++) word[i] = strtok_r(i ? NULL : words, "\t\n", &rest);
    gale_window_options options = { .size = sizeof options, .aggregates = word[1] };
    has_key = *word[0] != '-';
    options.key = has_key ? word[0] : NULL;
    options.length = strtod(word[2], NULL);
    options.slide = strtod(word[3], NULL);
    options.time = *word[4] == '-' ? NULL : word[4];
    options.emit = strcmp(word[5], "change") == 0 ? GALE_WINDOW_EMIT_CHANGE : GALE_WINDOW_EMIT_CLOSE;
    options.exact = (uint32_t)atoi(word[6]);
    options.counters = (uint32_t)atoi(word[7]);
    *ret_key_count = strchr(word[0], ',') ? 2 : 1;
    if (gale_window_bolt(&options, &bolt, &error) < 0) {
        printf("%s\n", error.text);
        exit(1);
    }
    start((uint32_t)atoi(word[8]), 0, 0);
}

static void obey(char *line, uint32_t *key_count) {
    char *words = strchr(line, '\t');
    if (words) words++;
    if (strncmp(line, "bolt", 4) == 0) make_bolt(words, key_count);
    if (strncmp(line, "tuple", 5) == 0) take_tuple(words, *key_count);
    if (strncmp(line, "mark", 4) == 0) take_mark(strtoll(words, NULL, 10));
    if (strncmp(line, "cut", 3) == 0) cut((uint32_t)atoi(words));
    for (uint32_t t = 0; t < tasks; t++) {
        if (strncmp(line, "advance", 7) == 0) gale_manual_clock_advance(fakes[t].clock, strtoll(words, NULL, 10));
        if (strncmp(line, "tick", 4) == 0) (void)execute(t, fake_tick(&fakes[t], 1));
        if (strncmp(line, "finish", 6) == 0) (void)bolt.ops->finish(selves[t], &fakes[t].collector);
    }
    flush();
}

int main(void) {
    static char line[LINE];
    uint32_t key_count = 1;
    memory_store_init(&memory);
    store = memory_store_open(&memory);
    for (uint32_t t = 0; t < TASKS_MAX; t++) saved[t] = (gx_buf)GX_BUF_INIT(NULL);
    while (fgets(line, sizeof line, stdin)) obey(line, &key_count);
    stop();
    if (bolt.free_user) bolt.free_user(bolt.user);
    for (uint32_t t = 0; t < TASKS_MAX; t++) gx_buf_fini(&saved[t]);
    memory_store_fini(&memory);
    return 0;
}
