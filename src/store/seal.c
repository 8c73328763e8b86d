#include "store/seal.h"

#include "base/hash.h"
#include "base/os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void seal_of(const char *text, size_t size, char seal[GX_SEAL_SIZE + 1]) {
    snprintf(seal, GX_SEAL_SIZE + 1, "%016llx\n", (unsigned long long)gx_hash_bytes(text, size, 0));
}

void gx_seal_put(char *text, size_t size) {
    char seal[GX_SEAL_SIZE + 1];
    seal_of(text, size, seal);
    memcpy(text + size, seal, GX_SEAL_SIZE);
}

bool gx_seal_fits(const char *bytes, size_t size) {
    char seal[GX_SEAL_SIZE + 1];
    if (size < GX_SEAL_SIZE) return false;
    seal_of(bytes, size - GX_SEAL_SIZE, seal);
    return memcmp(bytes + size - GX_SEAL_SIZE, seal, GX_SEAL_SIZE) == 0;
}

int gx_seal_write(const char *path, const char *text, gale_error *error) {
    char sealed[GX_SEAL_TEXT];
    size_t size = strlen(text);
    if (size + GX_SEAL_SIZE >= sizeof sealed)
        return gale_error_set(error, GALE_TOO_LARGE, "'%s' would be too large", path);
    memcpy(sealed, text, size);
    gx_seal_put(sealed, size);
    return gx_file_replace(path, sealed, size + GX_SEAL_SIZE, error);
}

static int unseal(const char *path, const char *bytes, size_t size, char ret_text[GX_SEAL_TEXT], gale_error *error) {
    if (size >= GX_SEAL_TEXT || !gx_seal_fits(bytes, size))
        return gale_error_set(error, GALE_DAMAGED, "'%s' is damaged: its checksum does not fit", path);
    memcpy(ret_text, bytes, size - GX_SEAL_SIZE);
    ret_text[size - GX_SEAL_SIZE] = 0;
    return GALE_OK;
}

int gx_seal_read(const char *path, char ret_text[GX_SEAL_TEXT], gale_error *error) {
    char *bytes = NULL;
    size_t size = 0;
    int rc = gx_file_read_own(path, GX_SEAL_TEXT, &bytes, &size, error);
    if (rc == GALE_TOO_LARGE) rc = gale_error_set(error, GALE_DAMAGED, "'%s' is damaged: it is too large", path);
    if (rc == GALE_INVALID) rc = gale_error_set(error, GALE_DAMAGED, "'%s' is damaged: it is no regular file", path);
    if (rc == GALE_OK) rc = unseal(path, bytes, size, ret_text, error);
    free(bytes);
    return rc;
}
