#include "connect/file/guard.h"

#include "base/hash.h"
#include "base/os/file.h"

#include <string.h>

enum { ENOUGH = GX_FILE_GUARD };

static size_t least(int64_t size) {
    return size < ENOUGH ? (size_t)size : ENOUGH;
}

int gx_file_guard_set(gx_file_guard *guard, int fd, int64_t at, const char *path, gale_error *error) {
    char sample[ENOUGH];
    size_t size = least(at);
    int64_t first = gx_file_read_all_at(fd, sample, size, 0, path, error);
    if (first < 0) return (int)first;
    uint64_t head = gx_hash_bytes(sample, (size_t)first, 0);
    int64_t last = gx_file_read_all_at(fd, sample, size, at - (int64_t)size, path, error);
    if (last < 0) return (int)last;
    *guard = (gx_file_guard){ at, head, gx_hash_bytes(sample, (size_t)last, 0), size };
    return 0;
}

/* 1, 0, or GALE_IO. `sample` has the bytes before the place then. */
static int holds(const gx_file_guard *guard, int fd, char sample[ENOUGH], const char *path, gale_error *error) {
    if (guard->at > ENOUGH) {
        int64_t first = gx_file_read_all_at(fd, sample, ENOUGH, 0, path, error);
        if (first < 0) return (int)first;
        if (gx_hash_bytes(sample, (size_t)first, 0) != guard->head) return 0;
    }
    int64_t last = gx_file_read_all_at(fd, sample, guard->tail_size, guard->at - (int64_t)guard->tail_size, path,
                                       error);
    if (last < 0) return (int)last;
    return (size_t)last == guard->tail_size && gx_hash_bytes(sample, (size_t)last, 0) == guard->tail;
}

int gx_file_guard_move(gx_file_guard *guard, int fd, const char *bytes, size_t size, const char *path,
                       gale_error *error) {
    char sample[2 * ENOUGH];
    int rc = holds(guard, fd, sample, path, error);
    if (rc <= 0 || !size) return rc;
    size_t had = guard->tail_size, more = least((int64_t)size);
    memcpy(sample + had, bytes, more);
    if (guard->at < ENOUGH) guard->head = gx_hash_bytes(sample, least((int64_t)(had + more)), 0);
    guard->at += (int64_t)size;
    guard->tail_size = least(guard->at);
    const char *end = size > ENOUGH ? bytes + size : sample + had + more;
    guard->tail = gx_hash_bytes(end - guard->tail_size, guard->tail_size, 0);
    return 1;
}
