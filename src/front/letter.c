#include "front/letter.h"

#include "base/nearest.h"
#include "base/str.h"
#include "base/utf8.h"
#include "front/json_line.h"
#include "front/json_value.h"
#include "topology/builder.h"
#include "tuple/json_view.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(const gx_json_line *r) {
    return gale_error_set(r->error, GALE_NO_MEMORY, "%s: out of memory", r->name);
}

#define AT(r, column) (r)->name, (r)->number, (column)

/* --- Fields --- */

static int check_fields(const gx_json_line *r, gale_str object) {
    for (gale_json_item item = GALE_JSON_FIRST(object); gale_json_next(&item);) {
        gale_str rest = gx_str(GX_DEAD_LETTER_STREAM_FIELDS), name, key = { item.name.data + 1, item.name.size - 2 };
        gx_nearest nearest = gx_nearest_to(key);
        char hint[100];
        bool known = gale_json_is(item.name, "time");
        gx_nearest_offer(&nearest, gx_str("time"));
        while (gx_str_next(&rest, ',', &name)) {
            gx_nearest_offer(&nearest, name);
            known |= gx_json_string_is(item.name, name);
        }
        if (!known)
            return gale_error_set(r->error, GALE_NOT_FOUND, "%s:%u:%u: a dead letter has no field '%.*s'%s",
                                  AT(r, (unsigned)(item.name.data - r->line.data) + 1),
                                  (int)gx_utf8_prefix(key.data, key.size < 40 ? key.size : 40), key.data,
                                  gx_nearest_hint(&nearest, hint, sizeof hint));
    }
    return 0;
}

static int wrong(const gx_json_line *r, const char *key, const char *wanted) {
    return gale_error_set(r->error, GALE_TYPE, "%s:%u:%u: '%s' must be %s", AT(r, gx_json_line_column(r, key)), key,
                          wanted);
}

static int field(const gx_json_line *r, gale_str object, const char *key, gale_str *ret_value) {
    if (gale_json_get(object, key, ret_value)) return 0;
    return gale_error_set(r->error, GALE_NOT_FOUND, "%s:%u:1: a dead letter needs the field '%s'", r->name, r->number,
                          key);
}

/* `*texts`: where the text goes, and then where the next one does. */
static int text_field(const gx_json_line *r, gale_str object, const char *key, bool may_be_null, char **texts,
                      gale_str *ret_text) {
    gale_str value;
    int rc = field(r, object, key, &value);
    if (rc < 0) return rc;
    *ret_text = (gale_str){ NULL, 0 };
    if (may_be_null && gale_json_kind_of(value) == GALE_JSON_NULL) return 0;
    bool is_text = gale_json_kind_of(value) == GALE_JSON_STRING;
    int64_t size = is_text ? gale_json_text(value, *texts, value.size) : -1;
    if (size < 0) return wrong(r, key, may_be_null ? "a string or null" : "a string");
    *ret_text = (gale_str){ *texts, (size_t)size };
    *texts += size + 1;
    return 0;
}

static int number_field(const gx_json_line *r, gale_str object, const char *key, int64_t *ret_number) {
    gale_str value;
    int rc = field(r, object, key, &value);
    if (rc < 0) return rc;
    return gale_json_whole(value, ret_number) ? 0 : wrong(r, key, "a whole number");
}

/* What was written by an older gale has none. */
static int time_field(const gx_json_line *r, gale_str object, double *ret_time) {
    gale_str value;
    *ret_time = 0;
    if (!gale_json_get(object, "time", &value)) return 0;
    return gale_json_number(value, ret_time) && *ret_time > 0 ? 0 : wrong(r, "time", "a number above 0");
}

static int tuple_field(const gx_json_line *r, gale_str object, gale_value_owned **ret_tuple) {
    gale_str value;
    int rc = field(r, object, "tuple", &value);
    if (rc < 0) return rc;
    if (gale_json_kind_of(value) != GALE_JSON_LIST) return wrong(r, "tuple", "a list");
    rc = gx_json_to_value(value, ret_tuple);
    if (rc == GALE_NO_MEMORY) return no_memory(r);
    return rc < 0 ? wrong(r, "tuple", "a list of values, not too deep, with base64 where it says so") : 0;
}

static int read_fields(const gx_json_line *r, gale_str object, gx_letter *letter) {
    char *texts = letter->texts;
    int rc = check_fields(r, object);
    if (rc == 0) rc = text_field(r, object, "component", false, &texts, &letter->component);
    if (rc == 0) rc = text_field(r, object, "stream", false, &texts, &letter->stream);
    if (rc == 0) rc = number_field(r, object, "message_id", &letter->message_id);
    if (rc == 0) rc = text_field(r, object, "reason", false, &texts, &letter->reason);
    if (rc == 0) rc = text_field(r, object, "text", false, &texts, &letter->text);
    if (rc == 0) rc = text_field(r, object, "place", true, &texts, &letter->place);
    if (rc == 0) rc = number_field(r, object, "task", &letter->task);
    if (rc == 0) rc = number_field(r, object, "attempts", &letter->attempts);
    if (rc == 0) rc = time_field(r, object, &letter->time);
    return rc == 0 ? tuple_field(r, object, &letter->tuple) : rc;
}

/* --- The line --- */

int gx_letter_parse(const char *name, uint32_t number, gale_str line, gx_letter *ret_letter, gale_error *error) {
    const gx_json_line from = { name, number, line, error };
    gx_letter letter = { .line = line, .number = number };
    gale_str object;
    int rc = gx_json_line_parse(&from, "line of a dead-letter file", "a dead letter", &object);
    if (rc < 0) return rc;
    letter.texts = malloc(object.size); /* escapes are longer than what they say, and quotation marks than a NUL */
    if (!letter.texts) return no_memory(&from);
    rc = read_fields(&from, object, &letter);
    if (rc < 0)
        gx_letter_fini(&letter);
    else
        *ret_letter = letter;
    return rc;
}

void gx_letter_fini(gx_letter *letter) {
    gale_value_owned_free(letter->tuple);
    free(letter->texts);
    *letter = (gx_letter){ .number = 0 };
}
