/* The classes that a topology file can name: tables of them, one behind the other.
 *
 * What:    gale's own tables come with front/builtin.h; a copy of that registry can be added to (plugins).
 * Threads: a registry that nobody adds to is constant; any thread.
 * Owner:   tables are borrowed, for as long as the registry is used and what was made of it.
 * Limits:  GX_TABLES_MAX tables.
 */
#ifndef GX_FRONT_REGISTRY_H
#define GX_FRONT_REGISTRY_H

#include "front/class.h"
#include "front/shape.h"

enum { GX_TABLES_MAX = 64 };

typedef struct gx_class_table {
    const gx_class *classes;
    size_t count;
} gx_class_table;

typedef struct gx_registry {
    gx_class_table tables[GX_TABLES_MAX];
    size_t table_count;
} gx_registry;

/* Adds a table. GALE_INVALID for a class that is not whole, GALE_EXISTS for a name that is taken, GALE_TOO_LARGE: then
 * nothing is added. */
int gx_registry_add(gx_registry *registry, const gx_class *classes, size_t count, gale_error *error);

/* The class at `index`, table behind table; NULL behind the last. */
const gx_class *gx_registry_at(const gx_registry *registry, size_t index);

/* By name or alias; NULL when there is none. */
const gx_class *gx_registry_find(const gx_registry *registry, gale_str name);

/* A hint for a name that is no class: the nearest one of `kind` (GX_CLASS_KIND_COUNT: of any), or where they are
 * listed. Borrowed from `out`, or static. */
const char *gx_registry_hint(const gx_registry *registry, gale_str wanted, int32_t kind, char out[GX_HINT_SIZE]);

/* The class that `object`'s className names. Of the wrong kind, or unknown: GALE_NOT_FOUND with the nearest name of
 * that kind, or with where to find them all. `what` is how messages call the object. */
int gx_registry_class(const gx_registry *registry, const gx_yaml_doc *doc, const gx_yaml *object, const char *what,
                      int32_t kind, const gx_class **ret_class, gale_error *error);

#endif
