#include "durable_rig.h"

#include "cli/command.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "front/dead_letter_file.h"
#include "harness/faulty_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The copy is cut into a handful of files. */
enum { BAD = 4, ASKED = 5, TEXT = 1 << 17, PATH = 400, PER_FILE = 10 };

static struct {
    int lines;
    char base[100], data[120];
    char good[DURABLE_LINES_MAX + 1][200]; /* what is copied of each good line */
    int copied[DURABLE_LINES_MAX + 1], letters[DURABLE_LINES_MAX + 1];
    char flaw[500];
} at;

static void broken(const char *what) {
    fprintf(stderr, "the rig cannot work: %s: %s\n", what, strerror(errno));
    exit(2);
}

const char *durable_rig_data(void) {
    return at.data;
}

const char *durable_rig_path(const char *name) {
    static char path[PATH];
    snprintf(path, sizeof path, "%s/%s", at.data, name);
    return path;
}

/* --- The job --- */

static const char topology[] = "name: durable\n"
                               "config:\n"
                               "  topology.dead_letters.file: %s/letters\n"
                               "  topology.replay.attempts: 2\n"
                               "  topology.replay.backoff.initial.secs: 0\n"
                               "  topology.state.checkpoint.interval.ms: 1\n"
                               "  topology.message.timeout.secs: 3600\n"
                               "spouts:\n"
                               "  - id: lines\n"
                               "    className: gale.spout.File\n"
                               "    properties: [{ name: path, value: %s/in }]\n"
                               "bolts:\n"
                               "  - id: parse\n"
                               "    className: gale.bolt.AccessLog\n"
                               "  - id: strict\n"
                               "    className: gale.bolt.RollingCountAgg\n"
                               "  - id: count\n"
                               "    className: gale.bolt.Count\n"
                               "    properties: [{ name: field, value: request }, { name: emit, value: finish }]\n"
                               "  - id: copy\n"
                               "    className: gale.bolt.FileSink\n"
                               "    properties: { path: %s/out, append: true, rotateBytes: %d }\n"
                               "  - id: counts\n"
                               "    className: gale.bolt.FileSink\n"
                               "    properties: [{ name: path, value: %s/counts }]\n"
                               "streams:\n"
                               "  - { from: lines, to: parse, grouping: { type: SHUFFLE } }\n"
                               "  - { from: parse, to: copy, grouping: { type: SHUFFLE } }\n"
                               "  - { from: parse, to: count, grouping: { type: FIELDS, args: [request] } }\n"
                               "  - { from: count, to: counts, grouping: { type: GLOBAL } }\n"
                               "  - { from: parse, to: strict, grouping: { type: GLOBAL, streamId: bad } }\n";

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) broken(path);
}

static bool is_bad(int line) {
    return line % BAD == 0;
}

static void write_input(void) {
    static char text[TEXT];
    char path[PATH];
    int size = 0;
    for (int line = 1; line <= at.lines; line++)
        size += snprintf(text + size, sizeof text - (size_t)size,
                         is_bad(line) ? "bad %d\n"
                                      : "10.0.0.1 - - [21/Nov/2026:11:00:00 +0000] \"GET /%d HTTP/1.1\" 200 %d \"-\" "
                                        "\"-\"\n",
                         is_bad(line) ? line : line % ASKED, line);
    put(durable_rig_path("in"), text);
    snprintf(text, sizeof text, topology, at.data, at.data, at.data, PER_FILE * at.lines, at.data);
    snprintf(path, sizeof path, "%s/t.yaml", at.base);
    put(path, text);
}

void durable_rig_run(bool slowly, durable_run *ret_run) {
    char path[PATH], words[4 * PATH], *argv[20], *rest = words;
    int argc = 0;
    snprintf(words, sizeof words, "%s/t.yaml --state %s/state -q --log-level error -j1%s", at.base, at.data,
             slowly ? " --rate 4000" : "");
    for (char *word; (word = strsep(&rest, " ")) != NULL;) argv[argc++] = word;
    snprintf(path, sizeof path, "%s/said", at.base);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) broken(path);
    gx_terminal errors;
    gx_terminal_init(&errors, fd);
    ret_run->code = gx_cmd_run.run(argc, argv, &errors);
    gx_terminal_fini(&errors);
    ssize_t size = pread(fd, ret_run->said, sizeof ret_run->said - 1, 0);
    ret_run->said[size < 0 ? 0 : size] = 0;
    close(fd);
}

/* --- What it leaves --- */

static const char *flaw(const char *what, const char *line) {
    if (!at.flaw[0]) snprintf(at.flaw, sizeof at.flaw, "%s: '%.300s'", what, line);
    return at.flaw;
}

