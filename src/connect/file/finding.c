#include "connect/file/finding.h"

#include "base/os/place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- Names -------------------------------------------------------------------------------------------------------- */

/* The live and the remembered ones, by the inode that they had before this look. */
typedef struct entry {
    uint64_t inode;
    gx_file_tail *tail;
} entry;

typedef struct known {
    entry *list;
    size_t count, room;
} known;

static int by_inode(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

static bool make_known(const gx_file_followed *f, known *ret_known) {
    *ret_known = (known){ .room = f->count };
    if (!f->count) return true;
    ret_known->list = gx_alloc_array(f->heap, GX_TAG_OTHER, f->count, sizeof(entry));
    if (!ret_known->list) return false;
    for (size_t i = 0; i < f->count; i++)
        if (f->list[i] && f->list[i]->inode)
            ret_known->list[ret_known->count++] = (entry){ f->list[i]->inode, f->list[i] };
    qsort(ret_known->list, ret_known->count, sizeof(entry), by_inode);
    return true;
}

static void free_known(const gx_file_followed *f, const known *known_) {
    gx_free(f->heap, GX_TAG_OTHER, known_->list, known_->room * sizeof(entry));
}

static gx_file_tail *find(const known *known_, uint64_t inode) {
    entry wanted = { .inode = inode };
    if (!known_->count) return NULL;
    const entry *found = bsearch(&wanted, known_->list, known_->count, sizeof(entry), by_inode);
    return found && found->tail->inode ? found->tail : NULL;
}

/* Is what has the inode of a file that is over that one still? Inodes are used again, perhaps with the same few bytes. */
static bool is_over(const gx_file_tail *tail, const gx_file_found *found) {
    if (!tail->place || found->about.size < tail->place || !gx_file_tail_may_be_at(tail, found->path)) return false;
    bool unchanged = found->about.size == tail->size && found->about.modified == tail->modified;
    if (!unchanged && tail->place < GX_PLACE_SAMPLE && !gx_file_tail_is_born_at(tail, found->path)) return false;
    return gx_file_tail_is_at(tail, found->path, NULL) != 0; /* one that cannot be opened now is reported later */
}

/* A file has the inode of a known one: is it that one? 1; 0: it is another; 2: it was, and begins again. */
static int recognise(gx_file_followed *f, gx_file_tail *tail, const gx_file_found *found, gale_error *error) {
    bool sure = !tail->unsure && found->about.modified == tail->modified && found->about.size >= tail->place;
    if (tail->life == GX_FILE_OVER) return is_over(tail, found);
    if (gx_file_tail_is_open(tail) || tail->others) return 1;
    if (tail->freed || !gx_file_tail_may_be_at(tail, found->path)) return 0;
    tail->unsure = false;
    if (sure) return 1;
    if (found->about.size < tail->place) {
        if (tail->life != GX_FILE_NAMED) return 0;
        int rc = gx_file_tails_truncated(f, tail, found->about.size, found->path, error);
        return rc < 0 ? rc : 2;
    }
    int rc = gx_file_tail_is_at(tail, found->path, NULL);
    return rc < 0 ? 1 : rc; /* who cannot open it now will say so later */
}

static int note_known(gx_file_followed *f, gx_file_tail *tail, const gx_file_found *found, gale_error *error) {
    int rc = recognise(f, tail, found, error);
    if (rc < 0 || rc == 2) return rc;
    if (rc == 0) {
        if (tail->life != GX_FILE_OVER) gx_file_tails_tell_other(f, tail);
        gx_file_tails_lose(f, tail);
        return 0;
    }
    tail->seen = true;
    gx_file_tails_revive(f, tail);
    if (found->about.size != tail->size || found->about.modified != tail->modified) tail->news = !tail->others;
    if (tail->others) tail->modified = found->about.modified;
    tail->life = GX_FILE_NAMED;
    tail->behind = tail->last_look = tail->succeeded = false;
    if (gx_file_tail_is_open(tail)) tail->reader.growing = true;
    return gx_file_tail_rename(tail, found->path, found->real) ? 1 : gx_file_tails_no_memory(f, error);
}

/* Another inode with what a file that is gone held, as a copy of it has on another disk. What is shorter than a sample might
 * be the same by chance. */
static gx_file_tail *find_copied(const gx_file_followed *f, const gx_file_found *found) {
    for (size_t i = 0; i < f->count; i++) {
        gx_file_tail *tail = f->list[i];
        if (!tail || !tail->unsure || tail->others || tail->seen || tail->life != GX_FILE_NAMED ||
            tail->place < GX_PLACE_SAMPLE)
            continue;
        if (strcmp(tail->now, found->path) == 0 && found->about.size >= tail->place &&
            gx_file_tail_is_at(tail, found->path, NULL) == 1)
            return tail;
    }
    return NULL;
}

static int pass_over(gx_file_followed *f, gx_file_tail *tail, gale_error *error) {
    gx_file_about about;
    int rc = gx_file_tails_open(f, tail, error);
    if (rc <= 0) return rc;
    rc = gx_file_about_open(tail->reader.fd, tail->name, &about, error);
    int64_t end = rc < 0 ? rc : gx_file_last_line(tail->reader.fd, about.size, tail->name, error);
    if (end < 0) return (int)end;
    gale_str line;
    if (!f->options.numbered) gx_file_reader_seek(&tail->reader, end, 0);
    while (gx_file_reader_next_at(&tail->reader) < end) {
        rc = gx_file_reader_next(&tail->reader, &line, error);
        if (rc == GALE_UNSUPPORTED) return 0; /* who reads on says so */
        if (rc <= 0 && rc != GALE_AGAIN) return rc;
    }
    return 0;
}

static int note_new(gx_file_followed *f, const gx_file_found *found, gale_error *error) {
    gx_file_tail *copied = f->begun ? NULL : find_copied(f, found);
    if (copied && gx_file_tails_mine(f, found->about.inode)) {
        GX_FILE_SAY(f, INFO, "%s: was moved or copied since; is gone on with behind byte %" PRId64, copied->name,
                    copied->place);
        copied->inode = found->about.inode;
        copied->born = 0;
        copied->unsure = false;
        copied->seen = copied->news = true;
        return 0;
    }
    if (copied)
        return gale_error_set(error, GALE_INVALID,
                              "%s: is a copy of the file that was read: with several tasks that is "
                              "not gone on with; begin anew with another state",
                              found->path);
    gx_file_tail *tail = gx_file_tails_new(f, found->path, found->real, found->about.inode);
    if (!tail) return gx_file_tails_no_memory(f, error);
    tail->seen = true;
    tail->others = !gx_file_tails_mine(f, tail->inode);
    tail->news = !tail->others;
    tail->modified = found->about.modified;
    return !tail->others && !f->begun && !f->resumed && f->options.from_end ? pass_over(f, tail, error) : 0;
}

static int note_all(gx_file_followed *f, const gx_file_list *found, gale_error *error) {
    known known_;
    int rc = make_known(f, &known_) ? 0 : gx_file_tails_no_memory(f, error);
    for (size_t i = 0; rc >= 0 && i < found->count; i++) {
        gx_file_tail *tail = find(&known_, found->items[i].about.inode);
        rc = tail ? note_known(f, tail, &found->items[i], error) : 0;
        if (rc == 0) rc = note_new(f, &found->items[i], error);
    }
    free_known(f, &known_);
    return rc < 0 ? rc : 0;
}

static bool is_taken(const gx_file_list *found, const gx_file_tail *tail) {
    for (size_t i = 0; i < found->count; i++)
        if (found->items[i].about.inode != tail->inode && strcmp(found->items[i].path, tail->now) == 0) return true;
    return false;
}

static void part_one(gx_file_followed *f, gx_file_tail *tail) {
    tail->life = GX_FILE_PARTED;
    tail->behind = tail->news = !tail->others;
    tail->asks = true;
    tail->order = ++f->orders;
    tail->quiet = gale_context_now(f->context);
    if (gx_file_tail_is_open(tail)) (void)gx_file_tail_look(tail, NULL);
}

/* Those that have no name any more that is meant. */
static void part(gx_file_followed *f, const gx_file_list *found) {
    for (size_t i = 0; i < f->count; i++) {
        gx_file_tail *tail = f->list[i];
        if (!tail || tail->life == GX_FILE_OVER || tail->seen) continue;
        if (tail->life == GX_FILE_NAMED) part_one(f, tail);
        tail->succeeded |= is_taken(found, tail);
    }
}

/* --- What came and went between two looks --------------------------------------------------------------------------- */

/* Is it what a file that is known held, in another one? Less than a sample may be the same by chance: the same heading. */
static bool is_copy(gx_file_tail *tail, const char *path) {
    uint64_t content;
    int64_t place = gx_file_tail_place(tail);
    if (place < GX_PLACE_SAMPLE || gx_file_tail_content(tail, place, &content, NULL) < 0 || tail->hashed != place)
        return false;
    gx_file_tail like = { .name = tail->name, .place = place, .hashed = place, .content = content };
    return gx_file_tail_is_at(&like, path, NULL) == 1;
}

/* Has it been read, or is it being read? */
static bool was_known(gx_file_followed *f, gx_file_tail *tail, const gx_file_found *found) {
    if (!tail) return false;
    if (gx_file_tail_is_open(tail) || tail->others) return true;
    if (tail->life != GX_FILE_OVER)
        return !tail->freed && gx_file_tail_may_be_at(tail, found->path) && found->about.size >= tail->place &&
               gx_file_tail_is_at(tail, found->path, NULL) != 0;
    if (is_over(tail, found)) return true;
    gx_file_tails_lose(f, tail);
    return false;
}

/* Files that had the name of one that parted, and were rotated away before they were seen. They are read behind it. */
static int find_missed_of(gx_file_followed *f, gx_file_tail *parted, gale_error *error) {
    gx_file_list found;
    known known_;
    int rc = gx_file_names_rotated(&f->names, parted->real, parted->modified, &found, error);
    if (rc < 0) return rc;
    if (!make_known(f, &known_)) rc = gx_file_tails_no_memory(f, error);
    for (size_t i = 0; rc == 0 && i < found.count; i++) {
        const gx_file_found *one = &found.items[i];
        if (!gx_file_tails_mine(f, one->about.inode) || was_known(f, find(&known_, one->about.inode), one)) continue;
        if (is_copy(parted, one->path)) continue;
        gx_file_tail *tail = gx_file_tails_new(f, parted->now, one->path, one->about.inode);
        if (!tail) rc = gx_file_tails_no_memory(f, error);
        if (!tail) break;
        tail->life = GX_FILE_PARTED;
        tail->behind = tail->succeeded = true;
        tail->order = ++f->orders;
        GX_FILE_SAY(f, INFO, "%s: was rotated more than once since the last look; '%s' is read, too", parted->now,
                    one->path);
    }
    free_known(f, &known_);
    gx_file_list_fini(&found);
    return rc;
}

static int find_missed(gx_file_followed *f, gale_error *error) {
    int rc = 0;
    for (size_t i = 0, count = f->count; rc == 0 && i < count; i++) {
        gx_file_tail *tail = f->list[i];
        if (!tail || tail->life != GX_FILE_PARTED || !tail->asks) continue;
        tail->asks = !tail->succeeded;
        rc = find_missed_of(f, tail, error);
        if (tail->others && !tail->asks) gx_file_tails_lose(f, tail);
    }
    return rc;
}

/* --- Looking ------------------------------------------------------------------------------------------------------ */

static int find_real(void *user, const char *path, char ret_real[GX_FILE_NAME_SIZE]) {
    return gx_file_way_to(user, path, ret_real);
}

/* What is on the way is watched before it is looked at. */
static int find_names(gx_file_followed *f, gx_file_list *ret_found, gale_error *error) {
    if (gx_file_way_begin(&f->way) < 0) return gx_file_tails_no_memory(f, error);
    int rc = gx_file_names_find(&f->names, find_real, &f->way, ret_found, error);
    gx_file_way_end(&f->way);
    if (rc < 0 || f->watch.fd < 0) return rc;
    if (!f->way.reaches)
        gx_file_tails_look_often(f, "the file system does not tell of what other machines write");
    else if (!f->way.complete)
        gx_file_tails_look_often(f, f->way.why.text);
    f->reaches &= f->way.reaches;
    return rc;
}

int gx_file_finding_look(gx_file_followed *f, gale_error *error) {
    gx_file_list found;
    for (size_t i = 0; i < f->count; i++)
        if (f->list[i]) f->list[i]->seen = false;
    int rc = find_names(f, &found, error);
    if (rc < 0) return rc;
    rc = note_all(f, &found, error);
    if (rc == 0) part(f, &found);
    if (rc == 0) rc = find_missed(f, error);
    if (rc == 0) f->look = false;
    gx_file_list_fini(&found);
    return rc;
}
