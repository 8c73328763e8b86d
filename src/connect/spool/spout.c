/* Records are read while the intake wants more, and are answered in whatever order; the position is the oldest that is not. In a
 * durable run the intake tells of an ack when a checkpoint has it, and so all that follows does. */
#include "connect/spool/spout.h"

#include "connect/spool/reader.h"
#include "connect/spool/spool.h"
#include "kit/fields.h"
#include "kit/recall.h"

#include <gale/connect.h>
#include <gale/watch.h>
#include <inttypes.h>
#include <string.h>

enum { MEMORY = 8 << 20 };

static const char who[] = "disk buffer";

typedef struct settings {
    gx_fields fields;
    gale_output output;
    uint64_t memory;
    uint32_t attempts;
    char path[GX_FILE_PATH_MAX];
} settings;

typedef struct spout {
    gx_instance instance;
    const settings *given;
    gale_collector *out;
    gx_spool *spool;
    gale_intake *intake;
    gale_positions *positions;
    gx_spool_reader reader;
    gx_spool_record record; /* that was read, and not taken yet; `body` NULL: none */
    gale_watch news, timer;
    gale_backoff backoff;
    int64_t not_before; /* something failed: so long nothing is emitted */
    bool unwell;
    bool broken; /* the run is to stop */
} spout;

/* --- Records --------------------------------------------------------------------------------------------------------- */

static void tell_damage(void *user, const char *text) {
    spout *s = user;
    gale_report(s->out, text);
}

static void say(spout *s, const char *words) {
    if (words || s->unwell) gale_health(s->out, words);
    s->unwell = words != NULL;
}

static int refuse_record(spout *s, const gx_spool_record *record, uint32_t count) {
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, GALE_FIELDS,
                   "%s '%s': record %" PRIu64
                   " has %u values, and there are %u fields ('%s'): the file was changed while "
                   "records waited; run it as it was until they are through",
                   who, s->spool->path.data, record->number, count, s->given->fields.count, s->given->fields.text);
    s->broken = true;
    gale_stop(s->out, error.code, error.text);
    return error.code;
}

static int take_record(spout *s) {
    gale_value values[GALE_INTAKE_VALUES_MAX];
    const gale_body *body = s->record.body;
    uint32_t count = gale_body_count(body);
    if (count != s->given->fields.count) return refuse_record(s, &s->record, count);
    for (uint32_t i = 0; i < count; i++) values[i] = gale_body_value(body, i);
    int rc = gale_positions_begin(s->positions, (int64_t)s->record.number);
    if (rc == 0 || rc == GALE_EXISTS) rc = gale_intake_take(s->intake, values, count, 0, (int64_t)s->record.number);
    if (rc == 0) s->record.body = NULL;
    return rc;
}

/* The number of the first record that was not taken. */
static uint64_t next_number(const spout *s) {
    return s->record.body ? s->record.number : s->reader.number;
}

/* What comes between the two looks is not missed. */
static int read_next(spout *s, gale_error *error) {
    int rc = gx_spool_reader_next(&s->reader, &s->record, error);
    if (rc != 0) return rc;
    gx_spool_hunger(s->spool);
    return gx_spool_reader_next(&s->reader, &s->record, error);
}

/* A record that cannot be taken now waits. */
static int take_some(spout *s) {
    gale_error error = GALE_ERROR_INIT;
    int rc = 1;
    while (rc > 0 && gale_intake_wants(s->intake)) {
        if (!s->record.body) rc = read_next(s, &error);
        int taken = rc > 0 ? take_record(s) : 0;
        if (taken < 0) return taken;
    }
    if (rc <= 0) s->record.body = NULL;
    if (rc == GALE_IO) say(s, error.text);
    if (rc >= 0) say(s, NULL);
    return rc < 0 ? rc : 0;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *s = self;
    (void)out;
    if (s->broken) return GALE_NEXT_WATCHED;
    if (s->not_before > gale_context_now(s->instance.context)) {
        wait->until = s->not_before;
        return GALE_NEXT_UNTIL;
    }
    int rc = take_some(s);
    if (rc < 0) return rc;
    rc = gale_intake_next(s->intake, wait);
    if (rc != GALE_NEXT_WATCHED || gale_intake_count(s->intake)) return rc;
    return gx_spool_sleep(s->spool, next_number(s)) ? GALE_NEXT_DONE : GALE_NEXT_NOTHING;
}

/* --- Answers --------------------------------------------------------------------------------------------------------- */

static void answered(void *user, const gale_answered *row) {
    spout *s = user;
    (void)gale_positions_done(s->positions, row->place);
}

static void move_on(spout *s) {
    int64_t place;
    if (gale_positions_safe(s->positions, &place) == 0) gx_spool_answered(s->spool, (uint64_t)place + 1);
}

static void spout_ack(void *self, const uint64_t *message_ids, size_t count) {
    spout *s = self;
    s->backoff.tries = 0;
    gale_intake_ack(s->intake, message_ids, count);
    move_on(s);
    /* Perhaps it is done: `next` says so. */
    if (!gale_intake_count(s->intake)) (void)gale_watch_set(s->out, s->timer, 0, gale_context_now(s->instance.context));
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    spout *s = self;
    gale_intake_fail(s->intake, message_id, failure);
    s->not_before = gale_context_now(s->instance.context) + gale_backoff_next(&s->backoff, s->instance.context);
    move_on(s);
}

/* --- A task's life --------------------------------------------------------------------------------------------------- */

static int told_of_news(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    spout *s = user;
    (void)out, (void)watch, (void)events;
    gx_wake_drain(&s->spool->wakes[GX_SPOOL_SPOUT]);
    gx_spool_woken(s->spool);
    return 0;
}

/* `next` is asked behind it. */
static int told_of_time(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)user, (void)out, (void)watch, (void)events;
    return 0;
}

