#include "system/random_threads/drawn.h"

#include "base/random.h"

#include <gale/clock.h>
#include <string.h>

typedef struct sketch {
    gx_random random;
    rt_plan *plan;
} sketch;

static uint32_t below(sketch *s, uint32_t n) {
    return gx_random_below(&s->random, n);
}

static bool one_in(sketch *s, uint32_t n) {
    return below(s, n) == 0;
}

/* --- Components --- */

enum { TASKS_DRAWN = 36, EMITS_MOST = 500, EMITS_VAST = 4000 };

/* Some names sort before `__acker`, some behind it. */
static void draw_name(sketch *s, rt_part *part, const char *what, uint32_t number) {
    static const char *const forms[] = { "%s-%u", "%s-%u", "A%s-%u", "0%s-%u" };
    snprintf(part->name, sizeof part->name, forms[below(s, 4)], what, number);
}

static void draw_streams(sketch *s, rt_part *part) {
    part->stream_count = 1 + (one_in(s, 2) ? below(s, RT_STREAMS_MAX) : 0);
    for (uint32_t i = 0; i < part->stream_count; i++) {
        part->streams[i].shape = (rt_shape)below(s, 3);
        part->streams[i].direct = one_in(s, 12);
    }
}

static uint32_t draw_tasks(sketch *s, uint32_t most) {
    uint32_t tasks = one_in(s, 3) ? 1 : 1 + below(s, most);
    if (s->plan->tasks + tasks > TASKS_DRAWN) tasks = 1;
    s->plan->tasks += tasks;
    return tasks;
}

static rt_part *add_part(sketch *s, rt_habit habit, const char *what, uint32_t layer) {
    rt_plan *plan = s->plan;
    rt_part *part = &plan->parts[plan->part_count];
    draw_name(s, part, what, plan->part_count++);
    part->habit = habit;
    part->layer = layer;
    part->executor = one_in(s, 6) ? (int)below(s, plan->executors) : -1;
    part->talkative = one_in(s, 4);
    part->error_one = one_in(s, 5) ? 10 + below(s, 100) : 0;
    part->slow = one_in(s, 6) ? (int64_t)below(s, 200) * GALE_MICROSECOND : 0;
    part->tasks = draw_tasks(s, layer ? 5 : 3);
    draw_streams(s, part);
    return part;
}

static void add_spout(sketch *s) {
    rt_part *part = add_part(s, RT_SOURCE, "spout", 0);
    part->to_emit = one_in(s, 8) ? 0 : 50 + below(s, one_in(s, 3) ? EMITS_MOST - 50 : 100);
    if (s->plan->vast) part->to_emit = EMITS_VAST / part->tasks;
    part->energy = 1 + below(s, one_in(s, 4) ? 40 : 8);
    part->piped = one_in(s, 5);
    part->remotes = s->plan->emitters > 0 && !one_in(s, 3);
    part->retries = one_in(s, 3);
}

static void add_bolt(sketch *s, uint32_t layer) {
    static const char *const names[] = { "", "pass", "work", "blind", "join", "loose", "keep", "window", "hand" };
    static const rt_habit habits[] = { RT_PASS,  RT_PASS, RT_PASS, RT_WORK,  RT_WORK,
                                       RT_BLIND, RT_JOIN, RT_KEEP, RT_LOOSE, RT_WINDOW };
    rt_habit habit = s->plan->hands && one_in(s, 3) ? RT_HAND : habits[below(s, sizeof habits / sizeof *habits)];
    rt_part *part = add_part(s, habit, names[habit], layer);
    part->fan = 1 + below(s, 4);
    part->remotes = habit == RT_HAND;
    if (habit == RT_JOIN || habit == RT_KEEP || habit == RT_WINDOW || one_in(s, 4))
        part->tick = (int64_t)(1 + below(s, 8)) * GALE_MILLISECOND;
    part->blocking = !s->plan->by_steps && one_in(s, 16);
    if (part->blocking) part->executor = -1;
}

/* --- Subscriptions --- */

static int32_t draw_grouping(sketch *s) {
    static const int32_t kinds[] = {
        GALE_GROUPING_SHUFFLE, GALE_GROUPING_SHUFFLE,          GALE_GROUPING_FIELDS,      GALE_GROUPING_FIELDS,
        GALE_GROUPING_ALL,     GALE_GROUPING_GLOBAL,           GALE_GROUPING_NONE,        GALE_GROUPING_CUSTOM,
        GALE_GROUPING_SHUFFLE, GALE_GROUPING_LOCAL_OR_SHUFFLE, GALE_GROUPING_PARTIAL_KEY,
    };
    return kinds[below(s, sizeof kinds / sizeof *kinds)];
}

