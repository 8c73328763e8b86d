#include "connect/http/access.h"

#include "connect/http/copy.h"

#include <ctype.h>
#include <errno.h>
#include <gale/connect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* --- What a file says ------------------------------------------------------------------------------------------------- */

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

/* RFC 9110: a token. */
static bool is_header_name(const char *name) {
    if (!*name) return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("!#$%&'*+-.^_`|~", *name)) return false;
    return true;
}

static bool is_header_text(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' && *text != '\t') return false;
    return true;
}

/* What gale writes by itself. */
static const char *own_header(const char *name) {
    static const char *const own[][2] = { { "Content-Length", "it is the body's" },
                                          { "Transfer-Encoding", "bodies have a length" },
                                          { "Host", "url says it" },
                                          { "Idempotency-Key", "the sink makes it" } };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcasecmp(own[i][0], name) == 0) return own[i][1];
    return NULL;
}

static int check_header(const char *parameter, const char *name, const char *text, gale_error *error) {
    const char *own = own_header(name);
    if (own) return gale_error_set(error, GALE_INVALID, "%s %s: %s", parameter, name, own);
    if (!is_header_name(name))
        return gale_error_set(error, GALE_INVALID, "%s: '%s' is no name of a header", parameter, name);
    if (!is_header_text(text))
        return gale_error_set(error, GALE_INVALID, "%s %s: a header is one line", parameter, name);
    return 0;
}

static int add_pair(http_pair *list, size_t *count, const char *parameter, gale_str key, const gale_value *value,
                    gale_error *error) {
    if (*count == HTTP_ACCESS_HEADERS)
        return gale_error_set(error, GALE_INVALID, "%s: there are at most %d", parameter, HTTP_ACCESS_HEADERS);
    http_pair *pair = &list[*count];
    if (value->type != GALE_TYPE_STRING && value->type != GALE_TYPE_I64)
        return gale_error_set(error, GALE_INVALID, "%s %.*s: it is a text", parameter, (int)key.size, key.data);
    char number[32];
    snprintf(number, sizeof number, "%lld", value->type == GALE_TYPE_I64 ? (long long)value->as.i64 : 0);
    pair->name = strndup(key.data, key.size);
    pair->text = value->type == GALE_TYPE_I64 ? strdup(number) : strndup(value->as.string, value->size);
    ++*count;
    if (!pair->name || !pair->text) return no_memory(error);
    return check_header(parameter, pair->name, pair->text, error);
}

static int read_pairs(http_pair *list, size_t *count, const gale_args *args, const char *parameter, gale_error *error) {
    gale_value map = gale_args_value(args, parameter), value;
    gale_str key;
    int rc = 0;
    for (size_t i = 0; rc == 0 && map.type == GALE_TYPE_MAP && gale_map_at(&map, i, &key, &value); i++)
        rc = add_pair(list, count, parameter, key, &value, error);
    return rc;
}

static int needs(const char *have, const char *one, const char *lacks, const char *other, gale_error *error) {
    if (!have || lacks) return 0;
    return gale_error_set(error, GALE_INVALID, "%s: it is given without %s", one, other);
}

static int check_pairs(const http_access *a, gale_error *error) {
    int rc = needs(a->user, "user", a->password_from, "passwordFrom", error);
    if (rc == 0) rc = needs(a->password_from, "passwordFrom", a->user, "user", error);
    if (rc == 0) rc = needs(a->certificate, "certificate", a->certificate_key, "certificateKey", error);
    if (rc == 0) rc = needs(a->certificate_key, "certificateKey", a->certificate, "certificate", error);
    if (rc == 0 && a->user && a->token_from)
        rc = gale_error_set(error, GALE_INVALID, "tokenFrom: there is a user already: one of the two is Authorization");
    return rc;
}

