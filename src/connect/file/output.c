#include "connect/file/output.h"

#include "base/os/lock.h"
#include "connect/file/state.h"

#include <errno.h>
#include <limits.h>

/* A state that lines were written to would be lost; and they as well, when it is replaced. */
static int refuse_state(int fd, const char *path, gale_error *error) {
    char mark[GX_FILE_STATE_MARK];
    int64_t got = gx_file_read_at(fd, mark, sizeof mark, 0, path, error);
    if (got < 0) return (int)got;
    if (!gx_file_state_begins((gale_str){ mark, (size_t)got })) return 0;
    return gale_error_set(error, GALE_INVALID, "'%s' is the state of a file spout, and would be written to", path);
}

/* What a regular file holds. One that may be written but not read is taken as it is; any other that cannot be read may
 * end with half a line, and is not gone on with. */
static int look(const gx_file_output *output, int64_t *ret_last_line, gale_error *error) {
    gale_error why = GALE_ERROR_INIT;
    int fd;
    *ret_last_line = output->size;
    if (!output->size) return 0;
    int rc = gx_file_open(output->path, &fd, NULL, &why);
    if (rc < 0) return errno == EACCES ? 0 : gale_error_set(error, rc, "%s", why.text);
    rc = refuse_state(fd, output->path, error);
    int64_t begin = rc == 0 ? gx_file_last_line(fd, output->size, output->path, error) : rc;
    gx_file_close(fd);
    if (begin < 0) return (int)begin;
    *ret_last_line = begin;
    return 0;
}

/* A file has one run that writes to it: another's lines would stand between its own, and be cut off with half of one. */
static int take_over(gx_file_output *output, int fd, int64_t *ret_last_line, gale_error *error) {
    int rc = gx_lock_open(fd, output->path, error);
    return rc < 0 ? rc : look(output, ret_last_line, error);
}

static int open_file(gx_file_output *output, int64_t *ret_last_line, gale_error *error) {
    gx_file_about about;
    int fd = -1;
    int rc = gx_file_create(output->path, true, &fd, error);
    if (rc < 0) return rc;
    rc = gx_file_about_open(fd, output->path, &about, error);
    if (rc == 0) {
        output->regular = about.regular && strcmp(output->path, "-") != 0;
        output->size = about.size;
        if (output->regular) rc = take_over(output, fd, ret_last_line, error);
    }
    if (rc == 0)
        output->fd = fd;
    else
        gx_file_close(fd);
    return rc;
}

int gx_file_output_open(gx_file_output *output, const char *path, bool pieces, gale_error *error) {
    int64_t last_line;
    *output = (gx_file_output){ .path = path, .fd = -1, .pieces = pieces };
    return open_file(output, &last_line, error);
}

/* Without a whole line before it, it is nothing that a run has left. */
static int mend_end(gx_file_output *output, int64_t last_line, bool goes_on, gx_file_torn *ret_torn,
                    gale_error *error) {
    *ret_torn = (gx_file_torn){ output->size - last_line, goes_on && last_line > 0 };
    if (ret_torn->size == 0) return 0;
    int rc = ret_torn->cut ? gx_file_cut(output->fd, last_line, output->path, error)
                           : gx_file_append(output->fd, "\n", 1, output->path, error);
    if (rc == 0) output->size = ret_torn->cut ? last_line : output->size + 1;
    return rc;
}

int gx_file_output_begin(gx_file_output *output, gx_file_begin how, gx_file_torn *ret_torn, gale_error *error) {
    int64_t last_line = 0;
    *ret_torn = (gx_file_torn){ .size = 0 };
    output->begun = true;
    if (!output->regular) return 0;
    gx_file_close(output->fd);
    output->fd = -1;
    int rc = open_file(output, &last_line, error);
    if (rc < 0 || !output->regular) return rc;
    if (how != GX_FILE_ANEW) return mend_end(output, last_line, how == GX_FILE_GO_ON, ret_torn, error);
    rc = output->size ? gx_file_cut(output->fd, 0, output->path, error) : 0;
    if (rc == 0) output->size = 0;
    return rc;
}

/* Tasks on several threads may share the standard output: pieces of whole lines, small enough for a pipe to take each
 * at once, keep their lines apart. A line longer than that may still be torn. */
static int write_pieces(const gx_file_output *output, gale_str lines, gale_error *error) {
    const char *at = lines.data, *end = at + lines.size;
    while (at < end) {
        size_t left = (size_t)(end - at), size = left;
        if (left > PIPE_BUF) {
            const char *newline = memrchr(at, '\n', PIPE_BUF);
            if (!newline) newline = memchr(at + PIPE_BUF, '\n', left - PIPE_BUF);
            size = (size_t)(newline + 1 - at); /* the last byte of all is a newline */
        }
        int rc = gx_file_write(output->fd, at, size, output->path, error);
        if (rc < 0) return rc;
        at += size;
    }
    return 0;
}

int gx_file_output_write(gx_file_output *output, gale_str lines, gale_error *error) {
    return output->pieces ? write_pieces(output, lines, error)
                          : gx_file_append(output->fd, lines.data, lines.size, output->path, error);
}

int gx_file_output_sync(gx_file_output *output, gale_error *error) {
    return output->regular ? gx_file_sync(output->fd, output->path, error) : 0;
}

int gx_file_output_close(gx_file_output *output, gale_error *error) {
    if (output->fd < 0) return 0;
    int rc = gx_file_close_written(output->fd, output->path, error);
    output->fd = -1;
    return rc;
}
