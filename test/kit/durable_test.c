/* Every part of the kit goes on where another instance of it was cut: what both say together is what one would have said; also
 * when it emits in parts (GALE_MORE), and is cut between two of them. */
#include "kit/streams.h"

#include "harness/memory_store.h"

#include <gale/kit.h>
#include <stdio.h>

#include "harness/cm.h"

enum { STEPS = 40, TASKS_MAX = 3 };

typedef struct scene scene;

typedef struct part {
    const char *name;
    int (*spout)(gale_spout *ret_spout);
    int (*bolt)(gale_bolt *ret_bolt);
    void (*step)(scene *s, int n);
    bool keyed;     /* what it keeps is keyed state */
    bool bursts;    /* it emits an amount in one call that has no small bound: in parts */
    bool unordered; /* rows that belong together have no order */
} part;

/* How a call is made: whole; in parts of a row; and cut between two of them. */
typedef enum how { WHOLE, IN_PARTS, CUT_IN_PARTS } how_called;

enum { ROWS_MOST = 2 }; /* of a call in parts of a row: one, and a watermark or a late one */

struct scene {
    fake_collector fake;
    const part *what;
    gale_spout spout;
    gale_bolt bolt;
    void *self;
    memory_store memory;
    gale_store store;
    uint64_t checkpoint;
    how_called way;
    uint64_t parts;           /* calls that returned GALE_MORE */
    uint64_t open[STEPS * 2]; /* message ids that wait for an answer */
    size_t open_count;
};

static const gale_durable_ops *durable_of(const scene *s) {
    return s->what->spout ? s->spout.ops->durable : s->bolt.ops->durable;
}

static void begin(scene *s, const part *what) {
    memset(s, 0, sizeof *s);
    fake_init(&s->fake);
    streams_use(&s->fake);
    s->what = what;
    memory_store_init(&s->memory);
    s->store = memory_store_open(&s->memory);
    if (what->keyed) s->fake.store = &s->store;
    s->fake.context.durable = s->fake.by_key = what->keyed;
    if (what->spout)
        assert_int_equal(what->spout(&s->spout), 0);
    else
        assert_int_equal(what->bolt(&s->bolt), 0);
}

/* An instance; random numbers go on, as they do in the engine. */
static void start(scene *s) {
    gx_random before = s->fake.random;
    int rc = s->what->spout ? fake_open(&s->fake, &s->spout, &s->self) : fake_prepare(&s->fake, &s->bolt, &s->self);
    assert_int_equal(rc, 0);
    if (s->checkpoint) s->fake.random = before;
}

static void stop(scene *s) {
    if (s->what->spout && s->spout.ops->close) s->spout.ops->close(s->self);
    if (!s->what->spout && s->bolt.ops->cleanup) s->bolt.ops->cleanup(s->self);
    s->self = NULL;
    fake_end_states(&s->fake);
}

static void end(scene *s) {
    if (s->self) stop(s);
    if (s->spout.free_user) s->spout.free_user(s->spout.user);
    if (s->bolt.free_user) s->bolt.free_user(s->bolt.user);
    memory_store_fini(&s->memory);
    fake_fini(&s->fake);
}

static void save(scene *s) {
    s->checkpoint++;
    assert_int_equal(fake_keep(&s->fake, durable_of(s), s->self), 0);
    if (!s->what->keyed) return;
    gx_changes changes = GX_CHANGES_INIT(NULL);
    gx_change change;
    assert_int_equal(gx_keyed_cut(&s->fake.keyed, s->checkpoint, &changes), 0);
    for (size_t at = 0; gx_changes_next(&changes, &at, &change);)
        if (change.remove)
            s->store.remove(s->store.self, change.key.data, change.key.size, NULL);
        else
            s->store.put(s->store.self, change.key.data, change.key.size, change.value.data, change.value.size, NULL);
    s->store.commit(s->store.self, 0, NULL, NULL);
    gx_changes_fini(&changes);
}

