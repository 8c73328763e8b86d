#include "connect/formats/names.h"

#include "connect/formats/nearest.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

static gale_str trim(gale_str text) {
    while (text.size && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = (gale_str){ text.data + 1, text.size - 1 };
    while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t')) text.size--;
    return text;
}

void fmt_names_cut(gale_str text, gale_str *ret_from, gale_str *ret_name) {
    *ret_from = *ret_name = trim(text);
    for (size_t at = 0; at + 4 <= text.size; at++) {
        if (memcmp(text.data + at, " as ", 4) != 0) continue;
        *ret_from = trim((gale_str){ text.data, at });
        *ret_name = trim((gale_str){ text.data + at + 4, text.size - at - 4 });
        return;
    }
}

/* --- What goes out ---------------------------------------------------------------------------------------------------- */

static bool goes_out(const fmt_names *names, gale_str name) {
    gale_str rest = { names->outputs, names->outputs_size };
    while (rest.size) {
        const char *comma = memchr(rest.data, ',', rest.size);
        size_t size = comma ? (size_t)(comma - rest.data) : rest.size;
        if (fmt_same(trim((gale_str){ rest.data, size }), name)) return true;
        size_t step = comma ? size + 1 : size;
        rest = (gale_str){ rest.data + step, rest.size - step };
    }
    return false;
}

int fmt_names_add(fmt_names *names, const char *parameter, gale_str name, gale_error *error) {
    if (!name.size || memchr(name.data, ',', name.size) || memchr(name.data, '\0', name.size))
        return gale_error_set(error, GALE_INVALID, "%s: '%.*s' is no name of a field", parameter, FMT_STR(name));
    if (goes_out(names, name))
        return gale_error_set(error, GALE_INVALID, "%s: '%.*s' goes out already; 'as NAME' gives it another name",
                              parameter, FMT_STR(name));
    size_t size = names->outputs_size + name.size + 3;
    char *text = fmt_memory_take(&names->memory, size);
    if (!text) return no_memory(error);
    if (names->outputs_size) {
        memcpy(text, names->outputs, names->outputs_size);
        memcpy(text + names->outputs_size, ", ", 2);
        names->outputs_size += 2;
    }
    memcpy(text + names->outputs_size, name.data, name.size);
    names->outputs_size += name.size;
    names->outputs = text;
    return 0;
}

int fmt_names_read_keep(fmt_names *names, const gale_args *args, gale_error *error) {
    const char *text = gale_args_text(args, "keep");
    gale_str rest = { text, text ? strlen(text) : 0 };
    while (rest.size) {
        const char *comma = memchr(rest.data, ',', rest.size);
        size_t size = comma ? (size_t)(comma - rest.data) : rest.size, step = comma ? size + 1 : size;
        gale_str name = trim((gale_str){ rest.data, size });
        if (names->keep.count == FMT_KEEP_MAX)
            return gale_error_set(error, GALE_INVALID, "keep: it names more than %d fields", FMT_KEEP_MAX);
        int rc = fmt_names_add(names, "keep", name, error);
        gale_str copy = fmt_memory_copy(&names->memory, name.data, name.size);
        if (rc < 0 || !copy.data) return rc < 0 ? rc : no_memory(error);
        names->keep.names[names->keep.count++] = copy.data;
        rest = (gale_str){ rest.data + step, rest.size - step };
    }
    return 0;
}

/* --- Paths ------------------------------------------------------------------------------------------------------------ */

static int no_field(gale_str path, gale_str step, const fmt_nearest *nearest, gale_error *error) {
    char hint[FMT_HINT];
    return gale_error_set(error, GALE_INVALID, "fields: '%.*s': the schema has no field '%.*s' there%s", FMT_STR(path),
                          FMT_STR(step), fmt_nearest_hint(nearest, hint));
}

/* As far as the schema knows names. */
static int check_path(const fmt_path *path, gale_str text, const fmt_format *format, const void *schema,
                      gale_error *error) {
    const void *node = NULL;
    for (size_t i = 0; i < path->count && (i == 0 || node); i++) {
        fmt_nearest nearest = fmt_nearest_to(path->steps[i]);
        const void *below = NULL;
        gale_str name;
        bool found = false;
        for (size_t at = 0; !found && format->field(schema, node, at, &name, &below); at++) {
            fmt_nearest_offer(&nearest, name);
            found = fmt_same(name, path->steps[i]);
        }
        if (!found) return no_field(text, path->steps[i], &nearest, error);
        node = below;
    }
    return 0;
}

static int cut_path(fmt_path *path, gale_str text, gale_error *error) {
    gale_str rest = text;
    for (;;) {
        const char *point = rest.size ? memchr(rest.data, '.', rest.size) : NULL;
        size_t size = point ? (size_t)(point - rest.data) : rest.size;
        if (!size || path->count == FMT_STEPS_MAX)
            return gale_error_set(
                error, GALE_INVALID,
                "fields: '%.*s': a path is up to %d names, none of them empty, with points between them", FMT_STR(text),
                FMT_STEPS_MAX);
        path->steps[path->count++] = (gale_str){ rest.data, size };
        if (!point) return 0;
        rest = (gale_str){ rest.data + size + 1, rest.size - size - 1 };
    }
}

static int add_path(fmt_names *names, gale_str from, gale_str name, gale_error *error) {
    fmt_path *path = &names->paths[names->count];
    gale_str text = fmt_memory_copy(&names->memory, from.data, from.size);
    if (!text.data) return no_memory(error);
    int rc = cut_path(path, text, error);
    if (rc < 0) return rc;
    if (name.data == from.data) name = path->steps[path->count - 1];
    names->count++;
    return fmt_names_add(names, "fields", name, error);
}

static int add_all(fmt_names *names, const fmt_format *format, const void *schema, gale_error *error) {
    const void *below;
    gale_str name;
    int rc = 0;
    for (size_t i = 0; rc == 0 && format->field(schema, NULL, i, &name, &below); i++) {
        if (names->count == FMT_FIELDS_MAX)
            return gale_error_set(error, GALE_INVALID, "fields: the schema has more than %d: they must be named here",
                                  FMT_FIELDS_MAX);
        names->paths[names->count].steps[0] = name;
        names->paths[names->count++].count = 1;
        rc = fmt_names_add(names, "fields", name, error);
    }
    return rc;
}

static int add_named(fmt_names *names, const gale_value *list, const fmt_format *format, const void *schema,
                     gale_error *error) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < list->size; i++) {
        gale_value one = gale_list_at(list, i);
        gale_str from, name;
        if (names->count == FMT_FIELDS_MAX)
            return gale_error_set(error, GALE_INVALID, "fields: it names more than %d", FMT_FIELDS_MAX);
        fmt_names_cut((gale_str){ one.as.string, one.size }, &from, &name);
        rc = add_path(names, from, name, error);
        if (rc == 0) rc = check_path(&names->paths[names->count - 1], from, format, schema, error);
    }
    return rc;
}

