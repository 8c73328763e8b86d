#include "connect/http/sign.h"

#include "connect/http/template.h"

#include <nettle/hmac.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HASH = SHA256_DIGEST_SIZE, HEX = 2 * HASH + 1, PARTS = 64 };

/* --- Hashes ----------------------------------------------------------------------------------------------------------- */

static void hex(const uint8_t *bytes, char *to) {
    for (size_t i = 0; i < HASH; i++) snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

static void hash_hex(const char *data, size_t size, char *to) {
    uint8_t hash[HASH];
    struct sha256_ctx ctx;
    sha256_init(&ctx);
    sha256_update(&ctx, size, (const uint8_t *)data);
    sha256_digest(&ctx, HASH, hash);
    hex(hash, to);
}

static void hmac(const void *key, size_t key_size, const void *data, size_t size, uint8_t to[HASH]) {
    struct hmac_sha256_ctx ctx;
    hmac_sha256_set_key(&ctx, key_size, key);
    hmac_sha256_update(&ctx, size, data);
    hmac_sha256_digest(&ctx, HASH, to);
}

/* --- The canonical request -------------------------------------------------------------------------------------------- */

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* As AWS encodes it, whatever is encoded already. */
static void add_canonical(http_buffer *to, gale_str text, bool slashes) {
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool is = c == '%' && i + 2 < text.size && digit(text.data[i + 1]) >= 0 && digit(text.data[i + 2]) >= 0;
        if (is) {
            c = (char)(digit(text.data[i + 1]) * 16 + digit(text.data[i + 2]));
            i += 2;
        }
        http_encode(to, &c, 1, slashes && !is);
    }
}

