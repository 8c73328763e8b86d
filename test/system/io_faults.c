/* `gale run` on a disk that fails: whole runs with a resumed source, sinks, dead letters and an event log, in which the
 * n-th call of the disk fails, for every n; then there is room again, and the same run goes on.
 *
 * What:    a log of some lines, every fourth of which is bad, is read with a state file, and every answer is kept in
 *          it. Good lines go to a sink, bad ones become dead letters. After each run that a fault ended, and after the
 *          one behind it, the files are held against one another:
 *            - what the state calls answered is in the sink or in the letters;
 *            - every line is whole: of the sink, of the letters; no file stands in the next run's way;
 *            - a run that says it did all has done all, and one that has not says why and exits with 3;
 *            - behind the second run nothing is missing, and nothing that was answered before is there twice.
 * Usage:   io_faults [STRIDE [LINES [SCENARIO]]]: every STRIDE-th n (default 1), with so many lines (default 8), of all
 *          scenarios or of one. */
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

enum { LINES_MAX = 200, BAD = 4, TASKS = 2, TEXT = 1 << 16, PATH = 200, DESCRIPTORS = 64 };

static int lines = 8;

static char base[100], data[120]; /* what fails lies below `data` */

/* --- Scenarios --- */

typedef struct scenario {
    const char *name;
    const char *sink; /* its properties, beyond the path */
    bool appends;
    int tasks; /* of the spout and of the sink */
    bool mild; /* calls that are interrupted or short, too: the loops around calls are the same in every scenario */
    const char *command;
} scenario;

/* A run that died before its state moved has left lines that the next one replaces. */
#define OVERWRITE "      - { name: overwrite, value: true }\n"
#define RUN "%s/t.yaml --until-drained -q --log-level error "

static const scenario scenarios[] = {
    { "append", "      - { name: append, value: true }\n", true, 1, true, RUN "-j1" },
    { "resume", OVERWRITE, false, 1, false, RUN "-j2" },
    { "tasks", OVERWRITE, false, 2, false, RUN "-j2" },
    { "sync", OVERWRITE "      - { name: sync, value: true }\n", false, 1, true,
      RUN "-j1 --log-events lines --events-file %s/events" },
};

enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

static const char topology_text[] = "name: faults\n"
                                    "config:\n"
                                    "  topology.dead_letters.file: %s/letters\n"
                                    "  topology.replay.attempts: 2\n"
                                    "  topology.replay.backoff.initial.secs: 0\n"
                                    "  topology.max.spout.pending: 3\n"
                                    "spouts:\n"
                                    "  - id: lines\n"
                                    "    className: gale.spout.File\n"
                                    "    parallelism: %d\n"
                                    "    properties:\n"
                                    "      - { name: path, value: %s/in }\n"
                                    "      - { name: state, value: %s/state }\n"
                                    "      - { name: stateInterval, value: 0.000000001 }\n"
                                    "bolts:\n"
                                    "  - id: parse\n"
                                    "    className: gale.bolt.AccessLog\n"
                                    "  - id: strict\n"
                                    "    className: gale.bolt.RollingCountAgg\n"
                                    "  - id: sink\n"
                                    "    className: gale.bolt.FileSink\n"
                                    "    parallelism: %d\n"
                                    "    properties:\n"
                                    "      - { name: path, value: %s/out }\n"
                                    "%s"
                                    "streams:\n"
                                    "  - { from: lines, to: parse, grouping: { type: SHUFFLE } }\n"
                                    "  - { from: parse, to: sink, grouping: { type: SHUFFLE } }\n"
                                    "  - { from: parse, to: strict, grouping: { type: GLOBAL, streamId: bad } }\n";

static const char *path_in(const char *folder, const char *name) {
    static char path[2 * PATH];
    snprintf(path, sizeof path, "%.150s/%.200s", folder, name);
    return path;
}

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) abort();
}

static bool is_bad(int line) {
    return line % BAD == 0;
}

