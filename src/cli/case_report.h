/* How cases went, as they go: for people, as TAP, and in the end as JUnit's XML.
 * Threads: one. Owner: texts are borrowed for the call. */
#ifndef GX_CLI_CASE_REPORT_H
#define GX_CLI_CASE_REPORT_H

#include "cli/terminal.h"

typedef struct gx_case_result {
    const char *file, *name; /* `name` NULL: the file cannot be used */
    bool passed;
    uint64_t seeds, seed; /* so many; the one that failed */
    const char *text;     /* what was not as it should be, with an end to each line; or NULL */
} gx_case_result;

typedef struct gx_case_report {
    gx_terminal *out;
    bool tap, quiet;
    char *file; /* the one that is told of */
    size_t cases, failed, broken;
    bool has_junit;
    gx_buf junit;
} gx_case_report;

void gx_case_report_begin(gx_case_report *report, gx_terminal *out);
void gx_case_report_add(gx_case_report *report, const gx_case_result *result);

/* The sums. `*ret_junit` (may be NULL) gets the whole document, and is the caller's. */
void gx_case_report_end(gx_case_report *report, gx_buf *ret_junit);

#endif
