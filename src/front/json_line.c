#include "front/json_line.h"

#include "base/str.h"
#include "tuple/json_view.h"

unsigned gx_json_line_column(const gx_json_line *where, const char *key) {
    gale_str line = where->line;
    while (line.size && *line.data != '{') line.data++, line.size--;
    for (gale_json_item item = GALE_JSON_FIRST(line); gale_json_next(&item);)
        if (gale_json_is(item.name, key)) return (unsigned)(item.name.data - where->line.data) + 1;
    return 1;
}

/* The name that an object has twice; empty: none. */
static gale_str find_twin(gale_str object) {
    for (gale_json_item item = GALE_JSON_FIRST(object); gale_json_next(&item);)
        for (gale_json_item before = GALE_JSON_FIRST(object); gale_json_next(&before) && before.index < item.index;)
            if (gx_str_equal(before.name, item.name)) return item.name;
    return (gale_str){ "", 0 };
}

int gx_json_line_parse(const gx_json_line *at, const char *line, const char *object, gale_str *ret_object) {
    gx_json_problem why;
    if (!gx_json_check(at->line, ret_object, &why))
        return gale_error_set(at->error, GALE_SYNTAX, "%s:%u:%zu: this is no %s: %s", at->name, at->number, why.column,
                              line, why.what);
    if (gale_json_kind_of(*ret_object) != GALE_JSON_OBJECT)
        return gale_error_set(at->error, GALE_TYPE, "%s:%u:1: %s must be a JSON object", at->name, at->number, object);
    gale_str twin = find_twin(*ret_object);
    if (!twin.size) return 0;
    return gale_error_set(at->error, GALE_SYNTAX, "%s:%u:%zu: this is no %s: it has two members %.*s", at->name,
                          at->number, (size_t)(twin.data - at->line.data) + 1, line, GX_STR(twin));
}
