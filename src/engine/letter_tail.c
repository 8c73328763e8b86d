#include "engine/letter_tail.h"

#include "base/os/file.h"

#include <string.h>

/* How every letter that gale writes begins. */
static const char beginning[] = "{\"component\":\"";

/* What is known of a line so far: is it an object of JSON, whole? */
typedef struct scan {
    size_t size;
    size_t same; /* bytes that are as `beginning` */
    int depth;
    bool in_string, escaped;
} scan;

static void scan_byte(scan *s, char c) {
    if (s->size == s->same && s->same < sizeof beginning - 1 && c == beginning[s->same]) s->same++;
    s->size++;
    if (s->escaped) {
        s->escaped = false;
    } else if (s->in_string) {
        s->escaped = c == '\\';
        s->in_string = c != '"';
    } else {
        s->in_string = c == '"';
        s->depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    }
}

static int scan_line(int fd, int64_t begin, int64_t end, const char *path, scan *s, gale_error *error) {
    char bytes[4096];
    while (begin < end) {
        size_t wanted = end - begin < (int64_t)sizeof bytes ? (size_t)(end - begin) : sizeof bytes;
        int64_t got = gx_file_read_at(fd, bytes, wanted, begin, path, error);
        if (got < 0) return (int)got;
        if (got == 0) break;
        for (int64_t i = 0; i < got; i++) scan_byte(s, bytes[i]);
        begin += got;
    }
    return GALE_OK;
}

/* It begins as a letter of gale's does, as far as it goes, and its braces are not closed. */
static bool is_torn(const scan *s) {
    bool begins = s->same == sizeof beginning - 1 || s->same == s->size;
    return begins && (s->depth > 0 || s->in_string);
}

static int mend(int fd, int reading, int64_t size, const char *path, gale_error *error) {
    scan s = { 0 };
    int64_t begin = gx_file_last_line(reading, size, path, error);
    if (begin < 0) return (int)begin;
    if (begin == size) return GX_LETTER_TAIL_WHOLE;
    int rc = scan_line(reading, begin, size, path, &s, error);
    if (rc < 0) return rc;
    bool torn = is_torn(&s);
    rc = torn ? gx_file_cut(fd, begin, path, error) : gx_file_append(fd, "\n", 1, path, error);
    return rc < 0 ? rc : torn ? GX_LETTER_TAIL_CUT : GX_LETTER_TAIL_ENDED;
}

int gx_letter_tail_mend(int fd, const char *path, gale_error *error) {
    gx_file_about about;
    int reading;
    int rc = gx_file_about_open(fd, path, &about, error);
    if (rc < 0 || !about.regular || !about.size) return rc < 0 ? rc : GX_LETTER_TAIL_WHOLE;
    rc = gx_file_open(path, &reading, NULL, error);
    if (rc < 0) return rc;
    rc = mend(fd, reading, about.size, path, error);
    gx_file_close(reading);
    return rc;
}