static void cut_here(scene *s) {
    save(s);
    stop(s);
    start(s);
    int rc = durable_of(s)->restore ? fake_give_back(&s->fake, durable_of(s), s->self, 0, 1) : 0;
    if (rc < 0) fail_msg("%s cannot go on: %s", s->what->name, fake_text(&s->fake.reports));
}

/* One call, of `finish` when there is no tuple. False: there is more. */
static bool call(scene *s, const gale_tuple *tuple) {
    uint64_t before = s->fake.emissions;
    s->fake.part_rows = s->way == WHOLE ? 0 : 1;
    s->fake.part_asked = 0;
    int rc = tuple ? s->bolt.ops->execute(s->self, tuple, &s->fake.collector)
                   : s->bolt.ops->finish(s->self, &s->fake.collector);
    if (rc != GALE_MORE) assert_int_equal(rc, 0);
    if (s->way != WHOLE && s->fake.emissions - before > ROWS_MOST)
        fail_msg("%s: a call emits %d rows", s->what->name, (int)(s->fake.emissions - before));
    s->parts += rc == GALE_MORE;
    return rc != GALE_MORE;
}

static void execute(scene *s, const gale_tuple *tuple) {
    while (!call(s, tuple))
        if (s->way == CUT_IN_PARTS) cut_here(s);
}

/* No checkpoint is cut while bolts finish. */
static void finish(scene *s) {
    if (s->what->spout || !s->bolt.ops->finish) return;
    while (!call(s, NULL)) {
    }
}

/* --- What happens to them --- */

static void take(scene *s, const gale_value *values, size_t count) {
    execute(s, fake_tuple(&s->fake, values, count));
}

static void tick(scene *s, int64_t seconds) {
    gale_manual_clock_advance(s->fake.clock, seconds * GALE_SECOND);
    execute(s, fake_tick(&s->fake, seconds));
}

static gale_value word(int n) {
    static const char *const words[] = { "a", "b", "a word that is longer than sixteen bytes", "c", "a", "" };
    return n % 7 == 6 ? gale_i64(n % 14) : gale_text(words[n * 5 % 6]);
}

static void step_words(scene *s, int n) {
    gale_value value = word(n);
    fake_source(&s->fake, "source", "word");
    take(s, &value, 1);
    if (n % 4 == 3) tick(s, 3);
}

static void step_counts(scene *s, int n) {
    gale_value values[3] = { word(n), gale_i64(n * 7 % 11), gale_text(n % 2 ? "x" : "another field") };
    fake_source(&s->fake, "source", "obj, count, more");
    take(s, values, 3);
    if (n % 4 == 3) tick(s, 2);
}

static void step_rankings(scene *s, int n) {
    gale_value row[3] = { word(n), gale_i64(n * 7 % 11), gale_i64(n) };
    gale_value other[2] = { gale_text("z"), gale_i64(n % 5) };
    gale_value rows[2] = { gale_list(row, 3), gale_list(other, 2) }, rankings = gale_list(rows, 2);
    fake_source(&s->fake, "source", "rankings");
    take(s, &rankings, 1);
    if (n % 4 == 3) tick(s, 2);
}

static void step_visits(scene *s, int n) {
    char who[16];
    snprintf(who, sizeof who, "%d", n * 5 % 13);
    gale_value values[3] = { gale_text(who), gale_i64(n % 3), gale_i64(n % 20) };
    fake_source(&s->fake, "source", "who, what, id");
    gale_manual_clock_advance(s->fake.clock, 900 * GALE_MILLISECOND);
    take(s, values, 3);
    if (n % 9 == 8) tick(s, 2);
}

static void step_times(scene *s, int n) {
    gale_value values[2] = { gale_i64(1000 + n - n * 7 % 10), gale_i64(n) };
    fake_source(&s->fake, "source", "time, id");
    take(s, values, 2);
}

static void watermark(scene *s, int64_t mark, int64_t newest) {
    gale_value values[2] = { gale_i64(mark), gale_i64(newest) };
    fake_source(&s->fake, "clock", "mark, newest");
    s->fake.stream.name = "watermark";
    take(s, values, 2);
}

