/* The files that `gale new` writes: those in templates/, in which @NAME@ stands for the project's name. They are put into the program
 * when it is built (cmake/templates.cmake).
 * Threads: any. Static storage. */
#ifndef GX_CLI_TEMPLATES_H
#define GX_CLI_TEMPLATES_H

#include <stddef.h>

typedef struct gx_template {
    const char *kind, *name; /* "yaml", "topology.yaml" */
    const unsigned char *bytes;
    size_t size;
} gx_template;

extern const gx_template gx_templates[];
extern const size_t gx_template_count;

#endif
