/* The connector kafka: gale.spout.Kafka and gale.bolt.KafkaSink, by librdkafka. docs/connectors/kafka.md. */
#include "connect/kafka/kafka.h"

#define BROKERS_ROW                                                                                                    \
    GALE_PARAM_MORE("brokers", GALE_PARAM_TEXT, NULL, "brokers to ask first, host:port with commas between them", 0,   \
                    0, 0, NULL, NULL, "kafka1:9092,kafka2:9092")
#define PROPERTIES_ROW                                                                                                 \
    GALE_PARAM_MORE("properties", GALE_PARAM_MAP, "", "librdkafka's own settings, by its names", 0, 0, 0, NULL, NULL,  \
                    "{security.protocol: sasl_ssl}")
#define SECRETS_ROW                                                                                                    \
    GALE_PARAM_MORE("propertiesFrom", GALE_PARAM_MAP, "",                                                              \
                    "settings whose values are read from files when the run begins", 0, 0, 0, NULL, NULL,              \
                    "{sasl.password: /run/secrets/kafka}")

static const gale_param spout_params[] = {
    BROKERS_ROW,
    { "topics", GALE_PARAM_LIST, 0, NULL, "what is read; one that begins with ^ is a pattern", 0, 0, NULL, NULL,
      "[clicks, views]", "topic", NULL },
    GALE_PARAM("group", GALE_PARAM_TEXT, NULL,
               "the group that the topics are read for: its members share them, and it goes on where "
               "it was"),
    GALE_PARAM_MORE("member", GALE_PARAM_TEXT, "",
                    "partitions are fixed, and this process has its share of them: 2/3 is the second of three", 0, 0, 0,
                    NULL, NULL, "2/3"),
    GALE_PARAM_MORE("from", GALE_PARAM_ANY, "earliest",
                    "where a group begins that has read nothing yet: earliest, latest, a time "
                    "(2026-11-01T00:00:00Z), an age (-1h), or offsets ({topic: {0: 123}})",
                    0, 0, 0, NULL, NULL, "-1h"),
    GALE_PARAM_MORE("fromAlways", GALE_PARAM_BOOL, "false",
                    "each run begins there, whatever the group was told; partitions are fixed then", 0, 0, 0, NULL,
                    NULL, NULL),
    GALE_PARAM_MORE(
        "emit", GALE_PARAM_FIELDS, "value",
        "the fields that go out: value, key, topic, partition, offset, timestamp (milliseconds since 1970), "
        "headers (a map)",
        GALE_PARAM_OUTPUT, 0, 0, NULL, NULL, "[key, value]"),
    GALE_PARAM_MORE("untilEnd", GALE_PARAM_BOOL, "false", "the run ends when all that is there was read", 0, 0, 0, NULL,
                    NULL, NULL),
    GALE_PARAM_MORE("commitEvery", GALE_PARAM_SECONDS, "5",
                    "so often the group is told how far its messages are answered", 0, 0, 3600, NULL, NULL, "1s"),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "64 MiB", "how many bytes of messages may be open at once, about", 0, 1,
                    INT64_MAX, NULL, NULL, NULL),
    GALE_PARAM_MORE("maxAttempts", GALE_PARAM_WHOLE, "3",
                    "how often a message is tried before it is reported and given up", 0, 1, UINT32_MAX, NULL, NULL,
                    NULL),
    GALE_PARAM_MORE("deadLetters", GALE_PARAM_TEXT, "",
                    "the topic that a message goes to which is given up or rejected, with headers that say why and "
                    "whence; it is answered when it is there",
                    0, 0, 0, NULL, NULL, "clicks-dead"),
    PROPERTIES_ROW,
    SECRETS_ROW,
};

static const gale_param sink_params[] = {
    BROKERS_ROW,
    GALE_PARAM("topic", GALE_PARAM_TEXT, NULL, "where the messages go"),
    GALE_PARAM_MORE("key", GALE_PARAM_FIELD, "", "the field that is the key: messages of one key stay in order",
                    GALE_PARAM_INPUT, 0, 0, NULL, NULL, "user"),
    GALE_PARAM_MORE("value", GALE_PARAM_FIELD, "",
                    "the field that is the value; not given: the first that is not the key", GALE_PARAM_INPUT, 0, 0,
                    NULL, NULL, "line"),
    GALE_PARAM_MORE("headers", GALE_PARAM_FIELDS, "", "fields that are headers, under their names", GALE_PARAM_INPUT, 0,
                    0, NULL, NULL, "[trace]"),
    GALE_PARAM_TAKES("timestamp", GALE_PARAM_FIELD, "",
                     "the field that is the time, in milliseconds since 1970; not given: now", GALE_PARAM_INPUT, "int",
                     "time"),
    GALE_PARAM_MORE("markers", GALE_PARAM_TEXT, "",
                    "in a durable run: the sink writes in transactions, each message once, with markers in this topic, "
                    "which is made when it is missing",
                    0, 0, 0, NULL, NULL, "gale-markers"),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "16 MiB", "so many bytes are on their way at once, about", 0, 1,
                    1 << 30, NULL, NULL, NULL),
    GALE_PARAM_MORE("finishWait", GALE_PARAM_SECONDS, "60",
                    "at the end: how long nothing may be confirmed before it gives up", 0, 0, 86400, NULL, NULL, NULL),
    PROPERTIES_ROW,
    SECRETS_ROW,
};

static const gale_class classes[] = {
    { "gale.spout.Kafka", GALE_CLASS_SPOUT, 0, "emits messages of Kafka topics, tracked, as a member of a group",
      GALE_TABLE(spout_params), NULL, NULL, "gale.rate gale.member", kafka_make_spout, NULL, NULL,
      "value string bytes, key string bytes, topic string, partition int, offset int, timestamp int, headers map" },
    { "gale.bolt.KafkaSink", GALE_CLASS_BOLT, 0,
      "writes each tuple to a Kafka topic, and acks it when the brokers have it", GALE_TABLE(sink_params), NULL, NULL,
      "gale.member", NULL, kafka_make_sink, NULL, NULL },
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("kafka", "1.0", "gale.", "Apache-2.0",
                                                   "reads and writes Kafka topics", classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
