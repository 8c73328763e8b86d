/* Messages of Redis's channels to tuples: gale.spout.RedisSubscribe. The server keeps none for who is away, and knows no answers: what comes while there is no connection is
 * lost, which is told when there is one again. */
#include "connect/redis/link.h"
#include "connect/redis/redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 3, CHANNELS_MAX = 1000 };
enum { PAYLOAD, CHANNEL, PATTERN };
static const char *const names[] = { "payload", "channel", "pattern", NULL };

/* A definition's block. */
typedef struct settings {
    redis_settings redis; /* first */
    redis_texts channels, patterns;
    gale_names emit;
    gale_output output;
    uint64_t memory;
    uint32_t attempts;
} settings;

typedef struct spout {
    redis_link link;
    const settings *given;
    const gale_context *context;
    gale_collector *out;
    gale_intake *intake;
    gale_watch timer;         /* of the next PING */
    const redis_reply *found; /* a message that memory was out for */
    size_t confirmed;         /* so many subscriptions are */
    bool was_away;
} spout;

/* --- The connection ----------------------------------------------------------------------------------------------------------- */

static size_t wanted(const spout *s) {
    return s->given->channels.count + s->given->patterns.count;
}

static void add_words(redis_text *to, const char *command, const redis_texts *list) {
    if (!list->count) return;
    redis_text_command(to, 1 + list->count);
    redis_text_words(to, command, NULL);
    for (size_t i = 0; i < list->count; i++) redis_text_words(to, list->texts[i], NULL);
}

static void set_timer(spout *s) {
    (void)gale_watch_set(s->out, s->timer, 0, gale_context_now(s->context) + s->given->redis.wire.timeout / 2);
}

static void be_ready(void *user) {
    spout *s = user;
    redis_text text = { .data = NULL };
    s->confirmed = 0;
    s->link.pushes = true;
    add_words(&text, "SUBSCRIBE", &s->given->channels);
    add_words(&text, "PSUBSCRIBE", &s->given->patterns);
    int rc = text.failed ? GALE_NO_MEMORY : redis_link_ask(&s->link, text.data, text.size, 1);
    redis_text_free(&text);
    set_timer(s);
    if (rc < 0) redis_link_fail(&s->link, gale_error_text(rc));
}

/* `next`, which is called behind this, takes them. */
static void hear(void *user) {
    redis_link_pause(&((spout *)user)->link, true);
}

static void lose(void *user) {
    spout *s = user;
    s->was_away = s->was_away || s->confirmed;
    s->confirmed = 0;
    s->found = NULL;
}

static const redis_link_ops of_link = { be_ready, hear, NULL, lose };

/* Nothing comes of itself where nobody publishes: a server that does not answer this is gone. */
static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    spout *s = user;
    static const char ping[] = "*1\r\n$4\r\nPING\r\n";
    (void)out, (void)watch, (void)events;
    set_timer(s);
    if (!s->link.ready || s->link.wire.paused || s->link.waiting) return 0;
    (void)redis_link_ask(&s->link, ping, sizeof ping - 1, 1);
    redis_link_flush(&s->link);
    return 0;
}

/* --- Messages ------------------------------------------------------------------------------------------------------------------ */

static bool is_kind(const redis_reply *reply, const char *kind, size_t count) {
    return reply->kind == REDIS_LIST && reply->count == count && reply->items[0].kind == REDIS_TEXT &&
           strcmp(reply->items[0].text.data, kind) == 0;
}

static void be_answered(spout *s) {
    s->link.waiting = 0;
    wire_expect(&s->link.wire, false);
}

static void be_confirmed(spout *s) {
    if (++s->confirmed < wanted(s)) return;
    be_answered(s);
    if (s->was_away)
        gale_log(s->context->logger, GALE_LOG_WARN, s->context->component,
                 "%s: messages of the time without a connection are lost", s->given->redis.wire.where);
    redis_link_well(&s->link);
}

static gale_value text_of(const redis_reply *reply) {
    return reply->kind == REDIS_TEXT ? gale_text_or_bytes(reply->text.data, reply->text.size) : gale_null();
}

/* ["message", channel, payload], or ["pmessage", pattern, channel, payload]. */
static int take(spout *s, const redis_reply *message) {
    gale_value values[FIELDS_MAX + 1];
    for (size_t i = 0; i < s->given->emit.count; i++) {
        switch (s->given->emit.places[i]) {
        case PAYLOAD: values[i] = text_of(&message->items[message->count - 1]); break;
        case CHANNEL: values[i] = text_of(&message->items[message->count - 2]); break;
        default: values[i] = message->count == 4 ? text_of(&message->items[1]) : gale_null(); break;
        }
    }
    values[s->given->emit.count] = text_of(&message->items[message->count - 2]); /* for its name */
    return gale_intake_take(s->intake, values, s->given->emit.count + 1, 0, 0);
}

/* Channels give messages no numbers. */
static void name_row(void *user, const gale_answered *answered, char *to, size_t size) {
    const spout *s = user;
    size_t kept = s->given->emit.count;
    gale_str channel = { "", 0 };
    if (answered->count > kept && answered->values[kept].type != GALE_TYPE_NULL)
        channel = (gale_str){ answered->values[kept].as.bytes, answered->values[kept].size };
    snprintf(to, size, "message%s%.*s", channel.size ? " of " : "", channel.size < 100 ? (int)channel.size : 100,
             channel.data);
}

