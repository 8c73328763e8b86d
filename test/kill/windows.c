#include "job.h"

#include <gale/state.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 40 };

static int64_t slide_of(int64_t time) {
    return time / JOB_SLIDE * JOB_SLIDE; /* times are after 1970 */
}

static bool is_closed(int64_t start, int64_t mark) {
    return start + JOB_WINDOW <= mark;
}

/* --- Lines to words ----------------------------------------------------------------------------------------------- */

static int parse(void *self, const gale_tuple *tuple, gale_collector *out) {
    gale_value line = gale_tuple_value(tuple, 0);
    char text[2000], *rest = text;
    (void)self;
    if (gale_tuple_is_tick(tuple)) return 0;
    if (line.type != GALE_TYPE_STRING || line.size >= sizeof text) return GALE_TYPE;
    memcpy(text, line.as.string, line.size);
    text[line.size] = 0;
    int64_t time = strtoll(strsep(&rest, " "), NULL, 10);
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        gale_value values[2] = { gale_i64(time), gale_string(word, strlen(word)) };
        int rc = gale_emit(out, 0, values, 2);
        if (rc < 0) return rc;
    }
    return 0;
}

gale_bolt job_parse(void) {
    static const gale_output outputs[] = { { NULL, "time, word" } };
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "parse", .kind = GALE_BOLT_SIMPLE, .execute = parse, .durable = &gale_stateless
    };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .outputs = outputs, .output_count = 1 };
}

/* --- Counts ------------------------------------------------------------------------------------------------------- */

typedef struct counter {
    const gale_context *context;
    gale_state *counts; /* (word, start) -> count */
    int64_t mark, tidied;
} counter;

static int counter_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_state_options options = GALE_STATE_OPTIONS_INIT;
    counter *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return GALE_NO_MEMORY;
    made->context = context;
    options.route = 1;
    int rc = gale_state_open(out, &options, &made->counts);
    if (rc < 0)
        free(made);
    else
        *ret_self = made;
    return rc;
}

static int forget_closed(void *user, const gale_value *key, const gale_value *count) {
    counter *c = user;
    (void)count;
    return is_closed(gale_list_at(key, 1).as.i64, c->mark) ? gale_state_remove(c->counts, key) : 0;
}

/* `tidied` is not kept: forgetting twice is the same. */
static int see_mark(counter *c, const gale_tuple *tuple, gale_collector *out) {
    gale_value values[2] = { gale_tuple_value(tuple, 0), gale_i64(c->context->task_index) };
    c->mark = values[0].as.i64;
    int rc = slide_of(c->mark) > c->tidied ? gale_state_each(c->counts, forget_closed, c) : 0;
    c->tidied = slide_of(c->mark);
    if (rc == 0) rc = gale_emit(out, 1, values, 2);
    return rc < 0 ? rc : 0;
}

static int counter_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    counter *c = self;
    if (gale_tuple_is_tick(tuple)) return 0;
    if (strcmp(gale_tuple_stream(tuple), "watermark") == 0) return see_mark(c, tuple, out);
    int64_t last = slide_of(gale_tuple_value(tuple, 0).as.i64);
    for (int64_t start = last - JOB_WINDOW + JOB_SLIDE; start <= last; start += JOB_SLIDE) {
        gale_value items[2] = { gale_tuple_value(tuple, 1), gale_i64(start) }, key = gale_list(items, 2);
        int64_t count;
        int rc = gale_state_add(c->counts, &key, 1, &count);
        if (rc < 0) return rc;
        gale_value values[3] = { items[1], items[0], gale_i64(count) };
        rc = gale_emit(out, 0, values, 3);
        if (rc < 0) return rc;
    }
    return 0;
}

gale_bolt job_count(void) {
    static const gale_output outputs[] = { { NULL, "start, word, count" }, { "watermark", "mark, task" } };
    static const gale_bolt_ops ops = { .size = sizeof ops,
                                       .name = "count",
                                       .kind = GALE_BOLT_SIMPLE,
                                       .prepare = counter_prepare,
                                       .execute = counter_execute,
                                       .cleanup = free,
                                       .durable = &gale_keyed };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .outputs = outputs, .output_count = 2 };
}

/* --- Rankings ----------------------------------------------------------------------------------------------------- */

typedef struct entry {
    int64_t start, count;
    char word[WORD];
} entry;

typedef struct ranker {
    gale_state *counts;          /* (start, word) -> count */
    int64_t marks[JOB_COUNTERS]; /* of the counters; INT64_MIN: none yet */
    int64_t mark, told;          /* the least of them; the slide that was told of last */
    entry *entries;              /* while it tells */
    size_t size, room;
} ranker;

