#include "cli/documents.h"

#include "base/os/folder.h"
#include "base/os/time.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <gale/clock.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* --- Finding ------------------------------------------------------------------------------------------------------ */

enum { DEPTH_MAX = 4, ENTRIES_MAX = 30000 };

/* A cold disk must not keep a demonstration from showing its first line: what was found by then is enough. */
static const int64_t search_bound = 300 * GALE_MILLISECOND;

typedef struct finder {
    gx_documents found;
    size_t capacity;
    size_t entries; /* looked at */
    int64_t give_up_at;
    bool everything; /* below a path that the user named, every file may be text */
    bool no_memory;
} finder;

static void add(finder *f, const char *path) {
    if (f->found.count == GX_DOCUMENTS_MAX) return;
    if (f->found.count == f->capacity) {
        size_t capacity = f->capacity ? 2 * f->capacity : 64;
        char **grown = realloc(f->found.paths, capacity * sizeof *grown);
        if (!grown) {
            f->no_memory = true;
            return;
        }
        f->found.paths = grown;
        f->capacity = capacity;
    }
    char *copy = strdup(path);
    if (copy)
        f->found.paths[f->found.count++] = copy;
    else
        f->no_memory = true;
}

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static bool is_manual_page(const char *path) {
    size_t n = strlen(path);
    if (ends_with(path, ".gz")) n -= 3;
    return n > 2 && path[n - 2] == '.' && path[n - 1] >= '1' && path[n - 1] <= '8';
}

/* In a system's documentation: prose by name. Changelogs are dates and numbers. */
static bool is_prose(const char *path, const char *name) {
    static const char *const beginnings[] = { "README", "NEWS", "FAQ", "INSTALL", "THANKS", "copyright", "TODO" };
    static const char *const ends[] = { ".txt", ".md", ".txt.gz", ".md.gz", ".rst", ".rst.gz" };
    if (strstr(path, "/common-licenses/") || is_manual_page(path)) return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return !strstr(name, ".htm");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i])) return true;
    return false;
}

/* No NUL in what it begins with, after unpacking. */
static bool looks_like_text(const char *path) {
    char bytes[512];
    gzFile file = gzopen(path, "rb");
    if (!file) return false;
    int n = gzread(file, bytes, sizeof bytes);
    gzclose(file);
    return n > 0 && !memchr(bytes, 0, (size_t)n);
}

static void look_through(finder *f, const char *path, int depth);

static void look_at(finder *f, const char *folder, const struct dirent *entry, int depth) {
    char path[4096];
    struct stat about;
    if (entry->d_name[0] == '.' || f->entries++ > ENTRIES_MAX) return;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= sizeof path) return;
    /* Links are left out: what they lead to is counted where it lies. */
    if (lstat(path, &about) != 0) return;
    if (S_ISDIR(about.st_mode)) look_through(f, path, depth + 1);
    if (!S_ISREG(about.st_mode) || about.st_size == 0) return;
    if (f->everything ? looks_like_text(path) : is_prose(path, entry->d_name)) add(f, path);
}

static bool has_enough(const finder *f) {
    return f->found.count == GX_DOCUMENTS_MAX || (f->found.count && gx_os_monotonic() > f->give_up_at);
}

static void look_through(finder *f, const char *path, int depth) {
    DIR *folder = depth < DEPTH_MAX ? opendir(path) : NULL;
    if (!folder) return;
    for (const struct dirent *entry; (entry = readdir(folder)) && !has_enough(f);) look_at(f, path, entry, depth);
    closedir(folder);
}

