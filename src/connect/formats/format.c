#include "connect/formats/format.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cut between characters, and without what is no UTF-8. */
static void make_text(char *text) {
    size_t size = strlen(text);
    for (int i = 0; i < 4 && size && !gale_utf8_valid(text, size); i++) text[--size] = '\0';
    if (gale_utf8_valid(text, size)) return;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] >= 0x80) text[i] = '?';
}

int fmt_wrong(fmt_problem *problem, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    make_text(problem->text);
    return GALE_DAMAGED;
}

/* --- A file ----------------------------------------------------------------------------------------------------------- */

static int read_all(FILE *file, const char *path, fmt_memory *memory, gale_str *ret_text, gale_error *error) {
    size_t size = 0;
    char *text = NULL;
    for (;;) {
        char part[8192];
        size_t got = fread(part, 1, sizeof part, file);
        if (ferror(file)) break;
        if (!got) {
            *ret_text = fmt_memory_copy(memory, text, size);
            free(text);
            return ret_text->data ? 0
                                  : gale_error_set(error, fmt_memory_error(memory), "schema: %s: out of memory", path);
        }
        char *more = size + got > FMT_SCHEMA_MAX ? NULL : realloc(text, size + got);
        if (!more) {
            free(text);
            return gale_error_set(error, GALE_TOO_LARGE, "schema: %s has more than %d bytes", path, FMT_SCHEMA_MAX);
        }
        text = more;
        memcpy(text + size, part, got);
        size += got;
    }
    free(text);
    return gale_error_set(error, GALE_IO, "schema: %s: %s", path, strerror(errno));
}

int fmt_schema_load(const char *path, fmt_memory *memory, gale_str *ret_text, gale_error *error) {
    FILE *file = fopen(path, "rbe");
    if (!file) return gale_error_set(error, GALE_IO, "schema: %s: %s", path, strerror(errno));
    int rc = read_all(file, path, memory, ret_text, error);
    fclose(file);
    return rc;
}

/* --- Maps ------------------------------------------------------------------------------------------------------------- */

typedef struct entry {
    gale_value key, value;
    uint32_t order;
} entry;

static int by_key(const void *a, const void *b) {
    const entry *left = a, *right = b;
    int order = gale_value_compare(&left->key, &right->key);
    return order ? order : (left->order > right->order) - (left->order < right->order);
}

int fmt_map_settle(gale_value *map, fmt_memory *memory) {
    if (map->size < 2) return 0;
    entry *entries = fmt_memory_take(memory, map->size * sizeof *entries);
    gale_value *pairs = fmt_memory_take(memory, 2 * map->size * sizeof *pairs);
    if (!entries || !pairs) return fmt_memory_error(memory);
    for (uint32_t i = 0; i < map->size; i++) entries[i] = (entry){ map->as.items[2 * i], map->as.items[2 * i + 1], i };
    qsort(entries, map->size, sizeof *entries, by_key);
    uint32_t count = 0;
    for (uint32_t i = 0; i < map->size; i++) {
        if (i + 1 < map->size && gale_value_equal(&entries[i].key, &entries[i + 1].key)) continue;
        pairs[2 * count] = entries[i].key;
        pairs[2 * count + 1] = entries[i].value;
        count++;
    }
    *map = gale_map(pairs, count);
    return 0;
}
