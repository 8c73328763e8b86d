/* Lines that belong together, joined to one: gale_join_lines_bolt. Lines are held until their event is whole; it is emitted
 * anchored to all of them, and then they are acked. So an event that is lost comes again with all its lines, and in a durable
 * run what is open goes on with the engine's held tuples. */
#include "base/utf8.h"
#include "kit/fields.h"
#include "kit/open_events.h"
#include "kit/recall.h"
#include "script/matcher.h"

#include <gale_script.h>
#include <stdlib.h>

static const char who[] = "join lines";

typedef enum mode { STARTS, CONTINUES, ENDS } mode;

typedef struct settings {
    gx_fields fields; /* what goes out; that of the lines is at `place` */
    gx_fields line, key;
    uint32_t place;
    mode mode;
    gx_pattern *pattern;
    uint32_t max_lines;
    uint64_t max_bytes, max_keys;
    int64_t timeout;
    gale_output output;
    gale_setting tick;
    size_t separator_size;
    bool separator_is_text;
    char separator[64];
} settings;

typedef struct joiner {
    gx_instance instance;
    const settings *given;
    gx_matcher *matcher;
    gx_open_events events;
    gx_field_places places, line_places, key_places;
    gx_buf key, text;
    int64_t renew_after; /* of the trees' timeouts */
    uint64_t cut, early,
        hard; /* events cut at a limit; emitted for want of keys; lines that the pattern could not be asked of */
} joiner;

/* --- The task --- */

static void tell_count(const joiner *bolt, uint64_t count, const char *what) {
    const gale_context *context = bolt->instance.context;
    if (count) gale_log(context->logger, GALE_LOG_WARN, context->component, "%llu %s", (unsigned long long)count, what);
}

static void bolt_cleanup(void *self) {
    joiner *bolt = self;
    tell_count(bolt, bolt->cut, "times an event was cut at maxLines or maxBytes, and went on as another one");
    tell_count(bolt, bolt->early, "events were emitted before they were whole, for want of maxKeys");
    tell_count(bolt, bolt->hard, "lines on which the pattern took too much counted as not matching");
    if (bolt->events.heap) gx_open_events_fini(&bolt->events);
    gx_matcher_free(bolt->matcher);
    gx_buf_fini(&bolt->key);
    gx_buf_fini(&bolt->text);
    gx_define_instance_free(bolt);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    joiner *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    gx_heap *heap = &bolt->instance.heap;
    bolt->given = user;
    bolt->key = (gx_buf)GX_BUF_INIT(heap);
    bolt->text = (gx_buf)GX_BUF_INIT(heap);
    bolt->renew_after = (int64_t)(gale_config_f64(context->config, "topology.message.timeout.secs", 30) / 3 * 1e9);
    bolt->matcher = gx_matcher_new(heap, bolt->given->pattern);
    if (!bolt->matcher || !gx_open_events_init(&bolt->events, heap, gale_context_random(context))) {
        bolt_cleanup(bolt);
        return GALE_NO_MEMORY;
    }
    *ret_self = bolt;
    return GALE_OK;
}

/* Says it the first time; how often it was is told at the end. */
static void note(const joiner *bolt, uint64_t *count, const char *what) {
    const gale_context *context = bolt->instance.context;
    if ((*count)++ == 0) gale_log(context->logger, GALE_LOG_WARN, context->component, "%s", what);
}

/* --- An event goes on --- */

static gale_value line_of(joiner *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_value line = gale_null();
    (void)gx_fields_take(&bolt->given->line, &bolt->line_places, who, tuple, out, &line); /* it was looked at */
    return line;
}

/* The lines, with the separator in between. What is made of bytes is bytes, unless it is text all the same. */
static bool join(joiner *bolt, const gx_open_event *event, gale_collector *out, gale_value *ret_text) {
    bool is_text = bolt->given->separator_is_text;
    gx_buf_reset(&bolt->text);
    for (uint32_t i = 0; i < event->count; i++) {
        const gale_tuple *tuple = gale_held(out, event->lines[i]);
        if (!tuple) continue;
        gale_value line = line_of(bolt, tuple, out);
        if (i) gx_buf_add(&bolt->text, bolt->given->separator, bolt->given->separator_size);
        gx_buf_add(&bolt->text, line.as.string, line.size);
        is_text &= line.type == GALE_TYPE_STRING;
    }
    if (bolt->text.failed) return false;
    const char *text = bolt->text.data ? bolt->text.data : "";
    is_text = is_text || gx_utf8_valid(text, bolt->text.size);
    *ret_text = is_text ? gale_string(text, bolt->text.size) : gale_bytes(text, bolt->text.size);
    return true;
}

