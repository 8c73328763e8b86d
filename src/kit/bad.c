#include "kit/bad.h"

#include "base/utf8.h"
#include "tuple/json.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 200, FILE_SHOWN = 300, PLACED = 1000 }; /* bytes of a text */

static gale_value field_of(const gale_tuple *tuple, const char *name) {
    for (size_t i = 0; i < gale_tuple_size(tuple); i++) {
        const char *field = gale_tuple_field(tuple, i);
        if (field && strcmp(field, name) == 0) return gale_tuple_value(tuple, i);
    }
    return gale_null();
}

/* "app.log:17: problem" */
static const char *with_place(const gale_tuple *tuple, const char *problem, char room[PLACED]) {
    if (!tuple) return problem;
    gale_value file = field_of(tuple, "file"), number = field_of(tuple, "number");
    int shown = file.type != GALE_TYPE_STRING ? 0 : (int)(file.size < FILE_SHOWN ? file.size : FILE_SHOWN);
    if (shown && number.type == GALE_TYPE_I64)
        snprintf(room, PLACED, "%.*s:%lld: %s", shown, file.as.string, (long long)number.as.i64, problem);
    else if (shown)
        snprintf(room, PLACED, "%.*s: %s", shown, file.as.string, problem);
    else if (number.type == GALE_TYPE_I64)
        snprintf(room, PLACED, "line %lld: %s", (long long)number.as.i64, problem);
    else
        return problem;
    room[gx_utf8_prefix(room, strlen(room))] = 0;
    return room;
}

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
                         const gale_tuple *tuple, const gale_value *line, const char *problem,
                         const gale_handle *anchors, size_t count) {
    char room[PLACED];
    problem = with_place(tuple, problem, room);
    const gale_value values[2] = { *line, gale_text(problem) };
    return note(bad, context, line, problem, gale_emit_anchored(out, stream, values, 2, anchors, count));
}

int gx_bad_emit(gx_bad *bad, const gale_context *context, gale_collector *out, uint32_t stream, const gale_tuple *tuple,
                const gale_value *line, const char *problem) {
    char room[PLACED];
    problem = with_place(tuple, problem, room);
    const gale_value values[2] = { *line, gale_text(problem) };
    return note(bad, context, line, problem, gale_emit(out, stream, values, 2));
}

void gx_bad_tell(const gx_bad *bad, const gale_context *context) {
    if (!bad->unheard) return;
    gale_log(context->logger, GALE_LOG_WARN, context->component,
             "%llu line%s no %s; who subscribes to the stream '" GX_BAD_STREAM "' gets them",
             (unsigned long long)bad->unheard, bad->unheard == 1 ? " was" : "s were", bad->what);
}
