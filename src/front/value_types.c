#include "front/value_types.h"

#include <stdio.h>

static const struct {
    const char *word, *text;
    uint32_t types;
} words[] = {
    { "int", "an int", GX_TYPES(GALE_TYPE_I64) },
    { "float", "a float", GX_TYPES(GALE_TYPE_F64) },
    { "bool", "a bool", GX_TYPES(GALE_TYPE_BOOL) },
    { "string", "a string", GX_TYPES(GALE_TYPE_STRING) },
    { "bytes", "bytes", GX_TYPES(GALE_TYPE_BYTES) },
    { "list", "a list", GX_TYPES(GALE_TYPE_LIST) },
    { "map", "a map", GX_TYPES(GALE_TYPE_MAP) },
    { "auto", NULL, GX_TYPES_NUMBER | GX_TYPES_TEXT | GX_TYPES(GALE_TYPE_BOOL) },
    { "any", NULL, GX_TYPES_ANY },
};

bool gx_types_read(gale_str text, uint32_t *ret_types) {
    gale_str word;
    uint32_t types = 0;
    while (gx_str_next(&text, ' ', &word)) {
        size_t i = 0, count = sizeof words / sizeof *words;
        while (i < count && !gx_str_is(word, words[i].word)) i++;
        if (i == count && word.size) return false;
        if (word.size) types |= words[i].types;
    }
    *ret_types = types;
    return true;
}

const char *gx_types_text(uint32_t types, char room[GX_TYPES_WORDS]) {
    size_t size = 0;
    room[0] = 0;
    if (types == GX_TYPES_TEXT) return "a string";
    for (size_t i = 0; i < sizeof words / sizeof *words && words[i].text; i++) {
        uint32_t left = types & ~words[i].types;
        if (!(types & words[i].types)) continue;
        const char *between = !size ? "" : left ? ", " : " or ";
        size += (size_t)snprintf(room + size, GX_TYPES_WORDS - size, "%s%s", between, words[i].text);
        types = left;
    }
    return room;
}

const gx_typed_field *gx_typed_find(const gx_typed_stream *stream, gale_str name) {
    for (uint32_t i = 0; stream && i < stream->count; i++)
        if (gx_str_equal(stream->fields[i].name, name)) return &stream->fields[i];
    return NULL;
}