static void step_unique(scene *s, int n) {
    char who[16];
    snprintf(who, sizeof who, "%d", n * 5 % 11);
    gale_value values[3] = { gale_i64(1000 + n * 3), gale_text(who), gale_i64(n % 2) };
    fake_source(&s->fake, "clock", "time, who, what");
    take(s, values, 3);
    if (n % 3 == 2) watermark(s, 1000 + n * 3 - 12, 1000 + n * 3);
    if (n % 5 == 4) tick(s, 1);
}

static void step_total(scene *s, int n) {
    gale_value values[3] = { gale_i64(n % 2 ? 10 : 20), gale_i64(1000 + n / 4 * 20), gale_i64(n % 7) };
    fake_source(&s->fake, "unique", "window, start, new");
    take(s, values, 3);
    if (n % 3) return;
    gale_value mark[3] = { gale_i64(1000 + n * 5 - 30), gale_i64(n % 2), gale_i64(2) };
    fake_source(&s->fake, "unique", "mark, task, tasks");
    s->fake.stream.name = "watermark";
    take(s, mark, 3);
    tick(s, 1);
}

/* Emits; then one is answered, one fails, one stays open. */
static void step_lines(scene *s, int n) {
    gale_wait wait = { 0 };
    gale_failure failure = { .size = sizeof failure, .reason = GALE_REASON_FAILED, .text = "no" };
    for (int i = 0; i < 2; i++) {
        int rc = s->spout.ops->next(s->self, &s->fake.collector, &wait);
        if (rc == GALE_NEXT_UNTIL) gale_manual_clock_advance(s->fake.clock, 70 * GALE_MILLISECOND);
        if (rc == GALE_NEXT_EMITTED && s->spout.ops->ack) s->open[s->open_count++] = s->fake.last_message;
    }
    if (s->open_count < 3) return;
    uint64_t id = s->open[n % (int)s->open_count];
    s->open_count--;
    s->open[n % (int)(s->open_count + 1)] = s->open[s->open_count];
    if (n % 2)
        s->spout.ops->ack(s->self, id);
    else
        s->spout.ops->fail(s->self, id, &failure);
}

/* --- The parts --- */

static int count_each(gale_bolt *ret) {
    return gale_count_bolt(GALE_COUNT_EMIT_EACH, ret, NULL);
}

static int count_totals(gale_bolt *ret) {
    return gale_count_bolt(GALE_COUNT_EMIT_FINISH, ret, NULL);
}

static int rolling(gale_bolt *ret) {
    return gale_rolling_count_bolt(9, 3, ret, NULL);
}

static int aggregation(gale_bolt *ret) {
    return gale_rolling_count_agg_bolt(ret, NULL);
}

static int intermediate(gale_bolt *ret) {
    return gale_intermediate_rankings_bolt(3, 2, ret, NULL);
}

static int total_rankings(gale_bolt *ret) {
    return gale_total_rankings_bolt(3, 2, ret, NULL);
}

static int dedupe_with(gale_bolt *ret, int32_t keep, const char *identity) {
    gale_dedupe_options options = { .size = sizeof options, .key = "who, what", .horizon_seconds = 8 };
    options.keep = keep;
    options.identity = identity;
    return gale_dedupe_bolt(&options, ret, NULL);
}

static int dedupe_keys(gale_bolt *ret) {
    return dedupe_with(ret, GALE_DEDUPE_EXACT, NULL);
}

static int dedupe_identities(gale_bolt *ret) {
    return dedupe_with(ret, GALE_DEDUPE_EXACT, "id");
}

static int dedupe_prints(gale_bolt *ret) {
    return dedupe_with(ret, GALE_DEDUPE_FINGERPRINT, "id");
}

static int event_time(gale_bolt *ret) {
    gale_event_time_options options = { .size = sizeof options, .output = "id", .lateness_seconds = 4 };
    return gale_event_time_bolt(&options, ret, NULL);
}

