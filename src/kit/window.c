/* Aggregates of windows, by key: gale_window_bolt. A tuple is added to one pane of its key (ds/window_shape.h); a window is
 * what its panes are together (kit/window_key.h). So a tuple costs the same however many windows hold it, and a row the same
 * however long its window is. Keys are visited only when they are due (ds/window_agenda.h), and forgotten with their last pane. */
#include "kit/window.h"

#include "base/str.h"
#include "kit/own_time.h"

#include <stdio.h>
#include <stdlib.h>

static const char who[] = "window";

#define SECONDS_MAX 1e9

/* --- The task --------------------------------------------------------------------------------------------------------- */

static gx_window_key *key_at(const gx_window_bolt *bolt, size_t entry) {
    return *(gx_window_key **)gx_bytes_map_at(bolt->keys, entry, NULL);
}

static void bolt_cleanup(void *self) {
    gx_window_bolt *bolt = self;
    for (size_t i = 0; bolt->keys && i < gx_bytes_map_size(bolt->keys); i++)
        gx_window_key_free(&bolt->panes, key_at(bolt, i));
    gx_bytes_map_free(bolt->keys);
    gx_agenda_fini(&bolt->agenda);
    gx_window_panes_fini(&bolt->panes);
    gx_buf_fini(&bolt->key);
    if (bolt->having_opened && bolt->given->having_close) bolt->given->having_close(bolt->having);
    gx_define_instance_free(bolt);
}

/* Windows begin at multiples of the slide by the calendar, where the clock is the machine's. */
static void begin_time(gx_window_bolt *bolt) {
    bolt->boundary = bolt->mark = bolt->newest = bolt->cut_off = INT64_MIN;
    if (bolt->given->by_event) return;
    int64_t now = gale_context_now(bolt->instance.context);
    bolt->by_calendar = gx_calendar_is_machines(bolt->instance.context, now);
    bolt->phase = bolt->by_calendar ? gx_calendar_phase(now) : 0;
    bolt->boundary = gx_window_floor(&bolt->given->shape, now + bolt->phase);
}

static int open_having(gx_window_bolt *bolt, gale_collector *out) {
    const gx_window_settings *given = bolt->given;
    gale_error error = GALE_ERROR_INIT;
    bolt->having = given->having_user;
    if (!given->having || !given->having_open) return GALE_OK;
    int rc = given->having_open(given->having_user, bolt->instance.context, &bolt->having, &error);
    if (rc < 0 && error.text[0]) gale_report(out, error.text);
    bolt->having_opened = rc >= 0;
    if (rc >= 0 && given->having_begin) given->having_begin(bolt->having, out);
    return rc;
}

static int prepare_parts(gx_window_bolt *bolt, gale_collector *out) {
    const gx_window_settings *given = bolt->given;
    gx_heap *heap = &bolt->instance.heap;
    bolt->agenda.heap = heap;
    bolt->key = (gx_buf)GX_BUF_INIT(heap);
    bolt->keys = gx_bytes_map_new(heap, sizeof(gx_window_key *), gale_context_random(bolt->instance.context));
    if (!bolt->keys) return GALE_NO_MEMORY;
    int rc = gx_window_panes_init(&bolt->panes, heap, &given->plan, &given->spec, given->shape);
    if (rc >= 0) rc = open_having(bolt, out);
    return rc < 0 ? rc : gx_window_saved_open(bolt, out);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const gx_window_settings *given = user;
    if (!given->key.count && context->task_count > 1) {
        gx_define_report(out, "%s: %u tasks of '%s' would each see a part of what has no key; it must be one", who,
                         context->task_count, context->component);
        return GALE_INVALID;
    }
    gx_window_bolt *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->given = given;
    begin_time(bolt);
    int rc = prepare_parts(bolt, out);
    if (rc < 0) {
        bolt_cleanup(bolt);
        return rc;
    }
    *ret_self = bolt;
    return 0;
}

/* --- Keys ------------------------------------------------------------------------------------------------------------- */