static int emit_event(joiner *bolt, const gx_open_event *event, gale_collector *out) {
    gale_value values[GX_FIELDS_MAX];
    const gale_tuple *first = gale_held(out, event->lines[0]);
    if (!first) return GALE_SETTLED;
    int rc = gx_fields_take(&bolt->given->fields, &bolt->places, who, first, out, values);
    if (rc >= 0 && !join(bolt, event, out, &values[bolt->given->place])) rc = GALE_NO_MEMORY;
    if (rc < 0) return rc;
    return gale_emit_anchored(out, 0, values, bolt->given->fields.count, event->lines, event->count);
}

/* The event is over: it is emitted, and its lines are answered. */
static void close_event(joiner *bolt, gx_open_event *event, gale_collector *out) {
    int rc = emit_event(bolt, event, out);
    int32_t reason = rc == GALE_NO_MEMORY ? GALE_REASON_NO_MEMORY : GALE_REASON_FAILED;
    for (uint32_t i = 0; i < event->count; i++) {
        if (rc >= 0)
            (void)gale_ack(out, event->lines[i]);
        else
            (void)gale_fail(out, event->lines[i], reason, "the event that the line belongs to could not be emitted");
    }
    gx_open_events_forget(&bolt->events, event);
}

static bool has_waited(const joiner *bolt, int64_t until) {
    return bolt->events.first && bolt->events.first->last <= until;
}

/* Events to which nothing was added since, in parts. */
static int close_until(joiner *bolt, int64_t until, gale_collector *out) {
    while (has_waited(bolt, until)) {
        close_event(bolt, bolt->events.first, out);
        if (has_waited(bolt, until) && gale_part_is_full(out)) return GALE_MORE;
    }
    return GALE_OK;
}

static int take_tick(joiner *bolt, gale_collector *out) {
    int64_t now = gale_context_now(bolt->instance.context);
    if (close_until(bolt, now - bolt->given->timeout, out) == GALE_MORE) return GALE_MORE;
    gx_open_events_renew(&bolt->events, now, bolt->renew_after, out);
    return GALE_OK;
}

/* --- A line --- */

static bool matches(joiner *bolt, const gale_value *line) {
    gale_str text = { line->as.string, line->size };
    int rc = gx_matcher_find(bolt->matcher, text, line->type == GALE_TYPE_STRING);
    if (rc < 0) note(bolt, &bolt->hard, "the pattern took too much on a line, which counts as one that does not match");
    return rc > 0;
}

static int key_of(joiner *bolt, const gale_tuple *tuple, gale_collector *out, gale_str *ret_key) {
    gale_value values[GX_FIELDS_MAX];
    const gx_fields *fields = &bolt->given->key;
    *ret_key = (gale_str){ "", 1 };
    if (!fields->count) return GALE_OK;
    int rc = gx_fields_take(fields, &bolt->key_places, who, tuple, out, values);
    gale_value all = fields->count == 1 ? values[0] : gale_list(values, fields->count);
    return rc < 0 ? rc : gx_key_of(&all, &bolt->key, ret_key);
}

static bool is_full(const joiner *bolt, const gx_open_event *event, size_t more) {
    return event->count >= bolt->given->max_lines || event->bytes + more > bolt->given->max_bytes;
}

/* The event that the line goes on with, when it does not begin another one. */
static gx_open_event *go_on(joiner *bolt, gx_open_event *event, bool match, size_t more, gale_collector *out) {
    bool begins = bolt->given->mode == STARTS ? match : bolt->given->mode == CONTINUES && !match;
    if (!event) return NULL;
    bool full = !begins && is_full(bolt, event, more);
    if (full)
        note(bolt, &bolt->cut,
             "an event is as long as maxLines or maxBytes allow; it is cut here, and goes on as another one");
    if (!begins && !full) return event;
    close_event(bolt, event, out);
    return NULL;
}

