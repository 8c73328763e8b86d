#include "script/shaper.h"

#include "base/assert.h"
#include "tuple/row.h"

#include <gale/state.h>
#include <stdio.h>
#include <stdlib.h>

/* --- Settings --- */

static int settings_new(const gx_shaper_kind *kind, const void *options, gx_shaper_settings **ret_settings,
                        gale_error *error) {
    const char *at = options;
    char what[80];
    snprintf(what, sizeof what, "%s: fields", kind->who);
    gx_shaper_settings *made = calloc(1, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", kind->who);
    const char *fields;
    memcpy(&fields, at + kind->fields, sizeof fields);
    made->who = kind->who;
    memcpy(&made->limits.work, at + kind->work, sizeof made->limits.work);
    memcpy(&made->limits.memory, at + kind->memory, sizeof made->limits.memory);
    *ret_settings = made;
    return gx_fields_parse(fields, what, &made->fields, error);
}

static void settings_free(void *settings) {
    gx_shaper_settings *given = settings;
    if (!given) return;
    for (uint32_t i = 0; i < given->text_count; i++) free(given->texts[i]);
    free(given);
}

const char *gx_shaper_keep(gx_shaper_settings *settings, const char *text) {
    if (settings->text_count == sizeof settings->texts / sizeof *settings->texts) return NULL;
    char *kept = strdup(text);
    if (kept) settings->texts[settings->text_count++] = kept;
    return kept;
}

int gx_shaper_add(gx_shaper_settings *settings, const char *kind, const char *name, const char *text,
                  gale_error *error) {
    char what[200];
    snprintf(what, sizeof what, "%s: %s%s%s", settings->who, kind, *name ? " " : "", name);
    if (!text) return gale_error_set(error, GALE_INVALID, "%s is not given", what);
    if (settings->count == GX_SHAPER_EXPRESSIONS)
        return gale_error_set(error, GALE_TOO_LARGE, "%s: more than %d expressions", settings->who,
                              GX_SHAPER_EXPRESSIONS);
    gx_shaper_given *made = &settings->given[settings->count];
    made->what = gx_shaper_keep(settings, what);
    made->name = gx_shaper_keep(settings, name);
    made->text = gx_shaper_keep(settings, text);
    if (!made->what || !made->name || !made->text)
        return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", settings->who);
    settings->count++;
    return GALE_OK;
}

void gx_shaper_pass(gx_shaper_settings *settings) {
    settings->width = settings->fields.count;
    for (uint32_t i = 0; i < settings->fields.count; i++) settings->from[i] = (uint16_t)i;
}

int gx_shaper_output(gx_shaper_settings *settings, const char *stream, const char *names, gale_error *error) {
    const char *kept = stream ? gx_shaper_keep(settings, stream) : NULL, *fields = gx_shaper_keep(settings, names);
    if ((stream && !kept) || !fields) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", settings->who);
    settings->outputs[settings->output_count++] = (gale_output){ kept, fields };
    return GALE_OK;
}

int32_t gx_shaper_place(const gx_shaper_settings *settings, const char *what, gale_str name, gale_error *error) {
    char whole[100];
    snprintf(whole, sizeof whole, "%s: %s", settings->who, what);
    return gx_fields_place(&settings->fields, whole, name, error);
}

/* --- Expressions --- */

static void set_names(const gx_shaper_settings *settings, gale_str *names) {
    for (uint32_t i = 0; i < settings->fields.count; i++) names[i] = gx_fields_name(&settings->fields, i);
    for (uint32_t i = 0; i < settings->count; i++) names[settings->fields.count + i] = gx_str(settings->given[i].name);
}

static int compile(const gx_shaper_settings *settings, gx_heap *heap, gx_box *box, const gale_str *names,
                   uint32_t index, gx_expression *made, gale_error *error) {
    const gx_shaper_given *given = &settings->given[index];
    return gx_expression_compile(made, heap, box, gx_str(given->text), given->what, names,
                                 settings->fields.count + index, error);
}

/* Compiles everything once, so that what is wrong is known where it is defined. */
static int check(const gx_shaper_settings *settings, gale_error *error) {
    gx_heap heap;
    gx_box *box = NULL;
    gx_expression made;
    gale_str names[GX_SHAPER_VALUES];
    gx_heap_init(&heap, NULL);
    set_names(settings, names);
    int rc = gx_box_new(&heap, &settings->limits, &box, error);
    if (rc == GALE_INVALID) gale_error_add(error, "  of the %s", settings->who);
    for (uint32_t i = 0; i < settings->count && rc >= 0; i++)
        rc = compile(settings, &heap, box, names, i, &made, error);
    gx_box_free(box);
    return rc;
}

int gx_shaper_bolt(const gx_shaper_kind *kind, const void *options, gale_bolt *ret_bolt, gale_error *error) {
    enum { OPTIONS = 256 };
    _Alignas(max_align_t) char given[OPTIONS];
    gx_shaper_settings *settings = NULL;
    gale_error own = GALE_ERROR_INIT;
    char what[80];
    if (!error) error = &own;
    if (!ret_bolt) return gx_define_nowhere(kind->who, error);
    GX_ASSERT(kind->size <= sizeof given);
    snprintf(what, sizeof what, "%s: options", kind->who);
    int rc = gx_options_take(given, kind->size, options, what, error);
    if (rc >= 0) rc = settings_new(kind, given, &settings, error);
    if (rc >= 0) rc = kind->make(settings, given, error);
    if (rc >= 0) rc = check(settings, error);
    if (rc < 0) {
        settings_free(settings);
        return rc;
    }
    *ret_bolt = gx_define_bolt(kind->ops, settings, settings->outputs, settings->output_count);
    ret_bolt->free_user = settings_free;
    return GALE_OK;
}

/* --- A task's life --- */

void gx_shaper_cleanup(void *self) {
    gx_shaper *shaper = self;
    gx_box_free(shaper->box);
    gx_define_instance_free(shaper);
}

static void note_use(gx_shaper *shaper, const gx_expression *expression) {
    uint32_t fields = shaper->given->fields.count;
    for (uint32_t i = 0; i < fields; i++) {
        bool uses = expression->row, noted = false;
        for (uint32_t k = 0; k < expression->count && !uses; k++) uses = expression->uses[k] == i;
        for (uint32_t k = 0; k < shaper->used && !noted; k++) noted = shaper->use[k] == i;
        if (uses && !noted) shaper->use[shaper->used++] = (uint8_t)i;
    }
}

static int furnish(gx_shaper *shaper, gale_error *error) {
    const gx_shaper_settings *given = shaper->given;
    int rc = gx_box_new(&shaper->instance.heap, &given->limits, &shaper->box, error);
    set_names(given, shaper->names);
    for (uint32_t i = 0; i < given->count && rc >= 0; i++) {
        rc = compile(given, &shaper->instance.heap, shaper->box, shaper->names, i, &shaper->expressions[i], error);
        if (rc >= 0) note_use(shaper, &shaper->expressions[i]);
    }
    return rc;
}

int gx_shaper_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    gx_shaper *shaper = gx_define_instance(context, sizeof *shaper);
    if (!shaper) return GALE_NO_MEMORY;
    shaper->given = user;
    int rc = furnish(shaper, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        gx_shaper_cleanup(shaper);
        return rc;
    }
    gx_box_set_collector(shaper->box, out);
    *ret_self = shaper;
    return GALE_OK;
}

