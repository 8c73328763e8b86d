#include "script/meant.h"

#include "base/nearest.h"

#include <stdio.h>

/* Other languages' words that no spelling leads from. */
static const char *const words[][2] = {
    { "round", "math.floor(x + 0.5)" },
    { "int", "math.tointeger" },
    { "float", "tonumber" },
    { "number", "tonumber" },
    { "str", "tostring" },
    { "strlen", "string.len" },
    { "length", "string.len" },
    { "substr", "string.sub" },
    { "substring", "string.sub" },
    { "lcase", "string.lower" },
    { "ucase", "string.upper" },
    { "strip", "trim" },
    { "startswith", "starts" },
    { "starts_with", "starts" },
    { "endswith", "ends" },
    { "ends_with", "ends" },
    { "includes", "contains" },
    { "indexof", "string.find" },
    { "strftime", "time.format" },
    { "strptime", "time.parse" },
    { "counter", "metric.count" },
    { "histogram", "metric.observe" },
};

/* Of names that are as near, one of a table further to the front is meant. */
static const char *const tables[] = {
    "", "string", "math", "table", "time", "json", "url", "base64", "utf8", "metric"
};
enum { TABLES = sizeof tables / sizeof *tables };

static bool is_table(gale_str name) {
    for (size_t i = 0; i < TABLES; i++)
        if (gx_str_is(name, tables[i])) return true;
    return false;
}

static void offer_table(gx_nearest *nearest, gale_str names, const char *table) {
    gale_str rest = names, name;
    size_t size = strlen(table);
    while (gx_str_next(&rest, ' ', &name)) {
        bool is_of = size ? name.size > size && memcmp(name.data, table, size) == 0 && name.data[size] == '.'
                          : name.size && !memchr(name.data, '.', name.size) && !is_table(name);
        if (!is_of) continue;
        size_t before = size ? size + 1 : 0;
        gx_nearest_offer(nearest, (gale_str){ name.data + before, name.size - before });
    }
}

const char *gx_meant_hint(gale_str names, gale_str said, char *out, size_t size) {
    gx_nearest nearest = gx_nearest_to(said);
    const char *meant = NULL;
    for (size_t i = 0; i < TABLES; i++) offer_table(&nearest, names, tables[i]);
    gale_str word = gx_nearest_word(&nearest);
    while (word.size && word.data > names.data && word.data[-1] != ' ') word.data--, word.size++;
    for (size_t i = 0; !meant && i < sizeof words / sizeof *words; i++)
        if (gx_str_is(said, words[i][0])) meant = words[i][1];
    if (meant) word = gx_str(meant);
    *out = 0;
    if (word.size) snprintf(out, size, "; did you mean '%.*s'?", GX_STR(word));
    return out;
}
