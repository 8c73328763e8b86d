/* What lasts of a window bolt. Panes are keyed state, one value each under their key and their start: a pane is put there when
 * it is closed, and at a checkpoint when it is open and has changed since; it is removed with its last window. So a checkpoint
 * writes what came since the one before, however long the windows are; and nothing is done for a tuple. A pane is saved as it
 * was before the queue combined it.
 *
 * Records: one of the windows (length, slide, what they tell), one of time (boundary, mark, newest pane, phase, by calendar), then one for
 * each key that is to be told something before it would be due by its panes: (key's values, due). What is combined of f64 may
 * be rounded otherwise in its last bit after a restart, because it is combined anew. */
#include "base/str.h"
#include "kit/window.h"
#include "topology/saver.h"
#include "tuple/key.h"

static const char who[] = "window";

/* --- Panes ------------------------------------------------------------------------------------------------------------ */

/* The key's values and the pane's start; of what has no key, the start alone. `values` has room for one more than the key. */
static gale_value name_of(const gx_window_bolt *bolt, const gx_window_key *key, int64_t start, gale_value *values) {
    uint32_t count = bolt->given->key.count;
    gx_window_bolt_key_values(bolt, key, values);
    values[count] = gale_i64(start);
    return count ? gale_list(values, count + 1) : values[0];
}

static int put_pane(gx_window_bolt *bolt, gx_window_key *key, gx_window_pane *pane) {
    gale_value names[GX_FIELDS_MAX + 1], values[1 + 5 * GX_WINDOW_AGGREGATES];
    if (pane->saved == pane->tuples) return GALE_OK;
    int rc = gx_window_key_save(&bolt->panes, key, pane, values);
    if (rc < 0) return rc;
    const gale_value name = name_of(bolt, key, pane->start, names);
    const gale_value value = gale_list(values, 1 + bolt->given->plan.saved);
    rc = gale_state_put(bolt->kept, &name, &value);
    if (rc >= 0) pane->saved = pane->tuples;
    return rc;
}

static int on_close(void *user, gx_window_key *key, gx_window_pane *pane) {
    return put_pane(user, key, pane);
}

static int on_drop(void *user, gx_window_key *key, int64_t start) {
    gx_window_bolt *bolt = user;
    gale_value names[GX_FIELDS_MAX + 1];
    const gale_value name = name_of(bolt, key, start, names);
    int rc = gale_state_remove(bolt->kept, &name);
    return rc == GALE_NOT_FOUND ? GALE_OK : rc;
}

int gx_window_saved_open(gx_window_bolt *bolt, gale_collector *out) {
    if (!bolt->instance.context->durable) return GALE_OK;
    const gale_state_options options = { sizeof options, "panes", 0, bolt->given->key.count };
    int rc = gale_state_open(out, &options, &bolt->kept);
    if (rc >= 0) bolt->panes.hooks = (gx_window_hooks){ on_close, on_drop, bolt };
    return rc;
}

/* --- Saving ----------------------------------------------------------------------------------------------------------- */

static int save_open_panes(gx_window_bolt *bolt, gx_window_key *key) {
    int rc = GALE_OK;
    uint32_t count = gx_window_queue_count(&key->queue);
    for (uint32_t i = gx_window_queue_closed(&key->queue); rc >= 0 && i < count; i++)
        rc = put_pane(bolt, key, gx_window_queue_at(&key->queue, &bolt->panes.how, i));
    return rc;
}

static int save_time(const gx_window_bolt *bolt, gale_saver *to) {
    const gx_window_settings *given = bolt->given;
    const gale_value windows[3] = { gale_i64(given->shape.length), gale_i64(given->shape.slide),
                                    gale_text(given->text) };
    const gale_value time[5] = { gale_i64(bolt->boundary), gale_i64(bolt->mark), gale_i64(bolt->newest),
                                 gale_i64(bolt->phase), gale_bool(bolt->by_calendar) };
    int rc = gale_save(to, windows, 3);
    return rc < 0 ? rc : gale_save(to, time, 5);
}

/* Keys that are due at another time than their panes say: before the boundary has moved on, or because a window that ends
 * behind it was emitted for them, and not for all. */
static int save_due(gx_window_bolt *bolt, gale_saver *to) {
    int rc = GALE_OK;
    const gx_agenda_item *item = gx_agenda_first(&bolt->agenda);
    for (; rc >= 0 && item; item = gx_agenda_next(&bolt->agenda, item)) {
        gale_value values[GX_FIELDS_MAX];
        if (item->due > bolt->boundary && !bolt->closing) break;
        if (item->due > bolt->boundary &&
            item->due == gx_window_bolt_due(bolt, (const gx_window_key *)item, bolt->boundary))
            continue;
        gx_window_bolt_key_values(bolt, (const gx_window_key *)item, values);
        const gale_value record[2] = { gale_list(values, bolt->given->key.count), gale_i64(item->due) };
        rc = gale_save(to, record, 2);
    }
    return rc;
}

