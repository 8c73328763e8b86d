/* The connector http: gale.spout.Http, by libmicrohttpd, gale.bolt.HttpSink and gale.spout.HttpPoll, by libcurl. docs/connectors/http.md. */
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

#define MORE(name, type, fallback, text, example)                                                                      \
    GALE_PARAM_MORE(name, type, fallback, text, 0, 0, 0, NULL, NULL, example)
#define READS(name, text, also)                                                                                        \
    { name, GALE_PARAM_TEXT, GALE_PARAM_READS, "", text, 0, 0, NULL, NULL, NULL, also, NULL }

/* How a server is asked. */
#define ACCESS_ROWS                                                                                                    \
    MORE("headers", GALE_PARAM_MAP, "", "headers that each request has", "{X-Source: gale}"),                          \
        MORE("headersFrom", GALE_PARAM_MAP, "", "headers, and files that have what they say",                          \
             "{X-Api-Key: /run/secrets/key}"),                                                                         \
        READS("tokenFrom", "a file with a token, which requests have (Authorization: Bearer TOKEN)", "tokenFile"),     \
        MORE("user", GALE_PARAM_TEXT, "", "who asks (Authorization: Basic)", "gale"),                                  \
        READS("passwordFrom", "a file with the user's password", "passwordFile"),                                      \
        READS("ca", "a file with certificates, in PEM, that vouch for the server; not given: the system's", "caFile"), \
        READS("certificate", "a file with a certificate of gale's own, in PEM", "certFile"),                           \
        READS("certificateKey", "a file with its key, in PEM", "keyFile"),                                             \
        GALE_PARAM_MORE("timeout", GALE_PARAM_SECONDS, "30", "how long a request may take, with its answer",           \
                        GALE_PARAM_ABOVE, 0, 3600, NULL, NULL, NULL)

static const gale_param sink_params[] = {
    GALE_PARAM_MORE(
        "url", GALE_PARAM_TEXT, NULL,
        "where requests go, http:// or https://; {field} stands for a field's value, {request} for the request's name",
        GALE_PARAM_BRACES, 0, 0, "request", NULL, "https://hooks.example.org/gale"),
    GALE_PARAM_MORE("method", GALE_PARAM_WORD, "POST", "the method", 0, 0, 0, "POST PUT PATCH DELETE", NULL, NULL),
    GALE_PARAM_MORE("format", GALE_PARAM_WORD, "json",
                    "what a body is: an object of JSON, lines of them, an array of them, Elasticsearch's _bulk, or a "
                    "field as it is",
                    0, 0, 0, "json lines array bulk raw", NULL, NULL),
    GALE_PARAM_MORE("body", GALE_PARAM_FIELD, "",
                    "the field that is the document; without format it is sent as it is (raw); not given: an object of "
                    "all fields",
                    GALE_PARAM_INPUT, 0, 0, NULL, NULL, "line"),
    MORE("contentType", GALE_PARAM_TEXT, "", "what Content-Type says; not given: as the format is", "text/plain"),
    GALE_PARAM_MORE("key", GALE_PARAM_FIELD, "",
                    "requests with tuples of one value of this field go one after the other", GALE_PARAM_INPUT, 0, 0,
                    NULL, NULL, "user"),
    GALE_PARAM_MORE("batch", GALE_PARAM_WHOLE, "500", "the most tuples of a request; json and raw: 1", 0, 1, 100000,
                    NULL, NULL, NULL),
    GALE_PARAM_MORE("batchBytes", GALE_PARAM_BYTES, "1 MiB", "the most bytes of a request with more than one tuple", 0,
                    1, 1 << 30, NULL, NULL, NULL),
    GALE_PARAM_MORE("linger", GALE_PARAM_SECONDS, "0",
                    "how long a request waits for more tuples, while others could be sent", 0, 0, 3600, NULL, NULL,
                    "200ms"),
    GALE_PARAM_MORE("inFlight", GALE_PARAM_WHOLE, "8", "how many requests are on their way at once, of a task", 0, 1,
                    256, NULL, NULL, NULL),
    GALE_PARAM_MORE("maxAttempts", GALE_PARAM_WHOLE, "0",
                    "how often a request is tried until its tuples fail; 0: without an end", 0, 0, UINT32_MAX, NULL,
                    NULL, NULL),
    MORE("once", GALE_PARAM_BOOL, "false",
         "in a durable run: a request is sent when a checkpoint has it, and is the same one ever after", NULL),
    MORE("index", GALE_PARAM_TEXT, "", "of bulk: the index; not given: url has it", "logs"),
    GALE_PARAM_MORE("id", GALE_PARAM_FIELD, "", "of bulk: the field that is the document's id", GALE_PARAM_INPUT, 0, 0,
                    NULL, NULL, "id"),
    GALE_PARAM_MORE("sign", GALE_PARAM_WORD, "none",
                    "how requests are signed: by an HMAC of the body, or as AWS's S3 wants it (Signature Version 4)", 0,
                    0, 0, "none hmac s3", NULL, NULL),
    READS("signFrom", "of hmac: a file with the secret", "signFile"),
    MORE("signHeader", GALE_PARAM_TEXT, "X-Hub-Signature-256", "of hmac: the header that has it, as sha256=...", NULL),
    READS("accessKeyFrom", "of s3: a file with the access key", "accessKeyFile"),
    READS("secretKeyFrom", "of s3: a file with the secret key", "secretKeyFile"),
    READS("sessionFrom", "of s3: a file with a session's token", "sessionFile"),
    MORE("region", GALE_PARAM_TEXT, "", "of s3: the region", "eu-central-1"),
    MORE("service", GALE_PARAM_TEXT, "s3", "of s3: the service", NULL),
    ACCESS_ROWS,
    GALE_PARAM_MORE("maxAnswer", GALE_PARAM_BYTES, "4 MiB", "how much of an answer is read", 0, 1, 1 << 30, NULL, NULL,
                    NULL),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "16 MiB", "so many bytes are on their way at once, about", 0, 1,
                    1 << 30, NULL, NULL, NULL),
    GALE_PARAM_MORE("finishWait", GALE_PARAM_SECONDS, "60",
                    "at the end: how long nothing may be taken before it gives up", 0, 0, 86400, NULL, NULL, NULL),
};