gx_window_key *gx_window_bolt_key(gx_window_bolt *bolt, gale_str bytes, bool *ret_made) {
    bool made = false;
    gx_window_key **place = gx_bytes_map_put(bolt->keys, bytes, &made);
    if (ret_made) *ret_made = made;
    if (!place || !made) return place ? *place : NULL;
    size_t entry = gx_bytes_map_index(bolt->keys, place);
    gx_ahead_decide(&bolt->ahead, &bolt->instance.heap);
    *place = gx_window_key_new(&bolt->panes);
    if (*place) {
        (*place)->entry = entry;
        return *place;
    }
    gx_bytes_map_remove_at(bolt->keys, entry); /* the last one, just made */
    return NULL;
}

/* The last entry takes the place of one that goes. */
void gx_window_bolt_forget(gx_window_bolt *bolt, gx_window_key *key) {
    size_t entry = key->entry;
    gx_bytes_map_remove_at(bolt->keys, entry);
    if (entry < gx_bytes_map_size(bolt->keys)) key_at(bolt, entry)->entry = entry;
    gx_window_key_free(&bolt->panes, key);
}

void gx_window_bolt_key_values(const gx_window_bolt *bolt, const gx_window_key *key, gale_value *values) {
    gale_str bytes;
    uint32_t count = bolt->given->key.count;
    if (!count) return;
    (void)gx_bytes_map_at(bolt->keys, key->entry, &bytes);
    gale_value all = gx_key_value(bytes);
    for (uint32_t i = 0; i < count; i++) values[i] = count == 1 ? all : gale_list_at(&all, i);
}

/* Four waits for memory a row: the index of the map, its entry, the key's block, the newest pane. */
GX_NOINLINE static void look_ahead(gx_window_bolt *bolt, gale_collector *out) {
    gx_ahead_fetch(&bolt->ahead, bolt->keys, out, bolt->key_places.at[0], 4);
    gx_window_key *const *later = gx_ahead_value(&bolt->ahead, bolt->keys, 2);
    gx_window_key *const *soon = gx_ahead_value(&bolt->ahead, bolt->keys, 1);
    if (later) __builtin_prefetch(*later);
    if (later) __builtin_prefetch(&(*later)->queue);
    if (!soon || !gx_window_queue_count(&(*soon)->queue)) return;
    uint32_t newest = gx_window_queue_count(&(*soon)->queue) - 1;
    __builtin_prefetch(gx_window_queue_at(&(*soon)->queue, &bolt->panes.how, newest));
}

/* The tuple's key, borrowed from it or made in `bolt->key`. */
static int key_of(gx_window_bolt *bolt, const gale_tuple *tuple, gale_collector *out, gale_str *ret_key) {
    const gx_fields *fields = &bolt->given->key;
    *ret_key = (gale_str){ "", 1 };
    if (!fields->count) return GALE_OK;
    int rc = gx_fields_take(fields, &bolt->key_places, who, tuple, out, bolt->key_values);
    gale_value all = fields->count == 1 ? bolt->key_values[0] : gale_list(bolt->key_values, fields->count);
    return rc < 0 ? rc : gx_key_of(&all, &bolt->key, ret_key);
}

/* --- When a key is due -------------------------------------------------------------------------------------------------- */

static int64_t pane_start(const gx_window_bolt *bolt, const gx_window_key *key, uint32_t index) {
    return gx_window_queue_start(&key->queue, &bolt->panes.how, index);
}

/* The first of its panes leaves, or one enters. */
static int64_t next_change(const gx_window_bolt *bolt, const gx_window_key *key, int64_t boundary) {
    const gx_window_shape *shape = &bolt->given->shape;
    int64_t due = INT64_MAX;
    if (boundary != INT64_MIN && pane_start(bolt, key, 0) < boundary + shape->slide)
        due = gx_window_last_end(shape, pane_start(bolt, key, 0));
    for (uint32_t i = gx_window_queue_closed(&key->queue); i < gx_window_queue_count(&key->queue); i++) {
        int64_t enters = gx_window_floor(shape, pane_start(bolt, key, i));
        if (boundary != INT64_MIN && enters <= boundary) continue;
        return enters < due ? enters : due;
    }
    return due;
}

