#include "sim/life.h"

#include "base/mutant.h"

#include <gale/remote.h>
#include <gale/state.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_KEY, FIELD_MESSAGE, FIELD_PATH, FIELD_HOPS, FIELD_ORIGIN, FIELD_SEQUENCE, FIELDS };
enum { ORIGINS = GX_LIFE_NODES * 16, LETTER_MESSAGE = 2 };

enum {
    LATER_ODDS = 24,
    AWAY_ODDS = 3,
    PART_ODDS = 2
}; /* one in so many tries to open, or to commit late, fails for now */

/* Kinds of records. */
enum { RECORD_HEAD, RECORD_LAST, RECORD_COUNT, RECORD_HELD, RECORD_OWED, RECORD_PART };

typedef struct held {
    gale_handle handle;
    uint64_t path;
    bool answered; /* by its thread */
} held;

typedef struct count {
    uint64_t message, path;
    uint32_t times;
} count;

/* A tuple of which some children are emitted, and others are not. */
typedef struct partial {
    uint64_t message, path;
    uint32_t children; /* that are; 0: there is no such tuple */
} partial;

/* What a late sink has promised, and not seen committed. */
typedef struct owed {
    uint64_t checkpoint;
    gx_buf effects;
} owed;

typedef struct gx_life_instance {
    gx_life_node *node;
    gx_life *life;
    const gale_context *context;
    gale_collector *out;
    uint64_t sequence;      /* of its last tuple */
    uint64_t last[ORIGINS]; /* sequences of what it executed last, by origin */
    held *held;
    size_t held_count, held_capacity;
    count *counts;
    size_t count_count, count_capacity;
    partial *parts; /* one at most, but for a task that goes on with what several had */
    size_t part_count, part_capacity;
    gale_state *state;
    gx_buf effects; /* of a sink, since the last checkpoint */
    owed *owed;     /* in order */
    size_t owed_count, owed_capacity;
    bool placed; /* a file is as long as it is to be */
    bool finished;
    gale_remote *remote;
    struct gx_life_instance *next;
} instance;

typedef struct tuple {
    int64_t key;
    uint64_t message, path;
    uint32_t hops, origin;
    uint64_t sequence;
} tuple;

/* --- Life --- */

static gx_heap *heap_of(const instance *self) {
    return &self->life->deeds.heap;
}

static instance *make(gx_life_node *node, const gale_context *context, gale_collector *out) {
    gx_life *life = node->life;
    instance *self = gx_alloc(&life->deeds.heap, GX_TAG_OTHER, sizeof *self);
    if (!self) return NULL;
    *self = (instance){ .node = node, .life = life, .context = context, .out = out, .effects = GX_BUF_INIT(NULL) };
    life->alive++;
    return self;
}

static void unmake(instance *self) {
    gx_life *life = self->life;
    gx_heap *heap = heap_of(self);
    gale_remote_close(self->remote);
    for (instance **at = &life->hands; *at; at = &(*at)->next)
        if (*at == self) {
            *at = self->next;
            break;
        }
    gx_buf_fini(&self->effects);
    for (size_t i = 0; i < self->owed_count; i++) gx_buf_fini(&self->owed[i].effects);
    gx_free(heap, GX_TAG_OTHER, self->owed, self->owed_capacity * sizeof *self->owed);
    gx_free(heap, GX_TAG_OTHER, self->held, self->held_capacity * sizeof *self->held);
    gx_free(heap, GX_TAG_OTHER, self->parts, self->part_capacity * sizeof *self->parts);
    gx_free(heap, GX_TAG_OTHER, self->counts, self->count_capacity * sizeof *self->counts);
    gx_free(heap, GX_TAG_OTHER, self, sizeof *self);
    life->alive--;
}

static int no_memory(instance *self) {
    gx_deeds_violated(&self->life->deeds, "the simulator has no memory");
    return GALE_NO_MEMORY;
}

/* Is it dead, or as good as? Then nothing that it does matters. */
static bool is_over(const instance *self) {
    return self->life->death.dead || self->life->closing;
}

static uint32_t origin_of(const instance *self) {
    return self->node->index * 16 + self->context->task_index;
}

/* --- Tuples --- */

static tuple read_tuple(const gale_tuple *from) {
    return (tuple){ gale_tuple_value(from, FIELD_KEY).as.i64,
                    (uint64_t)gale_tuple_value(from, FIELD_MESSAGE).as.i64,
                    (uint64_t)gale_tuple_value(from, FIELD_PATH).as.i64,
                    (uint32_t)gale_tuple_value(from, FIELD_HOPS).as.i64,
                    (uint32_t)gale_tuple_value(from, FIELD_ORIGIN).as.i64,
                    (uint64_t)gale_tuple_value(from, FIELD_SEQUENCE).as.i64 };
}

static void write_tuple(instance *self, uint64_t message, uint64_t path, uint32_t hops, gale_value values[FIELDS]) {
    uint64_t sequence = gx_life_numbers(self->node) ? ++self->sequence : 0;
    values[FIELD_KEY] = gale_i64(gx_life_key(path));
    values[FIELD_MESSAGE] = gale_i64((int64_t)message);
    values[FIELD_PATH] = gale_i64((int64_t)path);
    values[FIELD_HOPS] = gale_i64(hops);
    values[FIELD_ORIGIN] = gale_i64(origin_of(self));
    values[FIELD_SEQUENCE] = gale_i64((int64_t)sequence);
}

/* Child `n` of a tuple, anchored to what is in execution, or to `anchors`. */
static void emit_child(instance *self, const tuple *t, uint32_t n, const gale_handle *anchors, size_t anchor_count) {
    gale_value v[FIELDS];
    write_tuple(self, t->message, gx_life_child(self->node, t->path, n), t->hops + 1, v);
    int rc = anchors ? gale_emit_anchored(self->out, 0, v, FIELDS, anchors, anchor_count)
                     : gale_emit(self->out, 0, v, FIELDS);
    if (rc < 0 && !is_over(self))
        gx_deeds_violated(&self->life->deeds, "an emit of '%s' was refused: %s", self->node->name, gale_error_text(rc));
}

