/* What a sink has in a checkpoint: its batches under their names, which tuple is in which, and the tuples. A run that goes on sends the same requests. */
#include "connect/http/sink.h"

#include <stdlib.h>
#include <string.h>

/* First a record of how many of both follow; then one of all batches, one of all tuples in their order; then the dispatch's. */
enum { HEAD_VALUES = 2 };

typedef struct saved_batch {
    uint64_t life, number;
    uint32_t lane, lanes, part, reserved;
} saved_batch;

typedef struct saved_item {
    uint64_t tuple, order;
    uint64_t batch; /* its place among those that are saved */
} saved_item;

/* --- Saving ----------------------------------------------------------------------------------------------------------- */

/* Under a name there are the same tuples for ever. */
static void close_all(http_sink *s) {
    for (uint32_t i = 0; i < s->batches.lane_count; i++)
        if (s->batches.lanes[i].open && s->batches.lanes[i].open->count) http_sink_close(s, s->batches.lanes[i].open);
}

static int compare_numbers(const void *a, const void *b) {
    const http_batch *x = *(http_batch *const *)a, *y = *(http_batch *const *)b;
    return x->items[0].order < y->items[0].order ? -1 : 1;
}

static int compare_orders(const void *a, const void *b) {
    const saved_item *x = a, *y = b;
    return x->order < y->order ? -1 : 1;
}

typedef struct picture {
    http_batch **list;
    saved_batch *batches;
    saved_item *items;
    size_t batch_count, item_count;
} picture;

static void fini(picture *p) {
    free(p->list);
    free(p->batches);
    free(p->items);
}

static bool make_room(picture *p, const http_sink *s) {
    for (const http_batch *b = s->batches.all; b; b = b->next)
        if (b->count) {
            p->batch_count++;
            p->item_count += b->count;
        }
    p->list = calloc(p->batch_count + 1, sizeof *p->list);
    p->batches = calloc(p->batch_count + 1, sizeof *p->batches);
    p->items = calloc(p->item_count + 1, sizeof *p->items);
    return p->list && p->batches && p->items;
}

static void fill(picture *p, const http_sink *s) {
    size_t n = 0, i = 0;
    for (http_batch *b = s->batches.all; b; b = b->next)
        if (b->count) p->list[n++] = b;
    qsort(p->list, n, sizeof *p->list, compare_numbers);
    for (n = 0; n < p->batch_count; n++) {
        const http_batch *b = p->list[n];
        p->batches[n] = (saved_batch){ b->life, b->number, b->lane, s->batches.lane_count, b->part, 0 };
        for (size_t k = 0; k < b->count; k++)
            p->items[i++] = (saved_item){ gale_tuple_handle(gale_dispatch_tuple(s->dispatch, b->items[k].id)),
                                          b->items[k].order, n };
    }
    qsort(p->items, i, sizeof *p->items, compare_orders);
}

static int write(const picture *p, gale_saver *to) {
    const gale_value head[HEAD_VALUES] = { gale_i64((int64_t)p->batch_count), gale_i64((int64_t)p->item_count) };
    const gale_value batches = gale_bytes(p->batches, p->batch_count * sizeof *p->batches);
    const gale_value items = gale_bytes(p->items, p->item_count * sizeof *p->items);
    int rc = gale_save(to, head, HEAD_VALUES);
    if (rc == 0) rc = gale_save(to, &batches, 1);
    return rc == 0 ? gale_save(to, &items, 1) : rc;
}

/* From then on they wait for it to last, where that is asked for. */
static void note_checkpoint(http_sink *s, uint64_t checkpoint) {
    for (http_batch *b = s->batches.all; b; b = b->next)
        if (!b->kept && !b->checkpoint) b->checkpoint = checkpoint;
}

static int save(void *self, gale_saver *to) {
    http_sink *s = self;
    picture p = { .list = NULL };
    close_all(s);
    int rc = make_room(&p, s) ? 0 : GALE_NO_MEMORY;
    if (rc == 0) {
        fill(&p, s);
        rc = write(&p, to);
    }
    fini(&p);
    if (rc == 0 && s->given->once) note_checkpoint(s, gale_save_checkpoint(to));
    return rc < 0 ? rc : gale_dispatch_save(s->dispatch, to);
}

static void committed(void *self, uint64_t checkpoint) {
    http_sink *s = self;
    if (!s->given->once) return;
    for (http_batch *b = s->batches.all; b; b = b->next)
        if (b->closed && b->checkpoint && b->checkpoint <= checkpoint) b->kept = true;
    http_sink_go_on(s);
}

