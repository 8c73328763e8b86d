#include "tuple/row.h"

#include "tuple/schema.h"

static const gx_schema_component *sender(const gale_tuple *tuple) {
    if (!tuple || !tuple->head) return NULL;
    const gale_schema *schema = tuple->schema;
    return schema && tuple->source <= schema->task_count ? schema->components[tuple->source] : NULL;
}

static const gx_schema_stream *stream_of(const gale_tuple *tuple) {
    const gx_schema_component *component = sender(tuple);
    if (!component) return NULL;
    return tuple->stream < component->stream_count ? &component->streams[tuple->stream] : NULL;
}

bool gale_tuple_get(const gale_tuple *tuple, const char *name, gale_value *ret_value) {
    const gx_schema_stream *stream = stream_of(tuple);
    uint32_t count = stream && name ? stream->field_count : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(stream->fields[i], name) != 0 || !tuple->body) continue;
        if (ret_value) *ret_value = gale_tuple_value(tuple, i);
        return true;
    }
    return false;
}

const char *gale_tuple_component(const gale_tuple *tuple) {
    const gx_schema_component *component = sender(tuple);
    return component ? component->name : "";
}

uint32_t gale_tuple_task(const gale_tuple *tuple) {
    return tuple && tuple->head ? tuple->source : 0;
}

const char *gale_tuple_stream(const gale_tuple *tuple) {
    const gx_schema_stream *stream = stream_of(tuple);
    return stream ? stream->name : "";
}

const char *gale_tuple_field(const gale_tuple *tuple, size_t index) {
    const gx_schema_stream *stream = stream_of(tuple);
    return stream && index < stream->field_count ? stream->fields[index] : NULL;
}

const void *gx_tuple_fields(const gale_tuple *tuple) {
    const gx_schema_stream *stream = stream_of(tuple);
    return stream ? stream->fields : NULL;
}

bool gale_tuple_is_tick(const gale_tuple *tuple) {
    return tuple && tuple->head && tuple->source == 0 && tuple->stream == GX_STREAM_TICK;
}
