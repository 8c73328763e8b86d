/* gale.bolt.HttpSink, in parts: its definition (sink_settings.c), tuples and requests (sink.c), answers (sink_answer.c), checkpoints (sink_saved.c), and whether the
 * server is there (sink_probe.c).
 *
 *      tuple --> batch (batch.h) --> request (client.h) --2xx--> acked
 *                                        |--refused----------> rejected, with words
 *                                        '--anything else----> a pause, and again under the same name
 */
#ifndef GALE_CONNECT_HTTP_SINK_H
#define GALE_CONNECT_HTTP_SINK_H

#include "connect/http/batch.h"
#include "connect/http/client.h"

enum { HTTP_FLIGHT_MAX = 256 };

/* A definition's block. */
typedef struct http_sink_settings {
    http_access access; /* first */
    http_document document;
    char *method, *content_type, *key;
    uint64_t batch, batch_bytes, memory, most_answer;
    int64_t linger, finish_wait;
    uint32_t flight, attempts;
    bool once, fields; /* fields: the address has some */
} http_sink_settings;

int http_sink_settings_make(http_sink_settings *made, const gale_args *args, gale_error *error);
void http_sink_settings_free(void *made);

typedef struct http_sink {
    const http_sink_settings *given;
    const gale_context *context;
    gale_collector *out;
    http_client client;
    http_secrets secrets;
    gale_dispatch *dispatch;
    http_batches batches;
    http_batch *flying[HTTP_FLIGHT_MAX]; /* on their way, or in a pause; they have a place each */
    uint32_t flying_count;
    int64_t not_before; /* the server wants to be left alone */
    gale_watch timer;
    uint64_t answers;     /* of the server, to any request */
    uint32_t hung;        /* of those on their way: the server hung up on */
    http_exchange *probe; /* asks whether it is there; NULL: nobody does */
    bool unwell, ending;
    char shown[100];
} http_sink;

/* Puts the tuple into a batch. GALE_INVALID with a sentence in `why`; GALE_NO_MEMORY. */
int http_sink_put(http_sink *sink, http_batch *batch, const gale_tuple *tuple, uint64_t id, char *why, size_t size);

/* It gathers no more. In a durable run with `once` it goes when a checkpoint that has it lasts. */
void http_sink_close(http_sink *sink, http_batch *batch);

/* Sends what may go, and sets the timer for the rest. */
void http_sink_go_on(http_sink *sink);

/* A request has its end: its tuples are answered, or it has a pause before it. */
void http_sink_settle(http_sink *sink, http_batch *batch, CURLcode code);
void http_sink_pause(http_sink *sink, http_batch *batch, int64_t least, const char *words);
void http_sink_unwell(http_sink *sink, const char *words);

/* Asks whether the server is there that hung up on this one (sink_probe.c), and hears. */
void http_sink_probe(http_sink *sink, const http_batch *batch);
void http_sink_probed(http_sink *sink, CURLcode code);
void http_sink_probe_end(http_sink *sink);

/* Of the answer, or before there was one: all its tuples. */
void http_sink_fail(http_sink *sink, http_batch *batch, int32_t reason, const char *words);

extern const gale_durable_ops http_sink_durable;

#endif
