/* What comes through an ack ring, made up: acks, and notices in one item or two, with any root, edges, reason, place and text,
 * between steps of a topology whose trees they are about. Whatever comes, every tuple is answered exactly once, and the
 * figures add up.
 *
 * Left out is what no sender can say: ledgers and acker tasks that there are not, and kinds that there are not. */
#include "fuzz.h"

#include "engine/acks.h"
#include "runtime/runtime.h"
#include "tuple/row.h"

enum { TREES = 64, MESSAGES_MAX = 400, STEPS_MAX = 10000, KINDS = GX_NOTICE_RENEW + 1 };

typedef struct tree {
    gx_root pair;
    uint32_t answers;
} tree;

typedef struct world {
    fuzz_input in;
    gale_topology *topology;
    gale_runtime *runtime;
    gale_manual_clock *clock;
    tree trees[TREES];
    uint64_t emitted, wanted;
    gx_inlet inlets[2]; /* the other end of ack rings, by executor */
} world;

/* --- The topology ------------------------------------------------------------------------------------------------- */

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    world *w = self;
    (void)wait;
    if (w->emitted == w->wanted) return GALE_NEXT_NOTHING;
    gale_value number = gale_i64((int64_t)w->emitted);
    int rc = gale_emit_tracked(out, 0, &number, 1, w->emitted);
    if (rc < 0) return rc;
    w->emitted++;
    return GALE_NEXT_EMITTED;
}

static void spout_ack(void *self, uint64_t id) {
    world *w = self;
    expect(id < w->emitted && w->trees[id].answers++ == 0);
}

static void spout_fail(void *self, uint64_t id, const gale_failure *failure) {
    expect(failure->text && strlen(failure->text) <= GALE_FAILURE_TEXT);
    expect(!failure->component || *failure->component);
    spout_ack(self, id);
}

/* Forgets it, and notes what tree it is of. */
static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    world *w = self;
    (void)out;
    gx_roots roots = gx_row_roots(tuple->head);
    if (roots.count) w->trees[gale_tuple_value(tuple, 0).as.i64].pair = roots.pairs[0];
    return 0;
}

static void add_components(world *w) {
    static const gale_spout_ops spout_ops = {
        .size = sizeof spout_ops, .name = "spout", .next = spout_next, .ack = spout_ack, .fail = spout_fail
    };
    static const gale_bolt_ops bolt_ops = {
        .size = sizeof bolt_ops, .name = "bolt", .kind = GALE_BOLT_MANUAL, .execute = bolt_execute
    };
    static const gale_output output = { NULL, "number" };
    gale_setting first = { "gale.executor", gale_i64(0) }, second = { "gale.executor", gale_i64(1) };
    gale_spout spout = { sizeof spout, &spout_ops, w, NULL, &output, 1, &first, 1 };
    gale_bolt bolt = { sizeof bolt, &bolt_ops, w, NULL, NULL, 0, &second, 1 };
    expect(gale_topology_add_spout(w->topology, "spout", spout, 1) == GALE_OK);
    expect(gale_topology_add_bolt(w->topology, "bolt", bolt, 1) == GALE_OK);
    expect(gale_topology_subscribe(w->topology, "bolt", "spout", NULL, gale_shuffle()) == GALE_OK);
}

static void begin(world *w, uint8_t how) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    w->clock = gale_manual_clock_new(0);
    w->topology = gale_topology_new("fuzz");
    expect(w->clock && w->topology);
    gale_clock clock = gale_manual_clock_handle(w->clock);
    expect(gale_topology_set(w->topology, NULL, "topology.acker.executors",
                             how % 4 ? gale_i64(how % 4) : gale_null()) >= 0);
    if (how & 4) expect(gale_topology_set(w->topology, NULL, "topology.replay.attempts", gale_i64(3)) >= 0);
    if (how & 8) expect(gale_topology_set(w->topology, NULL, "topology.message.timeout.secs", gale_i64(1)) >= 0);
    add_components(w);
    options.clock = &clock;
    options.seed = 1;
    options.executors = 2;
    gale_error error = GALE_ERROR_INIT;
    expect(gale_runtime_new(w->topology, &options, &w->runtime, &error) == GALE_OK);
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */

static void settle(world *w) {
    gale_run_stats s = { .size = sizeof s };
    for (int steps = 0; gale_runtime_step(w->runtime) > 0; steps++) expect(steps < STEPS_MAX);
    gale_runtime_stats(w->runtime, &s);
    expect(s.trees == s.acked + s.failed + s.timed_out + s.rejected + s.stopped + s.open);
}

