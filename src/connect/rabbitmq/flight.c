#include "connect/rabbitmq/flight.h"

#include <gale/error.h>
#include <stdlib.h>
#include <string.h>

void rmq_flight_init(rmq_flight *f) {
    *f = (rmq_flight){ .low = 1, .high = 1 };
}

static void free_one(rmq_flying *one) {
    free(one->returned);
    free(one);
}

void rmq_flight_free(rmq_flight *f) {
    while (f->first) {
        rmq_flying *one = f->first;
        f->first = one->behind;
        free_one(one);
    }
    free(f->ring);
    rmq_flight_init(f);
}

rmq_flying *rmq_flight_add(rmq_flight *f, rmq_name name, size_t bytes, bool waits) {
    rmq_flying *one = calloc(1, sizeof *one);
    if (!one) return NULL;
    one->name = name;
    one->bytes = bytes;
    one->state = waits ? RMQ_WAITS : RMQ_READY;
    one->before = f->last;
    *(f->last ? &f->last->behind : &f->first) = one;
    f->last = one;
    if (!f->at) f->at = one;
    f->count++;
    f->waiting += waits;
    f->waiting_bytes += waits ? bytes : 0;
    return one;
}

static void wait_no_more(rmq_flight *f, const rmq_flying *one) {
    if (one->state != RMQ_WAITS) return;
    f->waiting--;
    f->waiting_bytes -= one->bytes;
}

rmq_flying *rmq_flight_find(const rmq_flight *f, uint64_t id) {
    rmq_flying *one = f->first;
    while (one && one->id != id) one = one->behind;
    return one;
}

void rmq_flight_remove(rmq_flight *f, rmq_flying *one) {
    wait_no_more(f, one);
    if (f->at == one) f->at = one->behind;
    *(one->before ? &one->before->behind : &f->first) = one->behind;
    *(one->behind ? &one->behind->before : &f->last) = one->before;
    f->count--;
    free_one(one);
}

rmq_flying *rmq_flight_next(rmq_flight *f) {
    while (f->at && (f->at->state == RMQ_OUT || f->at->state == RMQ_AGAIN)) f->at = f->at->behind;
    return f->at && f->at->state == RMQ_READY ? f->at : NULL;
}

/* --- Tags ------------------------------------------------------------------------------------------------------------- */

static rmq_flying **place_of(const rmq_flight *f, uint64_t tag) {
    return &f->ring[tag & (f->capacity - 1)];
}

static bool has_room(rmq_flight *f) {
    if (f->high - f->low < f->capacity) return true;
    rmq_flight grown = { .capacity = f->capacity ? 2 * f->capacity : 256 };
    grown.ring = calloc(grown.capacity, sizeof *grown.ring);
    if (!grown.ring) return false;
    for (uint64_t tag = f->low; tag < f->high; tag++) *place_of(&grown, tag) = *place_of(f, tag);
    free(f->ring);
    f->ring = grown.ring;
    f->capacity = grown.capacity;
    return true;
}

int rmq_flight_out(rmq_flight *f, rmq_flying *one) {
    if (!has_room(f)) return GALE_NO_MEMORY;
    *place_of(f, f->high++) = one;
    one->state = RMQ_OUT;
    return 0;
}

static void confirm_one(rmq_flight *f, uint64_t tag, rmq_flight_fn *each, void *user) {
    rmq_flying *one = *place_of(f, tag);
    *place_of(f, tag) = NULL;
    if (one) each(user, one);
}

/* A broker may say anything: a tag that was never given is nothing. */
void rmq_flight_confirm(rmq_flight *f, uint64_t tag, bool multiple, rmq_flight_fn *each, void *user) {
    if (multiple && (!tag || tag >= f->high)) tag = f->high - 1; /* 0: all there are */
    if (tag < f->low || tag >= f->high) return;
    for (uint64_t one = multiple ? f->low : tag; one <= tag; one++) confirm_one(f, one, each, user);
    while (f->low < f->high && !*place_of(f, f->low)) f->low++;
}

/* --- Back to ready ---------------------------------------------------------------------------------------------------- */

void rmq_flight_lose(rmq_flight *f) {
    for (rmq_flying *one = f->first; one; one = one->behind) {
        if (one->state != RMQ_OUT && one->state != RMQ_AGAIN) continue;
        one->state = RMQ_READY;
        free(one->returned);
        one->returned = NULL;
    }
    f->at = f->first;
    f->low = f->high = 1;
    if (f->ring) memset(f->ring, 0, f->capacity * sizeof(rmq_flying *));
}

void rmq_flight_again(rmq_flight *f) {
    for (rmq_flying *one = f->first; one; one = one->behind)
        if (one->state == RMQ_AGAIN) one->state = RMQ_READY;
    f->at = f->first;
}

/* --- Checkpoints ------------------------------------------------------------------------------------------------------ */

void rmq_flight_save(rmq_flight *f, uint64_t checkpoint) {
    for (rmq_flying *one = f->last; one && one->state == RMQ_WAITS && !one->checkpoint; one = one->before)
        one->checkpoint = checkpoint;
}

void rmq_flight_kept(rmq_flight *f, uint64_t checkpoint) {
    for (rmq_flying *one = f->first; one; one = one->behind) {
        bool is_in = one->checkpoint ? one->checkpoint <= checkpoint : checkpoint == UINT64_MAX;
        if (one->state != RMQ_WAITS || !is_in) continue;
        wait_no_more(f, one);
        one->state = RMQ_READY;
    }
}
