#include "sim/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static gx_sim_disk *used;

void gx_sim_disk_init(gx_sim_disk *disk, gx_heap *heap) {
    *disk = (gx_sim_disk){ .inodes = 0 };
    for (int i = 0; i < GX_SIM_DISK_FILES; i++) disk->files[i].bytes = (gx_buf)GX_BUF_INIT(heap);
}

void gx_sim_disk_fini(gx_sim_disk *disk) {
    for (int i = 0; i < GX_SIM_DISK_FILES; i++) gx_buf_fini(&disk->files[i].bytes);
}

/* --- Files --- */

/* The name in the folder; NULL: it is the system's. */
static const char *name_of(const char *path) {
    size_t size = sizeof GX_SIM_DISK - 1;
    return strncmp(path, GX_SIM_DISK, size) == 0 && (path[size] == '/' || !path[size]) ? path + size : NULL;
}

static gx_sim_file *find(gx_sim_disk *disk, const char *name) {
    for (int i = 0; i < GX_SIM_DISK_FILES; i++)
        if (disk->files[i].inode && strcmp(disk->files[i].name, name) == 0) return &disk->files[i];
    return NULL;
}

static gx_sim_file *make(gx_sim_disk *disk, const char *name) {
    gx_sim_file *file = disk->files;
    while (file < disk->files + GX_SIM_DISK_FILES && file->inode) file++;
    bool room = file < disk->files + GX_SIM_DISK_FILES, fits = strlen(name) < sizeof file->name;
    if (!room || !fits) {
        errno = room ? ENAMETOOLONG : ENOSPC;
        return NULL;
    }
    memcpy(file->name, name, strlen(name) + 1);
    gx_buf_reset(&file->bytes);
    file->inode = ++disk->inodes;
    file->opened = 0;
    return file;
}

/* Without a name and open nowhere, it is gone. */
static void maybe_free(gx_sim_file *file) {
    if (!file->name[0] && !file->opened) file->inode = 0;
}

static void remove_name(gx_sim_file *file) {
    file->name[0] = 0;
    maybe_free(file);
}

gx_sim_file *gx_sim_disk_file(gx_sim_disk *disk, const char *path, bool makes) {
    const char *name = name_of(path);
    gx_sim_file *file = name ? find(disk, name) : NULL;
    return file || !name || !makes ? file : make(disk, name);
}

/* --- Somebody else --- */

void gx_sim_disk_meddle(gx_sim_disk *disk, const char *path, gx_sim_deed what, uint64_t at) {
    disk->meddling = (gx_sim_meddling){ .path = path, .what = what, .at = at };
}

static void give_name(gx_sim_file *file, const char *name, const char *ending) {
    size_t size = strlen(name), more = strlen(ending);
    if (size + more >= sizeof file->name) return;
    memcpy(file->name, name, size);
    memcpy(file->name + size, ending, more + 1);
}

static void do_deed(gx_sim_disk *disk, gx_sim_meddling *m) {
    const char *name = name_of(m->path);
    gx_sim_file *file = name ? find(disk, name) : NULL;
    if (!file) return;
    m->done = true;
    m->inode = file->inode;
    disk->failed++;
    size_t size = file->bytes.size;
    if (m->what == GX_SIM_CUT) file->bytes.size = size / 2;
    if (m->what == GX_SIM_PUNCH && size) memset(file->bytes.data + size / 4, 0, size / 2);
    if (m->what == GX_SIM_RENAME) give_name(file, name, ".moved");
    if (m->what == GX_SIM_REMOVE || m->what == GX_SIM_REPLACE) remove_name(file);
    if (m->what == GX_SIM_REPLACE) (void)make(disk, name);
}

static void note_moved(const gx_sim_file *file) {
    gx_sim_meddling *m = &used->meddling;
    if (m->done)
        m->since += file->inode == m->inode;
    else if (m->path)
        m->before += strcmp(file->name, name_of(m->path)) == 0;
}

/* --- Faults --- */

/* The process dies in this call, or has died. */
static bool dies(void) {
    used->calls++;
    if (used->meddling.path && used->calls == used->meddling.at) do_deed(used, &used->meddling);
    if (used->dies_at && used->calls >= used->dies_at) used->dead = true;
    return used->dead;
}

static bool strikes(void) {
    if (!used->odds || (uint32_t)(gx_random_next(&used->random) >> 32) >= used->odds) return false;
    used->failed++;
    return true;
}

/* A call that moves no bytes. */
static bool fails(int error) {
    if (!dies() && !strikes()) return false;
    errno = error;
    return true;
}

