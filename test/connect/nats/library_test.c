#include "connect/nats/library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <nats/nats.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { USERS = 4, TIMES = 50, PATIENCE = 3000 };

static size_t count_threads(void) {
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *one; (one = readdir(tasks));) count += one->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* A thread that was joined may be seen for a moment longer. */
static void wait_for_threads(size_t count) {
    const struct timespec moment = { .tv_nsec = 10000000 };
    for (int i = 0; i < PATIENCE && count_threads() > count; i++) nanosleep(&moment, NULL);
    assert_true(count_threads() <= count);
}

/* What opens cnats. */
static natsStatus use(void) {
    natsInbox *inbox = NULL;
    natsStatus status = natsInbox_Create(&inbox);
    natsInbox_Destroy(inbox);
    return status;
}

static void the_last_release_ends_all_threads_and_the_next_hold_begins_anew(void **state) {
    size_t before = count_threads();
    (void)state;
    for (int i = 0; i < 3; i++) {
        nats_library_hold();
        nats_library_hold();
        assert_int_equal(use(), NATS_OK);
        nats_library_release();
        assert_true(count_threads() > before);
        assert_int_equal(use(), NATS_OK);
        nats_library_release();
        wait_for_threads(before);
    }
}

static void a_hold_without_use_ends_as_well(void **state) {
    size_t before = count_threads();
    (void)state;
    nats_library_hold();
    nats_library_release();
    wait_for_threads(before);
}

static void *hold_and_use(void *failed) {
    for (int i = 0; i < TIMES; i++) {
        nats_library_hold();
        if (use() != NATS_OK) *(bool *)failed = true;
        nats_ReleaseThreadMemory();
        nats_library_release();
    }
    return NULL;
}

/* As several runs of one process begin and end; cnats wants to be opened by one at a time. */
static void whoever_holds_it_may_use_it_while_others_come_and_go(void **state) {
    pthread_t users[USERS];
    bool failed[USERS] = { false };
    size_t before = count_threads();
    (void)state;
    for (int i = 0; i < USERS; i++) assert_int_equal(pthread_create(&users[i], NULL, hold_and_use, &failed[i]), 0);
    for (int i = 0; i < USERS; i++) assert_int_equal(pthread_join(users[i], NULL), 0);
    for (int i = 0; i < USERS; i++) assert_false(failed[i]);
    wait_for_threads(before);
}

typedef void call(void);

static call *find(void *module, const char *name) {
    union {
        void *address;
        call *function;
    } found = { .address = dlsym(module, name) };
    assert_non_null(found.address);
    return found.function;
}

/* This program is linked to cnats, and the module was loaded behind it. */
static void cnats_of_the_program_itself_stays_open(void **state) {
    void *module = dlopen(GALE_TEST_MODULE, RTLD_NOW | RTLD_LOCAL);
    size_t before = count_threads();
    (void)state;
    assert_non_null(module);
    find(module, "nats_library_hold")();
    assert_int_equal(use(), NATS_OK);
    find(module, "nats_library_release")();
    assert_true(count_threads() > before);
    dlclose(module);
    assert_int_equal(nats_CloseAndWait(0), NATS_OK);
    wait_for_threads(before);
}

static void *do_nothing(void *user) {
    return user;
}

/* A sanitizer has a thread of its own from the first other one on. */
static int begin_threads(void **state) {
    pthread_t first;
    (void)state;
    return pthread_create(&first, NULL, do_nothing, NULL) || pthread_join(first, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_release_ends_all_threads_and_the_next_hold_begins_anew),
        cmocka_unit_test(a_hold_without_use_ends_as_well),
        cmocka_unit_test(whoever_holds_it_may_use_it_while_others_come_and_go),
        cmocka_unit_test(cnats_of_the_program_itself_stays_open),
    };
    return cmocka_run_group_tests(tests, begin_threads, NULL);
}