int fmt_names_read(fmt_names *names, const gale_args *args, const fmt_format *format, const void *schema,
                   gale_error *error) {
    gale_value list = gale_args_value(args, "fields");
    int rc = fmt_names_read_keep(names, args, error);
    if (rc < 0) return rc;
    names->paths = fmt_memory_take(&names->memory, FMT_FIELDS_MAX * sizeof *names->paths);
    if (!names->paths) return no_memory(error);
    rc = list.size ? add_named(names, &list, format, schema, error) : add_all(names, format, schema, error);
    if (rc == 0 && !names->outputs_size) rc = gale_error_set(error, GALE_INVALID, "schema: the message has no fields");
    return rc;
}

/* --- Values ----------------------------------------------------------------------------------------------------------- */

static gale_value list_item(const gale_value *list, gale_str place) {
    size_t index = 0;
    for (size_t i = 0; i < place.size; i++) {
        if (place.data[i] < '0' || place.data[i] > '9' || index > list->size) return gale_null();
        index = 10 * index + (size_t)(place.data[i] - '0');
    }
    return gale_list_at(list, index);
}

void fmt_keep_values(const fmt_keep *keep, const gale_tuple *tuple, gale_value *values) {
    for (size_t i = 0; i < keep->count; i++)
        if (!gale_tuple_get(tuple, keep->names[i], &values[i])) values[i] = gale_null();
}

gale_value fmt_path_find(const fmt_path *path, const gale_value *root) {
    gale_value value = *root;
    for (size_t i = 0; i < path->count; i++) {
        gale_value below = gale_null();
        if (value.type == GALE_TYPE_MAP)
            (void)gale_map_get(&value, path->steps[i], &below);
        else if (value.type == GALE_TYPE_LIST)
            below = list_item(&value, path->steps[i]);
        value = below;
    }
    return value;
}
