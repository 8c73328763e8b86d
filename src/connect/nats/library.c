#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "connect/nats/library.h"

#include <link.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned holders; /* under it */

/* --- Whose it is ------------------------------------------------------------------------------------------------------------- */

typedef struct search {
    uintptr_t ours, theirs; /* an address of this plugin, one of cnats */
    bool ours_seen, theirs_first;
} search;

static bool has(const struct dl_phdr_info *object, uintptr_t address) {
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (object->dlpi_phdr[i].p_type == PT_LOAD && address - begin < object->dlpi_phdr[i].p_memsz) return true;
    }
    return false;
}

static int look(struct dl_phdr_info *object, size_t size, void *user) {
    search *s = user;
    (void)size;
    s->ours_seen = has(object, s->ours);
    s->theirs_first = !s->ours_seen && has(object, s->theirs);
    return s->ours_seen || s->theirs_first;
}

/* Objects are told in the order in which they were loaded, and what a plugin needs comes behind it: cnats before it was there before. */
static bool is_the_programs(void) {
    search s = { .ours = (uintptr_t)&lock, .theirs = (uintptr_t)nats_Open };
    (void)dl_iterate_phdr(look, &s);
    return s.theirs_first;
}

/* --- Its life ------------------------------------------------------------------------------------------------------------------ */

void nats_library_hold(void) {
    pthread_mutex_lock(&lock);
    holders++;
    pthread_mutex_unlock(&lock);
}

/* One that does not end in time is ended by cnats itself when its last thread goes; until then it does not open. */
void nats_library_release(void) {
    pthread_mutex_lock(&lock);
    if (--holders == 0 && !is_the_programs()) (void)nats_CloseAndWait(NATS_LIBRARY_END_MS);
    pthread_mutex_unlock(&lock);
}