/* False: memory is out for it, or the connection is. */
static bool hear_one(spout *s, const redis_reply *reply) {
    if (is_kind(reply, "message", 3) || is_kind(reply, "pmessage", 4)) {
        int rc = take(s, reply);
        s->found = rc == GALE_NO_MEMORY ? reply : NULL;
        if (rc < 0 && !s->found) gale_report(s->out, "a message is too large, and is left out");
        return !s->found;
    }
    if (is_kind(reply, "subscribe", 3) || is_kind(reply, "psubscribe", 3))
        be_confirmed(s);
    else if (is_kind(reply, "pong", 2))
        be_answered(s);
    else if (reply->kind == REDIS_WRONG)
        redis_link_refuse(&s->link, reply);
    else
        redis_link_fail(&s->link, "it says what it was not asked");
    return s->link.ready;
}

static bool step(spout *s) {
    const redis_reply *reply = s->found ? s->found : s->link.ready ? redis_link_reply(&s->link) : NULL;
    return reply && hear_one(s, reply);
}

/* --- A task -------------------------------------------------------------------------------------------------------------------- */

static void spout_close(void *self) {
    spout *s = self;
    redis_link_close(&s->link);
    gale_intake_free(s->intake);
    free(s);
}

static int open_timer(spout *s, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.always = true;
    options.call = hear_timer;
    options.user = s;
    int rc = gale_watch_new(s->out, &options, &s->timer);
    return rc < 0 ? gale_error_set(error, rc, "%s: no timer: %s", s->given->redis.wire.where, gale_error_text(rc)) : 0;
}

static int begin(spout *s, gale_error *error) {
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    const redis_task task = { .context = s->context, .out = s->out, .most = 1 << 20 };
    options.memory = s->given->memory;
    options.attempts = s->given->attempts;
    options.emits = s->given->emit.count;
    options.name = name_row;
    options.user = s;
    int rc = gale_intake_new(s->context, s->out, &options, &s->intake, error);
    if (rc < 0 || s->context->task_index) return rc;
    rc = open_timer(s, error);
    return rc < 0 ? rc : redis_link_open(&s->link, &s->given->redis, &task, &of_link, s, error);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    spout *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->context = context;
    s->out = out;
    int rc = begin(s, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        spout_close(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *s = self;
    bool more = true;
    (void)out;
    if (s->context->task_index) return GALE_NEXT_DONE;
    while (gale_intake_wants(s->intake) && (more = step(s))) continue;
    if (!more && !s->found && s->link.ready) redis_link_pause(&s->link, false);
    return s->found ? GALE_NEXT_NOTHING : gale_intake_next(s->intake, wait);
}

static void spout_ack_batch(void *self, const uint64_t *message_ids, size_t count) {
    gale_intake_ack(((spout *)self)->intake, message_ids, count);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    gale_intake_fail(((spout *)self)->intake, message_id, failure);
}

/* --- Checkpoints: what has no answer yet goes along ------------------------------------------------------------------------------ */

static int spout_save(void *self, gale_saver *to) {
    return gale_intake_save(((spout *)self)->intake, to);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gale_intake_restore(((spout *)self)->intake, from, NULL, NULL);
}

static void spout_committed(void *self, uint64_t checkpoint) {
    gale_intake_committed(((spout *)self)->intake, checkpoint);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .save = spout_save,
    .restore = spout_restore,
    .committed = spout_committed,
};

static const gale_spout_ops ops = {
    .size = sizeof ops,
    .name = "redis subscriber",
    .open = spout_open,
    .next = spout_next,
    .ack_batch = spout_ack_batch,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};

/* --- A definition ---------------------------------------------------------------------------------------------------------------- */

static void free_settings(void *user) {
    settings *made = user;
    redis_settings_free(&made->redis);
    redis_texts_free(&made->channels);
    redis_texts_free(&made->patterns);
    free(made);
}

static int read_channels(settings *made, const gale_args *args, gale_error *error) {
    bool channels = gale_args_given(args, "channels"), patterns = gale_args_given(args, "patterns");
    if (!channels && !patterns)
        return gale_error_set(error, GALE_INVALID, "channels: neither they nor `patterns` are given");
    int rc = channels ? redis_texts_make(&made->channels, args, "channels", CHANNELS_MAX, error) : 0;
    return rc == 0 && patterns ? redis_texts_make(&made->patterns, args, "patterns", CHANNELS_MAX, error) : rc;
}

static int fill(settings *made, const gale_args *args, gale_error *error) {
    int rc = redis_settings_make(&made->redis, args, error);
    if (rc == 0) rc = gale_names_read("emit", gale_args_text(args, "emit"), "a message", names, &made->emit, error);
    if (rc == 0) rc = read_channels(made, args, error);
    made->output = (gale_output){ NULL, made->emit.text };
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->attempts = (uint32_t)gale_args_whole(args, "maxAttempts");
    return rc;
}

int redis_make_subscribe(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
    settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = fill(made, args, error);
    if (rc < 0) {
        free_settings(made);
        return rc;
    }
    *ret_spout = (gale_spout){ .size = sizeof *ret_spout,
                               .ops = &ops,
                               .user = made,
                               .free_user = free_settings,
                               .outputs = &made->output,
                               .output_count = 1 };
    return 0;
}
