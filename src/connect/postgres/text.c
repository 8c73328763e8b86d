#include "connect/postgres/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- A text ----------------------------------------------------------------------------------------------------------- */

void pg_text_free(pg_text *text) {
    free(text->data);
    *text = (pg_text){ .data = NULL };
}

static char *room_for(pg_text *text, size_t size) {
    if (text->failed) return NULL;
    if (size > text->room - text->size) {
        size_t room = text->room ? text->room : 256;
        while (room - text->size < size) room *= 2;
        char *data = realloc(text->data, room);
        text->failed = !data;
        if (!data) return NULL;
        text->data = data;
        text->room = room;
    }
    return text->data + text->size;
}

void pg_text_add(pg_text *text, const void *data, size_t size) {
    char *to = room_for(text, size);
    if (!to || !size) return;
    memcpy(to, data, size);
    text->size += size;
}

static void add_text(pg_text *text, const char *data) {
    pg_text_add(text, data, strlen(data));
}

void pg_text_print(pg_text *text, const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    char *to = length < 0 ? NULL : room_for(text, (size_t)length + 1);
    if (to) text->size += (size_t)vsnprintf(to, (size_t)length + 1, format, again);
    va_end(again);
    va_end(list);
}

const char *pg_text_string(pg_text *text) {
    char *end = room_for(text, 1);
    if (!end) return NULL;
    *end = '\0';
    return text->data;
}

/* --- Names ------------------------------------------------------------------------------------------------------------ */

void pg_text_name(pg_text *text, gale_str name) {
    add_text(text, "\"");
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] == '"')
            add_text(text, "\"\"");
        else if (name.data[i] == '.')
            add_text(text, "\".\"");
        else
            pg_text_add(text, &name.data[i], 1);
    }
    add_text(text, "\"");
}

/* --- Values ----------------------------------------------------------------------------------------------------------- */

/* Texts of a row of COPY: a backslash stands before what would end the column, the row, or itself; and a letter for it behind that. */
static void add_escaped(pg_text *text, const char *data, size_t size) {
    static const char letters[256] = { ['\\'] = '\\', ['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r' };
    size_t from = 0;
    for (size_t i = 0; i < size; i++) {
        char letter = letters[(unsigned char)data[i]];
        if (!letter) continue;
        pg_text_add(text, data + from, i - from);
        pg_text_add(text, (const char[]){ '\\', letter }, 2);
        from = i + 1;
    }
    pg_text_add(text, data + from, size - from);
}

static void add_hex(pg_text *text, const void *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;
    char *to = room_for(text, 2 * size);
    for (size_t i = 0; to && i < size; i++) {
        *to++ = digits[from[i] >> 4];
        *to++ = digits[from[i] & 15];
    }
    if (!text->failed) text->size += 2 * size;
}

/* `decimals` of its digits stand behind a point. */
static void add_decimal(pg_text *text, int64_t number, int decimals) {
    char digits[32], *at = digits + sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    for (int count = 0; rest || count <= decimals; count++, rest /= 10) {
        if (count && count == decimals) *--at = '.';
        *--at = (char)('0' + rest % 10);
    }
    if (number < 0) *--at = '-';
    pg_text_add(text, at, (size_t)(digits + sizeof digits - at));
}

/* One that few decimals say exactly, as most do: a whole number below 2^53 over a power of ten is the number that is nearest to what stands there. */
static bool add_short(pg_text *text, double number) {
    static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };
    for (int decimals = 0; decimals < (int)(sizeof powers / sizeof *powers); decimals++) {
        double scaled = number * powers[decimals];
        if (!(scaled > -0x1p53 && scaled < 0x1p53)) return false;
        int64_t whole = (int64_t)scaled;
        if ((double)whole != scaled || (double)whole / powers[decimals] != number || (!whole && signbit(number)))
            continue;
        add_decimal(text, whole, decimals);
        return true;
    }
    return false;
}

/* The fewest digits that say the same. */
static void add_number(pg_text *text, double number) {
    char digits[40];
    if (add_short(text, number)) return;
    for (int count = 15; count <= 17; count++) {
        snprintf(digits, sizeof digits, "%.*g", count, number);
        if (strtod(digits, NULL) == number) break;
    }
    add_text(text, digits);
}

static const char *add_time(pg_text *text, int64_t number, int64_t unit) {
    int64_t rest = number % unit < 0 ? number % unit + unit : number % unit;
    time_t seconds = (time_t)(number / unit - (number % unit < 0));
    struct tm parts;
    if (!gmtime_r(&seconds, &parts) || parts.tm_year < -1899 || parts.tm_year > 200000) return "is no time";
    pg_text_print(text, "%04d-%02d-%02d %02d:%02d:%02d.%06d+00", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                  parts.tm_hour, parts.tm_min, parts.tm_sec, (int)((double)rest / (double)unit * 1e6));
    return NULL;
}

