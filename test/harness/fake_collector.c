#include "harness/fake_collector.h"

#include "base/json.h"
#include "topology/component.h"
#include "tuple/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* --- Memory ------------------------------------------------------------------------------------------------------- */

static bool fails_now(fake_collector *fake) {
    fake->allocations++;
    return fake->fail_at &&
           (fake->allocations == fake->fail_at || (fake->fail_on && fake->allocations > fake->fail_at));
}

static void *counted_alloc(void *user, size_t size) {
    fake_collector *fake = user;
    if (fails_now(fake)) return NULL;
    void *block = malloc(size);
    fake->blocks += block != NULL;
    return block;
}

static void *counted_resize(void *user, void *block, size_t old_size, size_t new_size) {
    (void)old_size;
    return fails_now(user) ? NULL : realloc(block, new_size);
}

static void counted_release(void *user, void *block, size_t size) {
    (void)size;
    ((fake_collector *)user)->blocks--;
    free(block);
}

/* --- The collector ------------------------------------------------------------------------------------------------ */

static fake_collector *of(gale_collector *out) {
    return (fake_collector *)out;
}

static int refuse(fake_collector *fake, const gale_value *values, size_t count) {
    if (fake->emit_error < 0) {
        if (fake->emits_before == 0) return fake->emit_error;
        fake->emits_before--;
    }
    int64_t size = gx_body_measure(values, count);
    return size < 0 ? (int)size : 0;
}

static void record(fake_collector *fake, const char *before, const gale_value *values, size_t count) {
    gx_json json = gx_json_to(&fake->emitted);
    gale_value list = gale_list(values, count);
    gx_buf_add_text(&fake->emitted, before);
    gx_json_value(&json, &list);
    fake->emissions++;
    if (fake->on_emit) fake->on_emit(fake->on_emit_user, values, count);
}

static int emit(gale_collector *out, uint32_t stream, const gale_value *values, size_t count) {
    assert_int_equal(stream, 0);
    int rc = refuse(of(out), values, count);
    if (rc < 0) return rc;
    record(of(out), "", values, count);
    gx_buf_add_byte(&of(out)->emitted, '\n');
    return 1;
}

static int emit_anchored(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                         const gale_handle *anchors, size_t anchor_count) {
    (void)anchors;
    assert_int_equal(stream, 0);
    int rc = refuse(of(out), values, count);
    if (rc < 0) return rc;
    record(of(out), anchor_count ? "" : "~", values, count);
    gx_buf_add_byte(&of(out)->emitted, '\n');
    return 1;
}

static int emit_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                        uint64_t message_id) {
    assert_int_equal(stream, 0);
    int rc = refuse(of(out), values, count);
    if (rc < 0) return rc;
    record(of(out), "", values, count);
    gx_buf_format(&of(out)->emitted, " #%llu\n", (unsigned long long)message_id);
    fake_collector *fake = of(out);
    fake->last_message = message_id;
    if (fake->message_count < FAKE_MESSAGES_MAX) fake->messages[fake->message_count++] = message_id;
    return 1;
}

static int ack(gale_collector *out, gale_handle tuple) {
    of(out)->acks++;
    of(out)->last_acked = tuple;
    return 0;
}

static int count_fail(gale_collector *out, gale_handle tuple, int32_t reason, const char *text) {
    (void)tuple;
    assert_true(gx_reason_is_valid(reason));
    snprintf(of(out)->fail_text, sizeof of(out)->fail_text, "%s", text ? text : "");
    of(out)->fail_reason = reason;
    of(out)->fails++;
    return 0;
}

static int hold(gale_collector *out, gale_handle tuple, gale_handle *ret_held) {
    if (!of(out)->holds) return GALE_UNSUPPORTED;
    *ret_held = tuple;
    return 0;
}

static const gale_tuple *held(gale_collector *out, gale_handle tuple) {
    return of(out)->holds && gale_tuple_handle(&of(out)->tuple) == tuple ? &of(out)->tuple : NULL;
}

static int reset_timeout(gale_collector *out, gale_handle tuple) {
    (void)tuple;
    of(out)->resets++;
    return 0;
}

static int congest(gale_collector *out, bool congested) {
    of(out)->congested = congested;
    return 0;
}

