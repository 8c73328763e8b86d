#include "cases/play.h"

#include "base/os/file.h"
#include "base/os/scratch.h"
#include "base/str.h"
#include "cases/mock.h"
#include "sim/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { LISTED = 5, FILE_MAX = 64 << 20 };

typedef struct playing {
    const gx_case_file *file;
    const gx_case *of;
    gale_test *test;
    const char *folder;
    bool stopped; /* a step has said that it is to */
    gx_buf *out;
} playing;

/* --- Telling ------------------------------------------------------------------------------------------------------ */

static void tell_place(const playing *p, const gx_yaml *node) {
    gx_buf_format(p->out, "%s:%u:%u: ", node->file, node->line, node->column);
}

/* With its place, in one line. */
static bool fails(const playing *p, const gx_yaml *node, const char *text) {
    tell_place(p, node);
    gx_buf_add_text(p->out, text);
    gx_buf_add_byte(p->out, '\n');
    return false;
}

static void tell_tuple(const gx_fed_tuple *tuple, gx_buf *out) {
    gale_value list = gale_value_owned_view(tuple->values);
    gx_buf_add_text(out, "        ");
    gx_found_show(&list, out);
    gx_buf_format(out, " to '%s'", tuple->to->built->name);
}

/* Those that a person will look for first: why nothing came out. */
static void tell_unanswered(const playing *p) {
    const gx_feed *feed = gx_test_feed(p->test);
    size_t told = 0;
    for (size_t i = 0; i < feed->count; i++) {
        const gx_fed_tuple *tuple = &feed->list[i];
        if (tuple->state != GALE_TEST_OPEN && tuple->state != GALE_TEST_WAITS) continue;
        if (told++ == 0) gx_buf_add_text(p->out, "      not answered yet:\n");
        if (told > LISTED) continue;
        tell_tuple(tuple, p->out);
        gx_buf_format(p->out, ": %s\n",
                      tuple->state == GALE_TEST_WAITS ? "its spout has not emitted it" : gx_test_where(p->test, i));
    }
    if (told > LISTED) gx_buf_format(p->out, "        ... and %zu more\n", told - LISTED);
}

static void tell_failed(const playing *p) {
    const gx_feed *feed = gx_test_feed(p->test);
    size_t told = 0;
    for (size_t i = 0; i < feed->count; i++) {
        const gx_fed_tuple *tuple = &feed->list[i];
        if (tuple->state != GALE_TEST_FAILED) continue;
        if (told++ == 0) gx_buf_add_text(p->out, "      failed:\n");
        if (told > LISTED) continue;
        tell_tuple(tuple, p->out);
        gx_buf_format(p->out, ": %s%s%s: %s\n", gale_reason_name(tuple->reason), tuple->component ? " at " : "",
                      tuple->component ? tuple->component : "", tuple->text ? tuple->text : "");
    }
    if (told > LISTED) gx_buf_format(p->out, "        ... and %zu more\n", told - LISTED);
}

static void tell_context(const playing *p) {
    tell_unanswered(p);
    tell_failed(p);
}

/* --- Comparing ---------------------------------------------------------------------------------------------------- */

static const char *order_text(int32_t order) {
    static const char *const texts[] = { "", ", in any order", ", among others" };
    return texts[order];
}

/* A row that was not found is told of with its own place. */
static void tell_head(const playing *p, const gx_step *step, const char *what, const size_t *pairs) {
    const gx_yaml *node = step->id;
    for (size_t i = 0; i < step->rows.count && node == step->id; i++)
        if (pairs[i] == SIZE_MAX && step->from && step->from[i]->line) node = step->from[i];
    tell_place(p, node);
    gx_buf_format(p->out, "%s%s\n", what, order_text(step->order));
}

/* Counts first: they say most when they are all that is asked for. */
static bool compare_count(const playing *p, const gx_step *step, const char *what, int64_t wanted, size_t found) {
    if (wanted < 0 || (size_t)wanted == found) return true;
    tell_place(p, step->id);
    gx_buf_format(p->out, "%s: %zu found, %lld expected\n", what, found, (long long)wanted);
    return false;
}

static bool compare(const playing *p, const gx_step *step, const char *what, const gx_comparison *c, size_t *pairs) {
    gx_buf lines = GX_BUF_INIT(NULL);
    bool differs = step->rows.wanted && gx_difference(c, pairs, &lines);
    bool right = !differs && compare_count(p, step, what, step->count, c->found_count);
    if (differs) {
        tell_head(p, step, what, pairs);
        gx_buf_add(p->out, lines.data, lines.size);
    }
    p->out->failed |= lines.failed;
    if (!right) tell_context(p);
    gx_buf_fini(&lines);
    return right && !p->out->failed;
}