static size_t add_content(const char *name, char *text, size_t room) {
    FILE *file = fopen(durable_rig_path(name), "r");
    size_t size = file ? fread(text, 1, room, file) : 0;
    if (file) fclose(file);
    text[size] = 0;
    return size;
}

/* What a file holds, behind those that it has had before. */
static char *content(const char *name) {
    static char text[TEXT];
    char numbered[60];
    size_t size = 0, more = 1;
    for (int number = 1; more; size += more) {
        snprintf(numbered, sizeof numbered, "%s.%06d", name, number++);
        more = add_content(numbered, text + size, sizeof text - 1 - size);
    }
    add_content(name, text + size, sizeof text - 1 - size);
    return text;
}

static int number_of(const char *line) {
    const char *found = strstr(line, "\t200\t");
    long number = found ? strtol(found + 5, NULL, 10) : 0;
    return number > 0 && number <= at.lines && !is_bad((int)number) ? (int)number : 0;
}

static void look_at_copies(bool learns) {
    char *text = content("out"), *end;
    memset(at.copied, 0, sizeof at.copied);
    for (char *line = text; *line; line = end + 1) {
        end = strchr(line, '\n');
        if (!end) flaw("half a line is in the copy", line);
        if (!end) return;
        *end = 0;
        int number = number_of(line);
        if (learns) snprintf(at.good[number], sizeof at.good[number], "%s", line);
        if (!number || strcmp(line, at.good[number]) != 0) flaw("this line does not belong into the copy", line);
        at.copied[number]++;
    }
    for (int line = 1; line <= at.lines; line++)
        if (at.copied[line] != !is_bad(line)) flaw(at.copied[line] ? "is twice in the copy" : "is lost", at.good[line]);
}

/* The plain computation. */
static void look_at_counts(void) {
    char *text = content("counts"), *end;
    int counts[ASKED] = { 0 };
    for (int line = 1; line <= at.lines; line++) counts[line % ASKED] += !is_bad(line);
    for (char *line = text; *line; line = end + 1) {
        char expected[60];
        int asked = strncmp(line, "GET /", 5) == 0 ? atoi(line + 5) : -1;
        end = strchr(line, '\n');
        if (!end || asked < 0 || asked >= ASKED) flaw("this is no count", line);
        if (!end || asked < 0 || asked >= ASKED) return;
        *end = 0;
        snprintf(expected, sizeof expected, "GET /%d HTTP/1.1\t%d", asked, counts[asked]);
        if (strcmp(line, expected) != 0) flaw("this count is wrong, or comes twice", line);
        counts[asked] = 0;
    }
    for (int i = 0; i < ASKED; i++)
        if (counts[i]) flaw("a count is missing", text);
}

static void no_letter(void *user, const gale_error *error) {
    (void)user;
    flaw("the letters have a line that is none", error->text);
}

static void look_at_letters(void) {
    gx_dead_letter_file letters;
    gx_dead_letter_file_told told = { no_letter, NULL };
    gale_error error = GALE_ERROR_INIT;
    memset(at.letters, 0, sizeof at.letters);
    if (gx_dead_letter_file_load(durable_rig_path("letters"), &told, &letters, &error) < 0) {
        flaw("the letters cannot be read", error.text);
        return;
    }
    for (size_t i = 0; i < letters.count; i++) {
        gale_value tuple = gale_value_owned_view(letters.items[i].tuple), line = gale_list_at(&tuple, 0);
        int number = line.type == GALE_TYPE_STRING && strncmp(line.as.string, "bad ", 4) == 0
                         ? (int)strtol(line.as.string + 4, NULL, 10)
                         : 0;
        if (number > 0 && number <= at.lines) at.letters[number]++;
    }
    for (int line = 1; line <= at.lines; line++)
        if (at.letters[line] != is_bad(line)) flaw("a bad line is not one letter", content("letters"));
    gx_dead_letter_file_fini(&letters);
}

static const char *look(bool learns) {
    at.flaw[0] = 0;
    look_at_copies(learns);
    look_at_counts();
    look_at_letters();
    return at.flaw[0] ? at.flaw : NULL;
}

const char *durable_rig_flaw(void) {
    return look(false);
}

/* --- Images --- */

/* Where a file is found by its inode. */
static const char *shelved(unsigned long inode) {
    static char path[PATH];
    snprintf(path, sizeof path, "%s/shelf/%lu", at.base, inode);
    return path;
}

static void take_file(durable_image *image, const char *name) {
    struct stat about;
    if (image->count == DURABLE_FILES || strlen(name) >= DURABLE_NAME) broken(name);
    int fd = open(durable_rig_path(name), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0) broken(name);
    size_t size = (size_t)about.st_size;
    char *bytes = malloc(size + 1);
    if (!bytes || read(fd, bytes, size) != (ssize_t)size) broken(name);
    close(fd);
    if (link(durable_rig_path(name), shelved(about.st_ino)) != 0 && errno != EEXIST) broken(name);
    image->files[image->count].inode = about.st_ino;
    image->files[image->count].bytes = bytes;
    image->files[image->count].size = size;
    snprintf(image->files[image->count++].name, DURABLE_NAME, "%s", name);
}

