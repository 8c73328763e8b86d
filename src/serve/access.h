/* Who is let in: the token, the Host, where a request comes from. One pure function, so that it can be tested row by row.
 *
 * What:    a door has rules, a request has headers, and the verdict is a status and a sentence.
 *          - On loopback, Host must be a name of this machine: a page of another site whose name was pointed here after it
 *            had been loaded (DNS rebinding) sends its own.
 *          - The token comes as "Authorization: Bearer", as the password of "Basic" (what Storm's tools can send), as ?token=, or as a cookie, and is compared in a time that says
 *            nothing about it.
 *          - What changes something is refused when a browser says that another site asks for it (Origin,
 *            Sec-Fetch-Site); with the cookie, which a browser adds by itself, it must also be what no form can send: JSON, or a header of ours.
 *          - A door without a token (a UNIX socket in the owner's folder) lets in whoever reaches it.
 * Threads: any. Owner: texts are borrowed. Errors: none; what cannot be read is not let in.
 */
#ifndef GX_SERVE_ACCESS_H
#define GX_SERVE_ACCESS_H

#include "base/str.h"

enum { GX_ACCESS_BASIC = 1024 }; /* characters of base64, at the most */

typedef struct gx_access {
    gale_str token; /* empty: none is needed */
    bool loopback;
    const char *cookie; /* the cookie's name */
} gx_access;

/* What is not there is empty. */
typedef struct gx_access_request {
    bool changes; /* what is asked for is more than an answer */
    gale_str host, origin, fetch_site, cookie, authorization, content_type, guard, query_token;
} gx_access_request;

typedef enum gx_access_by {
    GX_ACCESS_BY_NOBODY,
    GX_ACCESS_BY_DOOR,
    GX_ACCESS_BY_BEARER,
    GX_ACCESS_BY_QUERY,
    GX_ACCESS_BY_COOKIE
} gx_access_by;

typedef struct gx_access_verdict {
    unsigned status; /* 0: it may; else HTTP's */
    const char *why;
    gx_access_by by; /* with status 401: nobody */
} gx_access_verdict;

gx_access_verdict gx_access_judge(const gx_access *rules, const gx_access_request *request);

/* Is this Host one of this machine's own names: 127.x.y.z, localhost, [::1], with or without a port? */
bool gx_access_is_loopback_host(gale_str host);

/* The value of the first cookie of this name in a Cookie header, or an empty text. */
gale_str gx_access_cookie(gale_str header, const char *name);

/* The same bytes? Takes a time that depends on the size of `given` alone. */
bool gx_access_same(gale_str secret, gale_str given);

#endif
