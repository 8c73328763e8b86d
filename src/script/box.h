/* A box in which pieces of Lua 5.4 that users wrote run: nothing of the machine can be reached from inside, and each call
 * has a bound on its work and on its memory that holds inside library functions, too.
 *
 * What is left out: io, os, package, debug, coroutine; load, dofile, require, collectgarbage, setmetatable, getmetatable,
 * the raw functions, next, pcall, print, math.random, string.dump, string.pack, table.move. What there is cannot be changed, and
 * nothing is kept from one call to the next: a name that is not local cannot be assigned to. Precompiled code is refused.
 *
 * Work is counted in units of about ten nanoseconds (script/budget.h). A call that has used up its work or its memory ends with an
 * error, which cannot be caught inside.
 *
 * Threads: one at a time. Owner: who made it; memory comes from the heap. */
#ifndef GX_SCRIPT_BOX_H
#define GX_SCRIPT_BOX_H

#include "base/alloc.h"
#include "base/buf.h"

#include <gale/clock.h>
#include <gale/component.h>
#include <gale/value.h>
#include <lua.h>

enum {
    GX_BOX_WORK = 3000000,
    GX_BOX_MEMORY = 1 << 20,
    GX_BOX_MEMORY_MAX = 1 << 28,
    GX_BOX_RESULTS = 200 /* calls after one gx_box_begin */
};

typedef struct gx_box gx_box;

typedef struct gx_box_limits {
    uint64_t work;   /* units; 0: GX_BOX_WORK */
    uint64_t memory; /* bytes beside what the empty box takes; 0: GX_BOX_MEMORY; at most GX_BOX_MEMORY_MAX */
} gx_box_limits;

/* GALE_NO_MEMORY; GALE_INVALID for a limit out of range. */
int gx_box_new(gx_heap *heap, const gx_box_limits *limits, gx_box **ret_box, gale_error *error);
void gx_box_free(gx_box *box); /* NULL is allowed */

/* Compiles an expression, or a block with `return`, in which `names`, "a,b", are the values that a call
 * gives it. GALE_SYNTAX: no
 * Lua; the report begins with `what` and the line in the text. GALE_NO_MEMORY. */
int gx_box_compile(gx_box *box, gale_str text, const char *what, gale_str names, int *ret_function, gale_error *error);

/* All names of the library, "split string string.find ", in no order. Borrowed. */
gale_str gx_box_names(const gx_box *box);

/* Is it a name of the library's? */
bool gx_box_knows(const gx_box *box, gale_str name);

/* Is it a table of the library's, as `string` is? */
bool gx_box_is_table(const gx_box *box, gale_str name);

/* Begins anew: all bounds are whole, and what calls returned is gone. */
void gx_box_begin(gx_box *box);

/* Calls it with as many values as it has names. What it returns (nothing is null) is borrowed until gx_box_begin. GALE_TYPE:
 * Lua says what is wrong, or it returned what is no value; GALE_TOO_LARGE: a bound was reached; GALE_NO_MEMORY of the heap.
 * The report begins with what the text was called. */
int gx_box_call(gx_box *box, int function, const gale_value *values, uint32_t count, gale_value *ret_value,
                gale_error *error);

/* Bytes that the box takes now. */
size_t gx_box_bytes(const gx_box *box);

/* Units of work that are left until gx_box_begin. */
uint64_t gx_box_left(const gx_box *box);

/* From now on CPU time is not charged: for tests of the count. */
void gx_box_count_alone(gx_box *box);

/* --- For the library, inside a call -------------------------------------------------------------------------------- */

/* The box that a function runs in. */
gx_box *gx_box_of(lua_State *lua);

/* Raises Lua's error when the call has no more. */
void gx_box_charge(lua_State *lua, uint64_t work);

/* Charges for going through a table, whose room may be larger than what is in it: as much as the call's largest is. */
void gx_box_charge_walk(lua_State *lua);

/* Of the call's bound on memory, as a bound for what a function takes elsewhere. */
size_t gx_box_room(const gx_box *box);

/* For the time functions: nanoseconds since 1970, of the machine's clock unless another was set. */
void gx_box_set_clock(gx_box *box, const gale_clock *clock);
int64_t gx_box_now(const gx_box *box);

/* For the metrics: that of the task whose box it is, for as long as the task lives. NULL until it is set: nothing is noted. */
void gx_box_set_collector(gx_box *box, gale_collector *out);
gale_collector *gx_box_collector(const gx_box *box);

#endif
