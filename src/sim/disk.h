/* A disk in memory (base/os/disk.h), whose calls fail when they are drawn to, and on which a process can die.
 *
 * What:    files in one folder, GX_SIM_DISK; all other paths are the system's. What was written stays when the process
 *          dies, as after kill -9: it is what the next run finds.
 *          Somebody else may change a file before any call (gx_sim_disk_meddle), as people and log rotation do.
 *          A call fails by the odds: it does nothing, moves half of its bytes, or is interrupted. In the call `dies_at`
 *          the process dies: a write does half, and from then on every call fails and changes nothing.
 * Threads: one; one disk at a time is in use. Owner: memory is the heap's.
 * Limits:  GX_SIM_DISK_FILES files and GX_SIM_DISK_HANDLES open ones, names below GX_SIM_DISK_NAME bytes: ENOSPC,
 *          EMFILE, ENAMETOOLONG. */
#ifndef GX_SIM_DISK_H
#define GX_SIM_DISK_H

#include "base/buf.h"
#include "base/os/disk.h"
#include "base/random.h"

#define GX_SIM_DISK "/simulated"

enum { GX_SIM_DISK_FILES = 12, GX_SIM_DISK_HANDLES = 8, GX_SIM_DISK_NAME = 48 };

typedef struct gx_sim_file {
    char name[GX_SIM_DISK_NAME]; /* "": it was removed */
    gx_buf bytes;
    ino_t inode; /* 0: the place is free */
    uint32_t opened;
} gx_sim_file;

typedef struct gx_sim_handle {
    gx_sim_file *file; /* NULL: the folder */
    off_t at;
    bool used, appends, locks;
} gx_sim_handle;

/* What somebody else does to a file, whoever has it open: half of it goes; it gets another name (`path`.moved); it goes; another one, which is
 * empty, takes its name; zeros take the place of what stands from a quarter to three quarters of it. */
typedef enum gx_sim_deed {
    GX_SIM_CUT,
    GX_SIM_RENAME,
    GX_SIM_REMOVE,
    GX_SIM_REPLACE,
    GX_SIM_PUNCH,
    GX_SIM_DEEDS
} gx_sim_deed;

typedef struct gx_sim_meddling {
    const char *path; /* borrowed; NULL: nobody does anything */
    gx_sim_deed what;
    uint64_t at;            /* before this call of the process, from 1 */
    bool done;              /* the file was there */
    ino_t inode;            /* which it was */
    uint64_t before, since; /* reads and writes of it, and since it was done */
} gx_sim_meddling;

typedef struct gx_sim_disk {
    gx_sim_file files[GX_SIM_DISK_FILES];
    gx_sim_handle handles[GX_SIM_DISK_HANDLES];
    ino_t inodes; /* that there were */
    gx_random random;
    uint32_t odds;
    uint64_t calls, failed; /* of this process */
    uint64_t dies_at;       /* the call in which it dies, from 1; 0: in none */
    size_t at_once;         /* bytes that a read returns at most; 0: no bound */
    gx_sim_meddling meddling;
    bool dead;
} gx_sim_disk;

/* Empty. */
void gx_sim_disk_init(gx_sim_disk *disk, gx_heap *heap);
void gx_sim_disk_fini(gx_sim_disk *disk);

/* A new process uses it from now on: nothing is open or locked. */
void gx_sim_disk_begin(gx_sim_disk *disk, gx_random random, uint32_t odds, uint64_t dies_at);

/* From now on: what somebody else does while the next process uses it. */
void gx_sim_disk_meddle(gx_sim_disk *disk, const char *path, gx_sim_deed what, uint64_t at);

/* The system's disk again. What is open is closed. */
void gx_sim_disk_end(gx_sim_disk *disk);

/* The file of this path, or NULL; `make`: it is made. For whoever looks from outside: nothing fails. */
gx_sim_file *gx_sim_disk_file(gx_sim_disk *disk, const char *path, bool make);

#endif
