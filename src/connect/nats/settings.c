#include "connect/nats/settings.h"

#include <gale/connect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PING_MS = 2000, PINGS_OUT = 2 };

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

int nats_copy(char **to, const gale_args *args, const char *parameter, gale_error *error) {
    const char *text = gale_args_text(args, parameter);
    *to = text ? strdup(text) : NULL;
    return text && !*to ? no_memory(error) : 0;
}

bool nats_next_name(const char **at, gale_str *ret_name) {
    static const char between[] = ", ";
    if (!*at) return false;
    *at += strspn(*at, between);
    *ret_name = (gale_str){ *at, strcspn(*at, between) };
    *at += ret_name->size;
    return ret_name->size > 0;
}

int nats_check_name(const char *parameter, const char *name, gale_error *error) {
    if (!name) return 0;
    size_t size = strlen(name);
    bool is = size > 0 && size < NATS_NAME_MAX && !strpbrk(name, ".*>/\\");
    for (size_t i = 0; is && i < size; i++) is = (unsigned char)name[i] > ' ' && name[i] != 0x7f;
    return is ? 0
              : gale_error_set(error, GALE_INVALID,
                               "%s: a name has 1 to %d letters, and no blank and none of . * > / \\", parameter,
                               NATS_NAME_MAX - 1);
}

/* --- Servers ---------------------------------------------------------------------------------------------------------- */

static int check_server(const char *url, bool *tls, gale_error *error) {
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    if (strncmp(url, "tls://", 6) == 0)
        *tls = true;
    else if (host != url && strncmp(url, "nats://", 7) != 0)
        return gale_error_set(error, GALE_INVALID, "servers: an address is nats://host:4222 or tls://host:4222");
    if (strchr(host, '@'))
        return gale_error_set(error, GALE_INVALID,
                              "servers: an address has no user and no password: user and passwordFrom, tokenFrom, "
                              "credentials and nkey say them");
    return *host && !strpbrk(host, " /?#") ? 0 : gale_error_set(error, GALE_INVALID, "servers: an address has no host");
}

static int add_server(nats_settings *settings, const gale_value *text, gale_error *error) {
    if (settings->server_count == NATS_SERVERS_MAX)
        return gale_error_set(error, GALE_INVALID, "servers: there are at most %d", NATS_SERVERS_MAX);
    char *url = strndup(text->as.string, text->size);
    if (!url) return no_memory(error);
    settings->servers[settings->server_count++] = url;
    return check_server(url, &settings->tls, error);
}

static int read_servers(nats_settings *settings, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "servers");
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < list.size; i++) {
        gale_value text = gale_list_at(&list, i);
        rc = add_server(settings, &text, error);
    }
    if (rc == 0 && !settings->server_count) rc = gale_error_set(error, GALE_INVALID, "servers: it names none");
    if (rc < 0) return rc;
    const char *first = strstr(settings->servers[0], "://");
    first = first ? first + 3 : settings->servers[0];
    snprintf(settings->where, sizeof settings->where, "nats %s%s", first, settings->server_count > 1 ? ",..." : "");
    return 0;
}

/* --- Who it is ---------------------------------------------------------------------------------------------------------- */

static int needs(const char *parameter, const void *given, const char *other, const void *there, gale_error *error) {
    if (!given || there) return 0;
    return gale_error_set(error, GALE_INVALID, "%s: %s belongs to it, and is not given", parameter, other);
}

static int check_access(const nats_settings *s, gale_error *error) {
    int ways = !!s->user + !!s->token_from + !!s->credentials + !!s->nkey;
    if (ways > 1)
        return gale_error_set(error, GALE_INVALID, "%s: of user, tokenFrom, credentials and nkey one is given",
                              s->user ? "user" : "tokenFrom");
    int rc = needs("user", s->user, "passwordFrom", s->password_from, error);
    if (rc == 0) rc = needs("passwordFrom", s->password_from, "user", s->user, error);
    if (rc == 0) rc = needs("nkey", s->nkey, "nkeySeedFrom", s->nkey_seed_from, error);
    if (rc == 0) rc = needs("nkeySeedFrom", s->nkey_seed_from, "nkey", s->nkey, error);
    if (rc == 0) rc = needs("certificate", s->certificate, "key", s->key, error);
    return rc < 0 ? rc : needs("key", s->key, "certificate", s->certificate, error);
}

typedef struct text_row {
    const char *parameter;
    char **to;
} text_row;

int nats_settings_make(nats_settings *settings, const gale_args *args, gale_error *error) {
    *settings = (nats_settings){ .timeout = (int64_t)(gale_args_number(args, "timeout") * 1e3) };
    const text_row rows[] = {
        { "user", &settings->user },
        { "passwordFrom", &settings->password_from },
        { "tokenFrom", &settings->token_from },
        { "credentials", &settings->credentials },
        { "nkey", &settings->nkey },
        { "nkeySeedFrom", &settings->nkey_seed_from },
        { "ca", &settings->ca },
        { "certificate", &settings->certificate },
        { "key", &settings->key },
    };
    int rc = read_servers(settings, args, error);
    for (size_t i = 0; rc == 0 && i < sizeof rows / sizeof *rows; i++)
        rc = nats_copy(rows[i].to, args, rows[i].parameter, error);
    settings->tls = settings->tls || gale_args_flag(args, "tls") || settings->ca || settings->certificate;
    settings->verify = gale_args_flag(args, "tlsVerify");
    return rc < 0 ? rc : check_access(settings, error);
}

