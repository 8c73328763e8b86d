/* What a class of Kafka's was given in a file: checked, and as librdkafka wants it.
 * Threads: frozen once made, but for the librdkafka configuration, which is copied for each task. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_KAFKA_SETTINGS_H
#define GALE_CONNECT_KAFKA_SETTINGS_H

#include <gale/plugin.h>
#include <librdkafka/rdkafka.h>

/* A name and a text. */
typedef struct kafka_pair {
    char *name;
    char *text;
} kafka_pair;

typedef struct kafka_pairs {
    kafka_pair *list;
    size_t count;
} kafka_pairs;

/* What both classes have. */
typedef struct kafka_settings {
    rd_kafka_conf_t *conf; /* without what is secret */
    kafka_pairs secrets;   /* a property, and the file that has its value */
    char *brokers;
} kafka_settings;

/* A row of a table of properties, which ends with a NULL. */
typedef struct kafka_property {
    const char *name, *text;
} kafka_property;

/* Of the parameters that both classes have. `defaults` are properties that the file's go before; `own` are those that the class sets itself, with what
 * is said to who gives one (but for the brokers', which is said of both classes). GALE_INVALID with a sentence, which begins with the parameter;
 * GALE_NO_MEMORY. What was made is freed by kafka_settings_free, also then. */
int kafka_settings_make(kafka_settings *settings, const gale_args *args, const kafka_property *defaults,
                        const kafka_property *own, gale_error *error);
void kafka_settings_free(kafka_settings *settings);

/* Sets those that the class sets itself; must be ones that librdkafka has. */
int kafka_settings_set(kafka_settings *settings, const kafka_property *properties, gale_error *error);

/* The next of names with commas between them: `*at` goes behind it. False: there is none. */
bool kafka_next_name(const char **at, gale_str *ret_name);

/* The configuration for a task, secrets included: librdkafka's from then on. NULL with a sentence: a file of a secret cannot be read, or
 * its value is refused. */
rd_kafka_conf_t *kafka_settings_conf(const kafka_settings *settings, gale_error *error);

/* A copy of a text; NULL of NULL, and with a report when memory is out. */
char *kafka_copy(const char *text, gale_error *error);

#endif
