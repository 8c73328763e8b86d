/* Passwords and keys from files: gale_secret_read. They are read into one place, which is overwritten. */
#include "base/encoding.h"
#include "base/os/file.h"

#include <gale/connect.h>
#include <stdlib.h>
#include <string.h>

static int read_all(const char *path, char *text, size_t size, size_t *ret_length, gale_error *error) {
    int fd, rc = gx_file_open(path, &fd, NULL, error);
    if (rc < 0) return rc;
    int64_t got = 1;
    *ret_length = 0;
    while (got > 0 && *ret_length < size) {
        got = gx_file_read(fd, text + *ret_length, size - *ret_length, path, error);
        if (got > 0) *ret_length += (size_t)got;
    }
    gx_file_close(fd);
    return got < 0 ? (int)got : 0;
}

static int check(const char *path, char *text, size_t length, gale_error *error) {
    if (length > GALE_SECRET_MAX)
        return gale_error_set(error, GALE_INVALID, "%s has more than %d bytes", path, GALE_SECRET_MAX);
    gale_str secret = { text, length };
    int rc = gx_encoding_read(path, &secret, error);
    if (rc < 0) return GALE_INVALID;
    for (char c; secret.size && (c = secret.data[secret.size - 1], c == '\n' || c == '\r');) secret.size--;
    memmove(text, secret.data, secret.size);
    text[secret.size] = '\0';
    return strlen(text) == secret.size ? 0 : gale_error_set(error, GALE_INVALID, "%s has a NUL in it", path);
}

static int fill(const char *path, char *text, size_t size, gale_error *error) {
    size_t length;
    int rc = read_all(path, text, size, &length, error);
    return rc < 0 ? rc : check(path, text, length, error);
}

char *gale_secret_read(const char *parameter, const char *path, gale_error *error) {
    if (!parameter || !path) {
        (void)gale_error_set(error, GALE_INVALID, "a secret: NULL for what must be there");
        return NULL;
    }
    static const size_t size = GALE_SECRET_MAX + 2;
    char *text = calloc(1, size);
    if (!text) {
        (void)gale_error_set(error, GALE_NO_MEMORY, "out of memory");
        return NULL;
    }
    gale_error why = GALE_ERROR_INIT;
    int rc = fill(path, text, size - 1, &why);
    if (rc == 0) return text;
    (void)gale_error_set(error, rc, "%s: %s", parameter, why.text);
    explicit_bzero(text, size);
    free(text);
    return NULL;
}

void gale_secret_free(char *secret) {
    if (!secret) return;
    explicit_bzero(secret, strlen(secret));
    free(secret);
}