/* The input that the part has already of this stream, or a new one: a second subscription would replace the first. */
static rt_input *input_of(rt_part *part, uint32_t source, uint32_t stream) {
    for (uint32_t i = 0; i < part->input_count; i++)
        if (part->inputs[i].part == source && part->inputs[i].stream == stream) return NULL;
    if (part->input_count == RT_INPUTS_MAX) return NULL;
    return &part->inputs[part->input_count++];
}

static void subscribe(sketch *s, rt_part *part, uint32_t source) {
    const rt_part *from = &s->plan->parts[source];
    uint32_t stream = below(s, from->stream_count);
    rt_input *input = input_of(part, source, stream);
    if (!input) return;
    int32_t grouping = draw_grouping(s);
    uint32_t policy = below(s, 16);
    input->part = source;
    input->stream = stream;
    input->grouping = from->streams[stream].direct ? GALE_GROUPING_DIRECT : grouping;
    input->by_key = from->streams[stream].shape == RT_WIDE && !one_in(s, 3);
    input->drop = policy < GALE_DROP_COUNT ? (int32_t)policy : GALE_DROP_NOTHING;
}

static uint32_t draw_from_layer(sketch *s, uint32_t layer) {
    uint32_t found = 0, seen = 0;
    for (uint32_t i = 0; i < s->plan->part_count; i++)
        if (s->plan->parts[i].layer == layer && below(s, ++seen) == 0) found = i;
    return found;
}

/* One input from the layer above, so that tuples come through; others from anywhere above; now and then one from the
 * same layer or from below, which may close a cycle. */
static void connect(sketch *s, rt_part *part) {
    subscribe(s, part, draw_from_layer(s, part->layer - 1));
    for (uint32_t more = below(s, 3); more > 0; more--) subscribe(s, part, draw_from_layer(s, below(s, part->layer)));
    if (one_in(s, 8)) subscribe(s, part, draw_from_layer(s, part->layer + below(s, s->plan->layers - part->layer + 1)));
}

/* --- The rest --- */

static void draw_threads(sketch *s) {
    rt_plan *plan = s->plan;
    plan->emitters = one_in(s, 2) ? 1 + below(s, 3) : 0;
    plan->hands = one_in(s, 2) ? 1 + below(s, 2) : 0;
    plan->watchers = below(s, 3);
    plan->emits = 20 + below(s, 200);
    plan->early_threads = one_in(s, 2);
}

static void draw_options(sketch *s) {
    static const uint64_t limits[] = { 2 << 10, 8 << 10, 64 << 10 };
    rt_plan *plan = s->plan;
    plan->executors = 1 + below(s, 4);
    plan->by_steps = one_in(s, 12);
    plan->spins = one_in(s, 2) ? 1 + below(s, 200) : 0;
    plan->ring_memory = one_in(s, 2) ? 1 : 0;
    plan->queue_limit = one_in(s, 6) ? limits[below(s, 3)] : 0;
    plan->inactive = one_in(s, 12);
    plan->heavy = one_in(s, 6);
    plan->vast = !plan->heavy && one_in(s, 40);
    if (one_in(s, 12)) {
        plan->memory_one = 4 + below(s, 200);
        plan->memory_at_start = one_in(s, 4);
    }
}

/* Where an update may be lost for want of memory, only the timeout answers its tree. */
static void draw_timeouts(sketch *s) {
    rt_plan *plan = s->plan;
    if (plan->memory_one || one_in(s, 4)) plan->timeout = (int64_t)(20 + below(s, 80)) * GALE_MILLISECOND;
    if (one_in(s, 10)) plan->deadline = (int64_t)(1 + below(s, 20)) * GALE_MILLISECOND;
    plan->progress = plan->timeout && one_in(s, 3);
    plan->attempts = one_in(s, 4) ? 1 + below(s, 4) : 1;
    plan->backoff_initial = below(s, 4) * 0.001;
    plan->backoff_most = plan->backoff_initial * (1 + below(s, 4));
    plan->letters_file = one_in(s, 12);
}

