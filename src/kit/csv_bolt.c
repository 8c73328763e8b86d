/* Records of CSV to fields: gale_csv_bolt. A record is a line, or, where that leaves a quote open, several: those
 * are held until the quote is
 * closed, and the record is anchored to all of them. */
#include "base/encoding.h"
#include "base/utf8.h"
#include "kit/csv.h"
#include "kit/open_events.h"
#include "kit/parsed.h"

#include <gale/kit.h>
#include <gale/state.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

typedef struct settings {
    gx_parsed_settings parsed;
    gx_csv_format format;
    gx_fields key;
    bool header, ragged;
    int32_t newlines;
    uint32_t max_lines;
    uint64_t max_bytes, max_keys;
    int64_t timeout;
    gale_setting tick;
} settings;

typedef struct parser {
    gx_parsed parsed;
    gx_buf unquoted, key, text;
    gx_field_places key_places;
    gx_open_events open; /* records that wait for their next lines */
    int64_t renew_after; /* of their trees' timeouts */
    bool gathers;
    bool looked; /* at the first record, for a header */
} parser;

enum { HEADER_SHOWN = 200 }; /* bytes */

static const char who[] = "csv bolt";
static const char not_closed[] = "a quote is not closed";

static const settings *given_to(const parser *bolt) {
    return (const settings *)(const void *)bolt->parsed.given;
}

static void bolt_cleanup(void *self) {
    parser *bolt = self;
    gx_buf_fini(&bolt->unquoted);
    gx_buf_fini(&bolt->key);
    gx_buf_fini(&bolt->text);
    if (bolt->gathers) gx_open_events_fini(&bolt->open);
    gx_parsed_instance_free(bolt);
}

/* The lines of a record follow each other where one task takes them; where there are several, the file says so. */
static bool is_to_gather(const settings *given, const gale_context *context) {
    if (!given->format.quote || given->newlines == GALE_CSV_NEWLINES_ALONE) return false;
    return given->newlines == GALE_CSV_NEWLINES_JOIN || context->task_count == 1;
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    const settings *given = user;
    parser *bolt = gx_parsed_instance(context, sizeof *bolt, &given->parsed);
    if (!bolt) return GALE_NO_MEMORY;
    gx_heap *heap = &bolt->parsed.instance.heap;
    bolt->unquoted = bolt->key = bolt->text = (gx_buf)GX_BUF_INIT(heap);
    bolt->gathers = is_to_gather(given, context);
    bolt->renew_after = (int64_t)(gale_config_f64(context->config, "topology.message.timeout.secs", 30) / 3 * 1e9);
    if (bolt->gathers && !gx_open_events_init(&bolt->open, heap, gale_context_random(context))) {
        bolt_cleanup(bolt);
        return GALE_NO_MEMORY;
    }
    *ret_self = bolt;
    return GALE_OK;
}

/* --- One record --- */

/* Does the record have the names of the columns? */
static bool has_names(parser *bolt, gale_str record) {
    const gx_parsed_settings *given = bolt->parsed.given;
    gx_csv csv = gx_csv_begin(given_to(bolt)->format, record, &bolt->unquoted);
    gale_str column;
    uint32_t count = 0;
    for (; gx_csv_next(&csv, &column); count++)
        if (count == given->count || !gx_str_equal(column, gx_parsed_name(given, count))) return false;
    return count == given->count;
}

/* Is it a field's name, perhaps in letters of another case? */
static bool is_name(const gx_parsed_settings *given, gale_str column) {
    for (uint32_t i = 0; i < given->count; i++) {
        gale_str name = gx_parsed_name(given, i);
        if (name.size == column.size && strncasecmp(name.data, column.data, name.size) == 0) return true;
    }
    return false;
}

/* Does the record look like a header of other names: as many columns, one of which has a field's name? */
static bool has_other_names(parser *bolt, gale_str record) {
    const gx_parsed_settings *given = bolt->parsed.given;
    gx_csv csv = gx_csv_begin(given_to(bolt)->format, record, &bolt->unquoted);
    gale_str column;
    uint32_t count = 0, names = 0;
    for (; gx_csv_next(&csv, &column); count++) names += is_name(given, column);
    return !csv.problem && count == given->count && names;
}

