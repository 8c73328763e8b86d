/* The grammar of JSON (RFC 8259), read in one pass over a text: what readers of documents are made of.
 *
 * What:    a scan stands somewhere in a text. Each function reads one thing behind it and moves on; or says what is
 *          wrong, and where. What is skipped is checked as well, but nothing is made of it.
 * Threads: a scan belongs to its thread.
 * Owner:   the text is borrowed, and so is what comes out of it. It need not be ended by a NUL, and is UTF-8 (that
 *          is the caller's to check).
 * Limits:  GX_JSON_DEPTH lists and objects inside each other. */
#ifndef GX_BASE_JSON_SCAN_H
#define GX_BASE_JSON_SCAN_H

#include "base/scan.h"

#include <gale/base.h>

enum { GX_JSON_DEPTH = 512 };

typedef struct gx_json_scan {
    const char *at, *end;
    const char *wrong; /* what is: the end of a sentence in static storage */
    const char *place; /* and where */
} gx_json_scan;

/* A number as it stands there: `mantissa` * 10^`exponent` when it `fits` (19 digits). */
typedef struct gx_json_number {
    gale_str text;
    uint64_t mantissa;
    int32_t exponent;
    bool negative;
    bool whole; /* without a point and an exponent */
    bool fits;
} gx_json_number;

GX_INLINE gx_json_scan gx_json_scan_of(gale_str text) {
    return (gx_json_scan){ .at = text.data, .end = text.data + text.size };
}

/* Says what is wrong. Returns false. */
GX_COLD bool gx_json_scan_wrong(gx_json_scan *scan, const char *place, const char *what);

/* Line and column of a place in the text, from 1; columns count characters. */
void gx_json_scan_where(gale_str text, const char *place, size_t *ret_line, size_t *ret_column);

GX_INLINE void gx_json_scan_blanks(gx_json_scan *scan) {
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r'))
        scan->at++;
}

/* Passes blanks and then this character, if it is there. */
GX_INLINE bool gx_json_scan_take(gx_json_scan *scan, char c) {
    if (GX_UNLIKELY(scan->at == scan->end)) return false;
    if (GX_UNLIKELY(*scan->at != c)) {
        gx_json_scan_blanks(scan);
        if (scan->at == scan->end || *scan->at != c) return false;
    }
    scan->at++;
    return true;
}

/* The rest of a string that is not plain to its end. */
GX_COLD bool gx_json_scan_escaped(gx_json_scan *scan, const char *from, gale_str *ret_raw);

/* Behind the opening quotation mark: the bytes up to the closing one, escapes as they are. `*ret_escaped`: there are
 * some. */
GX_INLINE bool gx_json_scan_string(gx_json_scan *scan, gale_str *ret_raw, bool *ret_escaped) {
    const char *from = scan->at, *stop = gx_scan(from, scan->end, GX_SCAN_READ);
    *ret_escaped = stop == scan->end || *stop != '"';
    if (GX_UNLIKELY(*ret_escaped)) return gx_json_scan_escaped(scan, from, ret_raw);
    *ret_raw = (gale_str){ from, (size_t)(stop - from) };
    scan->at = stop + 1;
    return true;
}

/* Writes a string that gx_json_scan_string found without its escapes to `to`, which has room for as many bytes;
 * returns how many it has.
 * -1: half of a surrogate pair, whose place the scan then says. */
int64_t gx_json_scan_unescape(gx_json_scan *scan, gale_str raw, char *to);

/* A number, at its first character. */
bool gx_json_scan_number(gx_json_scan *scan, gx_json_number *ret_number);

/* The nearest double of what was found; an infinity beyond the largest. */
double gx_json_number_value(const gx_json_number *number);

/* The whole number, when it is one and fits 64 bits. */
bool gx_json_number_whole(const gx_json_number *number, int64_t *ret_number);

/* "true", "false" or "null", all of it. */
bool gx_json_scan_word(gx_json_scan *scan, const char *word, size_t size);

/* A value of any kind, behind blanks, inside of `depth` lists and objects. */
bool gx_json_scan_skip(gx_json_scan *scan, uint32_t depth);

/* Nothing but blanks is left. */
bool gx_json_scan_ended(gx_json_scan *scan);

extern const char gx_json_wrong_name[], gx_json_wrong_colon[], gx_json_wrong_map[], gx_json_wrong_list[],
    gx_json_wrong_deep[];

#endif