static int bolt_save(void *self, gale_saver *to) {
    gx_window_bolt *bolt = self;
    int rc = bolt->kept ? GALE_OK : GALE_STATE;
    for (size_t i = 0; rc >= 0 && i < gx_bytes_map_size(bolt->keys); i++)
        rc = save_open_panes(bolt, *(gx_window_key **)gx_bytes_map_at(bolt->keys, i, NULL));
    if (rc >= 0) rc = save_time(bolt, to);
    return rc < 0 ? rc : save_due(bolt, to);
}

/* --- Restoring -------------------------------------------------------------------------------------------------------- */

/* Of one task that was. */
typedef struct part {
    gx_window_bolt *bolt;
    gx_recall *recall;
    uint32_t number, count;
    int64_t boundary;
} part;

static int refuse(const part *p, const char *what) {
    gx_define_report(p->recall->out, "%s: a pane of what was saved %s", who, what);
    return GALE_DAMAGED;
}

static int restore_windows(const part *p) {
    const gx_window_settings *given = p->bolt->given;
    const gale_value *v;
    int rc = gx_recall_one(p->recall, "nns", &v);
    if (rc < 0) return rc;
    bool same = v[0].as.i64 == given->shape.length && v[1].as.i64 == given->shape.slide &&
                gx_str_is((gale_str){ v[2].as.string, v[2].size }, given->text);
    if (same) return GALE_OK;
    gx_define_report(
        p->recall->out,
        "%s: the windows had another length or slide, or told something else, when they were saved; to begin "
        "them anew: gale state reset DIR --component %s",
        who, p->bolt->instance.context->component);
    return GALE_STATE;
}

static bool is_time(int64_t time) {
    return time == INT64_MIN || (time >= -GX_WINDOW_TIME_MAX && time <= GX_WINDOW_TIME_MAX);
}

/* Labels go by the calendar: the time between two lives is not part of any window, but of their names. */
static void restore_clock(gx_window_bolt *bolt, int64_t phase, bool by_calendar) {
    const gx_window_shape *shape = &bolt->given->shape;
    int64_t behind = by_calendar ? gx_calendar_phase(gale_context_now(bolt->instance.context)) - phase : 0;
    bolt->shift = gx_window_floor(shape, behind + shape->slide / 2);
    bolt->phase = phase;
    bolt->by_calendar = by_calendar;
}

/* Of several tasks that were, each knew how far it had come; what no tuple can be behind is the least. */
static int restore_time(part *p, bool first) {
    gx_window_bolt *bolt = p->bolt;
    const gale_value *v;
    int rc = gx_recall_one(p->recall, "iiiio", &v);
    if (rc < 0) return rc;
    for (int i = 0; i < 4; i++)
        if (!is_time(v[i].as.i64)) return gx_recall_refuse(p->recall, "has a time that is none");
    p->boundary = v[0].as.i64;
    bool sound = p->boundary == INT64_MIN || gx_window_floor(&bolt->given->shape, p->boundary) == p->boundary;
    if (!sound || (!bolt->given->by_event && (p->boundary == INT64_MIN || v[3].as.i64 == INT64_MIN)))
        return gx_recall_refuse(p->recall, "has a time that is none");
    if (first || p->boundary < bolt->boundary) bolt->boundary = p->boundary;
    if (first || v[1].as.i64 < bolt->mark) bolt->mark = v[1].as.i64;
    if (v[2].as.i64 > bolt->newest) bolt->newest = v[2].as.i64;
    if (first && !bolt->given->by_event) restore_clock(bolt, v[3].as.i64, v[4].as.boolean);
    return GALE_OK;
}

/* The key that has these values, made when it is not there; NULL when memory is out. */
static gx_window_key *key_of(gx_window_bolt *bolt, const gale_value *values, bool *ret_made) {
    uint32_t count = bolt->given->key.count;
    gale_value all = count == 1 ? values[0] : gale_list(values, count);
    gale_str bytes = { "", 1 };
    if (count && gx_key_make(&all, &bolt->key, &bytes) < 0) return NULL;
    return gx_window_bolt_key(bolt, bytes, ret_made);
}

static bool take_list(const gale_value *list, gale_value *values, uint32_t count) {
    if (list->type != GALE_TYPE_LIST || list->size != count) return false;
    for (uint32_t i = 0; i < count; i++) values[i] = gale_list_at(list, i);
    return true;
}

