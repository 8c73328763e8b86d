#include "cli/log_lines.h"

#include "base/json.h"
#include "base/log.h"
#include "base/os/fate.h"
#include "base/secret.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/visible.h"

#include <ctype.h>
#include <gale/clock.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { TIME_SIZE = 40 };

/* --- The form ------------------------------------------------------------------------------------------------------ */

/* As RFC 3339 has it. */
static void format_utc(int64_t now, char out[TIME_SIZE]) {
    time_t seconds = (time_t)(now / GALE_SECOND);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t size = strftime(out, TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out + size, TIME_SIZE - size, ".%03dZ", (int)(now % GALE_SECOND / GALE_MILLISECOND));
}

/* Of today, for who sits before the terminal. */
static void format_local(int64_t now, char out[TIME_SIZE]) {
    time_t seconds = (time_t)(now / GALE_SECOND);
    struct tm local;
    localtime_r(&seconds, &local);
    size_t size = strftime(out, TIME_SIZE, "%H:%M:%S", &local);
    snprintf(out + size, TIME_SIZE - size, ".%03d", (int)(now % GALE_SECOND / GALE_MILLISECOND));
}

/* JSON is UTF-8: a byte that is none is written out. */
static void add_message(gx_json *json, const char *text) {
    gx_buf valid = GX_BUF_INIT(NULL);
    for (size_t size = strlen(text), step; size; text += step, size -= step) {
        step = gx_utf8_step(text, size);
        if (step)
            gx_buf_add(&valid, text, step);
        else
            gx_buf_format(&valid, "\\x%02x", (unsigned char)*text);
        if (!step) step = 1;
    }
    json->out->failed |= valid.failed;
    gx_json_string(json, (gale_str){ valid.data, valid.size });
    gx_buf_fini(&valid);
}

/* What stands between the time and the end. */
static void add_json(gx_buf *body, int32_t level, const char *component, const char *text) {
    gx_json json = gx_json_to(body);
    gx_json_key(&json, gx_str("level"));
    gx_json_string(&json, gx_str(gx_log_level_name(level)));
    gx_json_key(&json, gx_str("component"));
    if (component)
        add_message(&json, component);
    else
        gx_json_null(&json);
    gx_json_key(&json, gx_str("message"));
    add_message(&json, text);
}

static void add_text(gx_buf *body, int32_t level, const char *component, const char *text) {
    for (const char *c = gx_log_level_name(level); *c; c++) gx_buf_add_byte(body, (char)toupper((unsigned char)*c));
    gx_buf_format(body, " %s%s", component ? component : "", component ? ": " : "");
    for (; *text; text++) {
        gx_buf_add_byte(body, *text);
        if (*text == '\n') gx_buf_add_text(body, "  ");
    }
}

/* How often a line came, or how many are like it, besides. */
typedef struct besides {
    uint64_t repeats, alike;
} besides;

static void add_line(const gx_log_lines *lines, int64_t now, const gx_buf *body, besides b, gx_buf *out) {
    char time[TIME_SIZE];
    (lines->json || lines->path ? format_utc : format_local)(now, time);
    if (lines->json) {
        gx_buf_format(out, "{\"time\":\"%s\",", time);
        gx_buf_add(out, body->data, body->size);
        if (b.repeats) gx_buf_format(out, ",\"repeated\":%" PRIu64, b.repeats);
        if (b.alike) gx_buf_format(out, ",\"alike\":%" PRIu64, b.alike);
        gx_buf_add_text(out, "}\n");
        return;
    }
    gx_buf_format(out, "%s ", time);
    gx_buf_add(out, body->data, body->size);
    if (b.repeats) gx_buf_format(out, " (%" PRIu64 " time%s more)", b.repeats, b.repeats == 1 ? "" : "s");
    if (b.alike) gx_buf_format(out, " (and %" PRIu64 " more like it)", b.alike);
    gx_buf_add_text(out, "\n");
}

