/* One file that is followed: where it is read, and what is known of it while it is not open.
 *
 *     named --its name goes, or is another file's--> parted --read to its end, and quiet--> over
 *       ^                                              |                                     |
 *       +------------- a name leads to it again -------+-------------------------------------+
 *
 * What:    a file is its inode as long as it is open, and has the content before the place when it is opened again: inodes
 *          are used again. What was read is behind `place`; half a line at the end waits.
 * Threads: one at a time. Owner: memory comes from a gx_heap. */
#ifndef GX_CONNECT_FILE_TAIL_H
#define GX_CONNECT_FILE_TAIL_H

#include "connect/file/names.h"
#include "connect/file/reader.h"

typedef enum gx_file_life { GX_FILE_NAMED, GX_FILE_PARTED, GX_FILE_OVER, GX_FILE_LIVES } gx_file_life;

typedef struct gx_file_tail {
    gx_heap *heap;
    char *name; /* when it was found: what its tuples say, whatever it is called later */
    char *now;  /* when it was seen last */
    char *real; /* where it was then, without links */
    const gx_file_rule *rule;
    gx_file_reader reader;  /* open when it has a path */
    uint64_t device, inode; /* inode 0: it is no file any more, and has lines on their way at most */
    int64_t place;          /* of the next line, when it is not open; and the lines before it */
    uint64_t number;
    int64_t born;   /* when it was made; 0: that is not known */
    int64_t hashed; /* `content` is the hash of what lies before this; -1: none was made */
    uint64_t content;
    int64_t size, modified; /* when it was looked at last */
    uint32_t id;            /* in its set */
    int watch;              /* -1: none */
    uint8_t life;
    bool others;      /* another task reads it; here it is known, so that what comes and goes behind it is noticed */
    bool news;        /* there may be more to read */
    bool behind;      /* it parted, and its end has not been seen since: its successor waits */
    bool seen;        /* by the last look for names */
    bool unsure;      /* known from an earlier run: whether it is that file is to be looked at */
    bool asks;        /* it parted, and nobody was seen in its place yet: others may have come and gone */
    bool succeeded;   /* another file has its name */
    bool freed;       /* while it was not open: what has its inode now is another one */
    bool removed;     /* it has no name at all */
    bool last_look;   /* it is over at the next end */
    bool ended;       /* it was over before: the half line before its place was emitted, and its end may follow */
    bool foreign;     /* it is not text: nothing of it is read */
    int64_t read_to;  /* at the last end */
    int64_t quiet;    /* since when nothing came, by the context's clock */
    uint64_t turn;    /* when it was read last */
    uint64_t order;   /* of parting */
    uint64_t blocked; /* the choice in which it could not be opened */
} gx_file_tail;

/* The rule is borrowed. NULL: memory is out. */
gx_file_tail *gx_file_tail_new(gx_heap *heap, const char *name, const char *now, const char *real,
                               const gx_file_rule *rule);
void gx_file_tail_free(gx_file_tail *tail);

GX_INLINE bool gx_file_tail_is_open(const gx_file_tail *tail) {
    return tail->reader.path != NULL;
}

GX_INLINE int64_t gx_file_tail_place(const gx_file_tail *tail) {
    return gx_file_tail_is_open(tail) ? gx_file_reader_next_at(&tail->reader) : tail->place;
}

GX_INLINE uint64_t gx_file_tail_number(const gx_file_tail *tail) {
    return gx_file_tail_is_open(tail) ? tail->reader.number : tail->number;
}

/* Opens what is at `path`, if that is this file still. GALE_NOT_FOUND, with no report: it is not, or what lay before the place
 * differs; GALE_TOO_LARGE, with no report: this process has no descriptor left; GALE_IO. */
int gx_file_tail_open(gx_file_tail *tail, const char *path, gale_error *error);

/* Keeps the place, and what is needed to know the file again. */
void gx_file_tail_close(gx_file_tail *tail);

/* Another name that was seen, or another place. False: memory is out. */
bool gx_file_tail_rename(gx_file_tail *tail, const char *now, const char *real);

/* Looks at the open file: size, names, time. GALE_IO. */
int gx_file_tail_look(gx_file_tail *tail, gale_error *error);

/* The hash of what was read before the place, or before `place` of an open file: one that is no file's, where that was changed
 * since. GALE_IO. */
int gx_file_tail_content(gx_file_tail *tail, int64_t place, uint64_t *ret_content, gale_error *error);

/* Can the file at `path`, which has its inode, be this one? Not if it was made at another time. */
bool gx_file_tail_may_be_at(const gx_file_tail *tail, const char *path);

/* Is it known that it was made when this one was? Then it is this one, if it has its inode. */
bool gx_file_tail_is_born_at(const gx_file_tail *tail, const char *path);

/* Is the file at `path`, which may be this one, this one, which is not open? 1, 0, or GALE_IO. */
int gx_file_tail_is_at(const gx_file_tail *tail, const char *path, gale_error *error);

#endif
