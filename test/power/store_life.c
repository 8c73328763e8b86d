/* A life of a store, for power_test.py: it is made in the folder "store", commits, tidies up, is closed and opened, and
 * tells of each commit that is synced; and a look at one that lost power.
 *
 *   store_life run COMMITS
 *   store_life check COMMITS TOLD     the last commit that was told must be there, and of one commit exactly its contents
 */
#include "store/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rig at = { .folder = "store", .log_bytes = 60000, .error = GALE_ERROR_INIT };

static int fail(const char *what, uint64_t number) {
    fprintf(stderr, "store_life: %s, commit %llu: %s\n", what, (unsigned long long)number, at.error.text);
    return 1;
}

static void tell(uint64_t number) {
    char text[30];
    int size = snprintf(text, sizeof text, "%llu\n", (unsigned long long)number);
    if (write(STDOUT_FILENO, text, (size_t)size) != size) exit(1);
}

static int commit(uint64_t number) {
    bool sync = number % 5 != 3;
    uint64_t made = 0;
    if (rig_model_change(&at, number, 4) != 0) return -1;
    int rc = at.store.commit(at.store.self, sync ? GALE_STORE_SYNC : 0, &made, &at.error);
    if (rc == 0 && sync) tell(made);
    if (rc == 0 && number % 7 == 0) rc = at.store.tidy(at.store.self, &at.error);
    if (rc != 0 || number % 23) return rc;
    rig_close(&at);
    rc = rig_open(&at, "words", false);
    if (rc == 0) tell(number); /* what is found at an opening lasts */
    return rc;
}

static int run(uint64_t commits) {
    if (rig_open(&at, "words", true) < 0) return fail("cannot be made", 0);
    tell(0);
    for (uint64_t number = 1; number <= commits; number++)
        if (commit(number) != 0) return fail("cannot go on", number);
    rig_close(&at);
    return 0;
}

static int check(uint64_t commits, bool was_told, uint64_t least) {
    gale_store_about about = { .size = sizeof about };
    int rc = rig_open(&at, "words", !was_told);
    if (rc < 0) return fail("cannot be opened", least);
    at.store.about(at.store.self, &about, NULL);
    if (about.commit < least || about.commit > commits) return fail("is at another one than was told", about.commit);
    if (rig_model_check(&at, about.commit, 4) != 0) return fail("has other contents", about.commit);
    rig_close(&at);
    return 0;
}

/* The last whole number in a file. */
static bool read_told(const char *path, uint64_t *ret_number) {
    char line[40];
    bool any = false;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        *ret_number = strtoull(line, NULL, 10);
        any = true;
    }
    if (file) fclose(file);
    return any;
}

int main(int count, char **words) {
    uint64_t commits = count > 2 ? strtoull(words[2], NULL, 10) : 0, least = 0;
    if (count == 3 && strcmp(words[1], "run") == 0) return run(commits);
    if (count != 4 || strcmp(words[1], "check") != 0) return 2;
    bool was_told = read_told(words[3], &least);
    return check(commits, was_told, least);
}
