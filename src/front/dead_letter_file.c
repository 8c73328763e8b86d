#include "front/dead_letter_file.h"

#include "base/encoding.h"
#include "base/os/file.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 64 << 10 };

/* --- One by one --- */

static int no_memory(const char *name, gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", name);
}

static int begin(gx_letter_reader *reader, const char *name, gale_error *error) {
    char *copy = strdup(name);
    if (!copy) return no_memory(name, error);
    *reader = (gx_letter_reader){ .name = copy, .fd = -1 };
    return 0;
}

int gx_letter_reader_open(gx_letter_reader *reader, const char *path, gale_error *error) {
    int fd;
    int rc = gx_file_open(path, &fd, NULL, error);
    if (rc < 0) return rc;
    rc = begin(reader, path, error);
    if (rc < 0)
        gx_file_close(fd);
    else
        reader->fd = fd;
    return rc;
}

/* A reader of text alone, all of which it has read. */
static int open_text(gx_letter_reader *reader, const char *name, gale_str text, gale_error *error) {
    int code = begin(reader, name, error);
    if (code < 0) return code;
    reader->bytes = malloc(text.size + 1);
    if (!reader->bytes) {
        gx_letter_reader_close(reader);
        return no_memory(name, error);
    }
    if (text.size) memcpy(reader->bytes, text.data, text.size);
    reader->end = text.size;
    reader->at_end = true;
    return 0;
}

void gx_letter_reader_close(gx_letter_reader *reader) {
    gx_letter_fini(&reader->letter);
    gx_file_close(reader->fd);
    free(reader->bytes);
    free(reader->name);
    *reader = (gx_letter_reader){ .fd = -1 };
}

/* Makes room behind `end`: what is left goes to the front, and a line that fills the buffer gets a larger one. */
static int have_room(gx_letter_reader *reader, gale_error *error) {
    size_t left = reader->end - reader->begin;
    if (reader->begin) memmove(reader->bytes, reader->bytes + reader->begin, left);
    reader->begin = 0;
    reader->end = left;
    if (left < reader->capacity) return 0;
    if (left >= GX_LETTERS_LINE)
        return gale_error_set(error, GALE_TOO_LARGE, "%s:%u: the line is longer than %d bytes", reader->name,
                              reader->number + 1, GX_LETTERS_LINE);
    size_t capacity = reader->capacity ? 2 * reader->capacity : FIRST_SIZE;
    char *bytes = realloc(reader->bytes, capacity);
    if (!bytes) return no_memory(reader->name, error);
    reader->bytes = bytes;
    reader->capacity = capacity;
    return 0;
}

static int fill(gx_letter_reader *reader, gale_error *error) {
    int rc = have_room(reader, error);
    if (rc < 0) return rc;
    int64_t got = gx_file_read(reader->fd, reader->bytes + reader->end, reader->capacity - reader->end, reader->name,
                               error);
    if (got < 0) return (int)got;
    reader->end += (size_t)got;
    reader->at_end = got == 0;
    return 0;
}

/* 1 and the next line, 0 at the end, or a negative code. */
static int next_line(gx_letter_reader *reader, gale_str *ret_line, gale_error *error) {
    for (size_t searched = 0;;) {
        size_t left = reader->end - reader->begin;
        const char *begin = left ? reader->bytes + reader->begin : NULL;
        const char *newline = left > searched ? memchr(begin + searched, '\n', left - searched) : NULL;
        if (newline || (reader->at_end && left)) {
            *ret_line = (gale_str){ begin, newline ? (size_t)(newline - begin) : left };
            reader->begin += ret_line->size + (newline != NULL);
            if (reader->number++ > 0) return 1;
            return gx_encoding_read(reader->name, ret_line, error) < 0 ? GALE_INVALID : 1;
        }
        if (reader->at_end) return 0;
        searched = left;
        int rc = fill(reader, error);
        if (rc < 0) return rc;
    }
}

static bool is_blank(gale_str line) {
    for (size_t i = 0; i < line.size; i++)
        if (line.data[i] != ' ' && line.data[i] != '\t' && line.data[i] != '\r') return false;
    return true;
}

