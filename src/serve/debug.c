#include "serve/debug.h"

#include "base/log.h"
#include "base/os/thread.h"
#include "serve/tap_ring.h"
#include "tuple/json.h"

#include <stdlib.h>

/* One tap. Whoever ends it says so by `over`; then the thread frees it, behind what was put. */
typedef struct listener {
    struct listener *next; /* the one before: the thread alone takes out */
    gale_tap tap;
    gx_tap_ring *ring;
    gx_atomic32 over;
    uint64_t told; /* how many were dropped; the thread's */
} listener;

typedef struct state {
    gx_atomic32 percent; /* thousandths */
    listener *now;       /* under the lock; NULL: it is off */
} state;

struct gx_debug {
    gale_runtime *runtime;
    const gx_parts *parts;
    const gale_logger *logger;
    gx_thread thread;
    gx_monitor monitor; /* of what follows */
    listener *list;
    bool closed;
    state states[]; /* by part */
};

/* --- The thread ------------------------------------------------------------------------------------------------------ */

static void tell(const gx_debug *debug, const gx_tap_shape *shape, const gx_tap_tuple *tuple) {
    const gale_body *body = gx_tap_tuple_body(tuple);
    gx_buf line = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&line);
    gx_json_open(&json, '[');
    for (uint32_t i = 0; i < gale_body_count(body); i++) {
        gale_value value = gale_body_value(body, i);
        gx_json_value(&json, &value);
    }
    gx_json_close(&json, ']');
    const char *text = gx_buf_text(&line);
    gale_log(debug->logger, GALE_LOG_INFO, shape->component, "emits to %s: %s", shape->streams[tuple->stream].name,
             text ? text : "no memory for a line");
    gx_buf_fini(&line);
}

static void tell_dropped(const gx_debug *debug, listener *l) {
    uint64_t dropped = gx_tap_ring_dropped(l->ring);
    if (dropped == l->told) return;
    gale_log(debug->logger, GALE_LOG_INFO, gx_tap_ring_shape(l->ring)->component,
             "emitted %llu more, too many or too large for the log", (unsigned long long)(dropped - l->told));
    l->told = dropped;
}

/* False: it is over, and was the last time. */
static bool empty(const gx_debug *debug, listener *l) {
    bool over = gx_load_acquire(&l->over);
    gx_tap_tuple *tuple;
    while ((tuple = gx_tap_ring_take(l->ring))) {
        if (gx_log_wanted(debug->logger, GALE_LOG_INFO)) tell(debug, gx_tap_ring_shape(l->ring), tuple);
        free(tuple);
    }
    tell_dropped(debug, l);
    return !over;
}

static void take_out(gx_debug *debug, listener *l) {
    gx_monitor_lock(&debug->monitor);
    listener **at = &debug->list;
    while (*at != l) at = &(*at)->next;
    *at = l->next;
    gx_monitor_unlock(&debug->monitor);
    gx_tap_ring_release(l->ring);
    free(l);
}

static void empty_all(gx_debug *debug, listener *list) {
    while (list) {
        listener *next = list->next;
        if (!empty(debug, list)) take_out(debug, list);
        list = next;
    }
}

static void *run(void *user) {
    gx_debug *debug = user;
    gx_monitor_lock(&debug->monitor);
    while (debug->list || !debug->closed) {
        listener *list = debug->list;
        gx_monitor_unlock(&debug->monitor);
        empty_all(debug, list);
        gx_monitor_lock(&debug->monitor);
        if (!debug->closed) gx_monitor_wait(&debug->monitor, debug->list ? GX_DEBUG_PERIOD : -1);
    }
    gx_monitor_unlock(&debug->monitor);
    return NULL;
}

/* --- One component, under the lock ----------------------------------------------------------------------------------- */

