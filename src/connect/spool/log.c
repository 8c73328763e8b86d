#include "connect/spool/log.h"

#include "base/os/fate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "disk buffer: out of memory");
}

/* Is it that the disk has no room, rather than that it does not work? By what the last call said. */
static bool no_room(void) {
    return errno == ENOSPC || errno == EDQUOT;
}

/* --- Its files ------------------------------------------------------------------------------------------------------- */

int gx_spool_log_name(const gx_spool_log *log, uint64_t first, char name[GX_FILE_NAME_SIZE], gale_error *error) {
    if (strlen(log->path) + GX_SPOOL_NAME > GX_FILE_PATH_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "'%.100s...': a path that is too long", log->path);
    snprintf(name, GX_FILE_NAME_SIZE, "%s/%020" PRIu64 ".spool", log->path, first);
    return GALE_OK;
}

int gx_spool_log_mark_name(const gx_spool_log *log, char name[GX_FILE_NAME_SIZE], gale_error *error) {
    return gx_file_beside(log->path, "/position", name, error);
}

size_t gx_spool_log_find(const gx_spool_log *log, uint64_t number) {
    size_t low = 0, high = log->count;
    if (!log->count) return SIZE_MAX;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->segments[middle].first <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

static gx_spool_segment *last_of(const gx_spool_log *log) {
    return log->count ? &log->segments[log->count - 1] : NULL;
}

bool gx_spool_log_push(gx_spool_log *log, gx_spool_segment segment) {
    if (!gx_grow(log->heap, GX_TAG_OTHER, &log->segments, &log->capacity, log->count + 1, sizeof segment)) return false;
    log->segments[log->count++] = segment;
    log->bytes += segment.size;
    return true;
}

/* --- Adding ---------------------------------------------------------------------------------------------------------- */

void gx_spool_log_limit(gx_spool_log *log, int64_t limit) {
    enum { LEAST = 4096, MOST = 64 << 20, PARTS = 16 };
    int64_t size = limit / PARTS;
    log->limit = limit;
    log->segment_size = size < LEAST ? LEAST : size > MOST ? MOST : size;
}

static void put_segment_head(gx_spool_log *log) {
    char head[GX_SPOOL_SEGMENT_HEAD];
    const gx_spool_segment_head given = { log->next, log->task, log->tasks };
    gx_spool_segment_head_write(head, &given);
    gx_buf_add(&log->out, head, sizeof head);
}

/* The one before is closed when the disk has it. All that was added is written. */
static int begin_segment(gx_spool_log *log, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    int fd, rc = gx_spool_log_name(log, log->next, name, error);
    if (rc == 0 && !gx_buf_reserve(&log->out, GX_SPOOL_SEGMENT_HEAD)) rc = no_memory(error);
    if (rc == 0) rc = gx_file_create(name, true, &fd, error);
    if (rc < 0) {
        log->full = rc == GALE_IO && no_room();
        return rc;
    }
    gx_monitor_lock(&log->monitor);
    bool done = gx_spool_log_push(log, (gx_spool_segment){ .first = log->next, .fd = fd });
    log->unnamed |= done;
    gx_monitor_unlock(&log->monitor);
    if (done) {
        log->sealed = false;
        put_segment_head(log);
        return 0;
    }
    gx_file_close(fd);
    (void)gx_file_remove(name, NULL);
    return no_memory(error);
}

/* One that an earlier run wrote is gone on with. */
static int reopen_last(gx_spool_log *log, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    gx_monitor_lock(&log->monitor);
    uint64_t first = last_of(log)->first;
    gx_monitor_unlock(&log->monitor);
    int fd, rc = gx_spool_log_name(log, first, name, error);
    if (rc == 0) rc = gx_file_create(name, true, &fd, error);
    if (rc < 0) return rc;
    gx_monitor_lock(&log->monitor);
    last_of(log)->fd = fd;
    gx_monitor_unlock(&log->monitor);
    return 0;
}

/* What found no room goes into a segment of its own, so that the one that fills the disk can go when it is answered. Where even that
 * cannot be made, it is tried again with the next write. */
static void turn_aside(gx_spool_log *log) {
    char name[GX_FILE_NAME_SIZE];
    const gx_spool_segment_head head = { log->written, log->task, log->tasks };
    int fd, rc = gx_spool_log_name(log, head.first, name, NULL);
    if (rc < 0 || !gx_buf_reserve(&log->out, GX_SPOOL_SEGMENT_HEAD) || gx_file_create(name, true, &fd, NULL) < 0)
        return;
    gx_monitor_lock(&log->monitor);
    bool done = gx_spool_log_push(log, (gx_spool_segment){ .first = head.first, .fd = fd });
    log->unnamed |= done;
    gx_monitor_unlock(&log->monitor);
    if (!done) {
        gx_file_close(fd);
        return;
    }
    memmove(log->out.data + GX_SPOOL_SEGMENT_HEAD, log->out.data, log->out.size);
    gx_spool_segment_head_write(log->out.data, &head);
    log->out.size += GX_SPOOL_SEGMENT_HEAD;
}

static int take_back(gx_spool_log *log, const gx_spool_segment *last, const char *name, gale_error *error) {
    log->full = no_room();
    log->broken = gx_file_cut(last->fd, last->size, name, error) < 0;
    if (log->broken) log->full = false;
    if (log->full && last->size > GX_SPOOL_SEGMENT_HEAD) turn_aside(log);
    return GALE_IO;
}

int gx_spool_log_write(gx_spool_log *log, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    if (!log->out.size) return 0;
    if (log->broken) return gale_error_set(error, GALE_IO, "'%s': cannot be written any more", log->path);
    gx_monitor_lock(&log->monitor);
    const gx_spool_segment last = *last_of(log);
    gx_monitor_unlock(&log->monitor);
    int rc = gx_spool_log_name(log, last.first, name, error);
    if (rc == 0) rc = gx_file_write(last.fd, log->out.data, log->out.size, name, error);
    if (rc < 0) return take_back(log, &last, name, error);
    gx_monitor_lock(&log->monitor);
    gx_spool_segment *now = last_of(log);
    now->size += (int64_t)log->out.size;
    log->bytes += (int64_t)log->out.size;
    log->written = log->next;
    if (log->at_once) {
        now->safe = now->size;
        log->safe = log->written;
    }
    gx_monitor_unlock(&log->monitor);
    log->full = false;
    gx_buf_reset(&log->out);
    if (log->out.capacity > 4 * (size_t)GX_SPOOL_BATCH) gx_buf_fini(&log->out);
    return 0;
}

/* The last segment has enough with these bytes more, or cannot be gone on with. */
static bool wants_another(const gx_spool_log *log, int64_t more) {
    const gx_spool_segment *last = last_of(log);
    if (!last || log->sealed) return true;
    int64_t has = last->size + (int64_t)log->out.size;
    return log->next > last->first && has + more > log->segment_size;
}

typedef struct room {
    bool there, another, idle;
    bool closed; /* the last segment has no descriptor */
} room;

static room look_for_room(gx_spool_log *log, int64_t more) {
    gx_monitor_lock(&log->monitor);
    bool another = wants_another(log, more);
    int64_t takes = (int64_t)log->out.size + more + (another ? GX_SPOOL_SEGMENT_HEAD : 0);
    const gx_spool_segment *last = last_of(log);
    const room found = { .there = log->bytes + takes <= log->limit,
                         .another = another,
                         .idle = last && log->position >= log->next && last->size > GX_SPOOL_SEGMENT_HEAD,
                         .closed = last && last->fd < 0 };
    gx_monitor_unlock(&log->monitor);
    return found;
}

/* Where all is answered, the last segment need not stand in the way of a large record: another one is begun, and it can go. */
static int make_way(gx_spool_log *log, const room *found, gale_error *error) {
    int rc = found->idle && !log->out.size ? begin_segment(log, error) : 0;
    return rc < 0 ? rc : GALE_AGAIN;
}

static int make_ready(gx_spool_log *log, int64_t more, gale_error *error) {
    room found = look_for_room(log, more);
    log->full = false;
    if (!found.there) return make_way(log, &found, error);
    int rc = 0;
    if (found.another || log->out.size >= GX_SPOOL_BATCH) rc = gx_spool_log_write(log, error);
    if (rc == 0 && found.another) return begin_segment(log, error);
    if (rc == 0 && found.closed) rc = reopen_last(log, error);
    return rc;
}

int gx_spool_log_add(gx_spool_log *log, const void *body, size_t size, uint64_t *ret_number, gale_error *error) {
    char head[GX_SPOOL_HEAD];
    int64_t more = GX_SPOOL_HEAD + (int64_t)size;
    if (size > GX_SPOOL_BODY_MAX || more + 2 * GX_SPOOL_SEGMENT_HEAD > log->limit) return GALE_TOO_LARGE;
    int rc = make_ready(log, more, error);
    if (rc < 0) return rc;
    if (!gx_buf_reserve(&log->out, (size_t)more)) return no_memory(error);
    gx_spool_head_write(head, log->next, body, size);
    gx_buf_add(&log->out, head, sizeof head);
    gx_buf_add(&log->out, body, size);
    *ret_number = log->next++;
    return 0;
}

/* --- What the disk has ----------------------------------------------------------------------------------------------- */

enum { SYNCED_AT_ONCE = 8 };

typedef struct syncing {
    struct {
        uint64_t first;
        int64_t size;
        int fd;
        bool closes;
    } list[SYNCED_AT_ONCE];
    size_t count;
    uint64_t up_to;
    bool unnamed;
} syncing;

static bool needs_sync(const gx_spool_segment *s, bool is_last) {
    return s->fd >= 0 && (s->safe < s->size || !is_last);
}

/* In a durable run, what may be read is not what the disk has: there, each file that is open is asked. */
static void collect(gx_spool_log *log, syncing *s) {
    size_t i = 0;
    s->up_to = log->written;
    s->unnamed = log->unnamed;
    log->unnamed = false;
    for (; i < log->count; i++) {
        const gx_spool_segment *one = &log->segments[i];
        bool is_last = i + 1 == log->count;
        if (!needs_sync(one, is_last) && !(log->at_once && one->fd >= 0)) continue;
        if (s->count == SYNCED_AT_ONCE) break;
        s->list[s->count].first = one->first;
        s->list[s->count].size = one->size;
        s->list[s->count].fd = one->fd;
        s->list[s->count++].closes = !is_last;
    }
    if (i < log->count) s->up_to = log->segments[i].first;
}

static int sync_all(gx_spool_log *log, const syncing *s, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    int rc = 0;
    for (size_t i = 0; i < s->count && rc == 0; i++) {
        rc = gx_spool_log_name(log, s->list[i].first, name, error);
        if (rc == 0) rc = gx_file_sync_data(s->list[i].fd, name, error);
        if (rc == 0) rc = gx_fate_check(s->list[i].fd, name, s->list[i].size, error);
    }
    if (rc == 0 && s->unnamed) rc = gx_spool_log_mark_name(log, name, error);
    if (rc == 0 && s->unnamed) rc = gx_file_sync_name(name, error);
    return rc;
}

static void note_synced(gx_spool_log *log, const syncing *s) {
    for (size_t i = 0; i < s->count; i++) {
        size_t at = gx_spool_log_find(log, s->list[i].first);
        if (at == SIZE_MAX || log->segments[at].first != s->list[i].first) continue;
        if (log->segments[at].safe < s->list[i].size) log->segments[at].safe = s->list[i].size;
        if (!s->list[i].closes) continue;
        gx_file_close(log->segments[at].fd);
        log->segments[at].fd = -1;
    }
    if (log->safe < s->up_to) log->safe = s->up_to;
}

bool gx_spool_log_is_behind(const gx_spool_log *log) {
    bool behind = false;
    for (size_t i = 0; i < log->count && !behind; i++) behind = needs_sync(&log->segments[i], i + 1 == log->count);
    return behind;
}

/* They are in the last segments. */
int64_t gx_spool_log_unsafe(const gx_spool_log *log) {
    int64_t bytes = 0;
    for (size_t i = log->count; i > 0 && log->segments[i - 1].safe < log->segments[i - 1].size; i--)
        bytes += log->segments[i - 1].size - log->segments[i - 1].safe;
    return bytes;
}

int gx_spool_log_sync(gx_spool_log *log, gale_error *error) {
    bool more = true;
    int rc = 0;
    while (more && rc == 0) {
        syncing s = { .count = 0 };
        gx_monitor_lock(&log->monitor);
        collect(log, &s);
        gx_monitor_unlock(&log->monitor);
        rc = sync_all(log, &s, error);
        gx_monitor_lock(&log->monitor);
        if (rc == 0)
            note_synced(log, &s);
        else
            log->unnamed |= s.unnamed;
        more = s.count == SYNCED_AT_ONCE;
        gx_monitor_unlock(&log->monitor);
    }
    return rc;
}

/* --- Letting go ------------------------------------------------------------------------------------------------------ */

/* Nobody needs the first segment: all of its records are answered, another one is there, and the disk has it. */
bool gx_spool_log_can_forget(const gx_spool_log *log) {
    return log->count > 1 && log->segments[1].first <= log->position && log->segments[0].fd < 0;
}

bool gx_spool_log_answered(gx_spool_log *log, uint64_t position) {
    gx_monitor_lock(&log->monitor);
    bool first = log->position == log->marked && position > log->position;
    if (position > log->position) log->position = position;
    bool goes = first || gx_spool_log_can_forget(log);
    gx_monitor_unlock(&log->monitor);
    return goes;
}

static int put_mark(gx_spool_log *log, uint64_t position, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    if (position == log->marked) return 0;
    int rc = gx_spool_log_mark_name(log, name, error);
    if (rc == 0) rc = gx_spool_mark_put(&log->mark, name, position, error);
    if (rc < 0) return rc;
    gx_monitor_lock(&log->monitor);
    log->marked = position;
    gx_monitor_unlock(&log->monitor);
    return 0;
}

/* The first of them, if it can go now: 1. */
static int take_first(gx_spool_log *log, uint64_t *ret_first) {
    gx_monitor_lock(&log->monitor);
    bool goes = gx_spool_log_can_forget(log);
    if (goes) {
        *ret_first = log->segments[0].first;
        log->bytes -= log->segments[0].size;
        log->count--;
        memmove(log->segments, log->segments + 1, log->count * sizeof *log->segments);
    }
    gx_monitor_unlock(&log->monitor);
    return goes;
}

/* The position is written first: a segment that is not there, and should be, is known by that. */
int gx_spool_log_forget(gx_spool_log *log, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    uint64_t first;
    gx_monitor_lock(&log->monitor);
    uint64_t position = log->position;
    gx_monitor_unlock(&log->monitor);
    int rc = put_mark(log, position, error);
    while (rc == 0 && take_first(log, &first)) {
        rc = gx_spool_log_name(log, first, name, error);
        if (rc == 0) rc = gx_file_remove(name, error);
    }
    return rc;
}

uint64_t gx_spool_log_waiting(gx_spool_log *log) {
    gx_monitor_lock(&log->monitor);
    uint64_t waiting = log->written > log->position ? log->written - log->position : 0;
    gx_monitor_unlock(&log->monitor);
    return waiting;
}

int64_t gx_spool_log_bytes(gx_spool_log *log) {
    gx_monitor_lock(&log->monitor);
    int64_t bytes = log->bytes;
    gx_monitor_unlock(&log->monitor);
    return bytes;
}
