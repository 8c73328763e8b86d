/* Compares stores for the state of durable runs.
 *
 *   gale_bench_store cost BACKEND FOLDER KEYS VALUE     what it costs; FOLDER is made anew
 *   gale_bench_store loop BACKEND FOLDER KEYS VALUE     as in a run: a commit a second of 10,000 random keys, then tidy
 *   gale_bench_store harm BACKEND FOLDER KEYS STEP      every STEP-th byte flipped, every STEP-th length cut, in the
 *                                                       files whose names begin with BENCH_FILE, if that is set
 *
 * BENCH_SECONDS: how long `loop` goes on, and how many keys a second BENCH_DIRTY. Rows of "what<TAB>number<TAB>unit". Processor time is that of all threads. */
#include "backend.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 10000, PREFIXES = 64, SOME_CACHE = 64 << 20 };

static const backend *const all[] = {
#ifdef BENCH_ROCKSDB
    &backend_rocksdb,
#endif
#ifdef BENCH_SQLITE
    &backend_sqlite, &backend_gale,
#endif
    NULL
};

static void die(const char *what, const char *why) {
    fprintf(stderr, "gale_bench_store: %s: %s\n", what, why);
    exit(1);
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static double processor(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static uint64_t drawn = 1;

static uint64_t mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t draw(void) {
    return mixed(drawn += UINT64_C(0x9e3779b97f4a7c15));
}

/* Keys begin with a space's number, as components' do; within a space they are scattered. */
static void key_of(uint64_t i, unsigned char key[BACKEND_KEY]) {
    uint64_t hash = mixed(i + 1);
    memset(key, 0, BACKEND_KEY);
    key[3] = (unsigned char)(i % PREFIXES);
    for (int b = 0; b < 8; b++) key[4 + b] = (unsigned char)(hash >> (56 - 8 * b));
    memcpy(key + 12, &i, 4);
}

static void value_of(uint64_t i, uint64_t round, size_t size, unsigned char *value) {
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = mixed(i * 31 + round * 1000003 + at);
        memcpy(value + at, &word, size - at < 8 ? size - at : 8);
    }
}

static void row(const char *what, double number, const char *unit) {
    printf("%s\t%.2f\t%s\n", what, number, unit);
    fflush(stdout);
}

typedef void each_file(const char *path, void *user);

static void files(const char *folder, each_file *each, void *user) {
    DIR *open_folder = opendir(folder);
    for (struct dirent *one; open_folder && (one = readdir(open_folder));) {
        char path[4096 + 256];
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) each(path, user);
    }
    if (open_folder) closedir(open_folder);
}

static void add_size(const char *path, void *user) {
    struct stat about;
    if (stat(path, &about) == 0) *(double *)user += (double)about.st_size;
}

static void forget_pages(const char *path, void *user) {
    (void)user;
    int fd = open(path, O_RDONLY);
    if (fd < 0) return;
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

static double resident(void) {
    long pages = 0, skipped;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &skipped, &pages) != 2) pages = 0;
    if (file) fclose(file);
    return (double)pages * 4096 / 1e6;
}

static void *opened(const backend *with, const char *folder, size_t cache) {
    char why[BACKEND_WHY] = "";
    void *store = NULL;
    if (with->open(folder, cache, &store, why) < 0) die("open", why);
    return store;
}

static void commit(const backend *with, void *store, const backend_pair *pairs, size_t count, size_t size,
                   uint64_t number) {
    char why[BACKEND_WHY] = "";
    if (with->commit(store, pairs, count, size, number, why) < 0) die("commit", why);
}

static int by_size(const void *a, const void *b) {
    double one = *(const double *)a, two = *(const double *)b;
    return (one > two) - (one < two);
}

static void draw_pairs(backend_pair *pairs, size_t count, uint64_t keys, size_t size, uint64_t number) {
    for (size_t i = 0; i < count; i++) {
        uint64_t k = draw() % keys;
        key_of(k, pairs[i].key);
        value_of(k, number, size, pairs[i].value);
    }
}

