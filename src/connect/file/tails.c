#include "connect/file/tails.h"

#include "base/hash.h"
#include "base/os/place.h"

#include <inttypes.h>
#include <string.h>

enum { OVERS_KEPT = 8 }; /* of a name */

static const int64_t look_pause = GALE_SECOND;

int gx_file_tails_no_memory(const gx_file_followed *f, gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", f->names.path);
}

static int64_t now_of(const gx_file_followed *f) {
    return gale_context_now(f->context);
}

bool gx_file_tails_mine(const gx_file_followed *f, uint64_t inode) {
    uint32_t tasks = f->context->task_count;
    return tasks <= 1 || gx_hash_below(gx_hash_mix(0, inode), tasks) == f->context->task_index;
}

/* --- The set ------------------------------------------------------------------------------------------------------ */

bool gx_file_tails_add(gx_file_followed *f, gx_file_tail *tail) {
    size_t id = 0;
    while (id < f->count && f->list[id]) id++;
    if (id == f->count) {
        if (!gx_grow(f->heap, GX_TAG_OTHER, (void **)&f->list, &f->capacity, f->count + 1, sizeof(gx_file_tail *)))
            return false;
        f->count++;
    }
    f->list[id] = tail;
    tail->id = (uint32_t)id;
    tail->quiet = now_of(f);
    return true;
}

gx_file_tail *gx_file_tails_new(gx_file_followed *f, const char *path, const char *real, uint64_t inode) {
    gx_file_tail *tail = gx_file_tail_new(f->heap, path, path, real, &f->options.rule);
    if (!tail) return NULL;
    tail->inode = inode;
    tail->news = true;
    if (gx_file_tails_add(f, tail)) return tail;
    gx_file_tail_free(tail);
    return NULL;
}

static void close_tail(gx_file_followed *f, gx_file_tail *tail) {
    if (!gx_file_tail_is_open(tail)) return;
    if (f->current == tail) f->current = NULL;
    gx_file_tail_close(tail);
    f->open--;
}

static void unwatch(gx_file_followed *f, gx_file_tail *tail) {
    gx_watch_forget(&f->watch, tail->watch);
    tail->watch = -1;
}

void gx_file_tails_end(gx_file_followed *f, gx_file_tail *tail) {
    unwatch(f, tail);
    tail->life = GX_FILE_OVER;
    f->overs++;
    tail->news = tail->behind = false;
    close_tail(f, tail);
}

void gx_file_tails_lose(gx_file_followed *f, gx_file_tail *tail) {
    gx_file_tails_end(f, tail);
    tail->inode = 0;
}

void gx_file_tails_revive(gx_file_followed *f, gx_file_tail *tail) {
    if (tail->life != GX_FILE_OVER) return;
    tail->life = GX_FILE_NAMED;
    tail->ended = true;
    tail->news = !tail->others;
    tail->quiet = now_of(f);
}

static bool has_successor(const gx_file_followed *f, const gx_file_tail *over) {
    for (size_t i = 0; i < f->count; i++) {
        const gx_file_tail *one = f->list[i];
        if (one && one != over && one->life != GX_FILE_OVER && strcmp(one->now, over->now) == 0) return true;
    }
    return false;
}

/* How many of its name parted later, and are over? */
static int count_later(const gx_file_followed *f, const gx_file_tail *over) {
    int count = 0;
    for (size_t i = 0; i < f->count; i++) {
        const gx_file_tail *one = f->list[i];
        if (!one || one == over || one->life != GX_FILE_OVER || !one->inode) continue;
        count += one->order > over->order && strcmp(one->now, over->now) == 0;
    }
    return count;
}

void gx_file_tails_forget(gx_file_followed *f, const uint8_t *used, size_t count) {
    f->overs = 0;
    for (size_t i = 0; i < f->count; i++) {
        gx_file_tail *tail = f->list[i];
        if (!tail || tail->life != GX_FILE_OVER || (i < count && used[i])) continue;
        if (tail->inode && has_successor(f, tail) && count_later(f, tail) < OVERS_KEPT) continue;
        gx_file_tail_free(tail);
        f->list[i] = NULL;
    }
    while (f->count && !f->list[f->count - 1]) f->count--;
    if (f->next > f->count) f->next = 0;
}

