#include "connect/file/template.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/utf8.h"
#include "kit/moment.h"
#include "tuple/json.h"
#include "tuple/value.h"

#include <inttypes.h>
#include <stdio.h>

/* Bytes of names. A value has at most VALUE of them; with less than LEAST, its hash would not fit. */
enum { NAME = 255, VALUE = 100, LEAST = 30, NUMBER = 10, HASHED = 18 /* "%~" and 16 digits */ };

/* --- Reading it --- */

typedef struct reading {
    gale_str text;
    size_t at;
    const char *what;
    gx_template *template_;
    gx_buf names; /* of fields, as gx_fields_parse takes them */
    gale_error *error;
} reading;

static int refuse(const reading *r, const char *problem) {
    return gale_error_set(r->error, GALE_INVALID, "%s: %s", r->what, problem);
}

/* A piece of the text between braces is named with its place, which is counted from 1. */
static int refuse_piece(const reading *r, gale_str piece, const char *problem) {
    return gale_error_set(r->error, GALE_INVALID, "%s: '{%.*s}' at byte %zu: %s", r->what, GX_STR(piece),
                          (size_t)(piece.data - r->text.data), problem);
}

static int refuse_brace(const reading *r, char brace, char other) {
    return gale_error_set(r->error, GALE_INVALID, "%s: '%c' at byte %zu has no '%c'; '%c%c' is a brace", r->what, brace,
                          r->at + 1, other, brace, brace);
}

/* What stands in a part is kept; a text that goes on becomes longer. */
static int add_part(reading *r, int32_t kind, gale_str kept, uint32_t field) {
    gx_template *t = r->template_;
    gx_template_part *last = t->count ? &t->parts[t->count - 1] : NULL;
    if (t->used + kept.size > GX_FILE_PATH_MAX) return refuse(r, "it is too long");
    memcpy(t->text + t->used, kept.data, kept.size);
    t->used += kept.size;
    if (kind == GX_TEMPLATE_TEXT && last && last->kind == GX_TEMPLATE_TEXT) {
        last->size = (uint16_t)(last->size + kept.size);
        return 0;
    }
    if (t->count == GX_TEMPLATE_PARTS) return refuse(r, "it has too many parts");
    t->parts[t->count++] = (gx_template_part){
        .kind = kind, .at = (uint16_t)(t->used - kept.size), .size = (uint16_t)kept.size, .field = (uint16_t)field
    };
    return 0;
}

/* Which of the fields is called so; one that was not named yet is added. */
static int find_field(reading *r, gale_str piece, gale_str name, uint32_t *ret_field) {
    gale_str rest = { r->names.data, r->names.size }, other;
    uint32_t count = 0;
    for (; r->names.size && gx_str_next(&rest, ',', &other); count++) {
        if (!gx_str_equal(other, name)) continue;
        *ret_field = count;
        return 0;
    }
    if (memchr(name.data, ',', name.size)) return refuse_piece(r, piece, "no field has a comma in its name");
    if (count == GX_FIELDS_MAX || r->names.size + name.size + 1 >= GX_FIELDS_TEXT)
        return refuse_piece(r, piece, "the path names too many fields");
    if (count) gx_buf_add_byte(&r->names, ',');
    gx_buf_add(&r->names, name.data, name.size);
    *ret_field = count;
    return r->names.failed ? gale_error_set(r->error, GALE_NO_MEMORY, "%s: out of memory", r->what) : 0;
}

static int check_format(const reading *r, gale_str piece, gale_str format) {
    char problem[100];
    int flaw = gx_moment_flaw(format);
    if (!memchr(format.data, '%', format.size))
        return refuse_piece(r, piece, "what follows the ':' is a format of time, as in {time:%Y-%m-%d}");
    if (flaw == 0) return 0;
    if (flaw < 0) return refuse_piece(r, piece, "its format ends with a '%'");
    char shown[20];
    snprintf(shown, sizeof shown, flaw > ' ' && flaw < 127 ? "'%%%c'" : "'%%' with byte %d", flaw);
    snprintf(problem, sizeof problem,
             "there is no %s; there are %%Y %%m %%d %%H %%M %%S %%F %%T %%j %%y %%b %%a and others", shown);
    return refuse_piece(r, piece, problem);
}

static int add_named(reading *r, gale_str piece, gale_str name, gale_str format, bool has_format) {
    gx_template *t = r->template_;
    uint32_t field = 0;
    bool now = gx_str_is(name, "now"), task = gx_str_is(name, "task");
    if (!name.size) return refuse_piece(r, piece, "it names no field");
    if (now && !has_format) return refuse_piece(r, piece, "a format is missing, as in {now:%Y-%m-%d}");
    if (task && has_format) return refuse_piece(r, piece, "the number of a task has no format");
    int rc = has_format ? check_format(r, piece, format) : 0;
    if (rc == 0 && !now && !task) rc = find_field(r, piece, name, &field);
    if (rc < 0) return rc;
    t->varies |= !task;
    t->has_now |= now;
    t->has_task |= task;
    return add_part(r,
                    task         ? GX_TEMPLATE_TASK
                    : now        ? GX_TEMPLATE_NOW
                    : has_format ? GX_TEMPLATE_TIME
                                 : GX_TEMPLATE_VALUE,
                    format, field);
}

