#include "base/os/gathered.h"

#include "base/os/file.h"
#include "base/os/thread.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 100 }; /* a millisecond each */

/* The handler of a signal may look at it: see front/plugin_note.c. How many writers have lines of this thread, at least. */
static _Thread_local __attribute__((tls_model("initial-exec"))) uint32_t waiting;

static pthread_mutex_t locks[GX_GATHERED_LOCKS] = { [0 ... GX_GATHERED_LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER };

/* All that are open. The mutex is locked before one of the above. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static gx_gathered *list;

static pthread_mutex_t *lock_of(const gx_gathered *gathered) {
    return &locks[(unsigned)gathered->fd % GX_GATHERED_LOCKS];
}

int gx_gathered_open(gx_gathered *gathered, gx_heap *heap, int fd, const char *name) {
    *gathered = (gx_gathered){ .heap = heap, .fd = fd, .name = name };
    gathered->bytes = gx_alloc(heap, GX_TAG_OTHER, GX_GATHERED_SIZE);
    if (!gathered->bytes) return GALE_NO_MEMORY;
    pthread_mutex_lock(&list_lock);
    gathered->next = list;
    if (list) list->previous = gathered;
    list = gathered;
    pthread_mutex_unlock(&list_lock);
    return GALE_OK;
}

void gx_gathered_close(gx_gathered *gathered) {
    if (!gathered->bytes) return;
    pthread_mutex_lock(&list_lock);
    if (gathered->next) gathered->next->previous = gathered->previous;
    if (gathered->previous)
        gathered->previous->next = gathered->next;
    else
        list = gathered->next;
    pthread_mutex_unlock(&list_lock);
    gx_free(gathered->heap, GX_TAG_OTHER, gathered->bytes, GX_GATHERED_SIZE);
    gathered->bytes = NULL;
}

int gx_gathered_flush(gx_gathered *gathered, gale_error *error) {
    size_t size = gathered->bytes ? gx_load_relaxed(&gathered->size) : 0;
    if (!size) return GALE_OK;
    pthread_mutex_lock(lock_of(gathered));
    int rc = gx_file_append(gathered->fd, gathered->bytes, size, gathered->name, error);
    if (rc == GALE_OK) gx_store_relaxed(&gathered->size, 0);
    pthread_mutex_unlock(lock_of(gathered));
    if (rc == GALE_OK && gx_load_relaxed(&gathered->thread) == gx_thread_self()) waiting--;
    return rc;
}

static int write_long(const gx_gathered *gathered, gale_str lines, gale_error *error) {
    pthread_mutex_lock(lock_of(gathered));
    int rc = gx_file_append(gathered->fd, lines.data, lines.size, gathered->name, error);
    pthread_mutex_unlock(lock_of(gathered));
    return rc;
}

int gx_gathered_add(gx_gathered *gathered, gale_str lines, gale_error *error) {
    size_t size = gx_load_relaxed(&gathered->size);
    if (GX_UNLIKELY(lines.size > GX_GATHERED_SIZE - size)) {
        int rc = gx_gathered_flush(gathered, error);
        if (rc < 0) return rc;
        if (lines.size > GX_GATHERED_SIZE) return write_long(gathered, lines, error);
        size = 0;
    }
    if (!lines.size) return GALE_OK;
    if (!size) {
        gx_store_relaxed(&gathered->thread, gx_thread_self());
        waiting++;
    }
    memcpy(gathered->bytes + size, lines.data, lines.size);
    gx_store_release(&gathered->size, size + lines.size); /* R1: the lines are there */
    return GALE_OK;
}

void gx_gathered_flush_thread(void) {
    if (GX_LIKELY(!waiting)) return;
    pthread_mutex_lock(&list_lock);
    for (gx_gathered *at = list; at; at = at->next)
        if (gx_load_relaxed(&at->thread) == gx_thread_self()) (void)gx_gathered_flush(at, NULL);
    pthread_mutex_unlock(&list_lock);
}

/* --- Crashes ------------------------------------------------------------------------------------------------------ */

static bool lock_soon(pthread_mutex_t *mutex) {
    for (int i = 0; i < TRIES; i++) {
        if (pthread_mutex_trylock(mutex) == 0) return true;
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    }
    return false;
}

static void write_raw(int fd, const char *bytes, size_t size) {
    while (size) {
        ssize_t put = write(fd, bytes, size);
        if (put <= 0) return;
        bytes += put;
        size -= (size_t)put;
    }
}

/* The locks are kept: whoever waits for one would write the same lines again. */
void gx_gathered_crash(void) {
    bool has[GX_GATHERED_LOCKS] = { false };
    if (!lock_soon(&list_lock)) return;
    for (const gx_gathered *at = list; at; at = at->next) {
        size_t number = (unsigned)at->fd % GX_GATHERED_LOCKS;
        if (!gx_load_relaxed(&at->size)) continue;
        if (!has[number]) has[number] = lock_soon(&locks[number]);
        if (has[number]) write_raw(at->fd, at->bytes, gx_load_acquire(&at->size)); /* A1 */
    }
}
