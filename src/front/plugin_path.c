#include "front/plugin_path.h"

#include "base/nearest.h"
#include "base/os/file.h"
#include "base/os/folder.h"
#include "base/str.h"
#include "front/connector.h"
#include "front/plugin_folders.h"

#include <stdio.h>
#include <stdlib.h>

static const char begin[] = "gale-", end[] = ".so";
enum { BEGIN_SIZE = sizeof begin - 1, END_SIZE = sizeof end - 1 };

/* --- Names -------------------------------------------------------------------------------------------------------- */

/* Small letters, digits, '-' and '_', as a plugin's own name (front/plugin_rows.c): nothing that a shell or a terminal minds. */
static bool is_name(gale_str name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t i = 0; i < name.size; i++)
        if (!memchr(letters, name.data[i], sizeof letters - 1)) return false;
    return name.size > 0 && name.size <= 64;
}

/* "acme" of "gale-acme.so"; empty when it is none. */
static gale_str name_of(const char *file) {
    size_t size = strlen(file);
    bool fits = size > BEGIN_SIZE + END_SIZE && memcmp(file, begin, BEGIN_SIZE) == 0 &&
                memcmp(file + size - END_SIZE, end, END_SIZE) == 0;
    gale_str name = { file + BEGIN_SIZE, fits ? size - BEGIN_SIZE - END_SIZE : 0 };
    return fits && is_name(name) ? name : (gale_str){ NULL, 0 };
}

static bool is_there(const char *path) {
    gx_file_about about;
    return gx_file_about_path(path, &about, NULL) == 0;
}

/* The path of `name` in a folder, if it is there. */
static bool is_in(gale_str folder, gale_str name, gx_buf *out) {
    gx_buf_reset(out);
    gx_buf_format(out, "%.*s/%s%.*s%s", GX_STR(folder), begin, GX_STR(name), end);
    const char *path = gx_buf_text(out);
    return path && is_there(path);
}

/* In the first of the folders, with colons between them, that has it. */
static bool find_in(gale_str folders, gale_str name, gx_buf *out) {
    gale_str folder;
    while (gx_str_next(&folders, ':', &folder))
        if (is_in(folder, name, out)) return true;
    return false;
}

static gale_str text_of(gx_buf *buf) {
    const char *text = gx_buf_text(buf);
    return gx_str(text ? text : "");
}

static bool find(gale_str name, gx_buf *out) {
    gx_buf folders = GX_BUF_INIT(NULL);
    gx_plugin_folders(&folders);
    bool found = find_in(text_of(&folders), name, out);
    gx_buf_fini(&folders);
    return found;
}

/* --- All of them -------------------------------------------------------------------------------------------------- */

typedef struct listing {
    char **paths;
    size_t count;
    gale_str folders;
    gale_str folder; /* of them, that is listed now */
} listing;

/* One that another folder has first is not the one that its name finds. */
static int list_file(void *user, const char *file) {
    listing *l = user;
    gale_str name = name_of(file);
    gx_buf here = GX_BUF_INIT(NULL), first = GX_BUF_INIT(NULL);
    bool found = name.size && is_in(l->folder, name, &here) && find_in(l->folders, name, &first) &&
                 strcmp(gx_buf_text(&here), gx_buf_text(&first)) == 0;
    char **more = found ? realloc(l->paths, (l->count + 1) * sizeof *more) : NULL;
    if (more) {
        l->paths = more;
        if ((l->paths[l->count] = strdup(gx_buf_text(&here)))) l->count++;
    }
    gx_buf_fini(&here);
    gx_buf_fini(&first);
    return found && !more ? GALE_NO_MEMORY : 0;
}

static int list_folder(listing *l) {
    gx_buf folder = GX_BUF_INIT(NULL);
    gx_buf_add(&folder, l->folder.data, l->folder.size);
    const char *path = gx_buf_text(&folder);
    int rc = path ? 0 : GALE_NO_MEMORY;
    if (path && gx_folder_look(path, NULL) == 0) rc = gx_folder_each(path, begin, list_file, l, NULL);
    gx_buf_fini(&folder);
    return rc;
}

static int by_file(const void *a, const void *b) {
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    return strcmp(strrchr(x, '/'), strrchr(y, '/'));
}

