#include "base/os/cpu.h"

#include "base/atomic.h"

#include <sched.h>
#include <unistd.h>

enum { CACHE_LEAST = 512 << 10 };

uint32_t gx_os_cpu_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (uint32_t)count : 1;
}

/* The system may take long to say it. */
uint64_t gx_os_cpu_cache(void) {
    static gx_atomic64 known;
    uint64_t size = gx_load_relaxed(&known);
    if (GX_LIKELY(size)) return size;
    long said = sysconf(_SC_LEVEL2_CACHE_SIZE);
    size = said > CACHE_LEAST ? (uint64_t)said : CACHE_LEAST;
    gx_store_relaxed(&known, size);
    return size;
}

void gx_os_cpu_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void gx_os_cpu_yield(void) {
    sched_yield();
}
