#include "connect/file/tail.h"

#include "base/os/place.h"

#include <errno.h>
#include <string.h>

gx_file_tail *gx_file_tail_new(gx_heap *heap, const char *name, const char *now, const char *real,
                               const gx_file_rule *rule) {
    gx_file_tail *tail = gx_alloc(heap, GX_TAG_OTHER, sizeof *tail);
    if (!tail) return NULL;
    tail->heap = heap;
    tail->rule = rule;
    tail->reader.fd = tail->watch = -1;
    tail->hashed = -1;
    tail->name = gx_file_text_copy(heap, name, strlen(name));
    tail->now = gx_file_text_copy(heap, now, strlen(now));
    tail->real = gx_file_text_copy(heap, real, strlen(real));
    if (tail->name && tail->now && tail->real) return tail;
    gx_file_tail_free(tail);
    return NULL;
}

void gx_file_tail_free(gx_file_tail *tail) {
    if (!tail) return;
    gx_file_reader_close(&tail->reader);
    gx_file_text_free(tail->heap, tail->name);
    gx_file_text_free(tail->heap, tail->now);
    gx_file_text_free(tail->heap, tail->real);
    gx_free(tail->heap, GX_TAG_OTHER, tail, sizeof *tail);
}

static bool replace(gx_heap *heap, char **text, const char *now) {
    if (strcmp(*text, now) == 0) return true;
    char *copy = gx_file_text_copy(heap, now, strlen(now));
    if (!copy) return false;
    gx_file_text_free(heap, *text);
    *text = copy;
    return true;
}

bool gx_file_tail_rename(gx_file_tail *tail, const char *now, const char *real) {
    return replace(tail->heap, &tail->now, now) && replace(tail->heap, &tail->real, real);
}

/* --- Is it the file? ---------------------------------------------------------------------------------------------- */

/* 1, 0, or GALE_IO. Where nothing was read, any is. */
static int holds(const gx_file_tail *tail, int fd, const char *path, gale_error *error) {
    uint64_t content = 0;
    if (tail->place == 0 || tail->hashed != tail->place) return 1;
    int rc = gx_place_content(fd, tail->place, path, &content, error);
    return rc < 0 ? rc : content == tail->content;
}

static bool may_be(const gx_file_tail *tail, int64_t born) {
    return !born || !tail->born || born == tail->born;
}

bool gx_file_tail_may_be_at(const gx_file_tail *tail, const char *path) {
    return may_be(tail, gx_file_born(-1, path));
}

bool gx_file_tail_is_born_at(const gx_file_tail *tail, const char *path) {
    return tail->born && gx_file_born(-1, path) == tail->born;
}

int gx_file_tail_is_at(const gx_file_tail *tail, const char *path, gale_error *error) {
    int fd, rc = gx_file_open(path, &fd, NULL, error);
    if (rc < 0) return rc;
    rc = holds(tail, fd, path, error);
    gx_file_close(fd);
    return rc;
}

static int check(gx_file_tail *tail, const gx_file_reader *reader, gale_error *error) {
    gx_file_about about;
    int64_t born = gx_file_born(reader->fd, NULL);
    int rc = gx_file_about_open(reader->fd, tail->name, &about, error);
    if (rc < 0) return rc;
    if (!about.regular || about.inode != tail->inode || !may_be(tail, born)) return GALE_NOT_FOUND;
    tail->born = born;
    rc = holds(tail, reader->fd, tail->name, error);
    return rc == 0 ? GALE_NOT_FOUND : rc < 0 ? rc : GALE_OK;
}

int gx_file_tail_open(gx_file_tail *tail, const char *path, gale_error *error) {
    gx_file_reader reader;
    int rc = gx_file_reader_open(&reader, tail->heap, path, tail->rule, error);
    if (rc < 0) {
        int why = errno;
        if (why != ENOENT && why != EMFILE && why != ENFILE) return rc;
        if (error) error->length = 0, error->text[0] = 0, error->code = 0;
        return why == ENOENT ? GALE_NOT_FOUND : GALE_TOO_LARGE;
    }
    rc = check(tail, &reader, error);
    if (rc == GALE_OK && tail->ended) rc = gx_file_reader_behind_end(&reader, &tail->place, error);
    if (rc < 0) {
        gx_file_reader_close(&reader);
        return rc;
    }
    reader.path = tail->name;
    reader.growing = true;
    reader.seen = 0; /* what is cut is read from its beginning, not refused */
    gx_file_reader_seek(&reader, tail->place, tail->number);
    reader.in_hole = tail->place == 0; /* a file that was cut under its writer begins with NULs */
    tail->reader = reader;
    tail->ended = false;
    tail->read_to = tail->place;
    return gx_file_tail_look(tail, error);
}

/* --- While it is open --------------------------------------------------------------------------------------------- */

int gx_file_tail_look(gx_file_tail *tail, gale_error *error) {
    gx_file_about about;
    int rc = gx_file_about_open(tail->reader.fd, tail->name, &about, error);
    if (rc < 0) return rc;
    tail->device = about.device;
    tail->size = about.size;
    tail->modified = about.modified;
    tail->removed = about.names == 0;
    return GALE_OK;
}

int gx_file_tail_content(gx_file_tail *tail, int64_t place, uint64_t *ret_content, gale_error *error) {
    if (tail->hashed != place && gx_file_tail_is_open(tail)) {
        uint64_t content = 0;
        int same = gx_file_reader_check(&tail->reader, NULL);
        int rc = gx_place_content(tail->reader.fd, place, tail->name, &content, error);
        if (rc < 0) return rc;
        if (same == GALE_DAMAGED) content = ~content;
        tail->content = content;
        tail->hashed = place;
    }
    *ret_content = tail->content;
    return GALE_OK;
}

void gx_file_tail_close(gx_file_tail *tail) {
    uint64_t content;
    if (!gx_file_tail_is_open(tail)) return;
    int64_t place = gx_file_tail_place(tail);
    if (gx_file_tail_content(tail, place, &content, NULL) < 0) tail->hashed = -1;
    tail->number = tail->reader.number;
    tail->place = place;
    gx_file_reader_close(&tail->reader);
}