/* What stands between braces, of which the first is at r->at. */
static int read_braces(reading *r) {
    const char *begin = r->text.data + r->at + 1, *limit = r->text.data + r->text.size;
    const char *end = memchr(begin, '}', (size_t)(limit - begin)), *other = memchr(begin, '{', (size_t)(limit - begin));
    if (!end || (other && other < end)) return refuse_brace(r, '{', '}');
    gale_str piece = { begin, (size_t)(end - begin) };
    const char *colon = memchr(begin, ':', piece.size);
    gale_str name = { begin, colon ? (size_t)(colon - begin) : piece.size };
    gale_str format = { colon ? colon + 1 : begin, colon ? (size_t)(end - colon) - 1 : 0 };
    r->at += piece.size + 2;
    return add_named(r, piece, gx_str_trim(name), format, colon != NULL);
}

static int read_part(reading *r) {
    const char *at = r->text.data + r->at;
    size_t left = r->text.size - r->at, size = 0;
    bool brace = *at == '{' || *at == '}';
    if (brace && left > 1 && at[1] == *at) {
        r->at += 2;
        return add_part(r, GX_TEMPLATE_TEXT, (gale_str){ at, 1 }, 0);
    }
    if (brace) return *at == '{' ? read_braces(r) : refuse_brace(r, '}', '{');
    while (size < left && at[size] != '{' && at[size] != '}') size++;
    r->at += size;
    return add_part(r, GX_TEMPLATE_TEXT, (gale_str){ at, size }, 0);
}

/* --- How long names can be --- */

/* The bytes of one name between slashes: those that are fixed, and the values that share the rest. */
typedef struct share {
    size_t fixed, values, first, whole;
} share;

static int end_name(reading *r, share *s, uint32_t end) {
    gx_template *t = r->template_;
    size_t room = NAME - GX_TEMPLATE_ENDING, limit = VALUE;
    if (t->varies && s->fixed + s->values * LEAST > room)
        return gale_error_set(r->error, GALE_INVALID,
                              "%s: a name between two '/' would have %zu bytes and more, and may have %zu", r->what,
                              s->fixed + s->values * LEAST, room);
    if (s->values && (room - s->fixed) / s->values < limit) limit = (room - s->fixed) / s->values;
    for (size_t i = s->first; i < end; i++)
        if (t->parts[i].kind == GX_TEMPLATE_VALUE && !t->parts[i].limit) t->parts[i].limit = (uint16_t)limit;
    s->whole += s->fixed + s->values * limit + 1;
    *s = (share){ .first = end, .whole = s->whole };
    return 0;
}

/* Text, or a format, of which a directive may take GX_MOMENT_TEXT bytes. */
static int measure_text(reading *r, share *s, uint32_t part, bool is_format) {
    const gx_template_part *p = &r->template_->parts[part];
    int rc = 0;
    for (size_t i = 0; i < p->size && rc == 0; i++) {
        char c = r->template_->text[p->at + i];
        if (c == '/') {
            rc = end_name(r, s, part);
        } else if (is_format && c == '%') {
            i++;
            s->fixed += GX_MOMENT_TEXT;
        } else {
            s->fixed++;
        }
    }
    return rc;
}

static int measure(reading *r) {
    const gx_template *t = r->template_;
    share s = { 0 };
    int rc = 0;
    for (uint32_t i = 0; i < t->count && rc == 0; i++) {
        switch (t->parts[i].kind) {
        case GX_TEMPLATE_VALUE: s.values++; break;
        case GX_TEMPLATE_TASK: s.fixed += NUMBER; break;
        default: rc = measure_text(r, &s, i, t->parts[i].kind != GX_TEMPLATE_TEXT); break;
        }
    }
    if (rc == 0) rc = end_name(r, &s, t->count);
    if (rc == 0 && t->varies && s.whole + GX_TEMPLATE_ENDING > GX_FILE_PATH_MAX)
        rc = refuse(r, "it could become too long");
    return rc;
}

static int read_all(reading *r) {
    gx_template *t = r->template_;
    int rc = 0;
    if (!r->text.size || memchr(r->text.data, 0, r->text.size)) return refuse(r, "it names no file");
    while (r->at < r->text.size && rc == 0) rc = read_part(r);
    if (rc == 0 && t->varies && t->used && r->text.data[r->text.size - 1] == '/') rc = refuse(r, "it ends with a '/'");
    if (rc == 0) rc = measure(r);
    const char *names = rc == 0 && r->names.size ? gx_buf_text(&r->names) : NULL;
    return names ? gx_fields_parse(names, r->what, &t->fields, r->error) : rc;
}

int gx_template_parse(gale_str text, const char *what, gx_template *ret_template, gale_error *error) {
    gx_template made = { .count = 0 };
    reading r = { .text = text, .what = what, .template_ = &made, .names = GX_BUF_INIT(NULL), .error = error };
    int rc = read_all(&r);
    gx_buf_fini(&r.names);
    if (rc == 0) *ret_template = made;
    return rc;
}

