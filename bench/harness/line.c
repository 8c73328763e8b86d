/* gale_bench_line: how far apart are the two cores just now? A cache line goes there and back; prints the median ns of a
 * round trip for each line that comes in. The hypervisor of a virtual machine may move its cores between near (below
 * about 200 ns) and far, which changes everything that crosses cores several times over. Threads keep to the first two
 * cores that the process may use; with one core it prints 0. */
#include "base/atomic.h"
#include "base/os/cpu.h"
#include "base/os/thread.h"
#include "base/os/time.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 21, TRIPS = 500 };

static struct {
    alignas(GX_APART) gx_atomic64 there;
    alignas(GX_APART) gx_atomic64 back;
} lines;

/* Where the n-th of the process's cores is; -1: nowhere. */
static int core(int n) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set) && n-- == 0) return i;
    return -1;
}

static void keep_to(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

static void *answer(void *user) {
    keep_to(*(const int *)user);
    for (uint64_t i = 1; i <= (uint64_t)BATCHES * TRIPS; i++) {
        while (gx_load_acquire(&lines.there) != i) gx_os_cpu_relax(); /* A1 */
        gx_store_release(&lines.back, i);                             /* R2 */
    }
    return NULL;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of batches: one that was interrupted counts as one. */
static double round_trip(int other) {
    double batches[BATCHES];
    gx_store_relaxed(&lines.there, 0);
    gx_store_relaxed(&lines.back, 0);
    gx_thread thread;
    if (!gx_thread_start(&thread, "answer", answer, &other)) return 0;
    uint64_t i = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        int64_t began = gx_os_monotonic();
        for (int trip = 0; trip < TRIPS; trip++) {
            gx_store_release(&lines.there, ++i);                         /* R1 */
            while (gx_load_acquire(&lines.back) != i) gx_os_cpu_relax(); /* A2 */
        }
        batches[batch] = (double)(gx_os_monotonic() - began) / TRIPS;
    }
    gx_thread_join(&thread, -1);
    qsort(batches, BATCHES, sizeof *batches, by_size);
    return batches[BATCHES / 2];
}

int main(void) {
    char line[64];
    int one = core(0), other = core(1);
    if (other >= 0) keep_to(one);
    while (fgets(line, sizeof line, stdin)) {
        printf("%.1f\n", other >= 0 ? round_trip(other) : 0);
        fflush(stdout);
    }
    return 0;
}