/* How many of the bytes are moved; -1: none, and errno. */
static ssize_t share(size_t size, bool writes, int error) {
    bool died = used->dead;
    if (dies()) {
        errno = EIO;
        return writes && !died ? (ssize_t)(size / 2) : -1;
    }
    if (!strikes()) return (ssize_t)size;
    uint32_t drawn = gx_random_below(&used->random, 4);
    if (drawn < 2 && size > 1) return (ssize_t)(size / 2);
    errno = drawn == 2 ? EINTR : error;
    return -1;
}

/* --- Calls --- */

static gx_sim_handle *handle_of(int fd) {
    return fd > GX_DISK_OWN && fd <= GX_DISK_OWN + GX_SIM_DISK_HANDLES ? &used->handles[fd - GX_DISK_OWN - 1] : NULL;
}

static int open_handle(gx_sim_file *file, int flags) {
    for (int i = 0; i < GX_SIM_DISK_HANDLES; i++) {
        if (used->handles[i].used) continue;
        used->handles[i] = (gx_sim_handle){ .file = file, .used = true, .appends = flags & O_APPEND };
        if (file) file->opened++;
        return GX_DISK_OWN + 1 + i;
    }
    errno = EMFILE;
    return -1;
}

static int do_open(const char *path, int flags, mode_t mode) {
    const char *name = name_of(path);
    if (!name) return gx_disk_system.open(path, flags, mode);
    if (fails(EIO)) return -1;
    if (flags & O_DIRECTORY) return open_handle(NULL, flags);
    gx_sim_file *file = find(used, name);
    if (file ? (flags & O_EXCL) != 0 : !(flags & O_CREAT)) {
        errno = file ? EEXIST : ENOENT;
        return -1;
    }
    if (!file) file = make(used, name);
    if (file && flags & O_TRUNC) gx_buf_reset(&file->bytes);
    return file ? open_handle(file, flags) : -1;
}

/* It closes in any case. */
static int do_close(int fd) {
    gx_sim_handle *h = handle_of(fd);
    if (!h) return gx_disk_system.close(fd);
    if (h->file) {
        h->file->opened--;
        maybe_free(h->file);
    }
    *h = (gx_sim_handle){ .file = NULL };
    return fails(EIO) ? -1 : 0;
}

static ssize_t read_at(const gx_sim_file *file, void *bytes, size_t size, off_t at) {
    if (used->at_once && size > used->at_once) size = used->at_once;
    ssize_t got = share(size, false, EIO);
    size_t left = at < (off_t)file->bytes.size ? file->bytes.size - (size_t)at : 0;
    note_moved(file);
    if (got > (ssize_t)left) got = (ssize_t)left;
    if (got > 0) memcpy(bytes, file->bytes.data + at, (size_t)got);
    return got;
}

static ssize_t do_read(int fd, void *bytes, size_t size) {
    gx_sim_handle *h = handle_of(fd);
    if (!h) return gx_disk_system.read(fd, bytes, size);
    ssize_t got = read_at(h->file, bytes, size, h->at);
    if (got > 0) h->at += got;
    return got;
}

static ssize_t do_pread(int fd, void *bytes, size_t size, off_t at) {
    gx_sim_handle *h = handle_of(fd);
    return h ? read_at(h->file, bytes, size, at) : gx_disk_system.pread(fd, bytes, size, at);
}

/* The file is `size` bytes long from now on; new ones are zeros. */
static bool resize(gx_sim_file *file, size_t size) {
    size_t had = file->bytes.size;
    if (size > had && !gx_buf_reserve(&file->bytes, size - had)) return false;
    if (size > had) memset(file->bytes.data + had, 0, size - had);
    file->bytes.size = size;
    return true;
}

static ssize_t do_write(int fd, const void *bytes, size_t size) {
    gx_sim_handle *h = handle_of(fd);
    if (!h) return gx_disk_system.write(fd, bytes, size);
    ssize_t put = share(size, true, ENOSPC);
    if (put <= 0) return put;
    note_moved(h->file);
    if (h->appends) h->at = (off_t)h->file->bytes.size;
    size_t end = (size_t)h->at + (size_t)put;
    if (end > h->file->bytes.size && !resize(h->file, end)) {
        errno = ENOSPC;
        return -1;
    }
    memcpy(h->file->bytes.data + h->at, bytes, (size_t)put);
    h->at += put;
    return used->dead ? -1 : put;
}

static off_t do_seek(int fd, off_t offset, int whence) {
    gx_sim_handle *h = handle_of(fd);
    if (!h) return gx_disk_system.seek(fd, offset, whence);
    if (fails(EIO)) return -1;
    off_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? h->at : (off_t)h->file->bytes.size;
    return h->at = from + offset;
}

