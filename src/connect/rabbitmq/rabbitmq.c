/* The connector rabbitmq: gale.spout.RabbitMQ and gale.bolt.RabbitMQSink, by librabbitmq. docs/connectors/rabbitmq.md. */
#include "connect/rabbitmq/rabbitmq.h"

#define MORE(name, type, fallback, text, example)                                                                      \
    GALE_PARAM_MORE(name, type, fallback, text, 0, 0, 0, NULL, NULL, example)
#define READS(name, text, also)                                                                                        \
    { name, GALE_PARAM_TEXT, GALE_PARAM_READS, "", text, 0, 0, NULL, NULL, NULL, also, NULL }

/* Where the broker is, and who asks. */
#define BROKER_ROWS                                                                                                    \
    MORE("url", GALE_PARAM_LIST, NULL,                                                                                 \
         "where the broker is: amqp://host:port/vhost, or amqps:// for TLS; of several one after the other is tried",  \
         "amqp://rabbit1:5672/shop"),                                                                                  \
        MORE("user", GALE_PARAM_TEXT, "",                                                                              \
             "who asks; not given: guest, whom a broker knows that is on the same machine", "gale"),                   \
        READS("passwordFrom", "a file with the user's password", "passwordFile"),                                      \
        READS("ca", "a file with certificates, in PEM, that vouch for the broker; not given: the system's", "caFile"), \
        READS("certificate", "a file with a certificate of gale's own, in PEM", "certFile"),                           \
        READS("certificateKey", "a file with its key, in PEM", "keyFile"),                                             \
        GALE_PARAM_MORE("heartbeat", GALE_PARAM_WHOLE, "30",                                                           \
                        "so many seconds pass between two signs of life: who gives none for twice as long is taken "   \
                        "for lost; 0: there are none",                                                                 \
                        0, 0, 3600, NULL, "seconds", NULL),                                                            \
        GALE_PARAM_MORE("timeout", GALE_PARAM_SECONDS, "10",                                                           \
                        "how long the broker may take to connect, and for each answer", GALE_PARAM_ABOVE, 0, 3600,     \
                        NULL, NULL, NULL)
#define MAX_MESSAGE_ROW(text)                                                                                          \
    GALE_PARAM_MORE("maxMessage", GALE_PARAM_BYTES, "16 MiB", text, 0, 1, 512 << 20, NULL, NULL, NULL)

static const gale_param spout_params[] = {
    BROKER_ROWS,
    MORE("queue", GALE_PARAM_TEXT, NULL, "the queue that is read", "orders"),
    GALE_PARAM_MORE(
        "emit", GALE_PARAM_FIELDS, "body",
        "the fields that go out: body, key (the routing key), exchange, headers (a map), time (milliseconds "
        "since 1970), id, redelivered, attempt, type, contentType, contentEncoding, correlationId, replyTo, "
        "priority",
        GALE_PARAM_OUTPUT, 0, 0, NULL, NULL, "[body, key]"),
    GALE_PARAM_MORE("prefetch", GALE_PARAM_WHOLE, "1000",
                    "so many messages the broker gives a task before it has answers to some", 0, 1, 65535, NULL, NULL,
                    NULL),
    GALE_PARAM_MORE("retry", GALE_PARAM_WORD, "here",
                    "what fails is emitted again, or goes back to the queue, for anybody who reads it", 0, 0, 0,
                    "here queue", NULL, NULL),
    GALE_PARAM_MORE("maxAttempts", GALE_PARAM_WHOLE, "3",
                    "how often a message is tried before it is rejected, which brings it to the queue's dead-letter "
                    "exchange; with retry: queue as far as the queue counts",
                    0, 1, UINT32_MAX, NULL, NULL, NULL),
    MAX_MESSAGE_ROW("the longest body: a longer message is rejected"),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "64 MiB", "how many bytes of tuples may be open at once, about", 0, 1,
                    INT64_MAX, NULL, NULL, NULL),
    MORE("untilEmpty", GALE_PARAM_BOOL, "false", "the run ends when the queue is empty", NULL),
    MORE("declare", GALE_PARAM_MAP, "",
         "declares the queue, rather than to look whether it is there: durable, quorum, exchange, type, bindings, "
         "deadLetterExchange, deadLetterQueue, arguments",
         "{quorum: true, exchange: shop, bindings: [order.*]}"),
};

