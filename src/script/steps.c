#include "script/steps.h"

enum { STEP = 2, PART = 16, CLASS_SIZE = 256 };

static bool is_back_reference(const gx_steps_cost *of, size_t at) {
    if (at + 1 >= of->pattern.size) return false;
    char next = of->pattern.data[at + 1];
    if (of->pattern.data[at] == '\\') return (next >= '1' && next <= '9') || next == 'k' || next == 'g';
    return of->pattern.data[at] == '(' && next == '?';
}

static size_t longest_group(const pcre2_callout_block *step) {
    size_t longest = 0;
    for (uint32_t i = 1; i < step->capture_top; i++) {
        size_t begin = step->offset_vector[2 * i], end = step->offset_vector[2 * i + 1];
        if (begin != PCRE2_UNSET && end > begin && end - begin > longest) longest = end - begin;
    }
    return longest;
}

int gx_steps_count(pcre2_callout_block *step, void *user) {
    gx_steps *steps = user;
    const gx_steps_cost *of = steps->of;
    size_t at = step->current_position, way = at > steps->last ? at - steps->last : steps->last - at;
    steps->last = at;
    steps->parts += of->step + way * of->byte;
    if (of->refers && is_back_reference(of, step->pattern_position)) steps->parts += longest_group(step);
    return steps->parts > (uint64_t)GX_STEPS_WORK * PART ? PCRE2_ERROR_MATCHLIMIT : 0;
}

/* The largest number in braces: what begins to repeat an item so often may go that far before it fails, without a step. */
static uint64_t largest_repeat(gale_str pattern) {
    uint64_t largest = 0, number = 0;
    bool inside = false;
    for (size_t i = 0; i < pattern.size; i++) {
        char c = pattern.data[i];
        bool digit = c >= '0' && c <= '9';
        inside = c == '{' ? !i || pattern.data[i - 1] != 'x' : inside && (digit || c == ',');
        number = !digit || !inside ? 0 : number < 100000 ? 10 * number + (uint64_t)(c - '0') : number;
        if (number > largest) largest = number;
    }
    return largest;
}

gx_steps_cost gx_steps_cost_of(const pcre2_code *code, gale_str pattern, bool is_utf8) {
    uint32_t back = 0;
    pcre2_pattern_info(code, PCRE2_INFO_BACKREFMAX, &back);
    return (gx_steps_cost){ .pattern = pattern,
                            .step = PART * STEP + largest_repeat(pattern),
                            .byte = 1 + (is_utf8 && pattern.size > CLASS_SIZE ? pattern.size / 4 : 0),
                            .refers = back > 0 };
}

void gx_steps_begin(gx_steps *steps, const gx_steps_cost *of, size_t from) {
    *steps = (gx_steps){ .of = of, .last = from };
}

uint64_t gx_steps_end(gx_steps *steps, int rc, size_t text_size) {
    if (rc == PCRE2_ERROR_NOMATCH && steps->last < text_size) steps->parts += text_size - steps->last;
    return steps->parts / PART;
}
