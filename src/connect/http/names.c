#include "connect/http/names.h"

#include <stdio.h>
#include <string.h>

static int field_of(gale_str name, const char *const *known) {
    for (int i = 0; known[i]; i++)
        if (strlen(known[i]) == name.size && memcmp(known[i], name.data, name.size) == 0) return i;
    return -1;
}

/* "body, path and key" */
static void list_known(const char *const *known, char *to, size_t size) {
    size_t length = 0;
    *to = '\0';
    for (size_t i = 0; known[i] && length < size; i++)
        length += (size_t)snprintf(to + length, size - length, "%s%s",
                                   !i             ? ""
                                   : known[i + 1] ? ", "
                                                  : " and ",
                                   known[i]);
}

static int add(http_names *names, gale_str name, const char *what, const char *const *known, gale_error *error) {
    int field = field_of(name, known);
    char all[128];
    list_known(known, all, sizeof all);
    if (field < 0)
        return gale_error_set(error, GALE_INVALID, "emit: %s has no '%.*s': it has %s", what, (int)name.size, name.data,
                              all);
    for (size_t i = 0; i < names->count; i++)
        if (names->fields[i] == field)
            return gale_error_set(error, GALE_INVALID, "emit: %s stands twice", known[field]);
    names->fields[names->count++] = field;
    size_t length = strlen(names->names);
    snprintf(names->names + length, sizeof names->names - length, "%s%s", length ? ", " : "", known[field]);
    return 0;
}

int http_names_parse(const char *text, const char *what, const char *const *known, http_names *names,
                     gale_error *error) {
    static const char between[] = ", ";
    int rc = 0;
    *names = (http_names){ .count = 0 };
    for (text += strspn(text, between); rc == 0 && *text; text += strspn(text, between)) {
        size_t size = strcspn(text, between);
        rc = add(names, (gale_str){ text, size }, what, known, error);
        text += size;
    }
    if (rc < 0 || names->count) return rc;
    return gale_error_set(error, GALE_INVALID, "emit: it names nothing");
}
