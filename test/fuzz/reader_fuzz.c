/* Bytes, read line by line as a file and as a pipe: the lines are those of a plain split, whatever the reads return, also
 * when one is given back, and from every place that the reader names; those that are UTF-8 are known. */
#include "fuzz.h"

#include "base/encoding.h"
#include "base/os/disk.h"
#include "base/utf8.h"
#include "connect/file/reader.h"

#include <stdio.h>
#include <unistd.h>

enum { LINES_MAX = 4096, PIPE_MAX = 32 << 10 };

static fuzz_input file, sizes; /* what is read, and how much of it each read returns */

static const gx_file_rule rule = { .longest = GALE_LINE_MAX };

static int serve_open(const char *path, int flags, mode_t mode) {
    (void)path, (void)flags, (void)mode;
    return GX_DISK_OWN + 1;
}

static int serve_close(int fd) {
    (void)fd;
    return 0;
}

static ssize_t serve_read_at(int fd, void *bytes, size_t size, off_t offset) {
    (void)fd;
    size_t left = (size_t)offset < file.size ? file.size - (size_t)offset : 0, wanted = 1u + fuzz_byte(&sizes) * 8u;
    if (size > wanted) size = wanted;
    if (size > left) size = left;
    if (size) memcpy(bytes, file.data + offset, size);
    return (ssize_t)size;
}

static int serve_about(int fd, struct stat *about) {
    (void)fd;
    *about = (struct stat){ .st_mode = S_IFREG, .st_size = (off_t)file.size };
    return 0;
}

/* --- The plain split ---------------------------------------------------------------------------------------------- */

typedef struct split {
    gale_str lines[LINES_MAX];
    size_t at[LINES_MAX]; /* where each begins */
    size_t count;
} split;

static void split_all(split *s, fuzz_input text) {
    s->count = 0;
    for (size_t at = 0; at < text.size && s->count < LINES_MAX;) {
        const char *begin = (const char *)text.data + at, *end = memchr(begin, '\n', text.size - at);
        size_t size = end ? (size_t)(end - begin) : text.size - at;
        s->at[s->count] = at;
        at += size + (end != NULL);
        if (size && begin[size - 1] == '\r') size--; /* also at the end of the file */
        s->lines[s->count++] = (gale_str){ begin, size };
    }
}

static bool asked; /* whether a line is UTF-8 */

static void expect_line(gx_file_reader *reader, const split *s, size_t i) {
    gale_error error = GALE_ERROR_INIT;
    gale_str line;
    int rc = gx_file_reader_next(reader, &line, &error);
    expect(error.length == 0 && rc == (i < s->count));
    if (rc == 0) return;
    expect(line.size == s->lines[i].size && memcmp(line.data, s->lines[i].data, line.size) == 0);
    expect(reader->number == i + 1);
    if (asked) expect(gx_file_reader_is_text(reader) == gx_utf8_valid(line.data, line.size));
}

static void read_file(const split *s, gx_heap *heap, fuzz_input *choices) {
    gx_file_reader reader;
    expect(gx_file_reader_open(&reader, heap, "file", &rule, NULL) == GALE_OK && reader.regular);
    for (size_t i = 0; i <= s->count; i++) {
        expect_line(&reader, s, i);
        if (i == s->count) break;
        expect((size_t)gx_file_reader_last_at(&reader) == s->at[i]);
        uint8_t choice = fuzz_byte(choices);
        asked = choice & 8;
        if (choice & 1) {
            gx_file_reader_unread(&reader);
            expect_line(&reader, s, i);
        }
        if ((choice & 6) == 2) {
            size_t other = choice % s->count;
            gx_file_reader_seek(&reader, (int64_t)s->at[other], other);
            expect_line(&reader, s, other);
            gx_file_reader_seek(&reader, (int64_t)s->at[i], i);
            expect_line(&reader, s, i);
        }
        expect(i + 1 < s->count ? (size_t)gx_file_reader_next_at(&reader) == s->at[i + 1] : true);
    }
    gx_file_reader_rewind(&reader);
    expect_line(&reader, s, 0);
    gx_file_reader_close(&reader);
}

static void read_pipe(const split *s, gx_heap *heap, fuzz_input text) {
    int ends[2];
    char path[64];
    gx_file_reader reader;
    expect(pipe(ends) == 0);
    expect(write(ends[1], text.data, text.size) == (ssize_t)text.size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    expect(gx_file_reader_open(&reader, heap, path, &rule, NULL) == GALE_OK && !reader.regular);
    close(ends[0]);
    close(ends[1]);
    asked = true;
    for (size_t i = 0; i <= s->count; i++) expect_line(&reader, s, i);
    gx_file_reader_close(&reader);
}

/* A byte how many choices there are, that many choices, and the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static split s;
    fuzz_input in = { data, size };
    size_t count = fuzz_byte(&in);
    fuzz_input choices = { in.data, count < in.size ? count : in.size };
    file = (fuzz_input){ in.data + choices.size, in.size - choices.size };
    sizes = choices;
    if (file.size && !gx_encoding_is_plain((char)*file.data)) return 0;
    split_all(&s, file);
    if (s.count == LINES_MAX || file.size > PIPE_MAX) return 0;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_disk disk = gx_disk_system;
    disk.open = serve_open;
    disk.close = serve_close;
    disk.pread = serve_read_at;
    disk.about = serve_about;
    gx_disk_use(&disk);
    read_file(&s, &heap, &choices);
    gx_disk_use(NULL);
    read_pipe(&s, &heap, file);
    expect(gx_heap_reserved(&heap) == 0);
    return 0;
}
