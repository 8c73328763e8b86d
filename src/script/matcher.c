#include "script/matcher.h"

#include "script/steps.h"

#include <stdlib.h>

enum { HEAP_KIB = 1024, BYTES = 0, UTF8 = 1 };

struct gx_pattern {
    pcre2_code *code[2]; /* of bytes, of UTF-8 */
    gx_steps_cost cost[2];
    uint32_t groups, names, name_size;
    PCRE2_SPTR name_table;
    char text[];
};

struct gx_matcher {
    gx_heap *heap;
    const gx_pattern *pattern;
    pcre2_general_context *general;
    pcre2_match_context *context;
    pcre2_match_data *data;
    gx_steps steps;
    uint64_t work;
    gale_str text; /* of the last search */
};

/* --- Patterns --- */

static int refuse(const char *what, gale_str text, int code, size_t at, gale_error *error) {
    PCRE2_UCHAR said[120];
    if (pcre2_get_error_message(code, said, sizeof said) < 0) said[0] = 0;
    return gale_error_set(error, GALE_SYNTAX, "%s: the pattern%s%.*s%s is wrong at byte %zu: %s", what,
                          text.size <= 80 ? " '" : "", text.size <= 80 ? (int)text.size : 0, text.data,
                          text.size <= 80 ? "'" : "", at, (const char *)said);
}

/* The same pattern with fewer callouts, where their places are known. */
static void place_callouts(gx_pattern *made, gale_str text, int kind, uint32_t options,
                           pcre2_compile_context *context) {
    gx_buf placed = GX_BUF_INIT(NULL);
    int code;
    size_t at;
    bool known = gx_callouts_place(text, &placed) && !placed.failed;
    pcre2_code *fewer = known ? pcre2_compile((PCRE2_SPTR)placed.data, placed.size, options, &code, &at, context)
                              : NULL;
    gx_buf_fini(&placed);
    if (!fewer) return;
    pcre2_code_free(made->code[kind]);
    made->code[kind] = fewer;
}

static int compile(gx_pattern *made, const char *what, gale_str text, int kind, pcre2_compile_context *context,
                   gale_error *error) {
    uint32_t options = kind == UTF8 ? PCRE2_UTF : PCRE2_NEVER_UTF;
    int code;
    size_t at;
    made->code[kind] = pcre2_compile((PCRE2_SPTR)text.data, text.size, GX_STEPS_OPTIONS | options, &code, &at, context);
    if (!made->code[kind]) return refuse(what, text, code, at, error);
    place_callouts(made, text, kind, GX_STEPS_OPTIONS_PLACED | options, context);
    (void)pcre2_jit_compile(made->code[kind], PCRE2_JIT_COMPLETE); /* where it cannot, it is interpreted */
    made->cost[kind] = gx_steps_cost_of(made->code[kind], text, kind == UTF8);
    return GALE_OK;
}

static int compile_both(gx_pattern *made, const char *what, gale_str text, gale_error *error) {
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (!context) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", what);
    pcre2_set_parens_nest_limit(context, GX_STEPS_NESTED);
    int rc = compile(made, what, text, UTF8, context, error);
    if (rc >= 0) rc = compile(made, what, text, BYTES, context, error);
    pcre2_compile_context_free(context);
    return rc;
}

static int read_facts(gx_pattern *made, const char *what, gale_error *error) {
    const pcre2_code *code = made->code[UTF8];
    pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &made->groups);
    pcre2_pattern_info(code, PCRE2_INFO_NAMECOUNT, &made->names);
    pcre2_pattern_info(code, PCRE2_INFO_NAMEENTRYSIZE, &made->name_size);
    pcre2_pattern_info(code, PCRE2_INFO_NAMETABLE, &made->name_table);
    if (made->groups <= GX_STEPS_GROUPS) return GALE_OK;
    return gale_error_set(error, GALE_TOO_LARGE, "%s: the pattern has more than %d groups", what, GX_STEPS_GROUPS);
}

int gx_pattern_new(const char *text, const char *what, gx_pattern **ret_pattern, gale_error *error) {
    size_t size = strlen(text);
    if (size > GX_STEPS_PATTERN)
        return gale_error_set(error, GALE_TOO_LARGE, "%s: the pattern has %zu bytes, at most %d", what, size,
                              GX_STEPS_PATTERN);
    gx_pattern *made = calloc(1, sizeof *made + size + 1);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", what);
    memcpy(made->text, text, size);
    int rc = compile_both(made, what, (gale_str){ made->text, size }, error);
    if (rc >= 0) rc = read_facts(made, what, error);
    if (rc < 0)
        gx_pattern_free(made);
    else
        *ret_pattern = made;
    return rc;
}