static int unique(gale_bolt *ret) {
    gale_unique_options options = { .size = sizeof options, .key = "who, what", .windows = "10, 30" };
    return gale_unique_bolt(&options, ret, NULL);
}

static int window_of(gale_bolt *ret, const char *time, double length, double slide, int32_t emit) {
    gale_window_options options = { .size = sizeof options, .key = "who", .aggregates = "count" };
    options.time = time;
    options.length = length;
    options.slide = slide;
    options.emit = emit;
    return gale_window_bolt(&options, ret, NULL);
}

static int tumbling(gale_bolt *ret) {
    return window_of(ret, "time", 15, 0, GALE_WINDOW_EMIT_CLOSE);
}

static int hopping(gale_bolt *ret) {
    return window_of(ret, "time", 20, 5, GALE_WINDOW_EMIT_CLOSE);
}

static int changing(gale_bolt *ret) {
    return window_of(ret, "time", 20, 5, GALE_WINDOW_EMIT_CHANGE);
}

static int by_clock(gale_bolt *ret) {
    return window_of(ret, NULL, 6, 2, GALE_WINDOW_EMIT_CLOSE);
}

static int unique_total(gale_bolt *ret) {
    return gale_unique_total_bolt(1, ret, NULL);
}

static int generator(gale_spout *ret) {
    gale_generator_options options = { .size = sizeof options, .lines = 50, .words = 3, .seed = 5, .max_attempts = 2 };
    return gale_generator_spout(&options, ret, NULL);
}

static int access_log(gale_spout *ret) {
    gale_access_log_spout_options options = { .size = sizeof options, .lines = 50, .seed = 5 };
    return gale_access_log_spout(&options, ret, NULL);
}

static int words(gale_spout *ret) {
    return gale_word_spout(true, ret, NULL);
}

static const part parts[] = {
    { .name = "count, each", .bolt = count_each, .step = step_words, .keyed = true },
    { .name = "count, totals",
      .bolt = count_totals,
      .step = step_words,
      .keyed = true,
      .bursts = true,
      .unordered = true },
    { .name = "rolling count", .bolt = rolling, .step = step_words, .bursts = true },
    { .name = "rolling count agg", .bolt = aggregation, .step = step_counts },
    { .name = "intermediate rankings", .bolt = intermediate, .step = step_counts },
    { .name = "total rankings", .bolt = total_rankings, .step = step_rankings },
    { .name = "dedupe", .bolt = dedupe_keys, .step = step_visits },
    { .name = "dedupe, identities", .bolt = dedupe_identities, .step = step_visits },
    { .name = "dedupe, fingerprints", .bolt = dedupe_prints, .step = step_visits },
    { .name = "event time", .bolt = event_time, .step = step_times },
    { .name = "unique", .bolt = unique, .step = step_unique, .bursts = true },
    { .name = "unique total", .bolt = unique_total, .step = step_total, .bursts = true },
    { .name = "tumbling windows",
      .bolt = tumbling,
      .step = step_unique,
      .keyed = true,
      .bursts = true,
      .unordered = true },
    { .name = "hopping windows",
      .bolt = hopping,
      .step = step_unique,
      .keyed = true,
      .bursts = true,
      .unordered = true },
    { .name = "windows that change",
      .bolt = changing,
      .step = step_unique,
      .keyed = true,
      .bursts = true,
      .unordered = true },
    { .name = "windows by the clock",
      .bolt = by_clock,
      .step = step_visits,
      .keyed = true,
      .bursts = true,
      .unordered = true },
    { .name = "generator", .spout = generator, .step = step_lines },
    { .name = "access log", .spout = access_log, .step = step_lines },
    { .name = "words", .spout = words, .step = step_lines },
};
enum { PARTS = sizeof parts / sizeof *parts };

/* --- Cut anywhere --- */

