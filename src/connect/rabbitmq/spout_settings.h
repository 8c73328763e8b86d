/* What a file says of a spout.
 * Threads: frozen once made. Owner: the definition. */
#ifndef GALE_CONNECT_RABBITMQ_SPOUT_SETTINGS_H
#define GALE_CONNECT_RABBITMQ_SPOUT_SETTINGS_H

#include "connect/rabbitmq/declare.h"
#include "connect/rabbitmq/row.h"
#include "connect/rabbitmq/settings.h"

typedef struct rmq_spout_settings {
    rmq_settings broker; /* first */
    rmq_declare declare;
    rmq_row row;
    gale_output output;
    uint64_t memory, largest;
    uint32_t attempts;
    uint16_t prefetch;
    bool retries_at_queue; /* what fails goes back to the queue; else it is emitted again here */
    bool until_empty;
} rmq_spout_settings;

int rmq_spout_settings_make(rmq_spout_settings *made, const gale_args *args, gale_error *error);
void rmq_spout_settings_free(void *made);

#endif