static void write_input(const scenario *s) {
    static char text[TEXT];
    int size = 0;
    for (int line = 1; line <= lines; line++)
        size += snprintf(text + size, sizeof text - (size_t)size,
                         is_bad(line) ? "bad %d\n"
                                      : "10.0.0.1 - - [21/Nov/2026:11:00:00 +0000] \"GET /%d HTTP/1.1\" 200 5 \"-\" "
                                        "\"-\"\n",
                         line);
    put(path_in(data, "in"), text);
    snprintf(text, sizeof text, topology_text, data, s->tasks, data, data, s->tasks, data, s->sink);
    put(path_in(base, "t.yaml"), text);
}

/* --- One run --- */

typedef struct run {
    const scenario *scenario;
    faulty_plan plan;
    const struct run *before; /* the faulty run, of the one behind it */
    int code;
    char said[4000];
    int in_sink[LINES_MAX + 1], in_letters[LINES_MAX + 1];
    int answered[TASKS]; /* lines, as the state files of the tasks say */
} run;

static const char *const kinds[] = { "once", "short", "full", "dead" };

/* Says what is wrong, in which run, and ends the program. */
static void wrong(const run *r, const char *what) {
    fprintf(stderr, "%s: %s %s, call %llu (%s of %s), exit code %d: %s\n%s", r->scenario->name, kinds[r->plan.kind],
            r->plan.kind == FAULTY_ONCE ? strerror(r->plan.error) : "", (unsigned long long)r->plan.at,
            faulty_disk_hit(), faulty_disk_hit_path(), r->code, what, r->said);
    exit(1);
}

