/* Lines of a web server's log to fields: gale_access_log_bolt. */
#include "base/utf8.h"
#include "kit/define.h"
#include "kit/log_line.h"

#include <gale/kit.h>

enum { STREAM_LINES, STREAM_BAD, FIELDS = 8 };

static const char who[] = "access log";

typedef struct parser {
    gx_instance instance;
    uint64_t unheard; /* bad lines that nobody subscribed to */
} parser;

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)out;
    parser *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    *ret_self = bolt;
    return 0;
}

static void bolt_cleanup(void *self) {
    const parser *bolt = self;
    const gale_context *context = bolt->instance.context;
    if (bolt->unheard)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "%llu line%s no line of an access log; who subscribes to the stream 'bad' gets them",
                 (unsigned long long)bolt->unheard, bolt->unheard == 1 ? " was" : "s were");
    gx_define_instance_free(self);
}

/* A piece of a text is text; of bytes it may be. */
static gale_value piece(gale_str part, bool text) {
    if (!part.data) return gale_null();
    if (text || gx_utf8_valid(part.data, part.size)) return gale_string(part.data, part.size);
    return gale_bytes(part.data, part.size);
}

/* Nobody need subscribe to bad lines: then the first is told at once, and how many there were at the end. */
static int emit_bad(parser *bolt, const gale_value *line, const char *problem, gale_collector *out) {
    gale_value values[2] = { *line, gale_text(problem) };
    int rc = gale_emit(out, STREAM_BAD, values, 2);
    if (rc == 0 && bolt->unheard++ == 0) {
        const gale_context *context = bolt->instance.context;
        int shown = line->size < 200 ? (int)line->size : 200;
        bool text = gx_utf8_valid(line->as.string, (size_t)shown);
        gale_log(context->logger, GALE_LOG_WARN, context->component, "no line of an access log, %s: %.*s", problem,
                 text ? shown : 0, line->as.string);
    }
    return rc < 0 ? rc : 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    if (gale_tuple_is_tick(tuple)) return 0;
    if (gale_tuple_size(tuple) < 1) return gx_define_need(out, who, tuple, 1);
    gale_value line = gale_tuple_value(tuple, 0);
    bool text = line.type == GALE_TYPE_STRING;
    if (!text && line.type != GALE_TYPE_BYTES) return gx_define_wrong_type(out, who, tuple, 0, "string or bytes");
    gx_log_line parsed;
    const char *problem;
    if (gx_log_line_parse((gale_str){ line.as.string, line.size }, &parsed, &problem) < 0)
        return emit_bad(self, &line, problem, out);
    const gale_value values[FIELDS] = {
        piece(parsed.host, text), piece(parsed.user, text), gale_i64(parsed.time),       piece(parsed.request, text),
        gale_i64(parsed.status),  gale_i64(parsed.bytes),   piece(parsed.referer, text), piece(parsed.agent, text),
    };
    int rc = gale_emit(out, STREAM_LINES, values, FIELDS);
    return rc < 0 ? rc : 0;
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "access log bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
};

int gale_access_log_bolt(gale_bolt *ret_bolt, gale_error *error) {
    static const gale_output outputs[] = {
        [STREAM_LINES] = { NULL, "host, user, time, request, status, bytes, referer, agent" },
        [STREAM_BAD] = { "bad", "line, problem" },
    };
    if (!ret_bolt) return gx_define_nowhere("access log bolt", error);
    *ret_bolt = gx_define_bolt(&ops, NULL, outputs, 2);
    return 0;
}
