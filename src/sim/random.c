#include "sim/random.h"

#include "sim/component_models.h"
#include "sim/handing.h"
#include "sim/letters.h"
#include "sim/number.h"
#include "sim/source.h"
#include "sim/spread.h"

#include <stdio.h>
#include <stdlib.h>

enum { LAYERS_MAX = 6, WIDTH_MAX = 3, COMPONENTS_MAX = 3 + LAYERS_MAX * WIDTH_MAX + 1, TASKS_MAX = 40, WIDE = 18 };

typedef struct drawn {
    char name[16];
    uint32_t layer;
    uint32_t streams;
    uint32_t direct; /* bit a stream: its consumers are direct */
    uint32_t folded; /* bit a stream: its tuples have one value */
    gale_output outputs[GX_SIM_STREAMS_MAX];
} drawn;

typedef struct sketch {
    gx_random *random;
    const gx_sim_rarities *rarities;
    gx_sim_crowd *crowd;
    gale_topology *topology;
    drawn components[COMPONENTS_MAX];
    uint32_t count;
    uint32_t layers; /* of bolts */
    bool acking;
    uint32_t folds; /* one in how many streams has one value; 0: none */
    uint32_t tasks;
    int64_t timeout; /* milliseconds */
} sketch;

static uint32_t below(sketch *s, uint32_t n) {
    return gx_random_below(s->random, n);
}

static const char *const streams[GX_SIM_STREAMS_MAX] = { NULL, "second", "third" };

static uint32_t draw_tasks(sketch *s) {
    uint32_t tasks = 1 + below(s, 7);
    if (s->tasks + tasks > TASKS_MAX) tasks = 1;
    s->tasks += tasks;
    return tasks;
}

static drawn *draw_component(sketch *s, const char *what, uint32_t layer) {
    drawn *d = &s->components[s->count];
    snprintf(d->name, sizeof d->name, "%s-%u", what, s->count);
    if (s->count % 2) d->name[0] = (char)(d->name[0] - 'a' + 'A'); /* before and behind "__acker" */
    d->layer = layer;
    d->streams = 1 + below(s, GX_SIM_STREAMS_MAX);
    for (uint32_t i = 0; i < d->streams; i++) {
        bool folded = s->folds && below(s, s->folds) == 0;
        d->direct |= (below(s, 10) == 0 ? 1u : 0u) << i;
        d->folded |= (folded ? 1u : 0u) << i;
        d->outputs[i] = (gale_output){ streams[i], folded ? GX_SIM_TOKEN : "key, energy, hops, load" };
    }
    s->count++;
    return d;
}

static gale_spout draw_spout(sketch *s, const drawn *d) {
    uint32_t energy = 1 + below(s, 200);
    switch (below(s, 6)) {
    case 0: return gx_sim_fed_source(s->crowd, energy, d->direct);
    case 1:
    case 2: return gx_sim_eager_source(energy, d->direct);
    default: return gx_sim_source(energy, d->direct);
    }
}

static int add_spout(sketch *s) {
    const drawn *d = draw_component(s, "spout", 0);
    gale_spout spout = draw_spout(s, d);
    if (!spout.user) return GALE_NO_MEMORY;
    ((gx_sim_nature *)spout.user)->rarities = *s->rarities;
    spout.outputs = d->outputs;
    spout.output_count = d->streams;
    uint32_t tasks = 1 + below(s, 3);
    s->tasks += tasks;
    return gale_topology_add_spout(s->topology, d->name, spout, tasks);
}

/* Where memory is scarce the targets of one emit are so many that they need some. */
static bool is_wide(const sketch *s, uint32_t layer) {
    return s->rarities->scarce && layer == 2;
}

