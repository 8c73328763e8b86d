/* The two small files that stand beside the database: what a folder is, and how far it has come.
 *
 * What:    `gale-store` says that the folder is a store, of which format, whose, and a number that no other store has.
 *          `commit` says after every synced commit its number, and how much of the log the database needs. So a
 *          database that was cut back, or lacks its log, is known before anything is read from it. It has two places,
 *          written in turn, each whole and synced before the other is touched: when one was damaged, the other is of
 *          the mark before. (A file that is renamed into place takes two syncs more, which was most of the time of a
 *          small commit.)
 * Threads: one at a time. */
#ifndef GX_STORE_MARK_H
#define GX_STORE_MARK_H

#include "store/seal.h"

enum { GX_MARK_FORMAT = 1, GX_MARK_NAME = 1001 };

typedef struct gx_head {
    uint64_t identity;
    bool made; /* false while the store is being made: a process that died then has left nothing that counts */
    char topology[GX_MARK_NAME];
} gx_head;

typedef struct gx_mark {
    uint64_t identity; /* of the store that it belongs to */
    uint64_t commit;
    uint64_t salt;   /* of the log that this is about: each time when it begins anew it has another */
    uint64_t frames; /* that it had */
    bool needed;     /* false: all of them are in the database, too */
} gx_mark;

typedef struct gx_mark_file {
    const char *path;
    int fd; /* -1: not open */
    uint64_t turn;
} gx_mark_file;

#define GX_MARK_FILE_NONE                                                                                              \
    (gx_mark_file) {                                                                                                   \
        NULL, -1, 0                                                                                                    \
    }

int gx_head_write(const char *path, const gx_head *head, gale_error *error);

/* GALE_NOT_FOUND, with no report; GALE_DAMAGED; GALE_UNSUPPORTED for a format of later versions. */
int gx_head_read(const char *path, gx_head *ret_head, gale_error *error);

/* Makes the file, with this mark in both places. `path` must outlive it. */
int gx_mark_make(gx_mark_file *file, const char *path, const gx_mark *mark, gale_error *error);

/* Opens it, to be written or only read, and reads its later mark. GALE_DAMAGED when neither is whole, or there is no
 * file. */
int gx_mark_open(gx_mark_file *file, const char *path, bool writes, gx_mark *ret_mark, gale_error *error);

/* Writes over the earlier one; when it returns, the disk has it. */
int gx_mark_put(gx_mark_file *file, const gx_mark *mark, gale_error *error);

/* Is it there still, whole and under its name? GALE_IO. */
int gx_mark_check(const gx_mark_file *file, gale_error *error);

void gx_mark_close(gx_mark_file *file);

#endif
