/* Windows of one length that begin every slide, cut into panes: stretches of time that each window holds whole or not at
 * all, so that what comes is added up once, in its pane, however many windows hold it.
 *
 *     length 5, slide 2:   windows   [-1 ....... 4)[..  a window ends at each multiple of the slide, and its end is no part of it
 *                                        [1 ........ 6)
 *                          panes     |-1|0|1|2|3|4|5|6|   where one begins and where one ends: two panes a slide, and one a
 *                                                         slide where the length is a multiple of it
 *
 * Li, Maier, Tufte, Papadimos, Tucker: No Pane, No Gain (SIGMOD Record 34, 2005); Krishnamurthy, Wu, Franklin: On-the-Fly
 * Sharing for Streamed Aggregation (SIGMOD 2006), whose pairs these are. Times are whole numbers, whatever they count.
 *
 * Threads: any. Limits: 0 < slide <= length <= 2^60, and times between -2^61 and 2^61: no sum overflows. */
#ifndef GX_DS_WINDOW_SHAPE_H
#define GX_DS_WINDOW_SHAPE_H

#include "base/port.h"

#define GX_WINDOW_LENGTH_MAX (INT64_C(1) << 60)
#define GX_WINDOW_TIME_MAX (INT64_C(1) << 62)

typedef struct gx_window_shape {
    int64_t length;
    int64_t slide;
    int64_t cut; /* where a slide's second pane begins, counted from the slide's beginning; 0: it has one */
} gx_window_shape;

GX_INLINE gx_window_shape gx_window_shape_of(int64_t length, int64_t slide) {
    int64_t odd = length % slide;
    return (gx_window_shape){ length, slide, odd ? slide - odd : 0 };
}

GX_INLINE bool gx_window_tumbles(const gx_window_shape *shape) {
    return shape->length == shape->slide;
}

/* The last multiple of the slide that is not behind `time`. */
GX_INLINE int64_t gx_window_floor(const gx_window_shape *shape, int64_t time) {
    int64_t rest = time % shape->slide;
    return time - rest - (rest < 0 ? shape->slide : 0);
}

/* Where the pane of `time` begins, and where it ends. */
GX_INLINE int64_t gx_window_pane_of(const gx_window_shape *shape, int64_t time, int64_t *ret_end) {
    int64_t slide = gx_window_floor(shape, time);
    bool second = shape->cut && time >= slide + shape->cut;
    *ret_end = shape->cut && !second ? slide + shape->cut : slide + shape->slide;
    return second ? slide + shape->cut : slide;
}

/* The end of the first window that holds the pane that begins at `pane`, and of the last. */
GX_INLINE int64_t gx_window_first_end(const gx_window_shape *shape, int64_t pane) {
    return gx_window_floor(shape, pane) + shape->slide;
}

GX_INLINE int64_t gx_window_last_end(const gx_window_shape *shape, int64_t pane) {
    return gx_window_floor(shape, pane + shape->length);
}

#endif
