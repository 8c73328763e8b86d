#include "connect/file/way.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

void gx_file_way_init(gx_file_way *way, gx_heap *heap, gx_watch *watch, const gx_file_names *names) {
    *way = (gx_file_way){ .heap = heap, .watch = watch, .names = names };
}

static void drop(gx_file_way *way, size_t at) {
    gx_file_text_free(way->heap, way->list[at].name);
    way->list[at] = way->list[--way->count];
}

void gx_file_way_fini(gx_file_way *way) {
    if (!way->heap) return;
    while (way->count) drop(way, way->count - 1);
    gx_free(way->heap, GX_TAG_OTHER, way->list, way->capacity * sizeof *way->list);
    way->list = NULL;
}

/* --- What is watched ---------------------------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Without an id it cannot be watched, for this reason. */
static int note(gx_file_way *way, int id, const char *name, const gale_error *why) {
    if (id < 0) {
        way->why = *why;
        way->complete = false;
        return 0;
    }
    for (size_t i = 0; i < way->count; i++) {
        if (way->list[i].id != id || !is_same(way->list[i].name, name)) continue;
        way->list[i].seen = true;
        return 0;
    }
    if (!gx_grow(way->heap, GX_TAG_OTHER, (void **)&way->list, &way->capacity, way->count + 1, sizeof *way->list))
        return GALE_NO_MEMORY;
    char *copy = name ? gx_file_text_copy(way->heap, name, strlen(name)) : NULL;
    if (name && !copy) return GALE_NO_MEMORY;
    way->list[way->count++] = (gx_file_way_watch){ id, copy, true };
    return 0;
}

static int watch_name(gx_file_way *way, const char *folder, const char *name) {
    gale_error why = GALE_ERROR_INIT;
    char path[GX_FILE_NAME_SIZE] = ".";
    size_t size = strlen(folder);
    if (way->watch->fd < 0) return 0;
    if (size) memcpy(path, folder, size + 1);
    if (size > 1) path[size - 1] = 0;
    int id = gx_watch_folder(way->watch, path, &why);
    way->reaches &= gx_watch_reaches(path);
    return id == GALE_NOT_FOUND ? id : note(way, id, name, &why);
}

/* A link itself, or a folder. GALE_NOT_FOUND. */
static int watch_self(gx_file_way *way, const char *path) {
    gale_error why = GALE_ERROR_INIT;
    gx_file_about about;
    if (way->watch->fd < 0) return gx_file_about_path(path, &about, NULL) == GALE_NOT_FOUND ? GALE_NOT_FOUND : 0;
    int id = gx_watch_self(way->watch, path, &why);
    return id == GALE_NOT_FOUND ? id : note(way, id, NULL, &why);
}

/* --- Walking ------------------------------------------------------------------------------------------------------ */

typedef struct walk {
    char at[GX_FILE_NAME_SIZE];   /* a folder, with a '/' at its end; "": here */
    char rest[GX_FILE_NAME_SIZE]; /* of the path */
    char name[GX_FILE_NAME_SIZE]; /* the next part */
    int links;
} walk;

/* `from` may stand in `to`. */
static bool put(char to[GX_FILE_NAME_SIZE], const char *first, const char *second, const char *third) {
    char made[GX_FILE_NAME_SIZE];
    int size = snprintf(made, sizeof made, "%s%s%s", first, second, third);
    if (size < 0 || (size_t)size >= sizeof made) return false;
    memcpy(to, made, (size_t)size + 1);
    return true;
}

/* The next part, which is not ".". False: there is none. */
static bool next_part(walk *w) {
    do {
        size_t slashes = strspn(w->rest, "/"), size = strcspn(w->rest + slashes, "/");
        memcpy(w->name, w->rest + slashes, size);
        w->name[size] = 0;
        memmove(w->rest, w->rest + slashes + size, strlen(w->rest + slashes + size) + 1);
    } while (strcmp(w->name, ".") == 0);
    return w->name[0];
}

static bool begin_path(walk *w, const char *path) {
    w->at[0] = w->rest[0] = 0;
    return (*path != '/' || put(w->at, "/", "", "")) && put(w->rest, path, "", "");
}

