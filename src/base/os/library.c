#include "base/os/library.h"

#include "base/os/folder.h"
#include "base/str.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if GALE_HAS_LOADER
#include <dlfcn.h>
#endif

/* --- Looking at it ------------------------------------------------------------------------------------------------ */

#if defined(__x86_64__)
enum { OUR_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OUR_MACHINE = EM_AARCH64 };
#else
enum { OUR_MACHINE = EM_NONE };
#endif

static const char *machine_name(uint16_t machine) {
    static const struct {
        uint16_t machine;
        const char *name;
    } rows[] = { { EM_X86_64, "x86-64" }, { EM_AARCH64, "arm64" }, { EM_386, "32-bit x86" }, { EM_ARM, "32-bit arm" },
                 { EM_RISCV, "RISC-V" },  { EM_PPC64, "POWER" },   { EM_S390, "S/390" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].machine == machine) return rows[i].name;
    return "another machine";
}

static int refuse(const char *path, gale_error *error, const char *why) {
    return gale_error_set(error, GALE_INVALID, "'%s' %s", path, why);
}

static int check_machine(const char *path, const Elf64_Ehdr *head, gale_error *error) {
    bool ours = head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == ELFDATA2LSB &&
                (head->e_machine == OUR_MACHINE || OUR_MACHINE == EM_NONE);
    if (ours) return 0;
    return gale_error_set(error, GALE_INVALID, "'%s' is built for %s, and this gale for %s: build it for this machine",
                          path, machine_name(head->e_machine), machine_name(OUR_MACHINE));
}

/* The table of sections is the last thing in most files, so that one that was cut off shows. */
static int check_head(const char *path, const Elf64_Ehdr *head, ssize_t size, off_t file_size, gale_error *error) {
    if (size < SELFMAG || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
        return refuse(path, error, "is no shared object: build it with -shared -fPIC");
    if (size < (ssize_t)sizeof *head) return refuse(path, error, "is cut off: build or copy it again");
    int rc = check_machine(path, head, error);
    if (rc < 0) return rc;
    if (head->e_type != ET_DYN)
        return refuse(path, error, "is an object file or a program, and no shared object: build it with -shared -fPIC");
    uint64_t sections = (uint64_t)head->e_shnum * head->e_shentsize;
    if (head->e_shoff && (head->e_shoff > (uint64_t)file_size || sections > (uint64_t)file_size - head->e_shoff))
        return refuse(path, error, "is cut off: build or copy it again");
    return 0;
}

/* Code of root, of this user, and of who owns the folder of this program or library runs in any case. */
static bool is_trusted(uid_t owner) {
    char origin[PATH_MAX];
    struct stat about;
    if (owner == 0 || owner == geteuid()) return true;
    bool known = gx_folder_of_function((void (*)(void))gx_library_can, origin, sizeof origin);
    return known && stat(origin, &about) == 0 && owner == about.st_uid;
}

/* Who owns a link says where it leads. */
static int check_owner(const char *path, uid_t owner, gale_error *error) {
    struct stat link;
    if (is_trusted(owner) && (lstat(path, &link) < 0 || is_trusted(link.st_uid))) return 0;
    return refuse(path, error, "belongs to another user, and what is in it runs as you: chown it, or copy it");
}

static int check_file(const char *path, const struct stat *about, gale_error *error) {
    if (!S_ISREG(about->st_mode)) return refuse(path, error, "is no file");
    int rc = check_owner(path, about->st_uid, error);
    if (rc < 0) return rc;
    if (about->st_mode & S_IWOTH)
        return refuse(path, error, "may be changed by everybody, and what is in it runs as you: chmod o-w");
    return 0;
}

static int look(int fd, const char *path, gale_error *error) {
    struct stat about;
    Elf64_Ehdr head = { .e_type = ET_NONE };
    if (fstat(fd, &about) < 0)
        return gale_error_set(error, GALE_IO, "'%s' cannot be looked at: %s", path, strerror(errno));
    int rc = check_file(path, &about, error);
    if (rc < 0) return rc;
    ssize_t size = pread(fd, &head, sizeof head, 0);
    if (size < 0) return gale_error_set(error, GALE_IO, "'%s' cannot be read: %s", path, strerror(errno));
    return check_head(path, &head, size, about.st_size, error);
}

int gx_library_look(const char *path, gale_error *error) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe does not wait for a writer */
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return gale_error_set(error, GALE_NOT_FOUND, "'%s' is not there", path);
    if (fd < 0) return gale_error_set(error, GALE_IO, "'%s' cannot be opened: %s", path, strerror(errno));
    int rc = look(fd, path, error);
    close(fd);
    return rc;
}

