/* storm-starter's RollingCountBolt: gale_rolling_count_bolt, gale_field_rolling_count_bolt. At a tick it reports what the window holds and moves it on
 * by one slot. Objects are reported in the order of the counter's dense array: the order in which they were first seen,
 * but that an object which is dropped leaves its place to the last one. (Storm's order is that of a Java hash map.) */
#include "base/buf.h"
#include "ds/last_modified.h"
#include "ds/sliding_window.h"
#include "kit/ahead.h"
#include "kit/fields.h"
#include "kit/recall.h"

#include <gale/kit.h>

enum { SLOTS_MIN = 2, SLOTS_MAX = 1000000 };

static const char who[] = "rolling count";

enum { AHEAD = 2 }; /* rows: the index of the map, then the entry */

typedef struct settings {
    gale_setting tick;
    int64_t window_seconds;
    int64_t slots;
    gx_fields field; /* empty: the first */
} settings;

typedef struct rolling {
    gx_instance instance;
    gx_sliding_window *window;
    gx_last_modified *modified;
    gx_ahead ahead;
    gx_buf object;
    const gx_fields *field;
    gx_field_places places;
    int64_t window_seconds;
    int64_t filling; /* ticks until the window is as long as it is to be */
    bool warned;
    bool restored;
    int64_t slots;
    size_t reported; /* objects of a report that goes out in parts; the window moves on behind the last */
    int64_t length;  /* its actual length, while such a report is under way, else -1 */
    int failed;      /* the first failure of it; the window moves on all the same */
} rolling;

static void bolt_cleanup(void *self) {
    rolling *bolt = self;
    gx_sliding_window_free(bolt->window);
    gx_last_modified_free(bolt->modified);
    gx_buf_fini(&bolt->object);
    gx_define_instance_free(bolt);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const settings *given = user;
    rolling *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    gx_heap *heap = &bolt->instance.heap;
    gale_error error = GALE_ERROR_INIT;
    bolt->window_seconds = given->window_seconds;
    bolt->filling = bolt->slots = given->slots;
    bolt->length = -1;
    bolt->object = (gx_buf)GX_BUF_INIT(heap);
    bolt->field = &given->field;
    int rc = gx_sliding_window_new(heap, given->slots, gale_context_random(context), &bolt->window, &error);
    if (rc >= 0) {
        rc = gx_last_modified_new(heap, given->slots, gale_context_now(context), &bolt->modified, &error);
    }
    if (rc < 0) {
        if (error.length) gx_define_report(out, "%s: %s", who, error.text);
        bolt_cleanup(bolt);
        return rc;
    }
    *ret_self = bolt;
    return 0;
}

/* Storm says it at every tick, also while the window fills; here once, until the length is right again. */
static void compare_length(rolling *bolt, int64_t actual) {
    if (bolt->filling) bolt->filling--;
    bool right = actual == bolt->window_seconds || (bolt->filling && actual < bolt->window_seconds);
    if (!right && !bolt->warned) {
        const gale_context *context = bolt->instance.context;
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "the window's actual length is %lld second%s, it should be %lld", (long long)actual,
                 actual == 1 ? "" : "s", (long long)bolt->window_seconds);
    }
    bolt->warned = !right;
}

static void report_object(rolling *bolt, size_t index, gale_collector *out) {
    gale_str object;
    int64_t count = gx_sliding_window_at(bolt->window, index, &object);
    const gale_value values[3] = { gx_key_value(object), gale_i64(count), gale_i64(bolt->length) };
    int rc = gale_emit_unanchored(out, 0, values, 3);
    if (rc < 0 && bolt->failed == 0) bolt->failed = rc;
}

/* What the window holds, in parts; nothing is counted in between. */
static int emit_window(rolling *bolt, gale_collector *out) {
    size_t size = gx_sliding_window_size(bolt->window);
    while (bolt->reported < size) {
        report_object(bolt, bolt->reported++, out);
        if (bolt->reported < size && gale_part_is_full(out)) return GALE_MORE;
    }
    gx_sliding_window_advance(bolt->window);
    int rc = bolt->failed;
    bolt->reported = 0;
    bolt->length = -1;
    bolt->failed = GALE_OK;
    return rc;
}

static void begin_report(rolling *bolt, int64_t now) {
    bolt->length = gx_last_modified_seconds_since_oldest(bolt->modified, now);
}

