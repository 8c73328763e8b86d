/* A Flux file with what it includes, as one tree.
 *
 * What:    an include names a file (`file`), which is looked for beside the one that includes it, else where a relative path
 *          leads from the working directory; `resource: true` (Storm: on the class path) is looked for beside it alone.
 *          With `override: true` its name, keys of the configuration, components, spouts and bolts replace those of the
 *          same name, else they yield to them, with a warning. Streams and plugins are added. One level deep, as in Storm: what an
 *          included file includes, its workerHooks and its topologySource are not read, with a warning.
 * Threads: one at a time.
 * Owner:   what is included belongs to the document.
 */
#ifndef GX_FRONT_INCLUDE_H
#define GX_FRONT_INCLUDE_H

#include "front/shape.h"

/* The keys that a Flux file may have, separated by blanks. */
#define GX_FLUX_KEYS "name config components spouts bolts streams workerHooks includes topologySource plugins"

/* What a file is read with. */
typedef struct gx_source {
    const gx_variables *variables;
    gx_problems *problems; /* or NULL */
    const gale_logger *logger;
} gx_source;

/* Reads a file, or text, with variables replaced; includes nothing. */
int gx_source_load(const gx_source *source, const char *path, gx_yaml_doc **ret_doc, gale_error *error);
int gx_source_parse(const gx_source *source, const char *name, gale_str text, gx_yaml_doc **ret_doc, gale_error *error);

/* Adds all that the document includes to its root. With problems, an include that fails is kept and left out. */
int gx_include_all(const gx_source *source, gx_yaml_doc *doc, gale_error *error);

#endif
