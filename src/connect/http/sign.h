/* Signatures of requests: AWS's Signature Version 4, and an HMAC of the body, as webhooks have it.
 * Threads: any. Owner: nothing is kept. */
#ifndef GALE_CONNECT_HTTP_SIGN_H
#define GALE_CONNECT_HTTP_SIGN_H

#include "connect/http/access.h"

typedef struct http_signed {
    const char *method, *url;
    const char *body;
    size_t size;
    int64_t time; /* seconds since 1970 */
} http_signed;

/* Adds the headers of the signature that `access` asks for, if any. GALE_NO_MEMORY; GALE_INVALID: the address is none. */
int http_sign(const http_access *access, const http_secrets *secrets, const http_signed *request,
              struct curl_slist **headers);

#endif
