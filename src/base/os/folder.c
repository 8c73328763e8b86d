#include "base/os/folder.h"

#include "base/os/disk.h"
#include "base/os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool cut_last(char *path) {
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    return slash != NULL;
}

bool gx_folder_of_program(char *path, size_t size) {
    ssize_t count = readlink("/proc/self/exe", path, size);
    if (count <= 0 || (size_t)count == size) return false;
    path[count] = '\0';
    return cut_last(path);
}

/* The kernel's list of what is mapped has whole paths, also of what was loaded by a relative one, in a program that is linked statically, and
 * for each C library: dladdr has none of the three. */
bool gx_folder_of_function(void (*function)(void), char *path, size_t size) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096 + 100];
    bool found = false;
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        int at = 0;
        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &begin, &end, &at) < 2 || !at || line[at] != '/') continue;
        if ((uintptr_t)function < begin || (uintptr_t)function >= end) continue;
        line[strcspn(line, "\n")] = '\0';
        found = strlen(line + at) < size;
        if (found) memcpy(path, line + at, strlen(line + at) + 1);
    }
    if (maps) fclose(maps);
    return found && cut_last(path);
}

/* Others may put names beside ours in a folder with the sticky bit, but not change those that are there: enough for one on the way. */
static int check_owner(const char *path, uid_t owner, bool on_the_way, gale_error *error) {
    struct stat about;
    if (stat(path, &about) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? GALE_NOT_FOUND
                   : gale_error_set(error, GALE_INVALID, "%s cannot be looked at: %s", path, strerror(errno));
    if (about.st_uid != 0 && about.st_uid != geteuid() && about.st_uid != owner)
        return gale_error_set(error, GALE_INVALID, "%s belongs to another user", path);
    if ((about.st_mode & S_IWOTH) && !(on_the_way && (about.st_mode & S_ISVTX)))
        return gale_error_set(error, GALE_INVALID, "%s may be changed by everybody", path);
    return GALE_OK;
}

static int check_way(const char *path, uid_t owner, gale_error *error) {
    char way[PATH_MAX];
    snprintf(way, sizeof way, "%s", path);
    int rc = check_owner(way, owner, false, error);
    while (rc == GALE_OK && cut_last(way) && *way) rc = check_owner(way, owner, true, error);
    return rc;
}

int gx_folder_check_trusted(const char *path, const char *origin, gale_error *error) {
    struct stat about;
    char real[PATH_MAX];
    if (stat(origin, &about) != 0 || !realpath(path, real)) return GALE_NOT_FOUND;
    int rc = check_way(path, about.st_uid, error);
    return rc == GALE_OK && strcmp(path, real) != 0 ? check_way(real, about.st_uid, error) : rc;
}

int gx_folder_look(const char *path, gale_error *error) {
    struct stat found;
    if (gx_disk_now()->about_path(path, &found) != 0) {
        if (errno == ENOENT) return GALE_NOT_FOUND;
        return gale_error_set(error, GALE_IO, "cannot look at '%s': %s", path, strerror(errno));
    }
    return S_ISDIR(found.st_mode) ? GALE_OK : gale_error_set(error, GALE_IO, "'%s' is no folder", path);
}

/* The folder that a path is in. */
static void parent_of(const char *path, char parent[4096]) {
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') size--;
    while (size > 0 && path[size - 1] != '/') size--;
    while (size > 1 && path[size - 1] == '/') size--;
    snprintf(parent, 4096, "%.*s", size ? (int)size : 1, size ? path : ".");
}

int gx_folder_look_beside(const char *path, gale_error *error) {
    char parent[4096];
    if (strlen(path) > GX_FILE_PATH_MAX) return gale_error_set(error, GALE_TOO_LARGE, "the path is too long");
    parent_of(path, parent);
    return gx_folder_look(parent, error);
}

static int sync_parent(const char *path, gale_error *error) {
    char parent[4096];
    parent_of(path, parent);
    int fd = gx_disk_now()->open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    bool done = fd >= 0 && (gx_disk_now()->sync(fd) == 0 || errno == EINVAL);
    int why = errno;
    if (fd >= 0) gx_disk_now()->close(fd);
    return done ? GALE_OK : gale_error_set(error, GALE_IO, "cannot make '%s' last: %s", path, strerror(why));
}

int gx_folder_make(const char *path, gale_error *error) {
    if (gx_disk_now()->make_folder(path, 0700) != 0)
        return gale_error_set(error, errno == EEXIST ? GALE_EXISTS : GALE_IO, "cannot make the folder '%s': %s", path,
                              strerror(errno));
    return sync_parent(path, error);
}

int gx_folder_make_own(const char *path, gale_error *error) {
    struct stat found;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return gale_error_set(error, GALE_IO, "cannot make the folder '%s': %s", path, strerror(errno));
    if (lstat(path, &found) != 0)
        return gale_error_set(error, GALE_IO, "cannot look at '%s': %s", path, strerror(errno));
    if (!S_ISDIR(found.st_mode)) return gale_error_set(error, GALE_INVALID, "'%s' is no folder", path);
    if (found.st_uid == geteuid() && (found.st_mode & 077) == 0) return GALE_OK;
    return gale_error_set(error, GALE_INVALID, "'%s' is not its owner's alone: remove it, or chmod 700 it", path);
}

/* The folder whose path is the first `size` bytes; 0: it is there now. */
static int make_one(const char *path, size_t size, bool lasting, gale_error *error) {
    char folder[GX_FILE_NAME_SIZE];
    memcpy(folder, path, size);
    folder[size] = 0;
    int rc = gx_folder_look(folder, error);
    if (rc != GALE_NOT_FOUND) return rc;
    if (gx_disk_now()->make_folder(folder, 0777) != 0 && errno != EEXIST)
        return gale_error_set(error, GALE_IO, "cannot make the folder '%s': %s", folder, strerror(errno));
    return lasting ? sync_parent(folder, error) : GALE_OK;
}

int gx_folder_make_way(const char *path, bool lasting, gale_error *error) {
    char folder[GX_FILE_NAME_SIZE];
    const char *last = strrchr(path, '/');
    if (strlen(path) > GX_FILE_PATH_MAX) return gale_error_set(error, GALE_TOO_LARGE, "the path is too long");
    if (!last || last == path) return GALE_OK;
    memcpy(folder, path, (size_t)(last - path));
    folder[last - path] = 0;
    int rc = gx_folder_look(folder, error); /* most are */
    if (rc != GALE_NOT_FOUND) return rc;
    rc = GALE_OK;
    for (const char *at = strchr(path + 1, '/'); at && rc == GALE_OK; at = strchr(at + 1, '/'))
        if (at[-1] != '/') rc = make_one(path, (size_t)(at - path), lasting, error);
    return rc;
}

static bool is_known(const char *name, const char *const *known) {
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return true;
    for (; *known; known++)
        if (strcmp(name, *known) == 0) return true;
    return false;
}

int gx_folder_stranger(const char *path, const char *const *known, char ret_name[256], gale_error *error) {
    DIR *folder = opendir(path);
    if (!folder) return gale_error_set(error, GALE_IO, "cannot read the folder '%s': %s", path, strerror(errno));
    ret_name[0] = 0;
    for (const struct dirent *one; !ret_name[0] && (one = readdir(folder));)
        if (!is_known(one->d_name, known)) snprintf(ret_name, 256, "%s", one->d_name);
    closedir(folder);
    return GALE_OK;
}

/* --- Copies ------------------------------------------------------------------------------------------------------- */

static int join(const char *folder, const char *name, char path[GX_FILE_NAME_SIZE], gale_error *error) {
    if (strlen(folder) + 1 + strlen(name) > GX_FILE_PATH_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "the path of '%.100s' in '%.100s...' is too long", name, folder);
    size_t size = strlen(folder);
    memcpy(path, folder, size);
    path[size] = '/';
    memcpy(path + size + 1, name, strlen(name) + 1);
    return GALE_OK;
}

static int copy_bytes(int from, int to, const char *from_path, const char *to_path, gale_error *error) {
    char bytes[16384];
    int64_t got;
    while ((got = gx_file_read(from, bytes, sizeof bytes, from_path, error)) > 0) {
        int rc = gx_file_write(to, bytes, (size_t)got, to_path, error);
        if (rc < 0) return rc;
    }
    return got < 0 ? (int)got : gx_file_sync(to, to_path, error);
}

static int copy_file(const char *from, const char *to, gale_error *error) {
    int in, rc = gx_file_open(from, &in, NULL, error);
    if (rc < 0) return rc;
    int out = gx_disk_now()->open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out < 0) {
        rc = gale_error_set(error, GALE_IO, "cannot make '%s': %s", to, strerror(errno));
    } else {
        rc = copy_bytes(in, out, from, to, error);
        int closed = gx_file_close_written(out, to, rc == GALE_OK ? error : NULL);
        if (rc == GALE_OK) rc = closed;
    }
    gx_file_close(in);
    return rc == GALE_OK ? gx_file_sync_name(to, error) : rc;
}