static int execute_tick(rolling *bolt, gale_collector *out) {
    gx_ahead_decide(&bolt->ahead, &bolt->instance.heap);
    if (bolt->length < 0) {
        int64_t now = gale_context_now(bolt->instance.context);
        begin_report(bolt, now);
        gx_last_modified_mark(bolt->modified, now);
        compare_length(bolt, bolt->length);
    }
    return emit_window(bolt, out);
}

/* What the window holds when the input has ended: Storm has no such moment, and its last counts are lost. */
static int bolt_finish(void *self, gale_collector *out) {
    rolling *bolt = self;
    if (bolt->length < 0) begin_report(bolt, gale_context_now(bolt->instance.context));
    return emit_window(bolt, out);
}

GX_UNPROTECTED static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    rolling *bolt = self;
    gale_str object;
    int rc = 0;
    gx_ahead_step(&bolt->ahead, gx_sliding_window_map(bolt->window), out, bolt->places.at[0], AHEAD);
    if (!gx_fields_text_key(bolt->field, tuple, &object)) {
        if (gale_tuple_is_tick(tuple)) return execute_tick(bolt, out); /* not acked, as in Storm */
        rc = gx_fields_key(bolt->field, &bolt->places, who, tuple, out, &bolt->object, &object);
    }
    if (rc >= 0) rc = gx_sliding_window_increment(bolt->window, object);
    return rc < 0 ? rc : gale_ack(out, gale_tuple_handle(tuple));
}

/* --- What lasts: the moments, then each object with what it was counted, by how many slots ago ---------------------- */

typedef struct list {
    gale_value *items;
    size_t count, capacity;
} list;

static bool push(gx_heap *heap, list *to, int64_t number) {
    if (!gx_grow(heap, GX_TAG_OTHER, &to->items, &to->capacity, to->count + 1, sizeof *to->items)) return false;
    to->items[to->count++] = gale_i64(number);
    return true;
}

static int save_moments(rolling *bolt, gale_saver *to, list *scratch) {
    for (size_t i = 0; i < gx_last_modified_size(bolt->modified); i++)
        if (!push(&bolt->instance.heap, scratch, gx_last_modified_at(bolt->modified, i))) return GALE_NO_MEMORY;
    const gale_value head[6] = { gale_i64(bolt->slots),
                                 gale_i64(bolt->filling),
                                 gale_bool(bolt->warned),
                                 gale_list(scratch->items, scratch->count),
                                 gale_i64((int64_t)bolt->reported),
                                 gale_i64(bolt->length) };
    return gale_save(to, head, 6);
}

static int save_object(rolling *bolt, gale_saver *to, list *scratch, size_t index) {
    scratch->count = 0;
    for (int64_t age = 0; age < bolt->slots; age++) {
        int64_t count = gx_sliding_window_count(bolt->window, index, age);
        if (!count) continue;
        if (!push(&bolt->instance.heap, scratch, age) || !push(&bolt->instance.heap, scratch, count))
            return GALE_NO_MEMORY;
    }
    const gale_value record[2] = { gx_key_value(gx_sliding_window_object(bolt->window, index)),
                                   gale_list(scratch->items, scratch->count) };
    return gale_save(to, record, 2);
}

static int bolt_save(void *self, gale_saver *to) {
    rolling *bolt = self;
    list scratch = { 0 };
    int rc = save_moments(bolt, to, &scratch);
    for (size_t i = 0; rc >= 0 && i < gx_sliding_window_size(bolt->window); i++)
        rc = save_object(bolt, to, &scratch, i);
    gx_free(&bolt->instance.heap, GX_TAG_OTHER, scratch.items, scratch.capacity * sizeof *scratch.items);
    return rc;
}

/* Of one that was under way the rest goes out with the tick that was saved with it. Another number of tasks has other objects:
 * the next tick reports all of them. */
static void restore_report(rolling *bolt, const gx_recall *recall, int64_t reported, int64_t length) {
    if (!gx_recall_is_same(recall) || length < 0) return;
    bolt->reported = (size_t)reported;
    bolt->length = length;
}

