/* gale_bench_jobs JOB INPUT OUTPUT: the jobs of bench/jobs by hand, on one thread. The text is mapped; what a job
 * needs of a line is found and counted in a table; nothing is copied.
 *
 *     csv   requests by status; all columns are cut and numbers are read
 *     kv    the same of logfmt
 *     log   the same of an access log */
#include "base/bits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

_Noreturn static void give_up(const char *what) {
    fprintf(stderr, "gale_bench_jobs: %s: %s\n", what, strerror(errno));
    exit(1);
}

typedef struct text {
    const char *at, *end;
} text;

static text map(const char *path) {
    struct stat about;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &about) < 0) give_up(path);
    const char *at = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) give_up(path);
    return (text){ at, at + about.st_size };
}

static bool next_line(text *all, text *line) {
    if (all->at >= all->end) return false;
    const char *end = memchr(all->at, '\n', (size_t)(all->end - all->at));
    *line = (text){ all->at, end ? end : all->end };
    all->at = line->end + 1;
    return true;
}

/* The piece up to `c`, which is passed. */
static text cut(text *rest, char c) {
    const char *end = memchr(rest->at, c, (size_t)(rest->end - rest->at));
    text piece = { rest->at, end ? end : rest->end };
    rest->at = end ? end + 1 : rest->end;
    return piece;
}

static uint64_t whole(text digits) {
    uint64_t number = 0;
    for (; digits.at < digits.end && *digits.at >= '0' && *digits.at <= '9'; digits.at++)
        number = 10 * number + (uint64_t)(*digits.at - '0');
    return number;
}

static double decimal(text digits) {
    text part = digits, before = cut(&part, '.');
    double scale = 1;
    for (const char *at = part.at; at < part.end; at++) scale *= 10;
    return (double)whole(before) + (double)whole(part) / scale;
}

enum { STATUS = 1000 };

typedef struct sums {
    uint64_t requests[STATUS];
    double all; /* of the numbers that are read for nothing else */
} sums;

static void count_status(sums *s, text status) {
    uint64_t number = whole(status);
    s->requests[number < STATUS ? number : 0]++;
}

static void take_csv(sums *s, text line) {
    s->all += decimal(cut(&line, ','));
    for (int i = 0; i < 3; i++) (void)cut(&line, ',');
    count_status(s, cut(&line, ','));
    s->all += (double)whole(cut(&line, ','));
    s->all += decimal(cut(&line, ','));
    if (line.at < line.end && *line.at == '"') line.at++, s->all += (double)(cut(&line, '"').end - line.at);
}

static void take_kv(sums *s, text line) {
    while (line.at < line.end) {
        text key = cut(&line, '='), value;
        if (line.at < line.end && *line.at == '"') {
            line.at++;
            value = cut(&line, '"');
            line.at++;
        } else {
            value = cut(&line, ' ');
        }
        size_t size = (size_t)(key.end - key.at);
        if (size == 6 && memcmp(key.at, "status", 6) == 0) count_status(s, value);
        if (size == 5 && memcmp(key.at, "bytes", 5) == 0) s->all += (double)whole(value);
        if (size == 2 && memcmp(key.at, "ts", 2) == 0) s->all += decimal(value);
    }
}

static void take_log(sums *s, text line) {
    s->all += (double)(cut(&line, ' ').end - line.at);
    (void)cut(&line, '[');
    s->all += (double)(cut(&line, ']').end - line.at);
    (void)cut(&line, '"');
    text request = cut(&line, '"'), method = cut(&request, ' '), path = cut(&request, ' ');
    s->all += (double)(method.end - path.at);
    line.at++;
    count_status(s, cut(&line, ' '));
    s->all += (double)whole(cut(&line, ' '));
}

static void write_sums(const sums *s, const char *path) {
    FILE *out = fopen(path, "w");
    if (!out) give_up(path);
    for (int i = 0; i < STATUS; i++)
        if (s->requests[i]) fprintf(out, "%d\t%" PRIu64 "\n", i, s->requests[i]);
    if (s->all == 0.5) fputc(' ', out); /* so that it is wanted */
    if (fclose(out)) give_up(path);
}

int main(int argc, char **argv) {
    static sums s;
    text line;
    if (argc != 4) return fprintf(stderr, "usage: gale_bench_jobs csv|kv|log INPUT OUTPUT\n"), 2;
    text all = map(argv[2]);
    bool is_csv = strcmp(argv[1], "csv") == 0, is_kv = strcmp(argv[1], "kv") == 0;
    if (is_csv) next_line(&all, &line); /* names */
    while (next_line(&all, &line)) {
        if (is_csv)
            take_csv(&s, line);
        else if (is_kv)
            take_kv(&s, line);
        else
            take_log(&s, line);
    }
    write_sums(&s, argv[3]);
    return 0;
}