int64_t gx_window_bolt_due(const gx_window_bolt *bolt, const gx_window_key *key, int64_t boundary) {
    if (bolt->given->changes) return key->changed ? GX_WINDOW_CHANGED : next_change(bolt, key, boundary);
    int64_t end = gx_window_first_end(&bolt->given->shape, pane_start(bolt, key, 0));
    return boundary != INT64_MIN && end <= boundary ? boundary + bolt->given->shape.slide : end;
}

/* There is room in the agenda. */
static void put_back(gx_window_bolt *bolt, gx_window_key *key, int64_t boundary) {
    gx_agenda_put(&bolt->agenda, &key->item, gx_window_bolt_due(bolt, key, boundary));
}

/* A pane was made, or one of the current window was added to: it may be due earlier than it was. There is room. */
static void hasten(gx_window_bolt *bolt, gx_window_key *key, bool is_new, int64_t pane) {
    const gx_window_shape *shape = &bolt->given->shape;
    int64_t due = bolt->given->changes ? gx_window_floor(shape, pane) : gx_window_first_end(shape, pane);
    if (bolt->given->changes && bolt->boundary != INT64_MIN && due <= bolt->boundary) {
        key->changed = true;
        due = GX_WINDOW_CHANGED;
    }
    if (!is_new && key->item.due <= due) return;
    if (!is_new) gx_agenda_take(&bolt->agenda, &key->item);
    gx_agenda_put(&bolt->agenda, &key->item, due);
}

/* --- What is told ------------------------------------------------------------------------------------------------------- */

static gale_value label(const gx_window_bolt *bolt, int64_t time) {
    const gx_window_shape *shape = &bolt->given->shape;
    if (bolt->given->by_event) return gx_own_time_value(time);
    int64_t shown = time + bolt->shift;
    bool whole = shape->length % GALE_SECOND == 0 && shape->slide % GALE_SECOND == 0;
    return whole ? gale_i64(shown / GALE_SECOND) : gale_f64((double)shown / 1e9);
}

static void report_overflow(const gx_window_bolt *bolt, uint32_t call, gale_collector *out) {
    gale_str name = gx_window_call_name(&bolt->given->spec, call);
    gx_define_report(out, "%s: '%.*s' of a window has come to more than an i64 holds, and is told as null", who,
                     GX_STR(name));
}

/* Is the row wanted? An error of who is asked leaves it out. */
static bool is_wanted(const gx_window_bolt *bolt, size_t count, gale_collector *out) {
    if (!bolt->given->having) return true;
    gale_error error = GALE_ERROR_INIT;
    int rc = bolt->given->having(bolt->having, bolt->row, count, &error);
    if (rc < 0)
        gx_define_report(out, "%s: 'having' could not be said of a row, which is left out: %s", who,
                         error.text[0] ? error.text : gale_error_text(rc));
    return rc > 0;
}

/* One row: what the key holds in the window that ends at `end`. */
static int tell(gx_window_bolt *bolt, gx_window_key *key, int64_t end, gale_collector *out) {
    uint32_t keys = bolt->given->key.count, overflow;
    size_t count = keys + 2 + bolt->given->spec.count;
    int rc = gx_window_key_tell(&bolt->panes, key, end, bolt->row + keys + 2, &overflow);
    if (rc < 0) return rc;
    gx_window_bolt_key_values(bolt, key, bolt->row);
    bolt->row[keys] = label(bolt, end - bolt->given->shape.length);
    bolt->row[keys + 1] = label(bolt, end);
    if (overflow != UINT32_MAX) report_overflow(bolt, overflow, out);
    rc = is_wanted(bolt, count, out) ? gale_emit_unanchored(out, 0, bolt->row, count) : GALE_OK;
    gx_window_key_done(&bolt->panes, key, end);
    return rc < 0 ? rc : GALE_OK;
}