static int watch_new(gale_collector *out, const gale_watch_options *options, gale_watch *ret_watch) {
    fake_collector *fake = of(out);
    if (fake->watch_error < 0) return fake->watch_error;
    assert_in_range(fake->watch_count, 0, FAKE_WATCHES_MAX - 1);
    assert_int_equal(options->fd, -1);
    fake->watches[fake->watch_count] = *options;
    *ret_watch = ++fake->watch_count;
    return 0;
}

static int watch_set(gale_collector *out, gale_watch watch, int32_t events, int64_t at) {
    assert_int_equal(events, 0);
    assert_in_range(watch, 1, of(out)->watch_count);
    of(out)->watches[watch - 1].at = at;
    return 0;
}

size_t fake_tell_watches(fake_collector *fake) {
    size_t told = 0;
    for (size_t i = 0; i < fake->watch_count; i++) {
        gale_watch_options *watch = &fake->watches[i];
        if (!watch->at || watch->at > gale_context_now(&fake->context)) continue;
        watch->at = 0;
        assert_int_equal(watch->call(watch->user, &fake->collector, i + 1, GALE_WATCH_TIME), 0);
        told++;
    }
    return told;
}

static void report(gale_collector *out, const char *text) {
    gx_buf_add_text(&of(out)->reports, text);
    gx_buf_add_byte(&of(out)->reports, '\n');
}

static uint64_t pending(gale_collector *out) {
    (void)out;
    return 0;
}

static void stop(gale_collector *out, int code, const char *text) {
    if (of(out)->stop_code) return;
    of(out)->stop_code = code;
    snprintf(of(out)->stop_text, sizeof of(out)->stop_text, "%s", text);
}

static void resume(gale_collector *out) {
    of(out)->resumed = true;
}

static bool resumed(gale_collector *out) {
    return of(out)->resumed;
}

static int state(gale_collector *out, const gale_state_options *options, gale_state **ret_state) {
    fake_collector *fake = of(out);
    if (fake->running) return GALE_STATE;
    if (!fake->keyed.about.heap) {
        gx_heap_init(&fake->heap, &fake->allocator);
        const gx_keyed_about about = { .heap = &fake->heap,
                                       .clock = fake->context.clock,
                                       .seed = 1,
                                       .store = fake->store,
                                       .component = fake->context.component,
                                       .task_index = fake->context.task_index,
                                       .task_count = fake->context.task_count,
                                       .by_key = fake->by_key };
        gx_keyed_init(&fake->keyed, &about);
    }
    return gx_keyed_open(&fake->keyed, options, ret_state, NULL);
}

static int note(gale_metric *metric, double value) {
    fake_metric *m = (fake_metric *)metric;
    if (!(value >= 0) && m->kind != GALE_METRIC_GAUGE) return GALE_INVALID;
    m->sum += value;
    m->last = value;
    m->count++;
    return 0;
}

static int by_label(const void *a, const void *b) {
    return strcmp(((const gale_metric_label *)a)->name, ((const gale_metric_label *)b)->name);
}

static void write_metric_name(const gale_metric_options *options, char *to, size_t size) {
    gale_metric_label labels[GALE_METRIC_LABELS_MAX];
    int at = snprintf(to, size, "%s", options->name);
    for (uint32_t i = 0; i < options->label_count; i++) labels[i] = options->labels[i];
    if (options->label_count) qsort(labels, options->label_count, sizeof *labels, by_label);
    for (uint32_t i = 0; i < options->label_count && (size_t)at < size; i++)
        at += snprintf(to + at, size - (size_t)at, "%s%s=%s%s", i ? "," : "{", labels[i].name, labels[i].value,
                       i + 1 == options->label_count ? "}" : "");
}

static int metric_new(gale_collector *out, const gale_metric_options *options, gale_metric **ret_metric) {
    static const gale_metric_ops metric_ops = { sizeof metric_ops, note };
    fake_collector *fake = of(out);
    fake_metric *m = fake->metrics, *end = m + fake->metric_count;
    char name[sizeof m->name];
    write_metric_name(options, name, sizeof name);
    while (m < end && strcmp(m->name, name) != 0) m++;
    if (m == end && fake->metric_count == FAKE_METRICS_MAX) return GALE_TOO_LARGE;
    if (m < end && m->kind != options->kind) return GALE_INVALID;
    if (m == end) {
        fake->metric_count++;
        m->metric.ops = &metric_ops;
        m->kind = options->kind;
        memcpy(m->name, name, sizeof name);
    }
    *ret_metric = &m->metric;
    return 0;
}

