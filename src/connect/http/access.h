/* How a server is asked: headers, a token, a password, TLS, signatures, how long it may take. What a file says, and what the files have
 * that it names.
 *
 *      http_access    of a definition: names of files, nothing that is secret
 *      http_secrets   of a task: what the files have; read when it begins, and again when the server does not take it
 *
 * Threads: the task's. Owner: each has its fini. */
#ifndef GALE_CONNECT_HTTP_ACCESS_H
#define GALE_CONNECT_HTTP_ACCESS_H

#include "connect/http/buffer.h"

#include <curl/curl.h>
#include <gale/plugin.h>

enum { HTTP_ACCESS_HEADERS = 32 };

typedef enum http_signing { HTTP_SIGN_NONE, HTTP_SIGN_HMAC, HTTP_SIGN_S3 } http_signing;

typedef struct http_pair {
    char *name, *text;
} http_pair;

typedef struct http_access {
    char *url, *token_from, *user, *password_from, *ca, *certificate, *certificate_key;
    http_pair headers[HTTP_ACCESS_HEADERS], secret_headers[HTTP_ACCESS_HEADERS];
    size_t header_count, secret_count;
    long timeout; /* milliseconds */
    http_signing signing;
    char *sign_from, *sign_header, *access_key_from, *secret_key_from, *session_from, *region, *service;
} http_access;

/* Of the parameters that ask of them: which the class has. GALE_INVALID, GALE_NO_MEMORY with a sentence. */
int http_access_make(http_access *access, const gale_args *args, bool signs, gale_error *error);
void http_access_fini(http_access *access);

typedef struct http_secrets {
    char *token, *password, *sign, *access_key, *secret_key, *session;
    char *headers[HTTP_ACCESS_HEADERS];
} http_secrets;

/* All or nothing: what was there stays on an error, which has the sentence. */
int http_secrets_read(http_secrets *secrets, const http_access *access, gale_error *error);
void http_secrets_fini(http_secrets *secrets);

/* Makes each that stands in the text unreadable. */
void http_secrets_hide(const http_secrets *secrets, char *text);

/* Tells libcurl of all but the signature; headers are appended to `*headers`, which is the caller's. GALE_NO_MEMORY. */
int http_access_apply(const http_access *access, const http_secrets *secrets, CURL *easy, struct curl_slist **headers);

/* "name: text" behind the others. GALE_NO_MEMORY. */
int http_header_add(struct curl_slist **headers, const char *name, const char *text);

#endif