/* Forgets the key, or says when it is next due: all windows up to `boundary` have been told. */
static void settle(gx_window_bolt *bolt, gx_window_key *key, int64_t boundary) {
    gx_agenda_take(&bolt->agenda, &key->item);
    if (gx_window_key_is_empty(key))
        gx_window_bolt_forget(bolt, key);
    else
        put_back(bolt, key, boundary);
}

/* What cannot be told stays, and is told later. What cannot be dropped afterwards is, before the key is told again. */
static int tell_ended(gx_window_bolt *bolt, gx_window_key *key, gale_collector *out) {
    const gx_window_shape *shape = &bolt->given->shape;
    int64_t end = key->item.due;
    if (!gx_agenda_reserve(&bolt->agenda)) return GALE_NO_MEMORY;
    int rc = gx_window_key_drop(&bolt->panes, key, end - shape->length);
    if (rc >= 0) rc = gx_window_key_close(&bolt->panes, key, end);
    if (rc >= 0 && gx_window_queue_closed(&key->queue)) rc = tell(bolt, key, end, out);
    if (rc < 0) return rc;
    (void)gx_window_key_drop(&bolt->panes, key, end + shape->slide - shape->length);
    settle(bolt, key, end);
    return GALE_OK;
}

/* The first key that is due by `time`; NULL. */
static gx_window_key *first_due(gx_window_bolt *bolt, int64_t time) {
    gx_agenda_item *item = gx_agenda_first(&bolt->agenda);
    return item && item->due <= time ? (gx_window_key *)item : NULL;
}

/* Emits with `function` what is due by `time`, in parts: GALE_MORE when some is left. */
static int tell_due(gx_window_bolt *bolt, int64_t time, gale_collector *out,
                    int (*function)(gx_window_bolt *, gx_window_key *, gale_collector *)) {
    gx_window_key *key;
    bolt->part_is_full = false;
    while ((key = first_due(bolt, time)) != NULL) {
        if (bolt->part_is_full) return GALE_MORE;
        int rc = function(bolt, key, out);
        if (rc < 0) return rc;
        bolt->part_is_full = gale_part_is_full(out);
    }
    return GALE_OK;
}

/* Windows that do not overlap lose nothing: an empty one is no change, but another window. */
static int tell_changed(gx_window_bolt *bolt, gx_window_key *key, gale_collector *out) {
    const gx_window_shape *shape = &bolt->given->shape;
    int64_t boundary = bolt->boundary, end = boundary + shape->slide;
    if (!gx_agenda_reserve(&bolt->agenda)) return GALE_NO_MEMORY;
    int rc = gx_window_key_close(&bolt->panes, key, boundary);
    if (rc >= 0) rc = gx_window_key_drop(&bolt->panes, key, end - shape->length);
    if (rc < 0) return rc;
    bool empty = gx_window_key_is_empty(key) || pane_start(bolt, key, 0) >= end;
    if (!empty || !gx_window_tumbles(shape)) rc = tell(bolt, key, end, out);
    if (rc < 0) return rc;
    key->changed = false;
    settle(bolt, key, boundary);
    return GALE_OK;
}

static int tell_all_changed(gx_window_bolt *bolt, gale_collector *out) {
    return tell_due(bolt, GX_WINDOW_CHANGED, out, tell_changed);
}

static int mark_changed(gx_window_bolt *bolt, gx_window_key *key) {
    if (!gx_agenda_reserve(&bolt->agenda)) return GALE_NO_MEMORY;
    gx_agenda_take(&bolt->agenda, &key->item);
    key->changed = true;
    gx_agenda_put(&bolt->agenda, &key->item, GX_WINDOW_CHANGED);
    return GALE_OK;
}

/* From boundary to boundary at which something is due, the last at `time`. What changed is told before its window ends; what
 * changes at the last boundary waits for the next tick. */
