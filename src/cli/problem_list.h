/* What is wrong with a file, for people: a line a problem with its place, and the line of the file below it.
 * Threads: one. */
#ifndef GX_CLI_PROBLEM_LIST_H
#define GX_CLI_PROBLEM_LIST_H

#include "front/excerpt.h"

/* All of them, in their order. */
void gx_problem_list(const gx_problems *problems, const gx_variables *variables, gx_buf *out);

#endif