static int copy_named(const char *from, const char *to, const char *name, gale_error *error) {
    char source[GX_FILE_NAME_SIZE], target[GX_FILE_NAME_SIZE];
    gx_file_about about;
    int rc = join(from, name, source, error);
    if (rc == GALE_OK) rc = join(to, name, target, error);
    if (rc == GALE_OK) rc = gx_file_about_path(source, &about, error);
    if (rc == GALE_NOT_FOUND) return GALE_OK;
    return rc < 0 || !about.regular ? rc : copy_file(source, target, error);
}

static int remove_named(const char *folder, const char *name, gale_error *error) {
    char path[GX_FILE_NAME_SIZE];
    int rc = join(folder, name, path, error);
    if (rc < 0 || gx_disk_now()->unlink(path) == 0 || errno == ENOENT) return rc;
    return gale_error_set(error, GALE_IO, "cannot remove '%s': %s", path, strerror(errno));
}

int gx_folder_remove_files(const char *path, const char *const *names, gale_error *error) {
    int rc = GALE_OK;
    for (; rc == GALE_OK && *names; names++) rc = remove_named(path, *names, error);
    return rc;
}

int gx_folder_remove(const char *path, const char *const *names, gale_error *error) {
    int rc = gx_folder_look(path, error);
    if (rc == GALE_NOT_FOUND) return GALE_OK;
    if (rc == GALE_OK) rc = gx_folder_remove_files(path, names, error);
    if (rc < 0 || rmdir(path) == 0) return rc;
    return gale_error_set(error, errno == ENOTEMPTY || errno == EEXIST ? GALE_EXISTS : GALE_IO,
                          "cannot remove the folder '%s': %s", path, strerror(errno));
}

