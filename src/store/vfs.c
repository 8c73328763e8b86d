#include "store/vfs.h"

#include "base/hash.h"
#include "base/os/disk.h"
#include "base/os/entropy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GATHER = 64 * GX_LOG_FRAME, HEAD_READ = 100 };

typedef struct file {
    sqlite3_file base;
    gx_vfs *vfs;
    const char *path;
    int fd;
    bool log;
    gx_shared_holds holds;
    unsigned char *bytes; /* a page of the database; what was gathered for the log */
    int64_t from;         /* where what was gathered goes */
    size_t gathered;
} file;

/* --- What went wrong ---------------------------------------------------------------------------------------------- */

static _Thread_local char trouble[GX_VFS_TROUBLE];
static _Thread_local bool damaged;

const char *gx_vfs_trouble(bool *ret_damaged) {
    *ret_damaged = damaged;
    return trouble;
}

void gx_vfs_forget(void) {
    trouble[0] = 0;
    damaged = false;
}

static int refuse(int code, bool is_damage, const char *format, ...) GALE_PRINTF(3, 4);

/* The first counts: what follows is often only its consequence. */
static int refuse(int code, bool is_damage, const char *format, ...) {
    va_list list;
    if (trouble[0]) return code;
    va_start(list, format);
    vsnprintf(trouble, sizeof trouble, format, list);
    va_end(list);
    damaged = is_damage;
    return code;
}

static int refuse_call(int code, const char *what, const char *path) {
    if (errno == ENOSPC || errno == EDQUOT) code = SQLITE_FULL;
    return refuse(code, false, "cannot %s '%s': %s", what, path, strerror(errno));
}

/* --- Bytes -------------------------------------------------------------------------------------------------------- */

/* How many there were, up to the file's end, or -1. */
static int64_t read_bytes(file *at, unsigned char *bytes, size_t size, int64_t offset) {
    size_t have = 0;
    while (have < size) {
        ssize_t got = gx_disk_now()->pread(at->fd, bytes + have, size - have, (off_t)(offset + (int64_t)have));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        have += (size_t)got;
    }
    return (int64_t)have;
}

static int write_bytes(file *at, const unsigned char *bytes, size_t size, int64_t offset) {
    if (gx_disk_now()->seek(at->fd, (off_t)offset, SEEK_SET) < 0)
        return refuse_call(SQLITE_IOERR_WRITE, "write", at->path);
    while (size > 0) {
        ssize_t put = gx_disk_now()->write(at->fd, bytes, size);
        if (put < 0 && errno == EINTR) continue;
        if (put == 0) errno = ENOSPC;
        if (put <= 0) return refuse_call(SQLITE_IOERR_WRITE, "write", at->path);
        bytes += put;
        size -= (size_t)put;
    }
    return SQLITE_OK;
}

/* --- The database ------------------------------------------------------------------------------------------------- */

static uint64_t page_sum(const file *at, const unsigned char *page, int64_t number) {
    return gx_hash_bytes(page, GX_STORE_PAGE - GX_VFS_SUM, at->vfs->identity ^ (uint64_t)number);
}

static int read_page(file *at, unsigned char *page, int64_t offset) {
    int64_t got = read_bytes(at, page, GX_STORE_PAGE, offset), number = offset / GX_STORE_PAGE + 1;
    if (got < 0) return refuse_call(SQLITE_IOERR_READ, "read", at->path);
    if (got == 0 && offset == 0) { /* it is being made */
        memset(page, 0, GX_STORE_PAGE);
        return SQLITE_IOERR_SHORT_READ;
    }
    if (got < GX_STORE_PAGE)
        return refuse(SQLITE_IOERR_DATA, true, "'%s' is damaged: it ends before page %lld does", at->path,
                      (long long)number);
    uint64_t sum;
    memcpy(&sum, page + GX_STORE_PAGE - GX_VFS_SUM, sizeof sum);
    if (sum == page_sum(at, page, number)) return SQLITE_OK;
    return refuse(SQLITE_IOERR_DATA, true, "'%s' is damaged: the checksum of page %lld does not fit", at->path,
                  (long long)number);
}

/* SQLite looks at the first bytes for the size of pages, before it looks whether the log has a later first page. That
 * size is always the same, so damage there is told when the page itself is read. */
