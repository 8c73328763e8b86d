#include "connect/sqlite/base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* --- Words ------------------------------------------------------------------------------------------------------------ */

static void say(lite_base *base, const char *what, const char *words) {
    snprintf(base->why, sizeof base->why, "%s%s", what, words);
}

static bool is_patient(const lite_base *base) {
    return !base->patience || base->given->timeout <= base->patience;
}

static int64_t patience_of(const lite_base *base) {
    return is_patient(base) ? base->given->timeout : base->patience;
}

static void say_locked(lite_base *base) {
    snprintf(base->why, sizeof base->why, "it is locked: somebody else writes to it, for longer than %g s%s",
             (double)patience_of(base) / 1e9, is_patient(base) ? " (timeout)" : "");
}

void lite_base_note(lite_base *base) {
    const char *words = base->db ? sqlite3_errmsg(base->db) : "out of memory";
    switch (base->db ? sqlite3_errcode(base->db) & 0xff : SQLITE_NOMEM) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: say_locked(base); break;
    case SQLITE_FULL: say(base, "there is no room for it: ", words); break;
    case SQLITE_READONLY: say(base, "it may only be read: ", words); break;
    case SQLITE_CORRUPT: say(base, "it is damaged: ", words); break;
    case SQLITE_NOTADB: say(base, "it is no database of SQLite's: ", words); break;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
        snprintf(base->why, sizeof base->why, "%s: %s", words, strerror(sqlite3_system_errno(base->db)));
        break;
    default: say(base, "", words);
    }
}

/* --- Waiting ---------------------------------------------------------------------------------------------------------- */

static bool is_stopped(const lite_base *base) {
    return base->stop && atomic_load_explicit(base->stop, memory_order_relaxed);
}

/* Somebody else has the lock: is it waited for? */
static int wait_for_lock(void *user, int tries) {
    lite_base *base = user;
    int64_t time = now();
    if (!tries) base->until = time + patience_of(base);
    if (is_stopped(base) || time >= base->until) return 0;
    (void)sqlite3_sleep(tries < 10 ? 2 : 20);
    return 1;
}

static int stop_long(void *user) {
    return is_stopped(user);
}

/* --- Open and closed -------------------------------------------------------------------------------------------------- */

void lite_base_close(lite_base *base) {
    (void)sqlite3_close_v2(base->db);
    base->db = NULL;
}

bool lite_base_is_moved(const lite_base *base) {
    struct stat about;
    if (!base->db) return false;
    return stat(base->given->path, &about) < 0 || about.st_dev != base->device || about.st_ino != base->inode;
}

static bool note_file(lite_base *base) {
    struct stat about;
    if (stat(base->given->path, &about) < 0) {
        say(base, "it is gone: ", strerror(errno));
        return false;
    }
    base->device = about.st_dev;
    base->inode = about.st_ino;
    return true;
}

/* A statement with one row of one text, which is to be `wanted`. */
static bool set_journal(lite_base *base) {
    if (!base->given->journal || base->reads) return true;
    sqlite3_stmt *statement = lite_base_prepare(base, base->given->journal);
    if (!statement) return false;
    bool is = sqlite3_step(statement) == SQLITE_ROW;
    const char *mode = is ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    bool as_wanted = mode && strstr(base->given->journal, mode);
    if (!is)
        lite_base_note(base);
    else if (!as_wanted)
        say(base, "its journal cannot be as it is to be (journal): it stays ", mode ? mode : "as it is");
    (void)sqlite3_finalize(statement);
    return as_wanted;
}

static bool check_writable(lite_base *base) {
    if (base->reads || !sqlite3_db_readonly(base->db, "main")) return true;
    say(base, "it may only be read: ", "who runs this may not write to the file, or to its folder");
    return false;
}