static void draw_limits(sketch *s) {
    static const int64_t pending[] = { 0, 0, 1, 7, 100 };
    static const int ackers[] = { -1, -1, -1, 1, 2, 0 };
    s->plan->pending = pending[below(s, 5)];
    s->plan->ackers = ackers[below(s, 6)];
    s->plan->even = one_in(s, 2);
    if (s->plan->ackers != 0) return;
    s->plan->attempts = 1; /* these need acks */
    s->plan->letters_file = false;
}

static void draw_end(sketch *s) {
    static const rt_end ends[] = { RT_END_DRAINED, RT_END_DRAINED,    RT_END_DRAIN, RT_END_DRAIN, RT_END_STOP,
                                   RT_END_STOP,    RT_END_DRAIN_STOP, RT_END_SELF,  RT_END_FREE };
    rt_plan *plan = s->plan;
    plan->end = one_in(s, 60) ? RT_END_NEVER : ends[below(s, sizeof ends / sizeof *ends)];
    plan->end_after = (int64_t)below(s, 40) * GALE_MILLISECOND;
    plan->end_executed = below(s, one_in(s, 3) ? 20 : 2000);
    plan->trouble_part = below(s, plan->part_count);
    plan->trouble_after = below(s, 200);
    plan->open_error = one_in(s, 40);
    plan->finish_error = one_in(s, 20);
}

/* Behind the dead letters of all spouts; nobody is behind it. */
static void draw_burier(sketch *s) {
    if (s->plan->ackers == 0 || (s->plan->attempts == 1 ? !one_in(s, 10) : one_in(s, 3))) return;
    rt_part *part = add_part(s, RT_BURY, "bury", s->plan->layers + 1);
    part->fan = 1;
    part->blocking = false;
}

static void draw_components(sketch *s) {
    rt_plan *plan = s->plan;
    for (uint32_t spouts = 1 + below(s, RT_SPOUTS_MAX); spouts > 0; spouts--) add_spout(s);
    plan->layers = 1 + below(s, RT_LAYERS_MAX);
    for (uint32_t layer = 1; layer <= plan->layers; layer++)
        for (uint32_t width = 1 + (one_in(s, 2) ? below(s, RT_WIDTH_MAX) : 0); width > 0; width--) add_bolt(s, layer);
    for (uint32_t i = 0; i < plan->part_count; i++)
        if (plan->parts[i].layer) connect(s, &plan->parts[i]);
    draw_burier(s);
}

/* Where a tuple waits for the answer to the one before, a run would be long. */
static void emit_less(rt_plan *plan) {
    uint32_t share = plan->vast ? 40 : 4;
    plan->emits /= share;
    for (uint32_t i = 0; i < plan->part_count; i++) plan->parts[i].to_emit /= share;
}

void rt_draw(rt_plan *plan, uint64_t seed) {
    sketch s = { gx_random_new(seed, 1), plan };
    memset(plan, 0, sizeof *plan);
    plan->seed = seed;
    draw_threads(&s);
    draw_options(&s);
    draw_timeouts(&s);
    draw_limits(&s);
    draw_components(&s);
    draw_end(&s);
    if (plan->pending && plan->pending < 10) emit_less(plan);
    plan->hooked = one_in(&s, 3) ? (one_in(&s, 2) ? -2 : (int)below(&s, plan->part_count)) : -1;
}

/* --- What follows from it --- */

const char *rt_stream_name(uint32_t stream) {
    static const char *const names[] = { "default", "second", "third" };
    return names[stream];
}

const char *rt_stream_fields(rt_shape shape) {
    return shape == RT_WIDE ? "key, word, load" : "word";
}

const char *rt_end_name(rt_end end) {
    static const char *const names[] = { "drained", "drain", "stop", "drain and stop", "self", "free", "never" };
    return names[end];
}

bool rt_plan_has_grouping(const rt_plan *plan, uint32_t part, uint32_t stream, int32_t grouping) {
    for (uint32_t p = 0; p < plan->part_count; p++)
        for (uint32_t i = 0; i < plan->parts[p].input_count; i++) {
            const rt_input *input = &plan->parts[p].inputs[i];
            if (input->part == part && input->stream == stream && input->grouping == grouping) return true;
        }
    return false;
}

uint32_t rt_plan_fan(const rt_plan *plan, uint32_t part, uint32_t stream) {
    uint32_t fan = 0;
    if (rt_plan_has_grouping(plan, part, stream, GALE_GROUPING_DIRECT)) return 1;
    for (uint32_t p = 0; p < plan->part_count; p++)
        for (uint32_t i = 0; i < plan->parts[p].input_count; i++) {
            const rt_input *input = &plan->parts[p].inputs[i];
            bool many = input->grouping == GALE_GROUPING_ALL || input->grouping == GALE_GROUPING_CUSTOM;
            if (input->part == part && input->stream == stream) fan += many ? plan->parts[p].tasks : 1;
        }
    return fan;
}