static int read_head(file *at, unsigned char *bytes) {
    int64_t got = read_bytes(at, bytes, HEAD_READ, 0);
    if (got < 0) return refuse_call(SQLITE_IOERR_READ, "read", at->path);
    memset(bytes + got, 0, HEAD_READ - (size_t)got);
    if (got < HEAD_READ) return SQLITE_IOERR_SHORT_READ;
    bytes[16] = GX_STORE_PAGE >> 8;
    bytes[17] = GX_STORE_PAGE & 255;
    bytes[20] = GX_VFS_SUM;
    return SQLITE_OK;
}

static int read_database(file *at, void *bytes, int size, int64_t offset) {
    if (size == GX_STORE_PAGE && offset % GX_STORE_PAGE == 0) return read_page(at, bytes, offset);
    if (size == HEAD_READ && offset == 0) return read_head(at, bytes);
    if (offset + size > GX_STORE_PAGE) return refuse(SQLITE_IOERR_READ, true, "'%s': pages of another size", at->path);
    int rc = read_page(at, at->bytes, 0);
    memcpy(bytes, at->bytes + offset, (size_t)size);
    return rc;
}

static int write_database(file *at, const void *bytes, int size, int64_t offset) {
    if (size != GX_STORE_PAGE || offset % GX_STORE_PAGE)
        return refuse(SQLITE_IOERR_WRITE, false, "'%s': a write that is no page", at->path);
    memcpy(at->bytes, bytes, GX_STORE_PAGE - GX_VFS_SUM);
    uint64_t sum = page_sum(at, at->bytes, offset / GX_STORE_PAGE + 1);
    memcpy(at->bytes + GX_STORE_PAGE - GX_VFS_SUM, &sum, sizeof sum);
    return write_bytes(at, at->bytes, GX_STORE_PAGE, offset);
}

/* --- The log ------------------------------------------------------------------------------------------------------ */

static int flush(file *at) {
    size_t size = at->gathered;
    at->gathered = 0;
    return size ? write_bytes(at, at->bytes, size, at->from) : SQLITE_OK;
}

static int write_log(file *at, const void *bytes, int size, int64_t offset) {
    int64_t frame = size == GX_STORE_PAGE ? gx_log_frame_at(offset) : -1;
    if (offset == 0 && size == GX_LOG_HEAD) gx_store_relaxed(&at->vfs->salt, gx_log_salt(bytes));
    if (frame >= 0 && !gx_sums_set(&at->vfs->sums, (uint64_t)frame, bytes, GX_STORE_PAGE)) return SQLITE_IOERR_NOMEM;
    if ((size_t)size > GATHER) return refuse(SQLITE_IOERR_WRITE, false, "'%s': pages of another size", at->path);
    if (at->gathered + (size_t)size > GATHER || (at->gathered && at->from + (int64_t)at->gathered != offset)) {
        int rc = flush(at);
        if (rc != SQLITE_OK) return rc;
    }
    if (!at->gathered) at->from = offset;
    memcpy(at->bytes + at->gathered, bytes, (size_t)size);
    at->gathered += (size_t)size;
    return SQLITE_OK;
}

static int read_log(file *at, void *bytes, int size, int64_t offset) {
    int rc = flush(at);
    if (rc != SQLITE_OK) return rc;
    int64_t got = read_bytes(at, bytes, (size_t)size, offset);
    if (got < 0) return refuse_call(SQLITE_IOERR_READ, "read", at->path);
    int64_t frame = size == GX_STORE_PAGE ? gx_log_frame_at(offset) : -1;
    if (frame >= 0 && (got < size || !gx_sums_fit(&at->vfs->sums, (uint64_t)frame, bytes, GX_STORE_PAGE)))
        return refuse(SQLITE_IOERR_DATA, true, "'%s' is damaged: frame %lld is not what was written", at->path,
                      (long long)frame + 1);
    if (got == size) return SQLITE_OK;
    memset((char *)bytes + got, 0, (size_t)(size - got));
    return SQLITE_IOERR_SHORT_READ;
}

/* --- The methods of a file ---------------------------------------------------------------------------------------- */

static int do_close(sqlite3_file *base) {
    file *at = (file *)base;
    int rc = at->log ? flush(at) : SQLITE_OK;
    gx_disk_now()->close(at->fd);
    gx_free(at->vfs->heap, GX_TAG_OTHER, at->bytes, at->log ? GATHER : GX_STORE_PAGE);
    return rc;
}