static int change_until(gx_window_bolt *bolt, int64_t time, gale_collector *out) {
    int rc, marked;
    while (bolt->boundary < time) {
        rc = tell_all_changed(bolt, out);
        if (rc != GALE_OK) return rc;
        if (bolt->part_is_full) rc = GALE_MORE; /* one key may be due at many boundaries */
        gx_agenda_item *item = gx_agenda_first(&bolt->agenda);
        int64_t next = item && item->due < time ? item->due : time;
        if (next > bolt->boundary) bolt->boundary = next;
        while ((item = gx_agenda_after(&bolt->agenda, GX_WINDOW_CHANGED)) != NULL && item->due <= bolt->boundary)
            if ((marked = mark_changed(bolt, (gx_window_key *)item)) < 0) return marked;
        if (rc == GALE_MORE && bolt->boundary < time) return rc;
    }
    return GALE_OK;
}

/* It is `time` now, or no tuple comes that is older. The boundary stays until all is emitted: a key that is due in between
 * is one that was not. */
static int move_on(gx_window_bolt *bolt, int64_t time, gale_collector *out) {
    int64_t boundary = gx_window_floor(&bolt->given->shape, time);
    if (boundary <= bolt->boundary) return GALE_OK;
    if (bolt->given->changes) return change_until(bolt, boundary, out);
    int rc = tell_due(bolt, boundary, out, tell_ended);
    if (rc == GALE_OK) bolt->boundary = boundary;
    bolt->closing = rc != GALE_OK;
    return rc;
}

/* --- What comes --------------------------------------------------------------------------------------------------------- */

static int refuse_late(const gx_window_bolt *bolt, int64_t time, gale_collector *out) {
    char late[GALE_NUMBER_TEXT], mark[GALE_NUMBER_TEXT];
    (void)gale_number_write((double)time / 1e9, late);
    (void)gale_number_write((double)bolt->mark / 1e9, mark);
    gx_define_report(out, "%s: the time %s is behind the watermark, %s", who, late, mark);
    return GALE_STATE;
}

static int event_time(gx_window_bolt *bolt, const gale_tuple *tuple, gale_collector *out, int64_t *ret_time) {
    int rc = gx_own_time_take(&bolt->given->time, &bolt->time_places, who, tuple, out, ret_time);
    if (rc < 0) return rc;
    return *ret_time < bolt->mark ? refuse_late(bolt, *ret_time, out) : GALE_OK;
}

static int64_t clock_time(const gx_window_bolt *bolt) {
    return gale_context_now(bolt->instance.context) + bolt->phase;
}

/* When the tuple belongs; what ended before is told first. */
static int time_of(gx_window_bolt *bolt, const gale_tuple *tuple, gale_collector *out, int64_t *ret_time) {
    if (bolt->given->by_event) return event_time(bolt, tuple, out, ret_time);
    *ret_time = clock_time(bolt);
    return *ret_time - bolt->boundary < bolt->given->shape.slide ? GALE_OK : move_on(bolt, *ret_time, out);
}

GX_COLD static int refuse_key(const gx_window_bolt *bolt, size_t size, gale_collector *out) {
    if (bolt->kept && size > GALE_STATE_KEY_MAX - 100) {
        gx_define_report(out, "%s: a key of %zu bytes is too large for a durable run, at most %d", who, size,
                         GALE_STATE_KEY_MAX - 100);
        return GALE_TOO_LARGE;
    }
    if (gx_bytes_map_size(bolt->keys) >= bolt->given->keys_max) {
        gx_define_report(out, "%s: there are %llu keys in windows, and no more are allowed (max_keys)", who,
                         (unsigned long long)bolt->given->keys_max);
        return GALE_TOO_LARGE;
    }
    return GALE_OK;
}

/* A pane more. */
GX_COLD static int refuse_pane(const gx_window_bolt *bolt, gale_collector *out) {
    if (gx_heap_reserved(&bolt->instance.heap) <= bolt->given->bytes_max) return GALE_OK;
    gx_define_report(out, "%s: windows take more than the %llu bytes that a task is allowed (max_bytes)", who,
                     (unsigned long long)bolt->given->bytes_max);
    return GALE_TOO_LARGE;
}

