#include "connect/file/followed.h"

#include "connect/file/finding.h"

#include <inttypes.h>
#include <string.h>

static const int64_t look_pause = GALE_SECOND;

static int64_t now_of(const gx_file_followed *f) {
    return gale_context_now(f->context);
}

/* --- Notices ------------------------------------------------------------------------------------------------------ */

static void expect_all(gx_file_followed *f) {
    f->look = true;
    for (size_t i = 0; i < f->count; i++)
        if (f->list[i] && f->list[i]->life != GX_FILE_OVER) f->list[i]->news = !f->list[i]->others;
}

static void take_notice(void *user, int id, gx_watch_what what, const char *name) {
    gx_file_followed *f = user;
    if (what == GX_WATCH_LOST) {
        expect_all(f);
    } else if (!gx_file_way_notice(&f->way, id, what, name, &f->look)) {
        for (size_t i = 0; i < f->count; i++) {
            gx_file_tail *tail = f->list[i];
            if (!tail || tail->watch != id) continue;
            if (what == GX_WATCH_ENDED) tail->watch = -1, tail->freed = !gx_file_tail_is_open(tail);
            if (tail->life != GX_FILE_OVER) tail->news = true;
            return;
        }
    }
}

/* --- Whose turn it is --------------------------------------------------------------------------------------------- */

/* First those whose successors wait for them, in their order; then one after the other. */
static gx_file_tail *pick(gx_file_followed *f) {
    gx_file_tail *first = NULL;
    for (size_t i = 0; i < f->count; i++) {
        gx_file_tail *one = f->list[i];
        if (one && one->news && one->behind && one->blocked != f->choices && (!first || one->order < first->order))
            first = one;
    }
    for (size_t i = 0; !first && i < f->count; i++) {
        gx_file_tail *one = f->list[(f->next + i) % f->count];
        if (one && one->news && one->blocked != f->choices) first = one;
    }
    if (first) f->next = first->id + 1;
    return first;
}

/* Those that have parted, and of which nothing more comes, are looked at once more. */
static int64_t expire(gx_file_followed *f) {
    int64_t until = INT64_MAX, now = now_of(f);
    for (size_t i = 0; i < f->count; i++) {
        gx_file_tail *one = f->list[i];
        if (!one || one->life != GX_FILE_PARTED || one->others || one->news || !(one->succeeded || one->removed))
            continue;
        int64_t due = one->quiet + f->options.rotate_wait;
        if (due > now) {
            if (due < until) until = due;
            continue;
        }
        one->last_look = one->news = true;
        if (gx_file_tail_is_open(one)) one->reader.growing = false;
    }
    return until;
}

static void take_notices(gx_file_followed *f) {
    gx_watch_take(&f->watch, take_notice, f);
    if (f->look_at > now_of(f)) return;
    expect_all(f);
    bool told = f->reaches && f->way.complete;
    f->look_at = told ? INT64_MAX : now_of(f) + look_pause;
}

/* Sets `current`, if somebody has news. */
static int choose(gx_file_followed *f, int64_t *ret_until, gale_error *error) {
    gx_file_tail *tail;
    f->choices++;
    for (;;) {
        take_notices(f);
        if (f->look) {
            int rc = gx_file_finding_look(f, error);
            if (rc < 0) return rc;
        }
        *ret_until = expire(f);
        if (f->look_at < *ret_until) *ret_until = f->look_at;
        tail = pick(f);
        if (!tail) return 0;
        int rc = gx_file_tails_open(f, tail, error);
        if (rc < 0) return rc;
        if (rc > 0) break;
        tail->blocked = f->choices;
        if (f->look_at == INT64_MAX) f->look_at = now_of(f) + look_pause;
    }
    if (tail->last_look) tail->reader.growing = false;
    f->current = tail;
    f->left = GX_FILE_TURN;
    tail->turn = ++f->turns;
    return 0;
}

/* All that is there was read. */
static int settle(gx_file_followed *f, gx_file_tail *tail, gale_error *error) {
    int64_t had = tail->size;
    int rc = gx_file_tail_look(tail, error);
    if (rc < 0) return rc;
    if (tail->size < had && tail->size >= tail->reader.offset)
        GX_FILE_SAY(f, WARN, "%s: was cut to %" PRId64 " bytes, of %" PRId64 ": the rest had not been read", tail->name,
                    tail->size, had);
    if (tail->size < tail->reader.offset) return gx_file_tails_truncated(f, tail, tail->size, tail->now, error);
    if (tail->reader.offset != tail->read_to) tail->quiet = now_of(f);
    tail->read_to = tail->reader.offset;
    tail->news = tail->behind = false;
    if (tail->last_look && tail->removed)
        gx_file_tails_lose(f, tail); /* no name will lead to it again, and its inode may be another's from here on */
    else if (tail->last_look)
        gx_file_tails_end(f, tail);
    return 0;
}