static int make_watches(spout *s) {
    gale_watch_options news = GALE_WATCH_OPTIONS_INIT, timer = GALE_WATCH_OPTIONS_INIT;
    news.fd = s->spool->wakes[GX_SPOOL_SPOUT].fd;
    news.events = GALE_WATCH_READ;
    news.always = true;
    news.call = told_of_news;
    news.user = s;
    timer.call = told_of_time;
    int rc = gale_watch_new(s->out, &news, &s->news);
    return rc < 0 ? rc : gale_watch_new(s->out, &timer, &s->timer);
}

static void free_spout(spout *s) {
    gx_spool_reader_fini(&s->reader);
    gale_intake_free(s->intake);
    gale_positions_free(s->positions);
    if (s->news) (void)gale_watch_free(s->out, s->news);
    if (s->timer) (void)gale_watch_free(s->out, s->timer);
    if (s->spool) gx_spool_leave(s->spool, GX_SPOOL_SPOUT);
    gx_define_instance_free(s);
}

static void spout_close(void *self) {
    spout *s = self;
    const gale_context *context = s->instance.context;
    if (s->reader.lost)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "'%s': %" PRIu64 " record%s damaged and passed over in this run", s->spool->log.path, s->reader.lost,
                 s->reader.lost == 1 ? " was" : "s were");
    free_spout(s);
}

static int open_spout(spout *s, gale_error *error) {
    const gale_context *context = s->instance.context;
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.what = "record";
    options.memory = s->given->memory ? s->given->memory : MEMORY;
    options.attempts = s->given->attempts ? s->given->attempts : UINT32_MAX;
    options.answered = answered;
    options.user = s;
    int rc = gale_intake_new(context, s->out, &options, &s->intake, error);
    s->positions = rc < 0 ? NULL : gale_positions_new(context);
    if (rc == 0 && !s->positions) rc = gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    if (rc == 0) rc = gx_spool_join(s->given->path, context, GX_SPOOL_SPOUT, &s->spool, error);
    if (rc < 0) return rc;
    uint64_t position = s->spool->log.position;
    gx_spool_reader_init(&s->reader, &s->spool->log, position, tell_damage, s);
    if (!context->resumes) rc = gale_positions_start(s->positions, (int64_t)position);
    return rc < 0 ? rc : make_watches(s);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    spout *s = gx_define_instance(context, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->out = out;
    int rc = open_spout(s, &error);
    if (rc < 0) {
        gx_spool_report(context, out, &error);
        free_spout(s);
        return rc;
    }
    gale_remember(out);
    *ret_self = s;
    return 0;
}

/* --- What lasts ------------------------------------------------------------------------------------------------------ */

static int spout_save(void *self, gale_saver *to) {
    spout *s = self;
    const gale_value record[] = { gale_i64((int64_t)next_number(s)) };
    int rc = gale_save(to, record, 1);
    return rc < 0 ? rc : gale_intake_save(s->intake, to);
}

static void take_again(void *user, uint32_t source, int64_t place) {
    spout *s = user;
    (void)source;
    (void)gale_positions_begin(s->positions, place);
}

static int refuse_number(const spout *s, uint64_t number) {
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, GALE_STATE,
                   "%s '%s': the checkpoint goes on with record %" PRIu64 ", and those below %" PRIu64 " were let go",
                   who, s->spool->log.path, number, s->spool->log.position);
    gx_spool_report_apart(s->instance.context, s->out, &error);
    return error.code;
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *s = self;
    gx_recall recall = { from, out, who, s->instance.context, 0 };
    const gale_value *v;
    int rc = gx_recall_one(&recall, "n", &v);
    if (rc < 0) return rc;
    uint64_t number = (uint64_t)v[0].as.i64;
    if (number < s->spool->log.position) return refuse_number(s, number);
    gx_spool_reader_fini(&s->reader);
    gx_spool_reader_init(&s->reader, &s->spool->log, number, tell_damage, s);
    rc = gale_intake_restore(s->intake, from, take_again, s);
    /* With nothing open, all before it is done. */
    if (rc == 0 && !gale_intake_count(s->intake)) rc = gale_positions_start(s->positions, (int64_t)number);
    return rc;
}

static void spout_committed(void *self, uint64_t checkpoint) {
    spout *s = self;
    gale_intake_committed(s->intake, checkpoint);
    move_on(s);
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .save = spout_save,
    .restore = spout_restore,
    .committed = spout_committed,
};

static const gale_spout_ops ops = {
    .size = sizeof(gale_spout_ops),
    .name = "disk buffer spout",
    .open = spout_open,
    .next = spout_next,
    .fail = spout_fail,
    .close = spout_close,
    .ack_batch = spout_ack,
    .durable = &durable,
};

int gx_spool_spout(const gx_spool_spout_options *options, gale_spout *ret_spout, gale_error *error) {
    settings given = { .memory = options->memory, .attempts = options->attempts };
    size_t size = options->path ? strlen(options->path) : 0;
    if (!size || size + 2 * GX_SPOOL_NAME > GX_FILE_PATH_MAX)
        return gale_error_set(error, GALE_INVALID, "%s: path has %zu bytes, must have 1 to %d", who, size,
                              GX_FILE_PATH_MAX - 2 * GX_SPOOL_NAME);
    int rc = gx_fields_parse(options->fields, "disk buffer: fields", &given.fields, error);
    if (rc < 0) return rc;
    memcpy(given.path, options->path, size);
    settings *made = gx_define_user(&given, sizeof given, who, error);
    if (!made) return GALE_NO_MEMORY;
    made->output = (gale_output){ NULL, made->fields.text };
    *ret_spout = gx_define_spout(&ops, made, &made->output, 1);
    return 0;
}