static void emit(instance *self, const tuple *t, const gale_handle *anchors, size_t anchor_count) {
    uint32_t children = gx_life_children(self->node, t->path, t->hops);
    for (uint32_t n = 0; n < children; n++) emit_child(self, t, n, anchors, anchor_count);
}

/* Rows from one task to another come in the order of their emits. Where either has had another number of tasks, a task of the
 * same number may be another one. */
static void check_order(instance *self, const tuple *t) {
    if (!t->sequence || t->origin >= ORIGINS) return;
    uint64_t *last = &self->last[t->origin];
    bool reordered = self->node->reordered || self->life->nodes[t->origin / 16].reordered;
    if (!reordered && t->sequence <= *last)
        gx_deeds_violated(&self->life->deeds, "'%s' executed tuple %llu of '%s' after tuple %llu", self->node->name,
                          (unsigned long long)t->sequence, self->life->nodes[t->origin / 16].name,
                          (unsigned long long)*last);
    *last = t->sequence;
}

static tuple begin(instance *self, const gale_tuple *input) {
    tuple t = read_tuple(input);
    self->life->executed++;
    if (gx_life_remembers(self->node)) check_order(self, &t);
    if (gx_life_counts(self->node)) gx_deeds_did(&self->life->deeds, self->node->index, t.message, t.path, 1);
    return t;
}

/* --- Records of all --- */

static void save_head(const instance *self, gale_saver *to, int64_t more) {
    gale_value head[] = { gale_i64(RECORD_HEAD), gale_i64((int64_t)self->sequence),
                          gale_i64(gale_context_now(self->context)), gale_i64(more) };
    gale_save(to, head, 4);
    for (uint32_t o = 0; o < ORIGINS; o++) {
        gale_value last[] = { gale_i64(RECORD_LAST), gale_i64(o), gale_i64((int64_t)self->last[o]) };
        if (self->last[o]) gale_save(to, last, 3);
    }
}

static int64_t restore_head(instance *self, const gale_value *v) {
    if ((uint64_t)v[1].as.i64 > self->sequence) self->sequence = (uint64_t)v[1].as.i64;
    if (gale_context_now(self->context) < v[2].as.i64)
        gx_deeds_violated(&self->life->deeds, "the clock of '%s' went back", self->node->name);
    return v[3].as.i64;
}

static void restore_last(instance *self, const gale_value *v) {
    if (!self->node->reordered) self->last[v[1].as.i64] = (uint64_t)v[2].as.i64;
}

static int come_by(const instance *self, gx_place place) {
    return gx_death_comes(&self->life->death, place) ? GALE_IO : GALE_OK;
}

/* What all tables have. The body is the kind's. */
static int restore_with(instance *self, gale_saved *from, void (*take)(instance *, gale_saved *, const gale_value *)) {
    const gale_value *v;
    size_t values;
    int rc = come_by(self, GX_PLACE_RESTORE);
    while (rc == GALE_OK && (rc = gale_saved_next(from, &v, &values)) == 1) {
        rc = GALE_OK;
        take(self, from, v);
    }
    return rc < 0 ? rc : come_by(self, GX_PLACE_RESTORED);
}

static void told(void *self_, uint64_t checkpoint) {
    instance *self = self_;
    gx_life *life = self->life;
    if (come_by(self, GX_PLACE_TOLD) < 0) return;
    if (checkpoint < life->told || checkpoint > life->vault.commits)
        gx_deeds_violated(&life->deeds, "'%s' was told that checkpoint %llu lasts, after %llu, of %llu",
                          self->node->name, (unsigned long long)checkpoint, (unsigned long long)life->told,
                          (unsigned long long)life->vault.commits);
    life->told = checkpoint;
}

/* What it needs is away, now and then. */
static int come_to_open(gx_life *life) {
    if (gx_death_comes(&life->death, GX_PLACE_OPEN)) return GALE_IO;
    return gx_random_below(&life->random, LATER_ODDS) == 0 ? GALE_AGAIN : GALE_OK;
}

/* --- The spout --- */

static gx_message *message_of(const instance *self, uint32_t n) {
    const gx_life_node *node = self->node;
    uint32_t number = node->first_message + n * node->tasks + self->context->task_index;
    return number < node->first_message + node->message_count ? &self->life->deeds.messages[number] : NULL;
}

static uint64_t number_of(const instance *self, const gx_message *message) {
    return (uint64_t)(message - self->life->deeds.messages);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gx_life_node *node = user;
    int rc = come_to_open(node->life);
    if (rc < 0) return rc;
    return (*ret_self = make(node, context, out)) ? GALE_OK : GALE_NO_MEMORY;
}

static void check_pending(const instance *self) {
    uint64_t open = 0;
    const gx_message *m;
    for (uint32_t n = 0; (m = message_of(self, n)) != NULL; n++) open += m->state == GX_MESSAGE_OPEN;
    if (self->life->acking && gale_pending(self->out) != open)
        gx_deeds_violated(&self->life->deeds, "'%s' has %llu messages open, but is told that it has %llu",
                          self->node->name, (unsigned long long)open, (unsigned long long)gale_pending(self->out));
}

static int spout_next(void *self_, gale_collector *out, gale_wait *wait) {
    instance *self = self_;
    gx_message *m;
    uint32_t n = 0;
    (void)wait;
    if (is_over(self)) return GALE_NEXT_NOTHING;
    check_pending(self);
    while ((m = message_of(self, n)) != NULL && m->state != GX_MESSAGE_NEW && m->state != GX_MESSAGE_QUEUED) n++;
    if (!m) return GALE_NEXT_DONE;
    gale_value v[FIELDS];
    uint64_t number = number_of(self, m);
    write_tuple(self, number, gx_random_mix(number + 1) >> 1, 0, v);
    uint8_t before = m->state;
    m->state = GX_MESSAGE_OPEN;
    if (gale_emit_tracked(out, 0, v, FIELDS, number) >= 0) return GALE_NEXT_EMITTED;
    m->state = before;
    return GALE_NEXT_NOTHING;
}

