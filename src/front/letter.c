#include "front/letter.h"

#include "base/nearest.h"
#include "base/str.h"
#include "front/json_line.h"
#include "front/json_value.h"
#include "topology/builder.h"

#include <jansson.h>
#include <string.h>

static int no_memory(const gx_json_line *r) {
    return gale_error_set(r->error, GALE_NO_MEMORY, "%s: out of memory", r->name);
}

#define AT(r, column) (r)->name, (r)->number, (column)

/* --- Fields --- */

static int check_fields(const gx_json_line *r, json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        gale_str rest = gx_str(GX_DEAD_LETTER_STREAM_FIELDS), name;
        gx_nearest nearest = gx_nearest_to(gx_str(key));
        char hint[100];
        bool known = strcmp(key, "time") == 0;
        gx_nearest_offer(&nearest, gx_str("time"));
        while (gx_str_next(&rest, ',', &name)) {
            gx_nearest_offer(&nearest, name);
            known |= gx_str_is(name, key);
        }
        if (!known)
            return gale_error_set(r->error, GALE_NOT_FOUND, "%s:%u:%u: a dead letter has no field '%.40s'%s",
                                  AT(r, gx_json_line_column(r, key)), key,
                                  gx_nearest_hint(&nearest, hint, sizeof hint));
    }
    return 0;
}

static int wrong(const gx_json_line *r, const char *key, const char *wanted) {
    return gale_error_set(r->error, GALE_TYPE, "%s:%u:%u: '%s' must be %s", AT(r, gx_json_line_column(r, key)), key,
                          wanted);
}

static int field(const gx_json_line *r, json_t *object, const char *key, json_t **ret_value) {
    *ret_value = json_object_get(object, key);
    if (*ret_value) return 0;
    return gale_error_set(r->error, GALE_NOT_FOUND, "%s:%u:1: a dead letter needs the field '%s'", r->name, r->number,
                          key);
}

static int text_field(const gx_json_line *r, json_t *object, const char *key, bool may_be_null, gale_str *ret_text) {
    json_t *value;
    int rc = field(r, object, key, &value);
    if (rc < 0) return rc;
    *ret_text = (gale_str){ NULL, 0 };
    if (may_be_null && json_is_null(value)) return 0;
    if (!json_is_string(value)) return wrong(r, key, may_be_null ? "a string or null" : "a string");
    *ret_text = (gale_str){ json_string_value(value), json_string_length(value) };
    return 0;
}

static int number_field(const gx_json_line *r, json_t *object, const char *key, int64_t *ret_number) {
    json_t *value;
    int rc = field(r, object, key, &value);
    if (rc < 0) return rc;
    if (!json_is_integer(value)) return wrong(r, key, "a whole number");
    *ret_number = json_integer_value(value);
    return 0;
}

/* What was written by an older gale has none. */
static int time_field(const gx_json_line *r, json_t *object, double *ret_time) {
    json_t *value = json_object_get(object, "time");
    *ret_time = value ? json_number_value(value) : 0;
    return !value || (json_is_number(value) && *ret_time > 0) ? 0 : wrong(r, "time", "a number above 0");
}

static int tuple_field(const gx_json_line *r, json_t *object, gale_value_owned **ret_tuple) {
    json_t *value;
    int rc = field(r, object, "tuple", &value);
    if (rc < 0) return rc;
    if (!json_is_array(value)) return wrong(r, "tuple", "a list");
    rc = gx_json_to_value(value, ret_tuple);
    if (rc == GALE_NO_MEMORY) return no_memory(r);
    return rc < 0 ? wrong(r, "tuple", "a list of values, not too deep, with base64 where it says so") : 0;
}

static int read_fields(const gx_json_line *r, json_t *object, gx_letter *letter) {
    int rc = check_fields(r, object);
    if (rc == 0) rc = text_field(r, object, "component", false, &letter->component);
    if (rc == 0) rc = text_field(r, object, "stream", false, &letter->stream);
    if (rc == 0) rc = number_field(r, object, "message_id", &letter->message_id);
    if (rc == 0) rc = text_field(r, object, "reason", false, &letter->reason);
    if (rc == 0) rc = text_field(r, object, "text", false, &letter->text);
    if (rc == 0) rc = text_field(r, object, "place", true, &letter->place);
    if (rc == 0) rc = number_field(r, object, "task", &letter->task);
    if (rc == 0) rc = number_field(r, object, "attempts", &letter->attempts);
    if (rc == 0) rc = time_field(r, object, &letter->time);
    return rc == 0 ? tuple_field(r, object, &letter->tuple) : rc;
}

/* --- The line --- */

int gx_letter_parse(const char *name, uint32_t number, gale_str line, gx_letter *ret_letter, gale_error *error) {
    const gx_json_line from = { name, number, line, error };
    gx_letter letter = { .line = line, .number = number };
    json_t *object = NULL;
    int rc = gx_json_line_parse(&from, "line of a dead-letter file", "a dead letter", &object);
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