static int report_refusal(gx_window_bolt *bolt, int code, const gale_tuple *tuple, gale_collector *out) {
    const gx_window_cell *cell = &bolt->given->plan.cells[bolt->panes.wrong];
    if (code == GALE_TYPE && cell->weighted)
        return gx_define_wrong_type(out, who, tuple, bolt->places.at[cell->weight], "a whole number, not below 0");
    if (code == GALE_TYPE)
        return gx_define_wrong_type(out, who, tuple, bolt->places.at[cell->field], cell->kind->wanted);
    if (code == GALE_TOO_LARGE)
        gx_define_report(out, "%s: a pane of one key has room for %d tuples, and no more", who, GX_WINDOW_PANE_TUPLES);
    return code;
}

/* What was made for a tuple that cannot be added goes again. */
static void undo(gx_window_bolt *bolt, gx_window_key *key, gx_window_pane *pane, bool is_new) {
    if (pane && !pane->tuples) gx_window_key_unmake(&bolt->panes, key, pane);
    if (is_new) gx_window_bolt_forget(bolt, key);
}

static bool is_told(const gx_window_bolt *bolt, const gx_window_key *key, int64_t pane) {
    uint32_t closed = gx_window_queue_closed(&key->queue);
    return closed && pane_start(bolt, key, closed - 1) >= pane;
}

static int add(gx_window_bolt *bolt, gx_window_key *key, bool is_new, int64_t time, const gale_tuple *tuple,
               gale_collector *out) {
    int rc = GALE_OK;
    gx_window_pane *pane = gx_window_queue_find(&key->queue, &bolt->panes.how, bolt->pane);
    bool pane_is_new = !pane;
    if (GX_UNLIKELY(pane_is_new)) {
        rc = is_told(bolt, key, bolt->pane) ? refuse_late(bolt, time, out) : refuse_pane(bolt, out);
        pane = rc >= 0 ? gx_window_key_pane(&bolt->panes, key, bolt->pane) : NULL;
        if (rc >= 0 && !pane) rc = GALE_NO_MEMORY;
    }
    if (rc >= 0 && !gx_agenda_reserve(&bolt->agenda)) rc = GALE_NO_MEMORY;
    if (rc >= 0) {
        rc = gx_window_key_take(&bolt->panes, key, pane, bolt->values, time);
        if (rc < 0) rc = report_refusal(bolt, rc, tuple, out);
    }
    if (rc < 0) {
        undo(bolt, key, pane, is_new);
        return rc;
    }
    if (pane_is_new || (bolt->given->changes && !key->changed)) hasten(bolt, key, is_new, bolt->pane);
    return GALE_OK;
}

static int take(gx_window_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    int64_t time = 0;
    gale_str bytes = { NULL, 0 };
    bool made = false;
    int rc = time_of(bolt, tuple, out, &time);
    if (GX_UNLIKELY(rc != GALE_OK)) return rc;
    if (GX_UNLIKELY(bolt->ahead.on) && bolt->given->key.count == 1) look_ahead(bolt, out);
    rc = gx_fields_take(&bolt->given->spec.fields, &bolt->places, who, tuple, out, bolt->values);
    if (rc >= 0) rc = key_of(bolt, tuple, out, &bytes);
    if (GX_UNLIKELY(rc < 0)) return rc;
    if (GX_UNLIKELY(time < bolt->pane || time >= bolt->pane_end)) {
        bolt->pane = gx_window_pane_of(&bolt->given->shape, time, &bolt->pane_end);
        if (bolt->pane > bolt->newest) bolt->newest = bolt->pane;
    }
    gx_window_key **found = gx_bytes_map_get(bolt->keys, bytes);
    if (GX_LIKELY(found != NULL)) return add(bolt, *found, false, time, tuple, out);
    rc = refuse_key(bolt, bytes.size, out);
    if (rc < 0) return rc;
    gx_window_key *key = gx_window_bolt_key(bolt, bytes, &made);
    return key ? add(bolt, key, made, time, tuple, out) : GALE_NO_MEMORY;
}

