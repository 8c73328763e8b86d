/* Each tuple is held, and its record added to the log; what came together is written in one call and acked when it is safe. Tuples that
 * find no room wait, held, and those who feed the bolt with them. */
#include "connect/spool/sink.h"

#include "base/str.h"
#include "connect/spool/fill.h"
#include "connect/spool/opening.h"
#include "connect/spool/spool.h"
#include "kit/define.h"
#include "kit/recall.h"
#include "tuple/body.h"

#include <gale/connect.h>
#include <gale/watch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AGAIN_AFTER GALE_SECOND

static const char who[] = "disk buffer";

typedef struct settings {
    int64_t disk;
    uint64_t memory;
    char path[GX_FILE_PATH_MAX];
} settings;

/* A tuple that is held. */
typedef struct waiting {
    uint64_t id;     /* of the dispatch; 0: it was failed */
    uint64_t number; /* of its record; 0: it was not added */
} waiting;

/* Whether it is well. */
typedef enum ail {
    WELL,
    NEARLY_FULL,
    HELD, /* tuples find no room */
} ail;

typedef struct sink {
    gx_instance instance;
    const settings *given;
    gale_collector *out;
    gx_spool *spool;
    gale_dispatch *dispatch;
    waiting *ring; /* in order; the capacity is a power of two */
    size_t capacity, first, count;
    size_t added; /* so many of them, the first */
    gale_watch news, timer;
    gx_spool_fill fill;
    ail ails;
    int64_t wish_at; /* not before */
    bool broken;     /* the run is to stop */
} sink;

/* --- Tuples that wait ------------------------------------------------------------------------------------------------ */

static waiting *at(const sink *s, size_t index) {
    return &s->ring[(s->first + index) & (s->capacity - 1)];
}

static bool has_room(sink *s) {
    enum { SMALLEST = 64 };
    if (s->count < s->capacity) return true;
    size_t capacity = s->capacity ? 2 * s->capacity : SMALLEST;
    waiting *ring = gx_alloc_array(&s->instance.heap, GX_TAG_OTHER, capacity, sizeof *ring);
    if (!ring) return false;
    for (size_t i = 0; i < s->count; i++) ring[i] = *at(s, i);
    gx_free(&s->instance.heap, GX_TAG_OTHER, s->ring, s->capacity * sizeof *ring);
    s->ring = ring;
    s->capacity = capacity;
    s->first = 0;
    return true;
}

static void push(sink *s, uint64_t id, uint64_t number) {
    s->count++;
    *at(s, s->count - 1) = (waiting){ id, number };
}

static void pop(sink *s) {
    s->first = (s->first + 1) & (s->capacity - 1);
    s->count--;
    s->added--;
}

/* --- Whether it is well ---------------------------------------------------------------------------------------------- */

/* Words are said once: what changes meanwhile is in the figures. */
static void say(sink *s, ail ails, const char *words) {
    if (s->ails != ails) gale_health(s->out, words);
    s->ails = ails;
}

/* Nothing finds no room. */
static void say_fill(sink *s) {
    char words[GALE_FAILURE_TEXT];
    if (s->fill.nearly) gx_spool_fill_say(&s->fill, &s->spool->log, words);
    say(s, s->fill.nearly ? NEARLY_FULL : WELL, s->fill.nearly ? words : NULL);
}

static void try_again(sink *s) {
    (void)gale_watch_set(s->out, s->timer, 0, gale_context_now(s->instance.context) + AGAIN_AFTER);
}

static void stop(sink *s, int rc, gale_error *error) {
    s->broken = true;
    if (!error->length) gale_error_set(error, rc, "%s: %s", who, gale_error_text(rc));
    gale_error_add(error, "%s: what it could not keep was not acked", who);
    gale_stop(s->out, rc, error->text);
}

static void say_full(sink *s) {
    char words[GALE_FAILURE_TEXT];
    uint64_t n = s->fill.records_now;
    snprintf(words, sizeof words,
             "is full: %" PRIu64 " record%s wait%s in %" PRId64
             " bytes (disk) of '%.60s', and those before it until some are answered",
             n, gx_plural(n), n == 1 ? "s" : "", s->given->disk, s->spool->log.path);
    say(s, HELD, words);
}

/* The reason stands at the end of the system's words, behind a path that may be long. */
static void say_no_room(sink *s, const char *why) {
    enum { MOST = 150 };
    char words[GALE_FAILURE_TEXT];
    size_t size = strlen(why);
    snprintf(words, sizeof words, "%s; it goes on when there is room", why + (size > MOST ? size - MOST : 0));
    say(s, HELD, words);
}

/* In a durable run segments go when a checkpoint lasts; in an outage none do, and wishes would be all that the run does. */
static void wish(sink *s) {
    int64_t now = gale_context_now(s->instance.context);
    if (now < s->wish_at) return;
    s->wish_at = now + GALE_SECOND;
    gale_wish_checkpoint(s->out);
}

