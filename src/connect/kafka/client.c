#include "connect/kafka/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

void kafka_client_init(kafka_client *client, const kafka_settings *given, const gale_context *context,
                       gale_collector *out) {
    *client = (kafka_client){ .given = given, .context = context, .out = out, .bell = -1 };
}

/* --- What it says --------------------------------------------------------------------------------------------------- */

static void write_log(const rd_kafka_t *rk, int level, const char *facility, const char *text) {
    static const int32_t levels[] = { GALE_LOG_ERROR, GALE_LOG_ERROR, GALE_LOG_ERROR, GALE_LOG_ERROR,
                                      GALE_LOG_WARN,  GALE_LOG_INFO,  GALE_LOG_INFO,  GALE_LOG_DEBUG };
    const kafka_client *client = rd_kafka_opaque(rk);
    if (client->quiet && strcmp(facility, "CONFWARN") == 0) return;
    gale_log(client->context->logger, level < 0 || level > 7 ? GALE_LOG_INFO : levels[level],
             client->context->component, "kafka: %s: %s", facility, text);
}

void kafka_client_unwell(kafka_client *client, const char *about, const char *why) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "kafka %s: %s%s%s", client->given->brokers, about ? about : "", about ? ": " : "", why);
    client->unwell = true;
    gale_health(client->out, text);
}

void kafka_client_well(kafka_client *client) {
    if (!client->unwell) return;
    client->unwell = false;
    gale_health(client->out, NULL);
}

static void end_of_it(kafka_client *client) {
    char why[512], text[640];
    rd_kafka_resp_err_t err = rd_kafka_fatal_error(client->rk, why, sizeof why);
    snprintf(text, sizeof text, "kafka %s: %s (%s)", client->given->brokers, why, rd_kafka_err2name(err));
    client->over = true;
    gale_stop(client->out, GALE_IO, text);
}

static void hear_error(rd_kafka_t *rk, int code, const char *text, void *user) {
    kafka_client *client = user;
    (void)rk;
    switch (code) {
    case RD_KAFKA_RESP_ERR__FATAL: end_of_it(client); break;
    case RD_KAFKA_RESP_ERR__TRANSPORT: snprintf(client->last, sizeof client->last, "%s", text); break;
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
        kafka_client_unwell(client, NULL, *client->last ? client->last : "no broker can be reached");
        break;
    default: kafka_client_unwell(client, NULL, text);
    }
}

/* A broker that is up stands in the statistics as "state":"UP", and nothing else does. */
static int hear_statistics(rd_kafka_t *rk, char *json, size_t size, void *user) {
    static const char up[] = "\"state\":\"UP\"";
    kafka_client *client = user;
    (void)rk, (void)size; /* it ends with a NUL */
    if (client->statistics) client->statistics(client, json);
    if (strstr(json, up)) {
        *client->last = '\0';
        kafka_client_well(client);
    } else if (*client->last && client->busy) {
        kafka_client_unwell(client, NULL, client->last);
    }
    return 0;
}

/* --- It ------------------------------------------------------------------------------------------------------------- */

static int make(kafka_client *client, rd_kafka_type_t type, rd_kafka_conf_t *conf, gale_error *error) {
    char why[512];
    rd_kafka_conf_set_opaque(conf, client);
    rd_kafka_conf_set_log_cb(conf, write_log);
    rd_kafka_conf_set_error_cb(conf, hear_error);
    rd_kafka_conf_set_stats_cb(conf, hear_statistics);
    client->rk = rd_kafka_new(type, conf, why, sizeof why);
    if (client->rk) return 0;
    rd_kafka_conf_destroy(conf);
    return gale_error_set(error, GALE_INVALID, "kafka: %s", why);
}

static int hang_bell(kafka_client *client, gale_watch_fn *call, bool always, gale_error *error) {
    static const uint64_t one = 1;
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    client->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (client->bell < 0) return gale_error_set(error, GALE_IO, "kafka: eventfd: %s", strerror(errno));
    options.fd = client->bell;
    options.events = GALE_WATCH_READ;
    options.always = always;
    options.call = call;
    options.user = client;
    int rc = gale_watch_new(client->out, &options, &client->watch);
    if (rc < 0) return gale_error_set(error, rc, "kafka: its queue cannot be watched: %s", gale_error_text(rc));
    rd_kafka_queue_io_event_enable(client->queue, client->bell, &one, sizeof one);
    /* It rings when the queue begins to have something: what is in it since before would keep it silent for ever. */
    return write(client->bell, &one, sizeof one) == (ssize_t)sizeof one
               ? 0
               : gale_error_set(error, GALE_IO, "kafka: eventfd: %s", strerror(errno));
}

int kafka_client_open(kafka_client *client, rd_kafka_type_t type, rd_kafka_conf_t *conf, gale_watch_fn *call,
                      bool always, gale_error *error) {
    int rc = make(client, type, conf, error);
    if (rc < 0) return rc;
    if (type == RD_KAFKA_CONSUMER) rd_kafka_poll_set_consumer(client->rk);
    client->queue = type == RD_KAFKA_CONSUMER ? rd_kafka_queue_get_consumer(client->rk)
                                              : rd_kafka_queue_get_main(client->rk);
    rd_kafka_set_log_queue(client->rk, client->queue);
    return hang_bell(client, call, always, error);
}

void kafka_client_heard(kafka_client *client) {
    uint64_t rung;
    ssize_t got = read(client->bell, &rung, sizeof rung);
    (void)got; /* it was silent already */
}

void kafka_client_close(kafka_client *client) {
    if (client->queue) {
        rd_kafka_queue_io_event_enable(client->queue, -1, NULL, 0);
        rd_kafka_queue_destroy(client->queue);
    }
    if (client->rk) rd_kafka_destroy_flags(client->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    if (client->watch) (void)gale_watch_free(client->out, client->watch);
    if (client->bell >= 0) close(client->bell);
    *client = (kafka_client){ .bell = -1 };
}