static int begin_tap(gx_debug *debug, const gx_part *part, double percent, listener *l) {
    const gale_tap_options options = { .size = sizeof options,
                                       .component = part->name,
                                       .percent = percent,
                                       .on_event = gx_tap_ring_on_event,
                                       .free_user = gx_tap_ring_let_go,
                                       .user = l->ring };
    int rc = gale_runtime_tap(debug->runtime, &options, &l->tap, NULL);
    if (rc < 0) gx_tap_ring_let_go(l->ring);
    return rc;
}

static gx_tap_ring *new_ring(const gx_part *part) {
    gx_tap_shape *shape = gx_tap_shape_new(part, NULL);
    gx_tap_ring *ring = shape ? gx_tap_ring_new(shape) : NULL;
    if (!ring) gx_tap_shape_free(shape);
    return ring;
}

static int begin(gx_debug *debug, const gx_part *part, double percent, listener **ret_made) {
    listener *made = calloc(1, sizeof *made);
    if (made) made->ring = new_ring(part);
    int rc = made && made->ring ? begin_tap(debug, part, percent, made) : GALE_NO_MEMORY;
    if (rc >= 0) {
        made->next = debug->list;
        debug->list = *ret_made = made;
        return rc;
    }
    if (made && made->ring) gx_tap_ring_release(made->ring);
    free(made);
    return rc;
}

static void end(gx_debug *debug, listener *l) {
    if (!l) return;
    (void)gale_runtime_tap_end(debug->runtime, l->tap);
    gx_store_release(&l->over, 1);
}

static int set_one(gx_debug *debug, const gx_part *part, double percent) {
    state *s = &debug->states[part - debug->parts->parts];
    end(debug, s->now);
    s->now = NULL;
    gx_store_relaxed(&s->percent, 0);
    int rc = percent > 0 ? begin(debug, part, percent, &s->now) : GALE_OK;
    if (rc >= 0) gx_store_relaxed(&s->percent, (uint32_t)(percent * 1000));
    return rc;
}

/* --- All ------------------------------------------------------------------------------------------------------------- */

gx_debug *gx_debug_new(gale_runtime *runtime, const gx_parts *parts, const gale_logger *logger) {
    gx_debug *debug = calloc(1, sizeof *debug + parts->count * sizeof *debug->states);
    if (!debug || !gx_monitor_init(&debug->monitor)) return free(debug), NULL;
    debug->runtime = runtime;
    debug->parts = parts;
    debug->logger = logger;
    return debug;
}

void gx_debug_free(gx_debug *debug) {
    if (!debug) return;
    gx_monitor_lock(&debug->monitor);
    for (uint32_t i = 0; i < debug->parts->count; i++) end(debug, debug->states[i].now);
    debug->closed = true;
    gx_monitor_notify(&debug->monitor);
    gx_monitor_unlock(&debug->monitor);
    if (debug->thread.started) gx_thread_join(&debug->thread, -1);
    gx_monitor_fini(&debug->monitor);
    free(debug);
}

static int set_under_lock(gx_debug *debug, const gx_part *part, double percent) {
    if (!debug->thread.started && !gx_thread_start(&debug->thread, "gale-debug", run, debug)) return GALE_NO_MEMORY;
    int rc = part ? set_one(debug, part, percent) : GALE_OK;
    for (uint32_t i = 0; !part && rc >= 0 && i < debug->parts->count; i++)
        if (debug->parts->parts[i].built) rc = set_one(debug, &debug->parts->parts[i], percent);
    return rc;
}

int gx_debug_set(gx_debug *debug, const gx_part *part, double percent) {
    gx_monitor_lock(&debug->monitor);
    int rc = set_under_lock(debug, part, percent);
    gx_monitor_notify(&debug->monitor);
    gx_monitor_unlock(&debug->monitor);
    return rc;
}

double gx_debug_of(const gx_debug *debug, const gx_part *part) {
    return gx_load_relaxed(&debug->states[part - debug->parts->parts].percent) / 1000.0;
}
