#include "front/buffer_paths.h"

#include "base/str.h"

#include <string.h>

static const char *path_of(const gx_vertex *v) {
    bool is = v->whole && (strcmp(v->class_->name, "gale.bolt.DiskBuffer") == 0 ||
                           strcmp(v->class_->name, "gale.spout.DiskBuffer") == 0);
    return is ? gx_args_text(v->args, "path") : NULL;
}

static const gx_yaml *place_of(const gx_vertex *v) {
    for (size_t i = 0; i < v->class_->param_count; i++)
        if (strcmp(v->class_->params[i].name, "path") == 0 && v->args->places[i]) return v->args->places[i];
    return v->id;
}

/* The one before it with its path, of the same kind; NULL: there is none. */
static const gx_vertex *find_before(const gx_loading *l, const gx_vertex *v) {
    const char *path = path_of(v);
    for (const gx_vertex *one = l->vertices; path && one < v; one++) {
        const char *other = one->class_ == v->class_ ? path_of(one) : NULL;
        if (other && strcmp(path, other) == 0) return one;
    }
    return NULL;
}

/* A spout that was made with its bolt would be told twice. */
static int check(const gx_loading *l, const gx_vertex *v) {
    const gx_vertex *other = find_before(l, v);
    if (!other || gx_buffer_of_spout(l->buffers, v->id->text)) return 0;
    return gx_yaml_error(l->doc, place_of(v), l->error, GALE_TOPOLOGY,
                         "'%.*s' has the folder '%s', which '%.*s' has: each disk buffer has one of its own",
                         GX_STR(v->id->text), path_of(v), GX_STR(other->id->text));
}

int gx_buffer_paths_check(const gx_loading *l) {
    int rc = 0;
    for (size_t i = 0; i < l->vertex_count && rc == 0; i++) rc = gx_loading_keep(l, check(l, &l->vertices[i]));
    return rc;
}
