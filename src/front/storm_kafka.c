#include "front/storm_kafka.h"

#include "base/str.h"
#include "front/shape.h"

#include <inttypes.h>
#include <stdio.h>

#define PACKAGE "org.apache.storm.kafka.spout."

typedef struct mapping {
    gx_yaml_doc *doc;
    const gale_logger *logger;
    gale_error *error;
    const gx_yaml *components;
    gx_yaml *to;    /* the spout's properties */
    gx_yaml *kafka; /* librdkafka's */
} mapping;

/* --- Nodes ----------------------------------------------------------------------------------------------------------- */

static int no_memory(const mapping *m) {
    return gale_error_set(m->error, GALE_NO_MEMORY, "%s: out of memory", gx_yaml_name(m->doc));
}

/* A text with the place of another node. */
static gx_yaml text_at(const gx_yaml *place, const char *text) {
    gx_yaml node = *place;
    node.type = GALE_TYPE_STRING;
    node.text = gx_str(text);
    node.count = 0;
    node.expanded = node.height = 1;
    node.next = NULL;
    return node;
}

static int put(const mapping *m, gx_yaml *map, const char *name, const gx_yaml *value) {
    gx_yaml key = text_at(value, name);
    return gx_yaml_put(m->doc, map, &key, value) ? 0 : no_memory(m);
}

static int put_text(const mapping *m, const char *name, const gx_yaml *place, const char *text) {
    gx_yaml value = text_at(place, text);
    return put(m, m->to, name, &value);
}

static int put_whole(const mapping *m, const char *name, const gx_yaml *place, int64_t number) {
    char *text = gx_yaml_take(m->doc, 32);
    if (!text) return no_memory(m);
    snprintf(text, 32, "%" PRId64, number);
    gx_yaml value = text_at(place, text);
    value.type = GALE_TYPE_I64;
    value.as.i64 = number;
    return put(m, m->to, name, &value);
}

static int put_true(const mapping *m, const char *name, const gx_yaml *place) {
    gx_yaml value = text_at(place, "true");
    value.type = GALE_TYPE_BOOL;
    value.as.boolean = true;
    return put(m, m->to, name, &value);
}

static bool is_class(const gx_yaml *item, const char *name) {
    const gx_yaml *class_ = gx_yaml_get(item, "className");
    return class_ && gx_yaml_is_scalar(class_) && gx_str_is(class_->text, name);
}

static const gx_yaml *argument(const gx_yaml *item, size_t index) {
    const gx_yaml *args = gx_yaml_get(item, "constructorArgs");
    const gx_yaml *arg = args && args->type == GALE_TYPE_LIST ? args->as.first : NULL;
    for (; arg && index; index--) arg = arg->next;
    return arg;
}

/* The component that {ref: id} names; NULL: there is none. */
static const gx_yaml *component_of(const mapping *m, const gx_yaml *ref) {
    const gx_yaml *id = ref ? gx_yaml_get(ref, "ref") : NULL;
    bool there = id && gx_yaml_is_scalar(id) && m->components && m->components->type == GALE_TYPE_LIST;
    for (const gx_yaml *item = there ? m->components->as.first : NULL; item; item = item->next) {
        const gx_yaml *other = gx_yaml_get(item, "id");
        if (other && gx_yaml_is_scalar(other) && gx_str_equal(other->text, id->text)) return item;
    }
    return NULL;
}

/* --- The consumer's properties ---------------------------------------------------------------------------------------- */

static int refuse(const mapping *m, const gx_yaml *place, const char *what) {
    return gx_yaml_error(m->doc, place, m->error, GALE_UNSUPPORTED, "%s", what);
}

static bool ends_with(gale_str text, const char *end) {
    size_t size = strlen(end);
    return text.size >= size && memcmp(text.data + text.size - size, end, size) == 0;
}

/* Texts and bytes need none. */
static int deserializer(const mapping *m, const gx_yaml *class_) {
    bool is = gx_yaml_is_scalar(class_) &&
              (ends_with(class_->text, ".StringDeserializer") || ends_with(class_->text, ".ByteArrayDeserializer"));
    return is ? 0
              : refuse(
                    m, class_,
                    "a deserializer is Java code: key and value are text here, or bytes where they are not UTF-8, and "
                    "a bolt parses them");
}

