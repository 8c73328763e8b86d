/* Which files a path means: one, or, where its last part is a pattern (glob(3): *, ?, [...]), all that it matches.
 *
 * Threads: one at a time. Owner: memory comes from a gx_heap; the path that was told is borrowed. */
#ifndef GX_CONNECT_FILE_NAMES_H
#define GX_CONNECT_FILE_NAMES_H

#include "base/alloc.h"
#include "base/os/file.h"

typedef struct gx_file_names {
    gx_heap *heap;
    const char *path;
    const char *last; /* its last part */
    char *folder;     /* what stands before it; "." */
    bool is_pattern;
} gx_file_names;

typedef struct gx_file_found {
    char *path;
    char *real; /* where it is, without links; NULL: that was not asked for */
    gx_file_about about;
} gx_file_found;

typedef struct gx_file_list {
    gx_heap *heap;
    gx_file_found *items;
    size_t count, capacity;
} gx_file_list;

/* Has it a pattern? */
bool gx_file_names_is_pattern(const char *path);

/* GALE_INVALID, with a sentence: a folder is a pattern; GALE_NO_MEMORY. */
int gx_file_names_init(gx_file_names *names, gx_heap *heap, const char *path, gale_error *error);
void gx_file_names_fini(gx_file_names *names);

/* Is something that has this name in the folder meant? */
bool gx_file_names_has(const gx_file_names *names, const char *name);

/* Where the file of this name is, without links; is asked before the file is looked at. GALE_NOT_FOUND: nowhere; GALE_NO_MEMORY. */
typedef int gx_file_real_fn(void *user, const char *path, char ret_real[GX_FILE_NAME_SIZE]);

/* The regular files that are there now, by name; none when the folder is not there. A file that has several names is there once. GALE_IO,
 * GALE_NO_MEMORY. */
int gx_file_names_find(const gx_file_names *names, gx_file_real_fn *real, void *user, gx_file_list *ret_list,
                       gale_error *error);

/* The regular files beside `path` that its rotation may have left: its name with a number or a date behind it, written to at
 * `since` or later; those written to first come first. As above. */
int gx_file_names_rotated(const gx_file_names *names, const char *path, int64_t since, gx_file_list *ret_list,
                          gale_error *error);

void gx_file_list_fini(gx_file_list *list);

/* A copy, given back by gx_file_text_free; NULL: memory is out. */
char *gx_file_text_copy(gx_heap *heap, const char *text, size_t size);
void gx_file_text_free(gx_heap *heap, char *text);

#endif
