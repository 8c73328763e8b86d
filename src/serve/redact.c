#include "serve/redact.h"

#include "base/secret.h"
#include "topology/config.h"
#include "tuple/json.h"

/* With *** in place of each secret in it. */
static void write_text(gx_json *json, gale_str text) {
    gale_str secret = gx_secret_find(text);
    if (!secret.size) {
        gx_json_string(json, text);
        return;
    }
    gx_buf shown = GX_BUF_INIT(NULL);
    for (; secret.size; secret = gx_secret_find(text)) {
        size_t before = (size_t)(secret.data - text.data);
        gx_buf_add(&shown, text.data, before);
        gx_buf_add_text(&shown, "***");
        text.data += before + secret.size;
        text.size -= before + secret.size;
    }
    gx_buf_add(&shown, text.data, text.size);
    gx_json_string(json, (gale_str){ shown.data, shown.failed ? 0 : shown.size });
    gx_buf_fini(&shown);
}

static void write_list(gx_json *json, gale_str key, const gale_value *list) {
    gx_json_open(json, '[');
    for (size_t i = 0; i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        gx_redact_value(json, key, &item);
    }
    gx_json_close(json, ']');
}

static void write_map(gx_json *json, const gale_value *map) {
    gale_str key;
    gale_value value;
    gx_json_open(json, '{');
    for (size_t i = 0; gale_map_at(map, i, &key, &value); i++) {
        gx_json_key(json, key);
        gx_redact_value(json, key, &value);
    }
    gx_json_close(json, '}');
}

void gx_redact_member(gx_json *json, const gale_config *config, gale_str key, const gale_value *value) {
    gx_json_key(json, key);
    if (gx_config_hides(config, key))
        gx_json_string(json, gx_str("***"));
    else
        gx_redact_value(json, key, value);
}

/* A configuration's values are a copy that was checked: no deeper than GALE_VALUE_DEPTH. */
void gx_redact_value(gx_json *json, gale_str key, const gale_value *value) {
    if (gx_secret_is_key(key))
        gx_json_string(json, gx_str("***"));
    else if (value->type == GALE_TYPE_STRING)
        write_text(json, (gale_str){ value->as.string, value->size });
    else if (value->type == GALE_TYPE_LIST)
        write_list(json, key, value);
    else if (value->type == GALE_TYPE_MAP)
        write_map(json, value);
    else
        gx_json_value(json, value);
}

void gx_redact_config(gx_json *json, const gale_config *config) {
    gale_str key;
    gale_value value;
    gx_json_open(json, '{');
    for (size_t i = 0; gale_config_at(config, i, &key, &value); i++) gx_redact_member(json, config, key, &value);
    gx_json_close(json, '}');
}