/* Files of `data`, or of a folder in it, but for the input. */
static void each_file(const char *folder, void (*each)(durable_image *image, const char *name), durable_image *image) {
    DIR *opened = opendir(*folder ? durable_rig_path(folder) : at.data);
    for (const struct dirent *one; opened && (one = readdir(opened));) {
        char name[300];
        snprintf(name, sizeof name, "%s%s%s", folder, *folder ? "/" : "", one->d_name);
        if (one->d_name[0] == '.' || strcmp(name, "in") == 0 || strcmp(name, "state") == 0) continue;
        each(image, name);
    }
    if (opened) closedir(opened);
}

void durable_image_take(durable_image *ret_image) {
    ret_image->count = 0;
    each_file("", take_file, ret_image);
    each_file("state", take_file, ret_image);
}

static void remove_file(durable_image *image, const char *name) {
    (void)image;
    if (unlink(durable_rig_path(name)) != 0) broken(name);
}

static void clear(void) {
    each_file("state", remove_file, NULL);
    each_file("", remove_file, NULL);
    (void)rmdir(durable_rig_path("state"));
}

void durable_image_put(const durable_image *image) {
    clear();
    for (int i = 0; image && i < image->count; i++) {
        if (strncmp(image->files[i].name, "state/", 6) == 0) (void)mkdir(durable_rig_path("state"), 0700);
        const char *shelf = shelved(image->files[i].inode);
        int fd = open(shelf, O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (fd < 0 || write(fd, image->files[i].bytes, image->files[i].size) != (ssize_t)image->files[i].size ||
            link(shelf, durable_rig_path(image->files[i].name)) != 0)
            broken(image->files[i].name);
        close(fd);
    }
}

void durable_image_free(durable_image *image) {
    for (int i = 0; i < image->count; i++) free(image->files[i].bytes);
    image->count = 0;
}

/* --- Death --- */

static uint64_t run_from(const durable_image *from, faulty_kind kind, uint64_t dies_at) {
    durable_run run;
    durable_image_put(from);
    faulty_disk_use((faulty_plan){ at.data, kind, 0, dies_at });
    durable_rig_run(true, &run);
    uint64_t calls = faulty_disk_calls();
    faulty_disk_end();
    return calls;
}

void durable_rig_die(const durable_image *from, durable_image *ret_image) {
    uint64_t calls = run_from(from, FAULTY_ONCE, 0);
    run_from(from, FAULTY_DEAD, calls * 6 / 10);
    durable_image_take(ret_image);
}

/* --- The whole --- */

void durable_rig_begin(int lines) {
    durable_run run;
    char path[PATH];
    const char *memory = getenv("TMPDIR") ? getenv("TMPDIR") : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    at.lines = lines;
    if (lines < ASKED * BAD || lines > DURABLE_LINES_MAX) broken("its number of lines");
    snprintf(at.base, sizeof at.base, "%.60s/gale-durable-XXXXXX", memory);
    if (!mkdtemp(at.base)) broken(at.base);
    snprintf(at.data, sizeof at.data, "%s/data", at.base);
    snprintf(path, sizeof path, "%s/shelf", at.base);
    if (mkdir(at.data, 0700) != 0 || mkdir(path, 0700) != 0) broken(at.data);
    gx_signals_prepare();
    write_input();
    durable_rig_run(true, &run);
    const char *wrong = look(true);
    if (access(durable_rig_path("out.000003"), F_OK) != 0) broken("the copy is one file");
    if (run.code != GX_EXIT_FAILED || wrong) {
        fprintf(stderr, "without a fault: exit code %d: %s\n%s", run.code, wrong ? wrong : "", run.said);
        exit(1);
    }
    clear();
}

/* With what is in it, but no folders. */
static void remove_folder(const char *folder) {
    char path[2 * PATH];
    DIR *opened = opendir(folder);
    for (const struct dirent *one; opened && (one = readdir(opened));) {
        snprintf(path, sizeof path, "%.300s/%.300s", folder, one->d_name);
        if (strcmp(one->d_name, ".") != 0 && strcmp(one->d_name, "..") != 0) (void)unlink(path);
    }
    if (opened) closedir(opened);
    (void)rmdir(folder);
}

void durable_rig_end(void) {
    char path[PATH];
    clear();
    remove_folder(at.data);
    snprintf(path, sizeof path, "%s/shelf", at.base);
    remove_folder(path);
    remove_folder(at.base);
}
