#include "sim/life.h"

#include <stdio.h>
#include <string.h>

enum {
    SPOUTS_MAX = 2,
    BOLTS_MAX = 6,
    FAN_MAX = 3,
    COST_MOST = 40,
    WORK = 1500,
    MESSAGES_LEAST = 8,
    MESSAGES_MOST = 150
};

static uint32_t below(gx_life *life, uint32_t n) {
    return gx_random_below(&life->random, n);
}

static bool emits(const gx_life_node *node) {
    return node->kind <= GX_LIFE_HAND;
}

/* --- What comes of a tuple --- */

uint64_t gx_life_child(const gx_life_node *node, uint64_t path, uint32_t n) {
    return gx_random_mix(path + (node->index + 1u) * UINT64_C(0x9e3779b97f4a7c15) + n) >> 1;
}

uint32_t gx_life_children(const gx_life_node *node, uint64_t path, uint32_t hops) {
    if (hops >= GX_LIFE_HOPS || !emits(node)) return 0;
    return node->fan > 1 ? 1 + (uint32_t)(gx_random_mix(path ^ node->index) % node->fan) : 1;
}

/* What is expected of a tuple at the node, which comes so many times; `count` false: only how many deliveries there are. */
static uint64_t expect(gx_life *life, const gx_life_node *node, uint64_t message, uint64_t path, uint32_t hops,
                       uint32_t times, bool count) {
    uint64_t deliveries = times;
    if (count && gx_life_counts(node)) gx_deeds_expect(&life->deeds, node->index, message, path, times);
    uint32_t children = gx_life_children(node, path, hops);
    for (uint32_t n = 0; n < children; n++)
        for (uint32_t c = 0; c < life->count; c++)
            for (uint32_t i = 0; i < life->nodes[c].input_count; i++) {
                const gx_life_input *input = &life->nodes[c].inputs[i];
                if (input->from != node->index || deliveries > 100 * COST_MOST) continue;
                uint32_t each = input->grouping == GALE_GROUPING_ALL ? life->nodes[c].tasks : 1;
                deliveries += expect(life, &life->nodes[c], message, gx_life_child(node, path, n), hops + 1,
                                     times * each, count);
            }
    return deliveries;
}

/* Of a message of this number. */
static uint64_t expect_message(gx_life *life, const gx_life_node *spout, uint64_t number, bool count) {
    uint64_t deliveries = 0;
    for (uint32_t c = 0; c < life->count; c++)
        if (life->nodes[c].kind == GX_LIFE_GATE && life->nodes[c].inputs[0].from == spout->index)
            deliveries += expect(life, &life->nodes[c], number, gx_random_mix(number + 1) >> 1, 0, 1, count);
    return deliveries;
}

/* --- Drawing --- */

static gx_life_node *add(gx_life *life, gx_life_kind kind, const char *name) {
    gx_life_node *node = &life->nodes[life->count];
    *node = (gx_life_node){ .life = life, .kind = kind, .index = life->count, .tasks = 1 + below(life, 3) };
    snprintf(node->name, sizeof node->name, "%s-%u", name, life->count++);
    node->fan = 1 + below(life, FAN_MAX);
    return node;
}

static void take_from(gx_life_node *node, uint32_t from, int32_t grouping) {
    if (grouping != GALE_GROUPING_FIELDS) node->by_key = false;
    node->inputs[node->input_count++] = (gx_life_input){ from, grouping };
}

static int32_t draw_grouping(gx_life *life, bool one) {
    static const int32_t kinds[] = {
        GALE_GROUPING_FIELDS,           GALE_GROUPING_SHUFFLE,     GALE_GROUPING_FIELDS, GALE_GROUPING_GLOBAL,
        GALE_GROUPING_LOCAL_OR_SHUFFLE, GALE_GROUPING_PARTIAL_KEY, GALE_GROUPING_NONE,   GALE_GROUPING_ALL
    };
    return kinds[below(life, sizeof kinds / sizeof *kinds - one)];
}

/* In front of everything: what it fails has caused nothing. */
static void add_source(gx_life *life) {
    gx_life_node *spout = add(life, GX_LIFE_SPOUT, "spout");
    gx_life_node *gate = add(life, GX_LIFE_GATE, "gate");
    take_from(gate, spout->index, draw_grouping(life, true));
}

