#include "connect/rabbitmq/settings.h"

#include <gale/connect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char guest[] = "guest"; /* RabbitMQ's own user of a broker on the same machine, and its password */

int rmq_settings_check_short(const char *parameter, const char *text, gale_error *error) {
    if (!text || strlen(text) < RMQ_NAME) return 0;
    return gale_error_set(error, GALE_INVALID, "%s: it has at most %d bytes", parameter, RMQ_NAME - 1);
}

static int read_addresses(rmq_settings *settings, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "url");
    if (!list.size) return gale_error_set(error, GALE_INVALID, "url: it names no broker");
    if (list.size > RMQ_ADDRESSES_MAX)
        return gale_error_set(error, GALE_INVALID, "url: there are at most %d", RMQ_ADDRESSES_MAX);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < list.size; i++) {
        char text[1024];
        gale_value one = gale_list_at(&list, i);
        if (one.size >= sizeof text) return gale_error_set(error, GALE_INVALID, "url: it is too long");
        snprintf(text, sizeof text, "%.*s", (int)one.size, one.as.string);
        rc = rmq_address_read(text, &settings->addresses[i], error);
        settings->address_count += rc == 0;
    }
    return rc;
}

static int check_access(const rmq_settings *settings, gale_error *error) {
    if (settings->user && !settings->password_from)
        return gale_error_set(error, GALE_INVALID, "user: passwordFrom says the file with the password of %s",
                              settings->user);
    if (!settings->user && settings->password_from)
        return gale_error_set(error, GALE_INVALID, "passwordFrom: user says whose password it is");
    if (!settings->certificate != !settings->certificate_key)
        return gale_error_set(error, GALE_INVALID, "certificate: it goes with certificateKey");
    for (size_t i = 0; i < settings->address_count; i++)
        if (settings->addresses[i].tls) return 0;
    const char *given = settings->ca ? "ca" : settings->certificate ? "certificate" : NULL;
    return given ? gale_error_set(error, GALE_INVALID, "%s: it is of TLS: amqps://", given) : 0;
}

int rmq_settings_make(rmq_settings *settings, const gale_args *args, gale_error *error) {
    int rc = read_addresses(settings, args, error);
    if (rc == 0) rc = rmq_copy(&settings->user, args, "user", error);
    if (rc == 0) rc = rmq_copy(&settings->password_from, args, "passwordFrom", error);
    if (rc == 0) rc = rmq_copy(&settings->ca, args, "ca", error);
    if (rc == 0) rc = rmq_copy(&settings->certificate, args, "certificate", error);
    if (rc == 0) rc = rmq_copy(&settings->certificate_key, args, "certificateKey", error);
    settings->heartbeat = (int)gale_args_whole(args, "heartbeat");
    settings->timeout_ms = (int64_t)(gale_args_number(args, "timeout") * 1e3);
    return rc < 0 ? rc : check_access(settings, error);
}

void rmq_settings_free(rmq_settings *settings) {
    free(settings->user);
    free(settings->password_from);
    free(settings->ca);
    free(settings->certificate);
    free(settings->certificate_key);
}

const char *rmq_settings_user(const rmq_settings *settings) {
    return settings->user ? settings->user : guest;
}

char *rmq_settings_password(const rmq_settings *settings, gale_error *error) {
    if (settings->user) return gale_secret_read("passwordFrom", settings->password_from, error);
    char *password = strdup(guest);
    if (!password) (void)rmq_no_memory(error);
    return password;
}
