/* The letters of a dead-letter file: one after the other, in the memory of one, or all that a replay needs of them.
 *
 * What:    lines of a file (front/letter.h); blank ones are passed over. A line that is no letter, half of one that a
 *          crash has left for example, is told with its place, and the ones behind it are read.
 * Threads: a reader one at a time; a set is constant once it is read. Owner: the caller.
 * Limits:  a line of GX_LETTERS_LINE bytes. */
#ifndef GX_FRONT_DEAD_LETTER_FILE_H
#define GX_FRONT_DEAD_LETTER_FILE_H

#include "front/letter.h"

enum { GX_LETTERS_LINE = 1 << 30 };

/* --- One by one --- */

typedef struct gx_letter_reader {
    char *name; /* of the file */
    int fd;
    char *bytes;
    size_t capacity;
    size_t begin, end; /* what was read and is no part of a line that was handed out */
    bool at_end;
    uint32_t number; /* of the line that was handed out last */
    gx_letter letter;
} gx_letter_reader;

/* GALE_IO, GALE_NO_MEMORY. "-" is the standard input. */
int gx_letter_reader_open(gx_letter_reader *reader, const char *path, gale_error *error);
void gx_letter_reader_close(gx_letter_reader *reader);

/* 1 and the next letter, borrowed until the next call; 0 at the end; or a negative code. After one for which
 * gx_letter_is_bad, the next line can be read; after others (GALE_IO, GALE_NO_MEMORY, GALE_TOO_LARGE) nothing can. */
int gx_letter_reader_next(gx_letter_reader *reader, const gx_letter **ret_letter, gale_error *error);

/* Does the code say that the line is no letter? */
bool gx_letter_is_bad(int code);

/* --- All of them --- */

/* What a replay needs of a letter. */
typedef struct gx_kept_letter {
    uint32_t number; /* of its line */
    gale_str component;
    gale_str stream;
    gale_value_owned *tuple; /* a list */
    char *names;             /* what the two are borrowed from */
} gx_kept_letter;

typedef struct gx_dead_letter_file {
    gx_kept_letter *items;
    size_t count, capacity;
    char *name; /* of the file */
} gx_dead_letter_file;

/* Told of each line that is no letter. */
typedef struct gx_dead_letter_file_told {
    void (*bad)(void *user, const gale_error *error);
    void *user;
} gx_dead_letter_file_told;

/* Reads a file, or text that is called `name`. GALE_IO, GALE_NO_MEMORY, GALE_TOO_LARGE; without `told` (NULL) also what
 * the first line is that is no letter. */
int gx_dead_letter_file_load(const char *path, const gx_dead_letter_file_told *told, gx_dead_letter_file *ret_letters,
                             gale_error *error);
int gx_dead_letter_file_parse(const char *name, gale_str text, const gx_dead_letter_file_told *told,
                              gx_dead_letter_file *ret_letters, gale_error *error);
void gx_dead_letter_file_fini(gx_dead_letter_file *letters);

#endif
