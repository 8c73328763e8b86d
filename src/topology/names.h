/* The rules for names, and lists of names in one text: "word, count". Errors are GALE_TOPOLOGY. Threads: any. Owner:
 * what a split returns is the caller's. */
#ifndef GX_TOPOLOGY_NAMES_H
#define GX_TOPOLOGY_NAMES_H

#include "base/port.h"
#include "base/str.h"

#include <gale/error.h>

enum { GX_NAMES_MAX = 65535 };

/* As Storm has it: not empty, none of / . : \ and no control character. */
int gx_name_check_topology(const char *name, gale_error *error);

/* Of a component, stream or field (`what` says which): not empty, no control characters, UTF-8, and not beginning with
 * "__", which is kept for the system. */
int gx_name_check(const char *what, const char *name, gale_error *error);

/* A copy from malloc, ended by a NUL, or NULL. */
char *gx_name_copy(gale_str name);

/* Splits "a, b" into checked, different names; NULL and "" give none. */
int gx_names_split(const char *what, const char *text, char ***ret_names, uint32_t *ret_count, gale_error *error);
void gx_names_free(char **names, uint32_t count);

#endif