static void add_body(const gx_log_lines *lines, int32_t level, const char *component, const char *text, gx_buf *body) {
    (lines->json ? add_json : add_text)(body, level, component, text);
}

/* --- Its file ------------------------------------------------------------------------------------------------------ */

int gx_log_lines_open(gx_log_lines *lines, const char *path, gale_error *error) {
    int fd;
    int rc = gx_file_create(path, true, &fd, error);
    if (rc < 0) return rc;
    lines->path = path;
    lines->fd = fd;
    return 0;
}

int gx_log_lines_reopen(gx_log_lines *lines, gale_error *error) {
    int before = lines->fd;
    int rc = lines->path ? gx_log_lines_open(lines, lines->path, error) : 0;
    if (rc == 0 && lines->path) gx_file_close(before);
    return rc;
}

static bool append(const gx_log_lines *lines, const gx_buf *text) {
    gx_buf shown = GX_BUF_INIT(NULL);
    gx_visible_add(&shown, (gale_str){ text->data, text->size }, "\n\t");
    bool whole = !shown.failed && gx_file_append(lines->fd, shown.data, shown.size, lines->path, NULL) == 0;
    gx_buf_fini(&shown);
    return whole;
}

/* Before the first line that it takes again. */
static void tell_lost(gx_log_lines *lines, int64_t now, gx_buf *out) {
    gx_buf body = GX_BUF_INIT(NULL);
    char text[100];
    snprintf(text, sizeof text, "%" PRIu64 " line%s of this log could not be written", lines->lost,
             lines->lost == 1 ? "" : "s");
    add_body(lines, GALE_LOG_WARN, NULL, text, &body);
    if (!body.failed) add_line(lines, now, &body, (besides){ 0 }, out);
    gx_buf_fini(&body);
}

/* What nobody can find is no log. Where it cannot be made anew, lines go on to where they went. */
static void look_at_file(gx_log_lines *lines, int64_t now, gx_buf *out) {
    gx_buf body = GX_BUF_INIT(NULL);
    if (now - lines->looked < GALE_SECOND && now >= lines->looked) return;
    lines->looked = now;
    if (gx_fate_of(lines->fd, lines->path, 0, NULL, NULL) < GX_FATE_REMOVED) return;
    if (gx_log_lines_reopen(lines, NULL) < 0) return;
    add_body(lines, GALE_LOG_WARN, NULL,
             "the file of this log was removed by somebody, with what it held; it is made anew", &body);
    if (!body.failed) add_line(lines, now, &body, (besides){ 0 }, out);
    gx_buf_fini(&body);
}

/* What was made for the file goes there, at once. */
static void hand_on(gx_log_lines *lines, int64_t now, gx_buf *made, gx_buf *out) {
    gx_buf whole = GX_BUF_INIT(NULL);
    if (!lines->path) gx_buf_add(out, made->data, made->size);
    if (!lines->path || !made->size) return;
    look_at_file(lines, now, &whole);
    if (lines->lost) tell_lost(lines, now, &whole);
    gx_buf_add(&whole, made->data, made->size);
    if (!whole.failed && append(lines, &whole))
        lines->lost = 0;
    else
        lines->lost++;
    gx_buf_fini(&whole);
}

void gx_log_lines_fini(gx_log_lines *lines) {
    if (lines->path) gx_file_close(lines->fd);
    for (size_t i = 0; i < GX_LOG_LINES_RECENT; i++) gx_buf_fini(&lines->recent[i].body);
    gx_log_alike_fini(&lines->alike);
}

/* --- Lines that come again ------------------------------------------------------------------------------------------ */

/* A component that fails at every tuple says the same thing a million times a second. NULL: it has not been said of late. */
static gx_log_recent *find(gx_log_lines *lines, const gx_buf *body) {
    for (gx_log_recent *r = lines->recent; r < lines->recent + GX_LOG_LINES_RECENT; r++)
        if (r->body.size == body->size && memcmp(r->body.data, body->data, body->size) == 0) return r;
    return NULL;
}

