#include "front/saved_lines.h"

#include "base/str.h"
#include "engine/rest.h"
#include "front/exact_json.h"
#include "topology/saver.h"

const char *const gx_saved_head_names[] = { "format", "checkpoint", "topology",  "time",
                                            "wall",   "complete",   "executors", NULL };
const char *const gx_saved_component_names[] = { "name",    "spout",  "tasks", "by_key", "version",
                                                 "streams", "inputs", "kept",  NULL };

const char *gx_saved_rest_name(int64_t kind) {
    switch (kind) {
    case GX_REST_TREE: return "tree";
    case GX_REST_ROW: return "row";
    case GX_REST_HELD: return "held";
    case GX_REST_SLOTS: return "slots";
    case GX_REST_COMMAND: return "command";
    case GX_REST_ACKER: return "acker";
    case GX_REST_TASK: return "task";
    case GX_REST_TICK: return "tick";
    default: return NULL;
    }
}

static void text_member(gx_json *json, const char *key, const char *text) {
    gale_value value = gale_text(text); /* a name may be any bytes */
    gx_json_key(json, gx_str(key));
    gx_exact_json(json, &value);
}

static void number_member(gx_json *json, const char *key, int64_t number) {
    gale_value value = gale_i64(number);
    gx_json_key(json, gx_str(key));
    gx_exact_json(json, &value);
}

static void bytes_member(gx_json *json, const char *key, gale_str bytes) {
    gale_value value = gale_bytes(bytes.data, bytes.size);
    gx_json_key(json, gx_str(key));
    gx_exact_json(json, &value);
}

static void values_from(gx_json *json, const gale_body *record, size_t from) {
    gx_json_open(json, '[');
    for (size_t i = from; i < gale_body_count(record); i++) {
        gale_value value = gale_body_value(record, i);
        gx_exact_json(json, &value);
    }
    gx_json_close(json, ']');
}

void gx_saved_record_json(gx_json *json, const gale_body *record) {
    values_from(json, record, 0);
}

/* --- The head --- */

static void named_members(gx_json *json, const gale_body *record, const char *const *names) {
    size_t count = gale_body_count(record), i = 0;
    for (; names[i] && i < count; i++) {
        gale_value value = gale_body_value(record, i);
        gx_json_key(json, gx_str(names[i]));
        gx_exact_json(json, &value);
    }
    if (i == count) return;
    gx_json_key(json, gx_str("more"));
    values_from(json, record, i);
}

static void head_line(gx_json *json, gale_str records) {
    const gale_body *record;
    gx_json_open(json, '{');
    number_member(json, "gale_state", GX_SAVED_LINES_FORMAT);
    if (gx_records_next(&records, &record)) named_members(json, record, gx_saved_head_names);
    gx_json_key(json, gx_str("components"));
    gx_json_open(json, '[');
    while (gx_records_next(&records, &record)) {
        gx_json_open(json, '{');
        named_members(json, record, gx_saved_component_names);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
    gx_json_close(json, '}');
}

/* --- Other lines --- */

static void keyed_line(gx_json *json, const gx_saved_pair *pair) {
    gx_json_open(json, '{');
    text_member(json, "component", pair->component);
    text_member(json, "state", pair->state);
    if (pair->scope) number_member(json, "task", (int64_t)pair->scope - 1);
    gx_json_key(json, gx_str("key"));
    gx_exact_json(json, &pair->key);
    gx_json_key(json, gx_str("value"));
    gx_exact_json(json, &pair->value);
    if (pair->expiry) number_member(json, "expires", pair->expiry);
    gx_json_close(json, '}');
}

static int record_line(gx_json *json, const gx_saved_pair *pair, const gale_body *record, gale_error *error) {
    bool rest = pair->kind == GX_SAVED_REST;
    gale_value kind = gale_body_value(record, 0); /* null when there is none */
    const char *name = kind.type == GALE_TYPE_I64 ? gx_saved_rest_name(kind.as.i64) : NULL;
    if (rest && !name)
        return gale_error_set(error, GALE_DAMAGED,
                              "the store has a record of the work that was left, of no known kind");
    gx_json_open(json, '{');
    text_member(json, rest ? "rest" : "component", rest ? name : pair->component);
    number_member(json, rest ? "executor" : "task", pair->index);
    gx_json_key(json, gx_str("record"));
    values_from(json, record, rest);
    gx_json_close(json, '}');
    return GALE_OK;
}

static int record_lines(const gx_saved_pair *pair, gx_buf *out, gale_error *error) {
    gale_str records = pair->records;
    const gale_body *record;
    int rc = GALE_OK;
    while (rc == GALE_OK && gx_records_next(&records, &record)) {
        gx_json json = gx_json_to(out);
        rc = record_line(&json, pair, record, error);
        gx_buf_add_byte(out, '\n');
    }
    return rc;
}

static void letters_line(gx_json *json, gale_str records) {
    const gale_body *record;
    gx_json_open(json, '{');
    gx_json_key(json, gx_str("dead_letters"));
    gx_json_open(json, '[');
    while (gx_records_next(&records, &record)) gx_saved_record_json(json, record);
    gx_json_close(json, ']');
    gx_json_close(json, '}');
}

static void opaque_line(gx_json *json, const gx_saved_pair *pair) {
    gx_json_open(json, '{');
    bytes_member(json, "opaque", pair->raw_key);
    bytes_member(json, "value", pair->raw_value);
    gx_json_close(json, '}');
}

static void anew_line(gx_json *json, const gx_saved_pair *pair) {
    gx_json_open(json, '{');
    text_member(json, "begins_anew", pair->component);
    gx_json_close(json, '}');
}

int gx_saved_lines_add(const gx_saved_pair *pair, gx_buf *out, gale_error *error) {
    gx_json json = gx_json_to(out);
    switch (pair->kind) {
    case GX_SAVED_RECORDS:
    case GX_SAVED_REST: return record_lines(pair, out, error);
    case GX_SAVED_HEAD: head_line(&json, pair->records); break;
    case GX_SAVED_KEYED: keyed_line(&json, pair); break;
    case GX_SAVED_LETTERS: letters_line(&json, pair->records); break;
    case GX_SAVED_ANEW: anew_line(&json, pair); break;
    default: opaque_line(&json, pair);
    }
    gx_buf_add_byte(out, '\n');
    return GALE_OK;
}

void gx_saved_lines_end(gx_buf *out) {
    gx_buf_add_text(out, "{\"end\":true}\n");
}
