/* Adds up what the tasks of a unique bolt say: gale_unique_total_bolt. A window is over when the watermarks of all
 * tasks have passed its end; each task told its share before its watermark, so that the sum is whole. */
#include "kit/recall.h"
#include "kit/windows.h"

#include <gale/kit.h>
#include <gale/topology.h>
#include <string.h>

enum { STREAM_TOTALS, STREAM_NOW };

static const char who[] = "unique total";

#define TIME_MAX ((int64_t)1 << 62)

typedef struct total {
    gx_instance instance;
    gx_windows windows;
    int64_t *marks; /* of each task; INT64_MIN: none yet */
    size_t task_count;
    bool restored; /* and no watermark has come since */
    size_t next;   /* the window that a tick goes on with; 0: none has begun */
} total;

static void bolt_cleanup(void *self) {
    total *bolt = self;
    gx_free(&bolt->instance.heap, GX_TAG_OTHER, bolt->marks, bolt->task_count * sizeof *bolt->marks);
    gx_windows_fini(&bolt->windows);
    gx_define_instance_free(bolt);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user;
    if (context->task_count > 1) {
        gx_define_report(out, "%s: %u tasks of '%s' would each add up a part; it must be one", who, context->task_count,
                         context->component);
        return GALE_INVALID;
    }
    total *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->windows.heap = &bolt->instance.heap;
    *ret_self = bolt;
    return 0;
}

/* The first `count` values as whole numbers. */
static int numbers(const gale_tuple *tuple, size_t count, gale_collector *out, int64_t *ret_numbers) {
    if (gale_tuple_size(tuple) < count) return gx_define_need(out, who, tuple, count);
    for (size_t i = 0; i < count; i++) {
        gale_value value = gale_tuple_value(tuple, i);
        if (value.type != GALE_TYPE_I64) return gx_define_wrong_type(out, who, tuple, i, "i64");
        ret_numbers[i] = value.as.i64;
    }
    return 0;
}

static int wrong(const gale_tuple *tuple, const int64_t *n, gale_collector *out) {
    gx_define_report(out, "%s: component '%s', stream '%s', sent (%lld, %lld, %lld), which is out of range", who,
                     gale_tuple_component(tuple), gale_tuple_stream(tuple), (long long)n[0], (long long)n[1],
                     (long long)n[2]);
    return GALE_INVALID;
}

static int take(total *bolt, const gale_tuple *tuple, gale_collector *out) {
    int64_t n[3]; /* window, start, new */
    int rc = numbers(tuple, 3, out, n);
    if (rc < 0) return rc;
    if (n[0] < 1 || n[0] > TIME_MAX || n[1] < -TIME_MAX || n[1] > TIME_MAX || n[2] < 0) return wrong(tuple, n, out);
    gx_window *window = gx_windows_at(&bolt->windows, n[1] + n[0], n[0]);
    if (!window) return GALE_NO_MEMORY;
    window->count += n[2];
    return 0;
}

static int emit(const gx_window *window, uint32_t stream, gale_collector *out) {
    gale_value values[3] = { gale_i64(window->length), gale_i64(window->end - window->length),
                             gale_i64(window->count) };
    int rc = gale_emit_unanchored(out, stream, values, 3);
    return rc < 0 ? rc : 0;
}

/* Each window goes out once, in parts; from one that could not on, the rest stays. */
static int close_until(total *bolt, int64_t mark, gale_collector *out) {
    size_t ended = gx_windows_ended(&bolt->windows, mark), done = 0;
    int rc = 0;
    while (rc == 0 && done < ended) {
        rc = emit(&bolt->windows.items[done], STREAM_TOTALS, out);
        done += rc == 0;
        if (rc == 0 && done < ended && gale_part_is_full(out)) rc = GALE_MORE;
    }
    gx_windows_drop(&bolt->windows, done);
    bolt->next = 0;
    return rc;
}

/* The first watermark says how many tasks there are. */
static bool know_tasks(total *bolt, size_t count) {
    if (bolt->marks) return true;
    bolt->marks = gx_alloc_array(&bolt->instance.heap, GX_TAG_OTHER, count, sizeof *bolt->marks);
    if (!bolt->marks) return false;
    for (size_t i = 0; i < count; i++) bolt->marks[i] = INT64_MIN;
    bolt->task_count = count;
    return true;
}

/* There are others than when they were saved: each is to tell its own. */
static void forget_tasks(total *bolt) {
    gx_free(&bolt->instance.heap, GX_TAG_OTHER, bolt->marks, bolt->task_count * sizeof *bolt->marks);
    bolt->marks = NULL;
    bolt->task_count = 0;
}