/* One with a fraction. */
static const char *add_real_time(pg_text *text, double number, int64_t unit) {
    double microseconds = number / (double)unit * 1e6;
    if (!(microseconds > -9e18 && microseconds < 9e18)) return "is no time";
    return add_time(text, (int64_t)microseconds, 1000000);
}

/* --- JSON ------------------------------------------------------------------------------------------------------------- */

static void json_text(pg_text *text, const char *data, size_t size) {
    add_text(text, "\"");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)data[i];
        if (c < 0x20)
            pg_text_print(text, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            pg_text_print(text, "\\%c", c);
        else
            pg_text_add(text, &data[i], 1);
    }
    add_text(text, "\"");
}

static const char *json_value(pg_text *text, const gale_value *value);

static const char *json_list(pg_text *text, const gale_value *list) {
    const char *wrong = NULL;
    add_text(text, "[");
    for (size_t i = 0; !wrong && i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        if (i) add_text(text, ",");
        wrong = json_value(text, &item);
    }
    add_text(text, "]");
    return wrong;
}

static const char *json_map(pg_text *text, const gale_value *map) {
    const char *wrong = NULL;
    gale_value value;
    gale_str key;
    add_text(text, "{");
    for (size_t i = 0; !wrong && gale_map_at(map, i, &key, &value); i++) {
        if (i) add_text(text, ",");
        json_text(text, key.data, key.size);
        add_text(text, ":");
        wrong = json_value(text, &value);
    }
    add_text(text, "}");
    return wrong;
}

static const char *json_value(pg_text *text, const gale_value *value) {
    switch (value->type) {
    case GALE_TYPE_BOOL: add_text(text, value->as.boolean ? "true" : "false"); return NULL;
    case GALE_TYPE_I64: add_decimal(text, value->as.i64, 0); return NULL;
    case GALE_TYPE_F64:
        if (!isfinite(value->as.f64)) return "has a number that JSON has not";
        add_number(text, value->as.f64);
        return NULL;
    case GALE_TYPE_STRING: json_text(text, value->as.string, value->size); return NULL;
    case GALE_TYPE_BYTES: return "has bytes in a list or a map, which JSON has not";
    case GALE_TYPE_LIST: return json_list(text, value);
    case GALE_TYPE_MAP: return json_map(text, value);
    default: add_text(text, "null"); return NULL;
    }
}

static const char *add_string(pg_text *text, const gale_value *value, bool escaped) {
    if (value->size && memchr(value->as.string, '\0', value->size)) return "has a NUL, which PostgreSQL has not";
    if (escaped)
        add_escaped(text, value->as.string, value->size);
    else
        pg_text_add(text, value->as.string, value->size);
    return NULL;
}

const char *pg_text_value(pg_text *text, const gale_value *value) {
    switch (value->type) {
    case GALE_TYPE_BOOL: add_text(text, value->as.boolean ? "t" : "f"); return NULL;
    case GALE_TYPE_F64: add_number(text, value->as.f64); return NULL;
    case GALE_TYPE_STRING: return add_string(text, value, false);
    case GALE_TYPE_BYTES:
        add_text(text, "\\x");
        add_hex(text, value->as.bytes, value->size);
        return NULL;
    default: return json_value(text, value); /* whole numbers are as in JSON */
    }
}

static const char *copy_json(pg_text *text, const gale_value *value) {
    pg_text json = { .data = NULL };
    const char *wrong = json_value(&json, value);
    if (!wrong && !json.failed) add_escaped(text, json.data, json.size);
    text->failed = text->failed || json.failed;
    pg_text_free(&json);
    return wrong;
}

const char *pg_text_copy_value(pg_text *text, const gale_value *value, int64_t unit) {
    switch (value->type) {
    case GALE_TYPE_NULL: add_text(text, "\\N"); return NULL;
    case GALE_TYPE_I64: return unit ? add_time(text, value->as.i64, unit) : pg_text_value(text, value);
    case GALE_TYPE_F64: return unit ? add_real_time(text, value->as.f64, unit) : pg_text_value(text, value);
    case GALE_TYPE_STRING: return add_string(text, value, true);
    case GALE_TYPE_BYTES: add_text(text, "\\"); return pg_text_value(text, value);
    case GALE_TYPE_LIST:
    case GALE_TYPE_MAP: return copy_json(text, value);
    default: return pg_text_value(text, value);
    }
}
