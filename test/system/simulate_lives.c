/* A file is read from life to life: a run resumes, writes results and dead letters, all on a disk in memory whose calls
 * fail, and the process dies in one of them; until a life comes to its end. Then each line is a result or a dead letter,
 * no file has half a line but at its end, and what must hold of a simulated run (docs/simulator.md) did in each life.
 * In every fourth story there is one life, on a disk that works, and somebody else cuts, renames, removes, replaces or punches the input,
 * the results, the dead letters or the state at a drawn moment: then no result is anything but a line, and the log names the file where lines are missing.
 * usage: simulate_lives RUNS [FIRST] */
#include "sim/letters.h"
#include "sim/simulator.h"

#include <gale/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT GX_SIM_DISK "/input"
#define STATE GX_SIM_DISK "/state"
#define RESULTS GX_SIM_DISK "/results"

enum { LINES_MAX = 120, LINE_MAX_SIZE = 160, POISON = 7, LIVES_MAX = 12 };

typedef struct story {
    gx_heap heap;
    gx_random random;
    gx_sim_disk disk;
    uint32_t lines;
    char line[LINES_MAX][LINE_MAX_SIZE];
    gale_topology *topology;
    uint64_t lives, deaths, reported;
    char problem[1100];
    gx_buf log;
} story;

static uint32_t below(story *s, uint32_t n) {
    return gx_random_below(&s->random, n);
}

static void problem(story *s, const char *what, uint32_t line) {
    if (!s->problem[0]) snprintf(s->problem, sizeof s->problem, "life %d: %s %u", (int)s->lives, what, line);
}

/* --- The topology: lines -> check -> results --- */

/* Each seventh line is refused by all; any may have bad luck. */
static int check(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    gale_value line = gale_tuple_value(tuple, 0);
    if (strtoul(line.as.string, NULL, 10) % POISON == 0) return GALE_COMPONENT;
    int rc = gale_emit(out, 0, &line, 1);
    return rc < 0 ? rc : 0;
}

static int add_parts(story *s, gale_error *error) {
    static const gale_output outputs[] = { { NULL, "line" } };
    static const gale_bolt_ops checks = { .size = sizeof checks, .name = "check", .execute = check };
    gale_file_spout_options from = { .size = sizeof from, .path = INPUT, .state = STATE };
    gale_file_sink_options to = { .size = sizeof to, .path = RESULTS, .overwrite = true };
    gale_bolt bolt = { .size = sizeof bolt, .ops = &checks, .outputs = outputs, .output_count = 1 }, sink;
    gale_spout spout;
    from.state_interval = 1e-6 * (1u << below(s, 16));
    int rc = gale_file_spout(&from, &spout, error);
    if (rc >= 0) rc = gale_file_sink_bolt(&to, &sink, error);
    if (rc >= 0) rc = gale_topology_add_spout(s->topology, "lines", spout, 1);
    if (rc >= 0) rc = gale_topology_add_bolt(s->topology, "check", bolt, 1 + below(s, 3));
    if (rc >= 0) rc = gale_topology_add_bolt(s->topology, "results", sink, 1);
    if (rc >= 0) rc = gale_topology_subscribe(s->topology, "check", "lines", NULL, gale_shuffle());
    return rc >= 0 ? gale_topology_subscribe(s->topology, "results", "check", NULL, gale_shuffle()) : rc;
}

static int build(story *s, gale_error *error) {
    static const int64_t pending[] = { 0, 1, 5, 30 };
    s->topology = gale_topology_new("lives");
    gale_topology_set(s->topology, NULL, "topology.max.spout.pending", gale_i64(pending[below(s, 4)]));
    gale_topology_set(s->topology, NULL, "topology.replay.attempts", gale_i64(1 + below(s, 3)));
    gale_topology_set(s->topology, NULL, "topology.replay.backoff.initial.secs", gale_f64(0.001));
    gale_topology_set(s->topology, NULL, "topology.dead_letters.file", gale_text(GX_SIM_LETTERS));
    return add_parts(s, error);
}

static void write_input(story *s) {
    gx_sim_file *input = gx_sim_disk_file(&s->disk, INPUT, true);
    s->lines = 1 + below(s, LINES_MAX);
    for (uint32_t i = 0; i < s->lines; i++) {
        int size = snprintf(s->line[i], LINE_MAX_SIZE, "%u ", i);
        for (uint32_t more = below(s, LINE_MAX_SIZE - 20); more > 0; more--)
            s->line[i][size++] = (char)('a' + below(s, 26));
        s->line[i][size] = 0;
        gx_buf_format(&input->bytes, "%s\n", s->line[i]);
    }
}