static gx_open_event *begin_event(joiner *bolt, gale_str key, int64_t now, gale_collector *out) {
    if (gx_open_events_count(&bolt->events) >= bolt->given->max_keys) {
        note(bolt, &bolt->early,
             "as many keys as maxKeys allows have open events; the one that has waited longest is emitted");
        close_event(bolt, bolt->events.first, out);
    }
    return gx_open_events_make(&bolt->events, key, now);
}

/* Holds the tuple, as a line of its event. On an error nothing is held. */
static int add_line(joiner *bolt, gx_open_event *event, gale_handle tuple, size_t bytes, int64_t now,
                    gale_collector *out) {
    gale_handle held = 0;
    int rc = gx_open_event_reserve(&bolt->events, event) ? gale_tuple_hold(out, tuple, &held) : GALE_NO_MEMORY;
    if (rc >= 0)
        gx_open_event_add(&bolt->events, event, held, bytes, now);
    else if (!event->count)
        gx_open_events_forget(&bolt->events, event);
    return rc;
}

static int take(joiner *bolt, const gale_tuple *tuple, gale_collector *out) {
    const settings *given = bolt->given;
    gale_value values[GX_FIELDS_MAX];
    gale_str key;
    int rc = gx_fields_take(&given->fields, &bolt->places, who, tuple, out, values);
    gale_value line = values[given->place];
    if (rc >= 0 && line.type != GALE_TYPE_STRING && line.type != GALE_TYPE_BYTES)
        rc = gx_define_wrong_type(out, who, tuple, bolt->places.at[given->place], "string or bytes");
    if (rc >= 0) rc = key_of(bolt, tuple, out, &key);
    if (rc < 0) return rc;
    bool match = matches(bolt, &line);
    int64_t now = gale_context_now(bolt->instance.context);
    size_t bytes = line.size + given->separator_size;
    gx_open_event *event = go_on(bolt, gx_open_events_find(&bolt->events, key), match, bytes, out);
    if (!event) event = begin_event(bolt, key, now, out);
    rc = event ? add_line(bolt, event, gale_tuple_handle(tuple), bytes, now, out) : GALE_NO_MEMORY;
    if (rc >= 0 && given->mode == ENDS && match) close_event(bolt, event, out);
    return rc;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    return gale_tuple_is_tick(tuple) ? take_tick(self, out) : take(self, tuple, out);
}

/* No more lines come: events are over, some in each call. */
static int bolt_drain(void *self, gale_collector *out) {
    enum { AT_ONCE = 64 };
    joiner *bolt = self;
    for (int i = 0; i < AT_ONCE && bolt->events.first; i++) close_event(bolt, bolt->events.first, out);
    return GALE_OK;
}

static int bolt_finish(void *self, gale_collector *out) {
    return close_until(self, INT64_MAX, out);
}

/* --- What lasts: of each event, in their order, when its last line came, and the handles of its lines ------------------ */

static int bolt_save(void *self, gale_saver *to) {
    return gx_open_events_save(&((joiner *)self)->events, to);
}