static int by_path(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of neighbours whose names begin alike, the first few: one large program's thousand manual pages are not all there is
 * to read. The paths are sorted. */
static void thin_out(gx_documents *documents) {
    enum { ALIKE = 4, FEW = 6 };
    size_t kept = 0, run = 0;
    for (size_t i = 0; i < documents->count; i++) {
        char *path = documents->paths[i];
        const char *name = strrchr(path, '/');
        size_t same = (name ? (size_t)(name + 1 - path) : 0) + ALIKE;
        run = kept && strncmp(path, documents->paths[kept - 1], same) == 0 ? run + 1 : 0;
        if (run < FEW)
            documents->paths[kept++] = path;
        else
            free(path);
    }
    documents->count = kept;
}

static int finish(finder *f, gx_documents *ret_documents, gale_error *error) {
    if (f->no_memory) {
        gx_documents_fini(&f->found);
        return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    }
    if (f->found.count) qsort(f->found.paths, f->found.count, sizeof *f->found.paths, by_path);
    if (!f->everything) thin_out(&f->found);
    *ret_documents = f->found;
    return 0;
}

int gx_documents_find(const char *const *paths, size_t path_count, gx_documents *ret_documents, gale_error *error) {
    finder f = { .everything = true, .give_up_at = INT64_MAX };
    for (size_t i = 0; i < path_count; i++) {
        struct stat about;
        if (stat(paths[i], &about) != 0 || access(paths[i], R_OK) != 0) {
            gale_error_set(error, GALE_IO, "cannot open '%s': %s", paths[i], strerror(errno));
            gx_documents_fini(&f.found);
            return GALE_IO;
        }
        if (S_ISDIR(about.st_mode))
            look_through(&f, paths[i], 0);
        else
            add(&f, paths[i]);
    }
    if (f.found.count == 0 && !f.no_memory)
        return gale_error_set(error, GALE_NOT_FOUND, "there is no text in '%s'", path_count ? paths[0] : "(no path)");
    return finish(&f, ret_documents, error);
}

/* gale's own documents, from where the program lies. */
static void find_own(finder *f) {
    static const char *const places[] = { "../docs", "../README.md", "../share/doc/gale", "../../docs" };
    char program[2048], path[4096];
    if (!gx_folder_of_program(program, sizeof program)) return;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", program, places[i]);
        if (stat(path, &about) != 0) continue;
        if (S_ISDIR(about.st_mode))
            look_through(f, path, 0);
        else
            add(f, path);
    }
}

int gx_documents_find_any(gx_documents *ret_documents, gale_error *error) {
    finder f = { .everything = false, .give_up_at = gx_os_monotonic() + search_bound };
    char path[64];
    for (int section = 1; section <= 8; section++) {
        snprintf(path, sizeof path, "/usr/share/man/man%d", section);
        look_through(&f, path, 0);
    }
    look_through(&f, "/usr/share/common-licenses", 0);
    look_through(&f, "/usr/share/doc", 0);
    if (f.found.count == 0) find_own(&f);
    if (f.found.count == 0) add(&f, "");
    return finish(&f, ret_documents, error);
}

