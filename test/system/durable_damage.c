/* `gale run --state` with what a killed run has left, in which a byte was flipped, a file was cut, removed, added or put back
 * to an older one: it goes on and ends with the exact result, or it is refused with the file and what is wrong. Each in a
 * child, since nobody knows what a program does with what it is given.
 *
 * Usage: durable_damage [STRIDE [OFFSET]]: every STRIDE-th case from the OFFSET-th (default 1, 0: all, half an hour). */
#include "durable_rig.h"

#include "cli/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HANGS = 60, EXACT = 0, REFUSED = 1, WRONG = 2, OUTCOMES };

static struct {
    unsigned long stride, offset, cases;
    unsigned long came[OUTCOMES], of_file[DURABLE_FILES][OUTCOMES];
    durable_run *run; /* by the child; shared */
    char *flaw;
} all;

/* --- One ---------------------------------------------------------------------------------------------------------- */

static int look(void) {
    alarm(HANGS);
    durable_rig_run(false, all.run);
    if (all.run->code == GX_EXIT_OK || all.run->code == GX_EXIT_FAILED) {
        const char *flaw = durable_rig_flaw();
        snprintf(all.flaw, DURABLE_SAID, "%s", flaw ? flaw : "");
        return flaw ? WRONG : EXACT;
    }
    bool named = strstr(all.run->said, "gale: ") && strstr(all.run->said, durable_rig_data());
    snprintf(all.flaw, DURABLE_SAID, "it is refused, and no file is named");
    return named && (all.run->code == GX_EXIT_IO || all.run->code == GX_EXIT_USAGE) ? REFUSED : WRONG;
}

static void stop(const char *what, const char *name, size_t where, const char *why) {
    fprintf(stderr, "case %lu: %s of %s at %zu: exit code %d: %s\n%s", all.cases - 1, what, name, where, all.run->code,
            why, all.run->said);
    exit(1);
}

/* Is the next case one of those that were asked for? */
static bool is_next(void) {
    return all.cases++ % all.stride == all.offset;
}

static int outcome_of(const durable_image *image, const char *what, const char *name, size_t where) {
    int status = 0;
    durable_image_put(image);
    memset(all.run, 0, sizeof *all.run);
    pid_t child = fork();
    if (child == 0) _exit(look());
    if (child < 0 || waitpid(child, &status, 0) != child) stop(what, name, where, strerror(errno));
    if (!WIFEXITED(status)) stop(what, name, where, strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) >= WRONG) stop(what, name, where, all.flaw);
    all.came[WEXITSTATUS(status)]++;
    return WEXITSTATUS(status);
}

/* "out.000001": it was full before the checkpoint, which has nothing of it. Who reads results may move it away. */
static bool is_finished(const char *name) {
    return strncmp(name, "out.", 4) == 0;
}

/* --- Bytes -------------------------------------------------------------------------------------------------------- */

static void flip(const durable_image *image, int file, size_t at, unsigned char bits) {
    if (!is_next()) return;
    image->files[file].bytes[at] ^= (char)bits;
    all.of_file[file][outcome_of(image, "a flip", image->files[file].name, at)]++;
    image->files[file].bytes[at] ^= (char)bits;
}

static void cut(durable_image *image, int file, size_t at) {
    if (!is_next()) return;
    size_t size = image->files[file].size;
    image->files[file].size = at;
    all.of_file[file][outcome_of(image, "a cut", image->files[file].name, at)]++;
    image->files[file].size = size;
}

