#include "cases/case_paths.h"

#include "base/os/file.h"
#include "base/os/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(gx_case_paths *paths, const char *path, gale_error *error) {
    if (paths->count == paths->room) {
        size_t room = paths->room ? 2 * paths->room : 16;
        char **list = realloc(paths->list, room * sizeof *list);
        if (!list) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
        paths->list = list;
        paths->room = room;
    }
    if (!(paths->list[paths->count] = strdup(path))) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    paths->count++;
    return GALE_OK;
}

typedef struct walk {
    gx_case_paths *paths;
    const char *folder;
    int depth;
    gale_error *error;
} walk;

static bool is_case_file(const char *name) {
    static const char ending[] = ".test.yaml";
    size_t size = strlen(name), end = sizeof ending - 1;
    return size > end && strcmp(name + size - end, ending) == 0;
}

static int visit(void *user, const char *name);

static int walk_folder(gx_case_paths *paths, const char *folder, int depth, gale_error *error) {
    walk w = { paths, folder, depth, error };
    if (depth == GX_CASE_PATHS_DEPTH)
        return gale_error_set(error, GALE_TOO_LARGE, "'%s' is more than %d folders deep", folder, depth);
    return gx_folder_each(folder, "", visit, &w, error);
}

static int visit(void *user, const char *name) {
    walk *w = user;
    char path[GX_FILE_NAME_SIZE], target[GX_FILE_NAME_SIZE];
    if (name[0] == '.') return GALE_OK;
    size_t size = strlen(w->folder);
    int length = snprintf(path, sizeof path, "%s%s%s", w->folder, size && w->folder[size - 1] == '/' ? "" : "/", name);
    if (length < 0 || (size_t)length >= sizeof path) return GALE_OK;
    if (is_case_file(name)) return add(w->paths, path, w->error);
    if (gx_file_link(path, target) || gx_folder_look(path, NULL) != GALE_OK) return GALE_OK;
    return walk_folder(w->paths, path, w->depth + 1, w->error);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int gx_case_paths_add(gx_case_paths *paths, const char *path, gale_error *error) {
    size_t before = paths->count;
    if (gx_folder_look(path, NULL) != GALE_OK) return add(paths, path, error);
    int rc = walk_folder(paths, path, 0, error);
    if (rc < 0) return rc;
    if (paths->count == before)
        return gale_error_set(error, GALE_NOT_FOUND, "there is no NAME.test.yaml below '%s'", path);
    qsort(paths->list + before, paths->count - before, sizeof *paths->list, by_name);
    return GALE_OK;
}

void gx_case_paths_fini(gx_case_paths *paths) {
    for (size_t i = 0; i < paths->count; i++) free(paths->list[i]);
    free(paths->list);
    *paths = (gx_case_paths){ .list = NULL };
}
