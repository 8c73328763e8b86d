#include "connect/kafka/settings.h"

#include <gale/connect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 512 };

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

char *kafka_copy(const char *text, gale_error *error) {
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy) (void)no_memory(error);
    return copy;
}

/* --- Properties ----------------------------------------------------------------------------------------------------- */

static int set(rd_kafka_conf_t *conf, const char *parameter, const char *property, const char *value,
               gale_error *error) {
    char why[TEXT];
    rd_kafka_conf_res_t res = rd_kafka_conf_set(conf, property, value, why, sizeof why);
    if (res == RD_KAFKA_CONF_OK) return 0;
    if (res == RD_KAFKA_CONF_UNKNOWN)
        return gale_error_set(error, GALE_INVALID, "%s %s: librdkafka has no such property", parameter, property);
    return gale_error_set(error, GALE_INVALID, "%s %s: %s", parameter, property, why);
}

int kafka_settings_set(kafka_settings *settings, const kafka_property *properties, gale_error *error) {
    int rc = 0;
    for (; rc == 0 && properties->name; properties++)
        rc = set(settings->conf, "properties", properties->name, properties->text, error);
    return rc;
}

static const kafka_property own_of_both[] = {
    { "bootstrap.servers", "brokers says it" },
    { "metadata.broker.list", "brokers says it" },
    { NULL, NULL },
};

/* What is said to who gives one; NULL: it may be given. */
static const char *instead_of(const kafka_property *own, const char *property) {
    for (; own->name; own++)
        if (strcmp(own->name, property) == 0) return own->text;
    return NULL;
}

static int check_own(const kafka_property *own, const char *parameter, const char *property, gale_error *error) {
    const char *instead = instead_of(own_of_both, property);
    if (!instead) instead = instead_of(own, property);
    if (!instead) return 0;
    return gale_error_set(error, GALE_INVALID, "%s %s: it is not set so: %s", parameter, property, instead);
}

/* As librdkafka takes it. */
static int text_of(const gale_value *value, char *text, size_t size) {
    char number[GALE_NUMBER_TEXT];
    gale_str found;
    if (value->type == GALE_TYPE_NULL || value->type == GALE_TYPE_BYTES || !gale_value_text(value, number, &found))
        return GALE_TYPE;
    int length = snprintf(text, size, "%.*s", (int)found.size, found.data);
    return length >= 0 && (size_t)length < size ? 0 : GALE_TOO_LARGE;
}

typedef int pair_fn(void *user, const char *parameter, const char *name, const char *text, gale_error *error);

/* Each pair of a parameter that is a map. */
static int each_pair(const gale_args *args, const char *parameter, pair_fn *each, void *user, gale_error *error) {
    gale_value map = gale_args_value(args, parameter), value;
    gale_str key;
    int rc = 0;
    for (size_t i = 0; rc == 0 && map.type == GALE_TYPE_MAP && gale_map_at(&map, i, &key, &value); i++) {
        char name[TEXT], text[8192];
        if (snprintf(name, sizeof name, "%.*s", (int)key.size, key.data) >= (int)sizeof name)
            return gale_error_set(error, GALE_INVALID, "%s: a name has more than %d bytes", parameter, TEXT - 1);
        rc = text_of(&value, text, sizeof text);
        if (rc < 0)
            return gale_error_set(error, GALE_INVALID, "%s %s: it must be a text, a number, true or false%s", parameter,
                                  name, rc == GALE_TOO_LARGE ? ", of less than 8,192 bytes" : "");
        rc = each(user, parameter, name, text, error);
    }
    return rc;
}

typedef struct making {
    kafka_settings *settings;
    const kafka_property *own;
} making;

static int add_property(void *user, const char *parameter, const char *name, const char *text, gale_error *error) {
    making *m = user;
    int rc = check_own(m->own, parameter, name, error);
    return rc < 0 ? rc : set(m->settings->conf, parameter, name, text, error);
}

/* --- Secrets -------------------------------------------------------------------------------------------------------- */