static int take_watermark(total *bolt, const gale_tuple *tuple, gale_collector *out) {
    int64_t n[3]; /* mark, task, tasks */
    int rc = numbers(tuple, 3, out, n);
    if (rc < 0) return rc;
    if (n[2] < 1 || n[2] > GALE_TASKS_MAX || n[1] < 0 || n[1] >= n[2]) return wrong(tuple, n, out);
    if (bolt->restored && (size_t)n[2] != bolt->task_count) forget_tasks(bolt);
    bolt->restored = false;
    if (bolt->marks && (size_t)n[2] != bolt->task_count) return wrong(tuple, n, out);
    if (!know_tasks(bolt, (size_t)n[2])) return GALE_NO_MEMORY;
    if (n[0] > bolt->marks[n[1]]) bolt->marks[n[1]] = n[0];
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < bolt->task_count; i++) least = bolt->marks[i] < least ? bolt->marks[i] : least;
    return close_until(bolt, least, out);
}

/* In parts, from `next` on. */
static int tell_now(total *bolt, gale_collector *out) {
    while (bolt->next < bolt->windows.count) {
        gx_window *window = &bolt->windows.items[bolt->next];
        bool changed = window->told != window->count;
        int rc = changed ? emit(window, STREAM_NOW, out) : 0;
        if (rc < 0) return rc;
        window->told = window->count;
        bolt->next++;
        if (changed && bolt->next < bolt->windows.count && gale_part_is_full(out)) return GALE_MORE;
    }
    bolt->next = 0;
    return 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    total *bolt = self;
    if (gale_tuple_is_tick(tuple)) return tell_now(bolt, out);
    if (strcmp(gale_tuple_stream(tuple), "watermark") == 0) return take_watermark(bolt, tuple, out);
    return take(bolt, tuple, out);
}

static int bolt_finish(void *self, gale_collector *out) {
    return close_until(self, INT64_MAX, out);
}

/* --- What lasts: the tasks' watermarks, then the windows --------------------------------------------------------------- */

static int bolt_save(void *self, gale_saver *to) {
    total *bolt = self;
    gx_heap *heap = &bolt->instance.heap;
    gale_value *marks = gx_alloc_array(heap, GX_TAG_OTHER, bolt->task_count + 1, sizeof *marks);
    if (!marks) return GALE_NO_MEMORY;
    for (size_t i = 0; i < bolt->task_count; i++) marks[i] = gale_i64(bolt->marks[i]);
    const gale_value list = gale_list(marks, bolt->task_count);
    int rc = gale_save(to, &list, 1);
    gx_free(heap, GX_TAG_OTHER, marks, (bolt->task_count + 1) * sizeof *marks);
    return rc < 0 ? rc : gx_windows_save(&bolt->windows, to);
}

static int restore_marks(total *bolt, gx_recall *recall) {
    const gale_value *v;
    int rc = gx_recall_one(recall, "l", &v);
    if (rc < 0 || !v[0].size) return rc;
    if (v[0].size > GALE_TASKS_MAX) return gx_recall_refuse(recall, "has more watermarks than there can be tasks");
    if (!know_tasks(bolt, v[0].size)) return GALE_NO_MEMORY;
    for (uint32_t i = 0; i < v[0].size; i++) {
        gale_value mark = gale_list_at(&v[0], i);
        if (mark.type != GALE_TYPE_I64) return gx_recall_refuse(recall, "has a watermark that is none");
        bolt->marks[i] = mark.as.i64;
    }
    bolt->restored = true;
    return rc;
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    total *bolt = self;
    gx_recall recall = { from, out, who, bolt->instance.context, 0 };
    int rc = restore_marks(bolt, &recall);
    return rc < 0 ? rc : gx_windows_restore(&bolt->windows, &recall, true);
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .save = bolt_save,
    .restore = bolt_restore,
};

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "unique total bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

int gale_unique_total_bolt(int64_t emit_seconds, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_output outputs[] = {
        [STREAM_TOTALS] = { NULL, "window, start, count" }, [STREAM_NOW] = { "now", "window, start, count" }
    };
    if (!ret_bolt) return gx_define_nowhere("unique total bolt", error);
    if (emit_seconds < 1 || emit_seconds > INT32_MAX)
        return gale_error_set(error, GALE_INVALID, "unique total bolt: emit_seconds is %lld, must be 1 to %d",
                              (long long)emit_seconds, INT32_MAX);
    gale_setting tick = gx_define_tick(emit_seconds);
    gale_setting *user = gx_define_user(&tick, sizeof tick, "unique total bolt", error);
    if (!user) return GALE_NO_MEMORY;
    gale_bolt bolt = gx_define_bolt(&ops, user, outputs, 2);
    bolt.settings = user;
    bolt.setting_count = 1;
    *ret_bolt = bolt;
    return 0;
}
