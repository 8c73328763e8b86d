#include "runtime/debug.h"

#include "base/buf.h"
#include "base/log.h"
#include "engine/task.h"
#include "tuple/flat.h"
#include "tuple/json.h"

enum { SHOWN = 1000 }; /* a line of the log has no more room */

typedef struct line {
    const gale_context *context;
    gx_buf text;
    gx_json json;
} line;

/* False: nobody wants to read it. */
static bool begin(line *l, const gale_context *context) {
    if (!gx_log_wanted(context->logger, GALE_LOG_INFO)) return false;
    *l = (line){ .context = context, .text = GX_BUF_INIT(NULL) };
    gx_buf_format(&l->text, "task %u ", context->task);
    return true;
}

static void end(line *l) {
    const char *text = gx_buf_text(&l->text);
    gale_log(l->context->logger, GALE_LOG_INFO, l->context->component, "%s", text ? text : "no memory for a line");
    gx_buf_fini(&l->text);
}

static void begin_values(line *l) {
    gx_buf_add_text(&l->text, ": ");
    l->json = gx_json_to(&l->text);
    gx_json_open(&l->json, '[');
}

static void add_value(line *l, gale_value value) {
    if (gx_flat_is_text(value.type) && value.size > SHOWN) value.size = SHOWN;
    if (l->text.size <= SHOWN) gx_json_value(&l->json, &value);
}

static void end_values(line *l) {
    gx_json_close(&l->json, ']');
    end(l);
}

static void on_emit(void *user, const gale_context *context, uint32_t stream, const gale_value *values, size_t count,
                    uint32_t deliveries) {
    const gx_task *task = context->engine;
    line l;
    (void)user;
    if (!begin(&l, context)) return;
    gx_buf_format(&l.text, "emits on '%s' to %u task%s", task->plan->schema.streams[stream].name, deliveries,
                  deliveries == 1 ? "" : "s");
    begin_values(&l);
    for (size_t i = 0; i < count; i++) add_value(&l, values[i]);
    end_values(&l);
}

static void on_execute(void *user, const gale_context *context, const gale_tuple *tuple, int returned) {
    line l;
    (void)user;
    if (!begin(&l, context)) return;
    gx_buf_format(&l.text, "executed tuple %llx from '%s' (task %u, stream '%s')",
                  (unsigned long long)gale_tuple_handle(tuple), gale_tuple_component(tuple), gale_tuple_task(tuple),
                  gale_tuple_stream(tuple));
    if (returned < 0) gx_buf_format(&l.text, ", %s", gale_error_text(returned));
    begin_values(&l);
    for (size_t i = 0; i < gale_tuple_size(tuple); i++) add_value(&l, gale_tuple_value(tuple, i));
    end_values(&l);
}

/* What was answered: a spout's message, or a tuple. */
static bool begin_answer(line *l, const gale_context *context, uint64_t id, const char *of_spout, const char *of_bolt) {
    const gx_task *task = context->engine;
    if (!begin(l, context)) return false;
    if (task->is_spout)
        gx_buf_format(&l->text, "is told that message %llu %s", (unsigned long long)id, of_spout);
    else
        gx_buf_format(&l->text, "%s tuple %llx", of_bolt, (unsigned long long)id);
    return true;
}

static void on_ack(void *user, const gale_context *context, uint64_t id) {
    line l;
    (void)user;
    if (begin_answer(&l, context, id, "is acked", "acks")) end(&l);
}

static void on_fail(void *user, const gale_context *context, uint64_t id, const gale_failure *failure) {
    line l;
    (void)user;
    if (!begin_answer(&l, context, id, "failed", "fails")) return;
    gx_buf_format(&l.text, ", %s%s%s", gale_reason_name(failure->reason), *failure->text ? ": " : "", failure->text);
    end(&l);
}

const gale_hook *gx_debug_hook(void) {
    static const gale_hook hook = {
        .size = sizeof hook, .emit = on_emit, .execute = on_execute, .ack = on_ack, .fail = on_fail
    };
    return &hook;
}
