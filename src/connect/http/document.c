#include "connect/http/document.h"

#include "connect/http/json.h"

#include <gale/json.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = { "json", "lines", "array", "bulk", "raw" };
static const char *const types[] = { "application/json", "application/x-ndjson", "application/json",
                                     "application/x-ndjson", "application/octet-stream" };

const char *http_document_type(http_format format) {
    return types[format];
}

http_format http_document_format(const char *name) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return (http_format)i;
    return HTTP_JSON;
}

/* --- Fields ----------------------------------------------------------------------------------------------------------- */

static int refuse(char *why, size_t size, const char *field, const char *what) {
    snprintf(why, size, "field %s %s", field, what);
    return GALE_INVALID;
}

static bool is_json(const char *text, size_t size) {
    return gale_json_check((gale_str){ text, size }, NULL, NULL) == 0;
}

/* Ends of lines are blanks in JSON, and would end a line of a body. */
static void add_in_one_line(http_buffer *to, const char *text, size_t size) {
    size_t from = to->size;
    http_buffer_add(to, text, size);
    for (size_t i = from; !to->failed && i < to->size; i++)
        if (to->data[i] == '\n' || to->data[i] == '\r') to->data[i] = ' ';
}

static int write_text(const gale_value *value, const char *field, http_buffer *to, char *why, size_t size) {
    const char *text = value->size ? value->as.string : "";
    if (!is_json(text, value->size)) return refuse(why, size, field, "is no JSON; format: raw takes it as it is");
    add_in_one_line(to, text, value->size);
    return 0;
}

static int write_json(const http_document *d, const gale_tuple *tuple, http_buffer *to, char *why, size_t size) {
    gale_value value;
    if (!d->body) {
        http_json_tuple(to, tuple);
        return 0;
    }
    if (!gale_tuple_get(tuple, d->body, &value)) return refuse(why, size, d->body, "is not there");
    if (value.type == GALE_TYPE_STRING || value.type == GALE_TYPE_BYTES)
        return write_text(&value, d->body, to, why, size);
    http_json_value(to, &value);
    return 0;
}

static int write_raw(const http_document *d, const gale_tuple *tuple, http_buffer *to, char *why, size_t size) {
    const char *field = d->body ? d->body : gale_tuple_field(tuple, 0);
    char number[GALE_NUMBER_TEXT];
    gale_value value;
    gale_str text;
    if (!field || !gale_tuple_get(tuple, field, &value))
        return refuse(why, size, field ? field : "body", "is not there");
    if (!gale_value_text(&value, number, &text))
        return refuse(why, size, field, "is a list or a map: format: json takes it");
    http_buffer_add(to, text.data, text.size);
    return 0;
}

/* --- _bulk ------------------------------------------------------------------------------------------------------------ */

static int write_id(const http_document *d, const gale_tuple *tuple, http_buffer *to, char *why, size_t size) {
    char number[GALE_NUMBER_TEXT];
    gale_value value;
    gale_str text;
    if (!gale_tuple_get(tuple, d->id, &value)) return refuse(why, size, d->id, "is not there");
    if (value.type != GALE_TYPE_STRING && value.type != GALE_TYPE_I64)
        return refuse(why, size, d->id, "is no text and no whole number: no id is made of it");
    if (value.type == GALE_TYPE_STRING && (!value.size || value.size > 512))
        return refuse(why, size, d->id, "is empty, or has more than 512 bytes: no id is made of it");
    if (d->index) http_buffer_text(to, ",");
    http_buffer_text(to, "\"_id\":");
    if (gale_value_text(&value, number, &text)) http_json_string(to, text.data, text.size);
    return 0;
}

static int write_action(const http_document *d, const gale_tuple *tuple, http_buffer *to, char *why, size_t size) {
    int rc = 0;
    http_buffer_text(to, "{\"index\":{");
    if (d->index) {
        http_buffer_text(to, "\"_index\":");
        http_json_string(to, d->index, strlen(d->index));
    }
    if (d->id) rc = write_id(d, tuple, to, why, size);
    http_buffer_text(to, "}}\n");
    return rc;
}

static int write_bulk(const http_document *d, const gale_tuple *tuple, http_buffer *to, char *why, size_t size) {
    int rc = write_action(d, tuple, to, why, size);
    size_t at = to->size;
    if (rc == 0) rc = write_json(d, tuple, to, why, size);
    if (rc == 0 && !to->failed && to->data[at] != '{') {
        snprintf(why, size, "what %s has is no object: a document of _bulk is one", d->body ? d->body : "the tuple");
        return GALE_INVALID;
    }
    return rc;
}

/* --- Both ------------------------------------------------------------------------------------------------------------- */

int http_document_write(const http_document *d, const gale_tuple *tuple, http_buffer *to, char *why, size_t size) {
    size_t at = to->size;
    int rc = d->format == HTTP_RAW    ? write_raw(d, tuple, to, why, size)
             : d->format == HTTP_BULK ? write_bulk(d, tuple, to, why, size)
                                      : write_json(d, tuple, to, why, size);
    if (rc == 0 && (d->format == HTTP_BULK || d->format == HTTP_LINES)) http_buffer_text(to, "\n");
    if (rc == 0 && to->failed) rc = GALE_NO_MEMORY;
    if (rc < 0) {
        to->failed = false;
        http_buffer_cut(to, at);
    }
    return rc;
}
