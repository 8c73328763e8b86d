/* A plugin whose bolt has metrics of its own, one of each kind. */
#include <gale/metric.h>
#include <gale/plugin.h>

#include <stdlib.h>

typedef struct meter {
    gale_metric *words, *last, *sizes;
} meter;

static gale_metric *make_metric(gale_collector *out, const char *name, int32_t kind, const char *help) {
    const gale_metric_options options = { .size = sizeof options, .name = name, .kind = kind, .help = help };
    gale_metric *metric = NULL;
    gale_metric_new(out, &options, &metric);
    return metric;
}

static int prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    meter *m = calloc(1, sizeof *m);
    (void)user, (void)context;
    if (!m) return GALE_NO_MEMORY;
    m->words = make_metric(out, "words", GALE_METRIC_COUNTER, "Words, \"all\" of them:\na \\ too.");
    m->last = make_metric(out, "last_bytes", GALE_METRIC_GAUGE, NULL);
    m->sizes = make_metric(out, "word_bytes", GALE_METRIC_HISTOGRAM, "How long words are.");
    make_metric(out, "never", GALE_METRIC_HISTOGRAM, "Nothing is noted to it.");
    *ret_self = m;
    return 0;
}

static int execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    meter *m = self;
    double size = gale_tuple_value(tuple, 0).size;
    (void)out;
    int rc = gale_metric_note(m->words, 1);
    if (rc == 0) rc = gale_metric_note(m->last, size);
    return rc == 0 ? gale_metric_note(m->sizes, size) : rc;
}

static int make(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "meter", .prepare = prepare, .execute = execute, .cleanup = free
    };
    (void)user, (void)args, (void)error;
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt, .ops = &ops };
    return 0;
}

static const gale_param params[] = { GALE_PARAM("unused", GALE_PARAM_WHOLE, "1", "nothing") };
static const gale_class classes[] = {
    GALE_BOLT_CLASS("metered.bolt.Meter", "counts words and how long they are", params, NULL, make),
};
static const gale_plugin plugin = GALE_PLUGIN_INIT("metered", "1.0", "metered.", "Apache-2.0", "has metrics of its own",
                                                   classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
