/* What a command line sets in a file's spouts and bolts: "count.parallelism=8", "sink.path=out.tsv".
 *
 * What:    ID.NAME=VALUE: NAME is parallelism, numTasks, a property of the component's class, or a key of its
 *          configuration; VALUE is YAML (a list, too), and nothing behind the '=' an empty text. The longest id that fits is meant.
 * Threads: one at a time.
 * Owner:   values belong to the document.
 */
#ifndef GX_FRONT_SET_H
#define GX_FRONT_SET_H

#include "front/yaml.h"

typedef struct gx_setting {
    const gx_yaml *id; /* of the component, where it stands in the file */
    gale_str name;
    const gx_yaml *value; /* its file is "--set ID.NAME" */
} gx_setting;

/* Reads one. GALE_NOT_FOUND with the nearest id, GALE_SYNTAX. */
int gx_set_read(gx_yaml_doc *doc, const char *text, gx_setting *ret_setting, gale_error *error);

#endif
