/* The classes of the connector. */
#ifndef GALE_CONNECT_SQLITE_SQLITE_H
#define GALE_CONNECT_SQLITE_SQLITE_H

#include <gale/plugin.h>

int lite_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error);
int lite_make_letters(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error);
int lite_make_lookup(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error);
int lite_make_rows(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error);

#endif