/* --- What must hold --- */

/* The number of a line, if these are its bytes; else UINT32_MAX. */
static uint32_t number_of(const story *s, gale_str text) {
    uint32_t number = text.size ? (uint32_t)strtoul(text.data, NULL, 10) : UINT32_MAX;
    return number < s->lines && gx_str_is(text, s->line[number]) ? number : UINT32_MAX;
}

static gale_str next_line(gale_str *rest) {
    const char *newline = rest->size ? memchr(rest->data, '\n', rest->size) : NULL;
    gale_str line = { rest->data, newline ? (size_t)(newline - rest->data) : 0 };
    *rest = newline ? (gale_str){ newline + 1, rest->size - line.size - 1 } : (gale_str){ NULL, 0 };
    return line;
}

/* The tuple of a letter, as text. */
static gale_str tuple_of(gale_str letter) {
    static const char before[] = "\"tuple\":[\"";
    const char *at = letter.size ? memmem(letter.data, letter.size, before, sizeof before - 1) : NULL;
    if (!at || letter.data[letter.size - 1] != '}') return (gale_str){ NULL, 0 };
    at += sizeof before - 1;
    const char *end = memchr(at, '"', (size_t)(letter.data + letter.size - at));
    return (gale_str){ at, end ? (size_t)(end - at) : 0 };
}

/* Which lines stand in this file, each as a whole. The first of the results may be half of one, with a newline behind it:
 * what has no newline at all the sink takes for somebody else's, and does not cut (connect/file/output.c). */
static void read_lines(story *s, const char *path, bool letters, bool found[LINES_MAX]) {
    const gx_sim_file *file = gx_sim_disk_file(&s->disk, path, false);
    gale_str rest = file ? (gale_str){ file->bytes.data, file->bytes.size } : (gale_str){ NULL, 0 };
    for (uint32_t at = 1; rest.size; at++) {
        gale_str line = next_line(&rest);
        if (!line.size && !rest.size) break; /* the beginning of one, at the end */
        uint32_t number = number_of(s, letters ? tuple_of(line) : line);
        if (number == UINT32_MAX && (letters || at > 1))
            problem(s, letters ? "no letter is line" : "no result is line", at);
        else if (number != UINT32_MAX)
            found[number] = true;
    }
}

static void look(story *s, bool whole) {
    bool results[LINES_MAX] = { false }, letters[LINES_MAX] = { false };
    read_lines(s, RESULTS, false, results);
    read_lines(s, GX_SIM_LETTERS, true, letters);
    for (uint32_t i = 0; i < s->lines; i++) {
        if (results[i] && i % POISON == 0) problem(s, "a result was made of line", i);
        if (whole && !results[i] && !letters[i]) problem(s, "neither a result nor a letter is line", i);
    }
}

/* --- Lives --- */

/* The last one has no faults. True when it came to its end. */
static bool live(story *s, uint64_t seed, bool last) {
    gx_simulator_options options = { .topology = s->topology,
                                     .keep_spouts = true,
                                     .keep_sinks = true,
                                     .draw_faults = !last,
                                     .roots = UINT32_MAX,
                                     .disk = &s->disk };
    gx_simulator *simulator = NULL;
    gx_simulator_result result = { .holds = true };
    gale_error error = GALE_ERROR_INIT;
    if (!last && below(s, 4)) options.dies_at = 1 + below(s, 8u << below(s, 8));
    int rc = gx_simulator_new(&options, &simulator, &error);
    if (rc >= 0) rc = gx_simulator_run(simulator, seed, &result, &error);
    gx_simulator_free(simulator);
    s->lives++;
    s->deaths += result.died;
    if (!s->problem[0] && (rc < 0 || !result.holds))
        snprintf(s->problem, sizeof s->problem, "life %d: %s", (int)s->lives, rc < 0 ? error.text : result.text);
    bool whole = !result.died && !result.cut && !result.refused;
    look(s, last && whole);
    return whole;
}

/* --- Somebody else ------------------------------------------------------------------------------------------------ */

static void keep_log(void *user, int32_t level, const char *component, const char *text) {
    (void)component;
    if (level >= GALE_LOG_WARN) gx_buf_format(user, "%s\n", text);
}

static uint32_t count_missing(story *s) {
    bool results[LINES_MAX] = { false }, letters[LINES_MAX] = { false };
    uint32_t missing = 0;
    read_lines(s, RESULTS, false, results);
    read_lines(s, RESULTS ".moved", false, results);
    read_lines(s, GX_SIM_LETTERS, true, letters);
    read_lines(s, GX_SIM_LETTERS ".moved", true, letters);
    for (uint32_t i = 0; i < s->lines; i++) missing += !results[i] && !letters[i];
    return missing;
}

