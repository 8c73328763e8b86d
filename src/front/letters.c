#include "front/letters.h"

#include "base/nearest.h"
#include "base/os/file.h"
#include "base/str.h"
#include "front/json_value.h"
#include "topology/builder.h"

#include <jansson.h>
#include <stdlib.h>

typedef struct reader {
    gx_letters letters;
    gale_str line;
    uint32_t number;
    gale_error *error;
} reader;

static int no_memory(const reader *r) {
    return gale_error_set(r->error, GALE_NO_MEMORY, "%s: out of memory", r->letters.name);
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

#define AT(r, column) (r)->letters.name, (r)->number, (column)

/* --- Fields --- */

static int check_fields(const reader *r, json_t *object) {
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

static int wrong(const reader *r, const char *key, const char *wanted) {
    return gale_error_set(r->error, GALE_TYPE, "%s:%u:%u: '%s' must be %s", AT(r, column_of(r->line, key)), key,
                          wanted);
}

static int field(const reader *r, json_t *object, const char *key, json_t **ret_value) {
    *ret_value = json_object_get(object, key);
    if (*ret_value) return 0;
    return gale_error_set(r->error, GALE_NOT_FOUND, "%s:%u:1: a dead letter needs the field '%s'", r->letters.name,
                          r->number, key);
}

static int text_field(const reader *r, json_t *object, const char *key, bool may_be_null, gale_str *ret_text) {
    json_t *value;
    int code = field(r, object, key, &value);
    if (code < 0) return code;
    *ret_text = (gale_str){ NULL, 0 };
    if (may_be_null && json_is_null(value)) return 0;
    if (!json_is_string(value)) return wrong(r, key, may_be_null ? "a string or null" : "a string");
    *ret_text = (gale_str){ json_string_value(value), json_string_length(value) };
    return 0;
}

static int number_field(const reader *r, json_t *object, const char *key, int64_t *ret_number) {
    json_t *value;
    int code = field(r, object, key, &value);
    if (code < 0) return code;
    if (!json_is_integer(value)) return wrong(r, key, "a whole number");
    *ret_number = json_integer_value(value);
    return 0;
}

static int tuple_field(const reader *r, json_t *object, gale_value_owned **ret_tuple) {
    json_t *value;
    int code = field(r, object, "tuple", &value);
    if (code < 0) return code;
    if (!json_is_array(value)) return wrong(r, "tuple", "a list");
    code = gx_json_to_value(value, ret_tuple);
    if (code == GALE_NO_MEMORY) return no_memory(r);
    return code < 0 ? wrong(r, "tuple", "a list of values, not too deep, with base64 where it says so") : 0;
}

static int read_fields(const reader *r, json_t *object, gx_letter *letter) {
    int code = check_fields(r, object);
    if (code == 0) code = text_field(r, object, "component", false, &letter->component);
    if (code == 0) code = text_field(r, object, "stream", false, &letter->stream);
    if (code == 0) code = number_field(r, object, "message_id", &letter->message_id);
    if (code == 0) code = text_field(r, object, "reason", false, &letter->reason);
    if (code == 0) code = text_field(r, object, "text", false, &letter->text);
    if (code == 0) code = text_field(r, object, "place", true, &letter->place);
    if (code == 0) code = number_field(r, object, "task", &letter->task);
    if (code == 0) code = number_field(r, object, "attempts", &letter->attempts);
    return code == 0 ? tuple_field(r, object, &letter->tuple) : code;
}

/* --- Lines --- */

static int parse_object(const reader *r, json_t **ret_object) {
    json_error_t why;
    json_t *json = json_loadb(r->line.data, r->line.size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (!json && !*why.text) return no_memory(r); /* it says nothing then */
    if (!json)
        return gale_error_set(r->error, GALE_SYNTAX, "%s:%u:%d: this is no line of a dead-letter file: %s",
                              r->letters.name, r->number, why.column > 0 ? why.column : 1, why.text);
    if (json_is_object(json)) {
        *ret_object = json;
        return 0;
    }
    json_decref(json);
    return gale_error_set(r->error, GALE_TYPE, "%s:%u:1: a dead letter must be a JSON object", r->letters.name,
                          r->number);
}

static int read_line(reader *r) {
    gx_letters *letters = &r->letters;
    gx_letter letter = { .line = r->line, .number = r->number };
    if (letters->count == letters->capacity) {
        size_t capacity = letters->capacity ? 2 * letters->capacity : 16;
        gx_letter *grown = realloc(letters->items, capacity * sizeof *grown);
        if (!grown) return no_memory(r);
        letters->items = grown;
        letters->capacity = capacity;
    }
    json_t *object = NULL;
    int code = parse_object(r, &object);
    if (code < 0) return code;
    letter.json = object;
    code = read_fields(r, object, &letter);
    if (code < 0) {
        json_decref(object);
        return code;
    }
    letters->items[letters->count++] = letter;
    return 0;
}

static bool is_blank(gale_str line) {
    for (size_t i = 0; i < line.size; i++)
        if (line.data[i] != ' ' && line.data[i] != '\t' && line.data[i] != '\r') return false;
    return true;
}

static int read_lines(reader *r, gale_str text) {
    const char *at = text.data, *end = text.data + text.size;
    int code = 0;
    while (at < end && code == 0) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        r->line = (gale_str){ at, (size_t)((newline ? newline : end) - at) };
        r->number++;
        if (!is_blank(r->line)) code = read_line(r);
        at = newline ? newline + 1 : end;
    }
    return code;
}

/* Takes `bytes`, from malloc, also when it fails. */
static int parse(const char *name, char *bytes, size_t size, gx_letters *ret_letters, gale_error *error) {
    reader r = { .letters = { .name = strdup(name), .bytes = bytes }, .error = error };
    int code = r.letters.name && bytes ? read_lines(&r, (gale_str){ bytes, size })
                                       : gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", name);
    if (code < 0)
        gx_letters_fini(&r.letters);
    else
        *ret_letters = r.letters;
    return code;
}

int gx_letters_parse(const char *name, gale_str text, gx_letters *ret_letters, gale_error *error) {
    char *bytes = malloc(text.size + 1);
    if (bytes && text.size) memcpy(bytes, text.data, text.size);
    return parse(name, bytes, text.size, ret_letters, error);
}

int gx_letters_load(const char *path, gx_letters *ret_letters, gale_error *error) {
    char *bytes;
    size_t size;
    int code = gx_file_read_all(path, GX_LETTERS_BYTES, &bytes, &size, error);
    return code < 0 ? code : parse(path, bytes, size, ret_letters, error);
}

void gx_letters_fini(gx_letters *letters) {
    for (size_t i = 0; i < letters->count; i++) {
        gale_value_owned_free(letters->items[i].tuple);
        json_decref(letters->items[i].json);
    }
    free(letters->items);
    free(letters->name);
    free(letters->bytes);
    *letters = (gx_letters){ .items = NULL };
}