static int add_bolt(sketch *s, uint32_t layer) {
    static const char *const names[] = { "pass",   "pass",  "work", "work", "join",
                                         "gather", "loose", "keep", "last", "hand" };
    static_assert(sizeof names / sizeof *names == GX_SIM_BURY + 1, "a name for every model, and for handing over");
    gx_sim_model model = (gx_sim_model)below(s, GX_SIM_BURY + 1); /* the last one is to hand over */
    if (s->rarities->hoards && layer == 1) model = GX_SIM_KEEP;
    const drawn *d = draw_component(s, names[model], layer);
    uint32_t fan = 1 + below(s, 5);
    gale_bolt bolt = model < GX_SIM_BURY ? gx_sim_worker(model, fan, d->direct, s->rarities)
                                         : gx_sim_hander(s->crowd, fan, d->direct);
    if (!bolt.user) return GALE_NO_MEMORY;
    gale_setting settings[1];
    if (model == GX_SIM_JOIN || below(s, 4) == 0) {
        settings[0].key = "topology.tick.tuple.freq.secs";
        settings[0].value = gale_f64((double)s->timeout / 1000 / (1 + below(s, 8)));
        if (s->rarities->seconds) settings[0].value = gale_f64(1 + layer % 2);
        bolt.settings = settings;
        bolt.setting_count = 1;
    }
    bolt.outputs = d->outputs;
    bolt.output_count = d->streams;
    uint32_t tasks = draw_tasks(s);
    if (s->rarities->hoards && model == GX_SIM_KEEP) tasks = 1;
    if (is_wide(s, layer)) tasks = WIDE;
    return gale_topology_add_bolt(s->topology, d->name, bolt, tasks);
}

/* --- Subscriptions --- */

static int choose_odd(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                      uint32_t *ret_indices) {
    (void)self, (void)values, (void)count;
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < targets->task_count; i++)
        if (gale_targets_random(targets) % 3 == 0) ret_indices[chosen++] = i;
    return (int)chosen;
}

static gale_grouping draw_grouping(sketch *s, bool folded) {
    static const gale_custom_ops odd = { sizeof odd, "odd", NULL, choose_odd, NULL };
    int32_t kind = (int32_t)below(s, GALE_GROUPING_COUNT);
    switch (kind) {
    case GALE_GROUPING_FIELDS: return gale_fields(folded ? GX_SIM_TOKEN : below(s, 4) ? "key" : "key, hops");
    case GALE_GROUPING_PARTIAL_KEY: return gale_partial_key(folded ? GX_SIM_TOKEN : "key");
    case GALE_GROUPING_CUSTOM: return gale_custom(&odd, NULL, NULL);
    case GALE_GROUPING_DIRECT: return gale_shuffle();
    default: return gale_grouping_of(kind, NULL);
    }
}

static int subscribe(sketch *s, const drawn *bolt, const drawn *from) {
    uint32_t stream = below(s, from->streams);
    gale_grouping grouping = from->direct >> stream & 1 ? gale_direct() : draw_grouping(s, from->folded >> stream & 1);
    if (is_wide(s, bolt->layer) && grouping.kind != GALE_GROUPING_DIRECT) grouping = gale_all();
    uint32_t policy = below(s, 24);
    if (policy < GALE_DROP_COUNT) grouping.drop = (int32_t)policy;
    return gale_topology_subscribe(s->topology, bolt->name, from->name, streams[stream], grouping);
}

static const drawn *draw_from_layer(sketch *s, uint32_t layer) {
    const drawn *found = NULL;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->components[i].layer == layer && below(s, ++seen) == 0) found = &s->components[i];
    return found;
}

/* One input from the layer above, so that tuples come through; others from anywhere above; now and then one from the
 * same layer or from below, which may close a cycle. */
static int connect(sketch *s, const drawn *bolt) {
    int rc = subscribe(s, bolt, draw_from_layer(s, bolt->layer - 1));
    for (uint32_t more = below(s, 3); more > 0 && rc >= 0; more--)
        rc = subscribe(s, bolt, draw_from_layer(s, below(s, bolt->layer)));
    if (rc >= 0 && below(s, 8) == 0)
        rc = subscribe(s, bolt, draw_from_layer(s, bolt->layer + below(s, s->layers - bolt->layer + 1)));
    return rc;
}

/* --- The whole --- */

static int set_limits(sketch *s) {
    static const int64_t pending[] = { 0, 1, 7, 100 };
    static const int64_t ackers[] = { 0, 1, 3 };
    int rc = gale_topology_set(s->topology, NULL, "topology.message.timeout.secs", gale_f64((double)s->timeout / 1000));
    if (rc >= 0)
        rc = gale_topology_set(s->topology, NULL, "topology.max.spout.pending", gale_i64(pending[below(s, 4)]));
    if (rc >= 0 && s->rarities->timeless)
        rc = gale_topology_set(s->topology, NULL, "topology.enable.message.timeouts", gale_bool(false));
    if (rc >= 0 && (s->rarities->hoards || s->rarities->timeless))
        rc = gale_topology_set(s->topology, NULL, "topology.max.spout.pending", gale_i64(0));
    uint32_t keeper = below(s, 6); /* half of the topologies leave it to the spouts' ledgers */
    s->acking = keeper != 0;
    if (rc >= 0 && keeper < 3)
        rc = gale_topology_set(s->topology, NULL, "topology.acker.executors", gale_i64(ackers[keeper]));
    if (rc >= 0 && below(s, 4) == 0)
        rc = gale_topology_set(s->topology, NULL, "topology.message.timeout.mode", gale_text("progress"));
    if (rc >= 0 && below(s, 6) == 0)
        rc = gale_topology_set(s->topology, NULL, "topology.message.deadline.secs",
                               gale_f64((double)s->timeout / 1000 / (1 + below(s, 16))));
    if (rc >= 0 && below(s, 2))
        rc = gale_topology_set(s->topology, NULL, "topology.disable.loadaware.messaging", gale_bool(true));
    return rc;
}