static int consumer_property(const mapping *m, const gx_yaml *name, const gx_yaml *value) {
    static const char idle[] = "'%.*s' has no effect here";
    if (gx_str_is(name->text, "group.id")) return put(m, m->to, "group", value);
    if (gx_str_is(name->text, "bootstrap.servers")) return put(m, m->to, "brokers", value);
    if (gx_str_is(name->text, "fetch.max.wait.ms")) return put(m, m->kafka, "fetch.wait.max.ms", value);
    if (ends_with(name->text, ".deserializer")) return deserializer(m, value);
    if (gx_str_is(name->text, "max.poll.records") || gx_str_is(name->text, "auto.offset.reset") ||
        gx_str_is(name->text, "enable.auto.commit"))
        return gx_yaml_warn(m->doc, name, m->logger, idle, GX_STR(name->text)), 0;
    return gx_yaml_put(m->doc, m->kafka, name, value) ? 0 : no_memory(m);
}

/* setProp(map), or setProp(name, value). */
static int prop(const mapping *m, const gx_yaml *arg) {
    int rc = 0;
    if (arg->type == GALE_TYPE_MAP) {
        for (const gx_yaml *key = arg->as.first; key && rc == 0; key = key->next->next)
            rc = consumer_property(m, key, key->next);
        return rc;
    }
    if (gx_yaml_is_scalar(arg) && arg->next) return consumer_property(m, arg, arg->next);
    return refuse(m, arg, "setProp takes a map, or a name and a value");
}

/* --- The builder's methods -------------------------------------------------------------------------------------------- */

static int strategy(const mapping *m, const gx_yaml *arg) {
    static const struct {
        const char *name, *from;
        bool always;
    } rows[] = {
        { "EARLIEST", "earliest", true },
        { "LATEST", "latest", true },
        { "TIMESTAMP", NULL, true },
        { "UNCOMMITTED_EARLIEST", "earliest", false },
        { "UNCOMMITTED_LATEST", "latest", false },
        { "UNCOMMITTED_TIMESTAMP", NULL, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!gx_yaml_is_scalar(arg) || !gx_str_is(arg->text, rows[i].name)) continue;
        int rc = rows[i].from ? put_text(m, "from", arg, rows[i].from) : 0;
        return rc == 0 && rows[i].always ? put_true(m, "fromAlways", arg) : rc;
    }
    return refuse(m, arg,
                  "a first poll offset strategy is one of: EARLIEST LATEST TIMESTAMP UNCOMMITTED_EARLIEST "
                  "UNCOMMITTED_LATEST UNCOMMITTED_TIMESTAMP");
}

static int start_time(const mapping *m, const gx_yaml *arg) {
    return put(m, m->to, "from", arg);
}

static int guarantee(const mapping *m, const gx_yaml *arg) {
    if (gx_yaml_is_scalar(arg) && gx_str_is(arg->text, "AT_LEAST_ONCE")) return 0;
    if (gx_yaml_is_scalar(arg) && gx_str_is(arg->text, "NO_GUARANTEE"))
        return gx_yaml_warn(m->doc, arg, m->logger, "gale.spout.Kafka is at least once all the same"), 0;
    return refuse(m, arg,
                  "gale.spout.Kafka is at least once, and exactly once in a durable run: it never commits what has no "
                  "answer; take this out");
}

static int commit_period(const mapping *m, const gx_yaml *arg) {
    char *text = gx_yaml_take(m->doc, 32);
    if (arg->type != GALE_TYPE_I64 || arg->as.i64 < 0) return refuse(m, arg, "a period is a number of milliseconds");
    if (!text) return no_memory(m);
    snprintf(text, 32, "%" PRId64 "ms", arg->as.i64);
    return put_text(m, "commitEvery", arg, text);
}

static int retry(const mapping *m, const gx_yaml *arg) {
    const gx_yaml *service = component_of(m, arg), *most = service ? argument(service, 2) : NULL;
    if (!service || !is_class(service, PACKAGE "KafkaSpoutRetryExponentialBackoff") || !most ||
        most->type != GALE_TYPE_I64)
        return refuse(
            m, arg,
            "a retry service is Java code, but for KafkaSpoutRetryExponentialBackoff with its four arguments: "
            "`maxAttempts` says how often a message is tried");
    gx_yaml_warn(m->doc, service, m->logger,
                 "its delays have no effect here: what fails is emitted again at once (topology.replay.* has delays)");
    return put_whole(m, "maxAttempts", most, most->as.i64 < INT32_MAX ? most->as.i64 + 1 : INT32_MAX);
}

static int translator(const mapping *m, const gx_yaml *arg) {
    return refuse(m, arg,
                  "a record translator is Java code: gale.spout.Kafka emits topic, partition, offset, key and value, "
                  "and a bolt behind it makes other fields (gale.bolt.Map)");
}

static int no_effect(const mapping *m, const gx_yaml *arg) {
    return gx_yaml_warn(m->doc, arg, m->logger, "this has no effect here"), 0;
}

