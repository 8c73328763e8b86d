/* A plugin whose bolt answers as the line says: "fate 4" fails it for reason 4, "fate hold" never answers; any other line is acked. */
#include <gale/plugin.h>

#include <stdlib.h>
#include <string.h>

static int execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    static const char mark[] = "fate ";
    gale_value line = gale_tuple_value(tuple, 0);
    gale_handle handle = gale_tuple_handle(tuple), held;
    char word[32] = "";
    (void)self;
    if (line.size <= sizeof mark - 1 || line.size >= sizeof word || memcmp(line.as.string, mark, sizeof mark - 1) != 0)
        return gale_ack(out, handle);
    memcpy(word, line.as.string + sizeof mark - 1, line.size - (sizeof mark - 1));
    if (strcmp(word, "hold") == 0) return gale_tuple_hold(out, handle, &held);
    return gale_fail(out, handle, (int32_t)strtol(word, NULL, 10), "as the line says");
}

static int make(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "fate", .kind = GALE_BOLT_MANUAL, .execute = execute
    };
    (void)user, (void)args, (void)error;
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt, .ops = &ops };
    return 0;
}

static const gale_param params[] = { GALE_PARAM("unused", GALE_PARAM_WHOLE, "1", "nothing") };
static const gale_class classes[] = {
    GALE_BOLT_CLASS("fate.bolt.Fate", "answers as its lines say", params, NULL, make),
};
static const gale_plugin plugin = GALE_PLUGIN_INIT("fate", "1.0", "fate.", "Apache-2.0", "answers as lines say",
                                                   classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
