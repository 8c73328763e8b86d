#include "kit/define.h"

#include "base/utf8.h"
#include "tuple/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *gx_define_user(const void *from, size_t size, const char *what, gale_error *error) {
    void *user = malloc(size);
    if (user) return memcpy(user, from, size);
    (void)gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", what);
    return NULL;
}

int gx_define_nowhere(const char *what, gale_error *error) {
    return gale_error_set(error, GALE_INVALID, "%s: there is no place for its definition", what);
}

void gx_define_free(void *user) {
    free(user);
}

gale_spout gx_define_spout(const gale_spout_ops *ops, void *user, const gale_output *outputs, size_t output_count) {
    return (gale_spout){ .size = sizeof(gale_spout),
                         .ops = ops,
                         .user = user,
                         .free_user = user ? gx_define_free : NULL,
                         .outputs = outputs,
                         .output_count = output_count };
}

gale_bolt gx_define_bolt(const gale_bolt_ops *ops, void *user, const gale_output *outputs, size_t output_count) {
    return (gale_bolt){ .size = sizeof(gale_bolt),
                        .ops = ops,
                        .user = user,
                        .free_user = user ? gx_define_free : NULL,
                        .outputs = outputs,
                        .output_count = output_count };
}

gale_setting gx_define_tick(int64_t seconds) {
    return (gale_setting){ .key = "topology.tick.tuple.freq.secs", .value = gale_i64(seconds) };
}

void *gx_define_instance(const gale_context *context, size_t size) {
    gx_heap heap;
    gx_heap_init(&heap, context->allocator);
    gx_instance *instance = gx_alloc(&heap, GX_TAG_OTHER, size);
    if (!instance) return NULL;
    gx_heap_init(&instance->heap, context->allocator);
    instance->context = context;
    instance->size = size;
    return instance;
}

void gx_define_instance_free(void *instance) {
    if (!instance) return;
    gx_heap heap;
    gx_heap_init(&heap, &((gx_instance *)instance)->heap.allocator);
    gx_free(&heap, GX_TAG_OTHER, instance, ((gx_instance *)instance)->size);
}

void gx_define_report(gale_collector *out, const char *format, ...) {
    char text[501];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    gale_report(out, text);
}

int gx_define_need(gale_collector *out, const char *who, const gale_tuple *tuple, size_t needed) {
    gx_define_report(out, "%s: a tuple of component '%s', stream '%s', has %zu value%s, at least %zu needed", who,
                     gale_tuple_component(tuple), gale_tuple_stream(tuple), gale_tuple_size(tuple),
                     gale_tuple_size(tuple) == 1 ? "" : "s", needed);
    return GALE_FIELDS;
}

int gx_define_wrong_type(gale_collector *out, const char *who, const gale_tuple *tuple, size_t index,
                         const char *wanted) {
    enum { SHOWN = 60 };
    const char *field = gale_tuple_field(tuple, index);
    gale_value value = gale_tuple_value(tuple, index);
    gx_buf text = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&text);
    gx_json_value(&json, &value);
    bool is_null = value.type == GALE_TYPE_NULL, whole = text.size <= SHOWN;
    gx_define_report(out, "%s: field '%s' (value %zu) of component '%s' must be %s, is %s%s%.*s%s", who,
                     field ? field : "?", index, gale_tuple_component(tuple), wanted, gale_type_name(value.type),
                     is_null ? "" : " ",
                     (int)(is_null ? 0
                           : whole ? text.size
                                   : gx_utf8_prefix(text.data, SHOWN)),
                     text.data ? text.data : "", whole ? "" : "...");
    gx_buf_fini(&text);
    return GALE_TYPE;
}
