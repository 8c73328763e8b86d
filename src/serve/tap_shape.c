#include "serve/tap_shape.h"

#include "base/str.h"

#include <stdlib.h>

static bool copy(gx_tap_stream *to, const gx_output *from) {
    to->name = strdup(from->name);
    to->fields = calloc(from->field_count + 1, sizeof *to->fields);
    to->field_names = calloc(from->field_count + 1, sizeof *to->field_names);
    if (!to->name || !to->fields || !to->field_names) return false;
    for (; to->field_count < from->field_count; to->field_count++) {
        char *field = strdup(from->fields[to->field_count]);
        if (!field) return false;
        to->fields[to->field_count] = field;
        to->field_names[to->field_count] = gx_str(field);
    }
    return true;
}

gx_tap_shape *gx_tap_shape_new(const gx_part *part, const char *stream) {
    gx_tap_shape *shape = calloc(1, sizeof *shape);
    if (!shape) return NULL;
    shape->component = strdup(part->name);
    shape->streams = calloc(part->stream_count + 1, sizeof *shape->streams);
    bool whole = shape->component && shape->streams;
    for (uint32_t i = 0; whole && i < part->stream_count; i++) {
        if (stream && strcmp(stream, gx_part_stream(part, i)) != 0) continue;
        whole = copy(&shape->streams[shape->stream_count++], &part->built->outputs[i]);
    }
    if (whole) return shape;
    gx_tap_shape_free(shape);
    return NULL;
}

void gx_tap_shape_free(gx_tap_shape *shape) {
    if (!shape) return;
    for (uint32_t i = 0; i < shape->stream_count; i++) {
        gx_tap_stream *stream = &shape->streams[i];
        for (uint32_t f = 0; f < stream->field_count; f++) free(stream->fields[f]);
        free(stream->fields);
        free(stream->field_names);
        free(stream->name);
    }
    free(shape->streams);
    free(shape->component);
    free(shape);
}

uint32_t gx_tap_shape_find(const gx_tap_shape *shape, const char *stream) {
    uint32_t at = 0;
    while (at < shape->stream_count && strcmp(shape->streams[at].name, stream) != 0) at++;
    return at;
}
