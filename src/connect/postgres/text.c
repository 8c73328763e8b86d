#include "connect/postgres/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- Names ------------------------------------------------------------------------------------------------------------ */

void pg_text_name(sql_text *text, gale_str name) {
    sql_text_put(text, "\"");
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] == '"')
            sql_text_put(text, "\"\"");
        else if (name.data[i] == '.')
            sql_text_put(text, "\".\"");
        else
            sql_text_add(text, &name.data[i], 1);
    }
    sql_text_put(text, "\"");
}

/* --- Values ----------------------------------------------------------------------------------------------------------- */

/* Texts of a row of COPY: a backslash stands before what would end the column, the row, or itself; and a letter for it behind that. */
static void add_escaped(sql_text *text, const char *data, size_t size) {
    static const char letters[256] = { ['\\'] = '\\', ['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r' };
    size_t from = 0;
    for (size_t i = 0; i < size; i++) {
        char letter = letters[(unsigned char)data[i]];
        if (!letter) continue;
        sql_text_add(text, data + from, i - from);
        sql_text_add(text, (const char[]){ '\\', letter }, 2);
        from = i + 1;
    }
    sql_text_add(text, data + from, size - from);
}

static void add_hex(sql_text *text, const void *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;
    char *to = sql_text_room(text, 2 * size);
    for (size_t i = 0; to && i < size; i++) {
        *to++ = digits[from[i] >> 4];
        *to++ = digits[from[i] & 15];
    }
    if (!text->failed) text->size += 2 * size;
}

/* `decimals` of its digits stand behind a point. */
static void add_decimal(sql_text *text, int64_t number, int decimals) {
    char digits[32], *at = digits + sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    for (int count = 0; rest || count <= decimals; count++, rest /= 10) {
        if (count && count == decimals) *--at = '.';
        *--at = (char)('0' + rest % 10);
    }
    if (number < 0) *--at = '-';
    sql_text_add(text, at, (size_t)(digits + sizeof digits - at));
}

/* One that few decimals say exactly, as most do: a whole number below 2^53 over a power of ten is the number that is nearest to what stands there. */
static bool add_short(sql_text *text, double number) {
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
static void add_number(sql_text *text, double number) {
    char digits[40];
    if (add_short(text, number)) return;
    for (int count = 15; count <= 17; count++) {
        snprintf(digits, sizeof digits, "%.*g", count, number);
        if (strtod(digits, NULL) == number) break;
    }
    sql_text_put(text, digits);
}

static const char *add_time(sql_text *text, int64_t number, int64_t unit) {
    int64_t rest = number % unit < 0 ? number % unit + unit : number % unit;
    time_t seconds = (time_t)(number / unit - (number % unit < 0));
    struct tm parts;
    if (!gmtime_r(&seconds, &parts) || parts.tm_year < -1899 || parts.tm_year > 200000) return "is no time";
    sql_text_print(text, "%04d-%02d-%02d %02d:%02d:%02d.%06d+00", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                   parts.tm_hour, parts.tm_min, parts.tm_sec, (int)((double)rest / (double)unit * 1e6));
    return NULL;
}

/* One with a fraction. */
static const char *add_real_time(sql_text *text, double number, int64_t unit) {
    double microseconds = number / (double)unit * 1e6;
    if (!(microseconds > -9e18 && microseconds < 9e18)) return "is no time";
    return add_time(text, (int64_t)microseconds, 1000000);
}

/* --- JSON ------------------------------------------------------------------------------------------------------------- */

static void json_text(sql_text *text, const char *data, size_t size) {
    sql_text_put(text, "\"");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)data[i];
        if (c < 0x20)
            sql_text_print(text, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            sql_text_print(text, "\\%c", c);
        else
            sql_text_add(text, &data[i], 1);
    }
    sql_text_put(text, "\"");
}

static const char *json_value(sql_text *text, const gale_value *value);

static const char *json_list(sql_text *text, const gale_value *list) {
    const char *wrong = NULL;
    sql_text_put(text, "[");
    for (size_t i = 0; !wrong && i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        if (i) sql_text_put(text, ",");
        wrong = json_value(text, &item);
    }
    sql_text_put(text, "]");
    return wrong;
}

static const char *json_map(sql_text *text, const gale_value *map) {
    const char *wrong = NULL;
    gale_value value;
    gale_str key;
    sql_text_put(text, "{");
    for (size_t i = 0; !wrong && gale_map_at(map, i, &key, &value); i++) {
        if (i) sql_text_put(text, ",");
        json_text(text, key.data, key.size);
        sql_text_put(text, ":");
        wrong = json_value(text, &value);
    }
    sql_text_put(text, "}");
    return wrong;
}

static const char *json_value(sql_text *text, const gale_value *value) {
    switch (value->type) {
    case GALE_TYPE_BOOL: sql_text_put(text, value->as.boolean ? "true" : "false"); return NULL;
    case GALE_TYPE_I64: add_decimal(text, value->as.i64, 0); return NULL;
    case GALE_TYPE_F64:
        if (!isfinite(value->as.f64)) return "has a number that JSON has not";
        add_number(text, value->as.f64);
        return NULL;
    case GALE_TYPE_STRING: json_text(text, value->as.string, value->size); return NULL;
    case GALE_TYPE_BYTES: return "has bytes in a list or a map, which JSON has not";
    case GALE_TYPE_LIST: return json_list(text, value);
    case GALE_TYPE_MAP: return json_map(text, value);
    default: sql_text_put(text, "null"); return NULL;
    }
}

static const char *add_string(sql_text *text, const gale_value *value, bool escaped) {
    if (value->size && memchr(value->as.string, '\0', value->size)) return "has a NUL, which PostgreSQL has not";
    if (escaped)
        add_escaped(text, value->as.string, value->size);
    else
        sql_text_add(text, value->as.string, value->size);
    return NULL;
}

const char *pg_text_value(sql_text *text, const gale_value *value) {
    switch (value->type) {
    case GALE_TYPE_BOOL: sql_text_put(text, value->as.boolean ? "t" : "f"); return NULL;
    case GALE_TYPE_F64: add_number(text, value->as.f64); return NULL;
    case GALE_TYPE_STRING: return add_string(text, value, false);
    case GALE_TYPE_BYTES:
        sql_text_put(text, "\\x");
        add_hex(text, value->as.bytes, value->size);
        return NULL;
    default: return json_value(text, value); /* whole numbers are as in JSON */
    }
}

static const char *copy_json(sql_text *text, const gale_value *value) {
    sql_text json = { .data = NULL };
    const char *wrong = json_value(&json, value);
    if (!wrong && !json.failed) add_escaped(text, json.data, json.size);
    text->failed = text->failed || json.failed;
    sql_text_free(&json);
    return wrong;
}

const char *pg_text_copy_value(sql_text *text, const gale_value *value, int64_t unit) {
    switch (value->type) {
    case GALE_TYPE_NULL: sql_text_put(text, "\\N"); return NULL;
    case GALE_TYPE_I64: return unit ? add_time(text, value->as.i64, unit) : pg_text_value(text, value);
    case GALE_TYPE_F64: return unit ? add_real_time(text, value->as.f64, unit) : pg_text_value(text, value);
    case GALE_TYPE_STRING: return add_string(text, value, true);
    case GALE_TYPE_BYTES: sql_text_put(text, "\\"); return pg_text_value(text, value);
    case GALE_TYPE_LIST:
    case GALE_TYPE_MAP: return copy_json(text, value);
    default: return pg_text_value(text, value);
    }
}
