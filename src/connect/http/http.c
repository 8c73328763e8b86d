/* The connector http: gale.spout.Http, by libmicrohttpd. docs/connectors/http.md. */
#include "connect/http/http.h"

static const gale_param spout_params[] = {
    GALE_PARAM_MORE(
        "listen", GALE_PARAM_TEXT, NULL,
        "where to listen: host:port, :port for all addresses of the machine, or a port for this machine alone; "
        "port 0: one that is free",
        0, 0, 0, NULL, NULL, "127.0.0.1:8080"),
    GALE_PARAM_MORE("path", GALE_PARAM_TEXT, "/", "requests to this path and below it are taken, others are told 404",
                    0, 0, 0, NULL, NULL, "/events"),
    GALE_PARAM_MORE(
        "emit", GALE_PARAM_FIELDS, "body",
        "the fields that go out: body, method, path, query, headers (a map), remote, time (milliseconds since "
        "1970), key (Idempotency-Key)",
        GALE_PARAM_OUTPUT, 0, 0, NULL, NULL, "[body, path]"),
    GALE_PARAM_MORE("format", GALE_PARAM_WORD, "body",
                    "what is a tuple: the whole body, or each of its lines that is not empty", 0, 0, 0, "body lines",
                    NULL, NULL),
    GALE_PARAM_MORE("tokenFrom", GALE_PARAM_TEXT, "",
                    "a file with a token, which requests must have (Authorization: Bearer TOKEN)", GALE_PARAM_READS, 0,
                    0, NULL, NULL, "/run/secrets/http-token"),
    GALE_PARAM_MORE("certificate", GALE_PARAM_TEXT, "", "a file with a certificate, in PEM: TLS", GALE_PARAM_READS, 0,
                    0, NULL, NULL, NULL),
    GALE_PARAM_MORE("key", GALE_PARAM_TEXT, "", "a file with its key, in PEM", GALE_PARAM_READS, 0, 0, NULL, NULL,
                    NULL),
    GALE_PARAM_MORE("maxBody", GALE_PARAM_BYTES, "1 MiB", "the longest body: a longer one is told 413", 0, 1, 64 << 20,
                    NULL, NULL, NULL),
    GALE_PARAM_MORE("maxRequests", GALE_PARAM_WHOLE, "512",
                    "how many requests may wait for their answers: more are told 503", 0, 1, 65536, NULL, NULL, NULL),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "64 MiB",
                    "how many bytes of bodies and tuples may be open at once, about: more are told 503", 0, 1,
                    INT64_MAX, NULL, NULL, NULL),
    GALE_PARAM_MORE("timeout", GALE_PARAM_SECONDS, "30",
                    "how long a client may take for a request, and be silent between two", 0, 1, 3600, NULL, NULL,
                    NULL),
    GALE_PARAM_MORE("idempotency", GALE_PARAM_SECONDS, "600",
                    "how long an Idempotency-Key and its answer are known; 0: not at all", 0, 0, 86400, NULL, NULL,
                    "10m"),
    GALE_PARAM_MORE("maxAttempts", GALE_PARAM_WHOLE, "1",
                    "how often a tuple is tried before its request is told 503: its client tries again", 0, 1,
                    UINT32_MAX, NULL, NULL, NULL),
};

static const gale_class classes[] = {
    { "gale.spout.Http", GALE_CLASS_SPOUT, 0, "emits requests by HTTP, and answers each when its tuples are done",
      GALE_TABLE(spout_params), NULL, NULL, "gale.rate", http_make_spout, NULL, NULL },
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("http", "1.0", "gale.", "Apache-2.0", "takes requests by HTTP",
                                                   classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