int gx_plugin_path_each(gx_plugin_path_fn *each, void *user) {
    gx_buf folders = GX_BUF_INIT(NULL);
    gx_plugin_folders(&folders);
    listing l = { .folders = text_of(&folders) };
    int rc = 0;
    for (gale_str rest = l.folders; rc == 0 && gx_str_next(&rest, ':', &l.folder);) rc = list_folder(&l);
    if (l.count) qsort(l.paths, l.count, sizeof *l.paths, by_file);
    for (size_t i = 0; i < l.count && rc == 0; i++) rc = each(user, l.paths[i]);
    for (size_t i = 0; i < l.count; i++) free(l.paths[i]);
    free(l.paths);
    gx_buf_fini(&folders);
    return rc;
}

bool gx_plugin_path_has(gale_str name) {
    gx_buf path = GX_BUF_INIT(NULL);
    bool has = is_name(name) && find(name, &path);
    gx_buf_fini(&path);
    return has;
}

/* --- Looking for one ---------------------------------------------------------------------------------------------- */

typedef struct guess {
    gx_nearest nearest;
    gx_buf names; /* each ended by a NUL */
} guess;

static int offer(void *user, const char *path) {
    guess *g = user;
    gale_str name = name_of(strrchr(path, '/') + 1);
    char kept[GX_FILE_NAME_SIZE];
    if (name.size >= sizeof kept) return 0;
    gx_nearest other = gx_nearest_to(g->nearest.wanted);
    gx_nearest_offer(&other, name);
    bool better = gx_nearest_word(&other).size && (!g->nearest.best.size || other.distance < g->nearest.distance);
    if (!better) return 0;
    gx_buf_reset(&g->names);
    gx_buf_add(&g->names, name.data, name.size);
    const char *text = gx_buf_text(&g->names);
    if (text) g->nearest.best = (gale_str){ text, name.size }, g->nearest.distance = other.distance;
    return 0;
}

/* What is to be done for a connector of gale's own, else the nearest name. */
static void put_hint(gale_str name, const gx_nearest *nearest, gx_buf *out) {
    char hint[100];
    const gx_connector *own = gx_connector_named(name);
    gx_buf_add_text(out, own ? ": " : gx_nearest_hint(nearest, hint, sizeof hint));
    if (own) gx_connector_advice(own, out);
}

static int not_found(gale_str name, gale_error *error) {
    guess g = { gx_nearest_to(name), GX_BUF_INIT(NULL) };
    gx_buf where = GX_BUF_INIT(NULL), hint = GX_BUF_INIT(NULL);
    gx_plugin_path_each(offer, &g);
    gx_plugin_folders_describe(&where);
    put_hint(name, &g.nearest, &hint);
    const char *text = gx_buf_text(&where), *more = gx_buf_text(&hint);
    int rc = gale_error_set(error, GALE_NOT_FOUND, "there is no plugin '%.*s': no %s%.*s%s in %s%s", GX_STR(name),
                            begin, GX_STR(name), end, text ? text : "any folder", more ? more : "");
    gx_buf_fini(&hint);
    gx_buf_fini(&where);
    gx_buf_fini(&g.names);
    return rc;
}

/* A path without a '/' would be looked for where libraries are. */
static void put_path(const char *word, const char *beside, gx_buf *out) {
    const char *slash = beside ? strrchr(beside, '/') : NULL;
    gx_buf_reset(out);
    if (*word != '/' && slash) gx_buf_add(out, beside, (size_t)(slash - beside) + 1);
    if (*word != '/' && !slash && !strchr(word, '/')) gx_buf_add_text(out, "./");
    gx_buf_add_text(out, word);
}

int gx_plugin_path_of(const char *word, const char *beside, gx_buf *ret_path, gale_error *error) {
    size_t size = strlen(word);
    if (!size) return gale_error_set(error, GALE_INVALID, "a plugin's name is empty");
    bool is_path = strchr(word, '/') || (size > END_SIZE && strcmp(word + size - END_SIZE, end) == 0);
    if (is_path)
        put_path(word, beside, ret_path);
    else if (!is_name((gale_str){ word, size }) || !find((gale_str){ word, size }, ret_path))
        return not_found((gale_str){ word, size }, error);
    return gx_buf_text(ret_path) ? 0 : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}