/* One file that is packed does not keep the others from being read: it is passed over, whatever comes behind it. */
static int pass_foreign(const gx_file_followed *f, gx_file_tail *tail, const gale_error *why, gale_error *error) {
    if (!tail->foreign) GX_FILE_SAY(f, WARN, "%s; it is not read", why->text);
    tail->foreign = true;
    int rc = gx_file_tail_look(tail, error);
    if (rc == 0) gx_file_reader_seek(&tail->reader, tail->size, 0);
    return rc;
}

static int next_line(const gx_file_followed *f, gx_file_tail *tail, gale_str *ret_line, gale_error *error) {
    gale_error why = GALE_ERROR_INIT;
    if (GX_UNLIKELY(tail->foreign)) return pass_foreign(f, tail, &why, error);
    int rc = gx_file_reader_next(&tail->reader, ret_line, &why);
    if (GX_UNLIKELY(rc == GALE_UNSUPPORTED)) return pass_foreign(f, tail, &why, error);
    if (rc < 0 && error) *error = why;
    return rc;
}

int gx_file_followed_next(gx_file_followed *f, gx_file_tail **ret_tail, gale_str *ret_line, int64_t *ret_until,
                          gale_error *error) {
    int rc = gx_file_followed_begin(f, error);
    while (rc == 0) {
        gx_file_tail *tail = f->current;
        if (tail && f->left) {
            rc = next_line(f, tail, ret_line, error);
            f->left -= rc > 0;
            *ret_tail = tail;
            if (rc == 0)
                rc = settle(f, tail, error);
            else if (rc == GALE_DAMAGED)
                rc = gx_file_tails_changed(f, tail, error);
            else
                return rc;
        }
        f->current = NULL;
        if (rc == 0) rc = choose(f, ret_until, error);
        if (rc == 0 && !f->current) return 0;
    }
    return rc;
}

/* --- Beginning and end -------------------------------------------------------------------------------------------- */

int gx_file_followed_begin(gx_file_followed *f, gale_error *error) {
    if (f->begun) return 0;
    int rc = gx_file_finding_look(f, error);
    f->begun = rc == 0;
    if (f->begun && !f->count)
        GX_FILE_SAY(f, INFO, "%s: %s", f->names.path,
                    f->names.is_pattern ? "no file has such a name yet; waits for one"
                                        : "is not there yet; waits for it");
    return rc;
}

static int check_path(const gx_file_followed *f, gale_error *error) {
    gx_file_about about;
    if (strcmp(f->names.path, "-") == 0)
        return gale_error_set(error, GALE_INVALID, "the standard input is read as it comes; leave `follow` out");
    if (!f->names.is_pattern && gx_file_about_path(f->names.path, &about, NULL) == GALE_OK && !about.regular)
        return gale_error_set(error, GALE_INVALID, "%s: only regular files can be followed", f->names.path);
    int rc = gx_file_about_path(f->names.folder, &about, error);
    return rc != GALE_NOT_FOUND ? rc
                                : gale_error_set(error, GALE_IO, "%s: there is no folder '%s' to wait for files in",
                                                 f->names.path, f->names.folder);
}

int gx_file_followed_init(gx_file_followed *f, gx_heap *heap, const char *path, const gale_context *context,
                          gx_file_follow_options options, gale_error *error) {
    gale_error why = GALE_ERROR_INIT;
    *f = (gx_file_followed){ .heap = heap, .context = context, .options = options, .watch = { -1 } };
    f->told = (gx_file_told){ .context = context };
    f->options.rule.tell = gx_file_told_tell;
    f->options.rule.user = &f->told;
    f->look_at = INT64_MAX;
    int rc = gx_file_names_init(&f->names, heap, path, error);
    if (rc == 0) rc = check_path(f, error);
    if (rc < 0) return rc;
    gx_file_way_init(&f->way, heap, &f->watch, &f->names);
    f->reaches = gx_watch_reaches(f->names.folder);
    if (!f->reaches) gx_file_tails_look_often(f, "the file system does not tell of what other machines write");
    if (gx_watch_open(&f->watch, &why) == 0) return 0;
    f->reaches = false;
    gx_file_tails_look_often(f, why.text);
    return 0;
}

void gx_file_followed_fini(gx_file_followed *f) {
    if (!f->heap) return;
    for (size_t i = 0; i < f->count; i++) gx_file_tail_free(f->list[i]);
    gx_free(f->heap, GX_TAG_OTHER, f->list, f->capacity * sizeof(gx_file_tail *));
    gx_file_way_fini(&f->way);
    gx_file_names_fini(&f->names);
    gx_watch_close(&f->watch);
    f->heap = NULL;
}
