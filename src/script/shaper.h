/* What bolts made of expressions share: fields that come in, expressions over them, what goes out.
 *
 * A shaper's values are those of its fields, then, each where its expression is, what was computed. Only fields that something
 * uses are read from a tuple.
 * Threads: settings are frozen; a shaper belongs to its task. Owner: settings are one block that the definition frees. */
#ifndef GX_SCRIPT_SHAPER_H
#define GX_SCRIPT_SHAPER_H

#include "kit/fields.h"
#include "script/expression.h"

#include <gale_script.h>

enum {
    GX_SHAPER_EXPRESSIONS = GALE_SCRIPT_EXPRESSIONS_MAX,
    GX_SHAPER_FIELDS = GX_FIELDS_MAX,
    GX_SHAPER_VALUES = GX_SHAPER_FIELDS + GX_SHAPER_EXPRESSIONS
};

static_assert(GX_FIELDS_MAX == (int)GALE_SCRIPT_FIELDS_MAX && GX_SHAPER_VALUES <= (int)GX_EXPRESSION_NAMES,
              "all can be used");

/* An expression as it was given: `what` is how reports call it, `name` what later ones may call its value ("": nothing). */
typedef struct gx_shaper_given {
    const char *what, *name, *text;
} gx_shaper_given;

typedef struct gx_shaper_settings {
    const char *who;
    gx_fields fields;
    gx_box_limits limits;
    uint32_t count;
    gx_shaper_given given[GX_SHAPER_EXPRESSIONS];
    uint32_t output_count;
    gale_output outputs[GX_SHAPER_EXPRESSIONS + 1];
    uint32_t width;                  /* values of a tuple that goes out */
    uint16_t from[GX_SHAPER_VALUES]; /* the place of each among the shaper's values */
    bool all;                        /* route: all that are true */
    gx_fields as;                    /* flat map: of an item */
    uint32_t text_count;
    char *texts[6 * GX_SHAPER_EXPRESSIONS];
} gx_shaper_settings;

/* A bolt that is made of options, which all have `fields`, `work` and `memory`. */
typedef struct gx_shaper_kind {
    const char *who; /* "filter" */
    const gale_bolt_ops *ops;
    size_t size, fields, work, memory; /* of its options, and where they have these */
    int (*make)(gx_shaper_settings *settings, const void *options, gale_error *error); /* what is its own */
} gx_shaper_kind;

#define GX_SHAPER_KIND(who_, options_, ops_, make_)                                                                    \
    {                                                                                                                  \
        .who = (who_), .ops = (ops_), .size = sizeof(options_), .fields = offsetof(options_, fields),                  \
        .work = offsetof(options_, work), .memory = offsetof(options_, memory), .make = (make_)                        \
    }

/* Takes the options, makes the settings and the definition, which owns them, and compiles everything once, so that what is wrong is
 * known here. On an error nothing is left. */
int gx_shaper_bolt(const gx_shaper_kind *kind, const void *options, gale_bolt *ret_bolt, gale_error *error);

/* A copy of the text that lives as long as the settings; NULL when memory is out. */
const char *gx_shaper_keep(gx_shaper_settings *settings, const char *text);

/* Adds an expression. Reports call it "WHO: KIND" or, when it has a name, "WHO: KIND NAME". GALE_INVALID: there is none;
 * GALE_TOO_LARGE: too many. */
int gx_shaper_add(gx_shaper_settings *settings, const char *kind, const char *name, const char *text,
                  gale_error *error);

/* What goes out is all that comes in. */
void gx_shaper_pass(gx_shaper_settings *settings);

/* Adds a stream on which `names` go out. */
int gx_shaper_output(gx_shaper_settings *settings, const char *stream, const char *names, gale_error *error);

/* The place of a field; -1: none, with a report that calls the list `what`. */
int32_t gx_shaper_place(const gx_shaper_settings *settings, const char *what, gale_str name, gale_error *error);

/* A tuple whose items are emitted in parts (script/flat_map.c). */
typedef struct gx_shaper_part {
    uint32_t next;         /* item; 0: there is no such tuple */
    uint64_t print;        /* of the tuple */
    const gale_body *body; /* that the items were made of; NULL: they are to be made again */
    gale_value items;
} gx_shaper_part;

typedef struct gx_shaper {
    gx_instance instance;
    const gx_shaper_settings *given;
    gx_box *box;
    gx_field_places places;
    uint32_t used; /* fields that expressions use */
    uint8_t use[GX_SHAPER_FIELDS];
    gale_str names[GX_SHAPER_VALUES];
    gale_value values[GX_SHAPER_VALUES];
    gx_expression expressions[GX_SHAPER_EXPRESSIONS];
    gx_shaper_part part;
    bool untaken[GX_SHAPER_EXPRESSIONS + 1]; /* of each output: it was logged that nobody subscribes to it */
} gx_shaper;

int gx_shaper_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self);
void gx_shaper_cleanup(void *self);

/* Begins a tuple: its fields are found, those that expressions use are read. GALE_FIELDS with a report. */
int gx_shaper_take(gx_shaper *shaper, const gale_tuple *tuple, gale_collector *out);

/* Runs an expression; its value is also that of its name. Reports what is wrong. */
int gx_shaper_run(gx_shaper *shaper, uint32_t index, gale_collector *out, gale_value *ret_value);

/* Emits what goes out to a stream: values of the fields, and what was computed. `more` stand behind them. */
int gx_shaper_emit(gx_shaper *shaper, uint32_t stream, const gale_tuple *tuple, gale_collector *out,
                   const gale_value *more, uint32_t more_count);

#endif