static int count_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < DESCRIPTORS; fd++) count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* The command's words, with `base` and `data` in the places of two %s. */
static void run_command(run *r, const gx_command *command, const char *format) {
    char words[400], *argv[20], *rest = words;
    int argc = 0, before = count_descriptors();
    snprintf(words, sizeof words, format, base, data);
    for (char *word; (word = strsep(&rest, " ")) != NULL;) argv[argc++] = word;
    gx_terminal errors;
    int fd = open(path_in(base, "said"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    gx_terminal_init(&errors, fd);
    r->code = command->run(argc, argv, &errors);
    gx_terminal_fini(&errors);
    ssize_t size = pread(fd, r->said, sizeof r->said - 1, 0);
    r->said[size < 0 ? 0 : size] = 0;
    close(fd);
    if (count_descriptors() != before) wrong(r, "descriptors were left open");
}

static void run_gale(run *r) {
    run_command(r, &gx_cmd_run, r->scenario->command);
}

/* --- What the files say --- */

static char *content(const char *name) {
    static char text[TEXT];
    FILE *file = fopen(path_in(data, name), "r");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[size] = 0;
    return text;
}

/* Half a line may stand at the end of a file whose process died: the next run sees to it. */
static bool may_be_torn(const run *r) {
    return !r->before && r->plan.kind == FAULTY_DEAD && faulty_disk_hit()[0];
}

/* The lines of the sink, as the first run without a fault has written them. */
static char expected[LINES_MAX + 1][PATH];

static bool is_half(const char *line) {
    for (int i = 1; i <= lines; i++)
        if (strncmp(line, expected[i], strlen(line)) == 0) return true;
    return false;
}

/* Half a line that a process has left is cut by the run that goes on, unless it may be another program's: where no whole
 * line is before it, and in a file that is appended to when nothing was answered. It has a newline then. */
static bool may_have_stayed(const run *r, bool is_first) {
    bool answered = r->before && r->before->answered[0];
    return r->before && r->plan.kind == FAULTY_DEAD && (is_first || (r->scenario->appends && !answered));
}

static void look_at_line(run *r, const char *line, bool is_first) {
    const char *at = strstr(line, "GET /");
    long number = at ? strtol(at + 5, NULL, 10) : 0;
    bool good = number > 0 && number <= lines && !is_bad((int)number);
    if (good && !r->plan.at) snprintf(expected[number], sizeof expected[number], "%s", line);
    if (good && strcmp(line, expected[number]) == 0)
        r->in_sink[number]++;
    else if (!may_have_stayed(r, is_first) || !is_half(line))
        wrong(r, line);
}

static void look_at_sink(run *r, const char *name) {
    char *text = content(name), *newline;
    for (char *line = text; *line; line = newline + 1) {
        newline = strchr(line, '\n');
        if (!newline && !may_be_torn(r)) wrong(r, "half a line is in the sink");
        if (!newline) return;
        *newline = 0;
        look_at_line(r, line, line == text);
    }
}

static void no_letter(void *user, const gale_error *error) {
    run *r = user;
    if (!may_be_torn(r)) wrong(r, error->text);
}

static void look_at_letters(run *r) {
    gx_dead_letter_file letters;
    gx_dead_letter_file_told told = { no_letter, r };
    if (access(path_in(data, "letters"), F_OK) != 0) return;
    if (gx_dead_letter_file_load(path_in(data, "letters"), &told, &letters, NULL) < 0)
        wrong(r, "the letters cannot be read");
    for (size_t i = 0; i < letters.count; i++) {
        gale_value tuple = gale_value_owned_view(letters.items[i].tuple), line = gale_list_at(&tuple, 0);
        int number = 0;
        if (line.type == GALE_TYPE_STRING) sscanf(line.as.string, "bad %d", &number);
        if (number < 1 || number > lines || !is_bad(number)) wrong(r, "a letter is none of the bad lines");
        r->in_letters[number]++;
    }
    gx_dead_letter_file_fini(&letters);
}

static void look_at_states(run *r) {
    for (int task = 0; task < r->scenario->tasks; task++) {
        unsigned long long before;
        const char *text = content(task ? "state.1" : "state");
        if (!*text) continue;
        if (sscanf(text, "gale-file-state 1 %*s %*s %*s %*s %*s %llu", &before) != 1) wrong(r, "a state is damaged");
        text = content("in");
        for (unsigned long long at = 0; at < before && text[at]; at++) r->answered[task] += text[at] == '\n';
    }
}

/* Of the event log, which is written as long as that goes: whole lines. Behind half a line of a process that died, the
 * next run's first one may stand. */
static void look_at_events(run *r) {
    char *text = content("events"), *newline;
    for (char *line = text; *line; line = newline + 1) {
        newline = strchr(line, '\n');
        bool whole = newline && strncmp(line, "{\"time\":\"", 9) == 0 && newline[-1] == '}';
        if (!whole && r->plan.kind != FAULTY_DEAD) wrong(r, "a line of the event log is not whole");
        if (!newline) return;
    }
}

/* The input is one block, which is the first task's; the others have a state all the same. */
static bool is_answered(const run *r, int line) {
    return line <= r->answered[0];
}

static void look(run *r) {
    memset(r->in_sink, 0, sizeof r->in_sink);
    memset(r->in_letters, 0, sizeof r->in_letters);
    memset(r->answered, 0, sizeof r->answered);
    look_at_sink(r, "out");
    if (r->scenario->tasks > 1) look_at_sink(r, "out.1");
    look_at_letters(r);
    look_at_events(r);
    look_at_states(r);
    for (int line = 1; line <= lines; line++)
        if (is_answered(r, line) && r->in_sink[line] + r->in_letters[line] == 0)
            wrong(r, "a line is answered and nowhere to be found");
}

static bool is_complete(const run *r) {
    for (int line = 1; line <= lines; line++)
        if (!is_answered(r, line)) return false;
    return true;
}

/* --- Two runs --- */

static void clear(bool all) {
    DIR *folder = opendir(data);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && (all || strcmp(entry->d_name, "in") != 0)) unlink(path_in(data, entry->d_name));
    if (folder) closedir(folder);
}

/* Only what belongs to a run that is over. */
static void check_folder(const run *r) {
    static const char *const names[] = { "in", "out", "out.1", "letters", "state", "state.1", "events" };
    DIR *folder = opendir(data);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        bool known = entry->d_name[0] == '.';
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) known |= strcmp(entry->d_name, names[i]) == 0;
        if (!known) wrong(r, entry->d_name);
    }
    if (folder) closedir(folder);
}

