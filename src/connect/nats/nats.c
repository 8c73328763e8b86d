/* The connector nats: gale.spout.Nats and gale.bolt.NatsSink, by cnats. docs/connectors/nats.md. */
#include "connect/nats/nats.h"

#define SERVERS_ROW                                                                                                    \
    {                                                                                                                  \
        "servers", GALE_PARAM_LIST, 0, NULL,                                                                           \
            "servers, of which one is connected to: nats://host:4222, tls://host:4222", 0, 0, NULL, NULL,              \
            "[\"nats://nats1:4222\", \"nats://nats2:4222\"]", NULL, NULL                                               \
    }
#define TEXT_ROW(name, text, example) GALE_PARAM_MORE(name, GALE_PARAM_TEXT, "", text, 0, 0, 0, NULL, NULL, example)

/* Who it is, and how it speaks. */
#define CONNECTION_ROWS                                                                                                \
    TEXT_ROW("user", "the user's name", "gale"),                                                                       \
        TEXT_ROW("passwordFrom", "the file that has the user's password, read at each connection",                     \
                 "/run/secrets/nats"),                                                                                 \
        TEXT_ROW("tokenFrom", "the file that has a token, read at each connection", "/run/secrets/nats-token"),        \
        TEXT_ROW("credentials", "a file of credentials (.creds)", "/etc/gale/gale.creds"),                             \
        TEXT_ROW("nkey", "the public key of a user who has an nkey",                                                   \
                 "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"),                                          \
        TEXT_ROW("nkeySeedFrom", "the file that has the seed of nkey", "/run/secrets/nats-seed"),                      \
        GALE_PARAM("tls", GALE_PARAM_BOOL, "false", "TLS is spoken, also where no address begins with tls://"),        \
        TEXT_ROW("ca", "a file of certificates (PEM) that the server's is verified by; not given: the system's",       \
                 "/etc/ssl/nats-ca.pem"),                                                                              \
        TEXT_ROW("certificate", "a file that has the own certificate (PEM)", "/etc/gale/client.pem"),                  \
        TEXT_ROW("key", "the file that has its key (PEM)", "/etc/gale/client.key"),                                    \
        GALE_PARAM("tlsVerify", GALE_PARAM_BOOL, "true", "the server's certificate and name are verified"),            \
        GALE_PARAM_MORE("timeout", GALE_PARAM_SECONDS, "5",                                                            \
                        "how long a connection, or an answer, may take until it is tried anew", GALE_PARAM_ABOVE, 0,   \
                        3600, NULL, NULL, "2s")

static const gale_param spout_params[] = {
    SERVERS_ROW,
    GALE_PARAM("stream", GALE_PARAM_TEXT, NULL, "the stream that is read"),
    GALE_PARAM("consumer", GALE_PARAM_TEXT, NULL,
               "the durable pull consumer that it is read by, which knows what is answered"),
    GALE_PARAM("create", GALE_PARAM_BOOL, "true",
               "a consumer that is missing is made; false: it must be there. One that is there stays as it is"),
    GALE_PARAM_MORE("subject", GALE_PARAM_TEXT, "",
                    "the subject that is read of the stream, perhaps with wildcards; not given: all of a consumer that "
                    "is made, or what "
                    "it has",
                    0, 0, 0, NULL, NULL, "orders.eu.>"),
    GALE_PARAM_MORE(
        "from", GALE_PARAM_ANY, "first",
        "where a consumer begins that is made: first, new, last, lastPerSubject, or a sequence of the stream", 0, 0, 0,
        NULL, NULL, "new"),
    GALE_PARAM_MORE(
        "emit", GALE_PARAM_FIELDS, "payload",
        "the fields that go out: payload, subject, stream, sequence, time (milliseconds since 1970), delivered "
        "(how often), headers (a map)",
        GALE_PARAM_OUTPUT, 0, 0, NULL, NULL, "[subject, payload]"),
    GALE_PARAM_MORE("levels", GALE_PARAM_FIELDS, "",
                    "names of the levels of the subject, which are fields behind these; _ leaves one out",
                    GALE_PARAM_OUTPUT, 0, 0, NULL, NULL, "[_, region, id]"),
    GALE_PARAM_MORE("batch", GALE_PARAM_WHOLE, "1000", "so many messages are asked for at once, at the most", 0, 1,
                    100000, NULL, NULL, NULL),
    GALE_PARAM_MORE(
        "inFlight", GALE_PARAM_WHOLE, "10000",
        "so many messages are open at once, at the most; max_ack_pending of a consumer that is made, and no "
        "more than that of one that is there",
        0, 1, 500000, NULL, NULL, NULL),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "64 MiB", "how many bytes of messages may be open at once, about", 0,
                    1 << 16, INT64_MAX, NULL, NULL, NULL),
    GALE_PARAM_MORE(
        "ackWait", GALE_PARAM_SECONDS, "30",
        "of a consumer that is made: how long the server waits for a word of a message until it delivers it "
        "again. gale says in time that one takes long",
        GALE_PARAM_ABOVE, 0, 86400, NULL, NULL, "10s"),
    GALE_PARAM_MORE("maxAttempts", GALE_PARAM_WHOLE, "3",
                    "how often a message that fails is delivered before it is reported and ended (term)", 0, 1,
                    UINT32_MAX, NULL, NULL, NULL),
    GALE_PARAM("untilEnd", GALE_PARAM_BOOL, "false", "the run ends when all that is there has its answer"),
    CONNECTION_ROWS,
};

