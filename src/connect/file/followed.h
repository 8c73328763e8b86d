/* The files that a path means, while they live: they are found, read as they grow, read to their end when they were renamed,
 * and left when nothing more comes.
 *
 *     look for names --new--> read, some lines at a time, in turn --end--> wait for notices
 *
 * What:    names are looked for when the folder says that one changed, files are read when they say that they did
 *          (base/os/watch.h). Where notices cannot be had, or do not reach, all is looked at once a second.
 *          Several tasks divide the files among them by inode, which a file keeps when it is renamed.
 * Threads: one at a time. Owner: memory comes from a gx_heap; the path is borrowed.
 * Limits:  `max_open` descriptors: the file that was read longest ago is closed for another, and opened again when it has
 *          news. */
#ifndef GX_CONNECT_FILE_FOLLOWED_H
#define GX_CONNECT_FILE_FOLLOWED_H

#include "connect/file/tails.h"

enum { GX_FILE_TURN = 256, GX_FILE_MAX_OPEN = 128 };

/* GALE_INVALID, with a sentence: the path is none that can be followed; GALE_IO: its folder is not there; GALE_NO_MEMORY. It is
 * to be ended in any case, if it was zeroed before. */
int gx_file_followed_init(gx_file_followed *f, gx_heap *heap, const char *path, const gale_context *context,
                          gx_file_follow_options options, gale_error *error);
void gx_file_followed_fini(gx_file_followed *f);

/* Finds what is there, once, before the first line or the first checkpoint. As gx_file_followed_next. */
int gx_file_followed_begin(gx_file_followed *f, gale_error *error);

/* 1 and the next line, borrowed until the next call, with its file; 0: nothing now; ask again when the watch is readable, and at
 * `*ret_until` (INT64_MAX: never) in any case. GALE_IO, GALE_TOO_LARGE (a line), with a sentence; GALE_NO_MEMORY: nothing was
 * consumed. */
int gx_file_followed_next(gx_file_followed *f, gx_file_tail **ret_tail, gale_str *ret_line, int64_t *ret_until,
                          gale_error *error);

GX_INLINE gx_file_tail *gx_file_followed_at(const gx_file_followed *f, uint32_t id) {
    return id < f->count ? f->list[id] : NULL;
}

#endif
