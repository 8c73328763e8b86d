#include "front/include.h"

#include "base/encoding.h"
#include "base/os/file.h"
#include "base/str.h"

#include <stdlib.h>

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* What a variable stands for is not known: then neither is what would be read. */
static int parse(const gx_source *source, const char *name, gale_str text, gx_buf *out, gx_edits *edits,
                 gx_yaml_doc **ret_doc, gale_error *error) {
    size_t before = source->problems ? source->problems->told : 0;
    int rc = gx_substitute(name, text, source->variables, GX_YAML_BYTES, source->problems, out, edits, error);
    if (rc < 0) return rc;
    if (source->problems && source->problems->told > before) return GALE_NOT_FOUND;
    rc = gx_yaml_parse_edited(name, (gale_str){ out->data, out->size }, edits, NULL, ret_doc, error);
    if (rc == 0) gx_yaml_collect(*ret_doc, source->problems);
    return rc;
}

int gx_source_parse(const gx_source *source, const char *name, gale_str text, gx_yaml_doc **ret_doc,
                    gale_error *error) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_edits edits = { .count = 0 };
    if (text.size > GX_YAML_BYTES)
        return gale_error_set(error, GALE_TOO_LARGE, "%s: larger than %d MiB", name, GX_YAML_BYTES >> 20);
    int rc = gx_encoding_read(name, &text, error);
    if (rc == 0) rc = parse(source, name, text, &out, &edits, ret_doc, error);
    gx_edits_fini(&edits);
    gx_buf_fini(&out);
    return rc;
}

int gx_source_load(const gx_source *source, const char *path, gx_yaml_doc **ret_doc, gale_error *error) {
    char *bytes;
    size_t size;
    int rc = gx_file_read_all(path, GX_YAML_BYTES, &bytes, &size, error);
    if (rc < 0) return rc;
    rc = gx_source_parse(source, path, (gale_str){ bytes, size }, ret_doc, error);
    free(bytes);
    return rc;
}

/* --- Where an included file is ------------------------------------------------------------------------------------ */

/* `file` in the folder of `from`. */
static bool beside(const char *from, const char *file, gx_buf *out) {
    const char *slash = strrchr(from, '/');
    gx_buf_reset(out);
    if (slash && *file != '/') gx_buf_add(out, from, (size_t)(slash - from) + 1);
    gx_buf_add_text(out, file);
    return gx_buf_text(out) != NULL;
}

static bool is_there(const char *path) {
    gx_file_about about;
    return gx_file_about_path(path, &about, NULL) == 0;
}

/* Where nothing is found, the first place is told of. */
static const char *find(const gx_yaml_doc *doc, const char *file, bool resource, gx_buf *out) {
    while (resource && *file == '/') file++;
    if (!beside(gx_yaml_name(doc), file, out)) return NULL;
    return is_there(gx_buf_text(out)) || resource || !is_there(file) ? gx_buf_text(out) : file;
}

/* --- One include -------------------------------------------------------------------------------------------------- */

typedef struct joining {
    const gx_source *source;
    gx_yaml_doc *doc;
    gx_yaml *root;
    const gx_yaml *from; /* the root of what is included */
    bool override;
    gale_error *error;
} joining;

static int no_memory(const joining *j) {
    return gale_error_set(j->error, GALE_NO_MEMORY, "%s: out of memory", gx_yaml_name(j->doc));
}

static const gx_yaml *key_in(const gx_yaml *map, const char *name) {
    for (const gx_yaml *key = map->type == GALE_TYPE_MAP ? map->as.first : NULL; key; key = key->next->next)
        if (gx_str_is(key->text, name)) return key;
    return NULL;
}

static void say_kept(const joining *j, const gx_yaml *what, gale_str name, const gx_yaml *other) {
    gx_yaml_warn(j->doc, what, j->source->logger,
                 "'%.*s' is at %s:%u:%u, too, which stays (override: true would replace it)", GX_STR(name), other->file,
                 other->line, other->column);
}

