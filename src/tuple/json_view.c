#include "tuple/json_view.h"
#include "base/number.h"
#include "base/utf8.h"
#include "tuple/body.h"
#include "tuple/json.h"
#include "tuple/json_read.h"

#include <stdlib.h>

static bool refuse(gale_str text, const char *place, const char *what, gx_json_problem *ret_problem) {
    ret_problem->what = what;
    gx_json_scan_where(text, place, &ret_problem->line, &ret_problem->column);
    return false;
}

bool gx_json_check(gale_str text, gale_str *ret_json, gx_json_problem *ret_problem) {
    if (!text.data) text = gx_str("");
    gx_json_scan scan = gx_json_scan_of(text);
    size_t valid = gx_utf8_valid(text.data, text.size) ? text.size : gx_utf8_prefix(text.data, text.size);
    if (valid < text.size) return refuse(text, text.data + valid, "the bytes are not UTF-8", ret_problem);
    gx_json_scan_blanks(&scan);
    const char *from = scan.at;
    bool good = gx_json_scan_skip(&scan, 0);
    gale_str json = { from, (size_t)(scan.at - from) };
    if (!good || !gx_json_scan_ended(&scan)) return refuse(text, scan.place, scan.wrong, ret_problem);
    if (ret_json) *ret_json = json;
    return true;
}

int gale_json_check(gale_str text, gale_str *ret_json, gale_error *error) {
    gx_json_problem problem;
    if (gx_json_check(text, ret_json, &problem)) return GALE_OK;
    return gale_error_set(error, GALE_SYNTAX, "%zu:%zu: %s", problem.line, problem.column, problem.what);
}

gale_json_kind gale_json_kind_of(gale_str json) {
    if (!json.data || !json.size) return GALE_JSON_NONE;
    switch (*json.data) {
    case 'n': return GALE_JSON_NULL;
    case 't':
    case 'f': return GALE_JSON_BOOL;
    case '"': return GALE_JSON_STRING;
    case '[': return GALE_JSON_LIST;
    case '{': return GALE_JSON_OBJECT;
    default:
        return *json.data == '-' || gx_is_within((unsigned char)*json.data, '0', 10) ? GALE_JSON_NUMBER
                                                                                     : GALE_JSON_NONE;
    }
}

/* --- Items --- */

static const char *past_blanks(const char *at, const char *end) {
    gx_json_scan scan = gx_json_scan_of((gale_str){ at, (size_t)(end - at) });
    gx_json_scan_blanks(&scan);
    return scan.at;
}

/* Behind the string that begins here, or `end`. */
static const char *past_string(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++) at += *at == '\\' && end - at > 1;
    return at < end ? at + 1 : end;
}

/* Behind a list or an object: its brackets are counted. */
static const char *past_brackets(const char *at, const char *end) {
    for (size_t depth = 0; at < end;) {
        if (*at == '"') {
            at = past_string(at, end);
            continue;
        }
        depth += *at == '[' || *at == '{';
        if (*at == ']' || *at == '}') depth--;
        at++;
        if (!depth) break;
    }
    return at;
}

/* Behind the value: where the item ends, without blanks. */
static const char *past_value(const char *at, const char *end) {
    const char *stop = at;
    while (stop < end && *stop != ',' && *stop != ']' && *stop != '}')
        stop = *stop == '"'                   ? past_string(stop, end)
               : *stop == '[' || *stop == '{' ? past_brackets(stop, end)
                                              : stop + 1;
    while (stop > at && (stop[-1] == ' ' || stop[-1] == '\n' || stop[-1] == '\t' || stop[-1] == '\r')) stop--;
    return stop;
}

static bool stop_at(gale_json_item *item, const char *at, const char *end, bool broken) {
    item->rest = (gale_str){ at, (size_t)(end - at) };
    item->broken = broken;
    return false;
}

/* A name and its colon, where the item has them. */
static const char *take_name(gale_json_item *item, const char *at, const char *end) {
    const char *stop = past_blanks(past_string(at, end), end);
    if (*at != '"' || stop == end || *stop != ':') return NULL;
    const char *last = stop;
    while (last[-1] != '"') last--; /* blanks before the colon */
    item->name = (gale_str){ at, (size_t)(last - at) };
    return past_blanks(stop + 1, end);
}

/* The rest begins with the bracket before the first item, with the comma before another one, or with the bracket
 * behind the last. */
bool gale_json_next(gale_json_item *item) {
    if (!item || item->broken || !item->rest.data || !item->rest.size) return false;
    const char *at = item->rest.data, *end = at + item->rest.size;
    bool is_first = item->index == SIZE_MAX;
    if (is_first && *at != '[' && *at != '{') return stop_at(item, end, end, false);
    bool is_object = is_first ? *at == '{' : item->name.size;
    char close = is_object ? '}' : ']';
    if (!is_first && *at == close) return stop_at(item, end, end, past_blanks(at + 1, end) != end);
    if (!is_first && *at != ',') return stop_at(item, at, end, true);
    at = past_blanks(at + 1, end);
    if (is_first && at < end && *at == close) return stop_at(item, end, end, past_blanks(at + 1, end) != end);
    item->name = (gale_str){ NULL, 0 };
    if (at < end && is_object) at = take_name(item, at, end);
    const char *stop = at ? past_value(at, end) : at;
    const char *next = at ? past_blanks(stop, end) : at;
    if (!at || stop == at || next == end) return stop_at(item, end, end, true);
    item->value = (gale_str){ at, (size_t)(stop - at) };
    item->rest = (gale_str){ next, (size_t)(end - next) };
    item->index++;
    return true;
}