/* Its value is not known yet: it is unset, which only what there is can be. */
static bool is_property(rd_kafka_conf_t *conf, const char *name) {
    char why[TEXT];
    return rd_kafka_conf_set(conf, name, NULL, why, sizeof why) != RD_KAFKA_CONF_UNKNOWN;
}

static int add_secret(void *user, const char *parameter, const char *name, const char *text, gale_error *error) {
    making *m = user;
    kafka_pairs *secrets = &m->settings->secrets;
    int rc = check_own(m->own, parameter, name, error);
    if (rc < 0) return rc;
    if (!is_property(m->settings->conf, name))
        return gale_error_set(error, GALE_INVALID, "%s %s: librdkafka has no such property", parameter, name);
    kafka_pair *list = realloc(secrets->list, (secrets->count + 1) * sizeof *list);
    if (!list) return no_memory(error);
    secrets->list = list;
    list[secrets->count] = (kafka_pair){ kafka_copy(name, error), kafka_copy(text, error) };
    secrets->count++;
    return list[secrets->count - 1].name && list[secrets->count - 1].text ? 0 : GALE_NO_MEMORY;
}

/* What librdkafka says of a value that it refuses may have the value in it. */
static int set_secret(rd_kafka_conf_t *conf, const kafka_pair *secret, gale_error *error) {
    char why[TEXT], *text = gale_secret_read("propertiesFrom", secret->text, error);
    if (!text) return GALE_INVALID;
    int rc = rd_kafka_conf_set(conf, secret->name, text, why, sizeof why) == RD_KAFKA_CONF_OK ? 0 : GALE_INVALID;
    gale_secret_free(text);
    if (rc == 0) return 0;
    return gale_error_set(error, rc, "propertiesFrom: what %s has is no value of %s", secret->text, secret->name);
}

rd_kafka_conf_t *kafka_settings_conf(const kafka_settings *settings, gale_error *error) {
    rd_kafka_conf_t *conf = rd_kafka_conf_dup(settings->conf);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < settings->secrets.count; i++)
        rc = set_secret(conf, &settings->secrets.list[i], error);
    if (rc == 0) return conf;
    rd_kafka_conf_destroy(conf);
    return NULL;
}

/* --- Both ----------------------------------------------------------------------------------------------------------- */

bool kafka_next_name(const char **at, gale_str *ret_name) {
    static const char between[] = ", ";
    *at += strspn(*at, between);
    *ret_name = (gale_str){ *at, strcspn(*at, between) };
    *at += ret_name->size;
    return ret_name->size > 0;
}

int kafka_settings_make(kafka_settings *settings, const gale_args *args, const kafka_property *defaults,
                        const kafka_property *own, gale_error *error) {
    static const kafka_property both[] = {
        { "client.id", "gale" },
        { "log.queue", "true" },
        { "statistics.interval.ms", "1000" },
        { NULL, NULL },
    };
    making m = { settings, own };
    *settings = (kafka_settings){ .conf = rd_kafka_conf_new() };
    settings->brokers = kafka_copy(gale_args_text(args, "brokers"), error);
    if (!settings->brokers) return GALE_NO_MEMORY;
    int rc = set(settings->conf, "brokers", "bootstrap.servers", settings->brokers, error);
    if (rc == 0) rc = kafka_settings_set(settings, both, error);
    if (rc == 0) rc = kafka_settings_set(settings, defaults, error);
    if (rc == 0) rc = each_pair(args, "properties", add_property, &m, error);
    return rc < 0 ? rc : each_pair(args, "propertiesFrom", add_secret, &m, error);
}

void kafka_settings_free(kafka_settings *settings) {
    if (settings->conf) rd_kafka_conf_destroy(settings->conf);
    for (size_t i = 0; i < settings->secrets.count; i++) {
        free(settings->secrets.list[i].name);
        free(settings->secrets.list[i].text);
    }
    free(settings->secrets.list);
    free(settings->brokers);
}