/* A bolt behind the dead letters of all spouts; nobody is behind it. */
static int add_burier(sketch *s) {
    gale_bolt bolt = gx_sim_worker(GX_SIM_BURY, 2, 0, s->rarities);
    if (!bolt.user) return GALE_NO_MEMORY;
    gale_output output = { NULL, "key, energy, hops, load" };
    bolt.outputs = &output;
    bolt.output_count = 1;
    int rc = gale_topology_add_bolt(s->topology, "bury", bolt, 1 + below(s, 3));
    for (uint32_t i = 0; i < s->count && rc >= 0; i++)
        if (s->components[i].layer == 0)
            rc = gale_topology_subscribe(s->topology, "bury", s->components[i].name, "__dead_letter",
                                         below(s, 2) ? gale_shuffle() : gale_fields("reason"));
    return rc;
}

/* In a third of the topologies with acks failed tuples are emitted again; in most of those dead letters have a bolt. */
static int draw_replay(sketch *s) {
    if (!s->acking || below(s, 3)) return GALE_OK;
    double initial = (double)s->timeout / 1000 * below(s, 9) / 4, most = initial * (1u << below(s, 4));
    int rc = gale_topology_set(s->topology, NULL, "topology.replay.attempts", gale_i64(1 + below(s, 4)));
    if (rc >= 0) rc = gale_topology_set(s->topology, NULL, "topology.replay.backoff.initial.secs", gale_f64(initial));
    if (rc >= 0) rc = gale_topology_set(s->topology, NULL, "topology.replay.backoff.max.secs", gale_f64(most));
    return rc >= 0 && below(s, 4) ? add_burier(s) : rc;
}

/* A file for dead letters, whether tuples are emitted again or not. */
static int draw_letters(sketch *s) {
    if (!s->acking || below(s, 3)) return GALE_OK;
    return gale_topology_set(s->topology, NULL, "topology.dead_letters.file", gale_text(GX_SIM_LETTERS));
}

static int draw_all(sketch *s) {
    int rc = set_limits(s);
    for (uint32_t spouts = 1 + below(s, 3); spouts > 0 && rc >= 0; spouts--) rc = add_spout(s);
    s->layers = 1 + below(s, LAYERS_MAX);
    for (uint32_t layer = 1; layer <= s->layers; layer++)
        for (uint32_t width = 1 + below(s, WIDTH_MAX); width > 0 && rc >= 0; width--) rc = add_bolt(s, layer);
    for (uint32_t i = 0; i < s->count && rc >= 0; i++)
        if (s->components[i].layer) rc = connect(s, &s->components[i]);
    if (rc >= 0) rc = draw_replay(s);
    if (rc >= 0) rc = draw_letters(s);
    return rc < 0 ? rc : GALE_OK;
}

int gx_sim_random_topology(gx_random *random, const gx_sim_rarities *rarities, gx_sim_crowd *crowd,
                           gale_topology **ret_topology, gale_error *error) {
    sketch s = { .random = random, .rarities = rarities, .crowd = crowd, .topology = gale_topology_new("random") };
    if (!s.topology) return gale_error_set(error, GALE_NO_MEMORY, "no memory for a topology");
    s.timeout = INT64_C(4) << below(&s, 10);
    s.folds = below(&s, 5); /* in a fifth of the topologies none, in another all */
    int rc = draw_all(&s);
    if (rc < 0) {
        if (gale_topology_check(s.topology, error) != rc) gale_error_set(error, rc, "no memory for a topology");
        gale_topology_free(s.topology);
        return rc;
    }
    *ret_topology = s.topology;
    return GALE_OK;
}