static const gale_param sink_params[] = {
    SERVERS_ROW,
    GALE_PARAM_MORE("subject", GALE_PARAM_TEXT, NULL,
                    "where the messages go; fields stand in braces, each one level, {+name} perhaps several",
                    GALE_PARAM_BRACES, 0, 0, NULL, NULL, "orders.{region}.{id}"),
    GALE_PARAM_MORE("payload", GALE_PARAM_FIELD, "", "the field that is the payload; not given: the first",
                    GALE_PARAM_INPUT, 0, 0, NULL, NULL, "line"),
    GALE_PARAM_MORE("headers", GALE_PARAM_FIELDS, "", "fields that are headers, under their names", GALE_PARAM_INPUT, 0,
                    0, NULL, NULL, "[trace]"),
    GALE_PARAM_MORE("id", GALE_PARAM_FIELD, "",
                    "the field that is the message's id (Nats-Msg-Id), of which the stream keeps one within its "
                    "duplicate window; not given, or null: gale makes one",
                    GALE_PARAM_INPUT, 0, 0, NULL, NULL, "order"),
    GALE_PARAM("makeIds", GALE_PARAM_BOOL, "true",
               "gale makes ids of messages that have none, so that one that is sent again is there once"),
    GALE_PARAM_MORE("stream", GALE_PARAM_TEXT, "",
                    "the stream that must take the messages; not given: whichever takes the subject", 0, 0, 0, NULL,
                    NULL, "ORDERS"),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "16 MiB", "so many bytes are on their way at once, about", 0, 1,
                    1 << 30, NULL, NULL, NULL),
    GALE_PARAM_MORE("inFlight", GALE_PARAM_WHOLE, "8192", "so many messages are on their way at once, at the most", 0,
                    1, 500000, NULL, NULL, NULL),
    GALE_PARAM_MORE("finishWait", GALE_PARAM_SECONDS, "60",
                    "at the end: how long nothing may be confirmed before it gives up", 0, 0, 86400, NULL, NULL, NULL),
    CONNECTION_ROWS,
};

static const gale_class classes[] = {
    { "gale.spout.Nats", GALE_CLASS_SPOUT, 0,
      "emits messages of a JetStream consumer, tracked, and acks those that are done", GALE_TABLE(spout_params), NULL,
      NULL, "gale.rate", nats_make_spout, NULL, NULL,
      "payload string bytes, subject string bytes, stream string, sequence int, time int, delivered int, headers map" },
    GALE_BOLT_CLASS("gale.bolt.NatsSink",
                    "publishes each tuple to a JetStream stream, and acks it when the stream has it", sink_params, NULL,
                    nats_make_sink),
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("nats", "1.0", "gale.", "Apache-2.0",
                                                   "reads and writes NATS JetStream", classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
