/* A value computed from a tuple's fields: an expression of Lua 5.4, or a block that returns. What compares, calculates and names
 * fields alone is run by `quick`, all else, and what quick leaves to Lua, in a box.
 *
 * A name in it is a field, a function of the library, or what it makes local. Fields whose names are none of Lua's, and all of
 * them: row["user-agent"].
 * Threads: one at a time. Owner: who made it; the box is borrowed and shared with others of the same task. */
#ifndef GX_SCRIPT_EXPRESSION_H
#define GX_SCRIPT_EXPRESSION_H

#include "script/box.h"
#include "script/quick.h"

enum { GX_EXPRESSION_NAMES = 66, GX_EXPRESSION_TEXT = 65536, GX_EXPRESSION_EQUATIONS = 8 };

/* `==` or `~=` between a field and a constant. One that is never true, or always, is reported when it is seen first. */
typedef struct gx_equation {
    uint16_t place; /* of the field's name */
    bool is_unequal;
    int32_t type; /* of the constant: GALE_TYPE_STRING, _I64 for any number, _BOOL */
    gale_str constant;
} gx_equation;

typedef struct gx_expression {
    gx_heap *heap; /* for reports */
    gx_box *box;
    const char *what; /* how reports call it; borrowed */
    gale_str text;    /* borrowed */
    uint32_t count;   /* names that it uses */
    uint32_t uses[GX_EXPRESSION_NAMES];
    const gale_str *names; /* all there are; borrowed */
    uint32_t name_count;
    bool row;                /* it uses all of them */
    uint32_t equation_count; /* that were not reported; those beyond the bound never are */
    gx_equation equations[GX_EXPRESSION_EQUATIONS];
    bool is_quick;
    gx_quick quick;
    int function; /* in the box */
} gx_expression;

/* `names` are what it may use. GALE_SYNTAX: no Lua, or a name that is not there, with what:line:column; GALE_TOO_LARGE: longer
 * than GX_EXPRESSION_TEXT, or more names than GX_EXPRESSION_NAMES; GALE_NO_MEMORY. Texts and names must outlive it. */
int gx_expression_compile(gx_expression *made, gx_heap *heap, gx_box *box, gale_str text, const char *what,
                          const gale_str *names, uint32_t name_count, gale_error *error);

/* `values` stand in the order of the names; those that it does not use need not be set, unless `row`. What comes back is borrowed
 * until gx_box_begin, or from the values. As gx_box_call; the report names the values. A number that
 * is compared with a text by `==` is reported to the box's collector, once. */
int gx_expression_run(gx_expression *expression, const gale_value *values, gale_value *ret_value, gale_error *error);

/* What Lua takes as true: all but null and false. */
GX_INLINE bool gx_expression_is_true(const gale_value *value) {
    return value->type != GALE_TYPE_NULL && (value->type != GALE_TYPE_BOOL || value->as.boolean);
}

#endif
