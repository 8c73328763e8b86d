/* What a running topology has answered: its JSON, looked into by names.
 *
 * What:    a member that is not there, or is of another kind, is as one that is not known: nothing that another process says makes this one
 *          fail. An answer with HTTP's status 400 or more is an error, in the words that it says.
 * Threads: one at a time. Owner: gx_heard_fini gives back all; views are of it.
 */
#ifndef GX_CLI_HEARD_H
#define GX_CLI_HEARD_H

#include "cli/client.h"

#include <gale/value.h>

typedef struct gx_heard {
    gx_client_reply reply;
    gale_value_owned *owned;
    gale_value all;
} gx_heard;

#define GX_HEARD_API "/api/gale/v1"

/* gx_client_ask, GALE_INVALID (what is answered is no JSON, or a refusal, in its words). To be given back whatever it returns. */
int gx_heard_ask(const char *path, const char *method, const char *target, const char *body, gx_heard *ret_heard,
                 gale_error *error);
/* Lines of JSON, one after another, of an answer without an end (gx_client_follow); a refusal is GALE_INVALID in its words. */
int gx_heard_follow(const char *path, const char *target, gx_client_line *take, void *user, gale_error *error);

void gx_heard_fini(gx_heard *heard);

/* The exit code for what went wrong with asking. */
int gx_heard_exit(int code);

/* The member "name", or by "name.name" that of a member; null when there is none. */
gale_value gx_heard_at(const gale_value *from, const char *names);

double gx_heard_number(const gale_value *from, const char *names, double otherwise);
uint64_t gx_heard_count(const gale_value *from, const char *names); /* 0 when it is not known */
bool gx_heard_is(const gale_value *from, const char *names);
gale_str gx_heard_text(const gale_value *from, const char *names); /* empty when it is not known */

/* Items of the list that a member is, and one of them. */
size_t gx_heard_length(const gale_value *from, const char *names);
gale_value gx_heard_item(const gale_value *from, const char *names, size_t index);

#endif
