/* Numbers as people read them: 1,234,567; 12.3 us; 45.6 s; and as members of an object for programs. Threads: any. Owner: the text lies in `out`. */
#ifndef GX_CLI_FIGURES_H
#define GX_CLI_FIGURES_H

#include "base/json.h"

enum { GX_FIGURE_SIZE = 32 };

const char *gx_figure_count(uint64_t count, char out[GX_FIGURE_SIZE]);
const char *gx_figure_time(double nanoseconds, char out[GX_FIGURE_SIZE]);

/* 8.0 MB; thousands, not 1024s. */
const char *gx_figure_bytes(uint64_t bytes, char out[GX_FIGURE_SIZE]);

/* `count` things in `nanoseconds`, a second: whole from 10 on, one digit after the point below. */
const char *gx_figure_rate(uint64_t count, int64_t nanoseconds, char out[GX_FIGURE_SIZE]);

/* "key": count; "key": seconds, with what is behind the point. */
void gx_figure_count_member(gx_json *json, const char *key, uint64_t count);
void gx_figure_seconds_member(gx_json *json, const char *key, int64_t nanoseconds);

#endif
