/* Figures as Storm's UI writes them.
 *
 * Threads: any. Owner: what is written lies in the caller's room. */
#ifndef GX_SERVE_STORM_WORDS_H
#define GX_SERVE_STORM_WORDS_H

#include "base/json.h"
#include "base/str.h"

enum { GX_STORM_WORD = 48 };

/* "1d 2h 3m 4s", with all units below the largest; "" for none. Returns `to`. */
const char *gx_storm_uptime(int64_t seconds, char to[GX_STORM_WORD]);

/* "10m 0s", "All time" for 0. */
const char *gx_storm_window_hint(uint32_t seconds, char to[GX_STORM_WORD]);

/* "600", ":all-time" for 0. */
const char *gx_storm_window(uint32_t seconds, char to[GX_STORM_WORD]);

/* A member that is a number in a string, with three decimals: latencies and capacities. */
void gx_storm_decimal(gx_json *json, const char *key, double value);

/* A member that is `text` as it stands in a URL. */
void gx_storm_encoded(gx_json *json, const char *key, const char *text);

/* The stream's name as the visualization's scripts can have it: what is none of A-Z, a-z, '_', '-', ':' and '.' is a '_', and
 * what does not begin with a letter has "_s" before it. */
void gx_storm_sanitized(gx_json *json, const char *key, const char *stream);

#endif
