/* What is run and how (gale_exec_command), checked and copied, with all its texts, into the block of a definition.
 * Threads: any. Owner: the block is the definition's, which outlives its tasks. */
#ifndef GX_CONNECT_EXEC_SETTINGS_H
#define GX_CONNECT_EXEC_SETTINGS_H

#include "base/port.h"

#include <gale/error.h>
#include <gale/exec.h>

enum { GX_EXEC_NAME = 80 };

/* First in a definition's block. */
typedef struct gx_exec_settings {
    gale_exec_command run; /* lists and texts are in the block */
    size_t changes;        /* in run.environment */
    int64_t wait, wait_max, stop_wait;
    char name[GX_EXEC_NAME]; /* how reports call it: the command, fit to be read, cut */
} gx_exec_settings;

/* Makes a block of `size` bytes that begins with the settings; the rest is zero. `who` is how errors call the component. GALE_INVALID,
 * GALE_NO_MEMORY. To be freed with free(). */
int gx_exec_settings_make(const gale_exec_command *given, const char *who, size_t size, void *ret_block,
                          gale_error *error);

/* A time that is given in seconds: is it one (GALE_INVALID), and in ns, where 0 is so many. */
int gx_exec_settings_check(const char *who, const char *what, double seconds, gale_error *error);
int64_t gx_exec_settings_time(double seconds, int fallback);

#endif
