/* A plugin that is built with the oldest headers of its ABI that a gale came with (test/abi/headers-1), and runs in this one. */
#include <gale/plugin.h>
#include <gale/state.h>

static int execute(void *user, const gale_tuple *tuple, gale_collector *out) {
    gale_value value;
    (void)user;
    if (!gale_tuple_get(tuple, "line", &value) && !gale_tuple_get(tuple, "text", &value)) return GALE_FIELDS;
    int rc = gale_emit(out, 0, &value, 1);
    return rc < 0 ? rc : 0;
}

static int make(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "oldest", .execute = execute, .durable = &gale_stateless
    };
    static const gale_output output = { NULL, "text" };
    (void)user;
    if (gale_args_input_count(args) != 1) return gale_error_set(error, GALE_INVALID, "one stream must lead to it");
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt, .ops = &ops, .outputs = &output, .output_count = 1 };
    return 0;
}

static const gale_param params[] = { GALE_PARAM("first", GALE_PARAM_WHOLE, "1", "the first") };
static const gale_class classes[] = {
    GALE_BOLT_CLASS("sizes.bolt.One", "passes text on", params, "text", make),
    GALE_BOLT_CLASS("sizes.bolt.Two", "passes text on", params, "text", make),
};
static const gale_plugin plugin = GALE_PLUGIN_INIT("oldest", "1.0", "sizes.", "Apache-2.0",
                                                   "is built with the oldest headers", classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
