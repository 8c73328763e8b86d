#include "script/json_path.h"

/* A place in a list is digits alone. */
static size_t index_of(const char *name) {
    uint64_t index;
    return gx_str_number(gx_str(name), 10, SIZE_MAX - 1, &index) ? (size_t)index : SIZE_MAX;
}

bool gx_json_path_cut(char *text, gx_json_path *ret_path) {
    gx_json_path path = { .count = 0 };
    for (char *name = text; name;) {
        char *point = strchr(name, '.');
        if (point) *point = 0;
        if (!*name || path.count == GX_JSON_STEPS) return false;
        path.steps[path.count++] = (gx_json_step){ name, index_of(name) };
        name = point ? point + 1 : NULL;
    }
    *ret_path = path;
    return true;
}

const json_t *gx_json_path_find(const gx_json_path *path, const json_t *root) {
    const json_t *at = root;
    for (uint32_t i = 0; i < path->count && at; i++) {
        const gx_json_step *step = &path->steps[i];
        at = json_is_object(at)        ? json_object_get(at, step->name)
             : step->index == SIZE_MAX ? NULL
                                       : json_array_get(at, step->index);
    }
    return at;
}

typedef struct taking {
    gx_arena *arena;
    bool deep;
} taking;

static bool take(taking *t, const json_t *json, int depth, gale_value *ret_value);

static bool take_list(taking *t, const json_t *json, int depth, gale_value *ret_value) {
    size_t count = json_array_size(json);
    gale_value *items = gx_arena_take(t->arena, count, SIZE_MAX / 2);
    if (!items) return false;
    *ret_value = gale_list(items, count);
    for (size_t i = 0; i < count; i++)
        if (!take(t, json_array_get(json, i), depth + 1, &items[i])) return false;
    return true;
}

static bool take_map(taking *t, const json_t *json, int depth, gale_value *ret_value) {
    size_t count = json_object_size(json);
    gale_value *pairs = gx_arena_take(t->arena, 2 * count, SIZE_MAX / 2);
    if (!pairs) return false;
    *ret_value = gale_map(pairs, count);
    json_t *object = (json_t *)(uintptr_t)json; /* it is only read */
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at), pairs += 2) {
        const char *key = json_object_iter_key(at);
        pairs[0] = gale_string(key, strlen(key));
        if (!take(t, json_object_iter_value(at), depth + 1, &pairs[1])) return false;
    }
    return true;
}

static bool take(taking *t, const json_t *json, int depth, gale_value *ret_value) {
    bool nested = json_is_object(json) || json_is_array(json);
    if (nested && depth >= GALE_VALUE_DEPTH) {
        t->deep = true;
        return false;
    }
    switch (json_typeof(json)) {
    case JSON_OBJECT: return take_map(t, json, depth, ret_value);
    case JSON_ARRAY: return take_list(t, json, depth, ret_value);
    case JSON_STRING: *ret_value = gale_string(json_string_value(json), json_string_length(json)); return true;
    case JSON_INTEGER: *ret_value = gale_i64(json_integer_value(json)); return true;
    case JSON_REAL: *ret_value = gale_f64(json_real_value(json)); return true;
    case JSON_TRUE:
    case JSON_FALSE: *ret_value = gale_bool(json_is_true(json)); return true;
    default: *ret_value = gale_null(); return true;
    }
}

bool gx_json_take(const json_t *json, gx_arena *arena, gale_value *ret_value, bool *ret_deep) {
    taking t = { .arena = arena };
    bool taken = take(&t, json, 0, ret_value);
    *ret_deep = t.deep;
    return taken;
}