static gx_message *answered(const instance *self, uint64_t id) {
    gx_deeds *deeds = &self->life->deeds;
    gx_message *m = id < deeds->count ? &deeds->messages[id] : NULL;
    if (m && m->state == GX_MESSAGE_OPEN) return m;
    gx_deeds_violated(deeds, "'%s' was told of message %llu, which is not open", self->node->name,
                      (unsigned long long)id);
    return NULL;
}

static void spout_ack(void *self_, uint64_t id) {
    instance *self = self_;
    gx_message *m = is_over(self) ? NULL : answered(self, id);
    if (!m) return;
    m->state = GX_MESSAGE_ACKED;
    gx_deeds_acked(&self->life->deeds, id);
}

static void spout_fail(void *self_, uint64_t id, const gale_failure *failure) {
    instance *self = self_;
    const gx_life *life = self->life;
    if (failure->reason == GALE_REASON_STOPPED || is_over(self)) return;
    gx_message *m = answered(self, id);
    if (!m) return;
    m->state = failure->final && life->attempts > 1 ? GX_MESSAGE_GIVEN_UP : GX_MESSAGE_QUEUED;
    if (life->attempts > 1 && (!failure->final || failure->attempts != life->attempts))
        gx_deeds_violated(&self->life->deeds, "message %llu was given up after %u attempts of %d: %s",
                          (unsigned long long)id, failure->attempts, (int)life->attempts, failure->text);
}

static int spout_save(void *self_, gale_saver *to) {
    instance *self = self_;
    gx_buf states = GX_BUF_INIT(NULL);
    const gx_message *m;
    for (uint32_t n = 0; (m = message_of(self, n)) != NULL; n++) gx_buf_add_byte(&states, (char)m->state);
    save_head(self, to, 0);
    gale_value v[] = { gale_i64(RECORD_COUNT), gale_bytes(states.data, states.size) };
    int rc = come_by(self, GX_PLACE_SAVING);
    if (rc == GALE_OK) rc = states.failed ? no_memory(self) : gale_save(to, v, 2);
    gx_buf_fini(&states);
    return rc;
}

static void take_states(instance *self, gale_saved *from, const gale_value *v) {
    gx_message *m;
    (void)from;
    if (v[0].as.i64 == RECORD_HEAD) restore_head(self, v);
    if (v[0].as.i64 != RECORD_COUNT) return;
    for (uint32_t n = 0; (m = message_of(self, n)) != NULL && n < v[1].size; n++)
        m->state = ((const unsigned char *)v[1].as.bytes)[n];
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return restore_with(self, from, take_states);
}

static void spout_close(void *self) {
    unmake(self);
}

static const gale_durable_ops spout_durable = {
    .size = sizeof spout_durable, .version = 1, .save = spout_save, .restore = spout_restore, .committed = told
};

gale_spout gx_life_spout(gx_life_node *node) {
    static const gale_spout_ops ops = { .size = sizeof ops,
                                        .name = "messages",
                                        .open = spout_open,
                                        .next = spout_next,
                                        .ack = spout_ack,
                                        .fail = spout_fail,
                                        .close = spout_close,
                                        .durable = &spout_durable };
    return (gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .user = node };
}

/* --- Stateless bolts --- */

static int prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gx_life_node *node = user;
    int rc = come_to_open(node->life);
    if (rc < 0) return rc;
    return (*ret_self = make(node, context, out)) ? GALE_OK : GALE_NO_MEMORY;
}

static void cleanup(void *self) {
    unmake(self);
}

static int gate(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    (void)out;
    if (gale_tuple_is_tick(input)) return 0;
    if (self->life->fails && gale_context_random(self->context) % 6 == 0) return GALE_COMPONENT;
    tuple t = begin(self, input);
    emit(self, &t, NULL, 0);
    return 0;
}

static int pass(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    (void)out;
    if (gale_tuple_is_tick(input)) return 0;
    tuple t = begin(self, input);
    emit(self, &t, NULL, 0);
    return 0;
}

static int flush(void *self, gale_collector *out) {
    (void)self, (void)out;
    return 0;
}

/* --- Counting in a structure of its own --- */

static count *count_for(instance *self, uint64_t message, uint64_t path) {
    for (size_t i = self->count_count; i-- > 0;)
        if (self->counts[i].path == path && self->counts[i].message == message) return &self->counts[i];
    if (!gx_grow(heap_of(self), GX_TAG_OTHER, &self->counts, &self->count_capacity, self->count_count + 1,
                 sizeof *self->counts))
        return NULL;
    self->counts[self->count_count] = (count){ message, path, 0 };
    return &self->counts[self->count_count++];
}

static partial *part_of_tuple(instance *self, const tuple *t) {
    for (size_t i = 0; i < self->part_count; i++)
        if (self->parts[i].message == t->message && self->parts[i].path == t->path) return &self->parts[i];
    return NULL;
}

static partial *add_part(instance *self, uint64_t message, uint64_t path, uint32_t children) {
    if (!gx_grow(heap_of(self), GX_TAG_OTHER, &self->parts, &self->part_capacity, self->part_count + 1,
                 sizeof *self->parts))
        return NULL;
    self->parts[self->part_count] = (partial){ message, path, children };
    return &self->parts[self->part_count++];
}