static int do_truncate(int fd, off_t size) {
    gx_sim_handle *h = handle_of(fd);
    if (!h) return gx_disk_system.truncate(fd, size);
    if (fails(EIO)) return -1;
    return resize(h->file, (size_t)size) ? 0 : -1;
}

static int do_sync(int fd) {
    return handle_of(fd) ? -fails(EIO) : gx_disk_system.sync(fd);
}

static int tell(const gx_sim_file *file, struct stat *about) {
    memset(about, 0, sizeof *about);
    about->st_mode = file ? S_IFREG | 0600 : S_IFDIR | 0700;
    about->st_dev = 1;
    if (!file) return 0;
    about->st_ino = file->inode;
    about->st_nlink = file->name[0] != 0;
    about->st_size = (off_t)file->bytes.size;
    return 0;
}

static int do_about(int fd, struct stat *ret_about) {
    gx_sim_handle *h = handle_of(fd);
    if (!h) return gx_disk_system.about(fd, ret_about);
    return fails(EIO) ? -1 : tell(h->file, ret_about);
}

static int tell_named(const char *name, struct stat *about) {
    if (fails(EIO)) return -1;
    const gx_sim_file *file = find(used, name);
    if (file || !name[0]) return tell(file, about);
    errno = ENOENT;
    return -1;
}

static int do_about_path(const char *path, struct stat *ret_about) {
    return name_of(path) ? tell_named(name_of(path), ret_about) : gx_disk_system.about_path(path, ret_about);
}

static int do_about_link(const char *path, struct stat *ret_about) {
    return name_of(path) ? tell_named(name_of(path), ret_about) : gx_disk_system.about_link(path, ret_about);
}

/* It has none. */
static ssize_t do_read_link(const char *path, char *target, size_t size) {
    if (!name_of(path)) return gx_disk_system.read_link(path, target, size);
    if (fails(EIO)) return -1;
    errno = find(used, name_of(path)) ? EINVAL : ENOENT;
    return -1;
}

static int do_lock(int fd) {
    gx_sim_handle *h = handle_of(fd);
    if (!h) return gx_disk_system.lock(fd);
    if (fails(EIO)) return -1;
    for (int i = 0; i < GX_SIM_DISK_HANDLES; i++) {
        const gx_sim_handle *other = &used->handles[i];
        if (other == h || !other->used || !other->locks || other->file != h->file) continue;
        errno = EWOULDBLOCK;
        return -1;
    }
    h->locks = true;
    return 0;
}

static int do_rename(const char *from, const char *to) {
    if (!name_of(from) || !name_of(to)) return gx_disk_system.rename(from, to);
    if (fails(EIO)) return -1;
    if (strlen(name_of(to)) >= GX_SIM_DISK_NAME) {
        errno = ENAMETOOLONG;
        return -1;
    }
    gx_sim_file *file = find(used, name_of(from)), *old = find(used, name_of(to));
    if (!file) {
        errno = ENOENT;
        return -1;
    }
    if (old) remove_name(old);
    memcpy(file->name, name_of(to), strlen(name_of(to)) + 1);
    return 0;
}

static int do_unlink(const char *path) {
    if (!name_of(path)) return gx_disk_system.unlink(path);
    if (fails(EIO)) return -1;
    gx_sim_file *file = find(used, name_of(path));
    if (file) remove_name(file);
    errno = ENOENT;
    return file ? 0 : -1;
}

/* There is one folder. */
static int do_make_folder(const char *path, mode_t mode) {
    if (!name_of(path)) return gx_disk_system.make_folder(path, mode);
    if (fails(EIO)) return -1;
    errno = ENOSPC;
    return -1;
}

/* --- Processes --- */

static void close_all(gx_sim_disk *disk) {
    memset(disk->handles, 0, sizeof disk->handles);
    for (int i = 0; i < GX_SIM_DISK_FILES; i++) {
        disk->files[i].opened = 0;
        maybe_free(&disk->files[i]);
    }
}

void gx_sim_disk_begin(gx_sim_disk *disk, gx_random random, uint32_t odds, uint64_t dies_at) {
    static const gx_disk calls = { do_open,     do_close,  do_read,   do_pread,      do_write,      do_seek,
                                   do_truncate, do_sync,   do_about,  do_about_path, do_about_link, do_read_link,
                                   do_lock,     do_rename, do_unlink, do_sync,       do_make_folder };
    close_all(disk);
    disk->random = random;
    disk->odds = odds;
    disk->dies_at = dies_at;
    disk->calls = disk->failed = 0;
    disk->dead = false;
    used = disk;
    gx_disk_use(&calls);
}

void gx_sim_disk_end(gx_sim_disk *disk) {
    gx_disk_use(NULL);
    used = NULL;
    close_all(disk);
}
