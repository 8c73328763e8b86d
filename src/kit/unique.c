/* How many different keys came in each window of the tuples' own time: gale_unique_bolt. For each length of window a
 * rotating map knows the (window, key) pairs that were counted; it is turned by the watermark, and keeps a pair until
 * its window has ended for good.
 *
 * Counting and remembering are one step here: a tuple that is replayed, for whatever reason, finds its key and is not
 * counted again, and one that failed halfway is counted where it was not. No failure makes a count wrong. */
#include "base/str.h"
#include "kit/own_time.h"
#include "kit/rotation.h"
#include "kit/windows.h"

#include <gale/kit.h>

enum { STREAM_COUNTS, STREAM_WATERMARK, SPANS_MAX = 8, BUCKETS = 3, PREFIX = sizeof(int64_t) };

static const char who[] = "unique";

#define WINDOW_MAX 1000000000
#define TIME_MAX ((int64_t)1 << 61) /* so that no sum of times overflows */

typedef struct settings {
    gx_fields key;
    gx_fields time;
    int64_t lengths[SPANS_MAX];
    uint32_t length_count;
    gale_setting tick;
} settings;

typedef struct span {
    int64_t length;
    gale_rotating_map *counted; /* a set: start of the window, key */
    gx_rotation rotation;
} span;

typedef struct unique {
    gx_instance instance;
    const settings *given;
    span spans[SPANS_MAX];
    gx_windows windows;
    int64_t mark; /* no tuple comes that is older; INT64_MIN: not known yet */
    int64_t passed_on;
    bool restored;
    gx_buf key; /* PREFIX bytes for the window, then the key */
    gx_field_places key_places, time_places;
    gale_value values[GX_FIELDS_MAX];
    size_t next; /* the window that a tick, or `finish`, goes on with; 0: none has begun */
} unique;

static void bolt_cleanup(void *self) {
    unique *bolt = self;
    for (uint32_t i = 0; i < bolt->given->length_count; i++) gale_rotating_map_free(bolt->spans[i].counted);
    gx_windows_fini(&bolt->windows);
    gx_buf_fini(&bolt->key);
    gx_define_instance_free(bolt);
}

static int make_span(span *made, int64_t length, const gale_context *context) {
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    options.buckets = BUCKETS;
    options.key_type = GALE_KEY_BYTES;
    options.seed = gale_context_random(context) | 1; /* 0 would ask the machine */
    options.allocator = context->allocator;
    made->length = length;
    return gale_rotating_map_new(&options, &made->counted, NULL);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    unique *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->given = user;
    bolt->mark = bolt->passed_on = INT64_MIN;
    bolt->windows.heap = &bolt->instance.heap;
    bolt->key = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    for (uint32_t i = 0; i < bolt->given->length_count; i++) {
        int rc = make_span(&bolt->spans[i], bolt->given->lengths[i], context);
        if (rc < 0) {
            bolt_cleanup(bolt);
            return rc;
        }
    }
    *ret_self = bolt;
    return 0;
}

/* --- What is counted ---------------------------------------------------------------------------------------------- */

static int64_t start_of(int64_t time, int64_t length) {
    int64_t rest = time % length;
    return time - rest - (rest < 0 ? length : 0);
}

/* The window is there before the key is, so that what the map has is always counted. */
static int count(unique *bolt, span *s, int64_t time) {
    int64_t start = start_of(time, s->length);
    gx_window *window = gx_windows_at(&bolt->windows, start + s->length, s->length);
    if (!window) return GALE_NO_MEMORY;
    memcpy(bolt->key.data, &start, PREFIX);
    int made = gale_rotating_map_put_if_absent_bytes(s->counted, bolt->key.data, bolt->key.size, NULL, NULL);
    if (made > 0) window->count++;
    return made;
}

/* Windows begin and end at whole seconds. */
static int time_of(unique *bolt, const gale_tuple *tuple, gale_collector *out, int64_t *ret_time) {
    int64_t ns = 0;
    int rc = gx_own_time_take(&bolt->given->time, &bolt->time_places, who, tuple, out, &ns);
    if (rc >= 0) *ret_time = gx_own_time_seconds(ns);
    return rc;
}