void gx_file_tails_look_often(gx_file_followed *f, const char *why) {
    if (f->look_at == INT64_MAX) f->look_at = now_of(f) + look_pause;
    if (!f->told_polls) GX_FILE_SAY(f, WARN, "%s; '%s' is looked at once a second instead", why, f->names.path);
    f->told_polls = true;
}

static void watch_tail(gx_file_followed *f, gx_file_tail *tail) {
    gale_error error = GALE_ERROR_INIT;
    if (f->watch.fd < 0 || tail->watch >= 0) return;
    tail->watch = gx_watch_file(&f->watch, tail->reader.fd, tail->name, &error);
    if (tail->watch >= 0) return;
    tail->watch = -1;
    f->reaches = false;
    gx_file_tails_look_often(f, error.text);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

/* One that parted, has nobody in its place, and is quiet: whoever wrote it has let go of it as far as can be known. */
static bool end_parted(gx_file_followed *f) {
    for (size_t i = 0; i < f->count; i++) {
        gx_file_tail *one = f->list[i];
        bool quiet = one && one->life == GX_FILE_PARTED && gx_file_tail_is_open(one) && !one->news &&
                     now_of(f) - one->quiet >= f->options.rotate_wait;
        if (!quiet) continue;
        gx_file_tails_end(f, one);
        return true;
    }
    return false;
}

/* Closes the one that was read longest ago; those that have parted could not be found again. */
static bool close_another(gx_file_followed *f) {
    gx_file_tail *idle = NULL;
    for (size_t i = 0; i < f->count; i++) {
        gx_file_tail *one = f->list[i];
        if (!one || !gx_file_tail_is_open(one) || one->life != GX_FILE_NAMED) continue;
        bool better = !idle || (one->news != idle->news ? !one->news : one->turn < idle->turn);
        if (better) idle = one;
    }
    if (idle) close_tail(f, idle);
    return idle || end_parted(f);
}

static bool make_room(gx_file_followed *f) {
    if (f->open < f->options.max_open) return true;
    if (!f->told_full)
        GX_FILE_SAY(f, INFO, "%s: %u files are open at once (maxOpen); those that are quiet are closed meanwhile",
                    f->names.path, f->open);
    f->told_full = true;
    return close_another(f);
}

/* Under whatever name it has: which may change again between looking and opening, and a folder that is changed while it is read
 * may not show it. */
static int open_beside(gx_file_tail *tail, gale_error *error) {
    enum { TRIES = 20, ABSENT = 3 };
    char name[GX_FILE_NAME_SIZE];
    for (int tries = 0, absent = 0; tries < TRIES && absent < ABSENT; tries++) {
        bool found = gx_place_beside(tail->real, tail->inode, name) > 0;
        int rc = found ? gx_file_tail_open(tail, name, error) : GALE_NOT_FOUND;
        if (rc != GALE_NOT_FOUND) return rc;
        absent += !found;
    }
    return GALE_NOT_FOUND;
}

void gx_file_tails_tell_gone(const gx_file_followed *f, const gx_file_tail *tail) {
    int64_t left = tail->size > tail->place ? tail->size - tail->place : 0;
    if (tail->place > 0 || left > 0)
        GX_FILE_SAY(f, WARN,
                    "%s: the file that was read to byte %" PRId64 " is gone; of what was known of it %" PRId64
                    " bytes were not read",
                    tail->name, tail->place, left);
}

void gx_file_tails_tell_other(const gx_file_followed *f, const gx_file_tail *tail) {
    int64_t left = tail->size > tail->place ? tail->size - tail->place : 0;
    GX_FILE_SAY(f, WARN,
                "%s: the saved position, byte %" PRId64
                ", belongs to another file than the one that has its inode %" PRIu64
                " now: the new one is read from its beginning; of what was known of the old one %" PRId64
                " bytes were not read",
                tail->name, tail->place, tail->inode, left);
}

/* Of what has begun nothing may be missing; what cannot be opened at all is told of, once. */
static int give_up(gx_file_followed *f, gx_file_tail *tail, int rc, const gale_error *why, gale_error *error) {
    if (rc == GALE_NOT_FOUND) {
        gx_file_tails_tell_gone(f, tail);
        f->look = true;
    } else if (tail->place > 0) {
        return gale_error_set(error, rc, "%s", why->text);
    } else {
        if (f->refused != tail->inode) GX_FILE_SAY(f, WARN, "%s", why->text);
        f->refused = tail->inode;
    }
    gx_file_tails_lose(f, tail);
    return 0;
}

int gx_file_tails_open(gx_file_followed *f, gx_file_tail *tail, gale_error *error) {
    gale_error why = GALE_ERROR_INIT;
    if (gx_file_tail_is_open(tail)) return 1;
    if (!make_room(f)) return 0;
    int rc = gx_file_tail_open(tail, tail->now, &why);
    if (rc == GALE_NOT_FOUND) rc = gx_file_tail_open(tail, tail->real, &why);
    if (rc == GALE_NOT_FOUND) rc = open_beside(tail, &why);
    if (rc == GALE_TOO_LARGE && close_another(f)) rc = gx_file_tail_open(tail, tail->now, &why);
    if (rc == GALE_NO_MEMORY) return gx_file_tails_no_memory(f, error);
    if (rc == GALE_TOO_LARGE) gx_file_tails_look_often(f, "no descriptor is left to open a file with");
    if (rc == GALE_TOO_LARGE) return 0;
    if (rc < 0) return give_up(f, tail, rc, &why, error);
    f->open++;
    watch_tail(f, tail);
    return 1;
}

/* From its beginning: the lines that are on their way keep the old one. */
static int begin_again(gx_file_followed *f, gx_file_tail *tail, const char *path, gale_error *error) {
    uint64_t inode = tail->inode;
    bool open = gx_file_tail_is_open(tail);
    gx_file_reader reader = tail->reader;
    gx_file_tail *made = gx_file_tails_new(f, path, tail->real, inode);
    if (!made) return gx_file_tails_no_memory(f, error);
    made->seen = true;
    if (f->current == tail) f->current = NULL;
    if (open) {
        made->born = tail->born;
        made->reader = reader;
        made->reader.path = made->name;
        made->watch = tail->watch;
        made->life = tail->life;
        gx_file_reader_rewind(&made->reader);
        made->reader.in_hole = true;
        tail->reader = (gx_file_reader){ .fd = -1 };
        tail->watch = -1;
    }
    tail->place = 0;
    gx_file_tails_lose(f, tail);
    return 0;
}

int gx_file_tails_truncated(gx_file_followed *f, gx_file_tail *tail, int64_t size, const char *path,
                            gale_error *error) {
    GX_FILE_SAY(f, WARN,
                "%s: was truncated to %" PRId64 " bytes, behind byte %" PRId64 ": is read from its beginning; what was "
                "written between the last look and then is not known",
                tail->name, size, gx_file_tail_place(tail));
    return begin_again(f, tail, path, error);
}

int gx_file_tails_changed(gx_file_followed *f, gx_file_tail *tail, gale_error *error) {
    int rc = gx_file_tail_look(tail, error);
    if (rc < 0) return rc;
    if (tail->size < tail->reader.offset) return gx_file_tails_truncated(f, tail, tail->size, tail->now, error);
    GX_FILE_SAY(
        f, WARN,
        "%s: was cut and written again, or replaced in place: what lies before byte %" PRId64
        " is not what was read. It is read from its beginning; what was written between the last look and then is "
        "not known",
        tail->name, gx_file_tail_place(tail));
    return begin_again(f, tail, tail->now, error);
}
