#include "topology/names.h"

#include "base/utf8.h"

#include <stdlib.h>

static bool is_control(char c) {
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* What every name must be. The name itself is not repeated when it cannot be shown. */
static int check_text(const char *what, gale_str name, gale_error *error) {
    if (name.size == 0) return gale_error_set(error, GALE_TOPOLOGY, "a %s name is empty", what);
    for (size_t i = 0; i < name.size; i++)
        if (is_control(name.data[i]))
            return gale_error_set(error, GALE_TOPOLOGY, "a %s name has a control character at byte %zu", what, i);
    if (!gx_utf8_valid(name.data, name.size))
        return gale_error_set(error, GALE_TOPOLOGY, "a %s name is not UTF-8", what);
    return 0;
}

static int check(const char *what, gale_str name, gale_error *error) {
    int rc = check_text(what, name, error);
    if (rc < 0) return rc;
    if (name.size >= 2 && name.data[0] == '_' && name.data[1] == '_')
        return gale_error_set(error, GALE_TOPOLOGY, "%s name '%.*s' begins with '__', which is kept for the system",
                              what, GX_STR(name));
    return 0;
}

int gx_name_check(const char *what, const char *name, gale_error *error) {
    return check(what, gx_str(name), error);
}

int gx_name_check_topology(const char *name, gale_error *error) {
    int rc = check_text("topology", gx_str(name), error);
    if (rc < 0) return rc;
    const char *bad = strpbrk(name, "/.:\\");
    if (!bad) return 0;
    return gale_error_set(error, GALE_TOPOLOGY, "topology name '%s' has a '%c'; none of / . : \\ may stand there", name,
                          *bad);
}

char *gx_name_copy(gale_str name) {
    char *copy = malloc(name.size + 1);
    if (!copy) return NULL;
    if (name.size) memcpy(copy, name.data, name.size);
    copy[name.size] = 0;
    return copy;
}

void gx_names_free(char **names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) free(names[i]);
    free(names);
}

static size_t count_pieces(const char *text) {
    size_t count = 1;
    for (; *text; text++) count += *text == ',';
    return count;
}

/* Checks one more name and puts it behind the `count` that there are. */
static int add_name(const char *what, gale_str piece, char **names, uint32_t count, gale_error *error) {
    int rc = check(what, piece, error);
    if (rc < 0) return rc;
    for (uint32_t i = 0; i < count; i++)
        if (gx_str_is(piece, names[i]))
            return gale_error_set(error, GALE_TOPOLOGY, "%s '%s' comes twice", what, names[i]);
    names[count] = gx_name_copy(piece);
    return names[count] ? 0 : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

int gx_names_split(const char *what, const char *text, char ***ret_names, uint32_t *ret_count, gale_error *error) {
    gale_str rest = gx_str_trim(gx_str(text)), piece;
    if (rest.size == 0) {
        *ret_names = NULL;
        *ret_count = 0;
        return 0;
    }
    size_t most = count_pieces(text);
    if (most > GX_NAMES_MAX)
        return gale_error_set(error, GALE_TOPOLOGY, "%zu %s names, at most %d", most, what, GX_NAMES_MAX);
    char **names = malloc(most * sizeof *names);
    if (!names) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    uint32_t count = 0;
    while (gx_str_next(&rest, ',', &piece)) {
        int code = add_name(what, piece, names, count, error);
        if (code < 0) {
            gx_names_free(names, count);
            return code;
        }
        count++;
    }
    *ret_names = names;
    *ret_count = count;
    return 0;
}
