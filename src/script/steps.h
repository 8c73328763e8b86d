/* The cost of a search with PCRE2. At each callout a callback counts the step and how far it is from where the last
 * one was, from whatever place in the text the match began. (PCRE2's own limit begins anew at each of them, and
 * knows nothing of how much a repeat ran over.) Patterns are compiled with callouts at places that bound what is
 * between them (script/callouts.h), or with GX_STEPS_OPTIONS: before each item.
 * Threads: a cost is frozen; a count belongs to one search. Owner: values; the pattern's text is borrowed. */
#ifndef GX_SCRIPT_STEPS_H
#define GX_SCRIPT_STEPS_H

#include "base/str.h"
#include "script/callouts.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define GX_STEPS_OPTIONS_PLACED PCRE2_NEVER_BACKSLASH_C
#define GX_STEPS_OPTIONS (PCRE2_AUTO_CALLOUT | GX_STEPS_OPTIONS_PLACED)

enum {
    GX_STEPS_PATTERN = GX_CALLOUTS_PATTERN, /* bytes of a pattern */
    GX_STEPS_NESTED = 100,                  /* groups inside each other */
    GX_STEPS_GROUPS = 100,
    GX_STEPS_WORK = 1000000 /* units of one search */
};

typedef struct gx_steps_cost {
    gale_str pattern;
    uint64_t step; /* parts of a unit that a step takes... */
    uint64_t byte; /* ...and a byte that it went on by */
    bool refers;   /* back to what a group matched */
} gx_steps_cost;

typedef struct gx_steps {
    const gx_steps_cost *of;
    size_t last;    /* where it was */
    uint64_t parts; /* of units that were used */
} gx_steps;

gx_steps_cost gx_steps_cost_of(const pcre2_code *code, gale_str pattern, bool is_utf8);

void gx_steps_begin(gx_steps *steps, const gx_steps_cost *of, size_t from);

/* The callback; `user` is the count. PCRE2_ERROR_MATCHLIMIT when a search has taken GX_STEPS_WORK. */
int gx_steps_count(pcre2_callout_block *step, void *user);

/* The units of the search that has ended, with what pcre2_match returned. */
uint64_t gx_steps_end(gx_steps *steps, int rc, size_t text_size);

#endif
