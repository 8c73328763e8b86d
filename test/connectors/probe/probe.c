/* A connector as gale's own are: it has gale's prefix, and a library of others. The build makes it once as it should be, and once for each
 * CASE_ in which it is not what gale's table says.
 *
 *      gale.spout.Probe     -> (number, sum), `count` of them; the sum is zlib's
 *      gale.bolt.ProbeSink  takes them
 */
#include <gale/plugin.h>

#include <stdlib.h>
#include <zlib.h>

typedef struct probe {
    int64_t count, next;
} probe;

static int open_probe(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    probe *p = malloc(sizeof *p);
    (void)context, (void)out;
    if (!p) return GALE_NO_MEMORY;
    *p = *(const probe *)user;
    *ret_self = p;
    return 0;
}

static int next(void *self, gale_collector *out, gale_wait *wait) {
    probe *p = self;
    unsigned char byte = (unsigned char)p->next;
    gale_value row[] = { gale_i64(p->next), gale_i64((int64_t)crc32(0, &byte, 1)) };
    (void)wait;
    if (p->next == p->count) return GALE_NEXT_DONE;
    int rc = gale_emit(out, 0, row, 2);
    if (rc < 0) return rc == GALE_AGAIN ? GALE_NEXT_NOTHING : rc;
    p->next++;
    return GALE_NEXT_EMITTED;
}

static const gale_spout_ops spout_ops = {
    .size = sizeof spout_ops, .name = "probe", .open = open_probe, .next = next, .close = free
};

static int __attribute__((unused))
make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
    static const gale_output row = { NULL, "number, sum" };
    probe *p = calloc(1, sizeof *p);
    (void)user;
    if (!p) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    p->count = gale_args_whole(args, "count");
    *ret_spout = (gale_spout){
        .size = sizeof *ret_spout, .ops = &spout_ops, .user = p, .free_user = free, .outputs = &row, .output_count = 1
    };
    return 0;
}

static int execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)tuple, (void)out;
    return 0;
}

static const gale_bolt_ops bolt_ops = { .size = sizeof bolt_ops, .name = "probe-sink", .execute = execute };

static int make_bolt(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    (void)user, (void)args, (void)error;
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt, .ops = &bolt_ops };
    return 0;
}

static const gale_param params[] = {
    GALE_PARAM_MORE("count", GALE_PARAM_WHOLE, "3", "how many numbers", 0, 0, 1000, NULL, NULL, NULL),
};

#if defined(CASE_OTHERS_CLASS)
#define SINK "gale.bolt.Other"
#elif defined(CASE_STRANGER)
#define SINK "probe.bolt.Sink"
#else
#define SINK "gale.bolt.ProbeSink"
#endif

#if defined(CASE_OTHERS_ALIAS)
#define ALIASES "org.apache.storm.probe.OtherSpout"
#else
#define ALIASES "org.apache.storm.probe.ProbeSpout ProbeSpout"
#endif

#if defined(CASE_STRANGER)
#define PREFIX "probe."
#else
#define PREFIX "gale."
#endif

static const gale_class classes[] = {
    GALE_BOLT_CLASS(SINK, "takes what comes in", params, NULL, make_bolt),
#if !defined(CASE_STRANGER) && !defined(CASE_OLDER)
    { "gale.spout.Probe", GALE_CLASS_SPOUT, 0, "makes numbers", GALE_TABLE(params), ALIASES, "number, sum", NULL,
      make_spout, NULL, NULL, NULL },
#endif
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("probe", "1.0", PREFIX, "Apache-2.0",
                                                   "makes numbers with zlib's sums of them", classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