/* The first line of a file, where the tuple has what gale.spout.File emits as `file` and `number`. */
static bool is_first_line(const gale_tuple *tuple) {
    gale_value file, number;
    return tuple && gale_tuple_get(tuple, "number", &number) && number.type == GALE_TYPE_I64 && number.as.i64 == 1 &&
           gale_tuple_get(tuple, "file", &file) && (file.type == GALE_TYPE_STRING || file.type == GALE_TYPE_BYTES);
}

/* Logs about the first record of a task that may be a header. */
static void note_header(parser *bolt, gale_str record, bool first_line) {
    const gale_context *context = bolt->parsed.instance.context;
    int size = (int)gx_utf8_prefix(record.data, record.size < HEADER_SHOWN ? record.size : HEADER_SHOWN);
    if (first_line)
        gale_log(context->logger, GALE_LOG_INFO, context->component,
                 "passes over the first line of each file as its header; this one has other names than `fields`: %.*s",
                 size, record.data);
    else if (has_other_names(bolt, record))
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "the first record looks like a header, but is read as data, since its names are not those of "
                 "`fields`: %.*s; with `file` and `number` in its input, Csv passes over the first line of each file",
                 size, record.data);
}

/* Is the record to be passed over as a header? */
static bool is_header(parser *bolt, gale_str record) {
    if (has_names(bolt, record)) return bolt->looked = true;
    bool first_line = is_first_line(bolt->parsed.tuple);
    if (!bolt->looked) note_header(bolt, record, first_line);
    bolt->looked = true;
    return first_line;
}

/* Says how many columns there are. */
static const char *wrong_count(parser *bolt, gx_csv *csv, uint32_t count) {
    gale_str column;
    while (gx_csv_next(csv, &column)) count++;
    if (csv->problem) return csv->problem;
    snprintf(bolt->parsed.problem, sizeof bolt->parsed.problem, "it has %u column%s, not %u", count, gx_plural(count),
             bolt->parsed.given->count);
    return bolt->parsed.problem;
}

/* Sets the columns; what is wrong with the record, or NULL. */
static const char *parse(parser *bolt, gale_str record) {
    const settings *given = given_to(bolt);
    gx_csv csv = gx_csv_begin(given->format, record, &bolt->unquoted);
    gale_str column;
    uint32_t count = 0;
    for (; count < given->parsed.count && gx_csv_next(&csv, &column); count++)
        if (!gx_parsed_set(&bolt->parsed, count, column)) return bolt->parsed.problem;
    if (given->ragged) {
        gx_parsed_none(&bolt->parsed, count);
        if (csv.rest.data && gx_csv_look(given->format, csv.rest, false) == GX_CSV_OPEN) return not_closed;
    } else if (count < given->parsed.count || csv.rest.data) {
        return wrong_count(bolt, &csv, count);
    }
    return csv.problem;
}

/* A record that is whole: emitted, passed over, or bad. */
static int read_record(parser *bolt, gale_str record, gale_collector *out) {
    if (given_to(bolt)->header && is_header(bolt, record)) return GALE_OK;
    const char *problem = parse(bolt, record);
    if (bolt->unquoted.failed) return GALE_NO_MEMORY;
    return problem ? gx_parsed_refuse(&bolt->parsed, problem, out) : gx_parsed_emit(&bolt->parsed, out);
}

/* --- A record of several lines --- */

/* The text of a held line, and its values to go along. Never refused: it was taken before. A byte order mark is
 * skipped, as the line may begin its source's text. */
static gale_str take_held(parser *bolt, gale_handle line, gale_collector *out) {
    const gale_tuple *tuple = gale_held(out, line);
    gale_str text = { "", 0 };
    if (tuple) (void)gx_parsed_take(&bolt->parsed, tuple, out, &text);
    return text;
}

static bool join(parser *bolt, const gale_handle *lines, size_t count, gale_collector *out) {
    gx_buf_reset(&bolt->text);
    for (size_t i = 0; i < count; i++) {
        gale_str text = take_held(bolt, lines[i], out);
        const gale_value *whole = &bolt->parsed.line;
        if (i) text = gx_encoding_line((gale_str){ whole->as.string, whole->size }); /* in quotes it is a character */
        if (i) gx_buf_add_byte(&bolt->text, '\n');
        gx_buf_add(&bolt->text, text.data, text.size);
    }
    return !bolt->text.failed;
}

