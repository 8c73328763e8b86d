/* The classes of the connector. */
#ifndef GALE_CONNECT_POSTGRES_POSTGRES_H
#define GALE_CONNECT_POSTGRES_POSTGRES_H

#include <gale/plugin.h>

int pg_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error);
int pg_make_lookup(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error);
int pg_make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error);
int pg_make_listen(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error);

#endif