/* All tasks tick together: what the first says of the time holds for all. */
static int restore_moments(rolling *bolt, gx_recall *recall) {
    const gale_value *v;
    int rc = gx_recall_one(recall, "nnolni", &v);
    if (rc < 0) return rc;
    if (v[0].as.i64 != bolt->slots) {
        gx_define_report(recall->out, "%s: the window had %lld slots when it was saved, it has %lld now", who,
                         (long long)v[0].as.i64, (long long)bolt->slots);
        return GALE_STATE;
    }
    for (uint32_t i = 0; i < v[3].size; i++)
        if (gale_list_at(&v[3], i).type != GALE_TYPE_I64) return gx_recall_refuse(recall, "has a moment that is none");
    if (bolt->restored) return GALE_OK;
    bolt->restored = true;
    bolt->filling = v[1].as.i64;
    bolt->warned = v[2].as.boolean;
    restore_report(bolt, recall, v[4].as.i64, v[5].as.i64);
    gx_last_modified_clear(bolt->modified);
    for (uint32_t i = 0; i < v[3].size; i++) gx_last_modified_mark(bolt->modified, gale_list_at(&v[3], i).as.i64);
    return GALE_OK;
}

static int restore_object(rolling *bolt, gx_recall *recall, const gale_value *object, const gale_value *counts) {
    gale_str key;
    int rc = gx_key_make(object, &bolt->object, &key);
    if (rc >= 0) rc = gx_sliding_window_add(bolt->window, key, 0, 0);
    for (uint32_t i = 0; rc >= 0 && i + 1 < counts->size; i += 2) {
        gale_value age = gale_list_at(counts, i), count = gale_list_at(counts, i + 1);
        bool sound = age.type == GALE_TYPE_I64 && count.type == GALE_TYPE_I64 && count.as.i64 >= 0 &&
                     count.as.i64 <= INT64_MAX / bolt->slots;
        rc = sound ? gx_sliding_window_add(bolt->window, key, age.as.i64, count.as.i64) : GALE_INVALID;
    }
    return rc == GALE_INVALID ? gx_recall_refuse(recall, "has a count that is none") : rc;
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    rolling *bolt = self;
    gx_recall recall = { from, out, who, bolt->instance.context, 0 };
    const gale_value *v;
    int rc = restore_moments(bolt, &recall);
    while (rc >= 0 && (rc = gx_recall_next(&recall, "?l", &v)) > 0)
        if (gx_recall_owns(&recall, &v[0], 1)) rc = restore_object(bolt, &recall, &v[0], &v[1]);
    return rc;
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_PARTS,
    .save = bolt_save,
    .restore = bolt_restore,
};

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "rolling count bolt",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

static int check(int64_t window_seconds, int64_t emit_seconds, gale_error *error) {
    if (emit_seconds < 1 || emit_seconds > INT32_MAX) {
        return gale_error_set(error, GALE_INVALID, "rolling count bolt: emit_seconds is %lld, must be 1 to %d",
                              (long long)emit_seconds, INT32_MAX);
    }
    int64_t slots = window_seconds / emit_seconds;
    if (slots < SLOTS_MIN || slots > SLOTS_MAX) {
        return gale_error_set(error, GALE_INVALID,
                              "rolling count bolt: a window of %lld seconds, emitted every %lld, has %lld slots, must "
                              "have %d to %d",
                              (long long)window_seconds, (long long)emit_seconds, (long long)slots, SLOTS_MIN,
                              SLOTS_MAX);
    }
    return 0;
}

int gale_field_rolling_count_bolt(const char *field, int64_t window_seconds, int64_t emit_seconds, gale_bolt *ret_bolt,
                                  gale_error *error) {
    static const gale_output outputs[] = { { NULL, "obj, count, actualWindowLengthInSeconds" } };
    if (!ret_bolt) return gx_define_nowhere("rolling count bolt", error);
    settings given = { .window_seconds = window_seconds };
    int rc = check(window_seconds, emit_seconds, error);
    if (rc >= 0) rc = gx_fields_parse_one(field, "rolling count bolt: field", &given.field, error);
    if (rc < 0) return rc;
    given.tick = gx_define_tick(emit_seconds);
    given.slots = window_seconds / emit_seconds;
    settings *user = gx_define_user(&given, sizeof given, "rolling count bolt", error);
    if (!user) return GALE_NO_MEMORY;
    *ret_bolt = gx_define_bolt(&ops, user, outputs, 1);
    ret_bolt->settings = &user->tick;
    ret_bolt->setting_count = 1;
    return 0;
}

int gale_rolling_count_bolt(int64_t window_seconds, int64_t emit_seconds, gale_bolt *ret_bolt, gale_error *error) {
    return gale_field_rolling_count_bolt(NULL, window_seconds, emit_seconds, ret_bolt, error);
}
