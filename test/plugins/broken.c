/* Plugins that are wrong in one way each; the build makes one of each CASE_. Their refusals stand in plugins_test.py. */
#include <gale/plugin.h>

#include <stdlib.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

static int __attribute__((unused)) crash(void) {
    volatile int *volatile nothing = (volatile int *)16; /* nobody has that page; NULL a sanitizer would see before */
    return *nothing;
}

static int execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)tuple, (void)out;
#if defined(CASE_CRASH_IN_EXECUTE)
    return crash();
#else
    return 0;
#endif
}

#if defined(CASE_CRASH_IN_PREPARE) || defined(CASE_ABORT_IN_PREPARE) || defined(CASE_FAILS_IN_PREPARE)
static int prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)ret_self, (void)out;
#if defined(CASE_CRASH_IN_PREPARE)
    return crash();
#elif defined(CASE_ABORT_IN_PREPARE)
    abort();
#else
    gale_report(out, "the scales cannot be reached");
    return GALE_IO;
#endif
}
#define PREPARE prepare
#else
#define PREPARE NULL
#endif

static const gale_bolt_ops ops = { .size = sizeof ops, .name = "wrong", .prepare = PREPARE, .execute = execute };

static int __attribute__((unused)) make(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    (void)user, (void)args, (void)error;
#if defined(CASE_CRASH_IN_MAKE)
    return crash();
#elif defined(CASE_FAILS_IN_MAKE)
    return gale_error_set(error, GALE_INVALID, "wrong.bolt.Wrong: limit %lld is odd",
                          (long long)gale_args_whole(args, "limit"));
#elif defined(CASE_FAILS_SILENTLY)
    return GALE_UNSUPPORTED;
#elif defined(CASE_ASKS_FOR_MORE)
    if (gale_args_text(args, "limits")) return GALE_INVALID;
#elif defined(CASE_MAKES_NOTHING)
    return 0;
#elif defined(CASE_SAYS_NO_SIZE)
    memset(ret_bolt, 0, sizeof *ret_bolt);
#endif
#if defined(CASE_UNRESOLVED)
    extern int gale_not_there_yet(void);
    return gale_not_there_yet();
#elif defined(CASE_UNLINKED)
    extern int scales_read(void);
    return scales_read();
#elif defined(CASE_LACKS_LIBRARY)
    extern int gone(void);
    return gone();
#endif
    ret_bolt->ops = &ops;
    return 0;
}

static const gale_param params[] = {
#if defined(CASE_UNKNOWN_TYPE)
    GALE_PARAM("limit", 99, "2", "how many"),
#elif defined(CASE_BAD_DEFAULT)
    GALE_PARAM("limit", GALE_PARAM_WHOLE, "many", "how many"),
#elif defined(CASE_NO_TEXT)
    GALE_PARAM("limit", GALE_PARAM_WHOLE, "2", NULL),
#elif defined(CASE_PARAM_TWICE)
    GALE_PARAM("limit", GALE_PARAM_WHOLE, "2", "how many"),
    GALE_PARAM("limit", GALE_PARAM_WHOLE, "2", "how many"),
#else
    GALE_PARAM("limit", GALE_PARAM_WHOLE, "2", "how many"),
#endif
};

static const gale_class classes[] = {
#if defined(CASE_OTHER_PREFIX)
    GALE_BOLT_CLASS("right.bolt.Wrong", "is wrong", params, NULL, make),
#elif defined(CASE_NULL_MAKE)
    GALE_BOLT_CLASS("wrong.bolt.Wrong", "is wrong", params, NULL, NULL),
#elif defined(CASE_MADE_AS_SPOUT)
    { "wrong.bolt.Wrong", GALE_CLASS_SPOUT, 0, "is wrong", GALE_TABLE(params), NULL, NULL, NULL, NULL, make, NULL,
      NULL },
#elif defined(CASE_GALES_ALIAS)
    { "wrong.bolt.Wrong", GALE_CLASS_BOLT, 0, "is wrong", GALE_TABLE(params), "com.acme.Wrong gale.bolt.Split", NULL,
      NULL, NULL, make, NULL, NULL },
#elif defined(CASE_CLASS_TWICE)
    GALE_BOLT_CLASS("wrong.bolt.Wrong", "is wrong", params, NULL, make),
    GALE_BOLT_CLASS("wrong.bolt.Wrong", "is wrong", params, NULL, make),
#else
    GALE_BOLT_CLASS("wrong.bolt.Wrong", "is wrong", params, NULL, make),
#endif
};

#if defined(CASE_GALES_PREFIX)
#define PREFIX "gale."
#elif defined(CASE_NO_PREFIX)
#define PREFIX "wrong"
#else
#define PREFIX "wrong."
#endif

static gale_plugin plugin = GALE_PLUGIN_INIT("wrong", "1.0", PREFIX, "Apache-2.0", "is wrong", classes);

#if defined(CASE_CRASH_ON_LOAD)
__attribute__((constructor)) static void begin(void) {
    crash();
}
#endif

static const gale_plugin *describe(void) {
#if defined(CASE_NEWER_ABI)
    plugin.abi = 99;
#elif defined(CASE_NO_ABI)
    plugin.abi = 0;
#elif defined(CASE_NO_SIZE)
    plugin.size = 0;
#elif defined(CASE_NO_CLASSES)
    plugin.class_count = 0;
#elif defined(CASE_NO_LICENSE)
    plugin.license = NULL;
#elif defined(CASE_NO_NAME)
    plugin.name = "Wrong!";
#elif defined(CASE_NULL_DESCRIPTION)
    return NULL;
#endif
    return &plugin;
}

#if defined(CASE_NO_ENTRY)
#define ENTRY wrong_plugin
#elif defined(CASE_NEWER_ENTRY)
#define ENTRY gale_plugin_v2
#elif defined(CASE_OLDER_ENTRY)
#define ENTRY gale_plugin_v0
#else
#define ENTRY gale_plugin_v1
#endif
SHOWN const gale_plugin *ENTRY(void);
SHOWN const gale_plugin *ENTRY(void) {
    return describe();
}