/* Behind the watermark its window may have been told already. It fails: when it comes again, what stands before this
 * bolt finds it late. */
static int refuse(const unique *bolt, int64_t time, gale_collector *out) {
    gx_define_report(out, "%s: the time %lld is behind the watermark, %lld", who, (long long)time,
                     (long long)bolt->mark);
    return GALE_STATE;
}

static int take(unique *bolt, const gale_tuple *tuple, gale_collector *out) {
    static const char prefix[PREFIX];
    int64_t time = 0;
    int rc = time_of(bolt, tuple, out, &time);
    if (rc < 0) return rc;
    if (time < bolt->mark) return refuse(bolt, time, out);
    rc = gx_fields_take(&bolt->given->key, &bolt->key_places, who, tuple, out, bolt->values);
    if (rc < 0) return rc;
    gx_buf_reset(&bolt->key);
    gx_buf_add(&bolt->key, prefix, PREFIX);
    rc = bolt->key.failed ? GALE_NO_MEMORY : gx_fields_pack(bolt->values, bolt->given->key.count, &bolt->key);
    for (uint32_t i = 0; i < bolt->given->length_count && rc >= 0; i++) rc = count(bolt, &bolt->spans[i], time);
    return rc < 0 ? rc : 0;
}

/* --- What is told ------------------------------------------------------------------------------------------------- */

/* What is new since the last time: 1, or 0 when nothing is. It goes to whoever adds up what the tasks say. */
static int tell(gx_window *window, gale_collector *out) {
    if (window->count == window->told) return 0;
    gale_value values[3] = { gale_i64(window->length), gale_i64(window->end - window->length),
                             gale_i64(window->count - window->told) };
    int rc = gale_emit_unanchored(out, STREAM_COUNTS, values, 3);
    if (rc >= 0) window->told = window->count;
    return rc < 0 ? rc : 1;
}

/* All windows, in parts. One that could not be told stays, and is told with the next ones. */
static int tell_all(unique *bolt, gale_collector *out) {
    while (bolt->next < bolt->windows.count) {
        int rc = tell(&bolt->windows.items[bolt->next], out);
        if (rc < 0) return rc;
        bolt->next++;
        if (rc && bolt->next < bolt->windows.count && gale_part_is_full(out)) return GALE_MORE;
    }
    bolt->next = 0;
    return 0;
}

/* Those that have ended, in parts; each goes when it is told. */
static int close_ended(unique *bolt, gale_collector *out) {
    size_t ended = gx_windows_ended(&bolt->windows, bolt->mark), done = 0;
    int rc = 0;
    while (rc == 0 && done < ended) {
        rc = tell(&bolt->windows.items[done], out);
        if (rc < 0) break;
        done++;
        rc = rc && done < ended && gale_part_is_full(out) ? GALE_MORE : 0;
    }
    gx_windows_drop(&bolt->windows, done);
    return rc;
}

static bool ends_something(const unique *bolt) {
    if (bolt->passed_on == INT64_MIN) return true;
    for (uint32_t i = 0; i < bolt->given->length_count; i++) {
        int64_t length = bolt->spans[i].length;
        if (start_of(bolt->mark, length) != start_of(bolt->passed_on, length)) return true;
    }
    return false;
}

/* Behind everything that it speaks of, and only when that is told. */
static int pass_on(unique *bolt, gale_collector *out) {
    if (!ends_something(bolt)) return 0;
    const gale_context *context = bolt->instance.context;
    gale_value values[3] = { gale_i64(bolt->mark), gale_i64(context->task_index), gale_i64(context->task_count) };
    int rc = gale_emit_unanchored(out, STREAM_WATERMARK, values, 3);
    if (rc >= 0) bolt->passed_on = bolt->mark;
    return rc < 0 ? rc : 0;
}

/* A pair that is put when the watermark is m has a time of at most m + lateness: its window ends before m + lateness +
 * length, and so long it must be kept. */
