#include "kit/outgoing.h"

#include <string.h>

enum { FIRST_LINES = 64, KEPT = 64 << 10 };

void gx_outgoing_init(gx_outgoing *sent, gx_heap *heap) {
    *sent = (gx_outgoing){ .bytes = GX_BUF_INIT(heap), .heap = heap };
}

void gx_outgoing_fini(gx_outgoing *sent) {
    gx_buf_fini(&sent->bytes);
    gx_free(sent->heap, GX_TAG_OTHER, sent->lines, sent->capacity * sizeof *sent->lines);
    sent->lines = NULL;
    sent->capacity = sent->first = sent->count = 0;
}

bool gx_outgoing_reserve(gx_outgoing *sent) {
    if (sent->count < sent->capacity) return true;
    size_t capacity = sent->capacity ? 2 * sent->capacity : FIRST_LINES;
    gx_outgoing_line *lines = gx_alloc_array(sent->heap, GX_TAG_OTHER, capacity, sizeof *lines);
    if (!lines) return false;
    for (size_t i = 0; i < sent->count; i++) lines[i] = *gx_outgoing_at(sent, i);
    gx_free(sent->heap, GX_TAG_OTHER, sent->lines, sent->capacity * sizeof *lines);
    sent->lines = lines;
    sent->capacity = capacity;
    sent->first = 0;
    return true;
}

void gx_outgoing_add(gx_outgoing *sent, gale_handle tuple) {
    sent->lines[(sent->first + sent->count) % sent->capacity] = (gx_outgoing_line){ tuple, gx_outgoing_formed(sent) };
    sent->count++;
}

gale_str gx_outgoing_unwritten(const gx_outgoing *sent) {
    if (!sent->bytes.size) return (gale_str){ NULL, 0 };
    size_t at = sent->gone + (size_t)(sent->written - sent->begin);
    return (gale_str){ sent->bytes.data + at, sent->bytes.size - at };
}

/* Bytes that left are moved over when they are the greater part: each byte is moved once, on the average. */
static void leave(gx_outgoing *sent, uint64_t end) {
    sent->gone += (size_t)(end - sent->begin);
    sent->begin = end;
    size_t rest = gx_outgoing_waiting(sent);
    if (rest && (sent->gone < KEPT || sent->gone < rest)) return;
    if (rest) memmove(sent->bytes.data, sent->bytes.data + sent->gone, rest);
    sent->bytes.size = rest;
    sent->gone = 0;
}

bool gx_outgoing_take(gx_outgoing *sent, uint64_t taken, gale_handle *ret_tuple) {
    if (!sent->count || gx_outgoing_at(sent, 0)->end > taken) return false;
    gx_outgoing_line line = *gx_outgoing_at(sent, 0);
    sent->first = (sent->first + 1) % sent->capacity;
    sent->count--;
    sent->losses = 0;
    leave(sent, line.end);
    *ret_tuple = line.tuple;
    return true;
}

uint32_t gx_outgoing_rewind(gx_outgoing *sent, uint64_t taken) {
    bool took_lines = sent->begin != sent->from;
    if (took_lines) sent->losses = 0;
    if (!took_lines && taken > sent->begin) sent->losses++;
    sent->from = sent->written = sent->begin;
    return sent->losses;
}

bool gx_outgoing_drop(gx_outgoing *sent, gale_handle *ret_tuple) {
    if (!sent->count) return false;
    uint64_t end = gx_outgoing_at(sent, 0)->end;
    if (sent->written < end) sent->written = end;
    return gx_outgoing_take(sent, end, ret_tuple);
}

bool gx_outgoing_renew(const void *sent, gale_collector *out) {
    const gx_outgoing *lines = sent;
    for (size_t i = 0; i < lines->count; i++) (void)gale_reset_timeout(out, gx_outgoing_at(lines, i)->tuple);
    return lines->count > 0;
}

/* --- What lasts --------------------------------------------------------------------------------------------------- */

int gx_outgoing_save(const gx_outgoing *sent, gale_saver *to) {
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sent->count; i++) {
        gale_value handle = gale_i64((int64_t)gx_outgoing_at(sent, i)->tuple);
        rc = gale_save(to, &handle, 1);
    }
    return rc;
}

int gx_outgoing_restore(gx_outgoing *sent, gx_recall *recall, gx_outgoing_form_fn *form, void *user) {
    const gale_value *v;
    int rc;
    while ((rc = gx_recall_next(recall, "i", &v)) > 0) {
        gale_handle handle = (gale_handle)v[0].as.i64;
        const gale_tuple *tuple = gale_held(recall->out, handle);
        if (!tuple) continue;
        rc = form(user, tuple);
        if (rc < 0) return rc;
        gx_outgoing_add(sent, handle);
    }
    return rc;
}