int gx_folder_rename(const char *from, const char *to, gale_error *error) {
    if (gx_disk_now()->rename(from, to) != 0)
        return gale_error_set(error, errno == ENOTEMPTY || errno == EEXIST ? GALE_EXISTS : GALE_IO,
                              "cannot make the folder '%s': %s", to, strerror(errno));
    return sync_parent(to, error);
}

int gx_folder_check_free(const char *path, gale_error *error) {
    static const char *const none[] = { NULL };
    char name[256];
    int rc = gx_folder_look(path, error);
    if (rc == GALE_NOT_FOUND) return GALE_OK;
    if (rc == GALE_OK) rc = gx_folder_stranger(path, none, name, error);
    if (rc < 0 || !name[0]) return rc;
    return gale_error_set(error, GALE_EXISTS, "the folder '%s' is there already, with '%s' in it", path, name);
}

int gx_folder_copy(const char *from, const char *to, const char *const *names, gale_error *error) {
    char part[GX_FILE_NAME_SIZE];
    int rc = gx_file_beside(to, ".part", part, error);
    if (rc == GALE_OK) rc = gx_folder_check_free(to, error);
    if (rc == GALE_OK) rc = gx_folder_remove(part, names, error);
    if (rc == GALE_OK) rc = gx_folder_make(part, error);
    if (rc < 0) return rc;
    for (const char *const *name = names; rc == GALE_OK && *name; name++) rc = copy_named(from, part, *name, error);
    if (rc == GALE_OK) rc = gx_folder_rename(part, to, error);
    if (rc < 0) gx_folder_remove(part, names, NULL);
    return rc;
}

/* --- What is in one ----------------------------------------------------------------------------------------------- */

int gx_folder_each(const char *path, const char *prefix, gx_folder_each_fn *each, void *user, gale_error *error) {
    DIR *folder = opendir(path);
    if (!folder) return gale_error_set(error, GALE_IO, "cannot read the folder '%s': %s", path, strerror(errno));
    int rc = 0;
    for (const struct dirent *one; rc == 0 && (one = readdir(folder));)
        if (strncmp(one->d_name, prefix, strlen(prefix)) == 0) rc = each(user, one->d_name);
    closedir(folder);
    return rc;
}
