#include "front/shape.h"

#include "base/nearest.h"
#include "base/str.h"

#include <stdio.h>

static bool contains(const char *words, gale_str wanted) {
    gale_str rest = gx_str(words), word;
    while (gx_str_next(&rest, ' ', &word))
        if (gx_str_equal(word, wanted)) return true;
    return false;
}

/* What people write for a key whose name they do not know; no typing errors. */
static const char *meant(gale_str wanted, const char *known) {
    static const char *const pairs[][2] = { { "name", "id" },
                                            { "class", "className" },
                                            { "type", "className" },
                                            { "args", "constructorArgs" },
                                            { "arguments", "constructorArgs" },
                                            { "tasks", "numTasks" },
                                            { "source", "from" },
                                            { "target", "to" },
                                            { "fields", "args" },
                                            { "stream", "streamId" } };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (gx_str_is(wanted, pairs[i][0]) && contains(known, gx_str(pairs[i][1]))) return pairs[i][1];
    return NULL;
}

const char *gx_shape_hint(gale_str wanted, const char *known, char out[GX_HINT_SIZE]) {
    gx_nearest nearest = gx_nearest_to(wanted);
    gale_str rest = gx_str(known), word;
    const char *other = meant(wanted, known);
    if (other) {
        snprintf(out, GX_HINT_SIZE, "; did you mean '%s'?", other);
        return out;
    }
    while (gx_str_next(&rest, ' ', &word)) gx_nearest_offer(&nearest, word);
    return gx_nearest_hint(&nearest, out, GX_HINT_SIZE);
}

static int refuse_key(const gx_yaml_doc *doc, const gx_yaml *key, const char *what, const char *offered,
                      gale_error *error) {
    char hint[GX_HINT_SIZE];
    if (contains(offered, key->text)) /* only a stream has others */
        return gx_yaml_error(doc, key, error, GALE_TOPOLOGY, "a stream has `via` or `buffer`, not both");
    if (gx_str_is(key->text, "cases") && strcmp(what, "a topology") == 0)
        return gx_yaml_error(doc, key, error, GALE_TOPOLOGY,
                             "this is a file of cases, which gale test runs, and not a topology");
    return gx_yaml_error(doc, key, error, GALE_TOPOLOGY, "unknown key '%.*s' in %s%s", GX_STR(key->text), what,
                         gx_shape_hint(key->text, offered, hint));
}

/* `offered` are those that may be meant. */
static int look_at_keys(const gx_yaml_doc *doc, const gx_yaml *node, const char *what, const char *known,
                        const char *offered, gale_error *error) {
    if (node->type != GALE_TYPE_MAP)
        return gx_yaml_error(doc, node, error, GALE_TYPE, "%s must be a map, not %s", what, gx_yaml_type_text(node));
    for (const gx_yaml *key = node->as.first; key; key = key->next->next) {
        if (contains(known, key->text)) continue;
        int rc = refuse_key(doc, key, what, offered, error);
        if ((rc = gx_yaml_keep(doc, rc, error)) < 0) return rc;
    }
    return 0;
}

int gx_shape_map(const gx_yaml_doc *doc, const gx_yaml *node, const char *what, const char *known, gale_error *error) {
    return look_at_keys(doc, node, what, known, known, error);
}

int gx_shape_stream(const gx_yaml_doc *doc, const gx_yaml *node, const char *known, gale_error *error) {
    static const char all[] = GX_STREAM_KEYS " via buffer";
    return look_at_keys(doc, node, "a stream", known, all, error);
}

/* 1: an unknown key was kept since `kept`, and a needed one is not there. */
static int look_for(const gx_yaml_doc *doc, const gx_yaml *node, const char *needed, size_t kept) {
    gale_str rest = gx_str(needed), word;
    int rc = 0;
    while (rc == 0 && gx_yaml_kept(doc) != kept && gx_str_next(&rest, ' ', &word)) {
        bool there = false;
        for (const gx_yaml *key = node->as.first; key && !there; key = key->next->next)
            there = gx_str_equal(key->text, word);
        if (!there) rc = 1;
    }
    return rc;
}

int gx_shape_map_with(const gx_yaml_doc *doc, const gx_yaml *node, const char *what, const char *known,
                      const char *needed, gale_error *error) {
    size_t kept = gx_yaml_kept(doc);
    int rc = gx_shape_map(doc, node, what, known, error);
    return rc == 0 ? look_for(doc, node, needed, kept) : rc;
}

int gx_shape_stream_with(const gx_yaml_doc *doc, const gx_yaml *node, const char *known, const char *needed,
                         gale_error *error) {
    size_t kept = gx_yaml_kept(doc);
    int rc = gx_shape_stream(doc, node, known, error);
    return rc == 0 ? look_for(doc, node, needed, kept) : rc;
}

int gx_shape_list(const gx_yaml_doc *doc, const gx_yaml *map, const char *what, const char *key,
                  const gx_yaml **ret_list, gale_error *error) {
    const gx_yaml *list = gx_yaml_get(map, key);
    if (list && list->type != GALE_TYPE_LIST && list->type != GALE_TYPE_NULL)
        return gx_yaml_error(doc, list, error, GALE_TYPE, "'%s' of %s must be a list, not %s", key, what,
                             gx_yaml_type_text(list));
    *ret_list = list && list->type == GALE_TYPE_LIST && list->count ? list : NULL;
    return 0;
}

int gx_shape_text(const gx_yaml_doc *doc, const gx_yaml *map, const char *what, const char *key,
                  const gx_yaml **ret_text, gale_error *error) {
    const gx_yaml *text = gx_yaml_get(map, key);
    if (!text) return gx_yaml_error(doc, map, error, GALE_TOPOLOGY, "%s needs the field '%s'", what, key);
    if (!gx_yaml_is_scalar(text) || text->type == GALE_TYPE_NULL)
        return gx_yaml_error(doc, text, error, GALE_TYPE, "'%s' of %s must be a string, not %s", key, what,
                             gx_yaml_type_text(text));
    if (memchr(text->text.data, 0, text->text.size))
        return gx_yaml_error(doc, text, error, GALE_INVALID, "'%s' of %s must not hold a NUL character", key, what);
    *ret_text = text;
    return 0;
}

int gx_shape_number(const gx_yaml_doc *doc, const gx_yaml *map, const char *what, const char *key, int64_t min,
                    int64_t max, int64_t fallback, int64_t *ret_number, gale_error *error) {
    const gx_yaml *number = gx_yaml_get(map, key);
    if (number && number->type == GALE_TYPE_F64)
        return gx_yaml_error(doc, number, error, GALE_TYPE, "'%s' of %s must be a whole number, not %.*s", key, what,
                             (int)(number->text.size < 60 ? number->text.size : 60), number->text.data);
    if (number && number->type != GALE_TYPE_I64)
        return gx_yaml_error(doc, number, error, GALE_TYPE, "'%s' of %s must be a whole number, not %s", key, what,
                             gx_yaml_type_text(number));
    if (number && (number->as.i64 < min || number->as.i64 > max))
        return gx_yaml_error(doc, number, error, GALE_INVALID, "'%s' of %s must be in %lld to %lld, not %lld", key,
                             what, (long long)min, (long long)max, (long long)number->as.i64);
    *ret_number = number ? number->as.i64 : fallback;
    return 0;
}
