/* The texts of a child process (base/os/child.h): its arguments, its environment, where its program may be; laid out before it is born.
 *
 * Threads: any; one that changes this process's environment meanwhile is the program's own mistake, as with getenv.
 * Owner:   the caller; arguments and changes to the environment are borrowed. */
#ifndef GX_BASE_OS_CHILD_TEXT_H
#define GX_BASE_OS_CHILD_TEXT_H

#include "base/buf.h"

typedef struct gx_child_text {
    gx_buf bytes; /* of paths that were put together */
    gx_buf lists;
    char **arguments;
    char **environment;
    char **programs; /* one, when its name has a '/', else one a folder of PATH */
} gx_child_text;

/* `words` or, if it is there, `command` for /bin/sh; `changes` to this process's environment: "NAME=value", or "NAME", which goes; each list
 * ended by NULL, `changes` may be NULL. GALE_NO_MEMORY. */
int gx_child_text_init(gx_child_text *text, gx_heap *heap, const char *const *words, const char *command,
                       const char *const *changes);
void gx_child_text_fini(gx_child_text *text);

#endif