static void turn(unique *bolt, int64_t lateness) {
    for (uint32_t i = 0; i < bolt->given->length_count; i++) {
        span *s = &bolt->spans[i];
        if (!s->rotation.period) s->rotation = gx_rotation_new(lateness + s->length, BUCKETS, bolt->mark);
        gx_rotation_turn(&s->rotation, s->counted, BUCKETS, bolt->mark);
    }
}

static int take_watermark(unique *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_value mark = gale_tuple_value(tuple, 0), newest = gale_tuple_value(tuple, 1);
    if (mark.type != GALE_TYPE_I64) return gx_define_wrong_type(out, who, tuple, 0, "i64, seconds");
    if (newest.type != GALE_TYPE_I64) return gx_define_wrong_type(out, who, tuple, 1, "i64, seconds");
    int64_t lateness;
    if (mark.as.i64 < -TIME_MAX || newest.as.i64 > TIME_MAX ||
        __builtin_sub_overflow(newest.as.i64, mark.as.i64, &lateness) || lateness < 0) {
        gx_define_report(out, "%s: no watermark: %lld, with %lld as the newest time", who, (long long)mark.as.i64,
                         (long long)newest.as.i64);
        return GALE_INVALID;
    }
    if (mark.as.i64 > bolt->mark) bolt->mark = mark.as.i64;
    turn(bolt, lateness);
    bolt->next = 0;
    int rc = close_ended(bolt, out);
    return rc == 0 ? pass_on(bolt, out) : rc;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    unique *bolt = self;
    if (gale_tuple_is_tick(tuple)) return tell_all(bolt, out);
    if (strcmp(gale_tuple_stream(tuple), "watermark") == 0) return take_watermark(bolt, tuple, out);
    return take(bolt, tuple, out);
}

static int bolt_finish(void *self, gale_collector *out) {
    return tell_all(self, out);
}

/* --- What lasts: the watermark, the map of each length, the windows ---------------------------------------------------- */

static int bolt_save(void *self, gale_saver *to) {
    const unique *bolt = self;
    const gale_value head[3] = { gale_i64(bolt->mark), gale_i64(bolt->passed_on), gale_i64(bolt->given->length_count) };
    int rc = gale_save(to, head, 3);
    for (uint32_t i = 0; rc >= 0 && i < bolt->given->length_count; i++) {
        const gale_value length = gale_i64(bolt->spans[i].length);
        rc = gale_save(to, &length, 1);
        if (rc >= 0) rc = gx_rotation_save(&bolt->spans[i].rotation, bolt->spans[i].counted, 0, to);
    }
    return rc < 0 ? rc : gx_windows_save(&bolt->windows, to);
}

static bool owns(void *user, const gx_recall *recall, gale_str key) {
    unique *bolt = user;
    return gx_rotation_owns_packed(recall, key, PREFIX, bolt->given->key.count, &bolt->key);
}

static int other_windows(const gx_recall *recall) {
    gx_define_report(recall->out, "%s: the windows had other lengths when they were saved", who);
    return GALE_STATE;
}

/* Tasks that are others than before pass on their watermarks anew. */
static int restore_head(unique *bolt, gx_recall *recall) {
    const gale_value *v;
    int rc = gx_recall_one(recall, "iin", &v);
    if (rc < 0) return rc;
    for (int i = 0; i < 2; i++)
        if (v[i].as.i64 != INT64_MIN && (v[i].as.i64 < -TIME_MAX || v[i].as.i64 > TIME_MAX))
            return gx_recall_refuse(recall, "has a watermark that is none");
    if (v[0].as.i64 > bolt->mark) bolt->mark = v[0].as.i64;
    bolt->passed_on = gx_recall_is_same(recall) ? v[1].as.i64 : INT64_MIN;
    return v[2].as.i64 == bolt->given->length_count ? GALE_OK : other_windows(recall);
}

