#include "front/letter.h"

#include "base/nearest.h"
#include "base/str.h"
#include "front/json_value.h"
#include "topology/builder.h"

#include <jansson.h>
#include <string.h>

/* The line that is read, and where it stands. */
typedef struct source {
    const char *name;
    uint32_t number;
    gale_str line;
    gale_error *error;
} source;

static int no_memory(const source *r) {
    return gale_error_set(r->error, GALE_NO_MEMORY, "%s: out of memory", r->name);
}

/* --- Places --- */

/* Behind the string that begins at `at`. */
static size_t skip_string(gale_str line, size_t at) {
    for (at++; at < line.size && line.data[at] != '"'; at++) at += line.data[at] == '\\';
    return at + 1;
}

static bool is_key(gale_str line, size_t begin, size_t end, const char *key) {
    size_t size = strlen(key);
    if (end != begin + size + 2 || memcmp(line.data + begin + 1, key, size) != 0) return false;
    while (end < line.size && (line.data[end] == ' ' || line.data[end] == '\t')) end++;
    return end < line.size && line.data[end] == ':';
}

/* Where a key of the object that the line is stands, from 1; the line is JSON. */
static unsigned column_of(gale_str line, const char *key) {
    int depth = 0;
    for (size_t at = 0; at < line.size;) {
        char c = line.data[at];
        if (c == '"') {
            size_t end = skip_string(line, at);
            if (depth == 1 && is_key(line, at, end, key)) return (unsigned)at + 1;
            at = end;
            continue;
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        at++;
    }
    return 1;
}

#define AT(r, column) (r)->name, (r)->number, (column)

/* --- Fields --- */

static int check_fields(const source *r, json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        gale_str rest = gx_str(GX_DEAD_LETTER_STREAM_FIELDS), name;
        gx_nearest nearest = gx_nearest_to(gx_str(key));
        char hint[100];
        bool known = false;
        while (gx_str_next(&rest, ',', &name)) {
            gx_nearest_offer(&nearest, name);
            known |= gx_str_is(name, key);
        }
        if (!known)
            return gale_error_set(r->error, GALE_NOT_FOUND, "%s:%u:%u: a dead letter has no field '%.40s'%s",
                                  AT(r, column_of(r->line, key)), key, gx_nearest_hint(&nearest, hint, sizeof hint));
    }
    return 0;
}

static int wrong(const source *r, const char *key, const char *wanted) {
    return gale_error_set(r->error, GALE_TYPE, "%s:%u:%u: '%s' must be %s", AT(r, column_of(r->line, key)), key,
                          wanted);
}

static int field(const source *r, json_t *object, const char *key, json_t **ret_value) {
    *ret_value = json_object_get(object, key);
    if (*ret_value) return 0;
    return gale_error_set(r->error, GALE_NOT_FOUND, "%s:%u:1: a dead letter needs the field '%s'", r->name, r->number,
                          key);
}

static int text_field(const source *r, json_t *object, const char *key, bool may_be_null, gale_str *ret_text) {
    json_t *value;
    int rc = field(r, object, key, &value);
    if (rc < 0) return rc;
    *ret_text = (gale_str){ NULL, 0 };
    if (may_be_null && json_is_null(value)) return 0;
    if (!json_is_string(value)) return wrong(r, key, may_be_null ? "a string or null" : "a string");
    *ret_text = (gale_str){ json_string_value(value), json_string_length(value) };
    return 0;
}

static int number_field(const source *r, json_t *object, const char *key, int64_t *ret_number) {
    json_t *value;
    int rc = field(r, object, key, &value);
    if (rc < 0) return rc;
    if (!json_is_integer(value)) return wrong(r, key, "a whole number");
    *ret_number = json_integer_value(value);
    return 0;
}

static int tuple_field(const source *r, json_t *object, gale_value_owned **ret_tuple) {
    json_t *value;
    int rc = field(r, object, "tuple", &value);
    if (rc < 0) return rc;
    if (!json_is_array(value)) return wrong(r, "tuple", "a list");
    rc = gx_json_to_value(value, ret_tuple);
    if (rc == GALE_NO_MEMORY) return no_memory(r);
    return rc < 0 ? wrong(r, "tuple", "a list of values, not too deep, with base64 where it says so") : 0;
}

static int read_fields(const source *r, json_t *object, gx_letter *letter) {
    int rc = check_fields(r, object);
    if (rc == 0) rc = text_field(r, object, "component", false, &letter->component);
    if (rc == 0) rc = text_field(r, object, "stream", false, &letter->stream);
    if (rc == 0) rc = number_field(r, object, "message_id", &letter->message_id);
    if (rc == 0) rc = text_field(r, object, "reason", false, &letter->reason);
    if (rc == 0) rc = text_field(r, object, "text", false, &letter->text);
    if (rc == 0) rc = text_field(r, object, "place", true, &letter->place);
    if (rc == 0) rc = number_field(r, object, "task", &letter->task);
    if (rc == 0) rc = number_field(r, object, "attempts", &letter->attempts);
    return rc == 0 ? tuple_field(r, object, &letter->tuple) : rc;
}

/* --- The line --- */

static int parse_object(const source *r, json_t **ret_object) {
    json_error_t why;
    json_t *json = json_loadb(r->line.data, r->line.size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (!json && !*why.text) return no_memory(r); /* it says nothing then */
    if (!json)
        return gale_error_set(r->error, GALE_SYNTAX, "%s:%u:%d: this is no line of a dead-letter file: %s", r->name,
                              r->number, why.column > 0 ? why.column : 1, why.text);
    if (json_is_object(json)) {
        *ret_object = json;
        return 0;
    }
    json_decref(json);
    return gale_error_set(r->error, GALE_TYPE, "%s:%u:1: a dead letter must be a JSON object", r->name, r->number);
}

int gx_letter_parse(const char *name, uint32_t number, gale_str line, gx_letter *ret_letter, gale_error *error) {
    const source from = { name, number, line, error };
    gx_letter letter = { .line = line, .number = number };
    json_t *object = NULL;
    int rc = parse_object(&from, &object);
    if (rc < 0) return rc;
    letter.json = object;
    rc = read_fields(&from, object, &letter);
    if (rc < 0)
        gx_letter_fini(&letter);
    else
        *ret_letter = letter;
    return rc;
}

void gx_letter_fini(gx_letter *letter) {
    gale_value_owned_free(letter->tuple);
    json_decref(letter->json);
    *letter = (gx_letter){ .number = 0 };
}
