/* Folders. Every function that fails returns a negative gale_error_code and says what and which in `error` (may be
 * NULL). */
#ifndef GX_BASE_OS_FOLDER_H
#define GX_BASE_OS_FOLDER_H

#include "base/port.h"

#include <gale/error.h>

/* Is there a folder of this name? GALE_OK; GALE_NOT_FOUND, with no report, when nothing is there; GALE_IO when
 * something else is. */
int gx_folder_look(const char *path, gale_error *error);

/* The same of the folder that the file `path` is in, or would be. GALE_TOO_LARGE. */
int gx_folder_look_beside(const char *path, gale_error *error);

/* The folder that this program lies in, without a '/' behind it. False: that is not known, or it does not fit. */
bool gx_folder_of_program(char *path, size_t size);

/* The same of the program or the library that has this function. */
bool gx_folder_of_function(void (*function)(void), char *path, size_t size);

/* May the code in a folder that was found by its place be run as this user? The folder and all that lead to it, as named and behind links,
 * must belong to root, to this user or to the owner of `origin`, the folder that it was found by, and nobody else may change it. GALE_OK;
 * GALE_NOT_FOUND when it is not there; GALE_INVALID, with a report that begins with the path that is in doubt. */
int gx_folder_check_trusted(const char *path, const char *origin, gale_error *error);

/* Makes one, for its owner alone, and waits until the disk has its name. GALE_EXISTS when something is there already.
 * */
int gx_folder_make(const char *path, gale_error *error);

/* The same without waiting for the disk, and it may be there: but then it is a folder, no link to one, ours, and its owner's alone,
 * or GALE_INVALID. */
int gx_folder_make_own(const char *path, gale_error *error);

/* Makes the folders that the file `path` is to be in, as far as they are not there, for whom the process's mask allows.
 * `lasting`: waits until the disk has their names. GALE_IO, GALE_TOO_LARGE. */
int gx_folder_make_way(const char *path, bool lasting, gale_error *error);

/* Makes the folder `to`, which is not there or empty (else GALE_EXISTS), with copies of those of the files `names` (which ends
 * with NULL) that `from` has, for their owner alone. When it returns the disk has all of it; at no moment does `to` have a
 * part: the copy is made in `to`.part, where what a killed process has left goes first. */
int gx_folder_copy(const char *from, const char *to, const char *const *names, gale_error *error);

/* GALE_OK when nothing, or an empty folder, is at `path`; GALE_EXISTS. */
int gx_folder_check_free(const char *path, gale_error *error);

/* Removes the files `names` in a folder, in this order, as far as they are there; the list ends with NULL. GALE_IO. */
int gx_folder_remove_files(const char *path, const char *const *names, gale_error *error);

/* Removes the folder with the files `names`, and nothing else: GALE_EXISTS when it has others. GALE_OK when it is not there. */
int gx_folder_remove(const char *path, const char *const *names, gale_error *error);

/* Gives a folder another name, durably; one of that name is there and empty, or not at all (else GALE_EXISTS). */
int gx_folder_rename(const char *from, const char *to, gale_error *error);

/* Calls `each` with the name of everything in it that begins with `prefix`. Returns what that ended with, if it was not 0. */
typedef int gx_folder_each_fn(void *user, const char *name);
int gx_folder_each(const char *path, const char *prefix, gx_folder_each_fn *each, void *user, gale_error *error);

/* The name of something in it that is not among `known` (which ends with NULL), or "" when there is nothing. */
int gx_folder_stranger(const char *path, const char *const *known, char ret_name[256], gale_error *error);

#endif