static const gale_param poll_params[] = {
    MORE("url", GALE_PARAM_TEXT, NULL, "what is asked for, http:// or https://", "https://api.example.org/events"),
    GALE_PARAM_MORE("every", GALE_PARAM_SECONDS, "60", "so often it is asked for", GALE_PARAM_ABOVE, 0, 86400 * 7, NULL,
                    NULL, "5m"),
    GALE_PARAM_MORE("format", GALE_PARAM_WORD, "body",
                    "what is a tuple: the whole answer, each of its lines that is not empty, or each element of its "
                    "array of JSON",
                    0, 0, 0, "body lines array", NULL, NULL),
    MORE("items", GALE_PARAM_TEXT, "", "of array: where it stands in the answer, names with points between them",
         "data.events"),
    MORE("cursor", GALE_PARAM_TEXT, "",
         "where in the answer, which is JSON, it stands how the next request goes on; what has one and tuples is asked "
         "on at once",
         "meta.next"),
    MORE("cursorQuery", GALE_PARAM_TEXT, "cursor", "the name that the next request has it under", "since"),
    GALE_PARAM_MORE("emit", GALE_PARAM_FIELDS, "body",
                    "the fields that go out: body, time (milliseconds since 1970), type (Content-Type), etag",
                    GALE_PARAM_OUTPUT, 0, 0, NULL, NULL, "[body, time]"),
    GALE_PARAM_MORE("times", GALE_PARAM_WHOLE, "0", "the run ends after so many answers; 0: never", 0, 0, INT64_MAX,
                    NULL, NULL, NULL),
    ACCESS_ROWS,
    GALE_PARAM_MORE("maxBody", GALE_PARAM_BYTES, "1 MiB", "the longest answer: a longer one is not taken", 0, 1,
                    256 << 20, NULL, NULL, NULL),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "64 MiB", "how many bytes of tuples may be open at once, about", 0, 1,
                    INT64_MAX, NULL, NULL, NULL),
    GALE_PARAM_MORE("maxAttempts", GALE_PARAM_WHOLE, "3",
                    "how often a tuple is tried before it is reported and given up", 0, 1, UINT32_MAX, NULL, NULL,
                    NULL),
};

static const gale_class classes[] = {
    { "gale.spout.Http", GALE_CLASS_SPOUT, 0, "emits requests by HTTP, and answers each when its tuples are done",
      GALE_TABLE(spout_params), NULL, NULL, "gale.rate", http_make_spout, NULL, NULL,
      "body string bytes, method string, path string bytes, query string bytes, headers map, remote string, time int" },
    { "gale.spout.HttpPoll", GALE_CLASS_SPOUT, 0, "asks an HTTP server again and again, and emits what it answers",
      GALE_TABLE(poll_params), NULL, NULL, "gale.rate", http_make_poll, NULL, NULL,
      "time int, type string bytes, etag string bytes" },
    GALE_BOLT_CLASS("gale.bolt.HttpSink", "sends each tuple by HTTP, and acks it when the server has taken it",
                    sink_params, NULL, http_make_sink),
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("http", "1.0", "gale.", "Apache-2.0",
                                                   "takes, makes and answers requests by HTTP", classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