static bool open_file(lite_base *base) {
    int flags = base->reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | (base->creates ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(base->given->path, &base->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        lite_base_note(base);
        return false;
    }
    (void)sqlite3_extended_result_codes(base->db, 1);
    (void)sqlite3_busy_handler(base->db, wait_for_lock, base);
    sqlite3_progress_handler(base->db, 10000, stop_long, base);
    return check_writable(base) && note_file(base) && set_journal(base) && lite_base_run(base, base->given->sync);
}

bool lite_base_open(lite_base *base) {
    if (base->db || open_file(base)) return true;
    lite_base_close(base);
    return false;
}

/* --- Before anything runs ---------------------------------------------------------------------------------------------- */

static int refuse(const lite_base *base, const char *what, const char *why, gale_error *error) {
    return gale_error_set(error, GALE_IO, "%s: %s%s%s (path)", base->given->where, what, *why ? ": " : "", why);
}

/* The folder that the file is in, which a long path has for its most part. */
static int look_at_folder(const lite_base *base, bool written, gale_error *error) {
    struct stat about;
    const char *path = base->given->path, *slash = strrchr(path, '/');
    char folder[4096], what[160];
    int size = !slash ? 1 : slash == path ? 1 : (int)(slash - path);
    snprintf(folder, sizeof folder, "%.*s", size, slash ? path : ".");
    const char *shown = size > 60 ? folder + strlen(folder) - 60 : folder;
    if (stat(folder, &about) < 0) {
        snprintf(what, sizeof what, "its folder '%.60s' cannot be used", shown);
        return refuse(base, what, strerror(errno), error);
    }
    snprintf(what, sizeof what, "its folder '%.60s' may not be written to", shown);
    return written && access(folder, W_OK | X_OK) < 0 ? refuse(base, what, strerror(errno), error) : 0;
}

/* By SQLite, which knows who else of this process has it open: a descriptor of ours that is closed would end their locks. */
static int look_inside(const lite_base *base, gale_error *error) {
    lite_base inside = { .given = base->given };
    int rc = sqlite3_open_v2(base->given->path, &inside.db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_exec(inside.db, "PRAGMA schema_version", NULL, NULL, NULL);
    lite_base_note(&inside);
    lite_base_close(&inside);
    return (rc & 0xff) == SQLITE_NOTADB ? refuse(base, inside.why, "", error) : 0;
}

int lite_base_look(const lite_base *base, gale_error *error) {
    struct stat about;
    const char *path = base->given->path;
    if (stat(path, &about) < 0) return look_at_folder(base, base->creates, error);
    if (!S_ISREG(about.st_mode)) return refuse(base, "it is no file", S_ISDIR(about.st_mode) ? "a folder" : "", error);
    if (access(path, R_OK) < 0) return refuse(base, "it may not be read", strerror(errno), error);
    if (!base->reads && access(path, W_OK) < 0) return refuse(base, "it may only be read", strerror(errno), error);
    return look_inside(base, error);
}

/* --- Statements ------------------------------------------------------------------------------------------------------- */

bool lite_base_run(lite_base *base, const char *statements) {
    if (sqlite3_exec(base->db, statements, NULL, NULL, NULL) == SQLITE_OK) return true;
    lite_base_note(base);
    return false;
}

static bool is_blank(const char *text) {
    return !text[strspn(text, " \t\r\n;")];
}

sqlite3_stmt *lite_base_prepare(lite_base *base, const char *text) {
    sqlite3_stmt *statement = NULL;
    const char *rest = "";
    if (sqlite3_prepare_v3(base->db, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, &rest) != SQLITE_OK) {
        lite_base_note(base);
        return NULL;
    }
    if (statement && is_blank(rest)) return statement;
    say(base, statement ? "there is more than one statement: " : "there is no statement: ", text);
    (void)sqlite3_finalize(statement);
    return NULL;
}

bool lite_base_still_takes(lite_base *base, const char *text) {
    char why[LITE_WHY_MAX];
    memcpy(why, base->why, sizeof why);
    sqlite3_stmt *again = lite_base_prepare(base, text);
    if (again) memcpy(base->why, why, sizeof why);
    (void)sqlite3_finalize(again);
    return again;
}