static void wish_checkpoint(gale_collector *out) {
    of(out)->wishes++;
}

static uint64_t room(gale_collector *out) {
    return of(out)->room;
}

static bool part_is_full(gale_collector *out) {
    fake_collector *fake = of(out);
    return fake->part_rows && ++fake->part_asked >= fake->part_rows;
}

static int64_t source_lost(gale_collector *out, gale_is_lost_fn *is_lost, void *user) {
    fake_collector *fake = of(out);
    int64_t lost = 0;
    for (size_t i = 0; i < fake->message_count; i++) {
        if (is_lost && !is_lost(user, fake->messages[i])) continue;
        gx_buf_format(&fake->lost, " #%llu", (unsigned long long)fake->messages[i]);
        lost++;
    }
    return lost;
}

static void health(gale_collector *out, const char *text) {
    snprintf(of(out)->health, sizeof of(out)->health, "%s", text ? text : "");
}

static const gale_collector_ops ops = {
    .size = sizeof ops,
    .emit = emit,
    .emit_anchored = emit_anchored,
    .emit_tracked = emit_tracked,
    .ack = ack,
    .fail = count_fail,
    .hold = hold,
    .held = held,
    .report = report,
    .pending = pending,
    .stop = stop,
    .resume = resume,
    .resumed = resumed,
    .state = state,
    .metric_new = metric_new,
    .wish_checkpoint = wish_checkpoint,
    .source_lost = source_lost,
    .part_is_full = part_is_full,
    .room = room,
    .health = health,
    .reset_timeout = reset_timeout,
    .congest = congest,
    .watch_new = watch_new,
    .watch_set = watch_set,
};

/* --- The context -------------------------------------------------------------------------------------------------- */

static uint64_t draw(const gale_context *context) {
    return gx_random_next(&((fake_collector *)context->engine)->random);
}

static void write_log(void *user, int32_t level, const char *component, const char *text) {
    (void)level, (void)component;
    gx_buf_add_text(&((fake_collector *)user)->logged, text);
    gx_buf_add_byte(&((fake_collector *)user)->logged, '\n');
}

void fake_init(fake_collector *fake) {
    memset(fake, 0, sizeof *fake);
    fake->collector.ops = &ops;
    fake->allocator = (gale_allocator){ sizeof(gale_allocator), counted_alloc, counted_resize, counted_release, fake };
    fake->logger = (gale_logger){ sizeof(gale_logger), GALE_LOG_INFO, write_log, fake };
    fake->clock = gale_manual_clock_new(0);
    fake->config = gale_config_new();
    assert_true(fake->clock && fake->config);
    fake->random = gx_random_new(1, 1);
    fake->context = (gale_context){
        .size = sizeof(gale_context),
        .topology = "test",
        .component = "subject",
        .task = 2,
        .task_count = 1,
        .config = fake->config,
        .allocator = &fake->allocator,
        .logger = &fake->logger,
        .clock = gale_manual_clock_handle(fake->clock),
        .random = draw,
        .engine = fake,
    };
    fake->schema = (gale_schema){ fake->components, 1 };
    fake->components[0] = gx_schema_system();
    fake->components[1] = &fake->source;
    fake_source(fake, "source", "word");
}

void fake_set_rate(fake_collector *fake, double rate) {
    fake->context.rate = rate;
}

void fake_end_states(fake_collector *fake) {
    gx_keyed_fini(&fake->keyed);
    fake->keyed = (gx_keyed){ .walks = 0 };
}

void fake_fini(fake_collector *fake) {
    fake_end_states(fake);
    gx_buf_fini(&fake->saved);
    assert_int_equal(fake->blocks, 0);
    gx_buf_fini(&fake->emitted);
    gx_buf_fini(&fake->reports);
    gx_buf_fini(&fake->logged);
    gx_buf_fini(&fake->lost);
    gale_manual_clock_free(fake->clock);
    gale_config_free(fake->config);
    free(fake->field_text);
    free(fake->body);
}

/* --- Tuples ------------------------------------------------------------------------------------------------------- */