static int do_read(sqlite3_file *base, void *bytes, int size, sqlite3_int64 offset) {
    file *at = (file *)base;
    return at->log ? read_log(at, bytes, size, offset) : read_database(at, bytes, size, offset);
}

static int do_write(sqlite3_file *base, const void *bytes, int size, sqlite3_int64 offset) {
    file *at = (file *)base;
    return at->log ? write_log(at, bytes, size, offset) : write_database(at, bytes, size, offset);
}

static int do_truncate(sqlite3_file *base, sqlite3_int64 size) {
    file *at = (file *)base;
    int rc = at->log ? flush(at) : SQLITE_OK;
    if (rc != SQLITE_OK) return rc;
    return gx_disk_now()->truncate(at->fd, (off_t)size) == 0 ? SQLITE_OK
                                                             : refuse_call(SQLITE_IOERR_TRUNCATE, "cut", at->path);
}

static int do_sync(sqlite3_file *base, int flags) {
    file *at = (file *)base;
    (void)flags;
    int rc = at->log ? flush(at) : SQLITE_OK;
    if (rc != SQLITE_OK || (at->log && gx_load_relaxed(&at->vfs->lazy))) return rc;
    return gx_disk_now()->sync_data(at->fd) == 0 ? SQLITE_OK : refuse_call(SQLITE_IOERR_FSYNC, "write", at->path);
}

static int do_size(sqlite3_file *base, sqlite3_int64 *ret_size) {
    file *at = (file *)base;
    struct stat about;
    int rc = at->log ? flush(at) : SQLITE_OK;
    if (rc != SQLITE_OK) return rc;
    if (gx_disk_now()->about(at->fd, &about) != 0) return refuse_call(SQLITE_IOERR_FSTAT, "look at", at->path);
    *ret_size = about.st_size;
    return SQLITE_OK;
}

/* The folder is locked by the store. */
static int do_lock(sqlite3_file *base, int level) {
    (void)base, (void)level;
    return SQLITE_OK;
}

static int do_is_reserved(sqlite3_file *base, int *ret_reserved) {
    (void)base;
    *ret_reserved = 0;
    return SQLITE_OK;
}

static int do_control(sqlite3_file *base, int what, void *with) {
    (void)base, (void)what, (void)with;
    return SQLITE_NOTFOUND;
}

static int do_sector(sqlite3_file *base) {
    (void)base;
    return GX_STORE_PAGE;
}

/* The log's frames are whole or not there by their checksums; a write that fails leaves its neighbours alone. */
static int do_kind(sqlite3_file *base) {
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int do_map(sqlite3_file *base, int number, int size, int make, void volatile **ret_region) {
    void *region = NULL;
    bool done = gx_shared_region(&((file *)base)->vfs->shared, (size_t)number, (size_t)size, make != 0, &region);
    *ret_region = region;
    return done ? SQLITE_OK : SQLITE_IOERR_NOMEM;
}

static int do_shared_lock(sqlite3_file *base, int first, int count, int flags) {
    file *at = (file *)base;
    if (flags & SQLITE_SHM_UNLOCK) {
        gx_shared_unlock(&at->vfs->shared, &at->holds, first, count);
        return SQLITE_OK;
    }
    bool alone = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    return gx_shared_lock(&at->vfs->shared, &at->holds, first, count, alone) ? SQLITE_OK : SQLITE_BUSY;
}

static void do_barrier(sqlite3_file *base) {
    gx_shared_barrier(&((file *)base)->vfs->shared);
}

static int do_unmap(sqlite3_file *base, int remove) {
    file *at = (file *)base;
    (void)remove;
    gx_shared_unlock(&at->vfs->shared, &at->holds, 0, GX_SHARED_LOCKS);
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = do_close,
    .xRead = do_read,
    .xWrite = do_write,
    .xTruncate = do_truncate,
    .xSync = do_sync,
    .xFileSize = do_size,
    .xLock = do_lock,
    .xUnlock = do_lock,
    .xCheckReservedLock = do_is_reserved,
    .xFileControl = do_control,
    .xSectorSize = do_sector,
    .xDeviceCharacteristics = do_kind,
    .xShmMap = do_map,
    .xShmLock = do_shared_lock,
    .xShmBarrier = do_barrier,
    .xShmUnmap = do_unmap,
};

/* --- The methods of the whole ------------------------------------------------------------------------------------- */

static gx_vfs *self_of(sqlite3_vfs *vfs) {
    return vfs->pAppData;
}

static int open_path(const char *path, bool read_only, int *ret_fd) {
    int flags = (read_only ? O_RDONLY : O_RDWR | O_CREAT) | O_NOFOLLOW | O_CLOEXEC;
    do *ret_fd = gx_disk_now()->open(path, flags, 0600);
    while (*ret_fd < 0 && errno == EINTR);
    return *ret_fd >= 0 ? SQLITE_OK : refuse_call(SQLITE_CANTOPEN, "open", path);
}

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *ret_flags) {
    file *at = (file *)base;
    *at = (file){ .vfs = self_of(vfs), .path = path, .log = (flags & SQLITE_OPEN_WAL) != 0 };
    if (!path || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)))
        return refuse(SQLITE_CANTOPEN, false, "SQLite wants a file that the store does not have");
    bool empty = at->log && at->vfs->no_log;
    int rc = open_path(empty ? "/dev/null" : path, at->vfs->read_only, &at->fd);
    if (rc != SQLITE_OK) return rc;
    at->bytes = gx_alloc(at->vfs->heap, GX_TAG_OTHER, at->log ? GATHER : GX_STORE_PAGE);
    if (!at->bytes) {
        gx_disk_now()->close(at->fd);
        return SQLITE_IOERR_NOMEM;
    }
    at->base.pMethods = &methods;
    if (ret_flags) *ret_flags = flags;
    return SQLITE_OK;
}

