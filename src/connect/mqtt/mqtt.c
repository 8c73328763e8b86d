/* The connector mqtt: gale.spout.Mqtt and gale.bolt.MqttSink, by a codec of our own. docs/connectors/mqtt.md. */
#include "connect/mqtt/mqtt.h"

#include "wire/settings.h"

#define MORE(name, type, fallback, text, example)                                                                      \
    GALE_PARAM_MORE(name, type, fallback, text, 0, 0, 0, NULL, NULL, example)

/* Who connects. `session` is the default of how long it stays. */
#define CLIENT_ROWS(stays)                                                                                             \
    WIRE_ROWS("localhost:1883"),                                                                                       \
        GALE_PARAM_MORE("version", GALE_PARAM_WORD, "5", "the version of MQTT", 0, 0, 0, "5 3.1.1", NULL, NULL),       \
        MORE("clientId", GALE_PARAM_TEXT, "",                                                                          \
             "the client id, which no other client of the broker has; several tasks have -0, -1 and so on behind it; " \
             "not given: gale-TOPOLOGY-COMPONENT",                                                                     \
             "meters"),                                                                                                \
        GALE_PARAM_MORE("session", GALE_PARAM_SECONDS, stays,                                                          \
                        "how long the broker keeps the session while nobody is connected; 0: not at all; 3.1.1 knows " \
                        "0 and for ever alone",                                                                        \
                        0, 0, 4294967295, NULL, NULL, "7d"),                                                           \
        GALE_PARAM_MORE("keepAlive", GALE_PARAM_SECONDS, "30",                                                         \
                        "how long the broker takes a silent client for a living one; 0: for ever", 0, 0, 65535, NULL,  \
                        NULL, NULL),                                                                                   \
        MORE("user", GALE_PARAM_TEXT, "", "who connects", "gale"),                                                     \
        WIRE_READS("passwordFrom", "a file with the user's password"),                                                 \
        MORE("will", GALE_PARAM_MAP, "",                                                                               \
             "what the broker says when the connection is lost: topic, payload, qos, retain, and delay (seconds; "     \
             "MQTT 5)",                                                                                                \
             "{topic: gale/state, payload: gone, qos: 1, retain: true}"),                                              \
        GALE_PARAM_MORE("maxMessage", GALE_PARAM_BYTES, "16 MiB", "the largest message", 0, 1024, 256 << 20, NULL,     \
                        NULL, NULL)

static const gale_param spout_params[] = {
    { "topics", GALE_PARAM_LIST, 0, NULL, "filters of what is read, as $share/GROUP/FILTER shared with others", 0, 0,
      NULL, NULL, "[sensors/+/temperature, alarms/#]", "topic", NULL },
    GALE_PARAM_MORE("qos", GALE_PARAM_WHOLE, "1", "the QoS of the subscriptions", 0, 0, 2, NULL, NULL, NULL),
    GALE_PARAM_MORE("emit", GALE_PARAM_FIELDS, "payload",
                    "the fields that go out: payload, topic, qos, retain, time (milliseconds since 1970), filter, "
                    "properties (a map), contentType, responseTopic, correlation, expiry",
                    GALE_PARAM_OUTPUT, 0, 0, NULL, NULL, "[payload, topic]"),
    MORE("levels", GALE_PARAM_TEXT, "", "levels of the topic that are fields, too, behind those of emit",
         "sensors/{site}/{kind}/+"),
    GALE_PARAM_MORE("retained", GALE_PARAM_WORD, "take", "what becomes of messages that the broker had kept", 0, 0, 0,
                    "take skip", NULL, NULL),
    GALE_PARAM_MORE("inFlight", GALE_PARAM_WHOLE, "1000",
                    "how many messages may be without an answer: MQTT 5's receive maximum", 0, 1, 65535, NULL, NULL,
                    NULL),
    MORE("deadLetters", GALE_PARAM_TEXT, "",
         "the topic that a message goes to which is given up or rejected; it is answered when it is there",
         "sensors-dead"),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "64 MiB", "how many bytes of messages may be open at once, about", 0, 1,
                    INT64_MAX, NULL, NULL, NULL),
    GALE_PARAM_MORE("maxAttempts", GALE_PARAM_WHOLE, "3",
                    "how often a message is tried before it is reported and given up", 0, 1, UINT32_MAX, NULL, NULL,
                    NULL),
    CLIENT_ROWS("1d"),
};

static const gale_param sink_params[] = {
    GALE_PARAM_MORE("topic", GALE_PARAM_TEXT, NULL,
                    "where messages go; {field} stands for a field's value, {+field} for levels", GALE_PARAM_BRACES, 0,
                    0, NULL, NULL, "alerts/{site}"),
    GALE_PARAM_MORE("payload", GALE_PARAM_FIELD, "", "the field that is the payload; not given: the first",
                    GALE_PARAM_INPUT, 0, 0, NULL, NULL, "line"),
    GALE_PARAM_MORE("qos", GALE_PARAM_WHOLE, "1", "the QoS", 0, 0, 2, NULL, NULL, NULL),
    MORE("retain", GALE_PARAM_BOOL, "false", "the broker keeps the last message of each topic", NULL),
    GALE_PARAM_MORE("expiry", GALE_PARAM_SECONDS, "0",
                    "of MQTT 5: how long a message is of interest, in whole seconds; 0: for ever", 0, 0, 4294967295,
                    NULL, NULL, "1h"),
    GALE_PARAM_MORE("properties", GALE_PARAM_FIELDS, "", "of MQTT 5: fields that are properties, under their names",
                    GALE_PARAM_INPUT, 0, 0, NULL, NULL, "[trace]"),
    MORE("contentType", GALE_PARAM_TEXT, "", "of MQTT 5: what a payload is", "application/json"),
    GALE_PARAM_MORE("inFlight", GALE_PARAM_WHOLE, "0",
                    "how many messages may be without a confirmation, unless the broker takes fewer; 0: 1,000, and 20 "
                    "in 3.1.1, whose brokers cannot say what they take",
                    0, 0, 60000, NULL, NULL, "100"),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "16 MiB", "so many bytes are on their way at once, about", 0, 1,
                    1 << 30, NULL, NULL, NULL),
    GALE_PARAM_MORE("finishWait", GALE_PARAM_SECONDS, "60",
                    "at the end: how long nothing may be confirmed before it gives up", 0, 0, 86400, NULL, NULL, NULL),
    CLIENT_ROWS("1h"),
};

static const gale_class classes[] = {
    { "gale.spout.Mqtt", GALE_CLASS_SPOUT, 0, "emits messages of MQTT topics, and answers each when its tree is done",
      GALE_TABLE(spout_params), NULL, NULL, "gale.rate", mqtt_make_spout, NULL, NULL,
      "payload string bytes, topic string bytes, qos int, retain bool, time int, filter string bytes, properties map, "
      "expiry int" },
    GALE_BOLT_CLASS("gale.bolt.MqttSink", "publishes each tuple by MQTT, and acks it when the broker has it",
                    sink_params, NULL, mqtt_make_sink),
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("mqtt", "1.0", "gale.", "Apache-2.0", "reads and writes MQTT topics",
                                                   classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
