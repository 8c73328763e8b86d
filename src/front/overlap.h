/* Do the files of a run get in each other's way? One that is written is used for nothing else.
 *
 * What:    the files that components read, write and keep states in (one a task, and what stands beside a state while it
 *          is locked and written), the file of dead letters, and what the command line names. Files are compared by what
 *          they are (device and inode), so links and other spellings of a path are seen too; one that is not there yet,
 *          by its folder and its name. Only regular files count: a terminal or /dev/null may be both, and the standard
 *          output may be written by many.
 *
 *          And does a run go on from an earlier one, whose results it would empty first?
 * Threads: one at a time. Owner: all borrowed for the call. */
#ifndef GX_FRONT_OVERLAP_H
#define GX_FRONT_OVERLAP_H

#include "front/class.h"
#include "topology/builder.h"

/* A spout or bolt that was made of a class, with the paths that its arguments name; NULL where there is none. */
typedef struct gx_used {
    const gx_class *class_;
    const char *id;
    const char *reads, *writes, *keeps;
    bool follows;  /* what it reads may be a pattern */
    bool replaces; /* its arguments say that what is in the file that it writes goes */
} gx_used;

/* A file that is no component's. */
typedef struct gx_named_file {
    const char *who;    /* "--events-file" */
    const char *verb;   /* "writes" */
    const char *path;   /* NULL: none */
    const char *advice; /* what to do when it is in the way: "; move it first". NULL: nothing */
    bool written;
    bool goes_on; /* the run goes on from an earlier one when it is there */
} gx_named_file;

/* All that is used. */
typedef struct gx_files {
    const gale_topology *topology;
    const gx_used *used;
    size_t used_count;
    const gx_named_file *named;
    size_t named_count;
    bool dry; /* nothing is written but what the command line names */
} gx_files;

/* Takes the paths from what the class is made with. */
gx_used gx_used_of(const gx_args *args, const char *id);

/* GALE_INVALID, with both users and the path, when a file is written that is used for something else; or with the sink
 * and who goes on, when results would be emptied that are to be gone on with. gale.input and gale.output, of the
 * component's or the topology's configuration, count as they do when the topology runs. GALE_NO_MEMORY. */
int gx_overlap_check(const gx_files *files, gale_error *error);

#endif