static int restore_span(unique *bolt, span *s, gx_recall *recall) {
    const gale_value *v;
    int rc = gx_recall_one(recall, "n", &v);
    if (rc < 0) return rc;
    if (v[0].as.i64 != s->length) return other_windows(recall);
    return gx_rotation_restore(&s->rotation, s->counted, 0, recall, !bolt->restored, owns, bolt);
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    unique *bolt = self;
    gx_recall recall = { from, out, who, bolt->instance.context, 0 };
    int rc = restore_head(bolt, &recall);
    for (uint32_t i = 0; rc >= 0 && i < bolt->given->length_count; i++)
        rc = restore_span(bolt, &bolt->spans[i], &recall);
    bolt->restored = true;
    return rc < 0 ? rc : gx_windows_restore(&bolt->windows, &recall, gx_recall_inherits(&recall));
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
    .name = "unique bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

/* --- The definition ----------------------------------------------------------------------------------------------- */

static int add_length(settings *made, gale_str word, gale_error *error) {
    int64_t length = 0;
    bool number = word.size > 0 && word.size < 11;
    for (size_t i = 0; i < word.size && number; i++) {
        number = word.data[i] >= '0' && word.data[i] <= '9';
        length = 10 * length + (word.data[i] - '0');
    }
    if (!number || length < 1 || length > WINDOW_MAX)
        return gale_error_set(error, GALE_INVALID, "unique bolt: windows has '%.*s', must be seconds, 1 to %d",
                              GX_STR(word), WINDOW_MAX);
    for (uint32_t i = 0; i < made->length_count; i++) {
        if (made->lengths[i] == length)
            return gale_error_set(error, GALE_INVALID, "unique bolt: windows has %lld twice", (long long)length);
    }
    if (made->length_count == SPANS_MAX)
        return gale_error_set(error, GALE_INVALID, "unique bolt: windows has more than %d lengths", SPANS_MAX);
    made->lengths[made->length_count++] = length;
    return 0;
}

static int read_lengths(settings *made, const char *windows, gale_error *error) {
    gale_str rest = gx_str(windows), word;
    int rc = 0;
    while (rc >= 0 && gx_str_next(&rest, ',', &word)) rc = add_length(made, word, error);
    return rc;
}

static int check(const gale_unique_options *given, settings *made, gale_error *error) {
    const char *time = given->time ? given->time : "time";
    int rc = gx_fields_parse(given->key, "unique bolt: key", &made->key, error);
    if (rc >= 0) rc = gx_fields_parse(time, "unique bolt: time", &made->time, error);
    if (rc >= 0 && made->time.count != 1)
        rc = gale_error_set(error, GALE_INVALID, "unique bolt: time names %u fields, must name one: '%s'",
                            made->time.count, time);
    if (rc >= 0) rc = read_lengths(made, given->windows ? given->windows : "60", error);
    if (rc >= 0 && given->emit_seconds > INT32_MAX)
        rc = gale_error_set(error, GALE_INVALID, "unique bolt: emit_seconds is %u, at most %d", given->emit_seconds,
                            INT32_MAX);
    made->tick = gx_define_tick(given->emit_seconds ? given->emit_seconds : 1);
    return rc;
}

int gale_unique_bolt(const gale_unique_options *options, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_output outputs[] = {
        [STREAM_COUNTS] = { NULL, "window, start, new" }, [STREAM_WATERMARK] = { "watermark", "mark, task, tasks" }
    };
    if (!ret_bolt) return gx_define_nowhere("unique bolt", error);
    gale_unique_options given;
    settings made = { .length_count = 0 };
    int rc = gx_options_take(&given, sizeof given, options, "unique bolt: options", error);
    if (rc >= 0) rc = check(&given, &made, error);
    if (rc < 0) return rc;
    settings *user = gx_define_user(&made, sizeof made, "unique bolt", error);
    if (!user) return GALE_NO_MEMORY;
    gale_bolt bolt = gx_define_bolt(&ops, user, outputs, 2);
    bolt.settings = &user->tick;
    bolt.setting_count = 1;
    *ret_bolt = bolt;
    return 0;
}