static void damage_bytes(durable_image *image, const char *name) {
    unsigned long before[OUTCOMES];
    memcpy(before, all.came, sizeof before);
    for (int file = 0; file < image->count; file++)
        for (size_t at = 0; at < image->files[file].size && !is_finished(image->files[file].name); at++) {
            flip(image, file, at, (unsigned char)(1u << (at * 5 + (size_t)file) % 8));
            flip(image, file, at, 0xff);
            cut(image, file, at);
        }
    printf("%-26s %6lu exact, %6lu refused\n", name, all.came[EXACT] - before[EXACT],
           all.came[REFUSED] - before[REFUSED]);
    for (int file = 0; file < image->count; file++)
        printf("    %-22s %6lu exact, %6lu refused; %zu bytes\n", image->files[file].name, all.of_file[file][EXACT],
               all.of_file[file][REFUSED], image->files[file].size);
    memset(all.of_file, 0, sizeof all.of_file);
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

/* A sink's file of which the checkpoint has nothing yet need not be there, nor the log when it was tidied up. */
static void remove_each(const durable_image *image) {
    static const char *const needs[] = { "state/gale-store", "state/commit", "state/data" };
    for (int file = 0; file < image->count; file++) {
        if (is_finished(image->files[file].name)) continue;
        durable_image without = *image;
        without.files[file] = without.files[--without.count];
        int is = outcome_of(&without, "the removal", image->files[file].name, 0);
        bool needed = false;
        for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
            needed = needed || strcmp(image->files[file].name, needs[i]) == 0;
        if (needed && is != REFUSED) stop("the removal", image->files[file].name, 0, "this was not expected");
    }
}

static void add_each(const durable_image *image) {
    static const char *const names[] = { "state/data-journal", "state/data-shm",  "state/gale-store.new",
                                         "state/commit.new",   "state/something", "state/data-wal.old" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        durable_image with = *image;
        with.files[with.count] = with.files[0];
        snprintf(with.files[with.count++].name, DURABLE_NAME, "%s", names[i]);
        if (outcome_of(&with, "the addition", names[i], 0) != EXACT) stop("the addition", names[i], 0, "refused");
    }
}

static bool is_same(const durable_image *a, int i, const durable_image *b, int k) {
    return a->files[i].size == b->files[k].size && memcmp(a->files[i].bytes, b->files[k].bytes, a->files[i].size) == 0;
}

/* Where `bits` says so, the files of the state are those of an older moment. The whole folder of then is a state as good as
 * any. */
static void put_back(const durable_image *new, const durable_image *old, unsigned bits) {
    durable_image mixed = *new;
    bool whole = true;
    for (int i = 0, state = 0; i < mixed.count; i++) {
        if (strncmp(mixed.files[i].name, "state/", 6) != 0) continue;
        int k = 0;
        while (k < old->count && strcmp(old->files[k].name, mixed.files[i].name) != 0) k++;
        if (k == old->count) stop("putting back", mixed.files[i].name, bits, "there was none");
        if (!(bits >> state++ & 1))
            whole = whole && is_same(old, k, new, i);
        else
            mixed.files[i] = old->files[k];
    }
    int is = outcome_of(&mixed, "putting back", "the files", bits);
    if (whole && is != EXACT) stop("putting back", "the whole folder", bits, "refused");
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static void *shared_memory(size_t size) {
    void *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) exit(2);
    return made;
}

int main(int count, char **words) {
    durable_image died, again;
    all.stride = count > 1 ? strtoul(words[1], NULL, 10) : 1;
    all.offset = count > 2 ? strtoul(words[2], NULL, 10) : 0;
    if (!all.stride || all.offset >= all.stride) return 2;
    all.run = shared_memory(sizeof *all.run);
    all.flaw = shared_memory(DURABLE_SAID);
    durable_rig_begin(24);
    durable_rig_die(NULL, &died);
    durable_rig_die(&died, &again);
    all.cases = 1;
    if (outcome_of(&died, "nothing", "all", 0) != EXACT || outcome_of(&again, "nothing", "all", 0) != EXACT) return 1;
    remove_each(&again);
    add_each(&again);
    for (unsigned bits = 0; bits < 32; bits++) put_back(&again, &died, bits);
    printf("%-26s %6lu exact, %6lu refused\n", "files", all.came[EXACT], all.came[REFUSED]);
    damage_bytes(&died, "after a first run");
    damage_bytes(&again, "after a next run");
    durable_image_free(&died);
    durable_image_free(&again);
    durable_rig_end();
    return all.came[REFUSED] > 10 ? 0 : 1;
}