/* The children that are left, some at a time. */
static int emit_part(instance *self, const tuple *t, partial *p) {
    uint32_t children = gx_life_children(self->node, t->path, t->hops);
    uint32_t first = p ? p->children : 0, n = first;
    while (n < children && (n == first || gale_context_random(self->context) % PART_ODDS))
        emit_child(self, t, n++, NULL, 0);
    if (n < children && !p && !(p = add_part(self, t->message, t->path, n))) return no_memory(self);
    if (n < children) {
        p->children = n;
        return GALE_MORE;
    }
    if (p) *p = self->parts[--self->part_count];
    return 0;
}

/* It counts before its first child. */
static int count_execute(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    (void)out;
    if (gale_tuple_is_tick(input)) return 0;
    tuple t = read_tuple(input);
    partial *p = part_of_tuple(self, &t);
    if (!p) {
        begin(self, input);
        count *c = count_for(self, t.message, t.path);
        if (!c) return no_memory(self);
        c->times++;
    }
    return emit_part(self, &t, p);
}

static int count_finish(void *self_, gale_collector *out) {
    instance *self = self_;
    (void)out;
    for (size_t i = 0; i < self->count_count && !is_over(self); i++)
        gx_deeds_kept(&self->life->deeds, self->node->index, self->counts[i].message, self->counts[i].path,
                      self->counts[i].times);
    return 0;
}

static int count_save(void *self_, gale_saver *to) {
    instance *self = self_;
    save_head(self, to, 0);
    for (size_t i = 0; i < self->part_count; i++) {
        gale_value v[] = { gale_i64(RECORD_PART), gale_i64((int64_t)self->parts[i].message),
                           gale_i64((int64_t)self->parts[i].path), gale_i64(self->parts[i].children) };
        gale_save(to, v, 4);
    }
    for (size_t i = 0; i < self->count_count; i++) {
        gale_value v[] = { gale_i64(RECORD_COUNT), gale_i64((int64_t)self->counts[i].message),
                           gale_i64((int64_t)self->counts[i].path), gale_i64(self->counts[i].times) };
        gale_save(to, v, 4);
    }
    return come_by(self, GX_PLACE_SAVING);
}

/* Of what another number of tasks has saved: by key, or by turns. */
static bool is_own(const instance *self, gale_saved *from, uint64_t path) {
    uint32_t parts, part = gale_saved_part(from, &parts);
    gale_value key = gale_i64(gx_life_key(path));
    if (parts == self->context->task_count) return true;
    return self->node->by_key ? gale_saved_is_own(from, &key, 1)
                              : part % self->context->task_count == self->context->task_index;
}

static void take_count(instance *self, gale_saved *from, const gale_value *v) {
    if (v[0].as.i64 == RECORD_HEAD) restore_head(self, v);
    if (v[0].as.i64 == RECORD_LAST) restore_last(self, v);
    if (v[0].as.i64 == RECORD_PART && is_own(self, from, (uint64_t)v[2].as.i64) &&
        !add_part(self, (uint64_t)v[1].as.i64, (uint64_t)v[2].as.i64, (uint32_t)v[3].as.i64))
        return (void)no_memory(self);
    if (v[0].as.i64 != RECORD_COUNT || !is_own(self, from, (uint64_t)v[2].as.i64)) return;
    count *c = count_for(self, (uint64_t)v[1].as.i64, (uint64_t)v[2].as.i64);
    if (!c) return (void)no_memory(self);
    c->times += (uint32_t)v[3].as.i64;
    gx_deeds_did(&self->life->deeds, self->node->index, c->message, c->path, (uint32_t)v[3].as.i64);
    if (gale_saved_is_end(from))
        gx_deeds_kept(&self->life->deeds, self->node->index, c->message, c->path, (uint32_t)v[3].as.i64);
}

static int count_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return restore_with(self, from, take_count);
}

static const gale_durable_ops count_durable = { .size = sizeof count_durable,
                                                .version = 1,
                                                .flags = GALE_DURABLE_PARTS,
                                                .save = count_save,
                                                .restore = count_restore,
                                                .committed = told };

/* --- Counting in keyed state --- */

static void read_key(const gale_value *key, uint64_t *ret_message, uint64_t *ret_path) {
    *ret_message = (uint64_t)gale_list_at(key, 1).as.i64;
    *ret_path = (uint64_t)gale_list_at(key, 2).as.i64;
}

static int each_restored(void *user, const gale_value *key, const gale_value *value) {
    instance *self = user;
    uint64_t message, path;
    read_key(key, &message, &path);
    gx_deeds_did(&self->life->deeds, self->node->index, message, path, (uint32_t)value->as.i64);
    if (self->life->finished)
        gx_deeds_kept(&self->life->deeds, self->node->index, message, path, (uint32_t)value->as.i64);
    return 0;
}

static int keyed_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    int rc = prepare(user, context, out, ret_self);
    if (rc < 0) return rc;
    instance *self = *ret_self;
    gale_state_options options = GALE_STATE_OPTIONS_INIT;
    options.route = 1;
    rc = gale_state_open(out, &options, &self->state);
    if (rc >= 0) rc = gale_state_each(self->state, each_restored, self);
    if (rc < 0) unmake(self);
    return rc;
}

static int keyed_execute(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    (void)out;
    if (gale_tuple_is_tick(input)) return 0;
    tuple t = begin(self, input);
    gale_value items[] = { gale_i64(t.key), gale_i64((int64_t)t.message), gale_i64((int64_t)t.path) };
    gale_value key = gale_list(items, 3);
    int rc = gale_state_add(self->state, &key, 1, NULL);
    if (rc < 0 && !is_over(self))
        gx_deeds_violated(&self->life->deeds, "keyed state of '%s': %s", self->node->name, gale_error_text(rc));
    emit(self, &t, NULL, 0);
    return rc;
}

static int each_kept(void *user, const gale_value *key, const gale_value *value) {
    instance *self = user;
    uint64_t message, path;
    read_key(key, &message, &path);
    gx_deeds_kept(&self->life->deeds, self->node->index, message, path, (uint32_t)value->as.i64);
    return 0;
}

