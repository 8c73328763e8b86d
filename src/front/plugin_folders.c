#include "front/plugin_folders.h"

#include "base/os/file.h"
#include "base/os/folder.h"
#include "base/str.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

enum { BESIDE_MAX = 2, ORIGIN_ROOM = 2048 };

/* A folder that was found by its place. */
typedef struct beside {
    char path[PATH_MAX];
    gale_error doubt; /* why nothing is taken from it */
} beside;

typedef struct places {
    gale_str named; /* by the environment */
    beside found[BESIDE_MAX];
    size_t count;
} places;

/* "/opt/bin" and "../lib" are "/opt/lib": a folder that is not there has a name as well. */
static void join(const char *origin, const char *relative, char out[PATH_MAX]) {
    char from[ORIGIN_ROOM];
    snprintf(from, sizeof from, "%s", origin);
    for (char *slash; strncmp(relative, "../", 3) == 0; relative += 3)
        if ((slash = strrchr(from, '/'))) *slash = '\0';
    snprintf(out, PATH_MAX, "%s/%s", from, relative);
}

static void add(places *p, const char *path, const char *origin) {
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->found[i].path, path) == 0) return;
    beside *b = &p->found[p->count];
    snprintf(b->path, sizeof b->path, "%s", path);
    b->doubt = (gale_error)GALE_ERROR_INIT;
    if (origin) (void)gx_folder_check_trusted(path, origin, &b->doubt);
    p->count++;
}

static bool is_build_folder(const char *origin) {
    char mark[ORIGIN_ROOM + 20];
    gx_file_about about;
    snprintf(mark, sizeof mark, "%s/CMakeCache.txt", origin);
    return gx_file_about_path(mark, &about, NULL) == 0;
}

/* Any function of this library will do. */
static void here(void) {}

static void add_beside(places *p) {
    char origin[ORIGIN_ROOM], program[ORIGIN_ROOM], path[PATH_MAX];
    if (!gx_folder_of_function(here, origin, sizeof origin)) return;
    bool in_program = gx_folder_of_program(program, sizeof program) && strcmp(program, origin) == 0;
    const char *relative = in_program ? GALE_PLUGINS_FROM_PROGRAM : GALE_PLUGINS_FROM_LIBRARY;
    if (is_build_folder(origin)) {
        join(origin, "plugins", path);
        add(p, path, origin);
    } else if (*relative) {
        join(origin, relative, path);
        add(p, path, origin);
    }
}

static void find(places *p) {
    bool lent = getauxval(AT_SECURE); /* its rights are not those of who started it */
    const char *named = lent ? NULL : getenv("GALE_PLUGIN_PATH");
    p->named = gx_str(named ? named : "");
    p->count = 0;
    if (!lent) add_beside(p);
    if (*GALE_PLUGIN_FOLDER) add(p, GALE_PLUGIN_FOLDER, NULL);
}

static void add_piece(gx_buf *out, size_t begin, const char *separator, gale_str piece) {
    if (out->size > begin) gx_buf_add_text(out, separator);
    gx_buf_add(out, piece.data, piece.size);
}

void gx_plugin_folders(gx_buf *out) {
    places p;
    size_t begin = out->size;
    gale_str folder;
    find(&p);
    for (gale_str rest = p.named; gx_str_next(&rest, ':', &folder);)
        if (folder.size) add_piece(out, begin, ":", folder);
    for (size_t i = 0; i < p.count; i++)
        if (!p.found[i].doubt.code && !strchr(p.found[i].path, ':'))
            add_piece(out, begin, ":", gx_str(p.found[i].path));
}

void gx_plugin_folders_describe(gx_buf *out) {
    places p;
    size_t begin = out->size, count = 0;
    gale_str folder;
    find(&p);
    for (gale_str rest = p.named; gx_str_next(&rest, ':', &folder); count += folder.size > 0)
        if (folder.size) add_piece(out, begin, ", ", folder);
    gx_buf_add_text(out, count ? " (GALE_PLUGIN_PATH)" : "GALE_PLUGIN_PATH (which names no folder)");
    for (size_t i = 0; i < p.count; i++) {
        add_piece(out, begin, ", ", gx_str(p.found[i].path));
        if (p.found[i].doubt.code)
            gx_buf_format(out, " (not trusted: %s)", p.found[i].doubt.text);
        else if (strchr(p.found[i].path, ':'))
            gx_buf_add_text(out, " (left out: its path has a ':')");
    }
}
