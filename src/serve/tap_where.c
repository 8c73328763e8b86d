#include "serve/tap_where.h"

#if GALE_HAS_SCRIPT
#include "script/expression.h"

#include <stdlib.h>

struct gx_tap_where {
    gx_heap heap;
    gx_box *box;
    char *text;
    gx_expression *expressions; /* by stream; one without a box is none */
    uint32_t count;
};

static int compile(gx_tap_where *where, const gx_tap_shape *shape, gale_error *error) {
    gale_error first = GALE_ERROR_INIT, told = GALE_ERROR_INIT;
    int rc = GALE_OK;
    uint32_t compiled = 0;
    for (; where->count < shape->stream_count && rc != GALE_NO_MEMORY; where->count++) {
        const gx_tap_stream *stream = &shape->streams[where->count];
        gx_expression *one = &where->expressions[where->count];
        rc = gx_expression_compile(one, &where->heap, where->box, gx_str(where->text), "where", stream->field_names,
                                   stream->field_count, where->count ? &told : &first);
        if (rc < 0) one->box = NULL;
        compiled += rc >= 0;
    }
    if (rc == GALE_NO_MEMORY) return gale_error_set(error, rc, "out of memory");
    return compiled ? GALE_OK : gale_error_set(error, first.code, "%s", first.text);
}

int gx_tap_where_new(const gx_tap_shape *shape, gale_str text, gx_tap_where **ret_where, gale_error *error) {
    const gx_box_limits limits = { .work = GX_TAP_WHERE_WORK };
    gx_tap_where *where = calloc(1, sizeof *where);
    int rc = GALE_NO_MEMORY;
    if (!where) return gale_error_set(error, rc, "out of memory");
    gx_heap_init(&where->heap, NULL);
    where->text = strndup(text.data, text.size);
    where->expressions = calloc(shape->stream_count, sizeof *where->expressions);
    if (where->text && where->expressions)
        rc = gx_box_new(&where->heap, &limits, &where->box, error);
    else
        gale_error_set(error, rc, "out of memory");
    if (rc >= 0) rc = compile(where, shape, error);
    if (rc >= 0) return *ret_where = where, rc;
    gx_tap_where_free(where);
    return rc;
}

void gx_tap_where_free(gx_tap_where *where) {
    if (!where) return;
    gx_box_free(where->box);
    free(where->expressions);
    free(where->text);
    free(where);
}

int gx_tap_where_takes(gx_tap_where *where, const gx_tap_tuple *tuple, gale_error *error) {
    gx_expression *expression = &where->expressions[tuple->stream];
    gale_value values[GX_EXPRESSION_NAMES], is;
    if (!expression->box) return 0;
    gx_box_begin(where->box);
    for (uint32_t i = 0; i < expression->name_count; i++) values[i] = gale_body_value(gx_tap_tuple_body(tuple), i);
    int rc = gx_expression_run(expression, values, &is, error);
    return rc < 0 ? rc : gx_expression_is_true(&is);
}

#else

int gx_tap_where_new(const gx_tap_shape *shape, gale_str text, gx_tap_where **ret_where, gale_error *error) {
    (void)shape, (void)text, (void)ret_where;
    return gale_error_set(error, GALE_UNSUPPORTED, "this gale was built without expressions: there is no where");
}

void gx_tap_where_free(gx_tap_where *where) {
    (void)where;
}

int gx_tap_where_takes(gx_tap_where *where, const gx_tap_tuple *tuple, gale_error *error) {
    (void)where, (void)tuple, (void)error;
    return 1;
}

#endif