void nats_settings_free(nats_settings *settings) {
    for (int i = 0; i < settings->server_count; i++) free(settings->servers[i]);
    free(settings->user);
    free(settings->password_from);
    free(settings->token_from);
    free(settings->credentials);
    free(settings->nkey);
    free(settings->nkey_seed_from);
    free(settings->ca);
    free(settings->certificate);
    free(settings->key);
}

/* --- As cnats wants it -------------------------------------------------------------------------------------------------- */

/* cnats has a copy of what is read. */
static natsStatus set_secret(const nats_settings *s, natsOptions *options, gale_error *error) {
    const char *parameter = s->user ? "passwordFrom" : "tokenFrom";
    char *secret = gale_secret_read(parameter, s->user ? s->password_from : s->token_from, error);
    if (!secret) return NATS_INVALID_ARG;
    natsStatus status = s->user ? natsOptions_SetUserInfo(options, s->user, secret)
                                : natsOptions_SetToken(options, secret);
    gale_secret_free(secret);
    return status;
}

/* Is there such a file? cnats tells of one that is not in words of its own, or not at all. */
static natsStatus look_at(const char *parameter, const char *path, gale_error *error) {
    FILE *file = fopen(path, "r");
    if (file) fclose(file);
    if (file) return NATS_OK;
    (void)gale_error_set(error, GALE_INVALID, "%s: %s cannot be read", parameter, path);
    return NATS_INVALID_ARG;
}

static natsStatus set_access(const nats_settings *s, natsOptions *options, gale_error *error) {
    natsStatus status = NATS_OK;
    if (s->user || s->token_from) status = set_secret(s, options, error);
    if (s->credentials) {
        status = look_at("credentials", s->credentials, error);
        if (status == NATS_OK) status = natsOptions_SetUserCredentialsFromFiles(options, s->credentials, NULL);
    }
    if (s->nkey) {
        status = look_at("nkeySeedFrom", s->nkey_seed_from, error);
        if (status == NATS_OK) status = natsOptions_SetNKeyFromSeed(options, s->nkey, s->nkey_seed_from);
    }
    return status;
}

static natsStatus set_tls(const nats_settings *s, natsOptions *options, gale_error *error) {
    if (!s->tls) return NATS_OK;
    natsStatus status = natsOptions_SetSecure(options, true);
    if (status == NATS_OK && s->ca) status = look_at("ca", s->ca, error);
    if (status == NATS_OK && s->ca) status = natsOptions_LoadCATrustedCertificates(options, s->ca);
    if (status == NATS_OK && s->certificate) status = look_at("certificate", s->certificate, error);
    if (status == NATS_OK && s->certificate) status = look_at("key", s->key, error);
    if (status == NATS_OK && s->certificate)
        status = natsOptions_LoadCertificatesChain(options, s->certificate, s->key);
    if (status == NATS_OK && !s->verify) status = natsOptions_SkipServerVerification(options, true);
    return status;
}

/* Nothing is kept across connections: what was not confirmed is sent again, in order, which cnats' own queue for reconnecting would not keep. */
static natsStatus set_connection(const nats_settings *s, natsOptions *options) {
    natsStatus status = natsOptions_SetServers(options, (const char **)s->servers, s->server_count);
    if (status == NATS_OK) status = natsOptions_SetName(options, "gale");
    if (status == NATS_OK) status = natsOptions_SetTimeout(options, s->timeout);
    if (status == NATS_OK) status = natsOptions_SetWriteDeadline(options, s->timeout);
    if (status == NATS_OK) status = natsOptions_SetAllowReconnect(options, false);
    if (status == NATS_OK) status = natsOptions_SetPingInterval(options, PING_MS);
    return status == NATS_OK ? natsOptions_SetMaxPingsOut(options, PINGS_OUT) : status;
}

natsOptions *nats_settings_options(const nats_settings *s, gale_error *error) {
    natsOptions *options = NULL;
    gale_error why = GALE_ERROR_INIT;
    natsStatus status = natsOptions_Create(&options);
    if (status == NATS_OK) status = set_connection(s, options);
    if (status == NATS_OK) status = set_access(s, options, &why);
    if (status == NATS_OK) status = set_tls(s, options, &why);
    if (status == NATS_OK) return options;
    natsOptions_Destroy(options);
    const char *words = *why.text ? why.text : natsStatus_GetText(status);
    (void)gale_error_set(error, GALE_INVALID, "%s", words);
    return NULL;
}