static void answer(const gale_handle *lines, size_t count, int rc, gale_collector *out) {
    int32_t reason = rc == GALE_NO_MEMORY ? GALE_REASON_NO_MEMORY : GALE_REASON_FAILED;
    for (size_t i = 0; i < count; i++) {
        if (rc >= 0)
            (void)gale_ack(out, lines[i]);
        else
            (void)gale_fail(out, lines[i], reason, "the record that the line belongs to could not be emitted");
    }
}

/* Held lines that are a record; with a `problem`, that is a bad one. All are answered. */
static void close_record(parser *bolt, const gale_handle *lines, size_t count, const char *problem,
                         gale_collector *out) {
    bolt->parsed.anchors = lines;
    bolt->parsed.anchor_count = count;
    int rc = count == 1 || join(bolt, lines, count, out) ? GALE_OK : GALE_NO_MEMORY;
    gale_str record = take_held(bolt, lines[0], out);
    if (count > 1) {
        record = (gale_str){ bolt->text.data, bolt->text.size };
        gx_parsed_put(&bolt->parsed, record);
    }
    if (rc >= 0) rc = problem ? gx_parsed_refuse(&bolt->parsed, problem, out) : read_record(bolt, record, out);
    bolt->parsed.anchor_count = 0;
    answer(lines, count, rc, out);
}

/* What is read of the lines of an event: records, one after the other. */
typedef struct reading {
    size_t begin, next; /* of the record that is read, and behind it so far */
    size_t bytes;
    bool open;
    const char *why; /* what is open at the end is closed for this; NULL: it waits */
} reading;

/* The first line of the record is bad; the others are read again, as they may be records. */
static void give_up_first(parser *bolt, const gx_open_event *event, reading *r, const char *why, gale_collector *out) {
    close_record(bolt, &event->lines[r->begin], 1, why, out);
    *r = (reading){ .begin = r->begin + 1, .next = r->begin + 1, .why = r->why };
}

static void read_line(parser *bolt, const gx_open_event *event, reading *r, gale_collector *out) {
    const settings *given = given_to(bolt);
    gale_str text = take_held(bolt, event->lines[r->next], out);
    gx_csv_line line = gx_csv_look(given->format, text, r->open);
    size_t count = r->next + 1 - r->begin;
    r->bytes += text.size + 1;
    if (line == GX_CSV_OPEN && (count >= given->max_lines || r->bytes > given->max_bytes)) {
        give_up_first(bolt, event, r, "a quote is not closed within maxLines and maxBytes", out);
    } else if (line == GX_CSV_OPEN) {
        r->open = true;
        r->next++;
    } else if (line == GX_CSV_BROKEN && r->open) {
        give_up_first(bolt, event, r, "a quote is not closed, and the next lines do not go on with it", out);
    } else {
        close_record(bolt, &event->lines[r->begin], count, NULL, out);
        *r = (reading){ .begin = r->next + 1, .next = r->next + 1, .why = r->why };
    }
}

/* Reads all lines of an event; those of a record that is still open stay. */
static void settle(parser *bolt, gx_open_event *event, const char *why, gale_collector *out) {
    reading r = { .why = why };
    while (r.next < event->count || (r.open && why)) {
        if (r.next < event->count)
            read_line(bolt, event, &r, out);
        else
            give_up_first(bolt, event, &r, why, out);
    }
    event->count -= (uint32_t)r.begin;
    event->bytes = r.bytes;
    memmove(event->lines, event->lines + r.begin, event->count * sizeof *event->lines);
    if (!event->count) gx_open_events_forget(&bolt->open, event);
}

static void settle_some(parser *bolt, size_t most, const char *why, gale_collector *out) {
    for (size_t i = 0; i < most && bolt->open.first; i++) settle(bolt, bolt->open.first, why, out);
}

/* --- Lines --- */

/* Lines of another task are another source's. */
static int key_of(parser *bolt, const gale_tuple *tuple, gale_collector *out, gale_str *ret_key) {
    gale_value values[GX_FIELDS_MAX + 1] = { gale_i64(gale_tuple_task(tuple)) };
    const gx_fields *fields = &given_to(bolt)->key;
    int rc = fields->count ? gx_fields_take(fields, &bolt->key_places, who, tuple, out, values + 1) : GALE_OK;
    gale_value all = gale_list(values, fields->count + 1);
    return rc < 0 ? rc : gx_key_of(&all, &bolt->key, ret_key);
}