static int open_offsets(const mapping *m, const gx_yaml *arg) {
    gx_yaml_warn(m->doc, arg, m->logger,
                 "this has no effect here: topology.max.spout.pending bounds what is open, and the spout's `memory`");
    return 0;
}

static const struct {
    const char *name;
    int (*apply)(const mapping *m, const gx_yaml *arg);
} methods[] = {
    { "prop", prop },
    { "firstPollOffsetStrategy", strategy },
    { "startTimeStamp", start_time },
    { "processingGuarantee", guarantee },
    { "offsetCommitPeriodMs", commit_period },
    { "retry", retry },
    { "maxUncommittedOffsets", open_offsets },
    { "recordTranslator", translator },
    { "pollTimeoutMs", no_effect },
    { "partitionRefreshPeriodMs", no_effect },
    { "emitNullTuples", no_effect },
    { "metricsTimeBucketSizeInSecs", no_effect },
    { "tupleTrackingEnforced", no_effect },
};

/* setPollTimeoutMs, withPollTimeoutMs and pollTimeoutMs are the same. */
static bool is_method(gale_str said, const char *name) {
    if (gx_str_is(said, name)) return true;
    size_t size = strlen(name), skip = ends_with(said, name + 1) ? said.size - size : 0;
    bool prefixed = (skip == 3 && memcmp(said.data, "set", 3) == 0) || (skip == 4 && memcmp(said.data, "with", 4) == 0);
    return prefixed && (said.data[skip] | 0x20) == (name[0] | 0x20);
}

static int apply(const mapping *m, const gx_yaml *name, const gx_yaml *arg) {
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (is_method(name->text, methods[i].name))
            return arg ? methods[i].apply(m, arg) : refuse(m, name, "this takes an argument");
    return gx_yaml_error(m->doc, name, m->error, GALE_UNSUPPORTED,
                         "'%.*s' of a KafkaSpoutConfig has no counterpart (`gale help gale.spout.Kafka`)",
                         GX_STR(name->text));
}

/* Of configMethods, and of properties, whose `ref` is an argument like any. */
static int apply_all(const mapping *m, const gx_yaml *builder, const char *key) {
    const gx_yaml *list = gx_yaml_get(builder, key);
    int rc = 0;
    for (const gx_yaml *item = list && list->type == GALE_TYPE_LIST ? list->as.first : NULL; item && rc == 0;
         item = item->next) {
        const gx_yaml *name = gx_yaml_get(item, "name"), *args = gx_yaml_get(item, "args");
        const gx_yaml *value = gx_yaml_get(item, "value");
        if (!name || !gx_yaml_is_scalar(name)) return refuse(m, item, "a method or property needs a 'name'");
        const gx_yaml *arg = args && args->type == GALE_TYPE_LIST ? args->as.first : value;
        rc = gx_yaml_keep(m->doc, apply(m, name, arg ? arg : gx_yaml_get(item, "ref") ? item : NULL), m->error);
    }
    return rc;
}

/* --- The spout -------------------------------------------------------------------------------------------------------- */

/* Builder(String, String...), or with a collection. */
static int topics(const mapping *m, const gx_yaml *first) {
    if (!first || first->type == GALE_TYPE_LIST) return first ? put(m, m->to, "topics", first) : 0;
    gx_yaml *list = gx_yaml_open(m->doc, NULL, GALE_TYPE_LIST);
    for (const gx_yaml *topic = first; list && topic; topic = topic->next) {
        if (!gx_yaml_is_scalar(topic))
            return refuse(m, topic, "topics are texts, or a list of them; one that begins with ^ is a pattern");
        if (!gx_yaml_add(m->doc, list, topic)) list = NULL;
    }
    return list ? put(m, m->to, "topics", list) : no_memory(m);
}

/* What Storm's builder has unless it is told. */
static int defaults(const mapping *m, const gx_yaml *place) {
    int rc = put_text(m, "emit", place, "topic, partition, offset, key, value");
    return rc < 0 ? rc : put_whole(m, "maxAttempts", place, INT32_MAX);
}

static int read_builder(const mapping *m, const gx_yaml *builder) {
    const gx_yaml *brokers = argument(builder, 0);
    int rc = defaults(m, builder);
    if (rc == 0 && brokers) rc = put(m, m->to, "brokers", brokers);
    if (rc == 0) rc = topics(m, argument(builder, 1));
    if (rc == 0) rc = apply_all(m, builder, "properties");
    if (rc == 0) rc = apply_all(m, builder, "configMethods");
    return rc == 0 && m->kafka->count ? put(m, m->to, "properties", m->kafka) : rc;
}