/* Message ids name slots, which may be others. */
static void drop_ids(char *text) {
    char *to = text;
    for (const char *from = text; *from;) {
        if (from[0] == ' ' && from[1] == '#') from += strcspn(from, "\n");
        *to++ = *from;
        if (*from) from++;
    }
    *to = 0;
}

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines in order. */
static void sort_lines(char *text) {
    char *lines[1000], *copy = strdup(text), *rest = NULL;
    size_t count = 0;
    for (char *line = strtok_r(copy, "\n", &rest); line && count < 1000; line = strtok_r(NULL, "\n", &rest))
        lines[count++] = line;
    qsort(lines, count, sizeof *lines, compare_lines);
    text[0] = 0;
    for (size_t i = 0; i < count; i++) text += sprintf(text, "%s\n", lines[i]);
    free(copy);
}

/* Cut before step `first` and before step `second`; -1: never. What was emitted, to be freed. */
static char *run(const part *what, how_called way, int first, int second) {
    scene s;
    begin(&s, what);
    s.way = way;
    start(&s);
    for (int n = 0; n < STEPS; n++) {
        if (n == first || n == second) cut_here(&s);
        what->step(&s, n);
    }
    finish(&s);
    if (way != WHOLE && (s.parts > 0) != what->bursts) fail_msg("%s: %d parts", what->name, (int)s.parts);
    char *text = strdup(fake_text(&s.fake.emitted));
    drop_ids(text);
    if (what->unordered) sort_lines(text);
    end(&s);
    return text;
}

static void expect_same(const part *what, const char *whole, char *both, int first) {
    if (strcmp(whole, both) != 0) fail_msg("%s, cut before step %d, says\n%s\nnot\n%s", what->name, first, both, whole);
    free(both);
}

static void what_two_say_is_what_one_would_have_said(void **state) {
    (void)state;
    for (int p = 0; p < PARTS; p++) {
        char *whole = run(&parts[p], WHOLE, -1, -1);
        assert_true(strlen(whole) > 40);
        for (int first = 0; first < STEPS; first++)
            expect_same(&parts[p], whole, run(&parts[p], WHOLE, first, (first + 7) % STEPS), first);
        free(whole);
    }
}

static void what_is_emitted_in_parts_is_what_one_call_would_have_emitted(void **state) {
    (void)state;
    for (int p = 0; p < PARTS; p++) {
        char *whole = run(&parts[p], WHOLE, -1, -1);
        expect_same(&parts[p], whole, run(&parts[p], IN_PARTS, -1, -1), -1);
        expect_same(&parts[p], whole, run(&parts[p], CUT_IN_PARTS, -1, -1), -1);
        free(whole);
    }
}

/* --- What is not what was written --- */

static void alter(gale_value *value, int how) {
    static const gale_value none[1];
    switch (how) {
    case 0: *value = gale_null(); break;
    case 1: *value = gale_i64(-1); break;
    case 2: *value = gale_i64(INT64_MAX); break;
    case 3: *value = gale_i64(INT64_MIN); break;
    case 4: *value = gale_text("?"); break;
    case 5: *value = gale_bytes("\xff\0\1\2\3\4\5\6", 8); break;
    case 6: *value = gale_list(none, 1); break;
    case 7: *value = gale_bool(true); break;
    default: *value = gale_i64(3);
    }
}

enum { ALTERATIONS = 9, VALUES_MAX = 8 };

/* The saved records again, but for value `at` of record `record`; with `at` beyond the last value, the record is gone, or
 * has a value more. False: there is no such record. */
static bool rewrite(const gx_buf *from, gx_buf *to, size_t record, size_t at, int how) {
    gale_str rest = { from->data, from->size };
    const gale_body *body;
    bool found = false;
    gx_buf_reset(to);
    for (size_t r = 0; gx_records_next(&rest, &body); r++) {
        gale_value values[VALUES_MAX + 1] = { 0 };
        size_t count = gale_body_count(body);
        assert_in_range(count, 0, VALUES_MAX);
        for (size_t i = 0; i < count; i++) values[i] = gale_body_value(body, i);
        if (r == record) {
            found = true;
            if (at < count) alter(&values[at], how);
            if (at >= count && how == 0) continue;
            if (at >= count) count++;
        }
        assert_int_equal(gx_record_add(to, values, count), 0);
    }
    return found;
}

