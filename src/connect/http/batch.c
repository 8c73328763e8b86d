#include "connect/http/batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- All of them ------------------------------------------------------------------------------------------------------ */

void http_batches_init(http_batches *batches, bool keyed, uint64_t life) {
    *batches = (http_batches){ .lane_count = keyed ? HTTP_LANES : 1, .life = life };
}

static void fini(http_batch *b) {
    http_exchange_free(b->exchange);
    http_buffer_fini(&b->body);
    http_buffer_fini(&b->sent);
    free(b->items);
    free(b);
}

void http_batches_fini(http_batches *batches) {
    for (http_batch *b = batches->all, *next; b; b = next) {
        next = b->next;
        fini(b);
    }
    *batches = (http_batches){ .all = NULL };
}

uint32_t http_batches_lane(const http_batches *batches, uint64_t hash) {
    return (uint32_t)(hash % batches->lane_count);
}

static http_batch *add(http_batches *batches, uint32_t lane, uint64_t life, uint64_t number, uint32_t part) {
    http_batch *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    *b = (http_batch){
        .lane = lane, .life = life, .number = number, .part = part, .next = batches->all, .back = &batches->all
    };
    if (b->next) b->next->back = &b->next;
    batches->all = b;
    return b;
}

http_batch *http_batches_open(http_batches *batches, uint32_t lane, int64_t now) {
    http_lane *l = &batches->lanes[lane];
    if (l->open) return l->open;
    http_batch *b = add(batches, lane, batches->life, batches->number + 1, 1);
    if (!b) return NULL;
    batches->number++;
    b->since = now;
    l->open = b;
    return b;
}

static void put_last(http_lane *lane, http_batch *b) {
    b->closed = true;
    *(lane->last ? &lane->last->behind : &lane->first) = b;
    lane->last = b;
}

http_batch *http_batches_recall(http_batches *batches, uint32_t lane, uint64_t life, uint64_t number, uint32_t part) {
    http_batch *b = add(batches, lane, life, number, part);
    if (b) put_last(&batches->lanes[lane], b);
    return b;
}

void http_batches_close(http_batches *batches, http_batch *b) {
    http_lane *lane = &batches->lanes[b->lane];
    if (lane->open != b) return;
    lane->open = NULL;
    put_last(lane, b);
}

/* One whose tuples have all been answered while it was gathered is nothing. */
static bool is_ready(const http_batches *batches, const http_lane *lane) {
    return lane->first && lane->first->kept && !(batches->lane_count > 1 && lane->busy);
}

http_batch *http_batches_take(http_batches *batches) {
    for (uint32_t n = 0; n < batches->lane_count; n++) {
        http_lane *lane = &batches->lanes[(batches->turn + n) % batches->lane_count];
        if (!is_ready(batches, lane)) continue;
        http_batch *b = lane->first;
        lane->first = b->behind;
        if (!lane->first) lane->last = NULL;
        b->behind = NULL;
        lane->busy = true;
        batches->turn += n + 1;
        return b;
    }
    return NULL;
}

static void unlink_batch(http_batch *b) {
    *b->back = b->next;
    if (b->next) b->next->back = b->back;
}

void http_batches_free(http_batches *batches, http_batch *b) {
    batches->lanes[b->lane].busy = false;
    unlink_batch(b);
    fini(b);
}

/* --- One -------------------------------------------------------------------------------------------------------------- */

int http_batch_add(http_batches *batches, http_batch *b, uint64_t id, size_t at) {
    if (b->count == b->capacity) {
        size_t capacity = b->capacity ? 2 * b->capacity : 1;
        http_item *items = realloc(b->items, capacity * sizeof *items);
        if (!items) {
            http_buffer_cut(&b->body, at);
            return GALE_NO_MEMORY;
        }
        b->items = items;
        b->capacity = capacity;
    }
    b->items[b->count++] = (http_item){ id, ++batches->order, at, b->body.size - at };
    return 0;
}

/* Items behind each other have documents behind each other. */
static bool move_half(http_batch *b, http_batch *to) {
    size_t half = b->count / 2, at = b->items[half].at;
    to->count = to->capacity = b->count - half;
    to->items = calloc(to->count, sizeof *to->items);
    http_buffer_add(&to->body, b->body.data + at, b->body.size - at);
    if (!to->items || to->body.failed) return false;
    memcpy(to->items, b->items + half, to->count * sizeof *to->items);
    for (size_t i = 0; i < to->count; i++) to->items[i].at -= at;
    b->count = half;
    http_buffer_cut(&b->body, at);
    return true;
}

bool http_batches_halve(http_batches *batches, http_batch *b) {
    if (b->count < 2 || b->part > UINT32_MAX / 2 - 1) return false;
    http_batch *second = add(batches, b->lane, b->life, b->number, 2 * b->part + 1);
    if (!second) return false;
    if (!move_half(b, second)) {
        unlink_batch(second);
        fini(second);
        return false;
    }
    http_lane *lane = &batches->lanes[b->lane];
    b->part *= 2;
    b->attempts = 0;
    second->closed = second->kept = true;
    second->behind = lane->first;
    lane->first = second;
    if (!lane->last) lane->last = second;
    return true;
}

void http_batch_shrink(http_batch *b) {
    size_t count = 0, size = 0;
    for (size_t i = 0; i < b->count; i++) {
        http_item item = b->items[i];
        if (!item.id) continue;
        if (item.size) memmove(b->body.data + size, b->body.data + item.at, item.size);
        item.at = size;
        size += item.size;
        b->items[count++] = item;
    }
    b->count = count;
    http_buffer_cut(&b->body, size);
}

void http_batch_name(const http_batch *b, char name[HTTP_REQUEST_NAME]) {
    int size = snprintf(name, HTTP_REQUEST_NAME, "%016" PRIx64 "-%" PRIu64, b->life, b->number);
    if (b->part > 1) snprintf(name + size, HTTP_REQUEST_NAME - (size_t)size, ".%" PRIu32, b->part);
}

static void add_between(http_batch *b, http_format format, size_t i) {
    const http_item *before = &b->items[i - 1];
    bool ended = before->size && b->body.data[before->at + before->size - 1] == '\n';
    if (format == HTTP_ARRAY) http_buffer_text(&b->sent, ",");
    if (format == HTTP_RAW && !ended) http_buffer_text(&b->sent, "\n");
}

int http_batch_form(http_batch *b, http_format format, gale_str *ret_body) {
    bool as_it_is = format != HTTP_ARRAY && (format != HTTP_RAW || b->count == 1);
    *ret_body = (gale_str){ b->body.data ? b->body.data : "", b->body.size };
    if (as_it_is) return 0;
    http_buffer_fini(&b->sent);
    if (format == HTTP_ARRAY) http_buffer_text(&b->sent, "[");
    for (size_t i = 0; i < b->count; i++) {
        if (i) add_between(b, format, i);
        http_buffer_add(&b->sent, b->body.data + b->items[i].at, b->items[i].size);
    }
    if (format == HTTP_ARRAY) http_buffer_text(&b->sent, "]");
    *ret_body = (gale_str){ b->sent.data, b->sent.size };
    return b->sent.failed ? GALE_NO_MEMORY : 0;
}