/* --- What the loader says ----------------------------------------------------------------------------------------- */

/* What stands behind `mark`, up to a character of `ends`. */
static gale_str behind(const char *said, const char *mark, const char *ends) {
    const char *at = strstr(said, mark);
    if (!at) return (gale_str){ NULL, 0 };
    at += strlen(mark);
    return (gale_str){ at, strcspn(at, ends) };
}

/* "libx.so.1: cannot open shared object file: ..." names what is missing, "path: ..." the object itself. musl has other words. */
static gale_str missing_library(const char *path, const char *said) {
    gale_str name = behind(said, "Error loading shared library ", ":");
    if (!name.data && strstr(said, ": cannot open shared object file")) name = (gale_str){ said, strcspn(said, ":") };
    return gx_str_is(name, path) ? (gale_str){ NULL, 0 } : name;
}

#if GALE_HAS_LOADER

/* Does the process show libgale's functions to what it loads? RTLD_DEFAULT would also look into what only this library sees. */
static bool shows_gale(void) {
    void *process = dlopen(NULL, RTLD_LAZY), *found = process ? dlsym(process, "gale_version") : NULL;
    if (process) dlclose(process);
    return found;
}

#else

static bool shows_gale(void) {
    return false;
}

#endif

int gx_library_explain(const char *path, const char *said, gale_error *error) {
    gale_str library = missing_library(path, said), symbol = behind(said, "undefined symbol: ", ", \n("),
             version = behind(said, "version `", "'");
    if (library.size)
        return gale_error_set(error, GALE_NOT_FOUND, "'%s' needs %.*s, which is not there: install it", path,
                              GX_STR(library));
    if (symbol.size > 5 && memcmp(symbol.data, "gale_", 5) == 0 && !shows_gale())
        return gale_error_set(
            error, GALE_INVALID,
            "'%s' calls %.*s, which this program does not show: link it with the shared libgale, or with all of "
            "the static one and -rdynamic",
            path, GX_STR(symbol));
    if (symbol.size > 5 && memcmp(symbol.data, "gale_", 5) == 0)
        return gale_error_set(
            error, GALE_INVALID,
            "'%s' calls %.*s, which gale %s does not have: update gale, or build it with the headers of "
            "this one",
            path, GX_STR(symbol), GALE_VERSION_TEXT);
    if (symbol.size)
        return gale_error_set(error, GALE_INVALID,
                              "'%s' calls %.*s, which nothing has that it is linked with: link it with what does", path,
                              GX_STR(symbol));
    if (version.size)
        return gale_error_set(error, GALE_INVALID,
                              "'%s' is built for a newer system, which has %.*s: build it on this one", path,
                              GX_STR(version));
    return gale_error_set(error, GALE_INVALID, "'%s' cannot be loaded: %s", path, said);
}

/* --- Loading ------------------------------------------------------------------------------------------------------ */

bool gx_library_can(void) {
    return GALE_HAS_LOADER;
}

#if GALE_HAS_LOADER

/* What the loader says lasts until it is asked again. */
static int explain_last(const char *path, gale_error *error) {
    char kept[1000];
    const char *said = dlerror();
    snprintf(kept, sizeof kept, "%s", said ? said : "the loader does not say why");
    return gx_library_explain(path, kept, error);
}

/* A host that loads libgale at run time (ctypes, a module of a server) sees it alone, and a plugin is linked with nothing of gale: libgale
 * is shown to all that is loaded from now on. Where it is a part of the program, the program shows it or nothing can. */
static void show_gale(void) {
    Dl_info about;
    if (shows_gale() || !dladdr((const void *)(uintptr_t)gale_version, &about) || !about.dli_fname) return;
    (void)dlopen(about.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

int gx_library_load(const char *path, void **ret_library, gale_error *error) {
    show_gale();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return explain_last(path, error);
    *ret_library = library;
    return 0;
}

gx_library_fn *gx_library_function(void *library, const char *name) {
    void *found = dlsym(library, name);
    gx_library_fn *function = NULL;
    static_assert(sizeof function == sizeof found, "POSIX has functions and data in pointers of one size");
    memcpy(&function, &found, sizeof function);
    return function;
}

#else

int gx_library_load(const char *path, void **ret_library, gale_error *error) {
    (void)ret_library;
    return gale_error_set(
        error, GALE_UNSUPPORTED,
        "'%s' cannot be loaded: this gale is linked statically, and has no loader; use one that is not", path);
}

gx_library_fn *gx_library_function(void *library, const char *name) {
    (void)library;
    (void)name;
    return NULL;
}

#endif
