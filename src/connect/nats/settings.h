/* What a class of NATS was given in a file: checked, and as cnats wants it.
 * Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_NATS_SETTINGS_H
#define GALE_CONNECT_NATS_SETTINGS_H

#include <gale/plugin.h>
#include <nats/nats.h>

enum { NATS_SERVERS_MAX = 32, NATS_NAME_MAX = 256 };

typedef struct nats_settings {
    char *servers[NATS_SERVERS_MAX];
    int server_count;
    char *user, *password_from, *token_from; /* NULL: not given */
    char *credentials, *nkey, *nkey_seed_from;
    char *ca, *certificate, *key;
    bool tls, verify;
    int64_t timeout; /* ms: for a connection, and for an answer */
    char where[128]; /* "nats host:4222": what reports begin with */
} nats_settings;

/* Of the parameters that both classes have. GALE_INVALID with a sentence that begins with the parameter; GALE_NO_MEMORY. What was made is freed by
 * nats_settings_free, also then. */
int nats_settings_make(nats_settings *settings, const gale_args *args, gale_error *error);
void nats_settings_free(nats_settings *settings);

/* For one connection, which reconnects to nothing by itself; secrets are read now. natsOptions_Destroy frees them. NULL with a sentence. */
natsOptions *nats_settings_options(const nats_settings *settings, gale_error *error);

/* A copy of a parameter's text; NULL where there is none. GALE_NO_MEMORY. */
int nats_copy(char **to, const gale_args *args, const char *parameter, gale_error *error);

/* A name of a stream or a consumer, which stands in subjects. NULL is one. GALE_INVALID with a sentence. */
int nats_check_name(const char *parameter, const char *name, gale_error *error);

/* The next of names with commas between them: `*at` goes behind it. False: there is none. */
bool nats_next_name(const char **at, gale_str *ret_name);

#endif