/* --- Writing it --- */

/* The bytes that stand for the one at the beginning of a value, or within it. */
static size_t escape(char c, bool first, char to[4]) {
    unsigned char byte = (unsigned char)c;
    if (byte >= ' ' && byte != 127 && c != '/' && c != '%' && !(first && c == '.')) {
        to[0] = c;
        return 1;
    }
    return (size_t)snprintf(to, 4, "%%%02X", byte);
}

/* Of a value that is too long, whole characters are kept. */
static void cut(gx_buf *path, size_t begin, size_t room, gale_str value) {
    size_t kept = 0;
    while (kept < path->size - begin) {
        const char *at = path->data + begin + kept;
        size_t left = path->size - begin - kept, step = *at == '%' ? 3 : gx_utf8_step(at, left);
        if (!step) step = 1;
        if (kept + step + HASHED > room) break;
        kept += step;
    }
    path->size = begin + kept;
    gx_buf_format(path, "%%~%016" PRIx64, gx_hash_bytes(value.data, value.size, 0));
}

static void add_harmless(gx_buf *path, gale_str value, size_t room) {
    size_t begin = path->size;
    char bytes[4];
    if (!value.size) gx_buf_add_text(path, "%empty");
    for (size_t i = 0; i < value.size && path->size - begin <= room; i++)
        gx_buf_add(path, bytes, escape(value.data[i], i == 0, bytes));
    if (path->size - begin > room && !path->failed) cut(path, begin, room, value);
}

/* Numbers, lists and maps as in JSON. */
static void add_value(gx_buf *path, const gale_value *value, size_t room) {
    gx_buf text = GX_BUF_INIT(path->heap);
    gx_json json = gx_json_to(&text);
    switch (value->type) {
    case GALE_TYPE_NULL: gx_buf_add_text(path, "%null"); return;
    case GALE_TYPE_F64: gx_buf_add_f64(path, value->as.f64); return;
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES: add_harmless(path, gx_value_str(value), room); return;
    default: break;
    }
    gx_json_value(&json, value);
    path->failed |= text.failed;
    if (!text.failed) add_harmless(path, (gale_str){ text.data, text.size }, room);
    gx_buf_fini(&text);
}

/* A directive gives digits, names of months and days, ':' and '-', and none that leads elsewhere. */
static void add_moment(gx_buf *path, gale_str format, gx_moment moment) {
    char text[GX_MOMENT_TEXT];
    for (size_t i = 0; i < format.size; i++) {
        if (format.data[i] != '%')
            gx_buf_add_byte(path, format.data[i]);
        else
            gx_buf_add(path, text, gx_moment_write(&moment, format.data[++i], text));
    }
}

/* Below zero, too, the fraction counts upwards. */
static bool take_moment(const gale_value *value, gx_moment *ret_moment) {
    double seconds = value->type == GALE_TYPE_F64 ? value->as.f64 : 0;
    int64_t whole = value->as.i64;
    if (value->type != GALE_TYPE_I64) {
        bool fits = seconds >= (double)GX_MOMENT_FIRST && seconds <= (double)GX_MOMENT_LAST;
        if (value->type != GALE_TYPE_F64 || !fits) return false;
        whole = (int64_t)seconds;
        if ((double)whole > seconds) whole--;
        seconds -= (double)whole;
    }
    *ret_moment = (gx_moment){ .second = whole, .nano = (int32_t)(seconds * 1e6) * 1000 };
    return whole >= GX_MOMENT_FIRST && whole <= GX_MOMENT_LAST;
}

static gx_moment moment_of(int64_t now) {
    int64_t second = now / GALE_SECOND, nano = now % GALE_SECOND;
    return nano < 0 ? (gx_moment){ .second = second - 1, .nano = (int32_t)(nano + GALE_SECOND) }
                    : (gx_moment){ .second = second, .nano = (int32_t)nano };
}

int gx_template_write(const gx_template *template_, const gale_value *values, int64_t now, uint32_t task, gx_buf *path,
                      uint32_t *ret_wrong) {
    for (uint32_t i = 0; i < template_->count; i++) {
        const gx_template_part *p = &template_->parts[i];
        gale_str text = { template_->text + p->at, p->size };
        gx_moment moment = moment_of(now);
        switch (p->kind) {
        case GX_TEMPLATE_TEXT: gx_buf_add(path, text.data, text.size); break;
        case GX_TEMPLATE_VALUE: add_value(path, &values[p->field], p->limit); break;
        case GX_TEMPLATE_TASK: gx_buf_format(path, "%u", task); break;
        case GX_TEMPLATE_NOW: add_moment(path, text, moment); break;
        default:
            *ret_wrong = p->field;
            if (!take_moment(&values[p->field], &moment)) return GALE_TYPE;
            add_moment(path, text, moment);
        }
    }
    return path->failed ? GALE_NO_MEMORY : 0;
}
