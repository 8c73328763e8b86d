/* What a spout emits of a message: the fields that `emit` names, in its order, and behind them the levels of its subject that `levels` names.
 *
 *      payload      text, or bytes where it is not UTF-8
 *      subject, stream   text
 *      sequence     in the stream
 *      time         when it was stored, in milliseconds since 1970
 *      delivered    how often it was delivered, this time included
 *      headers      a map of names and texts; of two of one name the last
 *      a level      text; null where the subject has no such level
 */
#ifndef GALE_CONNECT_NATS_ROW_H
#define GALE_CONNECT_NATS_ROW_H

#include "connect/nats/place.h"

#include <gale/connect.h>
#include <gale/plugin.h>
#include <nats/nats.h>

enum { NATS_LEVELS_MAX = 16, NATS_HEADERS_MAX = 256, NATS_ROW_FIELDS = 7, NATS_ROW_NAMES = 1200 };

typedef struct nats_row {
    gale_names emit;
    const char *stream;
    size_t level_count;
    char levels[NATS_LEVELS_MAX][64]; /* "_": it is not emitted */
    size_t count;                     /* values of a row */
    char names[NATS_ROW_NAMES];       /* of all */
} nats_row;

/* GALE_INVALID with a sentence. `stream` lives longer. */
int nats_row_parse(const char *emit, const char *levels, const char *stream, nats_row *row, gale_error *error);

/* Room for the values of one message; borrowed from the message, and from here. */
typedef struct nats_row_values {
    gale_value list[NATS_ROW_FIELDS + NATS_LEVELS_MAX];
    gale_value headers[2 * NATS_HEADERS_MAX];
} nats_row_values;

/* GALE_TOO_LARGE: it has more headers than NATS_HEADERS_MAX. */
int nats_row_fill(const nats_row *row, natsMsg *msg, const nats_place *place, nats_row_values *values);

#endif