static const gx_yaml *builder_of(const mapping *m, const gx_yaml *spout) {
    const gx_yaml *config = component_of(m, argument(spout, 0));
    if (config && is_class(config, PACKAGE "KafkaSpoutConfig")) config = component_of(m, argument(config, 0));
    return config && is_class(config, PACKAGE "KafkaSpoutConfig$Builder") ? config : NULL;
}

/* The spout without what made it, and with its properties. */
static int rewrite(const mapping *m, const gx_yaml *spout, const gx_yaml *builder, gx_yaml **ret_spout) {
    gx_yaml *to = *ret_spout = gx_yaml_open(m->doc, NULL, GALE_TYPE_MAP);
    int rc = 0;
    if (!to) return no_memory(m);
    to->line = spout->line;
    to->column = spout->column;
    to->file = spout->file;
    for (const gx_yaml *key = spout->as.first; key && rc == 0; key = key->next->next)
        if (!gx_str_is(key->text, "className") && !gx_str_is(key->text, "constructorArgs"))
            rc = gx_yaml_put(m->doc, to, key, key->next) ? 0 : no_memory(m);
    gx_yaml class_ = text_at(gx_yaml_get(spout, "className"), "gale.spout.Kafka");
    if (rc == 0) rc = put(m, to, "className", &class_);
    if (rc == 0) rc = read_builder(m, builder);
    return rc < 0 ? rc : put(m, to, "properties", m->to);
}

/* One without a builder stays, and is refused as a class that has no counterpart. */
static int map_spout(mapping *m, const gx_yaml *spout, gx_yaml *list) {
    gx_yaml *made = NULL;
    const gx_yaml *builder = is_class(spout, PACKAGE "KafkaSpout") ? builder_of(m, spout) : NULL;
    if (!builder) return gx_yaml_add(m->doc, list, spout) ? 0 : no_memory(m);
    m->to = gx_yaml_open(m->doc, NULL, GALE_TYPE_MAP);
    m->kafka = gx_yaml_open(m->doc, NULL, GALE_TYPE_MAP);
    if (!m->to || !m->kafka) return no_memory(m);
    m->to->line = m->kafka->line = spout->line;
    m->to->column = m->kafka->column = spout->column;
    int rc = rewrite(m, spout, builder, &made);
    if (rc < 0) return gx_yaml_keep(m->doc, rc, m->error);
    return gx_yaml_add(m->doc, list, made) ? 0 : no_memory(m);
}

/* --- The file --------------------------------------------------------------------------------------------------------- */

static bool is_storms(const gx_yaml *item) {
    const gx_yaml *class_ = gx_yaml_get(item, "className");
    size_t size = strlen(PACKAGE);
    return class_ && gx_yaml_is_scalar(class_) && class_->text.size > size &&
           memcmp(class_->text.data, PACKAGE, size) == 0;
}

static int put_components(const mapping *m, gx_yaml *root) {
    if (!m->components || m->components->type != GALE_TYPE_LIST) return 0;
    gx_yaml *list = gx_yaml_open(m->doc, NULL, GALE_TYPE_LIST);
    for (const gx_yaml *item = m->components->as.first; list && item; item = item->next)
        if (!is_storms(item) && !gx_yaml_add(m->doc, list, item)) list = NULL;
    return list ? put(m, root, "components", list) : no_memory(m);
}

static bool has_one(const gx_yaml *spouts) {
    for (const gx_yaml *item = spouts && spouts->type == GALE_TYPE_LIST ? spouts->as.first : NULL; item;
         item = item->next)
        if (is_class(item, PACKAGE "KafkaSpout")) return true;
    return false;
}

int gx_storm_kafka_map(gx_yaml_doc *doc, const gale_logger *logger, gale_error *error) {
    const gx_yaml *root = gx_yaml_root(doc), *spouts = root ? gx_yaml_get(root, "spouts") : NULL;
    if (!has_one(spouts)) return 0;
    mapping m = { doc, logger, error, gx_yaml_get(root, "components"), NULL, NULL };
    gx_yaml *made = gx_yaml_open(doc, root, GALE_TYPE_MAP), *list = gx_yaml_open(doc, NULL, GALE_TYPE_LIST);
    int rc = made && list ? 0 : no_memory(&m);
    for (const gx_yaml *item = spouts->as.first; item && rc == 0; item = item->next) rc = map_spout(&m, item, list);
    if (rc == 0) rc = put(&m, made, "spouts", list);
    if (rc == 0) rc = put_components(&m, made);
    if (rc == 0) gx_yaml_set_root(doc, made);
    return rc;
}