static const gale_param sink_params[] = {
    BROKER_ROWS,
    MORE("exchange", GALE_PARAM_TEXT, "",
         "the exchange that is published to; not given: the one without a name, which leads to the queue that "
         "routingKey names",
         "shop"),
    GALE_PARAM_MORE("routingKey", GALE_PARAM_TEXT, "", "the routing key; {field} stands for a field's value",
                    GALE_PARAM_BRACES, 0, 0, NULL, NULL, "order.{country}"),
    GALE_PARAM_MORE("body", GALE_PARAM_FIELD, "", "the field that is the body; not given: the first", GALE_PARAM_INPUT,
                    0, 0, NULL, NULL, "line"),
    GALE_PARAM_MORE("headers", GALE_PARAM_FIELDS, "", "fields that are headers, under their names", GALE_PARAM_INPUT, 0,
                    0, NULL, NULL, "[trace]"),
    GALE_PARAM_MORE("id", GALE_PARAM_FIELD, "", "the field that is the message's id; not given: a name of gale's own",
                    GALE_PARAM_INPUT, 0, 0, NULL, NULL, "order"),
    GALE_PARAM_TAKES("time", GALE_PARAM_FIELD, "",
                     "the field that is the message's time, in milliseconds since 1970: it has whole seconds",
                     GALE_PARAM_INPUT, "int", "time"),
    MORE("contentType", GALE_PARAM_TEXT, "", "what the messages' content type is", "application/json"),
    MORE("type", GALE_PARAM_TEXT, "", "what the messages' type is", "order"),
    MORE("persistent", GALE_PARAM_BOOL, "true", "a durable queue has its messages on its disk", NULL),
    MORE("mandatory", GALE_PARAM_BOOL, "true", "what no queue takes is rejected; else the broker drops it", NULL),
    MORE("once", GALE_PARAM_BOOL, "true",
         "in a durable run: a message goes when a checkpoint that has its id lasts, so that it has the same id however "
         "often it comes",
         NULL),
    MAX_MESSAGE_ROW("the longest body: a longer one is rejected"),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "16 MiB", "so many bytes are on their way at once, about", 0, 1,
                    1 << 30, NULL, NULL, NULL),
    GALE_PARAM_MORE("inFlight", GALE_PARAM_WHOLE, "10000", "so many messages are on their way at once", 0, 1, 1000000,
                    NULL, NULL, NULL),
    GALE_PARAM_MORE("finishWait", GALE_PARAM_SECONDS, "60",
                    "at the end: how long nothing may be confirmed before it gives up", 0, 0, 86400, NULL, NULL, NULL),
    MORE("declare", GALE_PARAM_MAP, "", "declares the exchange, rather than to look whether it is there: type, durable",
         "{type: topic}"),
};

static const gale_class classes[] = {
    { "gale.spout.RabbitMQ", GALE_CLASS_SPOUT, 0, "emits messages of a queue of RabbitMQ, tracked, and answers each",
      GALE_TABLE(spout_params), NULL, NULL, "gale.rate", rmq_make_spout, NULL, NULL,
      "body string bytes, key string bytes, exchange string bytes, headers map, time int, redelivered bool, attempt "
      "int, priority int" },
    GALE_BOLT_CLASS("gale.bolt.RabbitMQSink",
                    "publishes each tuple to an exchange of RabbitMQ, and acks it when the broker has confirmed it",
                    sink_params, NULL, rmq_make_sink),
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("rabbitmq", "1.0", "gale.", "Apache-2.0",
                                                   "reads queues of RabbitMQ, and publishes to its exchanges", classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