static void face(sink *s, int rc, bool full, gale_error *error) {
    if (rc != GALE_AGAIN && rc != GALE_NO_MEMORY && !full) {
        stop(s, rc, error);
        return;
    }
    if (rc == GALE_AGAIN)
        say_full(s);
    else
        say_no_room(s, error->text);
    wish(s);
    gx_spool_stir(s->spool);
    try_again(s);
}

/* --- Writing and answering ------------------------------------------------------------------------------------------- */

static void refuse_large(sink *s, waiting *w) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "%s: the tuple is larger than all of it (disk: %" PRId64 " bytes)", who,
             s->given->disk);
    (void)gale_dispatch_fail(s->dispatch, w->id, GALE_REASON_REJECTED, text);
    w->id = 0;
}

static int add_some(sink *s, gale_error *error) {
    for (; s->added < s->count; s->added++) {
        waiting *w = at(s, s->added);
        const gale_tuple *tuple = gale_dispatch_tuple(s->dispatch, w->id);
        if (!tuple) continue;
        int rc = gx_spool_log_add(&s->spool->log, tuple->body, gx_body_size(tuple->body), &w->number, error);
        if (rc == GALE_TOO_LARGE)
            refuse_large(s, w);
        else if (rc < 0)
            return rc;
    }
    return 0;
}

/* A spout that is done is told first, so that the run does not end before it has heard. */
static void answer(sink *s) {
    gale_error error = GALE_ERROR_INIT;
    uint64_t safe;
    bool asleep;
    int rc = gx_spool_safe(s->spool, &safe, &asleep, &error);
    if (rc < 0 && !s->broken) stop(s, rc, &error);
    if (rc < 0 || !s->added || at(s, 0)->number >= safe) return;
    if (asleep) {
        gx_spool_ring(s->spool, GX_SPOOL_SPOUT);
        return;
    }
    while (s->added && at(s, 0)->number < safe) {
        uint64_t id = at(s, 0)->id;
        pop(s);
        if (id) (void)gale_dispatch_ack(s->dispatch, id);
    }
}

static void pump(sink *s) {
    gale_error error = GALE_ERROR_INIT;
    if (s->broken) return;
    uint64_t before = s->spool->log.written;
    int added = add_some(s, &error);
    bool full = s->spool->log.full; /* a write that finds room clears it, as when a segment has gone since */
    int written = gx_spool_log_write(&s->spool->log, added < 0 ? NULL : &error);
    gx_spool_fill_look(&s->fill, &s->spool->log);
    if (added < 0)
        face(s, added, full, &error);
    else if (written < 0)
        face(s, written, s->spool->log.full, &error);
    else
        say_fill(s);
    if (s->spool->log.written != before) gx_spool_wrote(s->spool);
    answer(s);
}

/* --- What it is told ------------------------------------------------------------------------------------------------- */

static int told_of_news(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    sink *s = user;
    (void)out, (void)watch, (void)events;
    gx_wake_drain(&s->spool->wakes[GX_SPOOL_SINK]);
    pump(s);
    return 0;
}

static int told_of_time(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    pump(user);
    return 0;
}

static int watch(sink *s) {
    gale_watch_options news = GALE_WATCH_OPTIONS_INIT, timer = GALE_WATCH_OPTIONS_INIT;
    news.fd = s->spool->wakes[GX_SPOOL_SINK].fd;
    news.events = GALE_WATCH_READ;
    news.call = told_of_news;
    timer.call = told_of_time;
    news.always = timer.always = true;
    news.user = timer.user = s;
    int rc = gale_watch_new(s->out, &news, &s->news);
    return rc < 0 ? rc : gale_watch_new(s->out, &timer, &s->timer);
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *s = self;
    uint64_t id;
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, gale_tuple_handle(tuple));
    if (!has_room(s)) return GALE_NO_MEMORY;
    int rc = gale_dispatch_hold(s->dispatch, tuple, gx_body_size(tuple->body), &id);
    if (rc < 0) return rc;
    push(s, id, 0);
    return 0;
}

static int bolt_flush(void *self, gale_collector *out) {
    (void)out;
    pump(self);
    return 0;
}

/* --- A task's life --------------------------------------------------------------------------------------------------- */

static void free_sink(sink *s) {
    gale_dispatch_free(s->dispatch);
    if (s->news) (void)gale_watch_free(s->out, s->news);
    if (s->timer) (void)gale_watch_free(s->out, s->timer);
    if (s->spool) gx_spool_leave(s->spool, GX_SPOOL_SINK);
    gx_free(&s->instance.heap, GX_TAG_OTHER, s->ring, s->capacity * sizeof *s->ring);
    gx_define_instance_free(s);
}

