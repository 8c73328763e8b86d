/* A process that is killed at any moment: opening, committing, tidying up, closing. */
#include "store/rig.h"

#include "harness/faulty_disk.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIVES = 300 };

static rig at;

static int setup(void **state) {
    (void)state;
    rig_begin(&at, "crash");
    at.log_bytes = 30000; /* so that much of the time is spent in tidying up */
    return 0;
}

static int teardown(void **state) {
    (void)state;
    rig_end(&at);
    return 0;
}

static void tell(int to, uint64_t number) {
    if (write(to, &number, sizeof number) != (ssize_t)sizeof number) _exit(9);
}

/* Commits on and on, synced and not, closes and opens, and tells what was made to last. */
static void live(int to) {
    faulty_disk_use((faulty_plan){ .folder = at.folder }); /* syncs are counted, and cost nothing */
    for (;;) {
        gale_store_about about = { .size = sizeof about };
        rig_open_well(&at);
        at.store.about(at.store.self, &about, NULL);
        uint64_t number = about.commit;
        if (rig_model_check(&at, number, 1) != 0) _exit(8);
        for (int i = 0; i < 12; i++) {
            bool lazy = i % 4 == 1;
            if (rig_model_change(&at, number + 1, 1) != 0) _exit(7);
            if (at.store.commit(at.store.self, lazy ? 0 : GALE_STORE_SYNC, &number, &at.error) != 0) _exit(6);
            tell(to, number); /* a process's death takes nothing, synced or not */
            if (i % 5 == 4 && at.store.tidy(at.store.self, &at.error) != 0) _exit(5);
        }
        rig_close(&at);
    }
}

/* How long a life is at the most: it is made to fit the machine, so that about one in three dies before its first commit. */
enum { SHORTEST_US = 12000, LONGEST_US = 10000000 };
static double longest_us;

static void rest(unsigned life) {
    double us = longest_us * (0.02 + 0.98 * (life * 7919u % 97u) / 96);
    struct timespec time = { (time_t)(us / 1e6), (long)(us - (double)(time_t)(us / 1e6) * 1e6) * 1000 };
    nanosleep(&time, NULL);
}

static void fit(bool committed) {
    longest_us *= committed ? 0.95 : 1.12;
    if (longest_us < SHORTEST_US) longest_us = SHORTEST_US;
    if (longest_us > LONGEST_US) longest_us = LONGEST_US;
}

/* What the child told last before it was killed. */
static uint64_t a_life(unsigned number) {
    int ends[2], status = 0;
    uint64_t told = 0, last = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        live(ends[1]);
    }
    close(ends[1]);
    rest(number);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) fail_msg("life %u ended by itself: %d", number, WEXITSTATUS(status));
    while (read(ends[0], &told, sizeof told) == (ssize_t)sizeof told) last = told;
    close(ends[0]);
    return last;
}

/* What is found must be what was told, or the commit that was just being made. Returns its number. */
static uint64_t look(unsigned life, uint64_t told) {
    gale_store_about about = { .size = sizeof about };
    rig_open_well(&at);
    assert_int_equal(at.store.about(at.store.self, &about, NULL), 0);
    assert_in_range(about.commit, told, told + 1);
    int rc = rig_model_check(&at, about.commit, 1);
    if (rc) fail_msg("after life %u, commit %lu: %d %s", life, (unsigned long)about.commit, rc, at.error.text);
    rig_close(&at);
    return about.commit;
}

/* Two lives of three begin with what the one before has left; each fortieth has to make the store. */
static void a_process_that_is_killed_at_any_moment_loses_no_commit(void **state) {
    (void)state;
    uint64_t last = 0;
    unsigned committing = 0;
    longest_us = SHORTEST_US;
    for (unsigned life = 0; life < LIVES; life++) {
        rig_image left;
        uint64_t told = a_life(life);
        committing += told > last;
        fit(told > last);
        rig_image_take(&at, &left);
        last = look(life, told > last ? told : last);
        if (life % 3) rig_image_put(&at, &left);
        rig_image_free(&left);
        if (life % 40 == 39) {
            rig_end(&at);
            last = 0;
        }
    }
    assert_true(committing > LIVES / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_process_that_is_killed_at_any_moment_loses_no_commit, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
