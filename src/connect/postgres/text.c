#include "connect/postgres/text.h"

#include <gale/json.h>
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

/* A float that is whole has no ".0", which a column of whole numbers would refuse. */
static void add_number(sql_text *text, const gale_value *number) {
    char digits[GALE_NUMBER_TEXT];
    gale_str found;
    if (number->type == GALE_TYPE_F64 && isfinite(number->as.f64))
        sql_text_add(text, digits, gale_number_write(number->as.f64, digits));
    else if (gale_value_text(number, digits, &found))
        sql_text_add(text, found.data, found.size);
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

static const char *fault_of(const gale_value *value) {
    const char *fault = NULL;
    gale_value item;
    if (value->type == GALE_TYPE_F64 && !isfinite(value->as.f64)) return "has a number that JSON has not";
    if (value->type == GALE_TYPE_BYTES) return "has bytes in a list or a map, which JSON has not";
    for (size_t i = 0; !fault && value->type == GALE_TYPE_LIST && i < value->size; i++) {
        item = gale_list_at(value, i);
        fault = fault_of(&item);
    }
    for (size_t i = 0; !fault && value->type == GALE_TYPE_MAP && gale_map_at(value, i, NULL, &item); i++)
        fault = fault_of(&item);
    return fault;
}

static const char *json_value(sql_text *text, const gale_value *value) {
    const char *fault = fault_of(value);
    if (!fault && !text->failed && !gale_json_append(value, &text->data, &text->size, &text->room)) text->failed = true;
    return fault;
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
    case GALE_TYPE_I64:
    case GALE_TYPE_F64: add_number(text, value); return NULL;
    case GALE_TYPE_STRING: return add_string(text, value, false);
    case GALE_TYPE_BYTES:
        sql_text_put(text, "\\x");
        add_hex(text, value->as.bytes, value->size);
        return NULL;
    default: return json_value(text, value);
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
