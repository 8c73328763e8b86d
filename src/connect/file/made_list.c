#include "connect/file/made_list.h"

#include "base/hash.h"
#include "base/os/file.h"
#include "base/os/folder.h"
#include "base/os/lock.h"

#include <inttypes.h>
#include <stdio.h>

enum { HASH = 16 };

static const char mark[] = "gale-made 1 ";

/* --- A line --- */

void gx_made_line_write(gx_buf *to, const gx_made_line *line, int64_t at) {
    size_t begin = to->size;
    if (line->size < 0)
        gx_buf_add_byte(to, '-');
    else
        gx_buf_add_i64(to, line->size);
    gx_buf_format(to, " %" PRIu64 " %" PRIu64 " %zu ", line->inode, line->next, line->path.size);
    gx_buf_add(to, line->path.data, line->path.size);
    if (to->failed) return;
    gx_buf_format(to, " %016" PRIx64 "\n", gx_hash_bytes(to->data + begin, to->size - begin, (uint64_t)at));
}

/* The word before the next blank, which is a number as it is written here. */
static bool read_number(gale_str *rest, uint64_t max, uint64_t *ret_number) {
    const char *blank = memchr(rest->data, ' ', rest->size < 24 ? rest->size : 24);
    gale_str word = { rest->data, blank ? (size_t)(blank - rest->data) : 0 };
    bool is = blank && gx_str_number(word, 10, max, ret_number) && (word.size == 1 || word.data[0] != '0');
    if (!is) return false;
    *rest = (gale_str){ blank + 1, rest->size - word.size - 1 };
    return true;
}

static bool read_size(gale_str *rest, int64_t *ret_size) {
    uint64_t size = 0;
    if (rest->size >= 2 && rest->data[0] == '-' && rest->data[1] == ' ') {
        *rest = (gale_str){ rest->data + 2, rest->size - 2 };
        *ret_size = -1;
        return true;
    }
    bool is = read_number(rest, INT64_MAX, &size);
    *ret_size = (int64_t)size;
    return is;
}

static bool is_path(gale_str path) {
    return path.size > 0 && path.size <= GX_FILE_PATH_MAX && !memchr(path.data, 0, path.size);
}

/* A blank, a hash of what stands before it, and the line's end. */
static bool has_hash(gale_str rest, gale_str hashed, int64_t at) {
    char right[HASH + 3];
    if (rest.size < HASH + 2) return false;
    snprintf(right, sizeof right, " %016" PRIx64 "\n", gx_hash_bytes(hashed.data, hashed.size, (uint64_t)at));
    return memcmp(rest.data, right, HASH + 2) == 0;
}

bool gx_made_line_read(gale_str text, int64_t at, gx_made_line *ret_line, size_t *ret_size) {
    gx_made_line line;
    gale_str rest = text;
    uint64_t size = 0;
    if (!read_size(&rest, &line.size) || !read_number(&rest, UINT64_MAX, &line.inode)) return false;
    if (!read_number(&rest, INT64_MAX, &line.next) || !read_number(&rest, GX_FILE_PATH_MAX, &size)) return false;
    if (size > rest.size) return false;
    line.path = (gale_str){ rest.data, (size_t)size };
    rest = (gale_str){ rest.data + size, rest.size - size };
    size_t hashed = text.size - rest.size;
    if (!is_path(line.path) || !has_hash(rest, (gale_str){ text.data, hashed }, at)) return false;
    *ret_line = line;
    *ret_size = hashed + HASH + 2;
    return true;
}

/* --- The file --- */

void gx_made_list_init(gx_made_list *list, gx_heap *heap) {
    *list = (gx_made_list){ .text = GX_BUF_INIT(heap) };
}

void gx_made_list_fini(gx_made_list *list) {
    (void)gx_file_end_close(list->end, NULL);
    list->end = NULL;
    gx_buf_fini(&list->text);
}

/* What stands at the path is a list that nobody has, or nothing. */
static int check_free(const char *path, gale_error *error) {
    char found[sizeof mark - 1];
    gx_file_about about;
    int fd, rc = gx_file_about_path(path, &about, error);
    if (rc < 0) return rc == GALE_NOT_FOUND ? 0 : rc;
    rc = gx_file_open(path, &fd, NULL, error);
    if (rc < 0) return rc;
    rc = gx_lock_open(fd, path, error);
    int64_t got = rc < 0 ? rc : gx_file_read_at(fd, found, sizeof found, 0, path, error);
    gx_file_close(fd);
    if (got < 0) return (int)got;
    if (got == sizeof found && memcmp(found, mark, sizeof found) == 0) return 0;
    return gale_error_set(
        error, GALE_EXISTS,
        "'%s' is where a durable run lists the files that it makes, and holds something else: move it "
        "away",
        path);
}

static int write_head(gx_made_list *list, const char *path, uint64_t id, gale_error *error) {
    gx_buf_reset(&list->text);
    gx_buf_format(&list->text, "%s%016" PRIx64 "\n", mark, id);
    if (list->text.failed) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", path);
    list->size = (int64_t)list->text.size;
    return gx_file_replace(path, list->text.data, list->text.size, error);
}

int gx_made_list_begin(gx_made_list *list, const char *path, uint64_t id, gale_error *error) {
    int fd, rc = gx_folder_make_way(path, true, error);
    if (rc == 0) rc = check_free(path, error);
    if (rc == 0) rc = write_head(list, path, id, error);
    if (rc == 0) rc = gx_file_create(path, true, &fd, error);
    if (rc < 0) return rc;
    rc = gx_lock_open(fd, path, error);
    if (rc == 0) rc = gx_file_end_make(fd, path, &list->end, error);
    if (rc < 0) gx_file_close(fd);
    return rc;
}

