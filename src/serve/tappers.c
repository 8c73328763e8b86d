#include "serve/tappers.h"

#include "base/os/thread.h"
#include "base/os/time.h"
#include "base/utf8.h"
#include "serve/member.h"
#include "serve/served.h"
#include "serve/tap_where.h"
#include "tuple/json.h"

#include <stdio.h>
#include <stdlib.h>

/* One tap. `over` is written with the guard held; all else is the thread's. */
typedef struct tapper {
    gale_tap tap;
    gx_atomic32 over; /* the engine's has ended */
    gx_tap_ring *ring;
    gx_tap_where *where; /* or NULL */
    gx_outflow *flow;
    int64_t interval, due; /* ns of the tuples' time: what the expression takes is shown no more often */
    int64_t wrote;         /* monotonic */
    uint64_t told;         /* how many were dropped */
    bool failed;           /* the expression did, and that was told */
} tapper;

struct gx_tappers {
    gx_served *served;
    gx_monitor monitor; /* of what follows */
    gx_thread thread;
    tapper *list[GX_TAPPERS_MAX];
    uint32_t count;
    int64_t until;      /* monotonic, from the end on; 0: it has not come */
    gx_buf line, sound; /* the thread's */
};

/* --- Lines ----------------------------------------------------------------------------------------------------------- */

static void add_head(gx_json *json, const tapper *t, const gx_tap_tuple *tuple) {
    const gx_tap_shape *shape = gx_tap_ring_shape(t->ring);
    gx_json_open(json, '{');
    gx_member_number(json, "time", (double)tuple->when / 1e9);
    gx_member_text(json, "component", shape->component);
    gx_member_count(json, "task", tuple->task);
    gx_member_text(json, "stream", shape->streams[tuple->stream].name);
}

/* A number would lose its last digits in a browser. */
static void add_message_id(gx_json *json, const gx_tap_tuple *tuple) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)tuple->message_id);
    gx_member_text(json, "message_id", tuple->tracked ? text : NULL);
}

static void add_values(gx_json *json, const tapper *t, const gx_tap_tuple *tuple) {
    const gx_tap_stream *stream = &gx_tap_ring_shape(t->ring)->streams[tuple->stream];
    const gale_body *body = gx_tap_tuple_body(tuple);
    gx_member_open(json, "values", '{');
    for (uint32_t i = 0; i < stream->field_count && i < gale_body_count(body); i++) {
        gale_value value = gale_body_value(body, i);
        gx_json_key(json, stream->field_names[i]);
        gx_json_value(json, &value);
    }
    gx_json_close(json, '}');
}

/* A component's text may be any bytes; JSON is UTF-8. */
static gale_str make_sound(gx_tappers *tappers) {
    gale_str rest = { tappers->line.data, tappers->line.size };
    if (gx_utf8_valid(rest.data, rest.size)) return rest;
    gx_buf_reset(&tappers->sound);
    while (rest.size) {
        size_t good = gx_utf8_prefix(rest.data, rest.size), bad = good < rest.size;
        gx_buf_add(&tappers->sound, rest.data, good);
        if (bad) gx_buf_add_text(&tappers->sound, "\xef\xbf\xbd");
        rest = (gale_str){ rest.data + good + bad, rest.size - good - bad };
    }
    return (gale_str){ tappers->sound.data, tappers->sound.size };
}

/* Ends the line and writes it; what there is no memory for is told as dropped by the next. */
static void write_line(gx_tappers *tappers, tapper *t, gx_json *json) {
    uint64_t dropped = gx_tap_ring_dropped(t->ring);
    gx_member_count(json, "dropped", dropped - t->told);
    gx_json_close(json, '}');
    gx_buf_add_byte(&tappers->line, '\n');
    bool written = !tappers->line.failed && gx_outflow_write(t->flow, make_sound(tappers));
    t->told = written ? dropped : t->told - 1;
    t->wrote = gx_os_monotonic();
}

static void show(gx_tappers *tappers, tapper *t, const gx_tap_tuple *tuple) {
    gx_buf_reset(&tappers->line);
    gx_json json = gx_json_to(&tappers->line);
    add_head(&json, t, tuple);
    add_message_id(&json, tuple);
    add_values(&json, t, tuple);
    write_line(tappers, t, &json);
}

