/* A stream of bytes cut into records, wherever the pieces in which it comes begin and end.
 *
 * What:    GX_FRAMES_LINES ends a record with "\n" or "\r\n", GX_FRAMES_NUL with a NUL; GX_FRAMES_OCTETS announces its size,
 *          "LEN SP record" (RFC 6587, octet counting). GX_FRAMES_SYSLOG looks at each record: "LEN SP <" is counted, anything
 *          else is a line, and empty lines are none.
 *
 *              gale_str piece = { what was read };
 *              while ((rc = gx_frames_next(&frames, &piece, &frame)) > 0) take(frame);
 *              ... at the end of the stream: if (gx_frames_end(&frames, GX_FRAMES_CLOSED, &frame)) take(frame);
 *
 *          A record that a piece has whole is borrowed from it, so that only what is half at the end of a piece is copied. It is
 *          given back with the record: a stream that is between two records owns nothing, and ten thousand of them cost
 *          little. A record above the bound is cut to it, or dropped, counted either way, and what is over is passed by
 *          as it comes: an endless line and a huge size that is announced take no more memory than the bound.
 *
 *          Lines are text: a UTF-8 byte order mark at the beginning of a stream is skipped, and a stream that is
 *          packed, or of another encoding
 *          (base/encoding.h), has no records.
 *
 *          What the end of a stream cuts off is no record: it is counted, and never handed out.
 * Threads: one at a time. Owner: memory comes from a gx_heap; the rule is borrowed.
 * Errors:  GALE_UNSUPPORTED for a stream that is not text, whose name `foreign` has. GALE_DAMAGED of
 * GX_FRAMES_OCTETS alone: what stands where a size should cannot be told from a record, and what comes
 *          behind it means nothing. GALE_NO_MEMORY: the piece still has what could not be kept. */
#ifndef GX_KIT_FRAMES_H
#define GX_KIT_FRAMES_H

#include "base/alloc.h"
#include "base/str.h"

typedef enum gx_frames_kind { GX_FRAMES_LINES, GX_FRAMES_NUL, GX_FRAMES_OCTETS, GX_FRAMES_SYSLOG } gx_frames_kind;

/* Of many streams. */
typedef struct gx_frames_rule {
    int32_t kind;
    bool drops; /* what is too long; else it is cut */
    size_t max; /* bytes of a record, at least 1; without what ends or announces it */
} gx_frames_rule;

enum { GX_FRAMES_DIGITS = 10 /* of an announced size */ };

typedef struct gx_frames {
    const gx_frames_rule *rule;
    gx_heap *heap;
    char *data; /* what has come of a record */
    size_t size, capacity;
    uint64_t left;       /* of a counted record, what has not come */
    uint64_t too_long;   /* records that were */
    uint64_t cut_off;    /* records that the end of the stream has */
    const char *foreign; /* the stream is not text, but this */
    uint8_t state;
    bool begun; /* a record was handed out: what comes is no beginning */
    bool given; /* what `data` has was handed out */
    uint8_t head_size;
    char head[GX_FRAMES_DIGITS + 1]; /* the size that is announced, as far as it has come */
} gx_frames;

typedef struct gx_frame {
    gale_str bytes;
    bool whole; /* not cut to the bound */
} gx_frame;

/* Allocates nothing. */
void gx_frames_init(gx_frames *frames, gx_heap *heap, const gx_frames_rule *rule);
void gx_frames_fini(gx_frames *frames);

/* Takes from the front of `*piece`: 1 and the next record, borrowed from the piece or until the next call; 0 when the piece is
 * used up. Errors as above. */
int gx_frames_next(gx_frames *frames, gale_str *piece, gx_frame *ret_frame);

/* What is known of what came last. */
typedef enum gx_frames_ending {
    GX_FRAMES_BROKEN, /* nothing: it may have been meant to go on */
    GX_FRAMES_CLOSED, /* whoever sent it has closed in order: a last line is one without its "\n" */
    GX_FRAMES_WHOLE   /* it is all that there was: so is what lacks its NUL */
} gx_frames_ending;

/* The stream has ended: true and the last record, which lacks its end. What else has begun is cut off: counted, and given back.
 * To be followed by gx_frames_fini, or by another stream. */
bool gx_frames_end(gx_frames *frames, gx_frames_ending ending, gx_frame *ret_frame);

/* What it takes of memory between two calls. */
GX_INLINE size_t gx_frames_held(const gx_frames *frames) {
    return frames->capacity;
}

#endif
