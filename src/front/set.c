#include "front/set.h"

#include "base/buf.h"
#include "base/nearest.h"
#include "base/str.h"
#include "front/shape.h"

static const char *const lists[] = { "spouts", "bolts" };

/* The longest id that `key` begins with, followed by a point. */
static const gx_yaml *find(const gx_yaml_doc *doc, gale_str key, gx_nearest *nearest) {
    const gx_yaml *found = NULL;
    for (size_t i = 0; i < 2; i++) {
        const gx_yaml *list = gx_yaml_get(gx_yaml_root(doc), lists[i]);
        for (const gx_yaml *item = list && list->type == GALE_TYPE_LIST ? list->as.first : NULL; item;
             item = item->next) {
            const gx_yaml *id = gx_yaml_get(item, "id");
            if (!id || !gx_yaml_is_scalar(id)) continue;
            gx_nearest_offer(nearest, id->text);
            bool begins = id->text.size && id->text.size < key.size && key.data[id->text.size] == '.' &&
                          memcmp(key.data, id->text.data, id->text.size) == 0;
            if (begins && (!found || id->text.size > found->text.size)) found = id;
        }
    }
    return found;
}

static int no_component(const gx_yaml_doc *doc, gale_str key, gale_error *error) {
    const char *point = memchr(key.data, '.', key.size);
    gale_str id = { key.data, point ? (size_t)(point - key.data) : key.size };
    gx_nearest nearest = gx_nearest_to(id);
    char hint[GX_HINT_SIZE];
    find(doc, key, &nearest);
    return gale_error_set(error, GALE_NOT_FOUND, "--set %.*s: there is no spout or bolt '%.*s'%s", GX_STR(key),
                          GX_STR(id), gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* The value as a document of its own, whose places are only its name. */
static int read_value(gx_yaml_doc *doc, gale_str key, gale_str text, const gx_yaml **ret_value, gale_error *error) {
    gx_buf name = GX_BUF_INIT(NULL);
    gx_yaml_doc *other = NULL;
    gx_buf_format(&name, "--set %.*s", GX_STR(key));
    const char *called = gx_buf_text(&name);
    int rc = called ? gx_yaml_parse(called, text, NULL, &other, error)
                    : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    gx_buf_fini(&name);
    if (rc < 0) return rc;
    gx_yaml_adopt(doc, other);
    const gx_yaml *root = gx_yaml_root(other);
    bool empty = !gx_str_trim(text).size;
    gx_yaml *value = gx_yaml_open(other, root, root ? root->type : empty ? GALE_TYPE_STRING : GALE_TYPE_NULL);
    if (!value) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    if (!root) value->text = gx_str("");
    value->line = 0;
    *ret_value = value;
    return 0;
}

int gx_set_read(gx_yaml_doc *doc, const char *text, gx_setting *ret_setting, gale_error *error) {
    const char *equals = strchr(text, '=');
    if (!equals) return gale_error_set(error, GALE_INVALID, "--set wants ID.NAME=VALUE; '%s' has no '='", text);
    gale_str key = gx_str_trim((gale_str){ text, (size_t)(equals - text) });
    gx_nearest ignored = gx_nearest_to(key);
    const gx_yaml *id = find(doc, key, &ignored);
    if (!id) return no_component(doc, key, error);
    ret_setting->id = id;
    ret_setting->name = (gale_str){ key.data + id->text.size + 1, key.size - id->text.size - 1 };
    return read_value(doc, key, gx_str(equals + 1), &ret_setting->value, error);
}