static int keyed_finish(void *self_, gale_collector *out) {
    instance *self = self_;
    (void)out;
    return is_over(self) ? 0 : gale_state_each(self->state, each_kept, self);
}

static int keyed_save(void *self_, gale_saver *to) {
    save_head(self_, to, 0);
    return come_by(self_, GX_PLACE_SAVING);
}

static const gale_durable_ops keyed_durable = { .size = sizeof keyed_durable,
                                                .version = 1,
                                                .flags = GALE_DURABLE_PARTS | GALE_DURABLE_KEYED,
                                                .save = keyed_save,
                                                .restore = count_restore,
                                                .committed = told };

/* --- Holding --- */

static int remember(instance *self, gale_handle handle, uint64_t path) {
    if (!gx_grow(heap_of(self), GX_TAG_OTHER, &self->held, &self->held_capacity, self->held_count + 1,
                 sizeof *self->held))
        return no_memory(self);
    self->held[self->held_count++] = (held){ handle, path, false };
    return GALE_OK;
}

static void answer(instance *self, gale_handle handle) {
    int rc = gale_ack(self->out, handle);
    if (rc < 0 && !is_over(self))
        gx_deeds_violated(&self->life->deeds, "'%s' could not ack what it holds: %s", self->node->name,
                          gale_error_text(rc));
}

/* The first so many go on, anchored to all of those. */
static void let_go(instance *self, size_t n) {
    gale_handle handles[32];
    for (size_t i = 0; i < n; i++) handles[i] = self->held[i].handle;
    for (size_t i = 0; i < n; i++) {
        const gale_tuple *kept = gale_held(self->out, handles[i]);
        if (!kept) {
            if (!is_over(self))
                gx_deeds_violated(&self->life->deeds, "'%s' does not hold what it holds", self->node->name);
            continue;
        }
        tuple t = read_tuple(kept);
        emit(self, &t, handles, n);
    }
    for (size_t i = 0; i < n; i++) answer(self, handles[i]);
    memmove(self->held, self->held + n, (self->held_count -= n) * sizeof *self->held);
}

static int hold_execute(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    gale_handle handle;
    if (!gale_tuple_is_tick(input)) {
        tuple t = begin(self, input);
        int rc = gale_tuple_hold(out, gale_tuple_handle(input), &handle);
        if (rc == GALE_OK) rc = remember(self, handle, t.path);
        if (rc < 0) return rc;
        if (self->held_count <= self->node->most && !self->finished) return 0;
    }
    if (self->held_count) let_go(self, self->node->joins ? self->held_count : 1);
    bool more = gale_tuple_is_tick(input) && self->held_count && gale_context_random(self->context) % PART_ODDS == 0;
    return more ? GALE_MORE : 0;
}

static int hold_finish(void *self_, gale_collector *out) {
    instance *self = self_;
    (void)out;
    self->finished = true;
    while (self->held_count) {
        let_go(self, 1);
        if (gale_context_random(self->context) % PART_ODDS == 0) return GALE_MORE;
    }
    return 0;
}

static int held_save(void *self_, gale_saver *to) {
    instance *self = self_;
    save_head(self, to, 0);
    for (size_t i = 0; i < self->held_count; i++) {
        gale_value v[] = { gale_i64(RECORD_HELD), gale_i64((int64_t)self->held[i].handle),
                           gale_i64((int64_t)self->held[i].path) };
        if (gale_held(self->out, self->held[i].handle)) gale_save(to, v, 3);
    }
    return come_by(self, GX_PLACE_SAVING);
}

static void take_held(instance *self, gale_saved *from, const gale_value *v) {
    (void)from;
    if (v[0].as.i64 == RECORD_HEAD) restore_head(self, v);
    if (v[0].as.i64 == RECORD_LAST) restore_last(self, v);
    if (v[0].as.i64 != RECORD_HELD) return;
    const gale_tuple *kept = gale_held(self->out, (gale_handle)v[1].as.i64);
    if (!kept || read_tuple(kept).path != (uint64_t)v[2].as.i64)
        gx_deeds_violated(&self->life->deeds, "'%s' goes on without what it held, or with something else",
                          self->node->name);
    else
        remember(self, (gale_handle)v[1].as.i64, (uint64_t)v[2].as.i64);
}

static int held_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return restore_with(self, from, take_held);
}

static const gale_durable_ops held_durable = {
    .size = sizeof held_durable, .version = 1, .save = held_save, .restore = held_restore, .committed = told
};

/* --- Handing over --- */

static int hand_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    int rc = prepare(user, context, out, ret_self);
    if (rc < 0) return rc;
    instance *self = *ret_self;
    self->next = self->life->hands;
    self->life->hands = self;
    rc = gale_remote_open(out, &self->remote);
    if (rc < 0) unmake(self);
    return rc;
}

/* What its thread has answered, and the engine has heard, is held no more. */
static void forget_answered(instance *self) {
    size_t left = 0;
    for (size_t i = 0; i < self->held_count; i++)
        if (!self->held[i].answered || gale_held(self->out, self->held[i].handle)) self->held[left++] = self->held[i];
    self->held_count = left;
}

static int hand_execute(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    gale_handle handle;
    if (gale_tuple_is_tick(input)) return 0;
    tuple t = begin(self, input);
    forget_answered(self);
    emit(self, &t, NULL, 0);
    int rc = gale_tuple_hold(out, gale_tuple_handle(input), &handle);
    return rc == GALE_OK ? remember(self, handle, t.path) : rc;
}

void gx_life_hand_over(gx_life *life) {
    for (instance *self = life->hands; self; self = self->next) {
        if (gx_random_below(&life->random, 3) || !self->held_count) continue;
        held *h = &self->held[gx_random_below(&life->random, (uint32_t)self->held_count)];
        if (!h->answered && gale_remote_ack(self->remote, h->handle) == GALE_OK) h->answered = true;
    }
}