void gx_documents_fini(gx_documents *documents) {
    for (size_t i = 0; i < documents->count; i++) free(documents->paths[i]);
    free(documents->paths);
    *documents = (gx_documents){ NULL, 0 };
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* For a machine without any text: what this program is about. */
static const char *const carried[] = {
    "A topology is a graph of spouts and bolts that streams connect.",
    "A spout emits tuples, and a bolt takes tuples and emits others.",
    "Every tuple that a spout emits with a message id is the root of a tree.",
    "When every tuple of the tree has been acknowledged, the spout hears of it.",
    "When a tuple fails, or the tree is not done in time, the spout hears of that, and may emit it again.",
    "A grouping says which task of a bolt receives a tuple: shuffle, fields, all or global.",
    "A rolling count keeps one slot for every step of the window, and drops the oldest slot at each step.",
    "Rankings of many tasks are merged into one, which shows the words that are trending now.",
    "This machine has no documentation to read, so these lines go round and round.",
};

struct gx_reader {
    const gx_documents *documents;
    gx_random random;
    bool repeat;
    size_t *order;
    size_t at; /* in the order: the next document */
    size_t document;
    gzFile file;
    size_t carried_at; /* in the carried text, while `file` is NULL */
    bool manual_page;
    bool read_any; /* in this round: nothing readable at all must not turn for ever */
    char line[GX_DOCUMENT_LINE];
};

static void shuffle(gx_reader *reader) {
    for (size_t i = reader->documents->count; i > 1; i--) {
        size_t j = gx_random_below(&reader->random, (uint32_t)i), kept = reader->order[j];
        reader->order[j] = reader->order[i - 1];
        reader->order[i - 1] = kept;
    }
    reader->at = 0;
    reader->read_any = false;
}

gx_reader *gx_reader_new(const gx_documents *documents, uint64_t seed, bool repeat) {
    gx_reader *reader = calloc(1, sizeof *reader);
    size_t *order = calloc(documents->count ? documents->count : 1, sizeof *order);
    if (!reader || !order) {
        free(reader);
        free(order);
        return NULL;
    }
    *reader = (gx_reader){ .documents = documents, .random = gx_random_new(seed, 0), .repeat = repeat, .order = order };
    reader->carried_at = sizeof carried / sizeof *carried;
    for (size_t i = 0; i < documents->count; i++) order[i] = i;
    shuffle(reader);
    return reader;
}

static void close_file(gx_reader *reader) {
    if (reader->file) gzclose(reader->file);
    reader->file = NULL;
}

void gx_reader_free(gx_reader *reader) {
    if (!reader) return;
    close_file(reader);
    free(reader->order);
    free(reader);
}

/* Opens the next document; false when there is none. */
static bool open_next(gx_reader *reader) {
    for (;;) {
        if (reader->at == reader->documents->count) {
            if (!reader->repeat || !reader->read_any) return false;
            shuffle(reader);
        }
        reader->document = reader->order[reader->at++];
        const char *path = reader->documents->paths[reader->document];
        reader->manual_page = is_manual_page(path);
        if (!*path) return reader->carried_at = 0, true;
        reader->file = gzopen(path, "rb");
        if (reader->file) return true;
    }
}

void gx_reader_begin(gx_reader *reader) {
    (void)open_next(reader); /* none: so says the first gx_reader_next */
}

/* Takes the markup out of a line of a manual page: macro names at the beginning (whole lines of those whose arguments
 * are no prose), and escapes: \fB, \f(CW, \-, \&, \(em, \*(lq, \s-1. */
static size_t strip_markup(char *line, size_t size) {
    size_t in = 0, out = 0;
    if (size && (line[0] == '.' || line[0] == '\'')) {
        if (size > 1 && line[1] == '\\') return 0; /* a comment */
        if (size > 2 && line[1] == 'T' && line[2] == 'H') return 0;
        while (in < size && line[in] != ' ') in++;
    }
    while (in < size) {
        if (line[in] != '\\' || in + 1 == size) {
            line[out++] = line[in++];
            continue;
        }
        char kind = line[in + 1];
        in += 2;
        if (kind == 'f' || kind == '*' || kind == 's') {
            if (in < size && line[in] == '(')
                in += 3;
            else
                in += in < size && (line[in] == '-' || line[in] == '+') ? 2 : 1;
        } else if (kind == '(') {
            line[out++] = ' ', in += 2;
        } else if (kind == '-') {
            line[out++] = '-';
        }
    }
    return out;
}

/* A line of the open document; false at its end. A file that is broken ends where it breaks. */
static bool read_line(gx_reader *reader, gale_str *ret_line) {
    if (!reader->file) {
        if (reader->carried_at == sizeof carried / sizeof *carried) return false;
        *ret_line = gx_str(carried[reader->carried_at++]);
        return true;
    }
    if (!gzgets(reader->file, reader->line, sizeof reader->line)) return close_file(reader), false;
    size_t size = strlen(reader->line);
    while (size && (reader->line[size - 1] == '\n' || reader->line[size - 1] == '\r')) size--;
    if (reader->manual_page) size = strip_markup(reader->line, size);
    *ret_line = (gale_str){ reader->line, size };
    return true;
}

bool gx_reader_next(gx_reader *reader, gale_str *ret_line, size_t *ret_document) {
    while (!read_line(reader, ret_line))
        if (!open_next(reader)) return false;
    reader->read_any = true;
    *ret_document = reader->document;
    return true;
}
