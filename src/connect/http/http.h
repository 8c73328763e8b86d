/* What makes the classes. */
#ifndef GALE_CONNECT_HTTP_HTTP_H
#define GALE_CONNECT_HTTP_HTTP_H

#include <gale/plugin.h>

int http_make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error);
int http_make_poll(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error);
int http_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error);

#endif
