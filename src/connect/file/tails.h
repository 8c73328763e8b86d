/* The set of the files that are followed (connect/file/followed.h): who is in it, open or not, watched or not.
 *
 * Threads: one at a time. Owner: the set owns its files; memory comes from a gx_heap. */
#ifndef GX_CONNECT_FILE_TAILS_H
#define GX_CONNECT_FILE_TAILS_H

#include "base/os/watch.h"
#include "connect/file/tail.h"
#include "connect/file/told.h"
#include "connect/file/way.h"

#include <gale/component.h>

typedef struct gx_file_follow_options {
    bool from_end; /* what is there at the beginning of the first run is not read */
    bool numbered; /* somebody wants the numbers of lines: they are counted then */
    uint32_t max_open;
    int64_t rotate_wait;
    gx_file_rule rule; /* without whom it tells */
} gx_file_follow_options;

typedef struct gx_file_followed {
    gx_heap *heap;
    const gale_context *context;
    gx_file_follow_options options;
    gx_file_names names;
    gx_watch watch;
    gx_file_way way;
    gx_file_told told;
    gx_file_tail **list; /* by id; NULL where none is */
    size_t count, capacity;
    gx_file_tail *current;
    uint32_t left;                   /* of its turn */
    size_t next;                     /* whose turn is looked for first */
    uint64_t turns, choices, orders; /* how many there were */
    uint32_t open;
    uint32_t overs;  /* since some were forgotten */
    int64_t look_at; /* when all is looked at, where notices do not reach; INT64_MAX: they do */
    bool reaches;    /* notices tell all; false: not of these files */
    bool resumed;    /* an earlier run has told what it had read */
    bool begun;
    bool look; /* for names */
    bool told_full, told_polls;
    uint64_t refused; /* the inode of a file that cannot be opened, which was told of */
} gx_file_followed;

#define GX_FILE_SAY(f, level, ...)                                                                                     \
    gale_log((f)->context->logger, GALE_LOG_##level, (f)->context->component, __VA_ARGS__)

int gx_file_tails_no_memory(const gx_file_followed *f, gale_error *error);

/* Is a file with this inode this task's? */
bool gx_file_tails_mine(const gx_file_followed *f, uint64_t inode);

/* The set's from then on, with an id. False: memory is out, and it is not. */
bool gx_file_tails_add(gx_file_followed *f, gx_file_tail *tail);

/* A file that has not been read, and where it is without links. NULL: memory is out. */
gx_file_tail *gx_file_tails_new(gx_file_followed *f, const char *path, const char *real, uint64_t inode);

/* 1: it is open; 0: not now (it has news still), or never (it has none); GALE_IO, GALE_NO_MEMORY. */
int gx_file_tails_open(gx_file_followed *f, gx_file_tail *tail, gale_error *error);

/* Nothing more is read of it. It is known still, so that it is not taken for a new file. */
void gx_file_tails_end(gx_file_followed *f, gx_file_tail *tail);

/* A file that is over has a name again: it is read on from its place. Others are left unchanged. */
void gx_file_tails_revive(gx_file_followed *f, gx_file_tail *tail);

/* It is no file any more, and known for its lines alone. */
void gx_file_tails_lose(gx_file_followed *f, gx_file_tail *tail);

/* Says how much of it was not read. */
void gx_file_tails_tell_gone(const gx_file_followed *f, const gx_file_tail *tail);

/* What its inode is now is another file: says so, and how much of the old one was not read. */
void gx_file_tails_tell_other(const gx_file_followed *f, const gx_file_tail *tail);

/* What was read of it is not what it holds now: as below. */
int gx_file_tails_changed(gx_file_followed *f, gx_file_tail *tail, gale_error *error);

/* It holds `size` bytes, and more had been read: it is read from its beginning, as another one whose lines are its own. */
int gx_file_tails_truncated(gx_file_followed *f, gx_file_tail *tail, int64_t size, const char *path, gale_error *error);

/* Forgets files that are over: those whose id is not in `used` (a byte each, so many as `count`), except the last ones of a
 * name that lives, which must not be taken for others. */
void gx_file_tails_forget(gx_file_followed *f, const uint8_t *used, size_t count);

/* Notices do not tell of all: all is looked at from time to time. `why` is said once. */
void gx_file_tails_look_often(gx_file_followed *f, const char *why);

#endif
