/* Texts that a definition keeps of its parameters. Threads: any. Owner: who asks frees them. */
#ifndef GALE_CONNECT_HTTP_COPY_H
#define GALE_CONNECT_HTTP_COPY_H

#include <gale/plugin.h>

/* A copy of a parameter's text; NULL where there is none, or an empty one. GALE_NO_MEMORY. */
int http_copy_text(char **to, const gale_args *args, const char *parameter, gale_error *error);

#endif