static int read_signing(http_access *a, const gale_args *args, gale_error *error) {
    const char *sign = gale_args_text(args, "sign");
    a->signing = strcmp(sign, "s3") == 0 ? HTTP_SIGN_S3 : strcmp(sign, "hmac") == 0 ? HTTP_SIGN_HMAC : HTTP_SIGN_NONE;
    int rc = http_copy_text(&a->sign_from, args, "signFrom", error);
    if (rc == 0) rc = http_copy_text(&a->sign_header, args, "signHeader", error);
    if (rc == 0) rc = http_copy_text(&a->access_key_from, args, "accessKeyFrom", error);
    if (rc == 0) rc = http_copy_text(&a->secret_key_from, args, "secretKeyFrom", error);
    if (rc == 0) rc = http_copy_text(&a->session_from, args, "sessionFrom", error);
    if (rc == 0) rc = http_copy_text(&a->region, args, "region", error);
    if (rc == 0) rc = http_copy_text(&a->service, args, "service", error);
    if (rc == 0 && a->sign_header) rc = check_header("signHeader", a->sign_header, "", error);
    if (rc < 0) return rc;
    if (a->signing == HTTP_SIGN_HMAC && (!a->sign_from || !a->sign_header))
        return gale_error_set(error, GALE_INVALID, "sign: hmac needs signFrom, a file with the secret");
    if (a->signing == HTTP_SIGN_S3 && (!a->access_key_from || !a->secret_key_from || !a->region || !a->service))
        return gale_error_set(error, GALE_INVALID, "sign: s3 needs accessKeyFrom, secretKeyFrom and region");
    if (a->signing == HTTP_SIGN_S3 && (a->user || a->token_from))
        return gale_error_set(error, GALE_INVALID, "sign: s3 is the Authorization, and so is a user or a token");
    return 0;
}

int http_access_make(http_access *a, const gale_args *args, bool signs, gale_error *error) {
    int rc = http_copy_text(&a->url, args, "url", error);
    if (rc == 0) rc = http_copy_text(&a->token_from, args, "tokenFrom", error);
    if (rc == 0) rc = http_copy_text(&a->user, args, "user", error);
    if (rc == 0) rc = http_copy_text(&a->password_from, args, "passwordFrom", error);
    if (rc == 0) rc = http_copy_text(&a->ca, args, "ca", error);
    if (rc == 0) rc = http_copy_text(&a->certificate, args, "certificate", error);
    if (rc == 0) rc = http_copy_text(&a->certificate_key, args, "certificateKey", error);
    if (rc == 0) rc = read_pairs(a->headers, &a->header_count, args, "headers", error);
    if (rc == 0) rc = read_pairs(a->secret_headers, &a->secret_count, args, "headersFrom", error);
    if (rc == 0 && !a->url) rc = gale_error_set(error, GALE_INVALID, "url: it is empty");
    if (rc == 0) rc = check_pairs(a, error);
    if (rc == 0 && signs) rc = read_signing(a, args, error);
    a->timeout = (long)(gale_args_number(args, "timeout") * 1000);
    return rc;
}

static void free_pairs(http_pair *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(list[i].name);
        free(list[i].text);
    }
}

void http_access_fini(http_access *a) {
    char *texts[] = { a->url,
                      a->token_from,
                      a->user,
                      a->password_from,
                      a->ca,
                      a->certificate,
                      a->certificate_key,
                      a->sign_from,
                      a->sign_header,
                      a->access_key_from,
                      a->secret_key_from,
                      a->session_from,
                      a->region,
                      a->service };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free(texts[i]);
    free_pairs(a->headers, a->header_count);
    free_pairs(a->secret_headers, a->secret_count);
    *a = (http_access){ .url = NULL };
}

/* --- What its files have ---------------------------------------------------------------------------------------------- */

static int read_one(char **to, const char *parameter, const char *path, gale_error *error) {
    if (!path) return 0;
    *to = gale_secret_read(parameter, path, error);
    if (!*to) return error->code;
    if (!**to) return gale_error_set(error, GALE_INVALID, "%s: %s has nothing in it", parameter, path);
    if (!is_header_text(*to))
        return gale_error_set(error, GALE_INVALID, "%s: what %s has is not one line", parameter, path);
    return 0;
}

static int check_file(const char *parameter, const char *path, gale_error *error) {
    if (!path || access(path, R_OK) == 0) return 0;
    return gale_error_set(error, GALE_IO, "%s: %s: %s", parameter, path, strerror(errno));
}