enum { FIRST_GATE = 1 };

/* Some that emits, and that the node does not take from yet; -1: it seems that there is none more. */
static int32_t draw_from(gx_life *life, const gx_life_node *node) {
    for (int tries = 0; tries < 20; tries++) {
        const gx_life_node *from = &life->nodes[below(life, node->index)];
        bool taken = from->kind == GX_LIFE_SPOUT || !emits(from);
        for (uint32_t i = 0; i < node->input_count; i++) taken |= node->inputs[i].from == from->index;
        if (!taken) return (int32_t)from->index;
    }
    return node->input_count ? -1 : FIRST_GATE; /* which emits always */
}

static void add_bolt(gx_life *life, gx_life_kind kind) {
    static const char *const names[] = {
        [GX_LIFE_PASS] = "pass",   [GX_LIFE_GATHER] = "gather", [GX_LIFE_COUNT] = "count",
        [GX_LIFE_KEYED] = "keyed", [GX_LIFE_HOLD] = "hold",     [GX_LIFE_HAND] = "hand",
        [GX_LIFE_PARTS] = "parts", [GX_LIFE_LATE] = "late",     [GX_LIFE_FILE] = "file"
    };
    gx_life_node *node = add(life, kind, names[kind]);
    node->by_key = true;
    bool keyed = below(life, 2) == 0;
    for (uint32_t more = 1 + (below(life, 3) == 0); more > 0; more--) {
        int32_t from = draw_from(life, node), grouping = draw_grouping(life, false);
        if (from >= 0) take_from(node, (uint32_t)from, keyed ? (int32_t)GALE_GROUPING_FIELDS : grouping);
    }
    node->loops = emits(node) && below(life, 5) == 0;
    if (node->loops)
        take_from(node, node->index, keyed || below(life, 2) ? GALE_GROUPING_FIELDS : GALE_GROUPING_SHUFFLE);
    node->most = below(life, 3) ? below(life, 4) : below(life, 20);
    node->joins = kind == GX_LIFE_HOLD && below(life, 2) == 0;
    node->ticks = kind == GX_LIFE_HOLD || below(life, 6) == 0;
    node->forgets = kind == GX_LIFE_HOLD && life->acking && below(life, 6) == 0; /* only its tree would know of it */
    if (node->forgets) life->deeds.exact = false;
}

static void draw_nodes(gx_life *life) {
    for (uint32_t spouts = 1 + below(life, SPOUTS_MAX); spouts > 0; spouts--) add_source(life);
    for (uint32_t bolts = below(life, BOLTS_MAX); bolts > 0; bolts--)
        add_bolt(life, (gx_life_kind)(GX_LIFE_PASS + below(life, GX_LIFE_FILE - GX_LIFE_PASS + 1)));
    static const gx_life_kind counting[] = { GX_LIFE_COUNT, GX_LIFE_KEYED, GX_LIFE_PARTS, GX_LIFE_LATE, GX_LIFE_FILE };
    add_bolt(life, counting[below(life, 5)]);
}

static uint64_t cost(gx_life *life) {
    uint64_t deliveries = 0;
    for (uint64_t n = 0; n < 16; n++)
        deliveries += expect_message(life, &life->nodes[n % 2 && life->nodes[2].kind == GX_LIFE_SPOUT ? 2 : 0],
                                     1000 * n, false);
    return deliveries / 16 + 1;
}

/* Not more of one message than it is worth. */
static uint64_t reduce(gx_life *life) {
    for (uint32_t c = 0; c < life->count && cost(life) > COST_MOST; c++) life->nodes[c].fan = 1;
    for (uint32_t c = 0; c < life->count && cost(life) > COST_MOST; c++)
        for (uint32_t i = 0; i < life->nodes[c].input_count; i++)
            if (life->nodes[c].inputs[i].grouping == GALE_GROUPING_ALL)
                life->nodes[c].inputs[i].grouping = GALE_GROUPING_SHUFFLE;
    return cost(life);
}