void gx_pattern_free(gx_pattern *pattern) {
    if (!pattern) return;
    pcre2_code_free(pattern->code[BYTES]);
    pcre2_code_free(pattern->code[UTF8]);
    free(pattern);
}

uint32_t gx_pattern_groups(const gx_pattern *pattern) {
    return pattern->groups;
}

gale_str gx_pattern_name(const gx_pattern *pattern, uint32_t group) {
    for (uint32_t n = 0; n < pattern->names; n++) {
        PCRE2_SPTR entry = pattern->name_table + (size_t)n * pattern->name_size;
        if ((uint32_t)(entry[0] << 8 | entry[1]) == group) return gx_str((const char *)entry + 2);
    }
    return (gale_str){ "", 0 };
}

/* --- Matchers --- */

/* PCRE2 does not say how large what it gives back was. */
typedef struct block {
    _Alignas(16) size_t size;
} block;

static void *take_memory(size_t size, void *user) {
    block *made = gx_alloc(user, GX_TAG_OTHER, sizeof *made + size);
    if (!made) return NULL;
    made->size = sizeof *made + size;
    return made + 1;
}

static void give_memory(void *at, void *user) {
    block *made = at ? (block *)at - 1 : NULL;
    if (made) gx_free(user, GX_TAG_OTHER, made, made->size);
}

gx_matcher *gx_matcher_new(gx_heap *heap, const gx_pattern *pattern) {
    gx_matcher *made = gx_alloc(heap, GX_TAG_OTHER, sizeof *made);
    if (!made) return NULL;
    made->heap = heap;
    made->pattern = pattern;
    made->general = pcre2_general_context_create(take_memory, give_memory, heap);
    made->context = made->general ? pcre2_match_context_create(made->general) : NULL;
    made->data = made->general ? pcre2_match_data_create(pattern->groups + 1, made->general) : NULL;
    if (!made->context || !made->data) {
        gx_matcher_free(made);
        return NULL;
    }
    pcre2_set_callout(made->context, gx_steps_count, &made->steps);
    pcre2_set_heap_limit(made->context, HEAP_KIB);
    return made;
}

void gx_matcher_free(gx_matcher *matcher) {
    if (!matcher) return;
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->context);
    pcre2_general_context_free(matcher->general);
    gx_free(matcher->heap, GX_TAG_OTHER, matcher, sizeof *matcher);
}

static int search(gx_matcher *matcher, int kind, uint32_t options) {
    gale_str text = matcher->text;
    gx_steps_begin(&matcher->steps, &matcher->pattern->cost[kind], 0);
    int rc = pcre2_match(matcher->pattern->code[kind], (PCRE2_SPTR)text.data, text.size, 0,
                         PCRE2_NO_UTF_CHECK | options, matcher->data, matcher->context);
    matcher->work += gx_steps_end(&matcher->steps, rc, text.size);
    return rc;
}

int gx_matcher_find(gx_matcher *matcher, gale_str text, bool is_utf8) {
    int kind = is_utf8 ? UTF8 : BYTES;
    matcher->text = text;
    matcher->work = 0;
    int rc = search(matcher, kind, 0);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) rc = search(matcher, kind, PCRE2_NO_JIT); /* it has more room, and a bound */
    switch (rc) {
    case PCRE2_ERROR_NOMATCH: return 0;
    case PCRE2_ERROR_NOMEMORY: return GALE_NO_MEMORY;
    default: return rc < 0 ? GALE_TOO_LARGE : 1;
    }
}

gale_str gx_matcher_group(const gx_matcher *matcher, uint32_t group) {
    const size_t *found = pcre2_get_ovector_pointer(matcher->data);
    size_t begin = found[2 * group], end = found[2 * group + 1];
    if (begin == PCRE2_UNSET) return (gale_str){ NULL, 0 };
    return (gale_str){ matcher->text.data + begin, end > begin ? end - begin : 0 };
}

uint64_t gx_matcher_work(const gx_matcher *matcher) {
    return matcher->work;
}