/* Is it a file that the run writes lines to? */
static bool is_written(const gx_sim_meddling *m) {
    return strcmp(m->path, RESULTS) == 0 || strcmp(m->path, GX_SIM_LETTERS) == 0;
}

/* What was done before the input was read, or after the last use of an output, nobody can know of. Zeros in outputs are not looked at. */
static bool must_be_known(const gx_sim_meddling *m) {
    return m->done && (is_written(m) ? m->since && m->what != GX_SIM_PUNCH : m->before > 0);
}

static void judge(story *s, bool whole) {
    const gx_sim_meddling *m = &s->disk.meddling;
    const char *log = gx_buf_text(&s->log);
    bool said = log && strstr(log, m->path), punched = m->what == GX_SIM_PUNCH;
    bool torn = is_written(m) ? punched || m->what == GX_SIM_CUT : punched && said;
    if (!m->done || (strcmp(m->path, INPUT) == 0 && !m->before)) return;
    uint32_t missing = count_missing(s);
    if (torn) s->problem[0] = 0; /* half a line is what was left, or what stands behind a hole */
    s->reported += said;
    if (missing && whole && must_be_known(m) && !said)
        snprintf(s->problem, sizeof s->problem, "%u lines are missing, and no word of %s (deed %d): %s", missing,
                 m->path, (int)m->what, log ? log : "");
}

static void live_meddled(story *s, uint64_t seed) {
    static const char *const paths[] = { INPUT, RESULTS, STATE, GX_SIM_LETTERS };
    const gale_logger logger = { sizeof logger, GALE_LOG_WARN, keep_log, &s->log };
    gx_simulator_options options = { .topology = s->topology,
                                     .keep_spouts = true,
                                     .keep_sinks = true,
                                     .roots = UINT32_MAX,
                                     .disk = &s->disk,
                                     .logger = &logger };
    gx_simulator *simulator = NULL;
    gx_simulator_result result = { .holds = true };
    gale_error error = GALE_ERROR_INIT;
    s->log = (gx_buf)GX_BUF_INIT(NULL);
    s->disk.at_once = 256u << below(s, 6);
    gx_sim_disk_meddle(&s->disk, paths[below(s, 4)], (gx_sim_deed)below(s, GX_SIM_DEEDS),
                       1 + below(s, 16u << below(s, 6)));
    int rc = gx_simulator_new(&options, &simulator, &error);
    if (rc >= 0) rc = gx_simulator_run(simulator, seed, &result, &error);
    gx_simulator_free(simulator);
    s->lives++;
    if (rc < 0 || !result.holds) snprintf(s->problem, sizeof s->problem, "%s", rc < 0 ? error.text : result.text);
    if (!s->problem[0]) judge(s, !result.cut && !result.refused);
    gx_buf_fini(&s->log);
}

static void tell(story *s, uint64_t seed) {
    gale_error error = GALE_ERROR_INIT;
    s->random = gx_random_new(seed, 7);
    gx_heap_init(&s->heap, NULL);
    gx_sim_disk_init(&s->disk, &s->heap);
    write_input(s);
    if (build(s, &error) < 0) snprintf(s->problem, sizeof s->problem, "%s", error.text);
    uint64_t many = 1 + below(s, LIVES_MAX), life = 0;
    bool meddled = seed % 4 == 3;
    if (meddled && !s->problem[0]) live_meddled(s, seed << 16);
    while (!meddled && life < many && !s->problem[0]) live(s, seed << 16 | life++, false);
    while (!meddled && !s->problem[0] && !live(s, seed << 16 | life++, true)) {
    }
    gale_topology_free(s->topology);
    gx_sim_disk_fini(&s->disk);
}

int main(int argc, char **argv) {
    uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 100, first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t lives = 0, deaths = 0, reported = 0, wrong = 0;
    for (uint64_t seed = first; seed < first + runs; seed++) {
        static story s;
        memset(&s, 0, sizeof s);
        tell(&s, seed);
        lives += s.lives;
        deaths += s.deaths;
        reported += s.reported;
        wrong += s.problem[0] != 0;
        if (s.problem[0]) printf("seed %llu: %s\n", (unsigned long long)seed, s.problem);
    }
    printf("%llu files were read in %llu lives, %llu of which ended in the middle of a call of the disk\n",
           (unsigned long long)runs, (unsigned long long)lives, (unsigned long long)deaths);
    printf("somebody else changed a file, and the log named it, in %llu lives\n", (unsigned long long)reported);
    return wrong || (runs >= 50 && (deaths < runs / 2 || reported < runs / 100));
}