static gx_open_event *begin_event(parser *bolt, gale_str key, int64_t now, gale_collector *out) {
    if (gx_open_events_count(&bolt->open) >= given_to(bolt)->max_keys)
        settle(bolt, bolt->open.first, "a quote is not closed, and records of maxKeys others are open", out);
    return gx_open_events_make(&bolt->open, key, now);
}

/* Holds the line, as one of its event. On an error nothing is held. */
static int add_line(parser *bolt, gx_open_event *event, const gale_tuple *tuple, size_t bytes, gale_collector *out) {
    gale_handle held = 0;
    bool room = gx_open_event_reserve(&bolt->open, event);
    int rc = room ? gale_tuple_hold(out, gale_tuple_handle(tuple), &held) : GALE_NO_MEMORY;
    if (rc >= 0)
        gx_open_event_add(&bolt->open, event, held, bytes, gale_context_now(bolt->parsed.instance.context));
    else if (!event->count)
        gx_open_events_forget(&bolt->open, event);
    return rc;
}

/* The line may go on with a record that is open. 1: it does, and all is done; 0: there is none. */
static int go_on(parser *bolt, const gale_tuple *tuple, gale_str line, gale_collector *out) {
    const settings *given = given_to(bolt);
    gale_str key;
    int rc = key_of(bolt, tuple, out, &key);
    gx_open_event *event = rc >= 0 ? gx_open_events_find(&bolt->open, key) : NULL;
    if (!event) return rc;
    rc = add_line(bolt, event, tuple, line.size + 1, out);
    if (rc < 0) return rc;
    bool waits = gx_csv_look(given->format, line, true) == GX_CSV_OPEN && event->count < given->max_lines &&
                 event->bytes <= given->max_bytes;
    if (!waits) settle(bolt, event, NULL, out);
    return 1;
}

/* The line begins a record that goes on in the next one. */
static int begin_record(parser *bolt, const gale_tuple *tuple, gale_str line, gale_collector *out) {
    gale_str key;
    int rc = key_of(bolt, tuple, out, &key);
    if (rc < 0) return rc;
    gx_open_event *event = begin_event(bolt, key, gale_context_now(bolt->parsed.instance.context), out);
    rc = event ? add_line(bolt, event, tuple, line.size + 1, out) : GALE_NO_MEMORY;
    if (rc >= 0 && (event->count >= given_to(bolt)->max_lines || event->bytes > given_to(bolt)->max_bytes))
        settle(bolt, event, NULL, out);
    return rc;
}

static int take_tick(parser *bolt, gale_collector *out) {
    int64_t now = gale_context_now(bolt->parsed.instance.context);
    while (bolt->open.first && now - bolt->open.first->last >= given_to(bolt)->timeout)
        settle(bolt, bolt->open.first, "a quote is not closed, and no line came within the timeout", out);
    gx_open_events_renew(&bolt->open, now, bolt->renew_after, out);
    return GALE_OK;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    parser *bolt = self;
    gale_str record;
    if (gale_tuple_is_tick(tuple)) return bolt->gathers ? take_tick(bolt, out) : GALE_OK;
    int rc = gx_parsed_take(&bolt->parsed, tuple, out, &record);
    if (rc <= 0) return rc;
    if (GX_UNLIKELY(bolt->open.first) && (rc = go_on(bolt, tuple, record, out)) != 0) return rc < 0 ? rc : GALE_OK;
    if (given_to(bolt)->header && is_header(bolt, record)) return GALE_OK;
    const char *problem = parse(bolt, record);
    if (bolt->unquoted.failed) return GALE_NO_MEMORY;
    if (!problem) return gx_parsed_emit(&bolt->parsed, out);
    bool opens = bolt->gathers && gx_csv_look(given_to(bolt)->format, record, false) == GX_CSV_OPEN;
    return opens ? begin_record(bolt, tuple, record, out) : gx_parsed_refuse(&bolt->parsed, problem, out);
}

/* --- Its end --- */

static const char at_end[] = "a quote is not closed at the end of the input";

static int bolt_drain(void *self, gale_collector *out) {
    enum { AT_ONCE = 16 };
    parser *bolt = self;
    settle_some(bolt, AT_ONCE, at_end, out);
    return GALE_OK;
}

static int bolt_finish(void *self, gale_collector *out) {
    settle_some(self, SIZE_MAX, at_end, out);
    return GALE_OK;
}

static int bolt_save(void *self, gale_saver *to) {
    return gx_open_events_save(&((parser *)self)->open, to);
}

