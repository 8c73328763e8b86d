/* What both programs run: lines from a pipe or a socket are split and counted; at the end each word is printed with its count.
 * The word "sleep" is held by a bolt and never answered: a drain does not end by itself then, and the program's bound does it. */
#ifndef EXAMPLE_COUNTING_H
#define EXAMPLE_COUNTING_H

#include <gale/gale.h>

/* So long after the first signal, what is not answered yet is left. */
#define DRAIN_BOUND GALE_SECOND

/* A spout of the lines that come by `fd`, which stays the caller's. */
gale_spout lines_spout(const int *fd);

/* Not started: to be stepped by its caller. Reports why not to the standard error: NULL. */
gale_runtime *counting_new(const int *fd);

#endif
