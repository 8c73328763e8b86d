/* The power goes: what was synced is there; of what was written later each write is there, or not, or in part, whatever
 * came first. A disk that writes down all calls makes such folders, and each must open with every commit that was told
 * as synced. */
#include "store/rig.h"

#include "base/os/disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FDS = 256, OPS = 20000, IMAGES = 1500, SECTOR = 512 };

typedef enum op_kind { OP_WRITE, OP_CUT, OP_SYNC, OP_TOLD } op_kind;

typedef struct op {
    op_kind kind;
    int file;
    int64_t offset; /* OP_CUT: the size; OP_TOLD: the commit */
    size_t size;
    char *bytes;
} op;

static rig at;
static op ops[OPS];
static size_t count;
static int file_of[FDS]; /* by descriptor, from 1 */
static uint64_t seed = 7;

static uint64_t draw(void) {
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* --- A disk that writes down ------------------------------------------------------------------------------------- */

static void note(op_kind kind, int fd, int64_t offset, const void *bytes, size_t size) {
    int file = fd < 0 ? 1 : fd < FDS ? file_of[fd] : 0;
    if (!file) return;
    assert_in_range(count, 0, OPS - 1);
    char *copy = size ? malloc(size) : NULL;
    if (size) memcpy(copy, bytes, size);
    ops[count++] = (op){ kind, file - 1, offset, size, copy };
}

static int noting_open(const char *path, int flags, mode_t mode) {
    int fd = gx_disk_system.open(path, flags, mode);
    if (fd < 0 || fd >= FDS) return fd;
    const char *name = strrchr(path, '/');
    file_of[fd] = 0;
    for (int i = 0; i < RIG_FILES; i++)
        if (name && strcmp(name + 1, rig_files[i]) == 0) file_of[fd] = i + 1;
    if (flags & O_TRUNC) note(OP_CUT, fd, 0, NULL, 0);
    return fd;
}

static ssize_t noting_write(int fd, const void *bytes, size_t size) {
    int64_t offset = gx_disk_system.seek(fd, 0, SEEK_CUR);
    ssize_t put = gx_disk_system.write(fd, bytes, size);
    if (put > 0) note(OP_WRITE, fd, offset, bytes, (size_t)put);
    return put;
}

static int noting_cut(int fd, off_t size) {
    note(OP_CUT, fd, size, NULL, 0);
    return gx_disk_system.truncate(fd, size);
}

static int noting_sync(int fd) {
    note(OP_SYNC, fd, 0, NULL, 0);
    return 0;
}

static void note_all(void) {
    static gx_disk disk;
    disk = gx_disk_system;
    disk.open = noting_open;
    disk.write = noting_write;
    disk.truncate = noting_cut;
    disk.sync = disk.sync_data = noting_sync;
    gx_disk_use(&disk);
}

static void told(uint64_t number) {
    note(OP_TOLD, -1, (int64_t)number, NULL, 0);
}

/* --- What may be left -------------------------------------------------------------------------------------------- */

typedef struct left {
    char *bytes;
    size_t size, room;
} left;

static void put(left *file, int64_t offset, const char *bytes, size_t size) {
    size_t end = (size_t)offset + size;
    assert_true(end <= file->room);
    if (end > file->size) file->size = end;
    memcpy(file->bytes + offset, bytes, size);
}

static void cut(left *file, size_t size) {
    if (size < file->size) memset(file->bytes + size, 0, file->size - size);
    file->size = size;
}

/* One that was not synced: it is there, or not, or some of its sectors are. */
static void maybe(left *file, const op *one) {
    uint64_t chance = draw() % 4;
    if (one->kind == OP_CUT) {
        if (chance & 1) cut(file, (size_t)one->offset);
        return;
    }
    if (chance == 0) return;
    for (size_t from = 0; from < one->size; from += SECTOR) {
        size_t size = one->size - from < SECTOR ? one->size - from : SECTOR;
        if (chance > 1 || draw() % 2) put(file, one->offset + (int64_t)from, one->bytes + from, size);
    }
}

static size_t last_sync(int file, size_t end) {
    while (end > 0 && !(ops[end - 1].kind == OP_SYNC && ops[end - 1].file == file)) end--;
    return end;
}

static void make_image(const rig_image *begin, size_t end, left files[RIG_FILES]) {
    for (int f = 0; f < RIG_FILES; f++) {
        files[f].size = begin->sizes[f];
        memset(files[f].bytes, 0, files[f].room);
        memcpy(files[f].bytes, begin->bytes[f], begin->sizes[f]);
        size_t safe = last_sync(f, end);
        for (size_t i = 0; i < end; i++) {
            if (ops[i].file != f || ops[i].kind > OP_CUT) continue;
            if (i >= safe)
                maybe(&files[f], &ops[i]);
            else if (ops[i].kind == OP_CUT)
                cut(&files[f], (size_t)ops[i].offset);
            else
                put(&files[f], ops[i].offset, ops[i].bytes, ops[i].size);
        }
    }
}

static uint64_t told_before(size_t end) {
    while (end > 0 && ops[end - 1].kind != OP_TOLD) end--;
    return end ? (uint64_t)ops[end - 1].offset : 0;
}

/* --- The test ---------------------------------------------------------------------------------------------------- */

/* Synced commits and others, with tidying up, closing and opening between. */
static void live(uint64_t commits) {
    uint64_t number = 0;
    rig_open_well(&at);
    for (uint64_t n = 1; n <= commits; n++) {
        bool sync = n % 5 != 3;
        assert_int_equal(rig_model_change(&at, n, 4), 0);
        assert_int_equal(at.store.commit(at.store.self, sync ? GALE_STORE_SYNC : 0, &number, NULL), 0);
        if (sync) told(number);
        if (n % 7 == 0) assert_int_equal(at.store.tidy(at.store.self, NULL), 0);
        if (n % 23 == 0) {
            rig_close(&at);
            rig_open_well(&at);
            told(n);
        }
    }
    rig_close(&at);
}

static void look(size_t end, uint64_t commits) {
    gale_store_about about = { .size = sizeof about };
    uint64_t least = told_before(end);
    if (rig_open(&at, "words", false) < 0) fail_msg("the power went before call %zu: %s", end, at.error.text);
    assert_int_equal(at.store.about(at.store.self, &about, NULL), 0);
    if (about.commit < least || about.commit > commits)
        fail_msg("before call %zu commit %lu was told, and %lu is there", end, (unsigned long)least,
                 (unsigned long)about.commit);
    int rc = rig_model_check(&at, about.commit, 4);
    if (rc)
        fail_msg("the power went before call %zu, commit %lu: %d %s", end, (unsigned long)about.commit, rc,
                 at.error.text);
    rig_close(&at);
}

static void when_the_power_goes_every_synced_commit_is_there(void **state) {
    enum { COMMITS = 80 };
    rig_image begin, image = { 0 };
    left files[RIG_FILES];
    (void)state;
    rig_begin(&at, "power");
    at.log_bytes = 60000;
    rig_open_well(&at);
    rig_close(&at);
    rig_image_take(&at, &begin);
    note_all();
    live(COMMITS);
    for (int f = 0; f < RIG_FILES; f++) files[f] = (left){ malloc(1 << 21), 0, 1 << 21 };
    static gx_disk quick;
    quick = gx_disk_system;
    quick.sync = quick.sync_data = noting_sync;
    gx_disk_use(&quick);
    size_t all = count;
    memset(file_of, 0, sizeof file_of);
    for (int i = 0; i < IMAGES; i++) {
        size_t end = 1 + draw() % all;
        make_image(&begin, end, files);
        for (int f = 0; f < RIG_FILES; f++) image.bytes[f] = files[f].bytes, image.sizes[f] = files[f].size;
        rig_image_put(&at, &image);
        look(end, COMMITS);
    }
    gx_disk_use(NULL);
    print_message("%zu calls, %d images\n", all, IMAGES);
    assert_true(all > 300);
    for (size_t i = 0; i < all; i++) free(ops[i].bytes);
    for (int f = 0; f < RIG_FILES; f++) free(files[f].bytes);
    rig_image_free(&begin);
    rig_end(&at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(when_the_power_goes_every_synced_commit_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
