/* What a file spout was told: its options, checked and copied.
 * Threads: frozen once made. Owner: who makes them frees them with gx_define_free. */
#ifndef GX_CONNECT_FILE_SETTINGS_H
#define GX_CONNECT_FILE_SETTINGS_H

#include "connect/file/reader.h"
#include "connect/file/row.h"

#include <gale/file.h>

/* The user block of the spout's definition, with the paths copied behind it. */
typedef struct gx_file_settings {
    gale_file_spout_options options; /* `state` points into `paths` */
    int64_t state_interval, rotate_wait;
    int64_t block;     /* GX_FILE_BLOCK; tests have smaller ones */
    gx_file_rule rule; /* without whom it tells */
    gx_file_row row;
    gale_output output; /* its fields are the row's */
    char paths[];       /* `path`, then `state` */
} gx_file_settings;

/* GALE_INVALID, with a sentence; GALE_NO_MEMORY. */
int gx_file_settings_make(const gale_file_spout_options *given, gx_file_settings **ret_settings, gale_error *error);

#endif
