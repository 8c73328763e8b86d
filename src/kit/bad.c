#include "kit/bad.h"

#include "base/utf8.h"
#include "tuple/json.h"

enum { SHOWN = 200 }; /* bytes of a text */

static void show_text(const gx_bad *bad, const gale_context *context, const gale_value *line, const char *problem) {
    int shown = line->size < SHOWN ? (int)line->size : SHOWN;
    bool text = gx_utf8_valid(line->as.string, (size_t)shown);
    gale_log(context->logger, GALE_LOG_WARN, context->component, "no %s, %s: %.*s", bad->what, problem,
             text ? shown : 0, line->as.string);
}

static void show(const gx_bad *bad, const gale_context *context, const gale_value *line, const char *problem) {
    if (line->type == GALE_TYPE_STRING || line->type == GALE_TYPE_BYTES) {
        show_text(bad, context, line, problem);
        return;
    }
    gx_buf text = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&text);
    gx_json_value(&json, line);
    gale_value shown = gale_string(text.data, text.failed ? 0 : text.size);
    show_text(bad, context, &shown, problem);
    gx_buf_fini(&text);
}

static int note(gx_bad *bad, const gale_context *context, const gale_value *line, const char *problem, int rc) {
    if (rc == 0 && bad->unheard++ == 0) show(bad, context, line, problem);
    return rc < 0 ? rc : 0;
}

int gx_bad_emit_anchored(gx_bad *bad, const gale_context *context, gale_collector *out, uint32_t stream,
                         const gale_value *line, const char *problem, const gale_handle *anchors, size_t count) {
    const gale_value values[2] = { *line, gale_text(problem) };
    return note(bad, context, line, problem, gale_emit_anchored(out, stream, values, 2, anchors, count));
}

int gx_bad_emit(gx_bad *bad, const gale_context *context, gale_collector *out, uint32_t stream, const gale_value *line,
                const char *problem) {
    const gale_value values[2] = { *line, gale_text(problem) };
    return note(bad, context, line, problem, gale_emit(out, stream, values, 2));
}

void gx_bad_tell(const gx_bad *bad, const gale_context *context) {
    if (!bad->unheard) return;
    gale_log(context->logger, GALE_LOG_WARN, context->component,
             "%llu line%s no %s; who subscribes to the stream '" GX_BAD_STREAM "' gets them",
             (unsigned long long)bad->unheard, bad->unheard == 1 ? " was" : "s were", bad->what);
}