static void end(world *w) {
    gale_runtime_stop(w->runtime);
    for (int steps = 0; gale_runtime_step(w->runtime) != GALE_STOPPED; steps++) expect(steps < STEPS_MAX);
    expect(gale_runtime_free(w->runtime, -1, NULL) == GALE_OK);
    gale_topology_free(w->topology);
    gale_manual_clock_free(w->clock);
    for (uint64_t i = 0; i < w->emitted; i++) expect(w->trees[i].answers == 1);
}

/* --- Items -------------------------------------------------------------------------------------------------------- */

/* A root of the spout's ledger: one that it has, another generation of it, another slot. */
static uint64_t draw_root(world *w) {
    uint8_t choice = fuzz_byte(&w->in);
    uint64_t root = w->trees[choice % TREES].pair.root;
    if (!root) root = UINT64_C(1) << GX_LEDGER_SHIFT;
    if (choice & 64) root += UINT64_C(1) << GX_LEDGER_SLOT_BITS;
    if (choice & 128) root ^= fuzz_word(&w->in);
    return (root & ((UINT64_C(1) << GX_LEDGER_SHIFT) - 1)) | UINT64_C(1) << GX_LEDGER_SHIFT;
}

/* Edges that end a tree, or any. */
static uint64_t draw_edges(world *w, uint64_t root) {
    uint64_t edges = fuzz_word(&w->in);
    for (size_t i = 0; i < TREES && edges % 2; i++)
        if (w->trees[i].pair.root == root) return w->trees[i].pair.edge;
    return edges;
}

/* A text in a block of the other executor's, as a sender puts it; or none. */
static uint64_t draw_text(world *w, gx_executor *from) {
    uint8_t size = fuzz_byte(&w->in);
    gx_block *block = size ? gx_block_take(&from->blocks, GALE_FAILURE_TEXT + 1) : NULL;
    if (!block) return 0;
    memset(block->bytes, 0, GALE_FAILURE_TEXT + 1);
    for (uint8_t i = 0; i < size && i < GALE_FAILURE_TEXT; i++) block->bytes[i] = (char)fuzz_byte(&w->in);
    return (uintptr_t)block;
}

/* The executor that hears of it: the acker task's, or the spout's. */
static uint16_t receiver_of(const world *w, int kind, uint64_t root) {
    const gx_plan *plan = w->runtime->plan;
    bool to_acker = plan->acker_count && kind <= GX_NOTICE_BEGIN;
    return to_acker ? plan->tasks[gx_plan_acker(plan, root)].executor : 0;
}

static void send(world *w, uint16_t to, uint64_t first, uint64_t second) {
    uint64_t item[] = { first, second };
    gx_acks_receive(w->runtime->shared.executors[to], &w->inlets[to], item);
}

static void send_message(world *w) {
    int kind = fuzz_byte(&w->in) % KINDS;
    uint64_t root = draw_root(w), what = fuzz_word(&w->in);
    uint16_t to = receiver_of(w, kind, root);
    if (kind == GX_NOTICE_BEGIN && !w->runtime->plan->acker_count) return;
    if (kind == GX_NOTICE_ACK && what % 2) {
        send(w, to, root, draw_edges(w, root));
        return;
    }
    what = (uint64_t)GX_LEDGERS_MAX << GX_LEDGER_SHIFT | (uint64_t)kind << 48 | (what & UINT64_C(0xffffffffffff));
    send(w, to, what, root);
    if (kind == GX_NOTICE_FAIL || kind == GX_NOTICE_FAILED)
        send(w, to, draw_text(w, w->runtime->shared.executors[1 - to]), 0);
    else if (kind == GX_NOTICE_BEGIN)
        send(w, to, draw_edges(w, root), 0);
    expect(!w->inlets[to].half[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    world w = { .in = { data, size } };
    begin(&w, fuzz_byte(&w.in));
    settle(&w);
    for (int messages = 0; w.in.size && messages < MESSAGES_MAX; messages++) {
        uint8_t what = fuzz_byte(&w.in);
        if (what % 8 == 0 && w.wanted < TREES) w.wanted += 1 + what / 8 % (TREES - w.wanted);
        if (what % 8 == 1) gale_manual_clock_advance(w.clock, (int64_t)(what / 8) * 100 * GALE_MILLISECOND);
        if (what % 8 <= 2)
            settle(&w);
        else
            send_message(&w);
    }
    settle(&w);
    end(&w);
    return 0;
}
