/* A regular expression of PCRE2 that a bolt has, outside of any box. A pattern is UTF-8 where the text is, else
 * bytes. It is compiled to the machine's code where PCRE2 can; a search takes GX_STEPS_WORK at most (script/steps.h)
 * and a mebibyte.
 * Threads: a pattern is frozen, and any thread's; a matcher belongs to its task. Owner: who made it. */
#ifndef GX_SCRIPT_MATCHER_H
#define GX_SCRIPT_MATCHER_H

#include "base/alloc.h"
#include "base/str.h"

typedef struct gx_pattern gx_pattern;
typedef struct gx_matcher gx_matcher;

/* `what` is how a report calls it, "join lines: start". GALE_SYNTAX with the byte at which it is wrong;
 * GALE_TOO_LARGE beyond GX_STEPS_PATTERN or GX_STEPS_GROUPS; GALE_NO_MEMORY. */
int gx_pattern_new(const char *text, const char *what, gx_pattern **ret_pattern, gale_error *error);
void gx_pattern_free(gx_pattern *pattern); /* NULL is allowed */

/* How many groups there are, and the name of group `group`, from 1; an empty one has none. Borrowed. */
uint32_t gx_pattern_groups(const gx_pattern *pattern);
gale_str gx_pattern_name(const gx_pattern *pattern, uint32_t group);

/* NULL when memory is out. */
gx_matcher *gx_matcher_new(gx_heap *heap, const gx_pattern *pattern);
void gx_matcher_free(gx_matcher *matcher); /* NULL is allowed */

/* Is it in the text? 1, 0; GALE_TOO_LARGE: it took more than its bounds; GALE_NO_MEMORY. */
int gx_matcher_find(gx_matcher *matcher, gale_str text, bool is_utf8);

/* A group of what was found, as a piece of that text; `.data` NULL: it took no part. 0 is the whole. */
gale_str gx_matcher_group(const gx_matcher *matcher, uint32_t group);

/* Work of the last search, in units. */
uint64_t gx_matcher_work(const gx_matcher *matcher);

#endif