/* The step's rows, beside those that were found. */
static bool compare_rows(const playing *p, const gx_step *step, const char *what, const char *const *names,
                         size_t name_count, const gx_found_row *found, size_t found_count, size_t *pairs) {
    const gx_comparison c = { step->rows.wanted, step->rows.count, found, found_count, names, name_count, step->order };
    return compare(p, step, what, &c, pairs);
}

static size_t *pairs_for(const gx_step *step) {
    return calloc(step->rows.count + 1, sizeof(size_t));
}

static bool out_of_memory(const playing *p, const gx_step *step) {
    return fails(p, step->id, "out of memory");
}

static bool unreached(const playing *p, const gx_step *step) {
    return fails(p, step->id, "nothing leads to this component in this case");
}

static bool is_fed(const playing *p, const char *name) {
    const gx_feed *feed = gx_test_feed(p->test);
    for (size_t i = 0; i < feed->count; i++)
        if (strcmp(feed->list[i].to->built->name, name) == 0) return true;
    return false;
}

static bool has_ticks(const gale_topology *t, const gx_component *c) {
    static const char key[] = "topology.tick.tuple.freq.secs";
    return gale_config_f64(c->config, key, gale_config_f64(t->config, key, 0)) > 0;
}

/* Components that are fed, that have ticks, or that such a component leads to; there may be cycles. */
static void find_reached(const playing *p, bool *reached) {
    const gale_topology *t = p->file->topology;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < t->component_count; i++) {
            const gx_component *c = t->components[i];
            bool is = reached[i] || is_fed(p, c->name) || has_ticks(t, c);
            for (uint32_t k = 0; !is && !c->is_spout && k < c->input_count; k++)
                for (uint32_t j = 0; !is && j < t->component_count; j++)
                    is = reached[j] && strcmp(t->components[j]->name, c->inputs[k].source) == 0;
            more |= is && !reached[i];
            reached[i] = is;
        }
    }
}

/* That a component has done nothing says nothing where it had nothing to do. */
static bool could_do_nothing_else(const playing *p, const gx_step *step) {
    const gale_topology *t = p->file->topology;
    bool *reached = calloc(t->component_count + 1, sizeof *reached), is = false;
    if (!reached) return false;
    find_reached(p, reached);
    for (uint32_t i = 0; i < t->component_count; i++)
        is |= reached[i] && gx_str_is(step->id->text, t->components[i]->name);
    free(reached);
    return !is;
}

/* --- What was emitted --------------------------------------------------------------------------------------------- */

static void look_at(gx_seen *seen, const gx_step *step, const size_t *numbers, size_t count, const size_t *pairs) {
    bool some = step->order == GALE_TEST_CONTAINS && step->rows.wanted;
    for (size_t i = 0; i < (some ? step->rows.count : count); i++) {
        size_t at = some ? pairs[i] : i;
        if (at != SIZE_MAX) seen->tuples[numbers[at]].looked_at = true;
    }
}

static bool check_emitted(const playing *p, const gx_step *step) {
    const gx_component *c = gx_test_component(p->test, step->id->text.data);
    if (!c) return unreached(p, step);
    uint32_t stream = (uint32_t)gx_component_stream(c, step->stream);
    gx_seen *seen = gx_test_seen(p->test);
    size_t count = 0, *numbers = gx_test_new_tuples(p->test, c, stream, &count), *pairs = pairs_for(step);
    gx_found_row *found = calloc(count + 1, sizeof *found);
    char what[200];
    snprintf(what, sizeof what, "what '%.60s' emitted to '%.60s' is not what is expected", c->name, step->stream);
    bool made = numbers && pairs && found;
    for (size_t i = 0; made && i < count; i++)
        found[i] = (gx_found_row){ seen->tuples[numbers[i]].values, seen->tuples[numbers[i]].count };
    const gx_output *output = &c->outputs[stream];
    bool right = made ? compare_rows(p, step, what, (const char *const *)output->fields, output->field_count, found,
                                     count, pairs)
                      : out_of_memory(p, step);
    if (right && !count && could_do_nothing_else(p, step)) right = unreached(p, step);
    if (made) look_at(seen, step, numbers, count, pairs);
    free(numbers);
    free(pairs);
    free(found);
    return right;
}

/* --- What became of what was fed ---------------------------------------------------------------------------------- */

enum { FAILURE_FIELDS = 5 };