void fake_source(fake_collector *fake, const char *component, const char *fields) {
    free(fake->field_text);
    fake->field_text = strdup(fields);
    uint32_t count = 0;
    char *rest = NULL;
    const char **names = fake->fields[fake->sources++ % 16];
    for (char *field = strtok_r(fake->field_text, ", ", &rest); field; field = strtok_r(NULL, ", ", &rest)) {
        assert_in_range(count, 0, FAKE_FIELDS_MAX - 1);
        names[count++] = field;
    }
    fake->stream = (gx_schema_stream){ "default", names, count };
    fake->source = (gx_schema_component){ component, &fake->stream, 1 };
}

static const gale_tuple *make(fake_collector *fake, uint16_t task, const gale_value *values, size_t count) {
    int64_t size = gx_body_measure(values, count);
    assert_true(size > 0);
    void *body = aligned_alloc(16, ((size_t)size + 15) & ~(size_t)15);
    assert_non_null(body);
    gx_body_encode(values, count, body);
    free(fake->body); /* only now: the values may lie in it */
    fake->body = body;
    fake->head = (gale_head){ 0 };
    fake->tuple = (gale_tuple){ body, &fake->head, &fake->schema, fake->tuple.handle + 1, task, 0 };
    return &fake->tuple;
}

const gale_tuple *fake_tuple(fake_collector *fake, const gale_value *values, size_t count) {
    return make(fake, 1, values, count);
}

const gale_tuple *fake_tuple_text(fake_collector *fake, const char *text) {
    gale_value value = gale_text(text);
    return make(fake, 1, &value, 1);
}

const gale_tuple *fake_tick(fake_collector *fake, int64_t seconds) {
    gale_value value = gale_i64(seconds);
    return make(fake, 0, &value, 1);
}

const char *fake_text(gx_buf *lines) {
    const char *text = gx_buf_text(lines);
    assert_non_null(text);
    return text;
}

void fake_forget(fake_collector *fake) {
    gx_buf_reset(&fake->emitted);
    gx_buf_reset(&fake->reports);
    gx_buf_reset(&fake->logged);
    fake->emissions = fake->acks = fake->fails = 0;
}

/* --- What lasts --------------------------------------------------------------------------------------------------- */

int fake_keep(fake_collector *fake, const gale_durable_ops *durable, void *self) {
    gx_buf_reset(&fake->saved);
    gale_saver saver = { .records = &fake->saved, .component = fake->context.component, .checkpoint = 1 };
    int rc = durable->save(self, &saver);
    return rc < 0 ? rc : saver.failed;
}

int fake_give_back(fake_collector *fake, const gale_durable_ops *durable, void *self, uint32_t part, uint32_t parts) {
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gale_saved saved = { .records = { fake->saved.data, fake->saved.size },
                         .heap = &heap,
                         .checkpoint = 1,
                         .part = part,
                         .parts = parts,
                         .task_index = fake->context.task_index,
                         .task_count = fake->context.task_count,
                         .by_key = fake->by_key };
    int rc = durable->restore(self, &saved, &fake->collector);
    gx_saved_fini(&saved);
    return rc;
}

/* --- Components --------------------------------------------------------------------------------------------------- */

int fake_prepare(fake_collector *fake, const gale_bolt *bolt, void **ret_self) {
    void *self = bolt->user;
    int rc = bolt->ops->prepare ? bolt->ops->prepare(bolt->user, &fake->context, &fake->collector, &self) : 0;
    *ret_self = rc < 0 ? NULL : self;
    return rc;
}

void fake_cleanup(const gale_bolt *bolt, void *self) {
    if (self && bolt->ops->cleanup) bolt->ops->cleanup(self);
    if (bolt->free_user) bolt->free_user(bolt->user);
}

int fake_open(fake_collector *fake, const gale_spout *spout, void **ret_self) {
    void *self = spout->user;
    int rc = spout->ops->open ? spout->ops->open(spout->user, &fake->context, &fake->collector, &self) : 0;
    *ret_self = rc < 0 ? NULL : self;
    return rc;
}

void fake_close(const gale_spout *spout, void *self) {
    if (self && spout->ops->close) spout->ops->close(self);
    if (spout->free_user) spout->free_user(spout->user);
}
