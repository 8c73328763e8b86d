/* What a sink of sockets was told: its options, checked and copied. And how a tuple becomes a record.
 * Threads: frozen once made. Owner: who makes them frees them with gx_define_free. */
#ifndef GX_CONNECT_NET_SINK_SETTINGS_H
#define GX_CONNECT_NET_SINK_SETTINGS_H

#include "connect/file/lines.h"

#include <gale/net.h>

/* The user block of the bolt's definition, with the address copied behind it. */
typedef struct gx_net_sink_settings {
    gale_net_sink_options options; /* whose texts are NULL */
    gx_fields fields;
    int64_t finish_wait; /* ns */
    char address[];
} gx_net_sink_settings;

/* GALE_INVALID, with a sentence; GALE_NO_MEMORY. */
int gx_net_sink_settings_make(const gale_net_sink_options *given, gx_net_sink_settings **ret_settings,
                              gale_error *error);

typedef struct gx_net_former {
    const gx_net_sink_settings *given;
    gx_lines lines;
    gx_buf line; /* one, until it is known how long it is */
} gx_net_former;

void gx_net_former_init(gx_net_former *former, const gx_net_sink_settings *given, gx_heap *heap);
void gx_net_former_fini(gx_net_former *former);

/* Appends the tuple's record. As gx_lines_add, and GALE_INVALID: the framing cannot carry it, what was sent would be another record, or two;
 * gx_net_refusal has the sentence. */
int gx_net_form(gx_net_former *former, const gale_tuple *tuple, gale_collector *out, gx_buf *to);

const char *gx_net_refusal(const gx_net_former *former);

#endif