static gx_log_recent *find_oldest(gx_log_lines *lines) {
    gx_log_recent *oldest = lines->recent;
    for (gx_log_recent *r = lines->recent; r < lines->recent + GX_LOG_LINES_RECENT; r++)
        if (r->time < oldest->time) oldest = r;
    return oldest;
}

/* With its own text: what the line before it is, a component's output may have decided. */
static void add_repeats(const gx_log_lines *lines, gx_log_recent *r, int64_t now, gx_buf *out) {
    uint64_t repeats = r->repeats;
    r->repeats = 0;
    if (repeats && r->body.size) add_line(lines, now, &r->body, (besides){ .repeats = repeats }, out);
}

/* The last of those that wait stands for all. */
static void add_alike(const gx_log_lines *lines, gx_log_kind *kind, int64_t now, gx_buf *out) {
    uint64_t more = kind->more;
    kind->more = 0;
    if (more && gx_buf_text(&kind->last)) add_line(lines, now, &kind->last, (besides){ .alike = more - 1 }, out);
}

void gx_log_lines_repeat(gx_log_lines *lines, int64_t now, gx_buf *out) {
    gx_buf made = GX_BUF_INIT(NULL);
    for (size_t i = 0; i < GX_LOG_LINES_RECENT; i++) add_repeats(lines, &lines->recent[i], now, &made);
    for (size_t i = 0; i < GX_LOG_ALIKE_KINDS; i++) add_alike(lines, &lines->alike.kinds[i], now, &made);
    hand_on(lines, now, &made, out);
    gx_buf_fini(&made);
}

/* It takes the place of the oldest, or of itself. */
static void add_new(gx_log_lines *lines, gx_log_recent *place, int64_t now, const gx_buf *body, gx_buf *out) {
    gx_buf made = GX_BUF_INIT(NULL);
    add_repeats(lines, place, now, &made);
    add_line(lines, now, body, (besides){ 0 }, &made);
    hand_on(lines, now, &made, out);
    gx_buf_fini(&made);
    gx_buf_reset(&place->body);
    gx_buf_add(&place->body, body->data, body->size);
    place->time = now;
}

/* Of a source whose rows are refused, each with its number. */
static bool is_of_many(gx_log_lines *lines, int64_t now, uint64_t shape, const gx_buf *body, gx_buf *out) {
    gx_log_kind *kind = gx_log_alike_find(&lines->alike, shape);
    gx_buf made = GX_BUF_INIT(NULL);
    if (kind->shape != shape || now - kind->since >= GALE_SECOND) {
        add_alike(lines, kind, now, &made);
        hand_on(lines, now, &made, out);
        gx_log_kind_begin(kind, shape, now);
    }
    gx_buf_fini(&made);
    return gx_log_kind_waits(kind, body);
}

void gx_log_lines_add(gx_log_lines *lines, int64_t now, int32_t level, const char *component, const char *text,
                      gx_buf *out) {
    gx_buf body = GX_BUF_INIT(NULL), shown = GX_BUF_INIT(NULL);
    gx_buf_add_text(&shown, text);
    if (gx_buf_text(&shown)) gx_secret_mask(shown.data);
    const char *words = gx_buf_text(&shown) ? shown.data : "no memory for a line";
    add_body(lines, level, component, words, &body);
    gx_log_recent *before = body.failed ? NULL : find(lines, &body);
    if (before && now - before->time < GALE_SECOND)
        before->repeats++;
    else if (!body.failed && (level < GALE_LOG_WARN ||
                              !is_of_many(lines, now, gx_log_alike_shape(level, component, words), &body, out)))
        add_new(lines, before ? before : find_oldest(lines), now, &body, out);
    gx_buf_fini(&shown);
    gx_buf_fini(&body);
}
