#include "serve/target.h"

#include "base/utf8.h"

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* The byte that `rest` begins with, which is taken off it; -1: a percent sign without its two digits. */
static int take_byte(gale_str *rest, bool plus) {
    char c = *rest->data;
    size_t size = 1;
    int byte = c == '+' && plus ? ' ' : (unsigned char)c;
    if (c == '%') {
        int high = rest->size > 2 ? digit_of(rest->data[1]) : -1, low = rest->size > 2 ? digit_of(rest->data[2]) : -1;
        if (high < 0 || low < 0) return -1;
        byte = high << 4 | low;
        size = 3;
    }
    rest->data += size;
    rest->size -= size;
    return byte;
}

static const char *refuse_byte(int byte) {
    if (byte < 0) return "has a '%' that is not followed by two hexadecimal digits";
    return byte < 0x20 || byte == 0x7f ? "has a control character" : NULL;
}

/* NULL, or why not. What is decoded is not longer than what it was, so that there is room. */
static const char *decode(gx_target *target, gale_str piece, bool plus, gale_str *ret_text) {
    char *begin = target->bytes + target->size;
    while (piece.size) {
        int byte = take_byte(&piece, plus);
        const char *why = refuse_byte(byte);
        if (why) return why;
        target->bytes[target->size++] = (char)byte;
    }
    *ret_text = (gale_str){ begin, (size_t)(target->bytes + target->size - begin) };
    return gx_utf8_valid(ret_text->data, ret_text->size) ? NULL : "is no UTF-8";
}

/* Cuts what stands before `separator` off `rest`; `rest` is empty behind the last piece, and `ret_more` says whether there was one. */
static gale_str cut(gale_str *rest, char separator, bool *ret_more) {
    const char *end = rest->size ? (const char *)memchr(rest->data, separator, rest->size) : NULL;
    gale_str piece = { rest->data, end ? (size_t)(end - rest->data) : rest->size };
    size_t taken = piece.size + (end != NULL);
    *ret_more = end != NULL;
    *rest = (gale_str){ rest->data + taken, rest->size - taken };
    return piece;
}

static const char *read_segments(gx_target *target, gale_str path) {
    bool more = true;
    while (more) {
        gale_str piece = cut(&path, '/', &more);
        if (!more && !piece.size) return NULL; /* "/api/" is "/api" */
        if (target->segment_count == GX_TARGET_SEGMENTS) return "has too many segments";
        gale_str *segment = &target->segments[target->segment_count++];
        const char *why = decode(target, piece, false, segment);
        if (why) return why;
        if (gx_str_is(*segment, ".") || gx_str_is(*segment, "..")) return "has a segment of dots";
    }
    return NULL;
}

static const char *read_pairs(gx_target *target, gale_str query) {
    bool more = true;
    while (more) {
        bool has_value;
        gale_str piece = cut(&query, '&', &more), name = cut(&piece, '=', &has_value);
        if (!name.size && !has_value) continue;
        if (target->pair_count == GX_TARGET_PAIRS) return "has too many parameters";
        gx_target_pair *pair = &target->pairs[target->pair_count++];
        const char *why = decode(target, name, true, &pair->name);
        if (!why) why = decode(target, piece, true, &pair->value);
        if (why) return why;
    }
    return NULL;
}

bool gx_target_read(gale_str text, gx_target *ret_target, const char **ret_why) {
    bool has_query = false;
    ret_target->segment_count = ret_target->pair_count = 0;
    ret_target->size = 0;
    *ret_why = NULL;
    if (text.size > GX_TARGET_SIZE) *ret_why = "is too long";
    if (!text.size || text.data[0] != '/') *ret_why = "does not begin with '/'";
    if (*ret_why) return false;
    gale_str rest = { text.data + 1, text.size - 1 };
    gale_str path = cut(&rest, '?', &has_query);
    *ret_why = read_segments(ret_target, path);
    if (!*ret_why && has_query) *ret_why = read_pairs(ret_target, rest);
    return !*ret_why;
}

gale_str gx_target_query(const gx_target *target, const char *name) {
    for (uint32_t i = 0; i < target->pair_count; i++)
        if (gx_str_is(target->pairs[i].name, name)) return target->pairs[i].value;
    return (gale_str){ NULL, 0 };
}
