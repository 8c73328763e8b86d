/* Does a topology write a file that it reads? It would be emptied before its first line is read.
 *
 * What:    compares what files are (device and inode), so links and other spellings of a path are seen too. Only
 *          regular files count: a terminal or /dev/null may be both.
 * Threads: one at a time. Owner: all borrowed for the call.
 * Limits:  of a sink with several tasks, the file of the first one is looked at.
 */
#ifndef GX_FRONT_OVERLAP_H
#define GX_FRONT_OVERLAP_H

#include "front/registry.h"
#include "topology/builder.h"

/* A spout or bolt that was made of a class, with the paths that its arguments name; NULL where there is none. */
typedef struct gx_used {
    const gx_class *class_;
    const char *id;
    const char *reads, *writes;
} gx_used;

/* Takes the paths from the values that the class is made with. */
gx_used gx_used_of(const gx_class *class_, const char *id, const gale_value *values);

/* Is `key` among the keys that the class reads? */
bool gx_class_reads_key(const gx_class *class_, const char *key);

/* GALE_INVALID, with both components and the path, when one reads what one writes. gale.input and gale.output, of the
 * component's or the topology's configuration, count as they do when the topology runs. */
int gx_overlap_check(const gale_topology *topology, const gx_used *used, size_t count, gale_error *error);

#endif
