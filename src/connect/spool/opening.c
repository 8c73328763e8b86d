#include "connect/spool/opening.h"

#include "base/os/folder.h"
#include "connect/spool/owner.h"
#include "connect/spool/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "disk buffer: out of memory");
}

/* --- What is there --------------------------------------------------------------------------------------------------- */

/* "00000000000000000042.spool"; 0: it is none. */
static uint64_t first_of(const char *name) {
    enum { DIGITS = 20 };
    size_t digits = strspn(name, "0123456789");
    if (digits != DIGITS || strcmp(name + DIGITS, ".spool") != 0) return 0;
    errno = 0;
    uint64_t first = strtoull(name, NULL, 10);
    return errno ? 0 : first;
}

static int note_segment(void *user, const char *name) {
    gx_spool_log *log = user;
    uint64_t first = first_of(name);
    if (!first) return 0;
    return gx_spool_log_push(log, (gx_spool_segment){ .first = first, .fd = -1 }) ? 0 : GALE_NO_MEMORY;
}

static int by_first(const void *a, const void *b) {
    const gx_spool_segment *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static int list_segments(gx_spool_log *log, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    int rc = gx_folder_each(log->path, "", note_segment, log, error);
    if (rc == GALE_NO_MEMORY) return no_memory(error);
    if (rc < 0) return rc;
    if (log->count) qsort(log->segments, log->count, sizeof *log->segments, by_first);
    for (size_t i = 0; i < log->count; i++) {
        gx_file_about about;
        rc = gx_spool_log_name(log, log->segments[i].first, name, error);
        if (rc == 0) rc = gx_file_about_path(name, &about, error);
        if (rc < 0) return rc;
        log->segments[i].size = log->segments[i].safe = about.size;
        log->bytes += about.size;
    }
    return 0;
}

/* --- Where it ends --------------------------------------------------------------------------------------------------- */

static int cut_file(gx_spool_log *log, size_t index, int64_t size, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    gx_spool_segment *s = &log->segments[index];
    int fd, rc = gx_spool_log_name(log, s->first, name, error);
    if (rc == 0) rc = gx_file_create(name, true, &fd, error);
    if (rc < 0) return rc;
    rc = gx_file_cut(fd, size, name, error);
    gx_file_close(fd);
    if (rc < 0) return rc;
    log->bytes -= s->size - size;
    s->size = s->safe = size;
    return 0;
}

static int remove_last(gx_spool_log *log, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    const gx_spool_segment *last = &log->segments[log->count - 1];
    int rc = gx_spool_log_name(log, last->first, name, error);
    if (rc == 0) rc = gx_file_remove(name, error);
    if (rc < 0) return rc;
    log->bytes -= last->size;
    log->count--;
    return 0;
}

typedef struct end {
    int64_t size;
    uint64_t next; /* the number of the record that comes next */
    bool torn;
} end;

/* Up to the record `last` at the most. */
static int find_end(gx_spool_log *log, const gx_spool_segment *s, uint64_t last, end *ret, gale_error *error) {
    gx_spool_reader reader;
    gx_spool_reader_init(&reader, log, 0, NULL, NULL);
    int rc = gx_spool_reader_find_end(&reader, s->first, s->size, last, &ret->size, &ret->torn, error);
    ret->next = reader.number;
    gx_spool_reader_fini(&reader);
    return rc;
}

/* Of damage at the very end it is not known how many records it was: at least one. */
static int look_at_last(gx_spool_log *log, gale_error *error) {
    while (log->count && log->segments[log->count - 1].size < GX_SPOOL_SEGMENT_HEAD) {
        int rc = remove_last(log, error);
        if (rc < 0) return rc;
    }
    if (!log->count) return 0;
    size_t last = log->count - 1;
    end found = { 0 };
    int rc = find_end(log, &log->segments[last], UINT64_MAX, &found, error);
    if (rc < 0) return rc;
    log->next = found.next;
    if (found.torn) return cut_file(log, last, found.size, error);
    log->sealed = found.size < log->segments[last].size;
    if (log->sealed) log->next++;
    return 0;
}

/* --- Whose it is ----------------------------------------------------------------------------------------------------- */

static int check_segment(gx_spool_log *log, const gx_spool_segment *s, gale_error *error) {
    char name[GX_FILE_NAME_SIZE], bytes[GX_SPOOL_SEGMENT_HEAD];
    gx_spool_segment_head head;
    int fd, rc = gx_spool_log_name(log, s->first, name, error);
    if (rc == 0) rc = gx_file_open(name, &fd, NULL, error);
    if (rc < 0) return rc;
    int64_t got = gx_file_read_at(fd, bytes, sizeof bytes, 0, name, error);
    gx_file_close(fd);
    if (got < 0) return (int)got;
    if (!gx_spool_segment_head_read(bytes, (size_t)got, &head) || head.tasks == log->tasks) return 0;
    return gale_error_set(error, GALE_STATE,
                          "disk buffer '%s': has records that %u task%s wrote, and there are %u now: they would change "
                          "their order; run it with parallelism %u until it is empty",
                          log->path, head.tasks, head.tasks == 1 ? "" : "s", log->tasks, head.tasks);
}

static int check_tasks(gx_spool_log *log, gale_error *error) {
    int rc = 0;
    for (size_t i = 0; i < log->count && rc == 0; i++) {
        uint64_t behind = i + 1 < log->count ? log->segments[i + 1].first : log->next;
        if (behind > log->position) rc = check_segment(log, &log->segments[i], error);
    }
    return rc;
}

/* --- Opening --------------------------------------------------------------------------------------------------------- */

static void free_log(gx_spool_log *log) {
    for (size_t i = 0; i < log->count; i++)
        if (log->segments[i].fd >= 0) gx_file_close(log->segments[i].fd);
    gx_spool_mark_close(&log->mark);
    gx_free(log->heap, GX_TAG_OTHER, log->segments, log->capacity * sizeof *log->segments);
    gx_buf_fini(&log->out);
    gx_lock_release(&log->lock, log->path);
    gx_monitor_fini(&log->monitor);
}

/* What is below the position was answered, whatever there is of it. */
static int settle_position(gx_spool_log *log, uint64_t marked) {
    uint64_t first = log->count ? log->segments[0].first : log->next;
    log->position = marked ? marked : first;
    log->marked = marked;
    if (log->next < log->position) {
        log->next = log->position;
        log->sealed = true;
    }
    log->written = log->safe = log->next;
    return 0;
}

static int take(gx_spool_log *log, bool is_durable, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    uint64_t marked = 0;
    int rc = gx_spool_log_mark_name(log, name, error);
    if (rc == 0 && gx_folder_look(log->path, NULL) < 0) rc = gx_folder_make_way(name, true, error);
    if (rc == 0) rc = gx_lock_take(&log->lock, log->path, error);
    if (rc == 0 && !is_durable) rc = gx_spool_owner_check(log->path, error);
    if (rc == 0) rc = list_segments(log, error);
    if (rc == 0) rc = look_at_last(log, error);
    if (rc == 0) rc = gx_spool_mark_open(&log->mark, name, &marked, error);
    if (rc == 0) rc = settle_position(log, marked);
    if (rc == 0) rc = check_tasks(log, error);
    if (rc == 0 && is_durable) rc = gx_spool_owner_mark(log->path, error);
    return rc == 0 ? gx_spool_log_forget(log, error) : rc;
}

int gx_spool_log_open(gx_spool_log *log, gx_heap *heap, const char *path, const gx_spool_owner *owner,
                      gale_error *error) {
    *log = (gx_spool_log){ .heap = heap, .path = path, .task = owner->task, .tasks = owner->tasks, .next = 1 };
    log->out = (gx_buf)GX_BUF_INIT(heap);
    log->mark = GX_SPOOL_MARK_NONE;
    if (!gx_monitor_init(&log->monitor)) return gale_error_set(error, GALE_NO_MEMORY, "no monitor can be made");
    gx_spool_log_limit(log, GX_SPOOL_LIMIT_LEAST);
    errno = 0;
    int rc = take(log, owner->durable, error);
    bool full = rc == GALE_IO && (errno == ENOSPC || errno == EDQUOT);
    if (rc < 0) free_log(log);
    log->full = full;
    return rc;
}

/* --- Closing --------------------------------------------------------------------------------------------------------- */

void gx_spool_log_close(gx_spool_log *log) {
    int rc = gx_spool_log_forget(log, NULL);
    if (log->position >= log->written)
        while (rc == 0 && log->count) {
            gx_spool_segment *last = &log->segments[log->count - 1];
            if (last->fd >= 0) gx_file_close(last->fd);
            last->fd = -1;
            rc = remove_last(log, NULL);
        }
    free_log(log);
}

/* --- Going back ------------------------------------------------------------------------------------------------------ */

static int refuse(const gx_spool_log *log, uint64_t last, const char *what, gale_error *error) {
    return gale_error_set(error, GALE_STATE, "disk buffer '%s': it %s than the checkpoint's %" PRIu64, log->path, what,
                          last);
}

static int cut(gx_spool_log *log, uint64_t last, gale_error *error) {
    int rc = 0;
    end found;
    while (log->count && log->segments[log->count - 1].first > last && rc == 0) rc = remove_last(log, error);
    if (rc < 0 || !log->count) return rc;
    rc = find_end(log, &log->segments[log->count - 1], last, &found, error);
    if (rc < 0) return rc;
    bool ends = found.next > last;
    if (ends) rc = cut_file(log, log->count - 1, found.size, error);
    if (rc == 0) log->sealed = !ends;
    return rc;
}

int gx_spool_log_cut(gx_spool_log *log, uint64_t last, gale_error *error) {
    if (last >= log->next) return refuse(log, last, "has fewer records", error);
    if (last + 1 < log->position) return refuse(log, last, "has let go of more records", error);
    if (last + 1 == log->next) return 0;
    gx_monitor_lock(&log->monitor);
    int rc = cut(log, last, error);
    if (rc == 0) log->next = log->written = log->safe = last + 1;
    gx_monitor_unlock(&log->monitor);
    return rc;
}
