/* The simplest expressions without Lua: fields, constants, comparisons, arithmetic, and, or, not. What it answers is what Lua
 * 5.4 would; where that would take more than numbers, truth and the comparing of text by byte (text that says a number, an
 * error, numbers that do not fit), it answers nothing and leaves the expression to Lua.
 *
 * Compiled to code for a machine with a stack, after Pratt ("Top down operator precedence", 1973) with Lua's precedences.
 * Threads: frozen once compiled, but for `defers_unlike`. Owner: a value; text is borrowed from the expression. */
#ifndef GX_SCRIPT_QUICK_H
#define GX_SCRIPT_QUICK_H

#include "script/token.h"

#include <gale/value.h>

enum { GX_QUICK_CODE = 48, GX_QUICK_STACK = 12 };

typedef struct gx_quick_step {
    uint8_t op;
    uint8_t to;       /* of jumps */
    uint16_t name;    /* its place */
    gale_value value; /* a constant */
} gx_quick_step;

typedef struct gx_quick {
    uint32_t count;
    bool defers_unlike; /* `==` and `~=` of a number and a text, say, are left to Lua's side, which reports it */
    gx_quick_step code[GX_QUICK_CODE];
} gx_quick;

/* False: it is more than this knows, or no expression; Lua decides. Names that are not among `names` are Lua's, too. */
bool gx_quick_compile(gx_quick *made, gale_str text, const gale_str *names, uint32_t name_count);

/* False: Lua must say. `values` in the order of the names. */
bool gx_quick_run(const gx_quick *quick, const gale_value *values, gale_value *ret_value);

#endif