static int join_name(const joining *j) {
    const gx_yaml *key = key_in(j->from, "name");
    if (!key || (key_in(j->root, "name") && !j->override)) return 0;
    return gx_yaml_put(j->doc, j->root, key, key->next) ? 0 : no_memory(j);
}

static int join_config(const joining *j) {
    const gx_yaml *key = key_in(j->from, "config"), *mine = gx_yaml_get(j->root, "config");
    if (!key || key->next->type == GALE_TYPE_NULL) return 0;
    if (!mine || mine->type == GALE_TYPE_NULL || key->next->type != GALE_TYPE_MAP || mine->type != GALE_TYPE_MAP)
        return (mine && mine->type != GALE_TYPE_NULL) || gx_yaml_put(j->doc, j->root, key, key->next) ? 0
                                                                                                      : no_memory(j);
    gx_yaml *joined = gx_yaml_open(j->doc, mine, GALE_TYPE_MAP);
    for (const gx_yaml *k = key->next->as.first; k && joined; k = k->next->next) {
        const gx_yaml *other = gx_yaml_get(mine, k->text.data);
        if (other && !j->override)
            say_kept(j, k, k->text, other);
        else if (!gx_yaml_put(j->doc, joined, k, k->next))
            joined = NULL;
    }
    return joined && gx_yaml_put(j->doc, j->root, key, joined) ? 0 : no_memory(j);
}

/* The object with this id. */
static gx_yaml *find_id(const gx_yaml *list, const gx_yaml *id) {
    for (gx_yaml *item = list->as.first; item && id && gx_yaml_is_scalar(id); item = item->next) {
        const gx_yaml *other = gx_yaml_get(item, "id");
        if (other && gx_yaml_is_scalar(other) && gx_str_equal(other->text, id->text)) return item;
    }
    return NULL;
}

static bool join_item(const joining *j, gx_yaml *list, const gx_yaml *item, bool streams) {
    const gx_yaml *id = streams ? NULL : gx_yaml_get(item, "id");
    gx_yaml *other = find_id(list, id), *next = other ? other->next : NULL;
    if (!other) return gx_yaml_add(j->doc, list, item);
    if (!j->override) {
        say_kept(j, id, id->text, gx_yaml_get(other, "id"));
        return true;
    }
    *other = *item;
    other->next = next;
    return true;
}

/* A list that is none is told of where it stands, when the topology is built. */
static int join_list(const joining *j, const char *name) {
    const gx_yaml *key = key_in(j->from, name), *mine = gx_yaml_get(j->root, name);
    if (!key || key->next->type == GALE_TYPE_NULL) return 0;
    if (!mine || mine->type != GALE_TYPE_LIST || key->next->type != GALE_TYPE_LIST)
        return (mine && mine->type == GALE_TYPE_LIST) || gx_yaml_put(j->doc, j->root, key, key->next) ? 0
                                                                                                      : no_memory(j);
    gx_yaml *joined = gx_yaml_open(j->doc, mine, GALE_TYPE_LIST);
    for (const gx_yaml *item = key->next->as.first; item && joined; item = item->next)
        if (!join_item(j, joined, item, strcmp(name, "streams") == 0)) joined = NULL;
    return joined && gx_yaml_put(j->doc, j->root, key, joined) ? 0 : no_memory(j);
}

static void say_unread(const joining *j) {
    static const char *const names[] = { "includes", "workerHooks", "topologySource" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const gx_yaml *key = key_in(j->from, names[i]);
        if (key && key->next->type != GALE_TYPE_NULL && (gx_yaml_is_scalar(key->next) || key->next->count))
            gx_yaml_warn(j->doc, key, j->source->logger, "'%s' of a file that is included is not read, as in Storm",
                         names[i]);
    }
}

