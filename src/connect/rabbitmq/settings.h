/* What both classes were given of where the broker is and who asks.
 * Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_RABBITMQ_SETTINGS_H
#define GALE_CONNECT_RABBITMQ_SETTINGS_H

#include "connect/rabbitmq/address.h"
#include "connect/rabbitmq/words.h"

enum { RMQ_ADDRESSES_MAX = 16 };

typedef struct rmq_settings {
    rmq_address addresses[RMQ_ADDRESSES_MAX]; /* asked in turn */
    size_t address_count;
    char *user; /* NULL: guest */
    char *password_from, *ca, *certificate, *certificate_key;
    int heartbeat;      /* seconds; 0: none */
    int64_t timeout_ms; /* of connecting, and of each answer */
} rmq_settings;

/* GALE_INVALID with a sentence that begins with the parameter; GALE_NO_MEMORY. What was made is freed by rmq_settings_free, also then. */
int rmq_settings_make(rmq_settings *settings, const gale_args *args, gale_error *error);
void rmq_settings_free(rmq_settings *settings);

/* Who asks, and his password, which gale_secret_free frees. NULL with a sentence. */
const char *rmq_settings_user(const rmq_settings *settings);
char *rmq_settings_password(const rmq_settings *settings, gale_error *error);

/* A text of AMQP's that is short: at most 255 bytes. GALE_INVALID. NULL is. */
int rmq_settings_check_short(const char *parameter, const char *text, gale_error *error);

#endif