static int restore_pane(const part *p, const gale_value *names, int64_t start, const gale_value *values) {
    gx_window_bolt *bolt = p->bolt;
    int64_t end;
    bool sound = start >= -GX_WINDOW_TIME_MAX && start <= GX_WINDOW_TIME_MAX &&
                 gx_window_pane_of(&bolt->given->shape, start, &end) == start;
    if (!sound) return refuse(p, "begins where none does");
    gx_window_key *key = key_of(bolt, names, NULL);
    if (!key) return GALE_NO_MEMORY;
    gx_window_pane *pane = gx_window_key_pane(&bolt->panes, key, start);
    if (!pane) return GALE_NO_MEMORY;
    int rc = gx_window_key_load(&bolt->panes, key, pane, values);
    return rc == GALE_DAMAGED ? refuse(p, "is not of the shape that it was written in") : rc;
}

/* One that this part had. */
static int restore_one(void *user, const gale_value *name, const gale_value *value) {
    const part *p = user;
    uint32_t count = p->bolt->given->key.count;
    gale_value names[GX_FIELDS_MAX + 1], values[1 + 5 * GX_WINDOW_AGGREGATES];
    names[0] = *name;
    if (count && !take_list(name, names, count + 1)) return refuse(p, "has another key");
    if (names[count].type != GALE_TYPE_I64) return refuse(p, "has another key");
    if (count && p->count != p->bolt->instance.context->task_count &&
        gx_saved_owner(names, count, p->count) != p->number)
        return 0;
    if (!take_list(value, values, 1 + p->bolt->given->plan.saved))
        return refuse(p, "is not of the shape that it was written in");
    return restore_pane(p, names, names[count].as.i64, values);
}

/* When the keys are due that came with this part. */
static int restore_agenda(const part *p, size_t from) {
    gx_window_bolt *bolt = p->bolt;
    for (size_t i = from; i < gx_bytes_map_size(bolt->keys); i++) {
        gx_window_key *key = *(gx_window_key **)gx_bytes_map_at(bolt->keys, i, NULL);
        if (!gx_agenda_reserve(&bolt->agenda)) return GALE_NO_MEMORY;
        gx_agenda_put(&bolt->agenda, &key->item, gx_window_bolt_due(bolt, key, p->boundary));
    }
    return GALE_OK;
}

static int restore_due(const part *p, const gale_value *v) {
    gx_window_bolt *bolt = p->bolt;
    const gx_window_shape *shape = &bolt->given->shape;
    gale_value values[GX_FIELDS_MAX];
    bool made = false, changed = v[1].as.i64 == GX_WINDOW_CHANGED;
    if (!take_list(&v[0], values, bolt->given->key.count) || !is_time(v[1].as.i64) || changed != bolt->given->changes ||
        (!changed && gx_window_floor(shape, v[1].as.i64) != v[1].as.i64))
        return gx_recall_refuse(p->recall, "has a key that is due when none can be");
    if (!gx_recall_owns(p->recall, values, bolt->given->key.count)) return GALE_OK;
    if (!gx_agenda_reserve(&bolt->agenda)) return GALE_NO_MEMORY;
    gx_window_key *key = key_of(bolt, values, &made);
    if (!key) return GALE_NO_MEMORY;
    if (!made) gx_agenda_take(&bolt->agenda, &key->item);
    key->changed = changed;
    gx_agenda_put(&bolt->agenda, &key->item, v[1].as.i64);
    return GALE_OK;
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    gx_window_bolt *bolt = self;
    gx_recall recall = { from, out, who, bolt->instance.context, 0 };
    part p = { .bolt = bolt, .recall = &recall };
    const gale_value *v;
    size_t before = gx_bytes_map_size(bolt->keys);
    p.number = gale_saved_part(from, &p.count);
    int rc = bolt->kept ? restore_windows(&p) : GALE_STATE;
    if (rc >= 0) rc = restore_time(&p, !bolt->restored);
    bolt->restored = true;
    if (rc >= 0) rc = gale_state_each(bolt->kept, restore_one, &p);
    if (rc >= 0) rc = restore_agenda(&p, before);
    while (rc >= 0 && (rc = gx_recall_next(&recall, "li", &v)) > 0) rc = restore_due(&p, v);
    return rc;
}

const gale_durable_ops gx_window_durable = {
    .size = sizeof(gale_durable_ops),
    .version = 2, /* 1: seconds where tuples carry the time */
    .flags = GALE_DURABLE_PARTS,
    .save = bolt_save,
    .restore = bolt_restore,
};