static bool ends_with(const char *text, const char *end) {
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && strcmp(text + size - tail, end) == 0;
}

/* Calls that nothing depends on: a lock says its process's number for people, and is gone with the process; a file that
 * was read is closed, whatever that says, and so is a state that the disk has said to have; before the run, paths are
 * looked at to find two that are one. */
static bool may_be_ignored(void) {
    const char *name = faulty_disk_hit(), *path = faulty_disk_hit_path();
    bool closed = strcmp(name, "close") == 0 || (strcmp(name, "close_written") == 0 && ends_with(path, ".new"));
    bool looked = strcmp(name, "about_path") == 0 || strcmp(name, "read_link") == 0;
    return closed || looked || ends_with(path, ".lock") || strcmp(name, "unlink") == 0;
}

static bool is_mild(const faulty_plan *plan) {
    return plan->kind == FAULTY_SHORT || (plan->kind == FAULTY_ONCE && plan->error == EINTR);
}

static void check_code(run *r, uint64_t hits) {
    bool mild = is_mild(&r->plan);
    bool looked = strncmp(faulty_disk_hit(), "about", 5) == 0 || strcmp(faulty_disk_hit(), "rename") == 0;
    bool complete = is_complete(r);
    if (faulty_disk_hasty()) wrong(r, "a state took its name before the disk had it");
    if (r->code != GX_EXIT_FAILED && r->code != GX_EXIT_IO) wrong(r, "this exit code is neither 1 nor 3");
    if (r->code == GX_EXIT_FAILED && !complete) wrong(r, "the run says that it has done all, and has not");
    if ((!hits || (mild && !looked)) && r->code != GX_EXIT_FAILED)
        wrong(r, "the run has failed, and nothing was wrong");
    if (r->code == GX_EXIT_IO && !strstr(r->said, "gale: ")) wrong(r, "the run has failed, and does not say why");
    if (r->plan.kind == FAULTY_ONCE && hits && !mild && !may_be_ignored() && r->code != GX_EXIT_IO)
        wrong(r, "a call has failed, and the run does not say so");
}

static void check_again(const run *before, const run *r) {
    if (r->code != GX_EXIT_OK && r->code != GX_EXIT_FAILED) wrong(r, "the run behind the faulty one has failed");
    if (!is_complete(r)) wrong(r, "the run behind the faulty one has not done all");
    for (int line = 1; line <= lines; line++) {
        int count = r->in_sink[line] + r->in_letters[line];
        int was = before->in_sink[line] + before->in_letters[line];
        if (count < 1) wrong(r, "a line is lost");
        if (is_answered(before, line) && count != was) wrong(r, "a line that was answered came again");
    }
    check_folder(r);
}

typedef struct counts {
    uint64_t runs, faults;
} counts;

/* False when there was no n-th call. */
static bool run_twice(const scenario *s, faulty_plan plan, counts *c) {
    static run first, second;
    clear(false);
    first = (run){ .scenario = s, .plan = plan };
    faulty_disk_use(plan);
    run_gale(&first);
    uint64_t hits = faulty_disk_end();
    look(&first);
    check_code(&first, hits);
    second = (run){ .scenario = s, .plan = plan, .before = &first };
    run_gale(&second);
    look(&second);
    check_again(&first, &second);
    c->runs++;
    c->faults += hits > 0;
    return plan.at <= faulty_disk_calls();
}

static void run_all(const scenario *s, uint64_t stride) {
    static const faulty_plan plans[] = {
        { data, FAULTY_ONCE, EIO, 0 }, { data, FAULTY_ONCE, EINTR, 0 }, { data, FAULTY_SHORT, 0, 0 },
        { data, FAULTY_FULL, 0, 0 },   { data, FAULTY_DEAD, 0, 0 },
    };
    counts c = { 0, 0 };
    clear(true);
    write_input(s);
    run_twice(s, (faulty_plan){ data, FAULTY_ONCE, 0, 0 }, &c); /* learns what the sink has to hold */
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        faulty_plan plan = plans[i];
        if (is_mild(&plan) && !s->mild) continue;
        for (plan.at = 1 + i % stride; run_twice(s, plan, &c); plan.at += stride) {
        }
    }
    printf("%-8s %llu runs, each gone on with, %llu with a fault\n", s->name, (unsigned long long)c.runs,
           (unsigned long long)c.faults);
}

