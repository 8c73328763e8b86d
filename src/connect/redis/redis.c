/* The connector redis: gale.bolt.RedisSink, gale.spout.RedisStream, gale.spout.RedisList and gale.spout.RedisSubscribe, by hiredis's reader and the connectors'
 * own socket. docs/connectors/redis.md. */
#include "connect/redis/redis.h"

#include "connect/redis/command.h"
#include "wire/settings.h"

#define SERVER_ROWS                                                                                                    \
    WIRE_ROWS("localhost:6379"),                                                                                       \
        GALE_PARAM_MORE("user", GALE_PARAM_TEXT, "", "who connects (AUTH); not given: the default user", 0, 0, 0,      \
                        NULL, NULL, "gale"),                                                                           \
        GALE_PARAM_MORE("passwordFrom", GALE_PARAM_TEXT, "", "a file with the password", GALE_PARAM_READS, 0, 0, NULL, \
                        NULL, "/run/secrets/redis"),                                                                   \
        GALE_PARAM_MORE("database", GALE_PARAM_WHOLE, "0", "the number of the database (SELECT)", 0, 0, 65535, NULL,   \
                        NULL, NULL),                                                                                   \
        GALE_PARAM_MORE("maxReply", GALE_PARAM_BYTES, "64 MiB", "the largest reply that is taken", 0, 65536, 1 << 30,  \
                        NULL, NULL, NULL)
#define ATTEMPTS_ROW(what)                                                                                             \
    GALE_PARAM_MORE("maxAttempts", GALE_PARAM_WHOLE, "3",                                                              \
                    "how often " what " is tried before it is reported and given up", 0, 1, UINT32_MAX, NULL, NULL,    \
                    NULL)
#define MEMORY_ROW(what)                                                                                               \
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "64 MiB", "how many bytes of " what " may be open at once, about", 0,  \
                    1, INT64_MAX, NULL, NULL, NULL)

static const gale_param sink_params[] = {
    SERVER_ROWS,
    GALE_PARAM_MORE("command", GALE_PARAM_WORD, NULL, "the command that each tuple is", 0, 0, 0, REDIS_COMMANDS, NULL,
                    NULL),
    GALE_PARAM_MORE("key", GALE_PARAM_TEXT, NULL,
                    "the key, of PUBLISH the channel; {field} stands for a field's value, here and below",
                    GALE_PARAM_BRACES, 0, 0, NULL, NULL, "views:{page}"),
    GALE_PARAM_MORE("member", GALE_PARAM_TEXT, "",
                    "the field of a hash (HSET, HINCRBY), the member of a set (ZADD, ZINCRBY, SADD)", GALE_PARAM_BRACES,
                    0, 0, NULL, NULL, "{country}"),
    GALE_PARAM_MORE("value", GALE_PARAM_TEXT, "", "the value, the score, or by how much; not given: of increments 1",
                    GALE_PARAM_BRACES, 0, 0, NULL, NULL, "{count}"),
    GALE_PARAM_MORE("fields", GALE_PARAM_FIELDS, "",
                    "of XADD, and of HSET without a member: fields that are written under their names; none: all that "
                    "come in; one that is null is left out",
                    GALE_PARAM_INPUT, 0, 0, NULL, NULL, "[page, ms]"),
    GALE_PARAM_MORE("maxLength", GALE_PARAM_WHOLE, "0", "of XADD: about so many entries stay (MAXLEN ~); 0: all", 0, 0,
                    INT64_MAX, NULL, "entries", NULL),
    GALE_PARAM("exactLength", GALE_PARAM_BOOL, "false", "of maxLength: not about, but exactly, which costs more"),
    GALE_PARAM_MORE("expire", GALE_PARAM_SECONDS, "0", "of SET: how long it lasts; 0: for ever", 0, 0, 3155760000, NULL,
                    NULL, "10m"),
    GALE_PARAM_MORE("inFlight", GALE_PARAM_WHOLE, "10000", "so many commands are on their way at once at the most", 0,
                    1, 1000000, NULL, "commands", NULL),
    GALE_PARAM_MORE("markers", GALE_PARAM_TEXT,
                    "gale:marker:", "in a durable run: what the keys begin with that say which checkpoints are in", 0,
                    0, 0, NULL, NULL, NULL),
    GALE_PARAM_MORE("refused", GALE_PARAM_TEXT, "",
                    "in a durable run: a stream for commands that the server refuses; not given: such a command ends "
                    "the run",
                    0, 0, 0, NULL, NULL, "gale:refused"),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "16 MiB",
                    "so many bytes are on their way at once, about; and the largest command", 0, 1, 1 << 30, NULL, NULL,
                    NULL),
    GALE_PARAM_MORE("finishWait", GALE_PARAM_SECONDS, "60",
                    "at the end: how long nothing may be answered before it gives up", 0, 0, 86400, NULL, NULL, NULL),
};

#define SOURCE_ROWS(what)                                                                                              \
    GALE_PARAM_MORE("consumer", GALE_PARAM_TEXT, "",                                                                   \
                    "by which name Redis knows the process; each task puts its number behind it; not given: "          \
                    "host/topology/component",                                                                         \
                    0, 0, 0, NULL, NULL, "gale1"),                                                                     \
        GALE_PARAM_MORE("inFlight", GALE_PARAM_WHOLE, "10000",                                                         \
                        "so many " what " may be open at once, of a task, until Redis has been told of their ends", 0, \
                        1, 10000000, NULL, NULL, NULL),                                                                \
        MEMORY_ROW(what), GALE_PARAM("untilEnd", GALE_PARAM_BOOL, "false", "the run ends where there is nothing new")

