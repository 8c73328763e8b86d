/* Watches on the way to the files that are followed. A path may lead through symbolic links, and each link and each folder on it
 * may be changed for another one: then names are looked for again.
 *
 *     /logs/current/app.log      current -> releases/7
 *     "logs", "current", "releases" and "7" are watched themselves, and in "/logs/releases/7" the name "app.log"
 *
 * What:    a path is walked as the system walks it. A link or a folder on the way tells when it is renamed or removed; the last folder, and
 *          one in which a name is missing, tells when that name comes or goes. So a busy folder above costs nothing.
 *          A walk watches before it looks: what changes behind it is told.
 * Threads: one at a time. Owner: memory comes from a gx_heap; watch and names are borrowed.
 * Limits:  GX_FILE_WAY_LINKS links in a path, as the system has it: what leads round in circles is not there. */
#ifndef GX_CONNECT_FILE_WAY_H
#define GX_CONNECT_FILE_WAY_H

#include "base/os/watch.h"
#include "connect/file/names.h"

enum { GX_FILE_WAY_LINKS = 40 };

typedef struct gx_file_way_watch {
    int id;
    char *name; /* in a folder; NULL: of what is watched itself */
    bool seen;  /* by the last walks */
} gx_file_way_watch;

typedef struct gx_file_way {
    gx_heap *heap;
    gx_watch *watch;
    const gx_file_names *names;
    gx_file_way_watch *list;
    size_t count, capacity;
    bool complete;                  /* all that the last walks came by is watched, and */
    bool reaches;                   /* notices tell all of it */
    gale_error why;                 /* what is not watched, if it is not complete */
    char folder[GX_FILE_NAME_SIZE]; /* where the names' own folder is, without links, with a '/' at its end; "": here */
} gx_file_way;

void gx_file_way_init(gx_file_way *way, gx_heap *heap, gx_watch *watch, const gx_file_names *names);
void gx_file_way_fini(gx_file_way *way);

/* Walks to the names' folder again; what was watched for earlier walks is forgotten by gx_file_way_end if it is not walked by until then.
 * GALE_NO_MEMORY. */
int gx_file_way_begin(gx_file_way *way);
void gx_file_way_end(gx_file_way *way);

/* Where a file that has such a name in the folder is, without links; a link is walked. GALE_NO_MEMORY; GALE_NOT_FOUND: it leads to
 * nothing, or in circles. */
int gx_file_way_to(gx_file_way *way, const char *path, char ret_real[GX_FILE_NAME_SIZE]);

/* A notice: true if it is about something on the way; `*ret_look`: names are to be looked for. */
bool gx_file_way_notice(gx_file_way *way, int id, gx_watch_what what, const char *name, bool *ret_look);

#endif