/* `rounds` commits of `count` random keys. */
static void checkpoints(const backend *with, void *store, uint64_t keys, size_t size, size_t count, int rounds,
                        uint64_t *number) {
    backend_pair *pairs = calloc(count, sizeof *pairs);
    double *took = calloc((size_t)rounds, sizeof *took), used = 0;
    char name[80];
    for (int r = 0; r < rounds; r++) {
        draw_pairs(pairs, count, keys, size, *number);
        double began = now(), cpu = processor();
        commit(with, store, pairs, count, size, ++*number);
        took[r] = now() - began;
        used += processor() - cpu;
    }
    qsort(took, (size_t)rounds, sizeof *took, by_size);
    snprintf(name, sizeof name, "commit of %zu keys, median", count);
    row(name, took[rounds / 2] * 1e3, "ms");
    snprintf(name, sizeof name, "commit of %zu keys, worst of %d", count, rounds);
    row(name, took[rounds - 1] * 1e3, "ms");
    snprintf(name, sizeof name, "commit of %zu keys, processor", count);
    row(name, used / rounds * 1e3, "ms");
    free(took);
    free(pairs);
}

static void reads(const backend *with, void *store, uint64_t keys, size_t size, const char *what, int count) {
    char why[BACKEND_WHY] = "";
    unsigned char key[BACKEND_KEY], value[BACKEND_VALUE_MAX];
    double began = now();
    for (int i = 0; i < count; i++) {
        key_of(draw() % keys, key);
        if (with->get(store, key, sizeof key, value, sizeof value, why) != (int)size) die("get", why);
    }
    row(what, (now() - began) / count * 1e6, "us");
}

static void count_one(void *user, const void *key, size_t key_size, const void *value, size_t size) {
    (void)key, (void)value;
    *(uint64_t *)user += key_size + size;
}

static void scans(const backend *with, void *store, uint64_t keys) {
    char why[BACKEND_WHY] = "";
    uint64_t bytes = 0;
    int64_t found = 0;
    double began = now();
    for (unsigned p = 0; p < 16; p++) {
        unsigned char prefix[4] = { 0, 0, 0, (unsigned char)p };
        int64_t more = with->scan(store, prefix, 4, count_one, &bytes, why);
        if (more < 0) die("scan", why);
        found += more;
    }
    if (found < (int64_t)(keys / PREFIXES * 16)) die("scan", "keys are missing");
    row("iterate, a key", (now() - began) / (double)found * 1e6, "us");
}