/* It is refused with a sentence, or taken (a number that might have been there); it never crashes. */
static void restore_altered(scene *s, size_t record, size_t at, int how) {
    gx_buf_reset(&s->fake.reports);
    start(s);
    int rc = fake_give_back(&s->fake, durable_of(s), s->self, 0, 1);
    if (rc < 0 && s->fake.reports.size == 0)
        fail_msg("%s: value %zu of record %zu, altered in way %d, is refused (%s) without a word", s->what->name, at,
                 record, how, gale_error_text(rc));
    stop(s);
}

static void what_was_not_written_so_is_refused_and_never_crashes(void **state) {
    (void)state;
    for (int p = 0; p < PARTS; p++) {
        scene s;
        begin(&s, &parts[p]);
        if (!durable_of(&s)->restore) {
            end(&s);
            continue;
        }
        start(&s);
        for (int n = 0; n < STEPS / 2; n++) parts[p].step(&s, n);
        save(&s);
        stop(&s);
        gx_buf original = GX_BUF_INIT(NULL);
        gx_buf_add(&original, s.fake.saved.data, s.fake.saved.size);
        for (size_t record = 0; rewrite(&original, &s.fake.saved, record, 0, 0); record++)
            for (size_t at = 0; at <= VALUES_MAX; at++)
                for (int how = 0; how < ALTERATIONS; how++) {
                    rewrite(&original, &s.fake.saved, record, at, how);
                    restore_altered(&s, record, at, how);
                }
        gx_buf_reset(&s.fake.saved);
        restore_altered(&s, 0, 0, 0);
        gx_buf_fini(&original);
        end(&s);
    }
}

static void a_restore_without_memory_says_so(void **state) {
    (void)state;
    for (int p = 0; p < PARTS; p++) {
        scene s;
        begin(&s, &parts[p]);
        start(&s);
        for (int n = 0; n < STEPS / 2; n++) parts[p].step(&s, n);
        save(&s);
        stop(&s);
        for (uint64_t n = 1; durable_of(&s)->restore; n++) {
            start(&s);
            s.fake.allocations = 0;
            s.fake.fail_at = n;
            int rc = fake_give_back(&s.fake, durable_of(&s), s.self, 0, 1);
            bool failed = s.fake.allocations >= n;
            s.fake.fail_at = 0;
            if (rc < 0) assert_int_equal(rc, GALE_NO_MEMORY);
            stop(&s);
            if (!failed) break;
        }
        end(&s);
    }
}

static void a_save_without_memory_says_so_and_can_be_made_again(void **state) {
    (void)state;
    for (int p = 0; p < PARTS; p++) {
        scene s;
        begin(&s, &parts[p]);
        start(&s);
        for (int n = 0; n < STEPS / 2; n++) parts[p].step(&s, n);
        for (uint64_t n = 1;; n++) {
            s.fake.allocations = 0;
            s.fake.fail_at = n;
            int rc = fake_keep(&s.fake, durable_of(&s), s.self);
            bool failed = s.fake.allocations >= n;
            s.fake.fail_at = 0;
            if (rc < 0) assert_int_equal(rc, GALE_NO_MEMORY);
            if (!failed) break;
        }
        cut_here(&s);
        for (int n = STEPS / 2; n < STEPS; n++) parts[p].step(&s, n);
        finish(&s);
        char *whole = run(&parts[p], WHOLE, -1, -1), *text = strdup(fake_text(&s.fake.emitted));
        drop_ids(text);
        if (parts[p].unordered) sort_lines(text);
        assert_string_equal(text, whole);
        free(whole);
        free(text);
        end(&s);
    }
}

/* --- Another number of tasks --- */

/* Tasks of one component, one after the other in one scene's fake collector. */
typedef struct crew {
    scene *s;
    void *selves[TASKS_MAX];
    gx_buf saved[TASKS_MAX];
    uint32_t count;
} crew;

