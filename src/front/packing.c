#include "front/packing.h"

#include "front/exact_json.h"
#include "front/json_value.h"
#include "kit/fields.h"
#include "tuple/json_view.h"

#include <gale/state.h>
#include <stdio.h>
#include <string.h>

/* --- In ------------------------------------------------------------------------------------------------------------- */

static const char packs[] = "pack bolt";

typedef struct packing {
    gx_fields fields, key;
} packing;

typedef struct packer {
    gx_instance instance;
    const packing *given;
    gx_field_places places, key_places;
    gx_buf key, value;
    gale_value values[GX_FIELDS_MAX];
} packer;

static int pack_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    packer *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->given = user;
    bolt->key = bolt->value = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    *ret_self = bolt;
    return GALE_OK;
}

static void pack_cleanup(void *self) {
    packer *bolt = self;
    gx_buf_fini(&bolt->key);
    gx_buf_fini(&bolt->value);
    gx_define_instance_free(bolt);
}

/* A text is its own key, as it is to whoever else writes such messages; what is null has one, too, and so a partition. */
static void write_key(packer *bolt, const gale_value *values, uint32_t count) {
    gx_json json = gx_json_to(&bolt->key);
    bool text = values->type == GALE_TYPE_STRING || values->type == GALE_TYPE_BYTES;
    gx_buf_reset(&bolt->key);
    if (count == 1 && text)
        gx_buf_add(&bolt->key, values->as.bytes, values->size);
    else if (count == 1 && values->type != GALE_TYPE_NULL)
        gx_exact_json(&json, values);
    if (count == 1) return;
    gx_json_open(&json, '[');
    for (uint32_t i = 0; i < count; i++) gx_exact_json(&json, &values[i]);
    gx_json_close(&json, ']');
}

static void write_value(packer *bolt) {
    const gx_fields *fields = &bolt->given->fields;
    gx_json json = gx_json_to(&bolt->value);
    gx_buf_reset(&bolt->value);
    gx_json_open(&json, '{');
    for (uint32_t i = 0; i < fields->count; i++) {
        gx_json_key(&json, gx_fields_name(fields, i));
        gx_exact_json(&json, &bolt->values[i]);
    }
    gx_json_close(&json, '}');
}

static gale_value text_or_bytes(const gx_buf *text) {
    bool is_text = gale_utf8_valid(text->data, text->size);
    return is_text ? gale_string(text->data, text->size) : gale_bytes(text->data, text->size);
}

static int pack_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    packer *bolt = self;
    const packing *given = bolt->given;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_fields_take(&given->key, &bolt->key_places, packs, tuple, out, bolt->values);
    if (rc < 0) return rc;
    write_key(bolt, bolt->values, given->key.count);
    rc = gx_fields_take(&given->fields, &bolt->places, packs, tuple, out, bolt->values);
    if (rc < 0) return rc;
    write_value(bolt);
    if (!gx_buf_text(&bolt->key) || !gx_buf_text(&bolt->value)) return GALE_NO_MEMORY;
    const gale_value made[] = { text_or_bytes(&bolt->key), gale_string(bolt->value.data, bolt->value.size) };
    rc = gale_emit(out, 0, made, 2);
    return rc < 0 ? rc : GALE_OK;
}

static const gale_bolt_ops pack_ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "pack bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = pack_prepare,
    .execute = pack_execute,
    .cleanup = pack_cleanup,
    .durable = &gale_stateless,
};

int gx_packing_bolt(const char *fields, const char *key, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_output output = { .fields = "key, value" };
    packing made;
    int rc = gx_fields_parse(fields, "pack bolt: fields", &made.fields, error);
    if (rc >= 0) rc = gx_fields_parse(key, "pack bolt: key", &made.key, error);
    packing *given = rc >= 0 ? gx_define_user(&made, sizeof made, packs, error) : NULL;
    if (!given) return rc < 0 ? rc : GALE_NO_MEMORY;
    *ret_bolt = gx_define_bolt(&pack_ops, given, &output, 1);
    return GALE_OK;
}

/* --- Out ------------------------------------------------------------------------------------------------------------ */

static const char unpacks[] = "unpack bolt";

typedef struct unpacking {
    gx_fields fields, field;
    gale_output output;
    gx_json_paths paths; /* a column for each field */
    gx_json_node nodes[GX_FIELDS_MAX + 1];
} unpacking;

typedef struct unpacker {
    gx_instance instance;
    const unpacking *given;
    gx_field_places place;
    gx_json_reader reader;
    gale_value values[GX_FIELDS_MAX];
} unpacker;

static int unpack_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    unpacker *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->given = user;
    gx_json_exact_reader(&bolt->reader, &bolt->instance.heap);
    *ret_self = bolt;
    return GALE_OK;
}

static void unpack_cleanup(void *self) {
    unpacker *bolt = self;
    gx_json_reader_fini(&bolt->reader);
    gx_define_instance_free(bolt);
}

