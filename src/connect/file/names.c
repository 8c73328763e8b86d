#include "connect/file/names.h"

#include "base/os/folder.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

char *gx_file_text_copy(gx_heap *heap, const char *text, size_t size) {
    char *made = gx_alloc(heap, GX_TAG_OTHER, size + 1);
    return made && size ? memcpy(made, text, size) : made;
}

void gx_file_text_free(gx_heap *heap, char *text) {
    if (text) gx_free(heap, GX_TAG_OTHER, text, strlen(text) + 1);
}

static const char *last_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static char *folder_of(gx_heap *heap, const char *path) {
    const char *last = last_of(path);
    size_t size = last - path > 1 ? (size_t)(last - path) - 1 : (size_t)(last - path); /* "/" stays */
    return gx_file_text_copy(heap, last == path ? "." : path, last == path ? 1 : size);
}

bool gx_file_names_is_pattern(const char *path) {
    return strpbrk(path, "*?[") != NULL;
}

int gx_file_names_init(gx_file_names *names, gx_heap *heap, const char *path, gale_error *error) {
    const char *last = last_of(path), *wild = strpbrk(path, "*?[");
    if (wild && wild < last)
        return gale_error_set(error, GALE_INVALID, "%s: only the last part of a path may be a pattern, not a folder",
                              path);
    char *folder = folder_of(heap, path);
    if (!folder) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", path);
    *names = (gx_file_names){ heap, path, last, folder, wild != NULL };
    return GALE_OK;
}

void gx_file_names_fini(gx_file_names *names) {
    if (names->heap) gx_file_text_free(names->heap, names->folder);
    names->folder = NULL;
}

bool gx_file_names_has(const gx_file_names *names, const char *name) {
    return names->is_pattern ? fnmatch(names->last, name, FNM_PERIOD) == 0 : strcmp(names->last, name) == 0;
}

static void free_found(gx_heap *heap, gx_file_found *found) {
    gx_file_text_free(heap, found->path);
    gx_file_text_free(heap, found->real);
}

void gx_file_list_fini(gx_file_list *list) {
    for (size_t i = 0; i < list->count; i++) free_found(list->heap, &list->items[i]);
    gx_free(list->heap, GX_TAG_OTHER, list->items, list->capacity * sizeof *list->items);
    *list = (gx_file_list){ .heap = list->heap };
}

/* --- Looking ------------------------------------------------------------------------------------------------------ */

typedef struct search {
    const gx_file_names *names;
    const char *path;   /* what stands in it before the last '/' is the folder, and */
    const char *folder; /* how that is called */
    const char *base;   /* rotated ones are asked for: of this name */
    int64_t since;
    gx_file_real_fn *real;
    void *user;
    gx_file_list *list;
    gale_error *error;
} search;

static bool keep(gx_file_list *list, const char *path, const char *real, const gx_file_about *about) {
    gx_file_found found = { .about = *about };
    if (!gx_grow(list->heap, GX_TAG_OTHER, (void **)&list->items, &list->capacity, list->count + 1, sizeof found))
        return false;
    found.path = gx_file_text_copy(list->heap, path, strlen(path));
    found.real = real ? gx_file_text_copy(list->heap, real, strlen(real)) : NULL;
    bool done = found.path && (found.real || !real);
    if (done)
        list->items[list->count++] = found;
    else
        free_found(list->heap, &found);
    return done;
}

/* A file that is gone by now is none. */
static int add(const search *s, const char *path) {
    char real[GX_FILE_NAME_SIZE];
    gx_file_about about;
    int rc = s->real ? s->real(s->user, path, real) : 0;
    if (rc == GALE_NO_MEMORY) return gale_error_set(s->error, GALE_NO_MEMORY, "%s: out of memory", path);
    if (rc == 0) rc = gx_file_about_path(path, &about, NULL);
    if (rc < 0 || !about.regular || (s->base && about.modified < s->since)) return 0;
    return keep(s->list, path, s->real ? real : NULL, &about)
               ? 0
               : gale_error_set(s->error, GALE_NO_MEMORY, "%s: out of memory", path);
}

/* ".1", "-20261122", ".2026-11-22_03", and not ".gz", which is not lines. */
static bool is_rotated(const char *base, const char *name) {
    size_t size = strlen(base);
    if (strncmp(base, name, size) != 0 || (name[size] != '.' && name[size] != '-')) return false;
    const char *rest = name + size + 1;
    return *rest && strspn(rest, "0123456789.-_T:") == strlen(rest);
}

static int look(void *user, const char *name) {
    const search *s = user;
    char path[GX_FILE_NAME_SIZE];
    size_t before = (size_t)(last_of(s->path) - s->path), size = strlen(name);
    if (s->base ? !is_rotated(s->base, name) : !gx_file_names_has(s->names, name)) return 0;
    if (before + size >= sizeof path) return 0;
    memcpy(path, s->path, before);
    memcpy(path + before, name, size + 1);
    return add(s, path);
}

static int by_inode(const void *a, const void *b) {
    const gx_file_found *x = a, *y = b;
    if (x->about.inode != y->about.inode) return x->about.inode < y->about.inode ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* A file that has two names, or was renamed while the folder was read, is one. */
static void sort(gx_file_list *list, int (*order)(const void *, const void *)) {
    size_t left = 0;
    if (!list->count) return;
    qsort(list->items, list->count, sizeof *list->items, by_inode);
    for (size_t i = 0; i < list->count; i++)
        if (!left || list->items[i].about.inode != list->items[left - 1].about.inode)
            list->items[left++] = list->items[i];
        else
            free_found(list->heap, &list->items[i]);
    list->count = left;
    qsort(list->items, list->count, sizeof *list->items, order);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const gx_file_found *)a)->path, ((const gx_file_found *)b)->path);
}

static int by_time(const void *a, const void *b) {
    const gx_file_found *x = a, *y = b;
    if (x->about.modified != y->about.modified) return x->about.modified < y->about.modified ? -1 : 1;
    return strcmp(y->path, x->path); /* .2 is older than .1 */
}

/* A folder that is not there has none. */
static int look_through(const search *s) {
    int rc = gx_folder_look(s->folder, NULL);
    return rc == GALE_NOT_FOUND ? 0 : gx_folder_each(s->folder, "", look, (void *)s, s->error);
}

int gx_file_names_find(const gx_file_names *names, gx_file_real_fn *real, void *user, gx_file_list *ret_list,
                       gale_error *error) {
    gx_file_list list = { .heap = names->heap };
    search s = { .names = names, .path = names->path, .folder = names->folder, .list = &list, .error = error };
    s.real = real;
    s.user = user;
    int rc = names->is_pattern ? look_through(&s) : add(&s, names->path);
    sort(&list, by_name);
    *ret_list = list;
    if (rc < 0) gx_file_list_fini(ret_list);
    return rc;
}

int gx_file_names_rotated(const gx_file_names *names, const char *path, int64_t since, gx_file_list *ret_list,
                          gale_error *error) {
    gx_file_list list = { .heap = names->heap };
    char *folder = folder_of(names->heap, path);
    search s = { .names = names, .path = path, .folder = folder, .since = since, .list = &list, .error = error };
    if (!folder) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", path);
    s.base = last_of(path);
    int rc = look_through(&s);
    if (rc == 0) rc = look_through(&s); /* what is renamed meanwhile may not be shown the first time */
    gx_file_text_free(names->heap, folder);
    sort(&list, by_time);
    *ret_list = list;
    if (rc < 0) gx_file_list_fini(ret_list);
    return rc;
}
