/* Records from sockets to tuples: gale_net_spout. Message ids are the slots of kit/retry. */
#include "connect/net/datagrams.h"
#include "connect/net/streams.h"
#include "kit/define.h"
#include "kit/pace.h"
#include "kit/recall.h"

#include <inttypes.h>

static const char who[] = "net spout";

typedef struct spout {
    gx_instance instance;
    gale_collector *out;
    const gx_net_settings *given; /* borrowed from the definition, which outlives its tasks */
    gx_net_sent sent;
    gx_pace pace;
    bool streams_open, datagrams_open;
    gx_net_streams streams;
    gx_net_datagrams datagrams;
    gx_net_record record; /* one that memory was out for */
    bool has_record;
    bool full;       /* what is open takes all that it may */
    gale_watch wake; /* for when that is over */
} spout;

static void free_spout(spout *s) {
    if (s->streams_open) gx_net_streams_close(&s->streams);
    if (s->datagrams_open) gx_net_datagrams_close(&s->datagrams);
    gx_net_sent_fini(&s->sent);
    gx_define_instance_free(s);
}

static void spout_close(void *self) {
    spout *s = self;
    const gale_context *context = s->instance.context;
    if (s->sent.other)
        gale_log(context->logger, GALE_LOG_INFO, context->component,
                 "%s: %" PRIu64 " message%s of neither RFC 5424 nor 3164, and went out as they are",
                 s->streams_open ? s->streams.name : s->datagrams.name, s->sent.other,
                 s->sent.other == 1 ? " was" : "s were");
    free_spout(s);
}

/* `next` is asked behind it. */
static int woken(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)user, (void)out, (void)watch, (void)events;
    return 0;
}

static int begin(spout *s, const gale_context *context, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.call = woken;
    int rc = gale_watch_new(s->out, &options, &s->wake);
    if (rc < 0) return gale_error_set(error, rc, "%s: it waits by watches, which there are none of here", who);
    if (gx_net_is_stream(s->given->options.transport)) {
        s->streams_open = true;
        return gx_net_streams_open(&s->streams, s->given, context, s->out, &s->instance.heap, error);
    }
    s->datagrams_open = true;
    return gx_net_datagrams_open(&s->datagrams, s->given, context, s->out, &s->instance.heap, error);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    spout *s = gx_define_instance(context, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    gale_error error = GALE_ERROR_INIT;
    s->out = out;
    s->given = user;
    gx_net_sent_init(&s->sent, &s->instance.heap, out, user);
    gx_pace_init(&s->pace, context);
    int rc = begin(s, context, &error);
    if (rc < 0) {
        if (error.length) gale_report(out, error.text);
        free_spout(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

/* --- Emitting ----------------------------------------------------------------------------------------------------- */

/* The next record is in `record`: 1; or what the connections or datagrams say. */
static int receive(spout *s) {
    if (s->has_record) return 1;
    int rc = s->streams_open ? gx_net_streams_next(&s->streams, &s->record)
                             : gx_net_datagrams_next(&s->datagrams, &s->record);
    s->has_record = rc > 0;
    return rc;
}

/* The same, in a slot. */
static int take(spout *s, uint32_t *ret_id) {
    int rc = receive(s);
    if (rc > 0) rc = gx_net_sent_add(&s->sent, &s->record, ret_id) < 0 ? GALE_NO_MEMORY : 1;
    if (rc > 0) s->has_record = false;
    return rc;
}

/* What `next` says where there is none. */
static int say_nothing(const spout *s, int rc) {
    if (rc == GALE_AGAIN) return GALE_NEXT_NOTHING;
    if (rc < 0) return rc;
    return s->streams_open && gx_net_streams_ended(&s->streams) ? GALE_NEXT_DONE : GALE_NEXT_WATCHED;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *s = self;
    gx_retry *retry = &s->sent.retry;
    uint32_t id;
    s->full = !gx_retry_waiting(retry) && retry->bytes >= s->given->options.memory;
    if (s->full) return GALE_NEXT_WATCHED;
    if (!gx_pace_ready(&s->pace, &wait->until)) return GALE_NEXT_UNTIL;
    int rc = gx_retry_take(retry, &id) ? 1 : take(s, &id);
    if (rc <= 0) return say_nothing(s, rc);
    rc = gx_net_sent_emit(&s->sent, out, id);
    if (rc == GALE_NEXT_EMITTED) gx_pace_step(&s->pace);
    return rc;
}

static void look_for_room(spout *s) {
    if (!s->full || s->sent.retry.bytes >= s->given->options.memory) return;
    s->full = false;
    (void)gale_watch_set(s->out, s->wake, 0, gale_context_now(s->instance.context));
}

static void spout_ack(void *self, uint64_t message_id) {
    spout *s = self;
    gx_retry_ack(&s->sent.retry, message_id);
    look_for_room(s);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    spout *s = self;
    gx_retry_fail(&s->sent.retry, message_id, failure);
    look_for_room(s);
}

/* --- Checkpoints: what was received and not answered ---------------------------------------------------------------- */

/* What was read and not emitted waits like what failed. */
static int queue_rest(spout *s) {
    int rc = s->has_record;
    for (;;) {
        uint32_t id;
        if (rc == 0)
            rc = s->streams_open ? gx_net_streams_rest(&s->streams, &s->record)
                                 : gx_net_datagrams_rest(&s->datagrams, &s->record);
        if (rc <= 0) return rc;
        s->has_record = true;
        rc = gx_net_sent_add(&s->sent, &s->record, &id);
        if (rc < 0) return rc;
        s->has_record = false;
        gx_retry_queue(&s->sent.retry, id);
    }
}

static const char shape[] = "n";

static int spout_save(void *self, gale_saver *to) {
    spout *s = self;
    int rc = queue_rest(s);
    const gale_value number = gale_i64((int64_t)s->sent.number);
    if (rc == 0) rc = gale_save(to, &number, 1);
    return rc < 0 ? rc : gx_retry_save(&s->sent.retry, to);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *s = self;
    gx_recall recall = { from, out, who, s->instance.context, 0 };
    const gale_value *v;
    int rc = gx_recall_one(&recall, shape, &v);
    if (rc < 0) return rc;
    s->sent.number = (uint64_t)v[0].as.i64;
    return gx_retry_recall(&s->sent.retry, &recall);
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .save = spout_save,
    .restore = spout_restore,
};

static const gale_spout_ops ops = {
    .size = sizeof(gale_spout_ops),
    .name = "net spout",
    .open = spout_open,
    .next = spout_next,
    .ack = spout_ack,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};

int gale_net_spout(const gale_net_spout_options *options, gale_spout *ret_spout, gale_error *error) {
    if (!ret_spout) return gx_define_nowhere(who, error);
    gale_net_spout_options given;
    gx_net_settings *made;
    int rc = gx_options_take(&given, sizeof given, options, "net spout: options", error);
    if (rc == 0) rc = gx_net_settings_make(&given, &made, error);
    if (rc == 0) *ret_spout = gx_define_spout(&ops, made, &made->output, 1);
    return rc;
}