static void say(char *why, const char *what, gale_str name) {
    snprintf(why, GALE_FAILURE_TEXT, "%s%.*s", what, (int)(name.size < 100 ? name.size : 100), name.data);
}

/* GALE_INVALID with a sentence. Null stands for a field that is not there as well. */
static int take_field(unpacker *bolt, gale_str text, uint32_t index, char *why) {
    gale_str name = gx_fields_name(&bolt->given->fields, index), found;
    gale_value *value = &bolt->values[index];
    if (value->type == GALE_TYPE_NULL && !gx_json_member(text, name, &found))
        return say(why, "the message lacks the field ", name), GALE_INVALID;
    int rc = gx_json_make_exact(&bolt->reader, value);
    if (rc == 0 || rc == GALE_NO_MEMORY) return rc;
    return say(why, "the message has no value for the field ", name), GALE_INVALID;
}

/* A field that comes twice has two values. */
static bool has_twin(const gx_fields *fields, gale_str text) {
    uint64_t seen = 0;
    for (gale_json_item item = GALE_JSON_FIRST(text); gale_json_next(&item);)
        for (uint32_t i = 0; i < fields->count; i++) {
            if (!gx_json_string_is(item.name, gx_fields_name(fields, i))) continue;
            if (seen >> i & 1) return true;
            seen |= UINT64_C(1) << i;
        }
    return false;
}

static int take_fields(unpacker *bolt, gale_str text, char *why) {
    bool is_text = gale_utf8_valid(text.data, text.size);
    gx_json_scan scan = gx_json_scan_of(text);
    gx_json_scan_blanks(&scan);
    text = (gale_str){ scan.at, (size_t)(scan.end - scan.at) };
    int rc = is_text ? gx_json_read(&bolt->reader, text, &bolt->given->paths, bolt->values) : GALE_INVALID;
    if (rc == GALE_NO_MEMORY) return rc;
    if (rc < 0 || gale_json_kind_of(text) != GALE_JSON_OBJECT || has_twin(&bolt->given->fields, text))
        return say(why, "the message is no object of JSON", gx_str("")), GALE_INVALID;
    for (uint32_t i = 0; rc == 0 && i < bolt->given->fields.count; i++) rc = take_field(bolt, text, i, why);
    return rc;
}

static int unpack(unpacker *bolt, const gale_tuple *tuple, gale_collector *out, char *why) {
    const gale_handle handle = gale_tuple_handle(tuple);
    gale_value text;
    int rc = 0;
    if (bolt->given->field.count)
        rc = gx_fields_take(&bolt->given->field, &bolt->place, unpacks, tuple, out, &text);
    else if (gale_tuple_size(tuple) < 1)
        rc = gx_define_need(out, unpacks, tuple, 1);
    else
        text = gale_tuple_value(tuple, 0);
    if (rc < 0) return rc;
    if (text.type != GALE_TYPE_STRING && text.type != GALE_TYPE_BYTES)
        return say(why, "the message has no value", gx_str("")), GALE_INVALID;
    rc = take_fields(bolt, (gale_str){ text.size ? text.as.string : "", text.size }, why);
    if (rc == 0) rc = gale_emit_anchored(out, 0, bolt->values, bolt->given->fields.count, &handle, 1);
    return rc;
}

static int unpack_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    unpacker *bolt = self;
    char why[GALE_FAILURE_TEXT];
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, gale_tuple_handle(tuple));
    int rc = unpack(bolt, tuple, out, why);
    if (rc == GALE_INVALID) return gale_reject(out, gale_tuple_handle(tuple), why);
    if (rc < 0) return gale_fail(out, gale_tuple_handle(tuple), GALE_REASON_FAILED, gale_error_text(rc));
    return gale_ack(out, gale_tuple_handle(tuple));
}

static const gale_bolt_ops unpack_ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "unpack bolt",
    .kind = GALE_BOLT_MANUAL,
    .prepare = unpack_prepare,
    .execute = unpack_execute,
    .cleanup = unpack_cleanup,
    .durable = &gale_stateless,
};

int gx_unpacking_bolt(const char *fields, const char *field, gale_bolt *ret_bolt, gale_error *error) {
    unpacking made;
    int rc = gx_fields_parse(fields, "unpack bolt: fields", &made.fields, error);
    if (rc >= 0) rc = gx_fields_parse_one(field, "unpack bolt: field", &made.field, error);
    unpacking *given = rc >= 0 ? gx_define_user(&made, sizeof made, unpacks, error) : NULL;
    if (!given) return rc < 0 ? rc : GALE_NO_MEMORY;
    given->output = (gale_output){ .fields = given->fields.text };
    gx_json_paths_init(&given->paths, given->nodes);
    for (uint32_t i = 0; i < given->fields.count; i++)
        gx_json_paths_add_name(&given->paths, gx_fields_name(&given->fields, i), i, GX_JSON_NEAREST);
    *ret_bolt = gx_define_bolt(&unpack_ops, given, &given->output, 1);
    return GALE_OK;
}