static int ranker_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    ranker *made = calloc(1, sizeof *made);
    (void)user, (void)context;
    if (!made) return GALE_NO_MEMORY;
    for (int i = 0; i < JOB_COUNTERS; i++) made->marks[i] = INT64_MIN;
    made->mark = made->told = INT64_MIN;
    int rc = gale_state_open(out, NULL, &made->counts);
    if (rc < 0)
        free(made);
    else
        *ret_self = made;
    return rc;
}

static void ranker_cleanup(void *self) {
    ranker *r = self;
    free(r->entries);
    free(r);
}

static int gather(void *user, const gale_value *key, const gale_value *count) {
    ranker *r = user;
    gale_value start = gale_list_at(key, 0), word = gale_list_at(key, 1);
    if (r->size == r->room) {
        size_t room = r->room ? 2 * r->room : 1000;
        entry *grown = realloc(r->entries, room * sizeof *grown);
        if (!grown) return GALE_NO_MEMORY;
        r->entries = grown;
        r->room = room;
    }
    entry *made = &r->entries[r->size++];
    *made = (entry){ .start = start.as.i64, .count = count->as.i64 };
    if (word.size >= WORD) return GALE_TOO_LARGE;
    memcpy(made->word, word.as.string, word.size);
    return is_closed(made->start, r->mark) ? gale_state_remove(r->counts, key) : 0;
}

static int compare(const void *a, const void *b) {
    const entry *one = a, *other = b;
    if (one->start != other->start) return one->start < other->start ? -1 : 1;
    if (one->count != other->count) return one->count > other->count ? -1 : 1;
    return strcmp(one->word, other->word);
}

static int tell(ranker *r, gale_collector *out) {
    r->size = 0;
    int rc = gale_state_each(r->counts, gather, r), rank = 0;
    if (r->size) qsort(r->entries, r->size, sizeof *r->entries, compare);
    for (size_t i = 0; rc >= 0 && i < r->size; i++) {
        const entry *e = &r->entries[i];
        rank = i > 0 && e->start == r->entries[i - 1].start ? rank + 1 : 1;
        gale_value values[4] = { gale_i64(e->start), gale_i64(rank), gale_string(e->word, strlen(e->word)),
                                 gale_i64(e->count) };
        if (rank <= JOB_TOP) rc = gale_emit(out, 0, values, 4);
    }
    return rc < 0 ? rc : 0;
}

static int see_marks(ranker *r, const gale_tuple *tuple, gale_collector *out) {
    r->marks[gale_tuple_value(tuple, 1).as.i64] = gale_tuple_value(tuple, 0).as.i64;
    r->mark = r->marks[0];
    for (int i = 1; i < JOB_COUNTERS; i++)
        if (r->marks[i] < r->mark) r->mark = r->marks[i];
    if (r->mark < 0 || slide_of(r->mark) <= r->told) return 0;
    r->told = slide_of(r->mark);
    return tell(r, out);
}

static int ranker_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    ranker *r = self;
    if (gale_tuple_is_tick(tuple)) return 0;
    if (strcmp(gale_tuple_stream(tuple), "watermark") == 0) return see_marks(r, tuple, out);
    gale_value items[2] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1) }, key = gale_list(items, 2);
    gale_value count = gale_tuple_value(tuple, 2);
    return gale_state_put(r->counts, &key, &count);
}

static int ranker_finish(void *self, gale_collector *out) {
    return tell(self, out);
}

static int ranker_save(void *self, gale_saver *to) {
    const ranker *r = self;
    gale_value values[JOB_COUNTERS + 1] = { gale_i64(r->told) };
    for (int i = 0; i < JOB_COUNTERS; i++) values[1 + i] = gale_i64(r->marks[i]);
    return gale_save(to, values, JOB_COUNTERS + 1);
}

static int ranker_restore(void *self, gale_saved *from, gale_collector *out) {
    ranker *r = self;
    const gale_value *values;
    size_t count;
    (void)out;
    int rc = gale_saved_next(from, &values, &count);
    if (rc < 0 || count != JOB_COUNTERS + 1) return rc < 0 ? rc : GALE_DAMAGED;
    r->told = values[0].as.i64;
    for (int i = 0; i < JOB_COUNTERS; i++) r->marks[i] = values[1 + i].as.i64;
    return 0;
}

gale_bolt job_rank(void) {
    static const gale_output outputs[] = { { NULL, "start, rank, word, count" } };
    static const gale_durable_ops durable = {
        .size = sizeof durable, .version = 1, .save = ranker_save, .restore = ranker_restore
    };
    static const gale_bolt_ops ops = { .size = sizeof ops,
                                       .name = "rank",
                                       .kind = GALE_BOLT_SIMPLE,
                                       .prepare = ranker_prepare,
                                       .execute = ranker_execute,
                                       .finish = ranker_finish,
                                       .cleanup = ranker_cleanup,
                                       .durable = &durable };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .outputs = outputs, .output_count = 1 };
}