/* --- A tuple --- */

int gx_shaper_take(gx_shaper *shaper, const gale_tuple *tuple, gale_collector *out) {
    int rc = gx_fields_find(&shaper->given->fields, &shaper->places, shaper->given->who, tuple, out);
    if (rc < 0) return rc;
    gx_box_begin(shaper->box);
    for (uint32_t i = 0; i < shaper->used; i++) {
        uint32_t field = shaper->use[i];
        shaper->values[field] = gale_tuple_value(tuple, shaper->places.at[field]);
    }
    return GALE_OK;
}

int gx_shaper_run(gx_shaper *shaper, uint32_t index, gale_collector *out, gale_value *ret_value) {
    const gx_expression *expression = &shaper->expressions[index];
    gale_value *value = &shaper->values[shaper->given->fields.count + index];
    *value = gale_null();
    if (GX_LIKELY(expression->is_quick) && gx_quick_run(&expression->quick, shaper->values, ret_value)) {
        *value = *ret_value;
        return GALE_OK;
    }
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_expression_run(&shaper->expressions[index], shaper->values, ret_value, &error);
    if (rc < 0)
        gale_report(out, error.text);
    else
        *value = *ret_value;
    return rc;
}

/* Of several streams, one that nobody subscribes to may be an oversight. */
static void note_untaken(gx_shaper *shaper, uint32_t stream) {
    const gale_context *context = shaper->instance.context;
    if (shaper->given->output_count < 2 || shaper->untaken[stream]) return;
    shaper->untaken[stream] = true;
    const char *name = shaper->given->outputs[stream].stream;
    gale_log(context->logger, GALE_LOG_INFO, context->component,
             "nobody subscribes to the stream '%s': its tuples go nowhere", name ? name : "default");
}

int gx_shaper_emit(gx_shaper *shaper, uint32_t stream, const gale_tuple *tuple, gale_collector *out,
                   const gale_value *more, uint32_t more_count) {
    const gx_shaper_settings *given = shaper->given;
    gale_value values[GX_SHAPER_VALUES + GX_FIELDS_MAX];
    for (uint32_t i = 0; i < given->width; i++) {
        uint32_t from = given->from[i];
        values[i] = from < given->fields.count ? gale_tuple_value(tuple, shaper->places.at[from])
                                               : shaper->values[from];
    }
    for (uint32_t i = 0; i < more_count; i++) values[given->width + i] = more[i];
    int rc = gale_emit(out, stream, values, given->width + more_count);
    if (GX_UNLIKELY(rc == 0)) note_untaken(shaper, stream);
    return rc < 0 ? rc : GALE_OK;
}