static int look_at_saved(void *user, const gale_tuple *line, gale_collector *out, gale_str *ret_key,
                         size_t *ret_bytes) {
    joiner *bolt = user;
    gale_value values[GX_FIELDS_MAX];
    int rc = gx_fields_take(&bolt->given->fields, &bolt->places, who, line, out, values);
    if (rc >= 0) rc = key_of(bolt, line, out, ret_key);
    if (rc >= 0) *ret_bytes = values[bolt->given->place].size + bolt->given->separator_size;
    return rc;
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    joiner *bolt = self;
    gx_recall recall = { from, out, who, bolt->instance.context, 0 };
    return gx_open_events_restore(&bolt->events, &recall, look_at_saved, bolt);
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
    .name = "join lines bolt",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .drain = bolt_drain,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

/* --- The definition --------------------------------------------------------------------------------------------------- */

static void free_settings(void *user) {
    settings *made = user;
    gx_pattern_free(made->pattern);
    free(made);
}

static int find_line(settings *made, gale_error *error) {
    gale_str name = gx_fields_name(made->line.count ? &made->line : &made->fields, 0);
    for (; made->place < made->fields.count; made->place++)
        if (gx_str_equal(gx_fields_name(&made->fields, made->place), name)) break;
    if (made->place == made->fields.count)
        return gale_error_set(error, GALE_INVALID, "%s: field: '%.*s' is not among the fields", who, GX_STR(name));
    char text[GX_FIELDS_TEXT];
    memcpy(text, name.data, name.size);
    text[name.size] = 0;
    return gx_fields_parse_one(text, "join lines: field", &made->line, error);
}

static int take_fields(settings *made, const gale_join_lines_options *given, gale_error *error) {
    int rc = gx_fields_parse(given->fields, "join lines: fields", &made->fields, error);
    if (rc >= 0) rc = gx_fields_parse_one(given->field, "join lines: field", &made->line, error);
    if (rc >= 0) rc = find_line(made, error);
    if (rc >= 0 && given->key && *given->key) rc = gx_fields_parse(given->key, "join lines: key", &made->key, error);
    return rc;
}

static int take_pattern(settings *made, const gale_join_lines_options *given, gale_error *error) {
    const char *texts[3] = { given->start, given->go_on, given->end };
    static const char *const names[3] = { "join lines: start", "join lines: continue", "join lines: end" };
    int chosen = -1;
    for (int i = 0; i < 3; i++) {
        if (!texts[i]) continue;
        if (chosen >= 0)
            return gale_error_set(error, GALE_INVALID, "%s: start, continue and end exclude each other", who);
        chosen = i;
    }
    if (chosen < 0)
        return gale_error_set(error, GALE_INVALID, "%s: there is no pattern: give start, continue or end", who);
    made->mode = (mode)chosen;
    return gx_pattern_new(texts[chosen], names[chosen], &made->pattern, error);
}

static int take_limits(settings *made, const gale_join_lines_options *given, gale_error *error) {
    const char *separator = given->separator ? given->separator : "\n";
    double timeout = given->timeout != 0 ? given->timeout : 1;
    if (strlen(separator) >= sizeof made->separator)
        return gale_error_set(error, GALE_INVALID, "%s: separator has %zu bytes, at most %zu", who, strlen(separator),
                              sizeof made->separator - 1);
    if (!(timeout >= 0.01 && timeout <= 1e6))
        return gale_error_set(error, GALE_INVALID, "%s: timeout is %g seconds, must be 0.01 to 1e+06", who, timeout);
    made->separator_size = strlen(separator);
    memcpy(made->separator, separator, made->separator_size);
    made->separator_is_text = gx_utf8_valid(separator, made->separator_size);
    made->max_lines = given->max_lines ? given->max_lines : 500;
    made->max_bytes = given->max_bytes ? given->max_bytes : 1 << 20;
    made->max_keys = given->max_keys ? given->max_keys : 1000;
    made->timeout = (int64_t)(timeout * 1e9);
    made->tick = gx_define_tick(1);
    made->tick.value = gale_f64(timeout / 2 < 1 ? timeout / 2 : 1);
    return GALE_OK;
}

int gale_join_lines_bolt(const gale_join_lines_options *options, gale_bolt *ret_bolt, gale_error *error) {
    gale_join_lines_options given;
    if (!ret_bolt) return gx_define_nowhere(who, error);
    settings *made = calloc(1, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    int rc = gx_options_take(&given, sizeof given, options, "join lines: options", error);
    if (rc >= 0) rc = take_fields(made, &given, error);
    if (rc >= 0) rc = take_limits(made, &given, error);
    if (rc >= 0) rc = take_pattern(made, &given, error);
    if (rc < 0) {
        free_settings(made);
        return rc;
    }
    made->output = (gale_output){ NULL, made->fields.text };
    *ret_bolt = gx_define_bolt(&ops, made, &made->output, 1);
    ret_bolt->free_user = free_settings;
    ret_bolt->settings = &made->tick;
    ret_bolt->setting_count = 1;
    return GALE_OK;
}
