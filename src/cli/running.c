#include "cli/running.h"

#include "base/buf.h"
#include "base/nearest.h"
#include "base/os/folder.h"
#include "base/str.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- Sockets ------------------------------------------------------------------------------------------------------- */

bool gx_running_read(const char *file, gx_running *ret_running) {
    gale_str all = gx_str(file), digits;
    const gale_str ending = gx_str(".sock");
    if (all.size <= ending.size || memcmp(all.data + all.size - ending.size, ending.data, ending.size) != 0)
        return false;
    all.size -= ending.size;
    size_t dot = all.size;
    while (dot > 0 && all.data[dot - 1] != '.') dot--;
    digits = (gale_str){ all.data + dot, all.size - dot };
    if (dot < 2 || dot - 1 >= sizeof ret_running->name) return false;
    if (!gx_str_number(digits, 10, INT32_MAX, &ret_running->pid) || digits.data[0] == '0') return false;
    snprintf(ret_running->name, sizeof ret_running->name, "%.*s", (int)(dot - 1), file);
    return true;
}

/* Who connects and says nothing is no trouble for who listens. */
static bool listens(const char *path) {
    gx_address address;
    int fd;
    if (gx_address_path(path, &address, NULL) < 0) return false;
    if (gx_socket_connect(&address, GX_SOCKET_STREAM, &fd) < 0) return errno == EAGAIN; /* nobody more has room */
    gx_socket_close(fd);
    return true;
}

/* A process that is about to listen has its path already: one that is there is not taken for gone. */
static bool is_gone(uint64_t pid) {
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static int look(void *user, const char *file) {
    gx_runnings *all = user;
    gx_running *one = &all->list[all->count];
    char folder[GX_DOOR_PATH];
    if (all->count == GX_RUNNING_MAX) all->more = true;
    if (all->more || !gx_door_folder(folder) || !gx_running_read(file, one)) return 0;
    if (snprintf(one->path, sizeof one->path, "%s/%s", folder, file) >= (int)sizeof one->path) return 0;
    if (listens(one->path))
        all->count++;
    else if (is_gone(one->pid))
        (void)unlink(one->path);
    return 0;
}

static int by_name(const void *a, const void *b) {
    const gx_running *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->pid > y->pid) - (x->pid < y->pid);
}

int gx_running_list(gx_runnings *ret_all, gale_error *error) {
    char folder[GX_DOOR_PATH];
    ret_all->count = 0;
    ret_all->more = false;
    if (!gx_door_folder(folder)) return gx_door_too_long(error);
    int rc = gx_folder_look(folder, error);
    if (rc == GALE_NOT_FOUND) return GALE_OK;
    if (rc >= 0) rc = gx_folder_make_own(folder, error);
    if (rc >= 0) rc = gx_folder_each(folder, "", look, ret_all, NULL);
    if (rc < 0 && gx_folder_look(folder, NULL) == GALE_NOT_FOUND) return GALE_OK; /* the last one has just removed it */
    if (rc == GALE_IO) rc = gale_error_set(error, rc, "cannot read the folder '%s'", folder);
    if (rc >= 0) qsort(ret_all->list, ret_all->count, sizeof *ret_all->list, by_name);
    return rc;
}

/* --- Which is meant ------------------------------------------------------------------------------------------------ */

/* A name that was too long for a path was cut. */
static bool is_beginning(const gx_running *one, const char *wanted) {
    return strlen(one->path) + 4 >= GX_DOOR_PATH && strncmp(one->name, wanted, strlen(one->name)) == 0;
}

static bool is_meant(const gx_running *one, const char *wanted, bool by_number) {
    char number[32], whole[GX_DOOR_PATH + 32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)one->pid);
    snprintf(whole, sizeof whole, "%s.%s", one->name, number);
    if (by_number) return strcmp(wanted, number) == 0 || strcmp(wanted, whole) == 0;
    return strcmp(wanted, one->name) == 0 || is_beginning(one, wanted);
}

static int none(const gx_runnings *all, const char *wanted, gale_error *error) {
    char hint[200];
    gx_nearest nearest = gx_nearest_to(gx_str(wanted ? wanted : ""));
    if (!all->count) return gale_error_set(error, GALE_NOT_FOUND, "you run no topology that can be reached (gale ps)");
    for (size_t i = 0; i < all->count; i++) gx_nearest_offer(&nearest, gx_str(all->list[i].name));
    return gale_error_set(error, GALE_NOT_FOUND, "you run no topology '%s'%s (gale ps lists them)", wanted,
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int several(const gx_runnings *all, const char *wanted, gale_error *error) {
    gx_buf names = GX_BUF_INIT(NULL);
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (wanted && !is_meant(&all->list[i], wanted, false)) continue;
        gx_buf_format(&names, "%s%s.%llu", count++ ? ", " : "", all->list[i].name,
                      (unsigned long long)all->list[i].pid);
    }
    const char *list = gx_buf_text(&names);
    int rc = gale_error_set(error, GALE_EXISTS, "which one of %zu? %s", count, list ? list : "");
    gx_buf_fini(&names);
    return rc;
}

/* A topology may be called like a number: a name comes first. */
static int find_in(const gx_runnings *all, const char *wanted, gx_running *ret_running, gale_error *error) {
    for (int by_number = 0; by_number < 2; by_number++) {
        size_t found = 0;
        for (size_t i = 0; i < all->count; i++) {
            if (wanted && !is_meant(&all->list[i], wanted, by_number)) continue;
            if (!found++) *ret_running = all->list[i];
        }
        if (found > 1) return several(all, wanted, error);
        if (found) return GALE_OK;
    }
    return none(all, wanted, error);
}

int gx_running_find(const char *wanted, gx_running *ret_running, gale_error *error) {
    gx_runnings *all = malloc(sizeof *all);
    if (!all) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = gx_running_list(all, error);
    if (rc >= 0) rc = find_in(all, wanted, ret_running, error);
    free(all);
    return rc;
}
