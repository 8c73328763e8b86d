/* Patterns at random, of what script/callouts knows; and what PCRE2 finds with them as they are. */
#ifndef TEST_SCRIPT_PATTERNS_H
#define TEST_SCRIPT_PATTERNS_H

#include "base/random.h"
#include "script/steps.h"

enum { PATTERN_SIZE = 400, PATTERN_GROUPS = 40 };

typedef struct pattern_maker {
    gx_random random;
    char text[PATTERN_SIZE];
    size_t size;
} pattern_maker;

static inline void pattern_add(pattern_maker *m, const char *piece) {
    size_t size = strlen(piece);
    if (m->size + size >= sizeof m->text) return;
    memcpy(m->text + m->size, piece, size + 1);
    m->size += size;
}

static inline const char *pattern_one_of(pattern_maker *m, const char *const *pieces, size_t count) {
    return pieces[gx_random_below(&m->random, count)];
}

static inline void pattern_alternatives(pattern_maker *m, int depth);

static inline void pattern_item(pattern_maker *m, int depth) {
    static const char *const atoms[] = { "a",   "b",    "ab",   ".",   "\\w",      "\\S",          " ",
                                         "\\d", "[ab]", "[^b]", "\\.", "\xc3\xa9", "[^\xc3\xa9 ]", "\\b",
                                         "^",   "$",    "{" };
    static const char *const opens[] = { "(", "(?:", "(?i)(" };
    static const char *const repeats[] = { "", "", "", "*", "+", "?", "{2}", "{1,3}", "*?", "+?", "++", "{0,2}?" };
    size_t before = m->size;
    const char *atom = pattern_one_of(m, atoms, sizeof atoms / sizeof *atoms);
    if (depth && gx_random_below(&m->random, 3) == 0) {
        pattern_add(m, pattern_one_of(m, opens, 3));
        pattern_alternatives(m, depth - 1);
        pattern_add(m, ")");
    } else {
        pattern_add(m, atom);
    }
    bool is_anchor = m->size > before && (strcmp(atom, "\\b") == 0 || strcmp(atom, "^") == 0 || strcmp(atom, "$") == 0);
    if (!is_anchor || m->text[m->size - 1] == ')')
        pattern_add(m, pattern_one_of(m, repeats, sizeof repeats / sizeof *repeats));
}

static inline void pattern_alternatives(pattern_maker *m, int depth) {
    uint64_t count = 1 + gx_random_below(&m->random, 3) / 2;
    for (uint64_t i = 0; i < count; i++) {
        if (i) pattern_add(m, "|");
        for (uint64_t k = gx_random_below(&m->random, 5); k > 0; k--) pattern_item(m, depth);
    }
}

static inline int pattern_search(const char *pattern, size_t size, const char *text, uint32_t options, size_t *found) {
    int code, rc = -99;
    size_t at;
    pcre2_code *made = pcre2_compile((PCRE2_SPTR)pattern, size, options | PCRE2_UTF, &code, &at, NULL);
    pcre2_match_data *data = made ? pcre2_match_data_create(PATTERN_GROUPS, NULL) : NULL;
    if (made) rc = pcre2_match(made, (PCRE2_SPTR)text, strlen(text), 0, 0, data, NULL);
    memset(found, 0, 2 * PATTERN_GROUPS * sizeof *found);
    if (rc > 0) memcpy(found, pcre2_get_ovector_pointer(data), 2 * (size_t)rc * sizeof *found);
    pcre2_match_data_free(data);
    pcre2_code_free(made);
    return rc;
}

#endif
