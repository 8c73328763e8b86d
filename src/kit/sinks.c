/* Where tuples end: gale_printer_bolt, gale_log_bolt, gale_callback_bolt, gale_null_bolt. */
#include "base/json.h"
#include "base/log.h"
#include "base/os/gathered.h"
#include "base/str.h"
#include "kit/define.h"
#include "tuple/json.h"

#include <gale/kit.h>
#include <gale/state.h>

/* --- A tuple as a line of JSON ------------------------------------------------------------------------------------ */

/* What lines of one source and stream begin with. */
typedef struct beginning {
    const char *component, *stream; /* borrowed from the topology, and known by where they lie */
    uint32_t task;
    gx_buf text;
} beginning;

typedef struct writer {
    gx_instance instance;
    gx_buf line;
    beginning last;
    gx_gathered lines; /* of a printer */
    gale_error error;  /* of its descriptor; one a line would be cleared for each */
} writer;

static void writer_cleanup(void *self) {
    writer *bolt = self;
    (void)gx_gathered_flush(&bolt->lines, NULL);
    gx_gathered_close(&bolt->lines);
    gx_buf_fini(&bolt->last.text);
    gx_buf_fini(&bolt->line);
    gx_define_instance_free(self);
}

static int writer_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    writer *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->line = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    bolt->last.text = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    bolt->error = (gale_error)GALE_ERROR_INIT;
    int rc = 0;
    if (user) rc = gx_gathered_open(&bolt->lines, &bolt->instance.heap, *(const int *)user, "the printer's output");
    if (rc < 0)
        gx_define_instance_free(bolt);
    else
        *ret_self = bolt;
    return rc;
}

GX_NOINLINE static void make_beginning(beginning *made, const gale_tuple *tuple) {
    gx_buf_reset(&made->text);
    gx_json json = gx_json_to(&made->text);
    made->component = gale_tuple_component(tuple);
    made->stream = gale_tuple_stream(tuple);
    made->task = gale_tuple_task(tuple);
    gx_json_open(&json, '{');
    gx_json_key(&json, gx_str("component"));
    gx_json_string(&json, gx_str(made->component));
    gx_json_key(&json, gx_str("stream"));
    gx_json_string(&json, gx_str(made->stream));
    gx_json_key(&json, gx_str("task"));
    gx_json_u64(&json, made->task);
    gx_json_key(&json, gx_str("values"));
    if (made->text.failed) made->component = NULL; /* to be made again */
}

static bool begins_alike(const beginning *last, const gale_tuple *tuple) {
    return last->component == gale_tuple_component(tuple) && last->stream == gale_tuple_stream(tuple) &&
           last->task == gale_tuple_task(tuple);
}

/* NULL when memory is out. */
static const char *to_json(writer *bolt, const gale_tuple *tuple) {
    if (GX_UNLIKELY(!begins_alike(&bolt->last, tuple))) make_beginning(&bolt->last, tuple);
    if (bolt->last.text.failed) return NULL;
    gx_buf_reset(&bolt->line);
    gx_buf_add(&bolt->line, bolt->last.text.data, bolt->last.text.size);
    gx_json json = gx_json_to(&bolt->line);
    gx_json_tuple_values(&json, tuple);
    gx_buf_add_byte(&bolt->line, '}');
    return gx_buf_text(&bolt->line);
}

static int stop_printing(const writer *bolt, gale_collector *out, int rc) {
    if (rc < 0) gale_stop(out, rc, bolt->error.text);
    return rc;
}

static int print(void *self, const gale_tuple *tuple, gale_collector *out) {
    writer *bolt = self;
    if (!to_json(bolt, tuple)) return GALE_NO_MEMORY;
    gx_buf_add_byte(&bolt->line, '\n');
    if (bolt->line.failed) return GALE_NO_MEMORY;
    int rc = gx_gathered_add(&bolt->lines, (gale_str){ bolt->line.data, bolt->line.size }, &bolt->error);
    return stop_printing(bolt, out, rc);
}

