/* The classes of the connector nats. */
#ifndef GALE_CONNECT_NATS_NATS_H
#define GALE_CONNECT_NATS_NATS_H

#include <gale/plugin.h>

int nats_make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error);
int nats_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error);

#endif
