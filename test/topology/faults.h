/* Makes the n-th allocation fail, once: the linker sends this program's calls of malloc, calloc and realloc here. */
#ifndef TEST_TOPOLOGY_FAULTS_H
#define TEST_TOPOLOGY_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static long calls_left; /* 0: none fails */
static bool has_failed;

static bool fails(void) {
    if (calls_left == 0 || --calls_left > 0) return false;
    has_failed = true;
    return true;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size) {
    return fails() ? NULL : __real_realloc(block, size);
}

static void fail_call(long n) {
    calls_left = n;
    has_failed = false;
}

#endif
