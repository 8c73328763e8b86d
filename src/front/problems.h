/* What is wrong with a topology's files, all of it: errors, and warnings of what will hurt.
 *
 * What:    who reads a file reports one error and gives up, or, where several are wanted, hands each to this and goes on.
 * Threads: one at a time.
 * Owner:   text is copied; gx_problems_fini gives all back.
 * Limits:  GX_PROBLEMS_MAX are kept; what comes then is only known to have come (`more`).
 */
#ifndef GX_FRONT_PROBLEMS_H
#define GX_FRONT_PROBLEMS_H

#include "base/port.h"

#include <gale/error.h>

enum { GX_PROBLEMS_MAX = 100 };

/* Where something stands. */
typedef struct gx_position {
    const char *file;
    uint32_t line, column; /* from 1; 0: it is about the file as a whole */
} gx_position;

/* Does the report `text` begin with a place in `file` ("file:line:column: ") or with the file alone ("file: ")? Then
 * that place, and what stands behind it. */
bool gx_position_read(const char *file, const char *text, gx_position *ret_place, const char **ret_text);

typedef struct gx_problem {
    bool warning;
    int32_t code; /* a gale_error_code; 0 of a warning */
    gx_position position;
    char *text;  /* without its place */
    size_t file; /* the how manyeth of the files that something is said about */
} gx_problem;

typedef struct gx_problems {
    gx_problem list[GX_PROBLEMS_MAX];
    size_t count, errors;
    size_t told; /* errors, also those that count once and came again */
    bool more;
} gx_problems;

/* False when it is full, or memory is out: then it is better to stop. The same one again (a list that stands in several
 * places by an alias) counts once. */
bool gx_problems_add(gx_problems *problems, bool warning, int code, gx_position place, const char *text);

/* By file in the order of their first problem, then by line and column. */
void gx_problems_sort(gx_problems *problems);

void gx_problems_fini(gx_problems *problems);

/* One by itself, or NULL; freed with all that is in it (NULL is allowed). */
gx_problems *gx_problems_new(void);
void gx_problems_free(gx_problems *problems);

#endif
