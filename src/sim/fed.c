#include "sim/fed.h"

#include "base/str.h"

#include <gale_test.h>
#include <stdlib.h>

int gx_fed_add(gx_fed *fed, uint32_t stream, const gale_value *values, size_t count) {
    gx_feed *feed = fed->feed;
    if (fed->head == fed->count) fed->head = fed->count = 0;
    if (!gx_grow(feed->heap, GX_TAG_OTHER, &feed->list, &feed->capacity, feed->count + 1, sizeof *feed->list) ||
        !gx_grow(feed->heap, GX_TAG_OTHER, &fed->queue, &fed->capacity, fed->count + 1, sizeof *fed->queue))
        return GALE_NO_MEMORY;
    gale_value list = gale_list(values, count);
    gale_value_owned *copy = gale_value_copy(&list);
    if (!copy) return GALE_NO_MEMORY;
    fed->queue[fed->count++] = feed->count;
    feed->list[feed->count++] = (gx_fed_tuple){ .to = fed, .stream = stream, .values = copy, .state = GALE_TEST_WAITS };
    return GALE_OK;
}

void gx_feed_fini(gx_feed *feed) {
    for (size_t i = 0; i < feed->count; i++) {
        gale_value_owned_free(feed->list[i].values);
        free(feed->list[i].component);
        free(feed->list[i].text);
    }
    gx_free(feed->heap, GX_TAG_OTHER, feed->list, feed->capacity * sizeof *feed->list);
}

void gx_fed_fini(gx_fed *fed) {
    gx_free(fed->feed->heap, GX_TAG_OTHER, fed->queue, fed->capacity * sizeof *fed->queue);
}

/* --- The spout ---------------------------------------------------------------------------------------------------- */

static void fail_tuple(gx_fed_tuple *tuple, const gale_failure *failure) {
    tuple->state = GALE_TEST_FAILED;
    tuple->reason = failure->reason;
    tuple->attempts = failure->attempts;
    tuple->final = failure->final;
    tuple->component = failure->component ? strdup(failure->component) : NULL;
    tuple->text = strdup(failure->text);
}

/* What the engine will never take: to a stream that somebody takes directly, too much. */
static int refuse_tuple(gx_fed *fed, int rc) {
    gx_fed_tuple *tuple = &fed->feed->list[fed->queue[fed->head++]];
    tuple->state = GALE_TEST_FAILED;
    tuple->component = strdup(fed->built->name);
    tuple->text = strdup(gale_error_text(rc));
    return GALE_NEXT_EMITTED;
}

/* The first of its queue. */
static int emit(gx_fed *fed, gale_collector *out) {
    enum { VALUES_MAX = 64 };
    gale_value values[VALUES_MAX];
    uint64_t number = fed->queue[fed->head];
    gx_fed_tuple *tuple = &fed->feed->list[number];
    gale_value list = gale_value_owned_view(tuple->values), *all = list.size > VALUES_MAX ? NULL : values;
    if (!all && !(all = calloc(list.size, sizeof *all))) return GALE_NO_MEMORY;
    for (size_t i = 0; i < list.size; i++) all[i] = gale_list_at(&list, i);
    int rc = gale_emit_tracked(out, tuple->stream, all, list.size, number);
    if (all != values) free(all);
    if (rc < 0) return rc;
    tuple->state = GALE_TEST_OPEN;
    fed->head++;
    return rc;
}

static int next(void *self, gale_collector *out, gale_wait *wait) {
    gx_fed *fed = self;
    if (fed->head == fed->count) {
        wait->until = INT64_MAX; /* whoever feeds it wakes it */
        return fed->feed->ended ? GALE_NEXT_DONE : GALE_NEXT_UNTIL;
    }
    int rc = emit(fed, out);
    if (rc >= 0) return GALE_NEXT_EMITTED;
    return rc == GALE_AGAIN ? GALE_NEXT_NOTHING : rc == GALE_NO_MEMORY ? rc : refuse_tuple(fed, rc);
}

static void hear_ack(void *self, uint64_t number) {
    ((gx_fed *)self)->feed->list[number].state = GALE_TEST_ACKED;
}

static void hear_fail(void *self, uint64_t number, const gale_failure *failure) {
    fail_tuple(&((gx_fed *)self)->feed->list[number], failure);
}

gale_spout gx_fed_spout(gx_fed *fed) {
    static const gale_spout_ops ops = {
        .size = sizeof ops, .name = "fed spout", .next = next, .ack = hear_ack, .fail = hear_fail
    };
    return (gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .user = fed };
}