static int take_watermark(gx_window_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_value mark = gale_tuple_value(tuple, 0);
    int64_t time = 0;
    if (gale_tuple_size(tuple) < 1) return gx_define_need(out, who, tuple, 1);
    if (mark.type != GALE_TYPE_I64) return gx_define_wrong_type(out, who, tuple, 0, "i64, seconds");
    if (gx_own_time_of(&mark, &time) < 0) {
        gx_define_report(out, "%s: no watermark: %lld", who, (long long)mark.as.i64);
        return GALE_INVALID;
    }
    if (time > bolt->mark) bolt->mark = time;
    return move_on(bolt, bolt->mark, out);
}

static int take_tick(gx_window_bolt *bolt, gale_collector *out) {
    int rc = bolt->given->by_event ? GALE_OK : move_on(bolt, clock_time(bolt), out);
    return rc == GALE_OK && bolt->given->changes ? tell_all_changed(bolt, out) : rc;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    gx_window_bolt *bolt = self;
    if (gale_tuple_is_tick(tuple)) return take_tick(bolt, out);
    if (bolt->given->by_event && strcmp(gale_tuple_stream(tuple), "watermark") == 0)
        return take_watermark(bolt, tuple, out);
    return take(bolt, tuple, out);
}

/* By the tuples' time, no more come: all windows end. By the clock, the current one is cut off when this is first called. */
static int bolt_finish(void *self, gale_collector *out) {
    gx_window_bolt *bolt = self;
    const gx_window_shape *shape = &bolt->given->shape;
    bool by_event = bolt->given->by_event, changes = bolt->given->changes;
    if (!by_event && bolt->cut_off == INT64_MIN) bolt->cut_off = clock_time(bolt);
    int rc = by_event ? GALE_OK : move_on(bolt, bolt->cut_off, out);
    if (by_event && changes && bolt->newest != INT64_MIN)
        rc = move_on(bolt, bolt->newest + shape->length + shape->slide, out);
    if (rc != GALE_OK) return rc;
    if (changes) return tell_all_changed(bolt, out);
    return tell_due(bolt, by_event ? INT64_MAX : bolt->boundary + shape->slide, out, tell_ended);
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "window bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &gx_window_durable,
};

/* --- The definition ----------------------------------------------------------------------------------------------------- */

static int units(double seconds, const char *what, bool by_event, int64_t *ret_units, gale_error *error) {
    double least = by_event ? 1 : 0.001;
    if (!(seconds >= least && seconds <= SECONDS_MAX))
        return gale_error_set(error, GALE_INVALID, "window bolt: %s is %g seconds, must be %g to %g", what, seconds,
                              least, SECONDS_MAX);
    int64_t whole = (int64_t)seconds;
    if (by_event && (double)whole != seconds)
        return gale_error_set(error, GALE_INVALID,
                              "window bolt: %s is %g seconds; by the time that tuples carry, seconds are whole", what,
                              seconds);
    *ret_units = (int64_t)(seconds * 1e9 + 0.5);
    return GALE_OK;
}

static int check_shape(const gale_window_options *given, gx_window_settings *made, gale_error *error) {
    int64_t length = 0, slide = 0;
    double slide_seconds = given->slide != 0 ? given->slide : given->length;
    made->by_event = given->time != NULL;
    int rc = units(given->length, "length", made->by_event, &length, error);
    if (rc >= 0) rc = units(slide_seconds, "slide", made->by_event, &slide, error);
    if (rc >= 0 && slide > length)
        rc = gale_error_set(
            error, GALE_INVALID,
            "window bolt: slide is %g seconds, above the length, %g: what comes between two windows would "
            "be in none",
            given->slide, given->length);
    if (rc >= 0) made->shape = gx_window_shape_of(length, slide);
    return rc;
}

