/* Which rows a window tells: gale_window_having. Each task has a box of its own, as bolts made of expressions do. */
#include "kit/window_spec.h"
#include "script/expression.h"

#include <gale_script.h>
#include <stdlib.h>

static const char what[] = "window: having";

typedef struct settings {
    gx_box_limits limits;
    gx_fields key;
    gx_window_spec spec;
    uint32_t count;
    gale_str names[GX_EXPRESSION_NAMES]; /* of the row's fields */
    char row[GX_WINDOW_FIELDS_TEXT];
    gale_str text;
    char room[];
} settings;

typedef struct having {
    gx_heap heap;
    const settings *given;
    gx_box *box;
    gx_expression expression;
} having;

static int furnish(having *self, gale_error *error) {
    const settings *given = self->given;
    int rc = gx_box_new(&self->heap, &given->limits, &self->box, error);
    if (rc == GALE_INVALID) gale_error_add(error, "  of the window's having");
    if (rc < 0) return rc;
    return gx_expression_compile(&self->expression, &self->heap, self->box, given->text, what, given->names,
                                 given->count, error);
}

static void having_close(void *user) {
    having *self = user;
    gx_heap heap;
    gx_box_free(self->box);
    gx_heap_init(&heap, &self->heap.allocator);
    gx_free(&heap, GX_TAG_OTHER, self, sizeof *self);
}

static int having_open(void *user, const gale_context *context, void **ret_self, gale_error *error) {
    gx_heap heap;
    gx_heap_init(&heap, context ? context->allocator : NULL);
    having *self = gx_alloc(&heap, GX_TAG_OTHER, sizeof *self);
    if (!self) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", what);
    gx_heap_init(&self->heap, context ? context->allocator : NULL);
    self->given = user;
    int rc = furnish(self, error);
    if (rc < 0)
        having_close(self);
    else
        *ret_self = self;
    return rc;
}

static void having_begin(void *user, gale_collector *out) {
    having *self = user;
    gx_box_set_collector(self->box, out);
}

static int having_ask(void *user, const gale_value *row, size_t count, gale_error *error) {
    having *self = user;
    gale_value is;
    if (count != self->given->count) return GALE_FIELDS;
    gx_box_begin(self->box);
    int rc = gx_expression_run(&self->expression, row, &is, error);
    return rc < 0 ? rc : gx_expression_is_true(&is);
}

/* --- The definition --- */

static_assert(GX_FIELDS_MAX + 2 + GX_WINDOW_AGGREGATES <= (int)GX_EXPRESSION_NAMES, "all of a row can be used");

static void name_row(settings *made) {
    gale_str rest = gx_str(made->row), name;
    while (gx_str_next(&rest, ',', &name)) made->names[made->count++] = name;
}

static int make(settings *made, const gale_having_options *given, const gale_window_options *window,
                gale_error *error) {
    void *self = NULL;
    made->limits = (gx_box_limits){ given->work, given->memory };
    made->text = (gale_str){ made->room, strlen(given->expression) };
    memcpy(made->room, given->expression, made->text.size);
    int rc = gx_window_row_of(window->key, window->aggregates, &made->key, &made->spec, made->row, error);
    if (rc < 0) return rc;
    name_row(made);
    rc = having_open(made, NULL, &self, error); /* so that what is wrong is known here */
    if (rc >= 0) having_close(self);
    return rc;
}

int gale_window_having(const gale_having_options *options, gale_window_options *window, gale_error *error) {
    gale_having_options given;
    if (!window || window->size < sizeof *window)
        return gale_error_set(error, GALE_INVALID, "%s: there is no window", what);
    int rc = gx_options_take(&given, sizeof given, options, "window: having: options", error);
    if (rc >= 0 && !given.expression) rc = gale_error_set(error, GALE_INVALID, "%s is not given", what);
    if (rc < 0) return rc;
    settings *made = calloc(1, sizeof *made + strlen(given.expression) + 1);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", what);
    rc = make(made, &given, window, error);
    if (rc < 0) {
        free(made);
        return rc;
    }
    window->having = having_ask;
    window->having_open = having_open;
    window->having_close = having_close;
    window->having_begin = having_begin;
    window->having_user = made;
    window->free_having_user = free;
    return GALE_OK;
}