static int look_at_saved(void *user, const gale_tuple *line, gale_collector *out, gale_str *ret_key,
                         size_t *ret_bytes) {
    parser *bolt = user;
    gale_str text;
    int rc = gx_parsed_take(&bolt->parsed, line, out, &text);
    if (rc == 0) return GALE_DAMAGED; /* such a line was not held */
    if (rc > 0) rc = key_of(bolt, line, out, ret_key);
    if (rc >= 0) *ret_bytes = text.size + 1;
    return rc;
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    parser *bolt = self;
    gx_recall recall = { from, out, who, bolt->parsed.instance.context, 0 };
    const gale_value *v;
    if (bolt->gathers) return gx_open_events_restore(&bolt->open, &recall, look_at_saved, bolt);
    int rc = gx_recall_next(&recall, "iil", &v);
    if (rc <= 0) return rc;
    gx_define_report(out,
                     "%s: the state has a record with an open quote, whose next lines are not read with it any more: "
                     "go on with newlines: join",
                     who);
    return GALE_STATE;
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_PARTS | GALE_DURABLE_OUTSIDE,
    .save = bolt_save,
    .restore = bolt_restore,
};

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "csv bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .drain = bolt_drain,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

static int read_limits(const gale_csv_options *given, settings *made, gale_error *error) {
    double timeout = given->timeout != 0 ? given->timeout : 1;
    if (given->newlines < 0 || given->newlines > GALE_CSV_NEWLINES_ALONE)
        return gale_error_set(error, GALE_INVALID,
                              "%s: newlines is %d, which is none of auto (%d), join (%d), alone (%d)", who,
                              given->newlines, GALE_CSV_NEWLINES_AUTO, GALE_CSV_NEWLINES_JOIN, GALE_CSV_NEWLINES_ALONE);
    if (given->newlines == GALE_CSV_NEWLINES_JOIN && !made->format.quote)
        return gale_error_set(error, GALE_INVALID, "%s: newlines need quotes, and there are none", who);
    if (!(timeout >= 0.01 && timeout <= 1e6))
        return gale_error_set(error, GALE_INVALID, "%s: timeout is %g seconds, must be 0.01 to 1e+06", who, timeout);
    made->newlines = given->newlines;
    made->max_lines = given->max_lines ? given->max_lines : 500;
    made->max_bytes = given->max_bytes ? given->max_bytes : 1 << 20;
    made->max_keys = given->max_keys ? given->max_keys : 1000;
    made->timeout = (int64_t)(timeout * 1e9);
    made->tick = gx_define_tick(1);
    made->tick.value = gale_f64(timeout / 2 < 1 ? timeout / 2 : 1);
    return given->key && *given->key ? gx_fields_parse(given->key, "csv bolt: key", &made->key, error) : GALE_OK;
}

static int read_options(const gale_csv_options *options, settings *made, gale_error *error) {
    gale_csv_options given;
    int rc = gx_options_take(&given, sizeof given, options, "csv bolt: options", error);
    if (rc < 0) return rc;
    made->parsed.who = who;
    made->parsed.what = "CSV record of these fields";
    made->header = given.header;
    made->ragged = given.ragged;
    made->format.separator = gx_parsed_byte(given.separator, ',');
    made->format.quote = given.quote && !*given.quote ? 0 : gx_parsed_byte(given.quote, '"');
    rc = gx_csv_check(made->format, who, error);
    if (rc >= 0) rc = read_limits(&given, made, error);
    const gx_parsed_options parsed = { .field = given.field, .fields = given.fields, .keep = given.keep };
    return rc < 0 ? rc : gx_parsed_settings_read(&made->parsed, &parsed, error);
}

/* Nothing waits where there are no quotes, or each text is a record: then nobody need tell the time. */
static void define_bolt(settings *made, gale_bolt *ret_bolt) {
    *ret_bolt = gx_parsed_define(&ops, &made->parsed);
    if (!made->format.quote || made->newlines == GALE_CSV_NEWLINES_ALONE) return;
    ret_bolt->settings = &made->tick;
    ret_bolt->setting_count = 1;
}

int gale_csv_bolt(const gale_csv_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere(who, error);
    settings *made = calloc(1, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    int rc = read_options(options, made, error);
    if (rc < 0)
        free(made);
    else
        define_bolt(made, ret_bolt);
    return rc;
}
