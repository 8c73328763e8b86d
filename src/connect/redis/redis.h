/* The classes of the connector. */
#ifndef GALE_CONNECT_REDIS_REDIS_H
#define GALE_CONNECT_REDIS_REDIS_H

#include <gale/plugin.h>

int redis_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error);
int redis_make_stream(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error);
int redis_make_list(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error);
int redis_make_subscribe(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error);

#endif
