#include "connect/file/output.h"

#include "base/os/lock.h"
#include "connect/file/state.h"

#include <errno.h>
#include <inttypes.h>

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
    if (rc == 0 && output->codec) {
        gx_file_close(fd);
        return 0;
    }
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
        output->modified = about.modified;
        if (output->regular) rc = take_over(output, fd, ret_last_line, error);
    }
    if (rc == 0)
        output->fd = fd;
    else
        gx_file_close(fd);
    return rc;
}

int gx_file_output_open(gx_file_output *output, const char *path, gale_error *error) {
    int64_t last_line;
    *output = (gx_file_output){ .path = path, .fd = -1, .codec = output->codec };
    return open_file(output, &last_line, error);
}

int gx_file_output_open_standard(gx_file_output *output, gx_heap *heap, gale_error *error) {
    int rc = gx_file_output_open(output, "-", error);
    if (rc == 0) rc = gx_gathered_open(&output->gathered, heap, output->fd, "-");
    return rc;
}

void gx_file_output_await(gx_file_output *output, const char *path) {
    *output = (gx_file_output){ .path = path, .fd = -1, .regular = true };
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

/* --- Packed files --- */

typedef struct getting {
    int fd;
    const char *path;
    gale_error *error;
} getting;

static int64_t get(void *user, void *bytes, size_t size) {
    const getting *g = user;
    return gx_file_read(g->fd, bytes, size, g->path, g->error);
}

static int read_packed(const gx_file_output *output, gale_file_mended *ret_mended, gale_error *error) {
    getting g = { .path = output->path, .error = error };
    int rc = gx_file_open(output->path, &g.fd, NULL, error);
    if (rc < 0) return rc;
    rc = output->codec->mend(get, &g, ret_mended);
    gx_file_close(g.fd);
    if (rc == GALE_INVALID)
        return gale_error_set(error, rc,
                              "'%s' holds something that is not packed (%s), or damaged, and cannot be gone on with",
                              output->path, output->codec->ending);
    if (rc == GALE_NO_MEMORY) return gale_error_set(error, rc, "%s: out of memory", output->path);
    return rc;
}

/* What a killed run has left is cut behind its last whole lines, and ended. */
static int mend_packed(gx_file_output *output, gx_file_torn *ret_torn, gale_error *error) {
    gale_file_mended found = { .size = 0 };
    output->plain = 0;
    if (!output->size) return 0;
    int rc = read_packed(output, &found, error);
    if (rc < 0) return rc;
    *ret_torn = (gx_file_torn){ output->size - found.size, true };
    if (ret_torn->size) rc = gx_file_cut(output->fd, found.size, output->path, error);
    if (rc == 0) rc = gx_file_append(output->fd, found.tail, found.tail_size, output->path, error);
    if (rc < 0) return rc;
    output->size = found.size + (int64_t)found.tail_size;
    output->plain = found.plain_size;
    return 0;
}

static int put(void *user, const void *bytes, size_t size) {
    gx_buf *packed = user;
    gx_buf_add(packed, bytes, size);
    return packed->failed ? GALE_NO_MEMORY : 0;
}

static int pack(gx_file_output *output, gale_str lines, bool ends, gale_error *error) {
    gx_buf_reset(&output->packed);
    if (!output->packer) output->packer = output->codec->open();
    int rc = output->packer ? output->codec->pack(output->packer, lines.data, lines.size, ends, put, &output->packed)
                            : GALE_NO_MEMORY;
    output->failed = true; /* unless all of it goes well */
    if (rc < 0) return gale_error_set(error, rc, "%s: cannot be packed: %s", output->path, gale_error_text(rc));
    rc = gx_file_append(output->fd, output->packed.data, output->packed.size, output->path, error);
    if (rc < 0) return rc;
    output->size += (int64_t)output->packed.size;
    output->plain += (int64_t)lines.size;
    output->failed = false;
    return 0;
}

int gx_file_output_end(gx_file_output *output, gale_error *error) {
    return output->packer ? pack(output, (gale_str){ NULL, 0 }, true, error) : 0;
}

static void free_packer(gx_file_output *output) {
    if (output->packer) output->codec->close(output->packer);
    output->packer = NULL;
    gx_buf_fini(&output->packed);
}

/* What was asked for, or `overwrite`. */
static int begin_empty(gx_file_output *output, gx_file_begin how, gale_error *error) {
    if (output->size == 0) return 0;
    if (how == GX_FILE_EMPTY)
        return gale_error_set(error, GALE_EXISTS,
                              "'%s' holds %" PRId64 " bytes, which the run would replace; give `overwrite: true` (gale "
                              "run --overwrite) to have that, `append: true` to write behind them, or another path",
                              output->path, output->size);
    int rc = gx_file_cut(output->fd, 0, output->path, error);
    if (rc < 0) return rc;
    output->size = 0;
    return 0;
}

int gx_file_output_begin(gx_file_output *output, gx_file_begin how, gx_file_torn *ret_torn, gale_error *error) {
    int64_t last_line = 0, had = output->size;
    *ret_torn = (gx_file_torn){ .size = 0 };
    output->begun = true;
    if (!output->regular) return 0;
    free_packer(output); /* of what was cut under it: that member has no end */
    gx_file_close(output->fd);
    output->fd = -1;
    int rc = open_file(output, &last_line, error);
    if (rc < 0 || !output->regular) return rc;
    if (how == GX_FILE_EMPTY || how == GX_FILE_ANEW) return begin_empty(output, how, error);
    bool whole = how == GX_FILE_AGAIN && output->size && output->size >= had;
    if (output->codec) return whole ? 0 : mend_packed(output, ret_torn, error);
    return mend_end(output, last_line, how == GX_FILE_GO_ON, ret_torn, error);
}

int gx_file_output_write(gx_file_output *output, gale_str lines, gale_error *error) {
    if (output->codec) return pack(output, lines, false, error);
    int rc = output->gathered.bytes ? gx_gathered_add(&output->gathered, lines, error)
                                    : gx_file_append(output->fd, lines.data, lines.size, output->path, error);
    if (rc == 0) output->size += (int64_t)lines.size;
    return rc;
}

int gx_file_output_flush(gx_file_output *output, gale_error *error) {
    int rc = gx_gathered_flush(&output->gathered, error);
    if (rc < 0) output->failed = true;
    return rc;
}

int gx_file_output_sync(gx_file_output *output, gale_error *error) {
    return output->regular ? gx_file_sync(output->fd, output->path, error) : 0;
}

/* What a write that failed has left is not ended: whoever goes on with it does that. */
int gx_file_output_close(gx_file_output *output, gale_error *error) {
    int ended = output->fd >= 0 && !output->failed ? gx_file_output_end(output, error) : 0;
    if (ended == 0 && !output->failed) ended = gx_file_output_flush(output, error);
    gx_gathered_close(&output->gathered);
    free_packer(output);
    if (output->fd < 0) return 0;
    if (ended < 0) error = NULL;
    int rc = output->end ? gx_file_end_close(output->end, error)
                         : gx_file_close_written(output->fd, output->path, error);
    output->fd = -1;
    output->end = NULL;
    return ended < 0 ? ended : rc;
}

/* --- Checkpoints -------------------------------------------------------------------------------------------------- */

static int make_end(gx_file_output *output, gale_error *error) {
    return output->end ? 0 : gx_file_end_make(output->fd, output->path, &output->end, error);
}

int gx_file_output_values(gx_file_output *output, gale_value values[GX_FILE_END_VALUES], gale_error *error) {
    int rc = gx_file_output_end(output, error);
    if (rc == 0) rc = make_end(output, error);
    return rc < 0 ? rc : gx_file_end_values(output->end, output->size, values, error);
}

/* Is it a file?, and of one that is rotated: the next number, the period; of one that is packed, what it unpacks to; of one that was
 * renamed by somebody, what was announced. */
int gx_file_output_save(gx_file_output *output, gx_file_turns turns, gale_saver *to, gale_error *error) {
    int rc = gx_file_output_end(output, error);
    if (rc < 0) return rc;
    const gale_value values[] = { gale_bool(output->regular), gale_i64((int64_t)turns.next),
                                  gale_i64(turns.period),     gale_i64(output->codec ? output->plain : -1),
                                  gale_i64(turns.swap.size),  gale_i64(turns.swap.inode),
                                  gale_i64(turns.swap.born) };
    rc = gale_save(to, values, turns.swap.announced ? 7 : output->codec ? 4 : turns.next ? 3 : 1);
    if (rc < 0 || !output->regular) return rc;
    rc = make_end(output, error);
    return rc < 0 ? rc : gx_file_end_save(output->end, output->size, to, error);
}

static int refuse_many(const gale_saved *from, gale_error *error) {
    return gale_error_set(
        error, GALE_INVALID,
        "checkpoint %" PRIu64
        " has written to as many files as its tuples named, and this run is to write to one; keep the "
        "path, or begin anew with another state folder",
        gale_saved_checkpoint(from));
}

static bool is_head(const gale_value *values, size_t count) {
    bool right = (count == 1 || count == 3 || count == 4 || count == 7) && values[0].type == GALE_TYPE_BOOL;
    for (size_t i = 1; right && i < count; i++) right = values[i].type == GALE_TYPE_I64;
    if (!right || count == 1) return right;
    if (values[1].as.i64 < (count == 3)) return false; /* 0: it is not rotated, but has what comes behind that */
    return (count < 4 || values[3].as.i64 >= -(count == 7)) && (count < 7 || values[4].as.i64 >= 0);
}

int gx_file_output_saved(gale_saved *from, const char *path, bool *ret_is_file, gx_file_turns *ret_turns,
                         gale_error *error) {
    const gale_value *values;
    size_t count;
    int rc = gale_saved_next(from, &values, &count);
    bool right = rc == 1 && is_head(values, count);
    if (rc == 1 && gx_file_output_is_many(values, count)) return refuse_many(from, error);
    if (rc >= 0 && !right) rc = GALE_DAMAGED;
    if (rc < 0) return gale_error_set(error, rc, "%s: what was saved of it: %s", path, gale_error_text(rc));
    *ret_is_file = values[0].as.boolean;
    *ret_turns = (gx_file_turns){ .plain = -1 };
    if (count >= 3) ret_turns->next = (uint64_t)values[1].as.i64;
    if (count >= 3) ret_turns->period = values[2].as.i64;
    if (count >= 4) ret_turns->plain = values[3].as.i64;
    if (count == 7)
        ret_turns->swap = (gx_file_swap){ true, true, values[4].as.i64, values[5].as.i64, values[6].as.i64 };
    return 0;
}

static int refuse_standard(gale_saved *from, gale_error *error) {
    return gale_error_set(error, GALE_INVALID,
                          "checkpoint %" PRIu64
                          " has written to a file, and this run is to write to the standard output; "
                          "keep the path, or begin anew with another state folder",
                          gale_saved_checkpoint(from));
}

int gx_file_output_restore(gx_file_output *output, gale_saved *from, gx_file_end_found *ret_found, gale_error *error) {
    *ret_found = (gx_file_end_found){ .size = 0 };
    if (strcmp(output->path, "-") == 0) return refuse_standard(from, error);
    int rc = gx_file_end_restore(from, output->path, &output->end, ret_found, error);
    if (rc < 0) return rc;
    output->fd = gx_file_end_fd(output->end);
    output->path = gx_file_end_path(output->end);
    output->size = ret_found->size;
    output->begun = output->regular = true;
    return 0;
}
