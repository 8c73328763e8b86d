/* The budget of a call in a box: work in units of about ten nanoseconds, memory in bytes, and CPU time as a net below
 * the count.
 *
 * Charged are instructions of Lua's machine, allocations, and each function of the library for its operands. An
 * instruction may compare the longest text, and it may copy all of Lua's stack (`...`, several results), so both
 * raise the price of an instruction. The price of some instructions cannot be known in advance: a remainder of
 * floats, text as a number, a lookup among colliding keys. If a call computes for more than GX_BUDGET_NANOSECONDS a
 * unit, the CPU time that is missing in the count is charged as well.
 * Threads: as the box. Owner: the box; memory comes from the heap. */
#ifndef GX_SCRIPT_BUDGET_H
#define GX_SCRIPT_BUDGET_H

#include "base/alloc.h"

enum {
    GX_BUDGET_NANOSECONDS = 100, /* CPU time of a unit, at most */
    GX_BUDGET_INSTRUCTIONS = 100 /* after so many the machine charges */
};

typedef struct gx_budget {
    gx_heap *heap;
    uint64_t work;                /* of a call */
    int64_t left;                 /* of the work; below 0: the call ends */
    size_t used;                  /* bytes */
    size_t most;                  /* bytes that may be used; SIZE_MAX: any number */
    size_t longest;               /* text since gx_budget_begin */
    size_t largest;               /* block of anything else */
    size_t written;               /* the longest piece of Lua that was compiled: its texts are there in every call */
    size_t stack;                 /* slots of Lua's stack */
    size_t stack_most;            /* slots since the machine charged last */
    bool out;                     /* the heap gave nothing since gx_budget_begin */
    struct gx_budget_block *last; /* made that is no object of Lua's; NULL: it is gone */
    bool finds_stack;             /* Lua has been asked for a larger stack */
    bool count_alone;             /* CPU time is not charged: for tests of the count */
    int64_t looked_at;            /* when the machine charged last, monotonic; 0: not since gx_budget_begin */
    int64_t looked_left;          /* work that was left then */
    int64_t slow_cpu;             /* CPU time at the first look that was late; -1: there was none */
    int64_t slow_left;            /* work that was left then */
} gx_budget;

/* Lua's allocator (lua_Alloc); `user` is the budget. */
void *gx_budget_allocate(void *user, void *at, size_t known, size_t size);

/* All work is there again. */
void gx_budget_begin(gx_budget *budget);

/* False: nothing is left. */
bool gx_budget_charge(gx_budget *budget, uint64_t work);

/* Charges for GX_BUDGET_INSTRUCTIONS of Lua's machine. False: nothing is left. */
bool gx_budget_charge_instructions(gx_budget *budget);

/* The work of going through a table, whose room may be larger than its entries. */
uint64_t gx_budget_walk(const gx_budget *budget);

#endif