/* Nothing that a store has is ever removed by SQLite. */
static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_folder) {
    (void)vfs, (void)sync_folder;
    return refuse(SQLITE_IOERR_DELETE, false, "SQLite wants to remove '%s'", path);
}

/* The log is there or not; of journals, the other way in which SQLite could undo, there is none. */
static int vfs_access(sqlite3_vfs *vfs, const char *path, int what, int *ret_there) {
    struct stat about;
    size_t size = strlen(path);
    (void)vfs, (void)what;
    *ret_there = size > 4 && strcmp(path + size - 4, "-wal") == 0 && gx_disk_now()->about_path(path, &about) == 0;
    return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int room, char *ret_path) {
    (void)vfs;
    snprintf(ret_path, (size_t)room, "%s", path);
    return SQLITE_OK;
}

static int vfs_random(sqlite3_vfs *vfs, int size, char *ret_bytes) {
    (void)vfs;
    for (int at = 0; at < size; at += 8) {
        uint64_t word = gx_os_entropy();
        memcpy(ret_bytes + at, &word, (size_t)(size - at < 8 ? size - at : 8));
    }
    return size;
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    struct timespec time = { microseconds / 1000000, (long)(microseconds % 1000000) * 1000 };
    (void)vfs;
    nanosleep(&time, NULL);
    return microseconds;
}

/* Nothing that is stored has a time. */
static int vfs_time(sqlite3_vfs *vfs, double *ret_days) {
    (void)vfs;
    *ret_days = 0;
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int room, char *text) {
    (void)vfs, (void)room, (void)text;
    return 0;
}

int gx_vfs_init(gx_vfs *vfs, gx_heap *heap, uint64_t identity, gale_error *error) {
    *vfs = (gx_vfs){ .heap = heap, .identity = identity };
    snprintf(vfs->name, sizeof vfs->name, "gale-%p", (void *)vfs);
    vfs->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(file),
        .mxPathname = 4096,
        .zName = vfs->name,
        .pAppData = vfs,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_random,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error,
    };
    if (sqlite3_vfs_register(&vfs->vfs, 0) != SQLITE_OK)
        return gale_error_set(error, GALE_NO_MEMORY, "no memory for SQLite");
    gx_shared_init(&vfs->shared, heap);
    gx_sums_init(&vfs->sums, heap);
    return GALE_OK;
}

void gx_vfs_fini(gx_vfs *vfs) {
    sqlite3_vfs_unregister(&vfs->vfs);
    gx_sums_fini(&vfs->sums);
    gx_shared_fini(&vfs->shared);
}
