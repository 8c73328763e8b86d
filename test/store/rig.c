#include "store/rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const rig_files[RIG_FILES] = { "gale-store", "commit", "data", "data-wal" };

static void empty(const char *folder) {
    DIR *open_folder = opendir(folder);
    for (struct dirent *one; open_folder && (one = readdir(open_folder));) {
        char path[RIG_PATH + 300];
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        if (one->d_name[0] != '.') unlink(path);
    }
    if (open_folder) closedir(open_folder);
}

void rig_begin(rig *with, const char *name) {
    const char *base = getenv("TMPDIR");
    if (!base && access("/dev/shm", W_OK) == 0)
        base = "/dev/shm"; /* thousands of folders; no test waits for a real disk */
    *with = (rig){ .error = GALE_ERROR_INIT };
    snprintf(with->folder, sizeof with->folder, "%s/gale-store-%s-%ld", base ? base : "/tmp", name, (long)getpid());
    rig_end(with);
}

void rig_end(rig *with) {
    empty(with->folder);
    rmdir(with->folder);
}

int rig_open(rig *with, const char *topology, bool create) {
    gale_store_options options = GALE_STORE_OPTIONS_INIT;
    options.folder = with->folder;
    options.topology = topology;
    options.create = create;
    options.cache_bytes = with->cache_bytes;
    options.log_bytes = with->log_bytes;
    options.allocator = with->allocator;
    with->error = (gale_error)GALE_ERROR_INIT;
    return gale_store_open(&options, &with->store, &with->error);
}

void rig_open_well(rig *with) {
    if (rig_open(with, "words", true) < 0) fail_msg("%s", with->error.text);
}

void rig_close(rig *with) {
    with->store.close(with->store.self);
}

int rig_put(rig *with, const char *key, const char *value) {
    return with->store.put(with->store.self, key, strlen(key), value, strlen(value), &with->error);
}

int rig_remove(rig *with, const char *key) {
    return with->store.remove(with->store.self, key, strlen(key), &with->error);
}

uint64_t rig_commit(rig *with) {
    uint64_t number = 0;
    if (with->store.commit(with->store.self, GALE_STORE_SYNC, &number, &with->error) < 0)
        fail_msg("%s", with->error.text);
    return number;
}

const char *rig_get(rig *with, const char *key) {
    static char value[2000];
    size_t size = 0;
    int rc = with->store.get(with->store.self, key, strlen(key), value, sizeof value - 1, &size, &with->error);
    if (rc == GALE_NOT_FOUND) return "-";
    if (rc < 0) return "?";
    value[size] = 0;
    return value;
}

typedef struct pairs {
    char text[4000];
    size_t size;
} pairs;

static int add_pair(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    pairs *to = user;
    to->size += (size_t)snprintf(to->text + to->size, sizeof to->text - to->size, "%s%.*s=%.*s", to->size ? " " : "",
                                 (int)key_size, (const char *)key, (int)value_size, (const char *)value);
    return 0;
}

const char *rig_pairs(rig *with, const char *prefix, const char *after) {
    static pairs found;
    found = (pairs){ 0 };
    int rc = with->store.iterate(with->store.self, prefix, strlen(prefix), after, after ? strlen(after) : 0, add_pair,
                                 &found, &with->error);
    return rc < 0 ? "?" : found.text;
}

/* --- The model ---------------------------------------------------------------------------------------------------- */

/* The numbers that commit `number` sets, and the one that it removes, are told by the number alone. */
static unsigned nth(uint64_t number, unsigned i, unsigned keys) {
    uint64_t z = (number * 64 + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)((z ^ (z >> 29)) * UINT64_C(0xbf58476d1ce4e5b9) >> 33) % keys;
}

static size_t key_of(unsigned k, char key[32]) {
    return (size_t)snprintf(key, 32, "key-%04u", k);
}

/* Values are of different sizes, up to beyond a page. */
static size_t value_of(unsigned k, uint64_t number, char value[8192]) {
    size_t size = (size_t)snprintf(value, 64, "%u of %llu:", k, (unsigned long long)number);
    size_t more = number % 17 == 0 ? 5000 : (k * 7 + number) % 60;
    memset(value + size, 'a' + (int)(number % 26), more);
    return size + more;
}