int gx_made_list_add(gx_made_list *list, const gx_made_line *line, gale_error *error) {
    const char *path = gx_file_end_path(list->end);
    gx_buf_reset(&list->text);
    gx_made_line_write(&list->text, line, list->size);
    if (list->text.failed) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", path);
    int fd = gx_file_end_fd(list->end), rc = gx_file_append(fd, list->text.data, list->text.size, path, error);
    if (rc < 0) return rc;
    list->size += (int64_t)list->text.size;
    return gx_file_sync_data(fd, path, error);
}

int gx_made_list_save(gx_made_list *list, gale_saver *to, gale_error *error) {
    return gx_file_end_save(list->end, list->size, to, error);
}

/* --- Going on --- */

/* How many bytes are lines that hold. */
static size_t whole_lines(gale_str text, int64_t at) {
    gx_made_line line;
    size_t whole = 0, size;
    while (gx_made_line_read((gale_str){ text.data + whole, text.size - whole }, at + (int64_t)whole, &line, &size))
        whole += size;
    return whole;
}

/* Does some line behind another's end hold? */
static bool any_holds(gale_str text, int64_t at) {
    gx_made_line line;
    size_t size;
    for (const char *end; (end = memchr(text.data, '\n', text.size));) {
        size_t step = (size_t)(end + 1 - text.data);
        text = (gale_str){ end + 1, text.size - step };
        at += (int64_t)step;
        if (gx_made_line_read(text, at, &line, &size)) return true;
    }
    return false;
}

static int check_lines(gx_made_list *list, const char *path, gale_error *error) {
    gale_str text = { list->text.data, list->text.size };
    size_t whole = text.size ? whole_lines(text, list->size) : 0;
    gale_str rest = { text.data + whole, text.size - whole };
    list->text.size = whole;
    if (!rest.size || !any_holds(rest, list->size + (int64_t)whole)) return 0;
    return gale_error_set(
        error, GALE_DAMAGED,
        "'%s' is damaged at byte %" PRId64
        ": a line does not hold, and there are others behind it; put the file back, or begin anew with "
        "another state folder",
        path, list->size + (int64_t)whole + 1);
}

/* So many bytes behind the list's end. */
static int read_rest(gx_made_list *list, const char *path, int64_t size, gale_error *error) {
    int fd, rc = gx_file_open(path, &fd, NULL, error);
    if (rc < 0) return rc;
    gx_buf_reset(&list->text);
    if (!gx_buf_reserve(&list->text, (size_t)size))
        rc = gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", path);
    while (rc == 0 && (int64_t)list->text.size < size) {
        int64_t got = gx_file_read_at(fd, list->text.data + list->text.size, (size_t)size - list->text.size,
                                      list->size + (int64_t)list->text.size, path, error);
        if (got <= 0) {
            rc = got < 0 ? (int)got : 0;
            break;
        }
        list->text.size += (size_t)got;
    }
    gx_file_close(fd);
    return rc < 0 ? rc : check_lines(list, path, error);
}

int gx_made_list_find(gx_made_list *list, const char *path, gale_saved *from, gale_error *error) {
    gx_file_end_found found;
    const gale_value *values = NULL;
    size_t count = 0;
    int rc = gale_saved_next(from, &values, &count);
    if (rc < 0) return gale_error_set(error, rc, "%s: %s", path, gale_error_text(rc));
    rc = gx_file_end_find(values, rc ? count : 0, gale_saved_checkpoint(from), path, &list->end, &found, error);
    if (rc < 0) {
        gale_error_add(error, "there the sink lists the files that it has made");
        return rc;
    }
    list->size = found.size;
    return read_rest(list, gx_file_end_path(list->end), found.cut, error);
}

/* Where each line begins. */
static int find_lines(const gx_made_list *list, gx_buf *starts) {
    gx_made_line line;
    size_t size;
    for (size_t at = 0; at < list->text.size; at += size) {
        gale_str rest = { list->text.data + at, list->text.size - at };
        if (!gx_made_line_read(rest, list->size + (int64_t)at, &line, &size)) break; /* they were read before */
        gx_buf_add(starts, &at, sizeof at);
    }
    return starts->failed ? GALE_NO_MEMORY : 0;
}

static int undo_lines(const gx_made_list *list, const gx_buf *starts, gx_made_list_each_fn *each, void *user,
                      gale_error *error) {
    int rc = 0;
    for (size_t i = starts->size / sizeof(size_t); i-- > 0 && rc == 0;) {
        gx_made_line line;
        size_t at, size;
        memcpy(&at, starts->data + i * sizeof at, sizeof at);
        gale_str rest = { list->text.data + at, list->text.size - at };
        if (gx_made_line_read(rest, list->size + (int64_t)at, &line, &size)) rc = each(user, &line, error);
    }
    return rc;
}

int gx_made_list_undo(gx_made_list *list, gx_made_list_each_fn *each, void *user, gale_error *error) {
    const char *path = gx_file_end_path(list->end);
    gx_buf starts = GX_BUF_INIT(list->text.heap);
    int fd = gx_file_end_fd(list->end), rc = find_lines(list, &starts);
    if (rc < 0) gale_error_set(error, rc, "%s: out of memory", path);
    if (rc == 0) rc = undo_lines(list, &starts, each, user, error);
    gx_buf_fini(&starts);
    if (rc == 0) rc = gx_file_cut(fd, list->size, path, error);
    return rc < 0 ? rc : gx_file_sync(fd, path, error);
}