/* --- Sinks --- */

typedef struct pledge {
    gx_life *life;
    uint32_t component, task;
    uint64_t checkpoint;
    uint64_t behind; /* of a late one: the one of the task that must be committed before; 0: none */
    gx_buf effects;
} pledge;

static int die(gale_error *error) {
    return gale_error_set(error, GALE_IO, "the process has died");
}

static int pledge_prepare(void *self, gale_error *error) {
    pledge *p = self;
    gx_life *life = p->life;
    if (gx_death_comes(&life->death, GX_PLACE_PREPARE)) return die(error);
    int rc = gx_outside_prepare(&life->outside, p->component, p->task, p->checkpoint, &p->effects);
    if (rc < 0) gx_deeds_violated(&life->deeds, "a part could not be prepared: %s", gale_error_text(rc));
    return gx_death_comes(&life->death, GX_PLACE_PREPARED) ? die(error) : rc;
}

static int pledge_commit(void *self, gale_error *error) {
    pledge *p = self;
    gx_life *life = p->life;
    if (gx_death_comes(&life->death, GX_PLACE_KEEP)) return die(error);
    gx_part *part = gx_outside_find(&life->outside, p->component, p->task, p->checkpoint);
    if (part)
        part->committed = true;
    else
        gx_deeds_violated(&life->deeds, "a part is to be committed that was never prepared");
    return gx_death_comes(&life->death, GX_PLACE_KEPT) ? die(error) : GALE_OK;
}

static void pledge_drop(void *self) {
    pledge *p = self;
    gx_buf_fini(&p->effects);
    gx_free(&p->life->deeds.heap, GX_TAG_OTHER, p, sizeof *p);
}

static int parts_execute(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    (void)out;
    if (gale_tuple_is_tick(input)) return 0;
    tuple t = begin(self, input);
    gx_effect effect = { t.message, t.path };
    gx_buf_add(&self->effects, &effect, sizeof effect);
    return self->effects.failed ? no_memory(self) : 0;
}

static int promise(instance *self, gale_saver *to) {
    static const gale_pledge_ops ops = {
        .size = sizeof ops, .prepare = pledge_prepare, .commit = pledge_commit, .drop = pledge_drop
    };
    pledge *p = gx_alloc(heap_of(self), GX_TAG_OTHER, sizeof *p);
    if (!p) return no_memory(self);
    *p = (pledge){ .life = self->life,
                   .component = self->node->index,
                   .task = self->context->task_index,
                   .checkpoint = gale_save_checkpoint(to),
                   .effects = self->effects };
    self->effects = (gx_buf)GX_BUF_INIT(NULL);
    return gale_save_pledge(to, &ops, p);
}

static int parts_save(void *self_, gale_saver *to) {
    instance *self = self_;
    bool any = self->effects.size > 0;
    save_head(self, to, any ? (int64_t)gale_save_checkpoint(to) : 0);
    int rc = any ? promise(self, to) : GALE_OK;
    return rc < 0 ? rc : come_by(self, GX_PLACE_SAVING);
}

static void did_effects(instance *self, const gx_buf *effects) {
    for (size_t at = 0; at < effects->size; at += sizeof(gx_effect)) {
        gx_effect effect;
        memcpy(&effect, effects->data + at, sizeof effect);
        gx_deeds_did(&self->life->deeds, self->node->index, effect.message, effect.path, 1);
    }
}

/* What was promised is kept, the rest undone. */
static void take_parts(instance *self, gale_saved *from, const gale_value *v) {
    gx_outside *outside = &self->life->outside;
    uint32_t component = self->node->index, task = self->context->task_index;
    (void)from;
    if (v[0].as.i64 == RECORD_LAST) restore_last(self, v);
    if (v[0].as.i64 != RECORD_HEAD) return;
    uint64_t checkpoint = (uint64_t)restore_head(self, v);
    gx_part *part = checkpoint ? gx_outside_find(outside, component, task, checkpoint) : NULL;
    if (checkpoint && !part)
        gx_deeds_violated(&self->life->deeds, "'%s' promised a part for checkpoint %llu that is not prepared",
                          self->node->name, (unsigned long long)checkpoint);
    if (part && !GX_MUTANT(sink_not_restored)) part->committed = true;
    gx_outside_undo(outside, component, task);
    for (size_t i = 0; i < outside->count; i++)
        if (outside->parts[i].component == component && outside->parts[i].task == task)
            did_effects(self, &outside->parts[i].effects);
}

static int parts_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return restore_with(self, from, take_parts);
}

static const gale_durable_ops parts_durable = {
    .size = sizeof parts_durable, .version = 1, .save = parts_save, .restore = parts_restore, .committed = told
};

/* --- Sinks that are late --- */

static gx_part *part_of(const instance *self, uint64_t checkpoint) {
    return gx_outside_find(&self->life->outside, self->node->index, self->context->task_index, checkpoint);
}

/* All at once, if it is not there. */
static int late_commit(void *self, gale_error *error) {
    pledge *p = self;
    gx_life *life = p->life;
    if (gx_death_comes(&life->death, GX_PLACE_KEEP)) return die(error);
    if (gx_random_below(&life->random, AWAY_ODDS) == 0) return gale_error_set(error, GALE_AGAIN, "it is away");
    if (p->checkpoint > life->vault.commits)
        gx_deeds_violated(&life->deeds, "a part is to be committed whose checkpoint does not last");
    if (p->behind && !gx_outside_find(&life->outside, p->component, p->task, p->behind))
        gx_deeds_violated(&life->deeds, "a part is to be committed before one that was promised earlier");
    int rc = gx_outside_prepare(&life->outside, p->component, p->task, p->checkpoint, &p->effects);
    if (rc == GALE_OK) gx_outside_find(&life->outside, p->component, p->task, p->checkpoint)->committed = true;
    if (rc == GALE_NO_MEMORY) gx_deeds_violated(&life->deeds, "the simulator has no memory");
    if (gx_death_comes(&life->death, GX_PLACE_KEPT)) return die(error);
    return gx_random_below(&life->random, AWAY_ODDS) == 0 ? gale_error_set(error, GALE_AGAIN, "its answer is lost") : 0;
}