static bool is_meant(const gx_step *step, const gx_fed_tuple *tuple) {
    if (!gx_str_is(step->id->text, tuple->to->built->name)) return false;
    switch (step->kind) {
    case GX_STEP_ACKED: return tuple->state == GALE_TEST_ACKED;
    case GX_STEP_FAILED: return tuple->state == GALE_TEST_FAILED;
    case GX_STEP_LETTERS: return tuple->state == GALE_TEST_FAILED && tuple->final;
    default: return tuple->state == GALE_TEST_OPEN || tuple->state == GALE_TEST_WAITS;
    }
}

static size_t count_fed(const playing *p, const gx_step *step) {
    const gx_feed *feed = gx_test_feed(p->test);
    size_t count = 0;
    for (size_t i = 0; i < feed->count; i++) count += gx_str_is(step->id->text, feed->list[i].to->built->name);
    return count;
}

/* The values of a failure, or of a tuple alone. */
static uint32_t spread(const gx_step *step, const gx_fed_tuple *tuple, gale_value *values) {
    gale_value list = gale_value_owned_view(tuple->values);
    if (step->kind == GX_STEP_FAILED || step->kind == GX_STEP_LETTERS) {
        values[0] = list;
        values[1] = gale_text(gale_reason_name(tuple->reason));
        values[2] = gale_text(tuple->text ? tuple->text : "");
        values[3] = gale_text(tuple->component ? tuple->component : "");
        values[4] = gale_i64(tuple->attempts);
        return FAILURE_FIELDS;
    }
    for (size_t i = 0; i < list.size; i++) values[i] = gale_list_at(&list, i);
    return (uint32_t)list.size;
}

typedef struct answers {
    gale_value *values;
    gx_found_row *found;
    size_t *numbers; /* of those that were found */
    size_t count;
    size_t *pairs;
} answers;

static bool collect_answers(const playing *p, const gx_step *step, answers *a) {
    const gx_feed *feed = gx_test_feed(p->test);
    size_t width = FAILURE_FIELDS, at = 0;
    for (size_t i = 0; i < feed->count; i++) {
        gale_value list = gale_value_owned_view(feed->list[i].values);
        if (list.size > width) width = list.size;
    }
    a->values = calloc(feed->count * width + 1, sizeof *a->values);
    a->found = calloc(feed->count + 1, sizeof *a->found);
    a->numbers = calloc(feed->count + 1, sizeof *a->numbers);
    a->pairs = pairs_for(step);
    if (!a->values || !a->found || !a->numbers || !a->pairs) return false;
    for (size_t i = 0; i < feed->count; i++) {
        if (!is_meant(step, &feed->list[i])) continue;
        gale_value *values = a->values + width * at;
        a->numbers[at] = i;
        a->found[at++] = (gx_found_row){ values, spread(step, &feed->list[i], values) };
    }
    a->count = at;
    return true;
}

/* What a step says of failures covers those that it names, or all. */
static void notice(const playing *p, const gx_step *step, const answers *a) {
    gx_fed_tuple *list = gx_test_feed(p->test)->list;
    bool some = step->order == GALE_TEST_CONTAINS && step->rows.wanted && step->count < 0;
    for (size_t i = 0; i < (some ? step->rows.count : a->count); i++) {
        size_t at = some ? a->pairs[i] : i;
        if (at != SIZE_MAX) list[a->numbers[at]].noticed = true;
    }
}

/* A tree that failed though the case expects nothing of it is a fault of the topology, or of the case, unless that asks for
 * failures itself. */
static bool check_unnoticed(const playing *p) {
    const gx_feed *feed = gx_test_feed(p->test);
    if (p->of->faults) return true;
    for (size_t i = 0; i < feed->count; i++) {
        if (feed->list[i].state != GALE_TEST_FAILED || feed->list[i].noticed) continue;
        (void)fails(p, p->of->name ? p->of->name : p->of->node,
                    "what was fed has failed, and no step expects that (failed:, dead_letters:)");
        tell_failed(p);
        return false;
    }
    return true;
}