static const gale_param stream_params[] = {
    SERVER_ROWS,
    GALE_PARAM_MORE("streams", GALE_PARAM_LIST, NULL, "their keys", 0, 0, 0, NULL, NULL, "[orders]"),
    GALE_PARAM_MORE("group", GALE_PARAM_TEXT, NULL,
                    "the group of consumers; it is made where it is missing, and so is a stream", 0, 0, 0, NULL, NULL,
                    "billing"),
    GALE_PARAM_MORE(
        "start", GALE_PARAM_TEXT, "0",
        "where a group begins that is made: 0 is the stream's beginning, $ its end, or behind an entry's id", 0, 0, 0,
        NULL, NULL, "$"),
    GALE_PARAM_MORE("emit", GALE_PARAM_FIELDS, "id, entry",
                    "the fields that go out: id, stream, time (milliseconds since 1970, as the id says), entry (a map "
                    "of all fields); with `fields` none, unless they are named",
                    GALE_PARAM_OUTPUT, 0, 0, NULL, NULL, "[id, entry]"),
    GALE_PARAM_MORE("fields", GALE_PARAM_LIST, "",
                    "fields of entries that are fields, behind those; null where missing", GALE_PARAM_OUTPUT, 0, 0,
                    NULL, NULL, "[user, total]"),
    GALE_PARAM_MORE("claimAfter", GALE_PARAM_SECONDS, "300",
                    "what another consumer was given so long ago and has not answered is claimed; 0: never; in a "
                    "durable run only if it is given",
                    0, 0, 86400 * 365, NULL, NULL, "10m"),
    GALE_PARAM_MORE("batch", GALE_PARAM_WHOLE, "500", "so many entries are asked for at once at the most", 0, 1, 100000,
                    NULL, "entries", NULL),
    GALE_PARAM_MORE("deadLetters", GALE_PARAM_TEXT, "", "a stream for entries that are given up; not given: none", 0, 0,
                    0, NULL, NULL, "orders:dead"),
    ATTEMPTS_ROW("an entry"),
    SOURCE_ROWS("entries"),
};

static const gale_param list_params[] = {
    SERVER_ROWS,
    GALE_PARAM_MORE("list", GALE_PARAM_TEXT, NULL, "its key", 0, 0, 0, NULL, NULL, "jobs"),
    GALE_PARAM_MORE("from", GALE_PARAM_WORD, "right",
                    "the end at which elements are taken: that which they are not "
                    "put in at",
                    0, 0, 0, "right left", NULL, NULL),
    GALE_PARAM_MORE("processing", GALE_PARAM_TEXT, "",
                    "what the key begins with of the list that has what is open; the consumer stands behind it; not "
                    "given: the list's",
                    0, 0, 0, NULL, NULL, "jobs:open"),
    GALE_PARAM_MORE("batch", GALE_PARAM_WHOLE, "200", "so many elements are asked for at once at the most", 0, 1, 5000,
                    NULL, "elements", NULL),
    GALE_PARAM_MORE("deadLetters", GALE_PARAM_TEXT, "", "a list for elements that are given up; not given: none", 0, 0,
                    0, NULL, NULL, "jobs:dead"),
    ATTEMPTS_ROW("an element"),
    SOURCE_ROWS("elements"),
};

static const gale_param subscribe_params[] = {
    SERVER_ROWS,
    GALE_PARAM_MORE("channels", GALE_PARAM_LIST, "", "what is listened to", 0, 0, 0, NULL, NULL, "[orders]"),
    GALE_PARAM_MORE("patterns", GALE_PARAM_LIST, "", "patterns of channels that are listened to", 0, 0, 0, NULL, NULL,
                    "[\"orders.*\"]"),
    GALE_PARAM_MORE("emit", GALE_PARAM_FIELDS, "payload",
                    "the fields that go out: payload, channel, pattern (null for one of `channels`)", GALE_PARAM_OUTPUT,
                    0, 0, NULL, NULL, "[channel, payload]"),
    MEMORY_ROW("messages"),
    ATTEMPTS_ROW("a message"),
};

static const gale_class classes[] = {
    { "gale.spout.RedisList", GALE_CLASS_SPOUT, 0,
      "emits elements of a Redis list, which a second list has until they are answered", GALE_TABLE(list_params), NULL,
      "value", "gale.rate", redis_make_list, NULL, NULL, NULL },
    { "gale.spout.RedisSubscribe", GALE_CLASS_SPOUT, 0, "emits messages of Redis channels (PUBLISH)",
      GALE_TABLE(subscribe_params), NULL, NULL, "gale.rate", redis_make_subscribe, NULL, NULL, NULL },
    { "gale.spout.RedisStream", GALE_CLASS_SPOUT, 0, "emits entries of Redis streams, as a consumer of a group",
      GALE_TABLE(stream_params), NULL, NULL, "gale.rate", redis_make_stream, NULL, NULL, NULL },
    GALE_BOLT_CLASS("gale.bolt.RedisSink",
                    "writes each tuple as a command of Redis, and acks it when the server has it", sink_params, NULL,
                    redis_make_sink),
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("redis", "1.0", "gale.", "Apache-2.0",
                                                   "reads and writes Redis streams, lists, channels and keys", classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
