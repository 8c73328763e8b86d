#include "script/meant.h"

#include "base/nearest.h"
#include "kit/window_spec.h"

#include <stdio.h>
#include <strings.h>

/* Other languages' words that no spelling leads from. */
static const char *const words[][2] = {
    { "round", "math.floor(x + 0.5)" },
    { "trunc", "math.modf" },
    { "ceiling", "math.ceil" },
    { "pow", "x ^ y" },
    { "power", "x ^ y" },
    { "mod", "x % y" },
    { "int", "math.tointeger" },
    { "integer", "math.tointeger" },
    { "float", "tonumber" },
    { "number", "tonumber" },
    { "parseint", "tonumber" },
    { "parsefloat", "tonumber" },
    { "atoi", "tonumber" },
    { "cast", "tonumber" },
    { "str", "tostring" },
    { "text", "tostring" },
    { "sprintf", "string.format" },
    { "printf", "string.format" },
    { "len", "string.len" },
    { "strlen", "string.len" },
    { "length", "string.len" },
    { "left", "string.sub" },
    { "mid", "string.sub" },
    { "right", "string.sub" },
    { "slice", "string.sub" },
    { "substr", "string.sub" },
    { "substring", "string.sub" },
    { "lcase", "string.lower" },
    { "ucase", "string.upper" },
    { "tolowercase", "string.lower" },
    { "touppercase", "string.upper" },
    { "strip", "trim" },
    { "startswith", "starts" },
    { "starts_with", "starts" },
    { "hasprefix", "starts" },
    { "endswith", "ends" },
    { "ends_with", "ends" },
    { "hassuffix", "ends" },
    { "includes", "contains" },
    { "strstr", "contains" },
    { "substitute", "replace" },
    { "replaceall", "replace" },
    { "indexof", "string.find" },
    { "instr", "string.find" },
    { "regexp_match", "string.match" },
    { "regexp_replace", "string.gsub" },
    { "strcmp", "a == b" },
    { "equals", "a == b" },
    { "concat", "a .. b" },
    { "coalesce", "a or b" },
    { "ifnull", "a or b" },
    { "nvl", "a or b" },
    { "isnull", "x == nil" },
    { "isblank", "x == nil" },
    { "exists", "x ~= nil" },
    { "strftime", "time.format" },
    { "strptime", "time.parse" },
    { "date_format", "time.format" },
    { "to_char", "time.format" },
    { "to_date", "time.parse" },
    { "to_timestamp", "time.parse" },
    { "datetime", "time.parse" },
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

/* The library's function by its whole name: of "find" in "string.find" the latter. */
static gale_str whole(gale_str names, gale_str word) {
    while (word.size && word.data > names.data && word.data[-1] != ' ') word.data--, word.size++;
    return word;
}

static const char *foreign(gale_str said) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (said.size == strlen(words[i][0]) && strncasecmp(said.data, words[i][0], said.size) == 0) return words[i][1];
    return NULL;
}

static const char *write_hint(char *out, size_t size, gale_str word, const char *behind) {
    *out = 0;
    if (word.size) snprintf(out, size, "; did you mean '%.*s%s'?", GX_STR(word), behind);
    return out;
}

const char *gx_meant_hint(gale_str names, gale_str said, char *out, size_t size) {
    gx_nearest nearest = gx_nearest_to(said);
    const char *meant = foreign(said);
    char percentile[40];
    if (gx_window_percentile_meant(said, percentile, sizeof percentile)) {
        snprintf(out, size, "; %s is an aggregate of gale.bolt.Window", percentile);
        return out;
    }
    for (size_t i = 0; i < TABLES; i++) offer_table(&nearest, names, tables[i]);
    return write_hint(out, size, meant ? gx_str(meant) : whole(names, gx_nearest_word(&nearest)), "");
}

const char *gx_meant_member_hint(gale_str names, gale_str table, gale_str said, char *out, size_t size) {
    char name[40];
    gx_nearest nearest = gx_nearest_to(said);
    snprintf(name, sizeof name, "%.*s", GX_STR(table));
    offer_table(&nearest, names, name);
    gale_str word = whole(names, gx_nearest_word(&nearest));
    return word.size ? write_hint(out, size, word, "") : gx_meant_hint(names, said, out, size);
}

const char *gx_meant_method_hint(gale_str names, gale_str said, char *out, size_t size) {
    gx_nearest plain = gx_nearest_to(said), method = gx_nearest_to(said);
    offer_table(&plain, names, "");
    offer_table(&method, names, "string");
    gale_str one = gx_nearest_word(&plain), other = gx_nearest_word(&method);
    const char *meant = foreign(said);
    if (meant) return write_hint(out, size, gx_str(meant), "");
    bool is_method = other.size && (!one.size || method.distance <= plain.distance);
    return is_method ? write_hint(out, size, whole(names, other), "(x, ...)") : write_hint(out, size, one, "(x, ...)");
}
