/* Names of fields that a file asks for: gale_names_read; and texts of others. */
#include "base/encoding.h"

#include <gale/connect.h>
#include <stdio.h>
#include <string.h>

static int place_of(gale_str name, const char *const *known) {
    for (int i = 0; known[i] && i < GALE_NAMES_MAX; i++)
        if (strlen(known[i]) == name.size && memcmp(known[i], name.data, name.size) == 0) return i;
    return -1;
}

/* "body, path and key" */
static void list_known(const char *const *known, char *to, size_t size) {
    size_t length = 0;
    *to = '\0';
    for (size_t i = 0; known[i] && length < size; i++) {
        const char *between = !i ? "" : known[i + 1] ? ", " : " and ";
        length += (size_t)snprintf(to + length, size - length, "%s%s", between, known[i]);
    }
}

static int add(gale_names *names, gale_str name, const char *parameter, const char *what, const char *const *known,
               gale_error *error) {
    int place = place_of(name, known);
    char all[GALE_NAMES_TEXT];
    list_known(known, all, sizeof all);
    if (place < 0)
        return gale_error_set(error, GALE_INVALID, "%s: %s has no '%.*s': it has %s", parameter, what, (int)name.size,
                              name.data, all);
    for (size_t i = 0; i < names->count; i++)
        if (names->places[i] == place)
            return gale_error_set(error, GALE_INVALID, "%s: %s stands twice", parameter, known[place]);
    names->places[names->count++] = place;
    size_t length = strlen(names->text);
    snprintf(names->text + length, sizeof names->text - length, "%s%s", length ? ", " : "", known[place]);
    return 0;
}

int gale_names_read(const char *parameter, const char *text, const char *what, const char *const *known,
                    gale_names *ret_names, gale_error *error) {
    static const char between[] = ", ";
    gale_names names = { .count = 0 };
    int rc = 0;
    if (!parameter || !what || !known || !ret_names)
        return gale_error_set(error, GALE_INVALID, "gale_names_read: a table of names, and where they go to");
    for (text = text ? text + strspn(text, between) : ""; rc == 0 && *text; text += strspn(text, between)) {
        size_t size = strcspn(text, between);
        rc = add(&names, (gale_str){ text, size }, parameter, what, known, error);
        text += size;
    }
    if (rc == 0 && !names.count) rc = gale_error_set(error, GALE_INVALID, "%s: it names nothing", parameter);
    if (rc == 0) *ret_names = names;
    return rc;
}

const char *gale_foreign_encoding(const void *bytes, size_t size) {
    return bytes ? gx_encoding_foreign((gale_str){ bytes, size }) : NULL;
}

size_t gale_byte_order_mark(const void *bytes, size_t size) {
    return bytes ? size - gx_encoding_text((gale_str){ bytes, size }).size : 0;
}

gale_value gale_text_or_bytes(const void *bytes, size_t size) {
    if (!bytes) return gale_null();
    return gale_utf8_valid(bytes, size) ? gale_string(bytes, size) : gale_bytes(bytes, size);
}
