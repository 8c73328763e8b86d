#include "store/log.h"

#include "base/os/file.h"

#include <string.h>

enum { MAGIC = 0x377f0682 }; /* of logs whose checksums are of little-endian words */

typedef struct chain {
    uint32_t one, two;
} chain;

static uint32_t big(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void go_on(chain *sum, const unsigned char *bytes, size_t size) {
    for (size_t at = 0; at < size; at += 8) {
        uint32_t words[2];
        memcpy(words, bytes + at, 8);
        sum->one += words[0] + sum->two;
        sum->two += words[1] + sum->one;
    }
}

static bool fits(const chain *sum, const unsigned char *at) {
    return sum->one == big(at) && sum->two == big(at + 4);
}

uint64_t gx_log_salt(const unsigned char head[GX_LOG_HEAD]) {
    return (uint64_t)big(head + 16) << 32 | big(head + 20);
}

static int64_t read_whole(int fd, unsigned char *bytes, size_t size, int64_t offset, const char *path,
                          gale_error *error) {
    size_t have = 0;
    while (have < size) {
        int64_t got = gx_file_read_at(fd, bytes + have, size - have, offset + (int64_t)have, path, error);
        if (got < 0) return got;
        if (got == 0) break;
        have += (size_t)got;
    }
    return (int64_t)have;
}

static int look_at_head(int fd, const char *path, gx_log *log, chain *sum, gale_error *error) {
    unsigned char head[GX_LOG_HEAD];
    int64_t got = read_whole(fd, head, sizeof head, 0, path, error);
    if (got < (int64_t)sizeof head) return got < 0 ? (int)got : GALE_OK;
    go_on(sum, head, 24);
    log->there = big(head) == MAGIC && big(head + 8) == GX_STORE_PAGE && fits(sum, head + 24);
    log->salt = gx_log_salt(head);
    return GALE_OK;
}

static bool is_whole(const unsigned char *frame, const gx_log *log, chain *sum) {
    if (((uint64_t)big(frame + 8) << 32 | big(frame + 12)) != log->salt || big(frame) == 0) return false;
    go_on(sum, frame, 8);
    go_on(sum, frame + GX_LOG_FRAME_HEAD, GX_STORE_PAGE);
    return fits(sum, frame + 16);
}

static int look_at_frames(int fd, const char *path, gx_sums *sums, gx_log *log, chain *sum, gale_error *error) {
    unsigned char frame[GX_LOG_FRAME];
    for (;; log->whole++) {
        int64_t offset = GX_LOG_HEAD + (int64_t)log->whole * GX_LOG_FRAME;
        int64_t got = read_whole(fd, frame, sizeof frame, offset, path, error);
        if (got < 0) return (int)got;
        if (got < (int64_t)sizeof frame || !is_whole(frame, log, sum)) return GALE_OK;
        if (!gx_sums_set(sums, log->whole, frame + GX_LOG_FRAME_HEAD, GX_STORE_PAGE))
            return gale_error_set(error, GALE_NO_MEMORY, "no memory to look through '%s'", path);
        if (big(frame + 4)) log->frames = log->whole + 1;
    }
}

int gx_log_look(const char *path, gx_sums *sums, gx_log *ret_log, gale_error *error) {
    gx_file_about about;
    gx_log log = { 0 };
    chain sum = { 0 };
    int fd = -1, rc = gx_file_about_path(path, &about, error);
    if (rc == GALE_OK) rc = gx_file_open(path, &fd, NULL, error);
    if (rc < 0 && rc != GALE_NOT_FOUND) return rc;
    if (rc == GALE_OK) {
        log.size = about.size;
        rc = look_at_head(fd, path, &log, &sum, error);
        if (rc == GALE_OK && log.there) rc = look_at_frames(fd, path, sums, &log, &sum, error);
        gx_file_close(fd);
        if (rc < 0) return rc;
    }
    *ret_log = log;
    return GALE_OK;
}