int rig_model_change(rig *with, uint64_t number, unsigned weight) {
    char key[32], value[8192];
    unsigned keys = RIG_KEYS * weight;
    int rc = 0;
    for (unsigned i = 0; i < 6 * weight && rc == 0; i++) {
        unsigned k = nth(number, i, keys);
        size_t key_size = key_of(k, key), size = value_of(k, number, value);
        rc = with->store.put(with->store.self, key, key_size, value, size, &with->error);
    }
    size_t key_size = key_of(nth(number, 63, keys), key);
    if (rc == 0) rc = with->store.remove(with->store.self, key, key_size, &with->error);
    size_t size = value_of(0, number, value);
    return rc == 0 ? with->store.put(with->store.self, "now", 3, value, size, &with->error) : rc;
}

typedef struct model {
    uint64_t *set; /* by key: the commit that set it, 0 when it is not there */
    unsigned keys, at;
    uint64_t number;
    bool wrong;
} model;

static int check_pair(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    model *is = user;
    char wanted_key[32], wanted[8192];
    while (is->at < is->keys && !is->set[is->at]) is->at++;
    bool last = is->at == is->keys;
    size_t wanted_key_size = last ? (size_t)snprintf(wanted_key, 32, "now") : key_of(is->at, wanted_key);
    size_t size = last ? value_of(0, is->number, wanted) : value_of(is->at, is->set[is->at], wanted);
    is->wrong = is->at > is->keys || key_size != wanted_key_size || memcmp(key, wanted_key, key_size) != 0 ||
                value_size != size || memcmp(value, wanted, size) != 0;
    is->at++;
    return is->wrong;
}

/* Each key by itself, too. */
static int check_gets(rig *with, const model *is) {
    char key[32], wanted[8192], value[8192];
    for (unsigned k = 0; k < is->keys; k++) {
        size_t key_size = key_of(k, key), size = 0, wanted_size = is->set[k] ? value_of(k, is->set[k], wanted) : 0;
        int rc = with->store.get(with->store.self, key, key_size, value, sizeof value, &size, &with->error);
        if (rc < 0 && rc != GALE_NOT_FOUND) return rc;
        if ((rc == GALE_NOT_FOUND) != (is->set[k] == 0)) return 1;
        if (rc == 0 && (size != wanted_size || memcmp(value, wanted, size) != 0)) return 1;
    }
    return 0;
}

int rig_model_check(rig *with, uint64_t number, unsigned weight) {
    model is = { .keys = RIG_KEYS * weight, .number = number };
    is.set = calloc(is.keys, sizeof *is.set);
    for (uint64_t n = 1; n <= number; n++) {
        for (unsigned i = 0; i < 6 * weight; i++) is.set[nth(n, i, is.keys)] = n;
        is.set[nth(n, 63, is.keys)] = 0;
    }
    int rc = with->store.iterate(with->store.self, "", 0, NULL, 0, check_pair, &is, &with->error);
    bool whole = number == 0 ? is.at == 0 : is.at == is.keys + 1;
    if (rc == 0 && !whole) rc = 1;
    if (rc == 0) rc = check_gets(with, &is);
    free(is.set);
    return rc;
}

/* --- Folders in memory -------------------------------------------------------------------------------------------- */

static void path_of(const rig *with, int i, char path[RIG_PATH + 40]) {
    snprintf(path, RIG_PATH + 40, "%s/%s", with->folder, rig_files[i]);
}

void rig_image_take(const rig *with, rig_image *image) {
    *image = (rig_image){ 0 };
    for (int i = 0; i < RIG_FILES; i++) {
        char path[RIG_PATH + 40];
        struct stat about;
        path_of(with, i, path);
        int fd = open(path, O_RDONLY);
        if (fd < 0) continue;
        assert_int_equal(fstat(fd, &about), 0);
        image->sizes[i] = (size_t)about.st_size;
        image->bytes[i] = malloc(image->sizes[i] + 1);
        assert_int_equal(read(fd, image->bytes[i], image->sizes[i]), (ssize_t)image->sizes[i]);
        close(fd);
    }
}

void rig_image_put(const rig *with, const rig_image *image) {
    mkdir(with->folder, 0700);
    empty(with->folder);
    for (int i = 0; i < RIG_FILES; i++) {
        char path[RIG_PATH + 40];
        if (!image->bytes[i]) continue;
        path_of(with, i, path);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, image->bytes[i], image->sizes[i]), (ssize_t)image->sizes[i]);
        close(fd);
    }
}

void rig_image_free(rig_image *image) {
    for (int i = 0; i < RIG_FILES; i++) free(image->bytes[i]);
    *image = (rig_image){ 0 };
}