static void tell_failure(gx_tappers *tappers, tapper *t, const gx_tap_tuple *tuple, const gale_error *error) {
    if (t->failed) return;
    t->failed = true;
    gx_buf_reset(&tappers->line);
    gx_json json = gx_json_to(&tappers->line);
    add_head(&json, t, tuple);
    gx_member_text(&json, "error", error->text);
    write_line(tappers, t, &json);
}

/* --- One tap --------------------------------------------------------------------------------------------------------- */

/* The clock of the day may be set back. */
static bool is_due(tapper *t, int64_t when) {
    if (when < t->due && when >= t->due - t->interval) return false;
    t->due = when + t->interval;
    return true;
}

static void look_at(gx_tappers *tappers, tapper *t, const gx_tap_tuple *tuple) {
    gale_error error = GALE_ERROR_INIT;
    int rc = t->where ? gx_tap_where_takes(t->where, tuple, &error) : 1;
    if (rc < 0)
        tell_failure(tappers, t, tuple, &error);
    else if (rc && (!t->where || is_due(t, tuple->when)))
        show(tappers, t, tuple);
}

static bool is_late(gx_tappers *tappers) {
    gx_monitor_lock(&tappers->monitor);
    bool late = tappers->until && gx_os_monotonic() >= tappers->until;
    gx_monitor_unlock(&tappers->monitor);
    return late;
}

/* True when the ring is empty; false when the reader is to read first, or time is up. */
static bool pour(gx_tappers *tappers, tapper *t) {
    while (gx_outflow_waiting(t->flow) < GX_TAPPERS_WAITING && !is_late(tappers)) {
        gx_tap_tuple *tuple = gx_tap_ring_take(t->ring);
        if (!tuple) return true;
        look_at(tappers, t, tuple);
        free(tuple);
    }
    return false;
}

static void break_silence(tapper *t) {
    int64_t now = gx_os_monotonic();
    if (now - t->wrote < GX_TAPPERS_SILENCE || gx_outflow_waiting(t->flow)) return;
    t->wrote = now;
    (void)gx_outflow_write(t->flow, (gale_str){ "\n", 1 });
}

/* False: it is to go. What was put before the end is shown. */
static bool feed(gx_tappers *tappers, tapper *t) {
    bool over = gx_load_acquire(&t->over);
    if (gx_outflow_is_left(t->flow)) return false;
    bool empty = pour(tappers, t);
    if (over && (empty || is_late(tappers))) return false;
    break_silence(t);
    return true;
}

static void end_tap(gx_served *served, tapper *t) {
    if (!gx_load_relaxed(&t->over)) (void)gale_runtime_tap_end(served->runtime, t->tap);
    gx_store_release(&t->over, 1);
}

static void free_tapper(tapper *t) {
    gx_tap_where_free(t->where);
    gx_tap_ring_release(t->ring);
    gx_outflow_end(t->flow);
    free(t);
}

/* --- The thread ------------------------------------------------------------------------------------------------------ */

static void remove_one(gx_tappers *tappers, tapper *t) {
    pthread_rwlock_rdlock(&tappers->served->guard);
    end_tap(tappers->served, t);
    pthread_rwlock_unlock(&tappers->served->guard);
    gx_monitor_lock(&tappers->monitor);
    uint32_t at = 0;
    while (tappers->list[at] != t) at++;
    tappers->list[at] = tappers->list[--tappers->count];
    gx_monitor_unlock(&tappers->monitor);
    free_tapper(t);
}

static void feed_all(gx_tappers *tappers) {
    tapper *list[GX_TAPPERS_MAX];
    gx_monitor_lock(&tappers->monitor);
    uint32_t count = tappers->count;
    memcpy(list, tappers->list, sizeof list);
    gx_monitor_unlock(&tappers->monitor);
    for (uint32_t i = 0; i < count; i++)
        if (!feed(tappers, list[i])) remove_one(tappers, list[i]);
}

static void *run(void *user) {
    gx_tappers *tappers = user;
    for (;;) {
        feed_all(tappers);
        gx_monitor_lock(&tappers->monitor);
        while (!tappers->count && !tappers->until) gx_monitor_wait(&tappers->monitor, -1);
        bool done = !tappers->count;
        if (!done) gx_monitor_wait(&tappers->monitor, GX_TAPPERS_PERIOD);
        gx_monitor_unlock(&tappers->monitor);
        if (done) return NULL;
    }
}

/* --- All ------------------------------------------------------------------------------------------------------------- */