static void hire(crew *c, uint32_t count, uint32_t earlier) {
    for (uint32_t t = 0; t < count; t++) {
        c->s->fake.context.task_index = t;
        c->s->fake.context.task_count = count;
        start(c->s);
        c->selves[t] = c->s->self;
        for (uint32_t p = 0; p < earlier; p++) {
            gx_buf_reset(&c->s->fake.saved);
            gx_buf_add(&c->s->fake.saved, c->saved[p].data, c->saved[p].size);
            assert_int_equal(fake_give_back(&c->s->fake, durable_of(c->s), c->s->self, p, earlier), 0);
        }
    }
    c->count = count;
    c->s->self = NULL;
}

static void dismiss(crew *c, bool saves) {
    for (uint32_t t = 0; t < c->count; t++) {
        c->s->self = c->selves[t];
        if (saves) {
            save(c->s);
            gx_buf_reset(&c->saved[t]);
            gx_buf_add(&c->saved[t], c->s->fake.saved.data, c->s->fake.saved.size);
        }
        stop(c->s);
    }
}

/* A tuple goes where its key leads, a tick (the last part of a step) to all. */
typedef struct division {
    const part *what;
    uint32_t fields[2], field_count; /* of the tuple: the key */
    bool ranks;                      /* what all of them have in the end counts */
} division;

static crew *working;
static const division *divided;
static const gale_bolt_ops *real;

static int lead(void *self, const gale_tuple *tuple, gale_collector *out) {
    bool all = gale_tuple_is_tick(tuple) || strcmp(gale_tuple_stream(tuple), "watermark") == 0;
    gale_value key[2];
    int rc = 0;
    (void)self;
    for (uint32_t i = 0; !all && i < divided->field_count; i++) key[i] = gale_tuple_value(tuple, divided->fields[i]);
    uint32_t owner = all ? 0 : gx_saved_owner(key, divided->field_count, working->count);
    for (uint32_t t = 0; t < working->count && rc >= 0; t++) {
        working->s->fake.context.task_index = t;
        if (all || t == owner) rc = real->execute(working->selves[t], tuple, out);
    }
    return rc;
}

/* The entries of rankings, a line each. */
static void take_entries(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool between = strncmp(from, "],[", 3) == 0;
        if (between) from += 2;
        if (between)
            *to++ = '\n';
        else if (*from != '[' && *from != ']')
            *to++ = *from;
    }
    *to = 0;
}

/* Half of the steps by so many tasks, the others by so many; 0: by the same. */
static char *run_divided(const division *d, uint32_t before, uint32_t after) {
    scene s;
    crew c = { .s = &s };
    begin(&s, d->what);
    s.fake.by_key = true;
    real = s.bolt.ops;
    gale_bolt_ops leading = *real;
    leading.execute = lead;
    s.bolt.ops = &leading;
    working = &c;
    divided = d;
    for (uint32_t t = 0; t < TASKS_MAX; t++) c.saved[t] = (gx_buf)GX_BUF_INIT(NULL);
    hire(&c, before, 0);
    for (int n = 0; n < STEPS; n++) {
        if (n == STEPS / 2 && after) {
            dismiss(&c, true);
            hire(&c, after, before);
        }
        d->what->step(&s, n);
    }
    if (d->ranks) {
        gx_buf_reset(&s.fake.emitted);
        tick(&s, 2);
    }
    for (uint32_t t = 0; t < c.count && real->finish; t++)
        assert_int_equal(real->finish(c.selves[t], &s.fake.collector), 0);
    char *text = strdup(fake_text(&s.fake.emitted));
    if (d->ranks) take_entries(text);
    sort_lines(text);
    dismiss(&c, false);
    for (uint32_t t = 0; t < TASKS_MAX; t++) gx_buf_fini(&c.saved[t]);
    end(&s);
    return text;
}

static int all_rankings(gale_bolt *ret) {
    return gale_intermediate_rankings_bolt(20, 2, ret, NULL);
}

static const part all_ranks = { .name = "intermediate rankings of all", .bolt = all_rankings, .step = step_counts };