static owed *owe(instance *self, uint64_t checkpoint) {
    if (!gx_grow(heap_of(self), GX_TAG_OTHER, &self->owed, &self->owed_capacity, self->owed_count + 1,
                 sizeof *self->owed))
        return NULL;
    self->owed[self->owed_count] = (owed){ checkpoint, GX_BUF_INIT(NULL) };
    return &self->owed[self->owed_count++];
}

/* What is outside is promised no more. */
static void forget_committed(instance *self) {
    size_t left = 0;
    for (size_t i = 0; i < self->owed_count; i++) {
        if (part_of(self, self->owed[i].checkpoint))
            gx_buf_fini(&self->owed[i].effects);
        else
            self->owed[left++] = self->owed[i];
    }
    self->owed_count = left;
}

static void save_owed(const owed *o, gale_saver *to) {
    for (size_t at = 0; at < o->effects.size; at += sizeof(gx_effect)) {
        gx_effect effect;
        memcpy(&effect, o->effects.data + at, sizeof effect);
        gale_value v[] = { gale_i64(RECORD_OWED), gale_i64((int64_t)o->checkpoint), gale_i64((int64_t)effect.message),
                           gale_i64((int64_t)effect.path) };
        gale_save(to, v, 4);
    }
}

static pledge pledge_of(const instance *self, size_t at) {
    return (pledge){ .life = self->life,
                     .component = self->node->index,
                     .task = self->context->task_index,
                     .checkpoint = self->owed[at].checkpoint,
                     .behind = at ? self->owed[at - 1].checkpoint : 0,
                     .effects = self->owed[at].effects };
}

static int promise_late(instance *self, size_t at, gale_saver *to) {
    static const gale_pledge_ops ops = {
        .size = sizeof ops, .commit = late_commit, .drop = pledge_drop, .flags = GALE_PLEDGE_LATE
    };
    pledge *p = gx_alloc(heap_of(self), GX_TAG_OTHER, sizeof *p);
    if (!p) return no_memory(self);
    *p = pledge_of(self, at);
    p->effects = (gx_buf)GX_BUF_INIT(NULL);
    gx_buf_add(&p->effects, self->owed[at].effects.data, self->owed[at].effects.size);
    return p->effects.failed ? no_memory(self) : gale_save_pledge(to, &ops, p);
}

static int late_save(void *self_, gale_saver *to) {
    instance *self = self_;
    owed *o = NULL;
    forget_committed(self);
    if (self->effects.size && !(o = owe(self, gale_save_checkpoint(to)))) return no_memory(self);
    if (o) o->effects = self->effects;
    if (o) self->effects = (gx_buf)GX_BUF_INIT(NULL);
    save_head(self, to, 0);
    int rc = GALE_OK;
    for (size_t i = 0; rc == GALE_OK && i < self->owed_count; i++) {
        save_owed(&self->owed[i], to);
        rc = promise_late(self, i, to);
    }
    return rc < 0 ? rc : come_by(self, GX_PLACE_SAVING);
}

static void take_owed(instance *self, const gale_value *v) {
    uint64_t checkpoint = (uint64_t)v[1].as.i64;
    gx_effect effect = { (uint64_t)v[2].as.i64, (uint64_t)v[3].as.i64 };
    owed *o = self->owed_count ? &self->owed[self->owed_count - 1] : NULL;
    if (!o || o->checkpoint != checkpoint) o = owe(self, checkpoint);
    if (o) gx_buf_add(&o->effects, &effect, sizeof effect);
    if (!o || o->effects.failed) (void)no_memory(self);
}

static void take_late(instance *self, gale_saved *from, const gale_value *v) {
    (void)from;
    if (v[0].as.i64 == RECORD_LAST) restore_last(self, v);
    if (v[0].as.i64 == RECORD_HEAD) (void)restore_head(self, v);
    if (v[0].as.i64 == RECORD_OWED) take_owed(self, v);
}

static void did_all(instance *self) {
    const gx_outside *outside = &self->life->outside;
    for (size_t i = 0; i < outside->count; i++)
        if (outside->parts[i].component == self->node->index && outside->parts[i].task == self->context->task_index)
            did_effects(self, &outside->parts[i].effects);
    for (size_t i = 0; i < self->owed_count; i++) did_effects(self, &self->owed[i].effects);
}

/* Of a run that had come to its end: no checkpoint is made any more. */
static int commit_at_once(instance *self) {
    int rc = GALE_OK;
    for (size_t i = 0; rc == GALE_OK && i < self->owed_count; i++) {
        pledge p = pledge_of(self, i);
        while ((rc = late_commit(&p, NULL)) == GALE_AGAIN) {
        }
    }
    return rc;
}

static int late_restore(void *self_, gale_saved *from, gale_collector *out) {
    instance *self = self_;
    (void)out;
    int rc = restore_with(self, from, take_late);
    if (rc == GALE_OK && gale_saved_is_end(from)) rc = commit_at_once(self);
    if (rc < 0 || self->life->death.dead) return rc;
    forget_committed(self);
    did_all(self);
    return rc;
}

static const gale_durable_ops late_durable = {
    .size = sizeof late_durable, .version = 1, .save = late_save, .restore = late_restore, .committed = told
};

/* --- Files --- */

/* Its file, cut back to `size` when it is first used. */
static gx_part *file_of(instance *self, size_t size) {
    gx_part *file = gx_outside_file(&self->life->outside, self->node->index, self->context->task_index);
    if (!file) return NULL;
    if (!self->placed && !self->life->death.dead && !GX_MUTANT(sink_not_restored)) file->effects.size = size;
    self->placed = true;
    return file;
}

