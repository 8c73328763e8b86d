#include "connect/spool/mark.h"

#include "base/hash.h"
#include "base/os/disk.h"
#include "base/os/fate.h"
#include "base/os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PLACES = 2 };
#define SEED UINT64_C(0x6b72616d6c6f6f70)

typedef struct place {
    char magic[8];
    uint64_t turn, position, sum;
} place;

static const char magic[8] = { 'g', 'a', 'l', 'e', 'p', 'o', 's', '1' };

static place make_place(uint64_t turn, uint64_t position) {
    place p = { .turn = turn, .position = position };
    memcpy(p.magic, magic, sizeof magic);
    p.sum = gx_hash_bytes(&p, offsetof(place, sum), SEED);
    return p;
}

static bool is_whole(const place *p) {
    return memcmp(p->magic, magic, sizeof magic) == 0 && p->sum == gx_hash_bytes(p, offsetof(place, sum), SEED);
}

static int refuse(const char *what, const char *path, gale_error *error) {
    return gale_error_set(error, GALE_IO, "cannot %s '%s': %s", what, path, strerror(errno));
}

static int open_there(gx_spool_mark *mark, const char *path, gale_error *error) {
    int fd;
    do fd = gx_disk_now()->open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return refuse("open", path, error);
    *mark = (gx_spool_mark){ fd, 0, 0 };
    return GALE_OK;
}

static int make(const char *path, gale_error *error) {
    place places[PLACES];
    for (uint64_t turn = 0; turn < PLACES; turn++) places[turn] = make_place(turn, 0);
    return gx_file_replace(path, places, sizeof places, error);
}

/* The newer of those that are whole; of a file that is cut, what is there. */
static int read_places(gx_spool_mark *mark, const char *path, uint64_t *ret_position, gale_error *error) {
    place places[PLACES] = { { .turn = 0 } };
    size_t have = 0;
    while (have < sizeof places) {
        int64_t got = gx_file_read_at(mark->fd, (char *)places + have, sizeof places - have, (int64_t)have, path,
                                      error);
        if (got < 0) return (int)got;
        if (got == 0) break;
        have += (size_t)got;
    }
    mark->size = (int64_t)have;
    uint64_t position = 0;
    for (size_t i = 0; i < PLACES; i++) {
        if (!is_whole(&places[i]) || places[i].turn < mark->turn) continue;
        mark->turn = places[i].turn;
        position = places[i].position;
    }
    *ret_position = position;
    return GALE_OK;
}

int gx_spool_mark_open(gx_spool_mark *mark, const char *path, uint64_t *ret_position, gale_error *error) {
    gx_file_about about;
    gx_spool_mark opened = GX_SPOOL_MARK_NONE;
    int rc = gx_file_about_path(path, &about, error);
    if (rc == GALE_NOT_FOUND) rc = make(path, error);
    if (rc == GALE_OK) rc = open_there(&opened, path, error);
    if (rc < 0) return rc;
    rc = read_places(&opened, path, ret_position, error);
    if (rc < 0)
        gx_spool_mark_close(&opened);
    else
        *mark = opened;
    return rc;
}

int gx_spool_mark_put(gx_spool_mark *mark, const char *path, uint64_t position, gale_error *error) {
    const place p = make_place(mark->turn + 1, position);
    int64_t at = (int64_t)(p.turn % PLACES * sizeof p);
    int rc = gx_fate_check(mark->fd, path, mark->size, error);
    if (rc < 0) return rc;
    if (gx_disk_now()->seek(mark->fd, (off_t)at, SEEK_SET) < 0) return refuse("write", path, error);
    rc = gx_file_write(mark->fd, &p, sizeof p, path, error);
    if (rc == GALE_OK) rc = gx_file_sync_data(mark->fd, path, error);
    if (rc == GALE_OK && mark->size < at + (int64_t)sizeof p) mark->size = at + (int64_t)sizeof p;
    if (rc == GALE_OK) rc = gx_fate_check(mark->fd, path, mark->size, error);
    if (rc == GALE_OK) mark->turn = p.turn;
    return rc;
}

void gx_spool_mark_close(gx_spool_mark *mark) {
    if (mark->fd >= 0) gx_disk_now()->close(mark->fd);
    *mark = GX_SPOOL_MARK_NONE;
}
