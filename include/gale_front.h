/* gale_front.h: topologies from files, with all classes that a file can name. In libgale-front, which needs libgale, libyaml,
 * zlib and, for expressions, libgale-script.
 *
 * What:    what `gale run FILE.yaml` reads, for an application that runs it by itself. Files are Flux, Storm's YAML form of
 *          topologies; docs/reference/classes.md lists the classes.
 * Threads: one at a time.
 * Owner:   the topology is the caller's, as of gale_topology_new; nothing of the file or the options is needed afterwards.
 * Errors:  every report begins "file:line:column: ". The first thing that is wrong ends it; `gale check` tells all.
 * Plugins: what a file names is loaded, and stays. A plugin calls functions of libgale: an application that is linked with the shared one
 *          has them; one that is linked with the static one must show them (-rdynamic), and all of them be in it.
 * Version: a topology is opaque, so libgale must be of the very version that libgale-front is (GALE_UNSUPPORTED).
 */
#ifndef GALE_FRONT_H
#define GALE_FRONT_H

#include <gale/log.h>
#include <gale/topology.h>

GALE_BEGIN

typedef struct gale_topology_file_options {
    size_t size;
    const char *properties;       /* a file: what ${NAME} stands for; NULL: ${NAME} is an error */
    bool environment;             /* ${ENV-NAME} stands for what the environment has */
    const gale_setting *settings; /* over the topology's configuration; a key that no component reads is an error:
                                     "gale.input" for the spout's file, "gale.output" for the sink's */
    size_t setting_count;
    const char *const *sets; /* "id.name=value": a spout's or bolt's parallelism, numTasks, property or own key */
    size_t set_count;
    const gale_logger *logger; /* for warnings about keys without effect; NULL: none */
    const char *const
        *plugins; /* names and paths of plugins, beside those that the file names itself (docs/plugins.md) */
    size_t plugin_count;
    bool
        open; /* the caller adds more: streams may name spouts and bolts that are not in the file, bolts need no stream, and
                  `spouts` may be missing. The topology comes unchecked: gale_topology_check, or gale_runtime_new, does it */
} gale_topology_file_options;

#define GALE_TOPOLOGY_FILE_OPTIONS_INIT                                                                                \
    { sizeof(gale_topology_file_options), 0, false, 0, 0, 0, 0, 0, 0, 0, false }

/* Makes the topology of the file at `path`, checked. `options` may be NULL. GALE_IO, GALE_SYNTAX, GALE_TOPOLOGY, GALE_CONFIG,
 * GALE_NOT_FOUND (a class, a variable), GALE_UNSUPPORTED (what only Java can do), GALE_INVALID, GALE_TOO_LARGE,
 * GALE_NO_MEMORY. A file's topology.state.dir is for who runs it: open a store there (gale_store.h) and give it to the
 * runtime. */
GALE_API GALE_MUST_USE int gale_topology_from_file(const char *path, const gale_topology_file_options *options,
                                                   gale_topology **ret_topology, gale_error *error);

/* The same of a text; `name` is what reports call it, and files that it includes are looked for in the working folder. */
GALE_API GALE_MUST_USE int gale_topology_from_text(const char *name, gale_str text,
                                                   const gale_topology_file_options *options,
                                                   gale_topology **ret_topology, gale_error *error);

GALE_END

#endif
