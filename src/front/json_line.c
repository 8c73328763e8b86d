#include "front/json_line.h"

#include <string.h>

/* Behind the string that begins at `at`. */
static size_t skip_string(gale_str line, size_t at) {
    for (at++; at < line.size && line.data[at] != '"'; at++) at += line.data[at] == '\\';
    return at + 1;
}

static bool is_key(gale_str line, size_t begin, size_t end, const char *key) {
    size_t size = strlen(key);
    if (end != begin + size + 2 || memcmp(line.data + begin + 1, key, size) != 0) return false;
    while (end < line.size && (line.data[end] == ' ' || line.data[end] == '\t')) end++;
    return end < line.size && line.data[end] == ':';
}

unsigned gx_json_line_column(const gx_json_line *where, const char *key) {
    gale_str line = where->line;
    int depth = 0;
    for (size_t at = 0; at < line.size;) {
        char c = line.data[at];
        if (c == '"') {
            size_t end = skip_string(line, at);
            if (depth == 1 && is_key(line, at, end, key)) return (unsigned)at + 1;
            at = end;
            continue;
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        at++;
    }
    return 1;
}

int gx_json_line_parse(const gx_json_line *at, const char *line, const char *object, json_t **ret_object) {
    json_error_t why;
    json_t *json = json_loadb(at->line.data, at->line.size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (!json && !*why.text) /* it says nothing then */
        return gale_error_set(at->error, GALE_NO_MEMORY, "%s: out of memory", at->name);
    if (!json)
        return gale_error_set(at->error, GALE_SYNTAX, "%s:%u:%d: this is no %s: %s", at->name, at->number,
                              why.column > 0 ? why.column : 1, line, why.text);
    if (json_is_object(json)) {
        *ret_object = json;
        return 0;
    }
    json_decref(json);
    return gale_error_set(at->error, GALE_TYPE, "%s:%u:1: %s must be a JSON object", at->name, at->number, object);
}