static int check_tick(const gale_window_options *given, gx_window_settings *made, gale_error *error) {
    double slide = (double)made->shape.slide / 1e9, tick = given->tick;
    if (given->emit != GALE_WINDOW_EMIT_CLOSE && given->emit != GALE_WINDOW_EMIT_CHANGE)
        return gale_error_set(error, GALE_INVALID,
                              "window bolt: emit is %d, which is neither close (%d) nor change (%d)", given->emit,
                              GALE_WINDOW_EMIT_CLOSE, GALE_WINDOW_EMIT_CHANGE);
    if (tick != 0 && !(tick >= 0.001 && tick <= SECONDS_MAX))
        return gale_error_set(error, GALE_INVALID, "window bolt: tick is %g seconds, must be 0.001 to %g", tick,
                              SECONDS_MAX);
    made->changes = given->emit == GALE_WINDOW_EMIT_CHANGE;
    made->ticks = made->changes || !made->by_event;
    made->tick = gx_define_tick(1);
    made->tick.value = gale_f64(tick != 0 ? tick : slide < 1 ? slide : 1);
    return GALE_OK;
}

static int check_fields(const gale_window_options *given, gx_window_settings *made, gale_error *error) {
    int rc = gx_window_row_of(given->key, given->aggregates, &made->key, &made->spec, made->fields, error);
    if (rc >= 0 && made->by_event) rc = gx_fields_parse(given->time, "window bolt: time", &made->time, error);
    if (rc >= 0 && made->by_event && made->time.count != 1)
        rc = gale_error_set(error, GALE_INVALID, "window bolt: time names %u fields, must name one: '%s'",
                            made->time.count, given->time);
    if (rc >= 0 && strlen(given->aggregates) >= sizeof made->text)
        rc = gale_error_set(error, GALE_INVALID, "window bolt: aggregates has %zu bytes, at most %zu",
                            strlen(given->aggregates), sizeof made->text - 1);
    if (rc < 0) return rc;
    memcpy(made->text, given->aggregates, strlen(given->aggregates));
    return rc;
}

static int check(const gale_window_options *given, gx_window_settings *made, gale_error *error) {
    uint32_t exact = given->exact ? given->exact : 4096, counters = given->counters ? given->counters : 1000;
    if (exact > 1000000) return gale_error_set(error, GALE_INVALID, "window bolt: exact is %u, at most 1000000", exact);
    if (counters > 1000000)
        return gale_error_set(error, GALE_INVALID, "window bolt: counters is %u, at most 1000000", counters);
    int rc = check_shape(given, made, error);
    if (rc >= 0) rc = check_tick(given, made, error);
    if (rc >= 0) rc = check_fields(given, made, error);
    if (rc < 0) return rc;
    gx_window_plan_make(&made->plan, &made->spec, exact, counters);
    made->keys_max = given->max_keys ? given->max_keys : 1000000;
    made->bytes_max = given->max_bytes ? given->max_bytes : UINT64_C(1) << 30;
    made->having = given->having;
    made->having_open = given->having_open;
    made->having_close = given->having_close;
    made->having_begin = given->having_begin;
    made->having_user = given->having_user;
    made->free_having_user = given->free_having_user;
    return GALE_OK;
}

static void free_settings(void *user) {
    const gx_window_settings *settings = user;
    if (settings->free_having_user) settings->free_having_user(settings->having_user);
    gx_define_free(user);
}

int gale_window_bolt(const gale_window_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere("window bolt", error);
    gale_window_options given;
    gx_window_settings *user = calloc(1, sizeof *user);
    if (!user) return gale_error_set(error, GALE_NO_MEMORY, "window bolt: out of memory");
    int rc = gx_options_take(&given, sizeof given, options, "window bolt: options", error);
    if (rc >= 0) rc = check(&given, user, error);
    if (rc < 0) {
        gx_define_free(user);
        return rc;
    }
    user->output = (gale_output){ NULL, user->fields };
    *ret_bolt = gx_define_bolt(&ops, user, &user->output, 1);
    ret_bolt->free_user = free_settings;
    ret_bolt->settings = &user->tick;
    ret_bolt->setting_count = user->ticks ? 1 : 0;
    return GALE_OK;
}