static int file_execute(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    (void)out;
    if (gale_tuple_is_tick(input)) return 0;
    tuple t = begin(self, input);
    gx_part *file = file_of(self, 0);
    gx_effect effect = { t.message, t.path };
    if (file && !self->life->death.dead) gx_buf_add(&file->effects, &effect, sizeof effect);
    return !file || file->effects.failed ? no_memory(self) : 0;
}

static int file_save(void *self_, gale_saver *to) {
    instance *self = self_;
    const gx_part *file = file_of(self, 0);
    if (!file) return no_memory(self);
    save_head(self, to, (int64_t)file->effects.size);
    return come_by(self, GX_PLACE_SAVING);
}

static void take_file(instance *self, gale_saved *from, const gale_value *v) {
    (void)from;
    if (v[0].as.i64 == RECORD_LAST) restore_last(self, v);
    if (v[0].as.i64 != RECORD_HEAD) return;
    size_t size = (size_t)restore_head(self, v);
    const gx_part *file = file_of(self, size);
    if (!file) return (void)no_memory(self);
    if (file->effects.size < size)
        gx_deeds_violated(&self->life->deeds, "the file of '%s' is shorter than at the checkpoint", self->node->name);
    did_effects(self, &file->effects);
}

static int file_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return restore_with(self, from, take_file);
}

static const gale_durable_ops file_durable = {
    .size = sizeof file_durable, .version = 1, .save = file_save, .restore = file_restore, .committed = told
};

/* --- Dead letters --- */

static int bury(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    (void)out;
    if (gale_tuple_is_tick(input)) return 0;
    uint64_t message = (uint64_t)gale_tuple_value(input, LETTER_MESSAGE).as.i64;
    gx_deeds_buried(&self->life->deeds, message);
    count *c = count_for(self, message, 0);
    if (!c) return no_memory(self);
    c->times++;
    return 0;
}

static void keep_letters(const instance *self) {
    for (size_t i = 0; i < self->count_count; i++)
        for (uint32_t n = 0; n < self->counts[i].times; n++)
            gx_deeds_letter_kept(&self->life->deeds, self->counts[i].message);
}

static int bury_finish(void *self, gale_collector *out) {
    (void)out;
    if (!is_over(self)) keep_letters(self);
    return 0;
}

static void take_letter(instance *self, gale_saved *from, const gale_value *v) {
    (void)from;
    if (v[0].as.i64 != RECORD_COUNT) return;
    count *c = count_for(self, (uint64_t)v[1].as.i64, 0);
    if (!c) return (void)no_memory(self);
    c->times = (uint32_t)v[3].as.i64;
    for (uint32_t n = 0; n < c->times; n++) gx_deeds_buried(&self->life->deeds, c->message);
    for (uint32_t n = 0; n < c->times && gale_saved_is_end(from); n++)
        gx_deeds_letter_kept(&self->life->deeds, c->message);
}

static int bury_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return restore_with(self, from, take_letter);
}

static const gale_durable_ops bury_durable = {
    .size = sizeof bury_durable, .version = 1, .save = count_save, .restore = bury_restore, .committed = told
};

/* --- The tables --- */

#define OPS(name_, kind_, prepare_, execute_, finish_, flush_, durable_)                                               \
    {                                                                                                                  \
        .size = sizeof(gale_bolt_ops), .name = (name_), .kind = (kind_), .prepare = (prepare_), .execute = (execute_), \
        .finish = (finish_), .cleanup = cleanup, .flush = (flush_), .durable = (durable_)                              \
    }

gale_bolt gx_life_bolt(gx_life_node *node) {
    static const gale_bolt_ops kinds[] = {
        [GX_LIFE_GATE] = OPS("gate", GALE_BOLT_SIMPLE, prepare, gate, NULL, NULL, &gale_stateless),
        [GX_LIFE_PASS] = OPS("pass", GALE_BOLT_SIMPLE, prepare, pass, NULL, NULL, &gale_stateless),
        [GX_LIFE_GATHER] = OPS("gather", GALE_BOLT_SIMPLE, prepare, pass, NULL, flush, &gale_stateless),
        [GX_LIFE_COUNT] = OPS("count", GALE_BOLT_SIMPLE, prepare, count_execute, count_finish, NULL, &count_durable),
        [GX_LIFE_KEYED] = OPS("keyed", GALE_BOLT_SIMPLE, keyed_prepare, keyed_execute, keyed_finish, NULL,
                              &keyed_durable),
        [GX_LIFE_HOLD] = OPS("hold", GALE_BOLT_MANUAL, prepare, hold_execute, hold_finish, NULL, &held_durable),
        [GX_LIFE_HAND] = OPS("hand", GALE_BOLT_MANUAL, hand_prepare, hand_execute, NULL, NULL, &held_durable),
        [GX_LIFE_PARTS] = OPS("parts", GALE_BOLT_SIMPLE, prepare, parts_execute, NULL, NULL, &parts_durable),
        [GX_LIFE_LATE] = OPS("late", GALE_BOLT_SIMPLE, prepare, parts_execute, NULL, NULL, &late_durable),
        [GX_LIFE_FILE] = OPS("file", GALE_BOLT_SIMPLE, prepare, file_execute, NULL, NULL, &file_durable),
        [GX_LIFE_BURY] = OPS("bury", GALE_BOLT_SIMPLE, prepare, bury, bury_finish, NULL, &bury_durable),
    };
    static const gale_bolt_ops forgetful = OPS("forgetful", GALE_BOLT_MANUAL, prepare, hold_execute, hold_finish, NULL,
                                               NULL);
    return (
        gale_bolt){ .size = sizeof(gale_bolt), .ops = node->forgets ? &forgetful : &kinds[node->kind], .user = node };
}