/* 1: the part is a link, which the rest begins with now; 0: it is none; GALE_NOT_FOUND: it leads nowhere. */
static int follow(walk *w, const char *path) {
    char target[GX_FILE_NAME_SIZE];
    if (!gx_file_link(path, target)) return 0;
    if (++w->links > GX_FILE_WAY_LINKS || !put(w->rest, target, "/", w->rest)) return GALE_NOT_FOUND;
    if (*target == '/' && !put(w->at, "/", "", "")) return GALE_NOT_FOUND;
    return 1;
}

static bool is_last(const walk *w) {
    return !w->rest[strspn(w->rest, "/")];
}

/* What is missing is waited for in the folder where it would be. */
static int take_part(gx_file_way *way, const walk *w, const char *path, bool last) {
    if (strcmp(w->name, "..") == 0) return 0;
    if (last) return watch_name(way, w->at, w->name);
    int rc = watch_self(way, path);
    if (rc != GALE_NOT_FOUND) return rc;
    rc = watch_name(way, w->at, w->name);
    return rc < 0 ? rc : watch_self(way, path);
}

/* To the end of the path: a folder if `all`, and else a file in one, whose place is put together in `path`. */
static int go(gx_file_way *way, walk *w, bool all, char path[GX_FILE_NAME_SIZE]) {
    while (next_part(w)) {
        bool last = !all && is_last(w);
        if (!put(path, w->at, w->name, "")) return GALE_NOT_FOUND;
        int rc = take_part(way, w, path, last);
        if (rc == 0) rc = follow(w, path);
        if (rc < 0) return rc;
        if (rc > 0) continue;
        if (last) return 0;
        if (!put(w->at, path, "/", "")) return GALE_NOT_FOUND;
    }
    return all ? 0 : GALE_NOT_FOUND;
}

/* A pattern stands for all names of its folder: which of them are meant is looked at when they are told. */
int gx_file_way_begin(gx_file_way *way) {
    walk w = { .links = 0 };
    char path[GX_FILE_NAME_SIZE];
    for (size_t i = 0; i < way->count; i++) way->list[i].seen = false;
    way->complete = way->watch->fd >= 0;
    way->reaches = true;
    way->why = (gale_error)GALE_ERROR_INIT;
    way->folder[0] = 0;
    int rc = begin_path(&w, way->names->folder) ? go(way, &w, true, path) : GALE_NOT_FOUND;
    if (rc == 0) rc = watch_name(way, w.at, way->names->last);
    if (rc == 0) (void)put(way->folder, w.at, "", "");
    return rc == GALE_NOT_FOUND ? 0 : rc;
}

int gx_file_way_to(gx_file_way *way, const char *path, char ret_real[GX_FILE_NAME_SIZE]) {
    char target[GX_FILE_NAME_SIZE];
    const char *slash = strrchr(path, '/');
    walk w = { .links = 0 };
    if (!put(ret_real, way->folder, slash ? slash + 1 : path, "")) return GALE_NOT_FOUND;
    if (!gx_file_link(path, target)) return 0;
    return begin_path(&w, path) ? go(way, &w, false, ret_real) : GALE_NOT_FOUND;
}

static bool is_used(const gx_file_way *way, int id) {
    for (size_t i = 0; i < way->count; i++)
        if (way->list[i].id == id) return true;
    return false;
}

void gx_file_way_end(gx_file_way *way) {
    for (size_t i = way->count; i-- > 0;) {
        int id = way->list[i].id;
        if (way->list[i].seen) continue;
        drop(way, i);
        if (!is_used(way, id)) gx_watch_forget(way->watch, id);
    }
}

/* --- Notices ------------------------------------------------------------------------------------------------------ */

static bool is_meant(const gx_file_way *way, const gx_file_way_watch *one, const char *name) {
    if (!one->name) return false;
    return way->names->is_pattern && strcmp(one->name, way->names->last) == 0 ? gx_file_names_has(way->names, name)
                                                                              : strcmp(one->name, name) == 0;
}

bool gx_file_way_notice(gx_file_way *way, int id, gx_watch_what what, const char *name, bool *ret_look) {
    bool found = false;
    for (size_t i = way->count; i-- > 0;) {
        const gx_file_way_watch *one = &way->list[i];
        if (one->id != id) continue;
        found = true;
        if (what != GX_WATCH_NAME || is_meant(way, one, name)) *ret_look = true;
        if (what == GX_WATCH_ENDED) drop(way, i);
    }
    return found;
}