/* A child commits without end and is killed. */
static void killed(const backend *with, const char *folder, size_t cache, uint64_t keys, size_t size, uint64_t number) {
    pid_t child = fork();
    if (child == 0) {
        void *store = opened(with, folder, cache);
        backend_pair *pairs = calloc(BATCH, sizeof *pairs);
        for (;;) {
            for (size_t i = 0; i < BATCH; i++) {
                uint64_t k = draw() % keys;
                key_of(k, pairs[i].key);
                value_of(k, number, size, pairs[i].value);
            }
            commit(with, store, pairs, BATCH, size, ++number);
        }
    }
    usleep(3000 * 1000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void load(const backend *with, const char *folder, size_t cache, uint64_t keys, size_t size, uint64_t *number) {
    backend_pair *pairs = calloc(BATCH, sizeof *pairs);
    void *store = opened(with, folder, cache);
    double began = now(), cpu = processor();
    for (uint64_t i = 0; i < keys; i += BATCH) {
        for (uint64_t k = 0; k < BATCH; k++) {
            key_of(i + k, pairs[k].key);
            value_of(i + k, 0, size, pairs[k].value);
        }
        commit(with, store, pairs, BATCH, size, ++*number);
    }
    row("load", now() - began, "s");
    row("load, processor", processor() - cpu, "s");
    with->close(store);
    free(pairs);
}

static double disk(const char *folder) {
    double bytes = 0;
    files(folder, add_size, &bytes);
    return bytes / 1e6;
}

static void cost(const backend *with, const char *folder, uint64_t keys, size_t size) {
    uint64_t number = 0;
    size_t cache = keys * (BACKEND_KEY + size) / 4;
    load(with, folder, cache, keys, size, &number);
    row("on disk, loaded", disk(folder), "MB");
    void *store = opened(with, folder, cache);
    checkpoints(with, store, keys, size, BATCH, 30, &number);
    checkpoints(with, store, keys, size, 10, 300, &number);
    row("resident", resident(), "MB");
    with->close(store);
    row("on disk, after checkpoints", disk(folder), "MB");
    killed(with, folder, cache, keys, size, number);
    files(folder, forget_pages, NULL);
    row("on disk, killed", disk(folder), "MB");
    double began = now();
    store = opened(with, folder, cache);
    row("open after a kill", (now() - began) * 1e3, "ms");
    files(folder, forget_pages, NULL);
    reads(with, store, keys, size, "read, nothing in memory", 2000);
    reads(with, store, keys, size, "read, a cache of a quarter", 200000);
    scans(with, store, keys);
    with->close(store);
}

/* --- As in a run --------------------------------------------------------------------------------------------------- */

static size_t number_of(const char *name, size_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : otherwise;
}

static void spread(const char *what, double *took, size_t count) {
    char name[80];
    qsort(took, count, sizeof *took, by_size);
    snprintf(name, sizeof name, "%s, median", what);
    row(name, took[count / 2] * 1e3, "ms");
    snprintf(name, sizeof name, "%s, p99", what);
    row(name, took[(count - 1) * 99 / 100] * 1e3, "ms");
    snprintf(name, sizeof name, "%s, worst of %zu", what, count);
    row(name, took[count - 1] * 1e3, "ms");
}

static void wait_until(double when) {
    double left = when - now();
    if (left > 0) usleep((useconds_t)(left * 1e6));
}

/* Nobody waits for tidy, unless it is not done when the next commit is due. */
static void loop(const backend *with, const char *folder, uint64_t keys, size_t size) {
    size_t rounds = number_of("BENCH_SECONDS", 20), dirty = number_of("BENCH_DIRTY", BATCH);
    backend_pair *pairs = calloc(dirty, sizeof *pairs);
    double *commits = calloc(rounds, sizeof *commits), *tidies = calloc(rounds, sizeof *tidies), most = 0, cpu;
    char why[BACKEND_WHY] = "";
    uint64_t number = 0;
    load(with, folder, SOME_CACHE, keys, size, &number);
    void *store = opened(with, folder, SOME_CACHE);
    row("on disk, loaded", disk(folder), "MB");
    cpu = processor();
    double began = now();
    for (size_t r = 0; r < rounds; r++) {
        draw_pairs(pairs, dirty, keys, size, number);
        wait_until(began + (double)r);
        double at = now();
        commit(with, store, pairs, dirty, size, ++number);
        commits[r] = now() - at;
        at = now();
        if (with->tidy && with->tidy(store, why) < 0) die("tidy", why);
        tidies[r] = now() - at;
        if (disk(folder) > most) most = disk(folder);
    }
    row("processor, of a second", (processor() - cpu) / (now() - began) * 1e3, "ms");
    spread("commit", commits, rounds);
    spread("tidy", tidies, rounds);
    row("on disk, at most", most, "MB");
    with->close(store);
    free(tidies), free(commits), free(pairs);
}

/* --- What damage does -------------------------------------------------------------------------------------------- */

typedef struct sum {
    uint64_t xored, count;
} sum;

static void add_pair(void *user, const void *key, size_t key_size, const void *value, size_t size) {
    sum *into = user;
    uint64_t hash = 1469598103934665603u;
    const unsigned char *bytes[2] = { key, value };
    size_t sizes[2] = { key_size, size };
    for (int p = 0; p < 2; p++)
        for (size_t i = 0; i < sizes[p]; i++) hash = (hash ^ bytes[p][i]) * 1099511628211u;
    into->xored ^= mixed(hash + into->count++);
}

enum { EXACT, REFUSED, WRONG, OLDER, EMPTY, CRASHED, OUTCOMES };

static int outcome(const backend *with, const char *folder, uint64_t keys, uint64_t number, uint64_t expected) {
    char why[BACKEND_WHY] = "";
    void *store = NULL;
    uint64_t had = 0;
    sum found = { 0 };
    alarm(20);
    if (with->open(folder, 1 << 20, &store, why) < 0) return REFUSED;
    if (with->get(store, "\xff", 1, &had, sizeof had, why) < 0) return REFUSED;
    if (with->scan(store, "", 0, add_pair, &found, why) < 0) return REFUSED;
    for (uint64_t k = 0; k < keys; k++) {
        unsigned char key[BACKEND_KEY], value[BACKEND_VALUE_MAX];
        key_of(k, key);
        int got = with->get(store, key, sizeof key, value, sizeof value, why);
        if (got < 0) return REFUSED;
        if (got == 0 && had == number) return WRONG;
    }
    if (found.count == 0) return EMPTY;
    return found.xored == expected ? EXACT : had < number ? OLDER : WRONG;
}

typedef struct harm_run {
    const backend *with;
    const char *folder;
    uint64_t keys, number, expected, step;
    uint64_t counts[OUTCOMES];
} harm_run;

static int in_child(harm_run *run, const char *copy) {
    pid_t child = fork();
    if (child == 0) {
        (void)!freopen("/dev/null", "w", stderr);
        _exit(outcome(run->with, copy, run->keys, run->number, run->expected));
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) < OUTCOMES ? WEXITSTATUS(status) : CRASHED;
}

static void try_harm(harm_run *run, const char *path, off_t at, bool cut) {
    static const char *const names[] = { "exact", "refused", "WRONG", "OLDER", "EMPTY", "CRASHED" };
    char command[10000], copy[4096];
    snprintf(copy, sizeof copy, "%s.copy", run->folder);
    snprintf(command, sizeof command, "rm -rf '%s' && cp -r '%s' '%s'", copy, run->folder, copy);
    if (system(command) != 0) die("cp", run->folder);
    snprintf(command, sizeof command, "%s/%s", copy, strrchr(path, '/') + 1);
    int fd = open(command, O_RDWR);
    unsigned char byte = 0;
    if (cut) {
        if (ftruncate(fd, at) != 0) die("truncate", path);
    } else if (pread(fd, &byte, 1, at) == 1) {
        byte ^= (unsigned char)(1u << (draw() % 8));
        if (pwrite(fd, &byte, 1, at) != 1) die("write", path);
    }
    close(fd);
    int came = in_child(run, copy);
    run->counts[came]++;
    if (came == WRONG || came > OLDER)
        printf("%s\t%s %s at %lld\n", names[came], strrchr(path, '/') + 1, cut ? "cut" : "flipped", (long long)at);
}

static void harm_file(const char *path, void *user) {
    harm_run *run = user;
    struct stat about;
    const char *only = getenv("BENCH_FILE");
    if (stat(path, &about) != 0 || (only && strncmp(strrchr(path, '/') + 1, only, strlen(only)) != 0)) return;
    for (off_t at = (off_t)(draw() % run->step); at < about.st_size; at += (off_t)run->step) {
        try_harm(run, path, at, false);
        try_harm(run, path, at, true);
    }
}

/* The state of a run that was killed in its 40th commit: some of it in tables, some of it in the log alone. */
static void harm(const backend *with, const char *folder, uint64_t keys, uint64_t step) {
    harm_run run = { .with = with, .folder = folder, .keys = keys, .step = step };
    pid_t child = fork();
    if (child == 0) {
        backend_pair *pairs = calloc(keys, sizeof *pairs);
        for (int life = 0; life < 2; life++) {
            void *store = opened(with, folder, 1 << 20);
            for (uint64_t r = 1; r <= 20; r++) {
                uint64_t count = r == 1 && life == 0 ? keys : keys / 20;
                for (uint64_t k = 0; k < count; k++) key_of(count == keys ? k : draw() % keys, pairs[k].key);
                for (uint64_t k = 0; k < count; k++) value_of(k, r, 40, pairs[k].value);
                commit(with, store, pairs, count, 40, (uint64_t)life * 20 + r);
            }
            if (life == 0) with->close(store);
        }
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    char command[9000], why[BACKEND_WHY] = "";
    snprintf(command, sizeof command, "rm -rf '%s.look' && cp -r '%s' '%s.look'", folder, folder, folder);
    if (system(command) != 0) die("cp", folder);
    snprintf(command, sizeof command, "%s.look", folder);
    void *store = opened(with, command, 1 << 20);
    sum found = { 0 };
    if (with->scan(store, "", 0, add_pair, &found, why) < 0) die("scan", why);
    with->close(store);
    run.expected = found.xored;
    run.number = 40;
    files(folder, harm_file, &run);
    row("exact", (double)run.counts[EXACT], "times");
    row("refused", (double)run.counts[REFUSED], "times");
    row("wrong", (double)run.counts[WRONG], "times");
    row("older, which a commit number tells", (double)run.counts[OLDER], "times");
    row("began anew", (double)run.counts[EMPTY], "times");
    row("crashed", (double)run.counts[CRASHED], "times");
}

int main(int count, char **words) {
    const backend *with = NULL;
    if (count != 6) die("usage", "cost|loop|harm BACKEND FOLDER KEYS VALUE|STEP");
    for (int i = 0; all[i]; i++)
        if (strcmp(all[i]->name, words[2]) == 0) with = all[i];
    if (!with) die("no such backend", words[2]);
    char command[9000];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", words[3], words[3]);
    if (system(command) != 0) die("cannot make", words[3]);
    uint64_t keys = strtoull(words[4], NULL, 10), last = strtoull(words[5], NULL, 10);
    if (strcmp(words[1], "cost") == 0)
        cost(with, words[3], keys, (size_t)last);
    else if (strcmp(words[1], "loop") == 0)
        loop(with, words[3], keys, (size_t)last);
    else
        harm(with, words[3], keys, last);
    return 0;
}