static int read_all(http_secrets *s, const http_access *a, gale_error *error) {
    int rc = read_one(&s->token, "tokenFrom", a->token_from, error);
    if (rc == 0) rc = read_one(&s->password, "passwordFrom", a->password_from, error);
    if (rc == 0) rc = read_one(&s->sign, "signFrom", a->sign_from, error);
    if (rc == 0) rc = read_one(&s->access_key, "accessKeyFrom", a->access_key_from, error);
    if (rc == 0) rc = read_one(&s->secret_key, "secretKeyFrom", a->secret_key_from, error);
    if (rc == 0) rc = read_one(&s->session, "sessionFrom", a->session_from, error);
    for (size_t i = 0; rc == 0 && i < a->secret_count; i++)
        rc = read_one(&s->headers[i], "headersFrom", a->secret_headers[i].text, error);
    if (rc == 0) rc = check_file("ca", a->ca, error);
    if (rc == 0) rc = check_file("certificate", a->certificate, error);
    return rc == 0 ? check_file("certificateKey", a->certificate_key, error) : rc;
}

int http_secrets_read(http_secrets *secrets, const http_access *access, gale_error *error) {
    http_secrets fresh = { .token = NULL };
    int rc = read_all(&fresh, access, error);
    if (rc < 0) {
        http_secrets_fini(&fresh);
        return rc;
    }
    http_secrets_fini(secrets);
    *secrets = fresh;
    return 0;
}

void http_secrets_fini(http_secrets *s) {
    char *texts[] = { s->token, s->password, s->sign, s->access_key, s->secret_key, s->session };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) gale_secret_free(texts[i]);
    for (size_t i = 0; i < HTTP_ACCESS_HEADERS; i++) gale_secret_free(s->headers[i]);
    *s = (http_secrets){ .token = NULL };
}

static void hide(const char *secret, char *text) {
    size_t size = secret ? strlen(secret) : 0;
    if (!size) return;
    for (char *at = text; (at = strstr(at, secret)); at += size) memset(at, '*', size);
}

void http_secrets_hide(const http_secrets *s, char *text) {
    const char *texts[] = { s->token, s->password, s->sign, s->secret_key, s->session };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) hide(texts[i], text);
    for (size_t i = 0; i < HTTP_ACCESS_HEADERS; i++) hide(s->headers[i], text);
}

/* --- What libcurl is told --------------------------------------------------------------------------------------------- */

int http_header_add(struct curl_slist **headers, const char *name, const char *text) {
    http_buffer line = { .data = NULL };
    http_buffer_text(&line, name);
    http_buffer_text(&line, *text ? ": " : ";"); /* libcurl takes "name:" for one to be left out */
    http_buffer_text(&line, text);
    struct curl_slist *more = line.failed ? NULL : curl_slist_append(*headers, line.data);
    http_buffer_fini(&line);
    if (!more) return GALE_NO_MEMORY;
    *headers = more;
    return 0;
}

static void apply_tls(const http_access *a, CURL *easy) {
    if (a->ca) curl_easy_setopt(easy, CURLOPT_CAINFO, a->ca);
    if (a->certificate) curl_easy_setopt(easy, CURLOPT_SSLCERT, a->certificate);
    if (a->certificate_key) curl_easy_setopt(easy, CURLOPT_SSLKEY, a->certificate_key);
}

static void apply_bounds(const http_access *a, CURL *easy) {
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, a->timeout);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, a->timeout);
}

int http_access_apply(const http_access *a, const http_secrets *s, CURL *easy, struct curl_slist **headers) {
    int rc = 0;
    apply_bounds(a, easy);
    apply_tls(a, easy);
    if (a->user) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        curl_easy_setopt(easy, CURLOPT_USERNAME, a->user);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, s->password);
    }
    if (s->token) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, s->token);
    }
    for (size_t i = 0; rc == 0 && i < a->header_count; i++)
        rc = http_header_add(headers, a->headers[i].name, a->headers[i].text);
    for (size_t i = 0; rc == 0 && i < a->secret_count; i++)
        rc = http_header_add(headers, a->secret_headers[i].name, s->headers[i]);
    return rc;
}