static void another_number_of_tasks_says_the_same(void **state) {
    (void)state;
    const division divisions[] = {
        { &parts[2], { 0 }, 1, false },    { &parts[3], { 0 }, 1, false }, { &parts[6], { 0, 1 }, 2, false },
        { &parts[7], { 0, 1 }, 2, false }, { &all_ranks, { 0 }, 1, true },
    };
    for (size_t d = 0; d < sizeof divisions / sizeof *divisions; d++) {
        char *whole = run_divided(&divisions[d], 1, 0);
        assert_true(strlen(whole) > 40);
        for (uint32_t before = 1; before <= TASKS_MAX; before++)
            for (uint32_t after = 1; after <= TASKS_MAX; after++) {
                if (before == after) continue;
                char *both = run_divided(&divisions[d], before, after);
                if (strcmp(both, whole) != 0)
                    fail_msg("%s of %u and then %u tasks says\n%s\nnot\n%s", divisions[d].what->name, before, after,
                             both, whole);
                free(both);
            }
        free(whole);
    }
}

/* What several tasks count of a window is added up. */
static char *add_up(char *text) {
    long long sums[2][200] = { { 0 } }, window, start, more;
    char *rest = NULL, *to = malloc(20000);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] != '~' || sscanf(line, "~[%lld,%lld,%lld]", &window, &start, &more) != 3) continue;
        assert_in_range(start, 900, 1199);
        sums[window == 30][(start - 900) / 10 % 200] += more;
    }
    free(text);
    to[0] = 0;
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < 200; i++)
            if (sums[w][i]) sprintf(to + strlen(to), "%d %d: %lld\n", w, i, sums[w][i]);
    return to;
}

static void unique_keys_are_counted_once_by_another_number_of_tasks(void **state) {
    (void)state;
    const division d = { &parts[10], { 1, 2 }, 2, false };
    char *whole = add_up(run_divided(&d, 1, 0));
    assert_true(strlen(whole) > 40);
    for (uint32_t before = 1; before <= TASKS_MAX; before++)
        for (uint32_t after = 1; after <= TASKS_MAX; after++) {
            if (before == after) continue;
            char *both = add_up(run_divided(&d, before, after));
            assert_string_equal(both, whole);
            free(both);
        }
    free(whole);
}

/* A fingerprint does not tell what it is of. */
static void fingerprints_are_not_divided_among_another_number_of_tasks(void **state) {
    (void)state;
    scene s;
    begin(&s, &parts[8]);
    start(&s);
    for (int n = 0; n < 5; n++) parts[8].step(&s, n);
    save(&s);
    stop(&s);
    s.fake.context.task_count = 2;
    start(&s);
    assert_int_equal(fake_give_back(&s.fake, durable_of(&s), s.self, 0, 1), GALE_STATE);
    assert_non_null(strstr(fake_text(&s.fake.reports), "fingerprints cannot be divided among another number of tasks"));
    end(&s);
}

/* One of each window's marks comes from each task: they are told how many there are. The engine refuses another number. */
static void what_hears_all_tasks_has_no_parts(void **state) {
    (void)state;
    static const int whole[] = { 9, 11 };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        scene s;
        begin(&s, &parts[whole[i]]);
        assert_int_equal(durable_of(&s)->flags & (GALE_DURABLE_PARTS | GALE_DURABLE_SHARED), 0);
        assert_non_null(durable_of(&s)->restore);
        end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_two_say_is_what_one_would_have_said),
        cmocka_unit_test(what_is_emitted_in_parts_is_what_one_call_would_have_emitted),
        cmocka_unit_test(what_was_not_written_so_is_refused_and_never_crashes),
        cmocka_unit_test(a_restore_without_memory_says_so),
        cmocka_unit_test(a_save_without_memory_says_so_and_can_be_made_again),
        cmocka_unit_test(another_number_of_tasks_says_the_same),
        cmocka_unit_test(unique_keys_are_counted_once_by_another_number_of_tasks),
        cmocka_unit_test(fingerprints_are_not_divided_among_another_number_of_tasks),
        cmocka_unit_test(what_hears_all_tasks_has_no_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