bool rt_plan_drops(const rt_plan *plan) {
    for (uint32_t p = 0; p < plan->part_count; p++)
        for (uint32_t i = 0; i < plan->parts[p].input_count; i++)
            if (plan->parts[p].inputs[i].drop) return true;
    return false;
}

bool rt_plan_reaches(const rt_plan *plan, uint32_t from, uint32_t to) {
    bool reached[RT_PARTS_MAX] = { false };
    reached[from] = true;
    for (uint32_t round = 0; round < plan->part_count; round++)
        for (uint32_t p = 0; p < plan->part_count; p++)
            for (uint32_t i = 0; i < plan->parts[p].input_count; i++)
                reached[p] |= reached[plan->parts[p].inputs[i].part];
    return reached[to];
}

/* --- For people --- */

static void print_part(const rt_plan *plan, const rt_part *part, FILE *to) {
    static const char *const shapes[] = { "number", "text", "wide" };
    fprintf(to, "    %-10s %u task%s", part->name, part->tasks, part->tasks == 1 ? "" : "s");
    if (part->habit == RT_SOURCE) fprintf(to, ", emits %u of energy %u", part->to_emit, part->energy);
    if (part->executor >= 0) fprintf(to, ", on executor %d", part->executor);
    if (part->tick) fprintf(to, ", ticks %lld ms", (long long)(part->tick / GALE_MILLISECOND));
    if (part->slow) fprintf(to, ", slow %lld us", (long long)(part->slow / GALE_MICROSECOND));
    if (part->error_one) fprintf(to, ", errors 1/%u", part->error_one);
    fprintf(to, "%s%s%s%s%s;", part->blocking ? ", blocking" : "", part->remotes ? ", remotes" : "",
            part->talkative ? ", talkative" : "", part->piped ? ", piped" : "", part->retries ? ", retries" : "");
    for (uint32_t i = 0; i < part->stream_count; i++)
        fprintf(to, " %s%s", shapes[part->streams[i].shape], part->streams[i].direct ? " direct" : "");
    for (uint32_t i = 0; i < part->input_count; i++) {
        const rt_input *input = &part->inputs[i];
        fprintf(to, "%s %s.%u %s%s%s%s", i ? "," : " <-", plan->parts[input->part].name, input->stream,
                gale_grouping_name(input->grouping), input->by_key ? " by key" : "", input->drop ? " drop " : "",
                input->drop ? gale_drop_name(input->drop) : "");
    }
    fprintf(to, "\n");
}

void rt_plan_print(const rt_plan *plan, FILE *to) {
    fprintf(
        to,
        "seed %llu: %u executors%s, end '%s' after %lld ms or %u tuples; timeout %lld ms%s, deadline %lld ms, pending "
        "%lld, ackers %d, attempts %lld (%.0f to %.0f ms), queue limit %llu; threads: %u emit, %u answer, %u watch%s\n",
        (unsigned long long)plan->seed, plan->executors, plan->by_steps ? " stepped by the caller" : "",
        rt_end_name(plan->end), (long long)(plan->end_after / GALE_MILLISECOND), plan->end_executed,
        (long long)(plan->timeout / GALE_MILLISECOND), plan->progress ? " (progress)" : "",
        (long long)(plan->deadline / GALE_MILLISECOND), (long long)plan->pending, plan->ackers,
        (long long)plan->attempts, plan->backoff_initial * 1e3, plan->backoff_most * 1e3,
        (unsigned long long)plan->queue_limit, plan->emitters, plan->hands, plan->watchers,
        plan->early_threads ? ", from before the start" : "");
    fprintf(to, "    hooks %d%s%s%s%s%s%s", plan->hooked, plan->heavy ? ", heavy" : "", plan->vast ? ", vast" : "",
            plan->inactive ? ", inactive at first" : "", plan->open_error ? ", an error in open" : "",
            plan->finish_error ? ", an error in finish" : "", plan->letters_file ? ", a file of dead letters" : "");
    if (plan->memory_one)
        fprintf(to, ", memory fails 1/%u%s", plan->memory_one, plan->memory_at_start ? " from the first" : "");
    fprintf(to, "\n");
    for (uint32_t i = 0; i < plan->part_count; i++) print_part(plan, &plan->parts[i], to);
}
