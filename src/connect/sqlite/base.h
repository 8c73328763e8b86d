/* A connection to a database file, for threads that may wait: opened, and opened anew when something went wrong.
 *
 *      closed --lite_base_open--> open --whatever goes wrong--> closed
 *
 * What:    each file of a task has connections of its own: none is shared with the store of a durable run, or with another task.
 * Blocks:  on the disk, and on another's lock for the settings' timeout; `stop` ends that wait and a statement that runs long.
 * Threads: one at a time. Owner: lite_base_close. */
#ifndef GALE_CONNECT_SQLITE_BASE_H
#define GALE_CONNECT_SQLITE_BASE_H

#include "connect/sqlite/settings.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { LITE_WHY_MAX = 132 };

typedef struct lite_base {
    const lite_settings *given;
    bool creates; /* a file that is missing is made */
    bool reads;   /* nothing is written */
    sqlite3 *db;  /* NULL: closed */
    dev_t device;
    ino_t inode;
    int64_t patience; /* another's lock is waited for at once so long, where the settings say no less; 0: as they say */
    int64_t until;
    const atomic_bool *stop; /* NULL: nobody stops it */
    char why[LITE_WHY_MAX];  /* what went wrong, of what returned false or NULL */
} lite_base;

bool lite_base_open(lite_base *base);

/* Before anything runs: can there be a database at the path at all? One that is missing may come, and one that is locked will be free; but a folder that
 * is not there or is closed, and a file that is none of SQLite's, want somebody to look. `creates`, `reads` and `given` are set. GALE_IO, with a sentence. Waits for no lock. */
int lite_base_look(const lite_base *base, gale_error *error);

/* All of its statements are finalized. */
void lite_base_close(lite_base *base);

/* Is it open, and its path has another file by now, or none? What is written to one that was moved away nobody finds. */
bool lite_base_is_moved(const lite_base *base);

/* What SQLite says of what went wrong last, in words that say what to do, to `why`. */
void lite_base_note(lite_base *base);

/* Statements without results. */
bool lite_base_run(lite_base *base, const char *statements);

/* One statement, to be finalized; no other may stand behind it. */
sqlite3_stmt *lite_base_prepare(lite_base *base, const char *statement);

/* Behind an error that has no name of its own (SQLITE_ERROR): was it the values' (a function does not take one), as the statement fits to the tables still? Else
 * `why` says what does not fit. */
bool lite_base_still_takes(lite_base *base, const char *statement);

#endif
