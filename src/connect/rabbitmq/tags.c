#include "connect/rabbitmq/tags.h"

#include <gale/error.h>
#include <stdlib.h>

enum { FREE, OPEN, DONE, ACKED };
#define NONE UINT32_MAX

void rmq_tags_init(rmq_tags *tags) {
    *tags = (rmq_tags){ .free_first = NONE, .first = NONE, .last = NONE, .done_first = NONE };
}

void rmq_tags_free(rmq_tags *tags) {
    free(tags->list);
    rmq_tags_init(tags);
}

void rmq_tags_clear(rmq_tags *tags) {
    tags->used = tags->count = tags->done = 0;
    tags->free_first = tags->first = tags->last = tags->done_first = NONE;
}

static bool has_room(rmq_tags *tags) {
    if (tags->used < tags->capacity) return true;
    size_t capacity = tags->capacity ? 2 * tags->capacity : 64;
    rmq_tag *list = capacity < NONE ? realloc(tags->list, capacity * sizeof *list) : NULL;
    if (!list) return false;
    tags->list = list;
    tags->capacity = capacity;
    return true;
}

int rmq_tags_add(rmq_tags *tags, uint64_t tag, uint32_t *ret_place) {
    uint32_t place = tags->free_first;
    if (place == NONE && !has_room(tags)) return GALE_NO_MEMORY;
    if (place == NONE)
        place = (uint32_t)tags->used++;
    else
        tags->free_first = tags->list[place].behind;
    tags->list[place] = (rmq_tag){ tag, tags->last, NONE, NONE, OPEN };
    *(tags->last == NONE ? &tags->first : &tags->list[tags->last].behind) = place;
    tags->last = place;
    tags->count++;
    *ret_place = place;
    return 0;
}

static void unlink_tag(rmq_tags *tags, uint32_t place) {
    const rmq_tag *one = &tags->list[place];
    *(one->before == NONE ? &tags->first : &tags->list[one->before].behind) = one->behind;
    *(one->behind == NONE ? &tags->last : &tags->list[one->behind].before) = one->before;
    tags->count--;
}

static void free_place(rmq_tags *tags, uint32_t place) {
    tags->list[place].state = FREE;
    tags->list[place].behind = tags->free_first;
    tags->free_first = place;
}

static bool is_open(const rmq_tags *tags, uint32_t place) {
    return place < tags->used && tags->list[place].state == OPEN;
}

bool rmq_tags_done(rmq_tags *tags, uint32_t place) {
    if (!is_open(tags, place)) return false;
    tags->list[place].state = DONE;
    tags->list[place].next_done = tags->done_first;
    tags->done_first = place;
    tags->done++;
    return true;
}

bool rmq_tags_take(rmq_tags *tags, uint32_t place, uint64_t *ret_tag) {
    if (!is_open(tags, place)) return false;
    *ret_tag = tags->list[place].tag;
    unlink_tag(tags, place);
    free_place(tags, place);
    return true;
}

/* Those at the beginning, with one answer. */
static void flush_first(rmq_tags *tags, rmq_tags_fn *ack, void *user) {
    size_t count = 0;
    uint64_t tag = 0;
    for (; tags->first != NONE && tags->list[tags->first].state == DONE; count++) {
        rmq_tag *one = &tags->list[tags->first];
        tag = one->tag;
        one->state = ACKED;
        unlink_tag(tags, tags->first);
    }
    if (count) ack(user, tag, count > 1);
}

void rmq_tags_flush(rmq_tags *tags, rmq_tags_fn *ack, void *user) {
    flush_first(tags, ack, user);
    tags->done = 0;
    while (tags->done_first != NONE) {
        uint32_t place = tags->done_first;
        rmq_tag *one = &tags->list[place];
        tags->done_first = one->next_done;
        if (one->state == DONE) {
            unlink_tag(tags, place);
            ack(user, one->tag, false);
        }
        free_place(tags, place);
    }
}