static bool check_answers(const playing *p, const gx_step *step) {
    static const char *const words[] = { "acked", "failed", "open", "dead letters" };
    static const char *const failure_names[] = { "tuple", "reason", "text", "at", "attempts" };
    const gx_component *c = gx_test_component(p->test, step->id->text.data);
    answers a = { .count = 0 };
    char what[200];
    bool failure = step->kind == GX_STEP_FAILED || step->kind == GX_STEP_LETTERS;
    bool whole = collect_answers(p, step, &a), right = whole;
    bool tuples = !failure && c && c->output_count;
    snprintf(what, sizeof what, "%s, of what was fed to '%.60s'", words[step->kind - GX_STEP_ACKED],
             step->id->text.data);
    if (whole)
        right = compare_rows(p, step, what, tuples ? (const char *const *)c->outputs[0].fields : failure_names,
                             tuples    ? c->outputs[0].field_count
                             : failure ? FAILURE_FIELDS
                                       : 0,
                             a.found, a.count, a.pairs);
    bool all = step->all || (!step->rows.wanted && step->count < 0 && step->kind != GX_STEP_LETTERS);
    if (right && all && !compare_count(p, step, what, (int64_t)count_fed(p, step), a.count)) {
        tell_context(p);
        right = false;
    }
    if (right && failure) notice(p, step, &a);
    free(a.values);
    free(a.found);
    free(a.numbers);
    free(a.pairs);
    return whole ? right : out_of_memory(p, step);
}

/* --- Texts and files ---------------------------------------------------------------------------------------------- */

static bool compare_texts(const playing *p, const gx_step *step, const char *what, const char *name, gale_value *values,
                          size_t count) {
    gx_found_row *found = calloc(count + 1, sizeof *found);
    size_t *pairs = pairs_for(step);
    for (size_t i = 0; found && i < count; i++) found[i] = (gx_found_row){ &values[i], 1 };
    bool made = found && pairs;
    bool right = made ? compare_rows(p, step, what, &name, 1, found, count, pairs) : out_of_memory(p, step);
    free(found);
    free(pairs);
    return right;
}

static bool check_texts(const playing *p, const gx_step *step) {
    const gx_seen *seen = gx_test_seen(p->test);
    bool logs = step->kind == GX_STEP_LOGS;
    if (!gx_test_component(p->test, step->id->text.data)) return unreached(p, step);
    const gx_seen_text *list = logs ? seen->logged : seen->reports;
    size_t total = logs ? seen->logged_count : seen->report_count, count = 0;
    gale_value *values = calloc(total + 1, sizeof *values);
    char what[200];
    if (!values) return out_of_memory(p, step);
    for (size_t i = 0; i < total; i++)
        if (gx_str_is(step->id->text, list[i].component)) values[count++] = gale_text(list[i].text);
    snprintf(what, sizeof what, "what '%.60s' %s is not what is expected", step->id->text.data,
             logs ? "logged" : "reported");
    bool right = compare_texts(p, step, what, "text", values, count);
    if (right && !count && could_do_nothing_else(p, step)) right = unreached(p, step);
    free(values);
    return right;
}

static gale_value *lines_of(char *text, size_t size, size_t *ret_count) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++) count += text[i] == '\n';
    gale_value *values = calloc(count + 2, sizeof *values);
    *ret_count = 0;
    for (size_t at = 0; values && at < size;) {
        char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        values[(*ret_count)++] = gale_string(text + at, length);
        at += length + 1;
    }
    return values;
}

static bool check_file(const playing *p, const gx_step *step) {
    char path[GX_CASE_PATH], what[200], *text = NULL;
    size_t size = 0, count;
    gale_error error = GALE_ERROR_INIT;
    if (!gx_scratch_below(p->folder, step->id->text.data, path, sizeof path))
        return fails(p, step->id, "the path is too long");
    gx_file_about about;
    if (gx_file_about_path(path, &about, NULL) == GALE_NOT_FOUND) {
        (void)fails(p, step->id, "no sink has written this file");
        tell_context(p);
        return false;
    }
    if (gx_file_read_all(path, FILE_MAX, &text, &size, &error) < 0) return fails(p, step->id, error.text);
    gale_value *values = lines_of(text, size, &count);
    snprintf(what, sizeof what, "the file '%.100s' is not what is expected", step->id->text.data);
    bool right = values ? compare_texts(p, step, what, "line", values, count) : out_of_memory(p, step);
    free(values);
    free(text);
    return right;
}