static int join(const joining *j) {
    static const char *const lists[] = { "components", "spouts", "bolts", "streams", "plugins" };
    int rc = gx_shape_map(j->doc, j->from, "a topology", GX_FLUX_KEYS, j->error);
    if (rc == 0) rc = join_name(j);
    if (rc == 0) rc = join_config(j);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && rc == 0; i++) rc = join_list(j, lists[i]);
    if (rc == 0) say_unread(j);
    return rc;
}

/* --- All of them -------------------------------------------------------------------------------------------------- */

static int flag(const gx_yaml_doc *doc, const gx_yaml *item, const char *key, bool *ret_flag, gale_error *error) {
    const gx_yaml *node = gx_yaml_get(item, key);
    *ret_flag = node && node->type == GALE_TYPE_BOOL && node->as.boolean;
    if (!node || node->type == GALE_TYPE_BOOL || node->type == GALE_TYPE_NULL) return 0;
    return gx_yaml_error(doc, node, error, GALE_TYPE, "'%s' of an include must be true or false, not %s", key,
                         gx_yaml_type_text(node));
}

/* What is wrong with the file itself has its own place there; that it cannot be read, the include's. */
static int load(const gx_source *source, gx_yaml_doc *doc, const gx_yaml *file, bool resource, gx_yaml_doc **ret_other,
                gale_error *error) {
    gx_buf path = GX_BUF_INIT(NULL);
    gale_error inner = GALE_ERROR_INIT;
    const char *found = find(doc, file->text.data, resource, &path);
    int rc = found ? gx_source_load(source, found, ret_other, &inner) : GALE_NO_MEMORY;
    if (rc == GALE_IO || rc == GALE_NO_MEMORY || !inner.code)
        rc = rc < 0 && inner.code ? gx_yaml_error_at(doc, file, error, &inner) : rc;
    else if (rc < 0 && error)
        *error = inner;
    gx_buf_fini(&path);
    return rc;
}

static int include(const gx_source *source, gx_yaml_doc *doc, gx_yaml *root, const gx_yaml *item, gale_error *error) {
    const gx_yaml *file;
    bool resource, override;
    gx_yaml_doc *other = NULL;
    int rc = gx_shape_map_with(doc, item, "an include", "resource file override", "file", error);
    if (rc == 0) rc = gx_shape_text(doc, item, "an include", "file", &file, error);
    if (rc == 0) rc = flag(doc, item, "resource", &resource, error);
    if (rc == 0) rc = flag(doc, item, "override", &override, error);
    if (rc == 0) rc = load(source, doc, file, resource, &other, error);
    if (rc != 0) return rc;
    gx_yaml_adopt(doc, other);
    const joining j = { source, doc, root, gx_yaml_root(other), override, error };
    if (!j.from) return gx_yaml_error(other, NULL, error, GALE_TOPOLOGY, "the file is empty");
    return join(&j);
}

/* When a report is empty, problems have been kept on the way. */
static int keep(const gx_yaml_doc *doc, int rc, gale_error *error) {
    if (rc < 0 && rc != GALE_NO_MEMORY && error && !error->code && gx_yaml_kept(doc)) return 0;
    return gx_yaml_keep(doc, rc, error);
}

int gx_include_all(const gx_source *source, gx_yaml_doc *doc, gale_error *error) {
    const gx_yaml *list, *root = gx_yaml_root(doc);
    if (!root || root->type != GALE_TYPE_MAP) return 0;
    int rc = gx_shape_list(doc, root, "a topology", "includes", &list, error);
    if (rc < 0 || !list) return gx_yaml_keep(doc, rc, error);
    gx_yaml *joined = gx_yaml_open(doc, root, GALE_TYPE_MAP);
    if (!joined) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", gx_yaml_name(doc));
    for (const gx_yaml *item = list->as.first; item && rc == 0; item = item->next)
        rc = keep(doc, include(source, doc, joined, item, error), error);
    gx_yaml_set_root(doc, joined);
    return rc;
}