/* --- Reading dead letters --- */

static const char letters_text[] =
    "{\"component\":\"lines\",\"stream\":\"default\",\"message_id\":0,\"tuple\":[\"10.0.0.1 - - "
    "[21/Nov/2026:11:00:00 +0000] \\\"GET /1 HTTP/1.1\\\" 200 5 \\\"-\\\" \\\"-\\\"\"],\"reason\":\"failed\","
    "\"text\":\"\",\"place\":null,\"task\":0,\"attempts\":1}\n";

/* What cannot be read is no end: it is said. Code 0, as there is nothing that fails, or 3. */
static void check_reading(const run *r, uint64_t hits) {
    bool mild = is_mild(&r->plan);
    bool looked = strncmp(faulty_disk_hit(), "about", 5) == 0;
    if (r->code != GX_EXIT_OK && r->code != GX_EXIT_IO) wrong(r, "this exit code is neither 0 nor 3");
    if ((!hits || (mild && !looked)) && r->code != GX_EXIT_OK) wrong(r, "it has failed, and nothing was wrong");
    if (hits && !mild && !may_be_ignored() && r->code != GX_EXIT_IO) wrong(r, "it has failed, and does not say so");
}

/* False when there was no n-th call. */
static bool read_letters(const scenario *s, const gx_command *command, faulty_plan plan) {
    static run r;
    r = (run){ .scenario = s, .plan = plan };
    clear(true);
    put(path_in(data, "old"), letters_text);
    faulty_disk_use(plan);
    run_command(&r, command, s->command);
    check_reading(&r, faulty_disk_end());
    return plan.at <= faulty_disk_calls();
}

static void read_all_letters(void) {
    static const scenario scenario_show = { "show", "", false, 1, true, "show%.0s %s/old --json" };
    static const scenario scenario_replay = { "replay", "", false, 1, true, RUN "-j1 --replay-dead-letters %s/old" };
    static const faulty_plan plans[] = {
        { data, FAULTY_ONCE, EIO, 0 },
        { data, FAULTY_ONCE, EINTR, 0 },
        { data, FAULTY_SHORT, 0, 0 },
        { data, FAULTY_DEAD, 0, 0 },
    };
    write_input(&scenario_replay);
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        faulty_plan plan = plans[i];
        for (plan.at = 1; read_letters(&scenario_show, &gx_cmd_dead_letters, plan); plan.at++) {
        }
        for (plan.at = 1; read_letters(&scenario_replay, &gx_cmd_run, plan); plan.at++) {
        }
    }
}

/* What `show` prints is of no interest. */
static void read_all_letters_silently(void) {
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY);
    if (kept < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0) abort();
    read_all_letters();
    if (dup2(kept, STDOUT_FILENO) < 0) abort();
    close(kept);
    close(nowhere);
}

int main(int argc, char **argv) {
    long stride = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    snprintf(base, sizeof base, "/tmp/gale-io-faults-XXXXXX");
    lines = argc > 2 ? (int)strtol(argv[2], NULL, 10) : lines;
    if (stride < 1 || lines < 1 || lines > LINES_MAX || !mkdtemp(base)) return 2;
    snprintf(data, sizeof data, "%s/data", base);
    if (mkdir(data, 0700) != 0) return 2;
    gx_signals_prepare();
    for (size_t i = 0; i < SCENARIOS; i++)
        if (argc < 4 || strcmp(argv[3], scenarios[i].name) == 0) run_all(&scenarios[i], (uint64_t)stride);
    if (argc < 4) read_all_letters_silently();
    clear(true);
    (void)rmdir(data);
    unlink(path_in(base, "t.yaml"));
    unlink(path_in(base, "said"));
    (void)rmdir(base);
    return 0;
}
