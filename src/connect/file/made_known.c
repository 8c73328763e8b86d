#include "connect/file/made_known.h"

#include "base/utf8.h"

#include <string.h>

/* The values of a file's end begin with two paths, which are the key. */
enum { PATHS = 2 };

gale_value gx_made_key(const char *path) {
    size_t size = strlen(path);
    return gx_utf8_valid(path, size) ? gale_string(path, size) : gale_bytes(path, size);
}

int gx_made_refuse(int rc, const char *path, gale_error *error) {
    return gale_error_set(error, rc, "%s: what is saved of it: %s", path, gale_error_text(rc));
}

bool gx_made_take(const gale_value *list, const char *path, gale_value values[GX_MADE_VALUES]) {
    if (list->type != GALE_TYPE_LIST || list->size != GX_MADE_VALUES - PATHS) return false;
    for (size_t i = PATHS; i < GX_MADE_VALUES; i++) values[i] = gale_list_at(list, i - PATHS);
    for (size_t i = GX_MADE_NEXT; i < GX_MADE_VALUES; i++)
        if (values[i].type != GALE_TYPE_I64) return false;
    values[0] = values[1] = gale_bytes(path, strlen(path));
    return values[GX_FILE_END_INODE].type == GALE_TYPE_I64 && values[GX_FILE_END_SIZE].type == GALE_TYPE_I64 &&
           values[GX_MADE_NEXT].as.i64 >= 0 && values[GX_MADE_PLAIN].as.i64 >= 0;
}

int gx_made_put(gale_state *state, const char *path, const gale_value values[GX_MADE_VALUES], gale_error *error) {
    gale_value key = gx_made_key(path), list = gale_list(values + PATHS, GX_MADE_VALUES - PATHS);
    int rc = gale_state_put(state, &key, &list);
    return rc < 0 ? gx_made_refuse(rc, path, error) : 0;
}
