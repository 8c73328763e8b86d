/* Ends the process, as kill -9 does, just before the n-th call that changes a file or waits for the disk; n is in
 * GALE_KILL_AT. Loaded before all other libraries: so a program dies inside a commit, between two of its steps, or while it
 * goes on from one. Threads: any. */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic int64_t left;

__attribute__((constructor)) static void begin(void) {
    const char *at = getenv("GALE_KILL_AT");
    atomic_store(&left, at ? strtoll(at, NULL, 10) : INT64_MAX);
}

static void count(void) {
    if (atomic_fetch_sub(&left, 1) == 1) kill(getpid(), SIGKILL);
}

#define WRAP(type, name, parameters, arguments)                                                                        \
    type name parameters {                                                                                             \
        static _Atomic(void *) found;                                                                                  \
        void *real = atomic_load(&found);                                                                              \
        if (!real) atomic_store(&found, real = dlsym(RTLD_NEXT, #name));                                               \
        count();                                                                                                       \
        return ((type(*) parameters)(uintptr_t)real)arguments;                                                         \
    }

WRAP(int, fsync, (int fd), (fd))
WRAP(int, fdatasync, (int fd), (fd))
WRAP(int, ftruncate, (int fd, off_t size), (fd, size))
WRAP(int, ftruncate64, (int fd, off64_t size), (fd, size))
WRAP(ssize_t, pwrite, (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at))
WRAP(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off64_t at), (fd, bytes, size, at))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, unlink, (const char *path), (path))