static bool check_stopped(playing *p, const gx_step *step) {
    const char *fatal = gx_test_fatal(p->test);
    p->stopped = true;
    if (!fatal) return fails(p, step->id, "the run has not stopped");
    gale_value text = gale_text(fatal);
    if (gx_wanted_fits(&step->rows.wanted->fields[0], &text)) return true;
    tell_place(p, step->id);
    gx_buf_format(p->out, "the run has stopped, but not as is expected: %s\n", fatal);
    return false;
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */

static bool feed(const playing *p, const gx_step *step) {
    const gx_rows *rows = &step->rows;
    for (size_t i = 0; i < rows->count; i++) {
        gale_error error = GALE_ERROR_INIT;
        int64_t fed = gale_test_feed(p->test, step->id->text.data, step->stream, rows->values + i * rows->width,
                                     rows->width, &error);
        if (fed < 0) return fails(p, step->id, error.text);
    }
    (void)gale_test_settle(p->test, NULL); /* what ends the run is told by who looks */
    return true;
}

/* What the run has ended with is told in the place of all else. */
static bool is_over(const playing *p, const gx_yaml *node) {
    const char *fatal = gx_test_fatal(p->test);
    if (!fatal) return false;
    tell_place(p, node);
    gx_buf_format(p->out, "the run has ended: %s\n", fatal);
    tell_context(p);
    return true;
}

static bool look(const playing *p, const gx_step *step) {
    (void)gale_test_settle(p->test, NULL);
    if (is_over(p, step->id)) return false;
    switch (step->kind) {
    case GX_STEP_EXPECT: return check_emitted(p, step);
    case GX_STEP_REPORTS:
    case GX_STEP_LOGS: return check_texts(p, step);
    case GX_STEP_FILE: return check_file(p, step);
    default: return check_answers(p, step);
    }
}

static bool play_step(playing *p, const gx_step *step) {
    gale_error error = GALE_ERROR_INIT;
    int rc = 0;
    switch (step->kind) {
    case GX_STEP_FEED: return feed(p, step);
    case GX_STEP_ADVANCE: rc = gale_test_advance(p->test, step->nanoseconds, &error); break;
    case GX_STEP_FINISH: rc = gale_test_finish(p->test, &error); break;
    case GX_STEP_STOPPED: return check_stopped(p, step);
    default: return look(p, step);
    }
    return rc == GALE_STATE && !gx_test_fatal(p->test) ? fails(p, step->id, error.text) : true;
}

static bool play_steps(playing *p) {
    for (size_t i = 0; i < p->of->step_count; i++)
        if (!play_step(p, &p->of->steps[i])) return false;
    (void)gale_test_settle(p->test, NULL);
    return p->stopped || (!is_over(p, p->of->node) && check_unnoticed(p));
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static int make_test(playing *p, gale_topology *topology, uint64_t seed, gale_error *error) {
    const gx_case *of = p->of;
    gale_test_stand_in *stand_ins = calloc(of->mock_count + 1, sizeof *stand_ins);
    gale_test_options options = { .size = sizeof options,
                                  .seed = seed,
                                  .executors = (uint32_t)of->executors,
                                  .faults = of->faults,
                                  .stand_ins = stand_ins,
                                  .stand_in_count = of->mock_count,
                                  .edges = of->edges,
                                  .edge_count = of->edge_count };
    for (size_t i = 0; stand_ins && i < of->mock_count; i++)
        stand_ins[i] = (gale_test_stand_in){ of->mocks[i].id->text.data, gx_mock_bolt(&of->mocks[i]) };
    int rc = stand_ins ? gale_test_new(topology, &options, &p->test, error)
                       : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    free(stand_ins);
    return rc;
}

static bool play_in(playing *p, uint64_t seed) {
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = NULL;
    int rc = gx_case_file_topology(p->file, p->of, p->folder, &topology, &error);
    if (rc == 0) rc = make_test(p, topology, seed, &error);
    bool right = rc == 0 ? play_steps(p) : fails(p, p->of->node, error.length ? error.text : gale_error_text(rc));
    gale_test_free(p->test);
    gale_topology_free(topology);
    return right;
}

/* The folder has another name each time, and is nobody's business: paths are told as the topology has them. */
static void hide_folder(const char *folder, gx_buf *out) {
    size_t size = strlen(folder) + 1;
    char *at = out->size ? out->data : NULL, *end = at ? at + out->size : NULL;
    while (at && (at = memmem(at, (size_t)(end - at), folder, size - 1))) {
        if (at + size > end || at[size - 1] != '/') {
            at++;
            continue;
        }
        memmove(at, at + size, (size_t)(end - at) - size);
        end -= size;
        out->size -= size;
    }
}

bool gx_case_play(const gx_case_file *file, const gx_case *of, uint64_t seed, gx_buf *out) {
    char folder[GX_SCRATCH_PATH];
    gale_error error = GALE_ERROR_INIT;
    playing p = { .file = file, .of = of, .folder = folder, .out = out };
    if (gx_scratch_make("gale-test", folder, &error) < 0) return fails(&p, of->node, error.text);
    bool right = play_in(&p, seed);
    if (gx_scratch_remove(folder, &error) < 0 && right) return fails(&p, of->node, error.text);
    hide_folder(folder, out);
    return right && !out->failed;
}