static int draw_messages(gx_life *life, uint64_t each) {
    uint64_t most = WORK / each < MESSAGES_MOST ? WORK / each : MESSAGES_MOST;
    if (most < MESSAGES_LEAST) most = MESSAGES_LEAST;
    for (uint32_t c = 0; c < life->count; c++) {
        gx_life_node *node = &life->nodes[c];
        if (node->kind != GX_LIFE_SPOUT) continue;
        node->first_message = life->deeds.count;
        node->message_count = MESSAGES_LEAST + below(life, (uint32_t)most);
        for (uint32_t n = 0; n < node->message_count; n++) {
            uint32_t number = gx_deeds_message(&life->deeds);
            if (number == UINT32_MAX) return GALE_NO_MEMORY;
            expect_message(life, node, number, true);
        }
    }
    return GALE_OK;
}

int gx_life_draw(gx_life *life) {
    static const int64_t pending[] = { 0, 1, 7, 50 };
    uint32_t keeper = below(life, 8);
    life->acking = keeper != 0;
    life->ackers = keeper < 4 ? (int64_t)keeper : -1;
    life->pending = pending[below(life, 4)];
    life->fails = life->acking && below(life, 2) == 0;
    life->attempts = life->acking && below(life, 2) == 0 ? 1 + below(life, 4) : 1;
    life->deeds.untracked = !life->acking;
    draw_nodes(life);
    if (life->attempts > 1 && below(life, 4)) {
        add(life, GX_LIFE_BURY, "bury");
        life->deeds.letters = true;
    }
    return draw_messages(life, reduce(life));
}

/* --- Building --- */

static void set_limits(gx_life *life, gale_topology *topology) {
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(life->pending));
    gale_topology_set(topology, NULL, "topology.enable.message.timeouts", gale_bool(false));
    if (life->ackers >= 0) gale_topology_set(topology, NULL, "topology.acker.executors", gale_i64(life->ackers));
    if (life->attempts <= 1) return;
    gale_topology_set(topology, NULL, "topology.replay.attempts", gale_i64(life->attempts));
    gale_topology_set(topology, NULL, "topology.replay.backoff.initial.secs", gale_f64(0.001));
    gale_topology_set(topology, NULL, "topology.replay.backoff.max.secs", gale_f64(0.004));
}

static int add_node(gx_life_node *node, gale_topology *topology) {
    static const gale_output output = { NULL, "key, message, path, hops, origin, sequence" };
    gale_setting tick = { "topology.tick.tuple.freq.secs", gale_f64(0.003) };
    if (node->kind == GX_LIFE_SPOUT) {
        gale_spout spout = gx_life_spout(node);
        spout.outputs = &output;
        spout.output_count = 1;
        return gale_topology_add_spout(topology, node->name, spout, node->tasks);
    }
    gale_bolt bolt = gx_life_bolt(node);
    bolt.outputs = &output;
    bolt.output_count = emits(node);
    bolt.settings = &tick;
    bolt.setting_count = node->ticks;
    return gale_topology_add_bolt(topology, node->name, bolt, node->tasks);
}

static void subscribe(const gx_life *life, const gx_life_node *node, gale_topology *topology) {
    for (uint32_t i = 0; i < node->input_count; i++) {
        int32_t kind = node->inputs[i].grouping;
        bool keys = kind == GALE_GROUPING_FIELDS || kind == GALE_GROUPING_PARTIAL_KEY;
        gale_topology_subscribe(topology, node->name, life->nodes[node->inputs[i].from].name, NULL,
                                gale_grouping_of(kind, keys ? "key" : NULL));
    }
    for (uint32_t c = 0; node->kind == GX_LIFE_BURY && c < life->count; c++)
        if (life->nodes[c].kind == GX_LIFE_SPOUT)
            gale_topology_subscribe(topology, node->name, life->nodes[c].name, "__dead_letter", gale_shuffle());
}

gale_topology *gx_life_build(gx_life *life, gale_error *error) {
    gale_topology *topology = gale_topology_new("lives");
    if (!topology) return NULL;
    for (uint32_t c = 0; c < life->count; c++) add_node(&life->nodes[c], topology);
    for (uint32_t c = 0; c < life->count; c++) subscribe(life, &life->nodes[c], topology);
    set_limits(life, topology);
    if (gale_topology_check(topology, error) >= 0) return topology;
    gale_topology_free(topology);
    return NULL;
}