/* Of a run that drained, these came from the finish of bolts before it. */
static void bolt_cleanup(void *self) {
    sink *s = self;
    const gale_context *context = s->instance.context;
    gx_spool_fill_look(&s->fill, &s->spool->log);
    uint64_t n = s->fill.records_now;
    if (n)
        gale_log(context->logger, GALE_LOG_INFO, context->component,
                 "'%s': %" PRIu64 " record%s stay%s for the next run", s->spool->log.path, n, gx_plural(n),
                 n == 1 ? "s" : "");
    free_sink(s);
}

static int open_sink(sink *s, gale_error *error) {
    gale_dispatch_options options = GALE_DISPATCH_OPTIONS_INIT;
    options.memory = s->given->memory;
    int rc = gale_dispatch_new(s->instance.context, s->out, &options, &s->dispatch, error);
    if (rc == 0) rc = gx_spool_join(s->given->path, s->instance.context, GX_SPOOL_SINK, &s->spool, error);
    if (rc < 0) return rc;
    gx_spool_log_limit(&s->spool->log, s->given->disk);
    gx_spool_fill_begin(&s->fill, s->out);
    gx_spool_fill_look(&s->fill, &s->spool->log);
    return watch(s);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    sink *s = gx_define_instance(context, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->out = out;
    int rc = open_sink(s, &error);
    if (rc < 0) {
        gx_spool_report(context, out, &error);
        free_sink(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

/* --- What lasts ------------------------------------------------------------------------------------------------------ */

static int prepare_pledge(void *pledge, gale_error *error) {
    gx_spool *spool = pledge;
    return gx_spool_log_sync(&spool->log, error);
}

static void drop_pledge(void *pledge) {
    gx_spool_drop(pledge);
}

static const gale_pledge_ops pledge_ops = {
    .size = sizeof(gale_pledge_ops),
    .prepare = prepare_pledge,
    .drop = drop_pledge,
};

/* How many records are written, and how many of the tuples that are held have theirs among them, which are the last. */
static int bolt_save(void *self, gale_saver *to) {
    sink *s = self;
    pump(s);
    uint64_t written = s->spool->log.written;
    size_t kept = 0;
    while (kept < s->added && at(s, kept)->number < written) kept++;
    const gale_value record[] = { gale_i64((int64_t)written - 1), gale_i64((int64_t)kept) };
    int rc = gale_save(to, record, 2);
    if (rc == 0) rc = gale_dispatch_save(s->dispatch, to);
    if (rc < 0) return rc;
    gx_spool_keep(s->spool);
    return gale_save_pledge(to, &pledge_ops, s->spool);
}

static int take_again(void *user, uint64_t id, const gale_tuple *tuple) {
    sink *s = user;
    (void)tuple;
    if (!has_room(s)) return GALE_NO_MEMORY;
    push(s, id, 0);
    return 0;
}

static int cut_back(sink *s, uint64_t last) {
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_spool_log_cut(&s->spool->log, last, &error);
    if (rc == GALE_STATE)
        gx_spool_report_apart(s->instance.context, s->out, &error);
    else if (rc < 0)
        gx_spool_report(s->instance.context, s->out, &error);
    return rc;
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    sink *s = self;
    gx_recall recall = { from, out, who, s->instance.context, 0 };
    const gale_value *v;
    int rc = gx_recall_one(&recall, "nn", &v);
    if (rc < 0) return rc;
    uint64_t last = (uint64_t)v[0].as.i64, kept = (uint64_t)v[1].as.i64;
    rc = cut_back(s, last);
    if (rc == 0) rc = gale_dispatch_restore(s->dispatch, from, take_again, s);
    if (rc < 0) return rc;
    if (kept > s->count || kept > last) return gx_recall_refuse(&recall, "has more records than tuples");
    for (size_t i = 0; i < kept; i++) at(s, i)->number = last - kept + 1 + i;
    s->added = kept;
    return gale_watch_set(out, s->timer, 0, gale_context_now(s->instance.context));
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = bolt_save,
    .restore = bolt_restore,
};

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "disk buffer bolt",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .flush = bolt_flush,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

int gx_spool_sink(const gx_spool_sink_options *options, gale_bolt *ret_bolt, gale_error *error) {
    size_t size = options->path ? strlen(options->path) : 0;
    if (!size || size + 2 * GX_SPOOL_NAME > GX_FILE_PATH_MAX)
        return gale_error_set(error, GALE_INVALID, "%s: path has %zu bytes, must have 1 to %d", who, size,
                              GX_FILE_PATH_MAX - 2 * GX_SPOOL_NAME);
    if (options->disk < GX_SPOOL_LIMIT_LEAST)
        return gale_error_set(error, GALE_INVALID, "%s: disk is %" PRId64 " bytes, must be %" PRId64 " at least", who,
                              options->disk, GX_SPOOL_LIMIT_LEAST);
    settings given = { .disk = options->disk, .memory = options->memory };
    memcpy(given.path, options->path, size);
    settings *made = gx_define_user(&given, sizeof given, who, error);
    if (!made) return GALE_NO_MEMORY;
    *ret_bolt = gx_define_bolt(&ops, made, NULL, 0);
    return 0;
}
