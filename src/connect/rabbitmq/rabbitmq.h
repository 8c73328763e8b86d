/* What makes the two classes. */
#ifndef GALE_CONNECT_RABBITMQ_RABBITMQ_H
#define GALE_CONNECT_RABBITMQ_RABBITMQ_H

#include <gale/plugin.h>

int rmq_make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error);
int rmq_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error);

#endif
