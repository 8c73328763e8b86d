/* Clients that wait for the end of a run, to learn its exit code: each has an answer without an end (serve/outflow),
 * whose last line has it.
 *
 * Threads: any. Owner: the server.
 * Limits:  GX_ENDERS_MAX at a time. An empty line every GX_ENDERS_SILENCE finds out who has gone.
 */
#ifndef GX_SERVE_ENDERS_H
#define GX_SERVE_ENDERS_H

#include "serve/outflow.h"

#include <gale/clock.h>
#include <gale/error.h>

enum { GX_ENDERS_MAX = 32 };
#define GX_ENDERS_SILENCE GALE_SECOND

typedef struct gx_enders gx_enders;

/* NULL when memory is out. */
gx_enders *gx_enders_new(void);

/* Ends all answers. NULL is allowed. */
void gx_enders_free(gx_enders *enders);

/* Its first line is there at once. GALE_AGAIN: there are too many, or the end has come; GALE_NO_MEMORY. */
GALE_MUST_USE int gx_enders_begin(gx_enders *enders, gx_outflow **ret_flow, gale_error *error);

/* To be called about once a second. */
void gx_enders_look(gx_enders *enders, int64_t now);

/* The last line, and the end of all answers. */
void gx_enders_end(gx_enders *enders, int exit_code);

#endif
