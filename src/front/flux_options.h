/* What a Flux file is read with. */
#ifndef GX_FRONT_FLUX_OPTIONS_H
#define GX_FRONT_FLUX_OPTIONS_H

#include "front/include.h"
#include "front/overlap.h"

#include <gale/topology.h>

/* What the command line lays over the file. All borrowed for the call; zero is nothing. */
typedef struct gx_flux_options {
    const char *const *assignments; /* "key=value", for the topology's configuration */
    size_t assignment_count;
    const gale_setting *settings; /* the same with typed values; a key that no component reads is an error */
    size_t setting_count;
    bool *ret_prints;           /* may be NULL: does a component write to the standard output? */
    const gale_logger *logger;  /* for warnings about keys without effect, once a key */
    const gx_named_file *files; /* that the command line names, to see whether they are in the way of others */
    size_t file_count;
    bool open;               /* more is added by who has it: as in gale_front.h */
    bool dry;                /* it is not to be run: its spouts neither go on with a state nor keep one */
    bool settled;            /* it is run as it is: who reads what is fixed, or refused (front/shared.h) */
    const char *state;       /* topology.state.dir, or NULL */
    const char *const *sets; /* "id.name=value", for a spout or bolt (front/set.h) */
    size_t set_count;
    const char *below; /* NULL, or a folder: what components write lies below it, the standard output as a file "-" */
    const gx_variables *variables; /* what ${...} may stand for */
    gx_problems *problems;         /* NULL: the first error ends it */
    struct gx_plugins
        *plugins; /* where the file's own are added, and whose classes it may name; NULL: it may have none */
} gx_flux_options;

#endif
