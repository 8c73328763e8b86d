#include "store/mark.h"

#include "base/os/disk.h"
#include "base/os/fate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int gx_head_write(const char *path, const gx_head *head, gale_error *error) {
    char text[GX_SEAL_TEXT];
    snprintf(text, sizeof text, "gale-store %d %s %016" PRIx64 "\n%s\n", GX_MARK_FORMAT, head->made ? "made" : "making",
             head->identity, head->topology);
    return gx_seal_write(path, text, error);
}

static int damaged(const char *path, gale_error *error) {
    return gale_error_set(error, GALE_DAMAGED, "'%s' is damaged: its text is not one that gale writes", path);
}

static int parse_head(const char *path, const char *text, gx_head *ret_head, gale_error *error) {
    gx_head head = { 0 };
    char state[8] = "";
    int format = 0, at = 0;
    if (sscanf(text, "gale-store %d", &format) != 1) return damaged(path, error);
    if (format != GX_MARK_FORMAT)
        return gale_error_set(error, GALE_UNSUPPORTED,
                              "'%s' says that the store is of format %d; gale %s knows format %d", path, format,
                              GALE_VERSION_TEXT, GX_MARK_FORMAT);
    if (sscanf(text, "gale-store %d %7s %16" SCNx64 "%n", &format, state, &head.identity, &at) != 3)
        return damaged(path, error);
    const char *end = text[at] == '\n' ? strchr(text + at + 1, '\n') : NULL;
    head.made = strcmp(state, "made") == 0;
    if (!end || end[1] || (size_t)(end - text) - (size_t)at > GX_MARK_NAME ||
        (!head.made && strcmp(state, "making") != 0))
        return damaged(path, error);
    memcpy(head.topology, text + at + 1, (size_t)(end - text) - (size_t)at - 1);
    *ret_head = head;
    return GALE_OK;
}

int gx_head_read(const char *path, gx_head *ret_head, gale_error *error) {
    char text[GX_SEAL_TEXT];
    int rc = gx_seal_read(path, text, error);
    return rc == GALE_OK ? parse_head(path, text, ret_head, error) : rc;
}

/* --- Marks -------------------------------------------------------------------------------------------------------- */

enum { PLACE = 256, PLACES = 2 };

static void text_of(const gx_mark *mark, uint64_t turn, char ret_place[PLACE]) {
    memset(ret_place, ' ', PLACE);
    int size = snprintf(ret_place, PLACE - GX_SEAL_SIZE,
                        "gale-store-commit %d %016" PRIx64 " %" PRIu64 " %" PRIu64 " %016" PRIx64 " %" PRIu64 " %s",
                        GX_MARK_FORMAT, mark->identity, turn, mark->commit, mark->salt, mark->frames,
                        mark->needed ? "log" : "data");
    ret_place[size] = ' ';
    ret_place[PLACE - GX_SEAL_SIZE - 1] = '\n';
    gx_seal_put(ret_place, PLACE - GX_SEAL_SIZE);
}

static bool parse_mark(const char place[PLACE], gx_mark *ret_mark, uint64_t *ret_turn) {
    gx_mark mark = { 0 };
    char text[PLACE + 1] = "", where[5] = "";
    int format = 0;
    memcpy(text, place, PLACE);
    if (!gx_seal_fits(place, PLACE)) return false;
    if (sscanf(text, "gale-store-commit %d %16" SCNx64 " %" SCNu64 " %" SCNu64 " %16" SCNx64 " %" SCNu64 " %4s",
               &format, &mark.identity, ret_turn, &mark.commit, &mark.salt, &mark.frames, where) != 7)
        return false;
    mark.needed = strcmp(where, "log") == 0;
    *ret_mark = mark;
    return format == GX_MARK_FORMAT;
}

static bool choose(const char *bytes, int64_t size, gx_mark *ret_mark, uint64_t *ret_turn) {
    bool found = false;
    for (int i = 0; i < PLACES && (i + 1) * PLACE <= size; i++) {
        gx_mark mark;
        uint64_t turn;
        if (!parse_mark(bytes + (ptrdiff_t)i * PLACE, &mark, &turn) || (found && turn < *ret_turn)) continue;
        *ret_mark = mark;
        *ret_turn = turn;
        found = true;
    }
    return found;
}

static int open_file(gx_mark_file *file, const char *path, bool writes, gale_error *error) {
    gx_file_about about = { 0 };
    *file = GX_MARK_FILE_NONE;
    int rc = gx_file_about_path(path, &about, error);
    if (rc == GALE_NOT_FOUND) return gale_error_set(error, GALE_DAMAGED, "'%s' is missing", path);
    if (rc < 0) return rc;
    if (!about.regular) return gale_error_set(error, GALE_DAMAGED, "'%s' is damaged: it is no regular file", path);
    int fd = gx_disk_now()->open(path, (writes ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0) return gale_error_set(error, GALE_IO, "cannot open '%s': %s", path, strerror(errno));
    *file = (gx_mark_file){ path, fd, 0 };
    return GALE_OK;
}

int gx_mark_open(gx_mark_file *file, const char *path, bool writes, gx_mark *ret_mark, gale_error *error) {
    char bytes[PLACES * PLACE];
    int64_t size = 0, got = 1;
    int rc = open_file(file, path, writes, error);
    if (rc < 0) return rc;
    for (; got > 0 && size<(int64_t)sizeof bytes; size += got> 0 ? got : 0)
        got = gx_file_read_at(file->fd, bytes + size, sizeof bytes - (size_t)size, size, path, error);
    if (got < 0) return (int)got;
    if (choose(bytes, size, ret_mark, &file->turn)) return GALE_OK;
    return gale_error_set(error, GALE_DAMAGED, "'%s' is damaged: neither of its two checksums fits", path);
}

int gx_mark_put(gx_mark_file *file, const gx_mark *mark, gale_error *error) {
    char place[PLACE];
    uint64_t turn = file->turn + 1;
    text_of(mark, turn, place);
    if (gx_disk_now()->seek(file->fd, (off_t)(turn % PLACES) * PLACE, SEEK_SET) < 0)
        return gale_error_set(error, GALE_IO, "cannot write '%s': %s", file->path, strerror(errno));
    int rc = gx_file_write(file->fd, place, PLACE, file->path, error);
    if (rc == GALE_OK) rc = gx_file_sync_data(file->fd, file->path, error);
    if (rc == GALE_OK) file->turn = turn;
    return rc;
}

int gx_mark_make(gx_mark_file *file, const char *path, const gx_mark *mark, gale_error *error) {
    char bytes[PLACES * PLACE];
    gx_mark same;
    for (uint64_t turn = 0; turn < PLACES; turn++) text_of(mark, turn, bytes + turn * PLACE);
    int rc = gx_file_replace(path, bytes, sizeof bytes, error);
    return rc == GALE_OK ? gx_mark_open(file, path, true, &same, error) : rc;
}

int gx_mark_check(const gx_mark_file *file, gale_error *error) {
    return gx_fate_check(file->fd, file->path, PLACES * PLACE, error);
}

void gx_mark_close(gx_mark_file *file) {
    if (file->fd >= 0) gx_disk_now()->close(file->fd);
    *file = GX_MARK_FILE_NONE;
}