/* A tuple is acked when its line is written. */
static int print_gathered(void *self, gale_collector *out) {
    writer *bolt = self;
    return stop_printing(bolt, out, gx_gathered_flush(&bolt->lines, &bolt->error));
}

int gale_printer_bolt(int fd, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_bolt_ops ops = {
        .size = sizeof(gale_bolt_ops),
        .name = "printer bolt",
        .kind = GALE_BOLT_SIMPLE,
        .prepare = writer_prepare,
        .execute = print,
        .flush = print_gathered,
        .cleanup = writer_cleanup,
        .durable = &gale_stateless,
    };
    if (!ret_bolt) return gx_define_nowhere("printer bolt", error);
    if (fd < 0) return gale_error_set(error, GALE_INVALID, "printer bolt: fd is %d, which is no descriptor", fd);
    void *user = gx_define_user(&fd, sizeof fd, "printer bolt", error);
    if (!user) return GALE_NO_MEMORY;
    *ret_bolt = gx_define_bolt(&ops, user, NULL, 0);
    return 0;
}

static int log_tuple(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    writer *bolt = self;
    const gale_context *context = bolt->instance.context;
    if (!gx_log_wanted(context->logger, GALE_LOG_INFO)) return 0;
    const char *text = to_json(bolt, tuple);
    if (!text) return GALE_NO_MEMORY;
    gale_log(context->logger, GALE_LOG_INFO, context->component, "%s", text);
    return 0;
}

int gale_log_bolt(gale_bolt *ret_bolt, gale_error *error) {
    static const gale_bolt_ops ops = {
        .size = sizeof(gale_bolt_ops),
        .name = "log bolt",
        .kind = GALE_BOLT_SIMPLE,
        .prepare = writer_prepare,
        .execute = log_tuple,
        .cleanup = writer_cleanup,
        .durable = &gale_stateless,
    };
    if (!ret_bolt) return gx_define_nowhere("log bolt", error);
    *ret_bolt = gx_define_bolt(&ops, NULL, NULL, 0);
    return 0;
}

/* --- A tuple for a function, and for nobody ----------------------------------------------------------------------- */

typedef struct callback {
    int (*on_tuple)(void *user, const gale_tuple *tuple);
    void *user;
} callback;

static int call_back(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    const callback *to = self;
    int rc = to->on_tuple(to->user, tuple);
    return rc > 0 ? GALE_COMPONENT : rc; /* only 0 is success: a positive number is no code of the table */
}

int gale_callback_bolt(int (*on_tuple)(void *user, const gale_tuple *tuple), void *user, gale_bolt *ret_bolt,
                       gale_error *error) {
    static const gale_bolt_ops ops = {
        .size = sizeof(gale_bolt_ops),
        .name = "callback bolt",
        .kind = GALE_BOLT_SIMPLE,
        .execute = call_back,
        .durable = &gale_stateless,
    };
    if (!ret_bolt) return gx_define_nowhere("callback bolt", error);
    if (!on_tuple) return gale_error_set(error, GALE_INVALID, "callback bolt: on_tuple is NULL");
    callback to = { on_tuple, user };
    void *copy = gx_define_user(&to, sizeof to, "callback bolt", error);
    if (!copy) return GALE_NO_MEMORY;
    *ret_bolt = gx_define_bolt(&ops, copy, NULL, 0);
    return 0;
}

static int do_nothing(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)tuple, (void)out;
    return 0;
}

int gale_null_bolt(gale_bolt *ret_bolt, gale_error *error) {
    static const gale_bolt_ops ops = {
        .size = sizeof(gale_bolt_ops),
        .name = "null bolt",
        .kind = GALE_BOLT_SIMPLE,
        .execute = do_nothing,
        .durable = &gale_stateless,
    };
    if (!ret_bolt) return gx_define_nowhere("null bolt", error);
    *ret_bolt = gx_define_bolt(&ops, NULL, NULL, 0);
    return 0;
}
