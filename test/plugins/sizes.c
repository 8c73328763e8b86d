/* A plugin as it would have been built with other headers. CASE_SHORT: all structures end where they can at the earliest, and what lies
 * behind them is no zero. CASE_LONG: all are longer than they are known to be, with something in what is not known, and the plugin says that
 * it does without that. */
#include <gale/plugin.h>

#include <string.h>

#if defined(CASE_SHORT)
#define END_OF(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))
#define PARAM_SIZE END_OF(gale_param, text)
#define CLASS_SIZE END_OF(gale_class, make_bolt)
#define OPS_SIZE END_OF(gale_bolt_ops, execute)
#define BOLT_SIZE END_OF(gale_bolt, setting_count)
#define PLUGIN_SIZE sizeof(gale_plugin)
#define ABI GALE_PLUGIN_ABI
#define NEEDS 0
#else
#define PARAM_SIZE (sizeof(gale_param) + 16)
#define CLASS_SIZE (sizeof(gale_class) + 16)
#define OPS_SIZE (sizeof(gale_bolt_ops) + 16)
#define BOLT_SIZE (sizeof(gale_bolt) + 16)
#define PLUGIN_SIZE (sizeof(gale_plugin) + 16)
#define ABI (GALE_PLUGIN_ABI + 1)
#define NEEDS GALE_PLUGIN_ABI
#endif

/* Two rows each, and garbage between them and behind them. */
static _Alignas(16) char params[2 * (sizeof(gale_param) + 16)], classes[2 * (sizeof(gale_class) + 16)];
static _Alignas(16) char ops[sizeof(gale_bolt_ops) + 16], plugin[sizeof(gale_plugin) + 16];

static void put(char *table, size_t room, const void *row, size_t row_size, size_t size, size_t index) {
    if (index == 0) memset(table, 0x5a, room);
    memcpy(table + index * size, row, row_size < size ? row_size : size);
}

static int execute(void *user, const gale_tuple *tuple, gale_collector *out) {
    gale_value value = gale_tuple_value(tuple, 0);
    (void)user;
    int rc = gale_emit(out, 0, &value, 1);
    return rc < 0 ? rc : 0;
}

static int make(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_output output = { NULL, "text" };
    (void)user, (void)error;
    if (gale_args_whole(args, "first") != 1 || gale_args_whole(args, "second") != 2) return GALE_INVALID;
    const gale_bolt made = { BOLT_SIZE, (const gale_bolt_ops *)ops, NULL, NULL, &output, 1, NULL, 0 };
    memcpy(ret_bolt, &made, BOLT_SIZE < sizeof made ? BOLT_SIZE : sizeof made);
    return 0;
}

static void fill(void) {
    static const gale_param rows[] = { GALE_PARAM("first", GALE_PARAM_WHOLE, "1", "the first"),
                                       GALE_PARAM("second", GALE_PARAM_WHOLE, "2", "the second") };
    static const gale_bolt_ops table = { .size = OPS_SIZE, .name = "sizes", .execute = execute };
    static const gale_class both[] = { GALE_BOLT_CLASS("sizes.bolt.One", "passes text on", rows, "text", make),
                                       GALE_BOLT_CLASS("sizes.bolt.Two", "passes text on", rows, "text", make) };
    gale_plugin whole = GALE_PLUGIN_INIT("sizes", "1.0", "sizes.", "Apache-2.0", "has structures of another size",
                                         both);
    for (size_t i = 0; i < 2; i++) put(params, sizeof params, &rows[i], sizeof rows[i], PARAM_SIZE, i);
    for (size_t i = 0; i < 2; i++) {
        gale_class row = both[i];
        row.params = (const gale_param *)params;
        row.param_size = PARAM_SIZE;
        put(classes, sizeof classes, &row, sizeof row, CLASS_SIZE, i);
    }
    put(ops, sizeof ops, &table, sizeof table, OPS_SIZE, 0);
#if !defined(CASE_SHORT)
    memset(ops + sizeof table, 0, 16); /* what is set there would be called */
#endif
    whole.size = PLUGIN_SIZE;
    whole.abi = ABI;
    whole.needs = NEEDS;
    whole.classes = (const gale_class *)classes;
    whole.class_size = CLASS_SIZE;
    whole.class_count = 2;
    put(plugin, sizeof plugin, &whole, sizeof whole, PLUGIN_SIZE, 0);
}

GALE_PLUGIN_ENTRY {
    fill();
    return (const gale_plugin *)plugin;
}