/* A service but S3 encodes what it was given once more. */
static void add_path(http_buffer *to, gale_str path, bool twice) {
    http_buffer once = { .data = NULL };
    if (!path.size) http_buffer_text(to, "/");
    if (!twice) {
        add_canonical(to, path, true);
        return;
    }
    add_canonical(&once, path, true);
    if (once.data) http_encode(to, once.data, once.size, true);
    to->failed = to->failed || once.failed;
    http_buffer_fini(&once);
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "name=value", encoded. */
static char *canonical_part(gale_str part) {
    http_buffer made = { .data = NULL };
    const char *is = memchr(part.data, '=', part.size);
    size_t size = is ? (size_t)(is - part.data) : part.size;
    add_canonical(&made, (gale_str){ part.data, size }, false);
    http_buffer_text(&made, "=");
    if (is) add_canonical(&made, (gale_str){ is + 1, part.size - size - 1 }, false);
    if (!made.failed) return made.data;
    http_buffer_fini(&made);
    return NULL;
}

static void add_query(http_buffer *to, const char *query) {
    char *parts[PARTS];
    size_t count = 0;
    while (*query && *query != '#' && count < PARTS) {
        size_t size = strcspn(query, "&#");
        if (size) parts[count++] = canonical_part((gale_str){ query, size });
        to->failed = to->failed || (size && !parts[count - 1]);
        if (size && !parts[count - 1]) count--;
        query += size + (query[size] == '&');
    }
    qsort(parts, count, sizeof *parts, compare);
    for (size_t i = 0; i < count; i++) {
        if (i) http_buffer_text(to, "&");
        http_buffer_text(to, parts[i]);
        free(parts[i]);
    }
}

typedef struct scope {
    char time[20], date[12], body[HEX];
    gale_str host;
    const char *path, *query;
} scope;

static int open_scope(const http_signed *r, scope *s) {
    struct tm tm;
    time_t at = (time_t)r->time;
    const char *host = strstr(r->url, "://");
    if (!host || !gmtime_r(&at, &tm)) return GALE_INVALID;
    strftime(s->time, sizeof s->time, "%Y%m%dT%H%M%SZ", &tm);
    strftime(s->date, sizeof s->date, "%Y%m%d", &tm);
    host += 3;
    s->host = (gale_str){ host, strcspn(host, "/?#") };
    s->path = host + s->host.size;
    const char *mark = s->path + strcspn(s->path, "?#");
    s->query = *mark == '?' ? mark + 1 : "";
    hash_hex(r->body, r->size, s->body);
    return 0;
}

/* As libcurl sends it: without the scheme's own port. */
static gale_str host_sent(const http_signed *r, gale_str host) {
    const char *port = strncmp(r->url, "https", 5) == 0 ? ":443" : ":80";
    size_t size = strlen(port);
    if (host.size > size && memcmp(host.data + host.size - size, port, size) == 0) host.size -= size;
    return host;
}

static const char *signed_names(const http_secrets *secrets) {
    return secrets->session ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
                            : "host;x-amz-content-sha256;x-amz-date";
}

static void add_request(http_buffer *to, const http_access *a, const http_secrets *secrets, const http_signed *r,
                        const scope *s) {
    gale_str host = host_sent(r, s->host);
    http_buffer_format(to, "%s\n", r->method);
    add_path(to, (gale_str){ s->path, strcspn(s->path, "?#") }, strcmp(a->service, "s3") != 0);
    http_buffer_text(to, "\n");
    add_query(to, s->query);
    http_buffer_text(to, "\nhost:");
    http_buffer_add(to, host.data, host.size);
    http_buffer_format(to, "\nx-amz-content-sha256:%s\nx-amz-date:%s\n", s->body, s->time);
    if (secrets->session) {
        http_buffer_text(to, "x-amz-security-token:");
        http_buffer_text(to, secrets->session);
        http_buffer_text(to, "\n");
    }
    http_buffer_format(to, "\n%s\n%s", signed_names(secrets), s->body);
}

/* --- The signature ---------------------------------------------------------------------------------------------------- */

static void sign_text(const http_access *a, const http_secrets *secrets, const scope *s, const http_buffer *text,
                      char *to) {
    uint8_t key[HASH];
    http_buffer first = { .data = NULL };
    http_buffer_text(&first, "AWS4");
    http_buffer_text(&first, secrets->secret_key);
    hmac(first.data, first.size, s->date, strlen(s->date), key);
    explicit_bzero(first.data, first.size);
    http_buffer_fini(&first);
    hmac(key, HASH, a->region, strlen(a->region), key);
    hmac(key, HASH, a->service, strlen(a->service), key);
    hmac(key, HASH, "aws4_request", strlen("aws4_request"), key);
    hmac(key, HASH, text->data, text->size, key);
    hex(key, to);
}

static int add_headers(const http_access *a, const http_secrets *secrets, const scope *s, const char *signature,
                       struct curl_slist **headers) {
    http_buffer line = { .data = NULL };
    http_buffer_text(&line, "AWS4-HMAC-SHA256 Credential=");
    http_buffer_text(&line, secrets->access_key);
    http_buffer_format(&line, "/%s/%s/%s/aws4_request, SignedHeaders=%s, Signature=%s", s->date, a->region, a->service,
                       signed_names(secrets), signature);
    int rc = line.failed ? GALE_NO_MEMORY : http_header_add(headers, "Authorization", line.data);
    http_buffer_fini(&line);
    if (rc == 0) rc = http_header_add(headers, "x-amz-content-sha256", s->body);
    if (rc == 0) rc = http_header_add(headers, "x-amz-date", s->time);
    if (rc == 0 && secrets->session) rc = http_header_add(headers, "x-amz-security-token", secrets->session);
    return rc;
}

static int sign_s3(const http_access *a, const http_secrets *secrets, const http_signed *r,
                   struct curl_slist **headers) {
    http_buffer request = { .data = NULL }, text = { .data = NULL };
    char of_request[HEX], signature[HEX];
    scope s;
    int rc = open_scope(r, &s);
    if (rc < 0) return rc;
    add_request(&request, a, secrets, r, &s);
    if (!request.failed) {
        hash_hex(request.data, request.size, of_request);
        http_buffer_format(&text, "AWS4-HMAC-SHA256\n%s\n%s/%s/%s/aws4_request\n%s", s.time, s.date, a->region,
                           a->service, of_request);
    }
    rc = request.failed || text.failed ? GALE_NO_MEMORY : 0;
    if (rc == 0) sign_text(a, secrets, &s, &text, signature);
    if (rc == 0) rc = add_headers(a, secrets, &s, signature, headers);
    http_buffer_fini(&request);
    http_buffer_fini(&text);
    return rc;
}

static int sign_hmac(const http_access *a, const http_secrets *secrets, const http_signed *r,
                     struct curl_slist **headers) {
    static const char scheme[] = "sha256=";
    char text[sizeof scheme - 1 + HEX];
    uint8_t hash[HASH];
    hmac(secrets->sign, strlen(secrets->sign), r->body, r->size, hash);
    memcpy(text, scheme, sizeof scheme);
    hex(hash, text + sizeof scheme - 1);
    return http_header_add(headers, a->sign_header, text);
}

int http_sign(const http_access *access, const http_secrets *secrets, const http_signed *request,
              struct curl_slist **headers) {
    switch (access->signing) {
    case HTTP_SIGN_S3: return sign_s3(access, secrets, request, headers);
    case HTTP_SIGN_HMAC: return sign_hmac(access, secrets, request, headers);
    default: return 0;
    }
}