gx_tappers *gx_tappers_new(gx_served *served) {
    gx_tappers *tappers = calloc(1, sizeof *tappers);
    if (tappers && gx_monitor_init(&tappers->monitor)) return tappers->served = served, tappers;
    free(tappers);
    return NULL;
}

void gx_tappers_end_all(gx_tappers *tappers) {
    gx_monitor_lock(&tappers->monitor);
    for (uint32_t i = 0; i < tappers->count; i++) end_tap(tappers->served, tappers->list[i]);
    gx_monitor_notify(&tappers->monitor);
    gx_monitor_unlock(&tappers->monitor);
}

uint32_t gx_tappers_count(gx_tappers *tappers) {
    gx_monitor_lock(&tappers->monitor);
    uint32_t count = tappers->count;
    gx_monitor_unlock(&tappers->monitor);
    return count;
}

bool gx_tappers_free(gx_tappers *tappers, int64_t until) {
    if (!tappers) return true;
    gx_monitor_lock(&tappers->monitor);
    tappers->until = until;
    gx_monitor_notify(&tappers->monitor);
    bool started = tappers->thread.started;
    gx_monitor_unlock(&tappers->monitor);
    int64_t now = gx_os_monotonic(), left = until > now ? until - now : 0;
    if (started && !gx_thread_join(&tappers->thread, left + GX_TAPPERS_RETURN)) return false;
    gx_buf_fini(&tappers->line);
    gx_buf_fini(&tappers->sound);
    gx_monitor_fini(&tappers->monitor);
    free(tappers);
    return true;
}

/* Under the lock. */
static int add(gx_tappers *tappers, tapper *t, gale_error *error) {
    if (tappers->until) return gale_error_set(error, GALE_AGAIN, "the run ends");
    if (tappers->count == GX_TAPPERS_MAX)
        return gale_error_set(error, GALE_AGAIN, "%d taps are open, which is all that there may be: ask again later",
                              GX_TAPPERS_MAX);
    if (!tappers->thread.started && !gx_thread_start(&tappers->thread, "gale-taps", run, tappers))
        return gale_error_set(error, GALE_AGAIN, "out of threads");
    tappers->list[tappers->count++] = t;
    gx_monitor_notify(&tappers->monitor);
    return GALE_OK;
}

static int begin_engine_tap(gale_runtime *runtime, const gx_tapper_options *options, tapper *t, gale_error *error) {
    const gale_tap_options wanted = { .size = sizeof wanted,
                                      .component = options->part->name,
                                      .stream = options->stream,
                                      .per_second = t->where ? 0 : options->rate,
                                      .on_event = gx_tap_ring_on_event,
                                      .free_user = gx_tap_ring_let_go,
                                      .user = t->ring };
    return gale_runtime_tap(runtime, &wanted, &t->tap, error);
}

/* All but the engine's. */
static tapper *make(const gx_tapper_options *options, gale_error *error) {
    tapper *t = calloc(1, sizeof *t);
    gx_tap_shape *shape = gx_tap_shape_new(options->part, options->stream);
    if (shape && !(t && (t->ring = gx_tap_ring_new(shape)))) gx_tap_shape_free(shape);
    if (t && t->ring) t->flow = gx_outflow_new();
    int rc = t && t->flow ? GALE_OK : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    if (rc >= 0 && options->where.size)
        rc = gx_tap_where_new(gx_tap_ring_shape(t->ring), options->where, &t->where, error);
    if (rc >= 0) return t;
    if (t && t->ring) gx_tap_ring_release(t->ring), gx_tap_ring_release(t->ring);
    if (t && t->flow) gx_outflow_leave(t->flow), gx_outflow_end(t->flow);
    free(t);
    return NULL;
}

int gx_tappers_begin(gx_tappers *tappers, const gx_tapper_options *options, gx_outflow **ret_flow, gale_error *error) {
    tapper *t = make(options, error);
    if (!t) return error->code;
    t->interval = GALE_SECOND / options->rate;
    t->wrote = gx_os_monotonic();
    int rc = begin_engine_tap(tappers->served->runtime, options, t, error);
    if (rc < 0) {
        gx_tap_ring_release(t->ring);
    } else {
        gx_monitor_lock(&tappers->monitor);
        rc = add(tappers, t, error);
        gx_monitor_unlock(&tappers->monitor);
        if (rc >= 0) return *ret_flow = t->flow, rc;
        end_tap(tappers->served, t);
    }
    gx_outflow_leave(t->flow);
    free_tapper(t);
    return rc;
}