int gx_letter_reader_next(gx_letter_reader *reader, const gx_letter **ret_letter, gale_error *error) {
    gale_str line;
    int rc;
    gx_letter_fini(&reader->letter);
    do rc = next_line(reader, &line, error);
    while (rc > 0 && is_blank(line));
    if (rc <= 0) return rc;
    rc = gx_letter_parse(reader->name, reader->number, line, &reader->letter, error);
    if (rc < 0) return rc;
    *ret_letter = &reader->letter;
    return 1;
}

bool gx_letter_is_bad(int code) {
    return code == GALE_SYNTAX || code == GALE_TYPE || code == GALE_NOT_FOUND;
}

/* --- All of them --- */

static bool have_item(gx_dead_letter_file *letters) {
    if (letters->count < letters->capacity) return true;
    size_t capacity = letters->capacity ? 2 * letters->capacity : 16;
    gx_kept_letter *grown = realloc(letters->items, capacity * sizeof *grown);
    if (!grown) return false;
    letters->items = grown;
    letters->capacity = capacity;
    return true;
}

/* Takes the tuple; the names are copied. */
static int keep(gx_dead_letter_file *letters, gx_letter *letter, gale_error *error) {
    size_t component = letter->component.size, stream = letter->stream.size;
    char *names = have_item(letters) ? malloc(component + stream + 1) : NULL;
    if (!names) return no_memory(letters->name, error);
    memcpy(names, letter->component.data, component);
    memcpy(names + component, letter->stream.data, stream);
    letters->items[letters->count++] = (gx_kept_letter){ .number = letter->number,
                                                         .component = { names, component },
                                                         .stream = { names + component, stream },
                                                         .tuple = letter->tuple,
                                                         .names = names };
    letter->tuple = NULL;
    return 0;
}

static int read_all(gx_letter_reader *reader, const gx_dead_letter_file_told *told, gx_dead_letter_file *letters,
                    gale_error *error) {
    for (;;) {
        gale_error why = GALE_ERROR_INIT;
        const gx_letter *letter;
        int code = gx_letter_reader_next(reader, &letter, &why);
        if (code > 0) {
            code = keep(letters, &reader->letter, error);
            if (code < 0) return code;
        } else if (code < 0 && told && gx_letter_is_bad(code)) {
            told->bad(told->user, &why);
        } else {
            if (code < 0 && error) *error = why;
            return code;
        }
    }
}

/* Closes the reader. */
static int gather(gx_letter_reader *reader, const gx_dead_letter_file_told *told, gx_dead_letter_file *ret_letters,
                  gale_error *error) {
    gx_dead_letter_file letters = { .name = strdup(reader->name) };
    int rc = letters.name ? read_all(reader, told, &letters, error) : no_memory(reader->name, error);
    gx_letter_reader_close(reader);
    if (rc < 0)
        gx_dead_letter_file_fini(&letters);
    else
        *ret_letters = letters;
    return rc;
}

int gx_dead_letter_file_load(const char *path, const gx_dead_letter_file_told *told, gx_dead_letter_file *ret_letters,
                             gale_error *error) {
    gx_letter_reader reader;
    int rc = gx_letter_reader_open(&reader, path, error);
    return rc < 0 ? rc : gather(&reader, told, ret_letters, error);
}

int gx_dead_letter_file_parse(const char *name, gale_str text, const gx_dead_letter_file_told *told,
                              gx_dead_letter_file *ret_letters, gale_error *error) {
    gx_letter_reader reader;
    int rc = open_text(&reader, name, text, error);
    return rc < 0 ? rc : gather(&reader, told, ret_letters, error);
}

void gx_dead_letter_file_fini(gx_dead_letter_file *letters) {
    for (size_t i = 0; i < letters->count; i++) {
        gale_value_owned_free(letters->items[i].tuple);
        free(letters->items[i].names);
    }
    free(letters->items);
    free(letters->name);
    *letters = (gx_dead_letter_file){ .items = NULL };
}