bool gx_json_member(gale_str object, gale_str name, gale_str *ret_value) {
    bool found = false;
    if (gale_json_kind_of(object) != GALE_JSON_OBJECT) return false;
    for (gale_json_item item = GALE_JSON_FIRST(object); gale_json_next(&item);) {
        if (!gx_json_string_is(item.name, name)) continue;
        *ret_value = item.value;
        found = true;
    }
    return found;
}

bool gale_json_get(gale_str json, const char *path, gale_str *ret_value) {
    for (const char *at = path; at && *at;) {
        size_t size = strcspn(at, ".");
        if (!gx_json_member(json, (gale_str){ at, size }, &json)) return false;
        at += size + (at[size] == '.');
    }
    if (!path || gale_json_kind_of(json) == GALE_JSON_NONE) return false;
    if (ret_value) *ret_value = json;
    return true;
}

/* --- Scalars --- */

/* What stands between the quotation marks. False: it is no string. */
static bool take_raw(gale_str json, gale_str *ret_raw, bool *ret_escaped) {
    gx_json_scan scan = gx_json_scan_of(json);
    return json.data && json.size && gx_json_scan_take(&scan, '"') && gx_json_scan_string(&scan, ret_raw, ret_escaped);
}

bool gx_json_string_is(gale_str json, gale_str text) {
    enum { NAME = 255, ESCAPED = 6 * NAME };
    char room[ESCAPED];
    gale_str raw;
    bool escaped;
    if (!take_raw(json, &raw, &escaped)) return false;
    if (!escaped) return gx_str_equal(raw, text);
    if (raw.size > sizeof room) return false;
    gx_json_scan scan = gx_json_scan_of(raw);
    int64_t size = gx_json_scan_unescape(&scan, raw, room);
    return size >= 0 && gx_str_equal((gale_str){ room, (size_t)size }, text);
}

bool gale_json_is(gale_str json, const char *text) {
    return text && gx_json_string_is(json, gx_str(text));
}

static int64_t put(gale_str text, char *to, size_t room) {
    size_t kept = room && text.size >= room ? gx_utf8_prefix(text.data, room - 1) : text.size;
    if (room && kept) memmove(to, text.data, kept);
    if (room) to[kept] = 0;
    return (int64_t)text.size;
}

int64_t gale_json_text(gale_str json, char *to, size_t room) {
    if (!to) room = 0;
    if (!json.data) json = gx_str("");
    gale_str raw = json;
    bool escaped = false, is_text = gale_json_kind_of(json) == GALE_JSON_STRING && take_raw(json, &raw, &escaped);
    if (!is_text || !escaped) return put(raw, to, room);
    gx_json_scan scan = gx_json_scan_of(raw);
    char *made = raw.size < room ? to : malloc(raw.size);
    int64_t size = made ? gx_json_scan_unescape(&scan, raw, made) : -1;
    int64_t written = put((gale_str){ made, size < 0 ? 0 : (size_t)size }, to, room);
    if (made != to) free(made);
    return size < 0 ? -1 : written;
}

static bool take_number(gale_str json, gx_json_number *ret_number) {
    gx_json_scan scan = gx_json_scan_of(json);
    return json.data && json.size && gx_json_scan_number(&scan, ret_number) && scan.at == scan.end;
}

bool gale_json_whole(gale_str json, int64_t *ret_number) {
    gx_json_number number;
    int64_t whole;
    if (!take_number(json, &number) || !gx_json_number_whole(&number, &whole)) return false;
    if (ret_number) *ret_number = whole;
    return true;
}

bool gale_json_number(gale_str json, double *ret_number) {
    gx_json_number number;
    if (!take_number(json, &number)) return false;
    double value = gx_json_number_value(&number);
    if (value - value != 0) return false;
    if (ret_number) *ret_number = value;
    return true;
}

/* --- Writing --- */

bool gale_json_append(const gale_value *value, char **data, size_t *size, size_t *room) {
    gale_value null = gale_null();
    if (!value) value = &null;
    if (!data || !size || !room || gx_body_measure(value, 1) < 0) return false;
    gx_buf out = { .data = *data, .size = *size, .capacity = *room };
    gx_json json = gx_json_to(&out);
    gx_json_value(&json, value);
    bool good = gx_buf_text(&out) != NULL;
    *data = out.data;
    *room = out.capacity;
    if (good) *size = out.size;
    return good;
}