/* --- Restoring -------------------------------------------------------------------------------------------------------- */

typedef struct recalling {
    http_sink *sink;
    http_batch **batches;
    size_t batch_count;
    const saved_item *items;
    size_t item_count, next;
} recalling;

static int damaged(http_sink *s) {
    gale_report(s->out, "http sink: what was saved of its requests is damaged");
    return GALE_DAMAGED;
}

static int put_again(void *user, uint64_t id, const gale_tuple *tuple) {
    recalling *w = user;
    char why[GALE_FAILURE_TEXT] = "";
    gale_handle handle = gale_tuple_handle(tuple);
    while (w->next < w->item_count && w->items[w->next].tuple != handle) w->next++;
    if (w->next == w->item_count) return damaged(w->sink);
    const saved_item *item = &w->items[w->next++];
    http_batch *b = item->batch < w->batch_count ? w->batches[item->batch] : NULL;
    if (!b) return damaged(w->sink);
    int rc = http_sink_put(w->sink, b, tuple, id, why, sizeof why);
    return rc == GALE_INVALID ? gale_dispatch_fail(w->sink->dispatch, id, GALE_REASON_REJECTED, why) : rc;
}

/* With a key where there was none, or the other way, lanes are others: those of the key now are unknown until its tuples are there, and all go in
 * one. */
static int recall_batches(recalling *w, const saved_batch *saved) {
    http_sink *s = w->sink;
    for (size_t i = 0; i < w->batch_count; i++) {
        bool same = saved[i].lanes == s->batches.lane_count && saved[i].lane < s->batches.lane_count;
        w->batches[i] = http_batches_recall(&s->batches, same ? saved[i].lane : 0, saved[i].life, saved[i].number,
                                            saved[i].part);
        if (!w->batches[i]) return GALE_NO_MEMORY;
        w->batches[i]->kept = true;
    }
    return 0;
}

static int next_bytes(http_sink *s, gale_saved *from, size_t one, size_t count, void **ret_copy) {
    const gale_value *v;
    size_t values;
    int rc = gale_saved_next(from, &v, &values);
    if (rc < 0) return rc;
    bool is = rc == 1 && values == 1 && v[0].type == GALE_TYPE_BYTES && v[0].size % one == 0 &&
              v[0].size / one == count;
    if (!is) return damaged(s);
    *ret_copy = malloc(v[0].size + 1);
    if (!*ret_copy) return GALE_NO_MEMORY;
    if (v[0].size) memcpy(*ret_copy, v[0].as.bytes, v[0].size);
    return 0;
}

static int recall_all(recalling *w, gale_saved *from) {
    void *batches = NULL, *items = NULL;
    int rc = next_bytes(w->sink, from, sizeof(saved_batch), w->batch_count, &batches);
    if (rc == 0) rc = next_bytes(w->sink, from, sizeof(saved_item), w->item_count, &items);
    if (rc == 0) {
        w->batches = calloc(w->batch_count + 1, sizeof(http_batch *));
        rc = w->batches ? recall_batches(w, batches) : GALE_NO_MEMORY;
    }
    w->items = items;
    if (rc == 0) rc = gale_dispatch_restore(w->sink->dispatch, from, put_again, w);
    free(w->batches);
    free(batches);
    free(items);
    return rc;
}

/* What was gathered is closed as it is: under its name it may have been sent. What comes from now on has names of a new life: which numbers the old one had given since is not known. */
static int restore(void *self, gale_saved *from, gale_collector *out) {
    http_sink *s = self;
    const gale_value *v;
    size_t count;
    (void)out;
    int rc = gale_saved_next(from, &v, &count);
    if (rc < 0) return rc;
    bool is = rc == 1 && count == HEAD_VALUES;
    for (size_t i = 0; is && i < HEAD_VALUES; i++) is = v[i].type == GALE_TYPE_I64;
    if (!is || v[0].as.i64 < 0 || v[1].as.i64 < 0) return damaged(s);
    recalling w = { .sink = s, .batch_count = (size_t)v[0].as.i64, .item_count = (size_t)v[1].as.i64 };
    rc = recall_all(&w, from);
    if (rc == 0) http_sink_go_on(s);
    return rc;
}

const gale_durable_ops http_sink_durable = {
    .size = sizeof http_sink_durable,
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = save,
    .restore = restore,
    .committed = committed,
};
