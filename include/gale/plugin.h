/* gale/plugin.h: spouts and bolts in a shared object that a program loads when it runs.
 *
 * What:    a plugin has one function, gale_plugin_v1, which returns a description of what is in it: a table of classes, each with
 *          its parameters and a function that makes a spout or a bolt. From then on a topology file names them as it names
 *          gale's own, and what is said of a parameter here checks files, and is what `gale help` and editors show.
 *          docs/plugins.md is a plugin from nothing; docs/formats/plugin-abi.md is what is promised.
 * Threads: gale_plugin_v1 and the make functions are called by one thread at a time; what they make, as gale/component.h says.
 * Owner:   the description, and all that it points to, must last as long as the process: a plugin is never unloaded.
 *          Arguments are borrowed for the call of the make function.
 * Errors:  a make function returns a negative code, and says what is wrong in `error`, which begins with the name of the
 *          parameter that is meant ("limit: ..."): then its place in the file is shown.
 * Misuse:  every function checks. Arguments of NULL have nothing, and what is not wanted may be NULL.
 * Layout:  what is appended in later versions is zero in what was built with this one. A structure that stands alone begins
 *          with its size; of a table, who points to it says how large a row is.
 */
#ifndef GALE_PLUGIN_H
#define GALE_PLUGIN_H

#include <gale/component.h>

GALE_BEGIN

/* The version of all that a plugin sees: it grows by one when something is appended to a structure or a table of functions of the
 * public headers. What is in another order, or means something else, has another name than gale_plugin_v1. */
#define GALE_PLUGIN_ABI 1

/* Types are words with blanks between them: int, float, bool, string, bytes, list, map. A file in which a field can have
 * none of those that a parameter takes is refused, as every tuple would fail. "late.behind float" is of the stream `late`. */

/* --- Parameters --------------------------------------------------------------------------------------------------- */

/* What a file may give, and as which gale_type it comes. */
typedef enum gale_param_type {
    GALE_PARAM_ANY,     /* everything; as it is */
    GALE_PARAM_BOOL,    /* true or false; BOOL */
    GALE_PARAM_WHOLE,   /* a whole number; I64 */
    GALE_PARAM_NUMBER,  /* a number; F64 */
    GALE_PARAM_SECONDS, /* a number of seconds, or a duration: 250ms, 10s, 5m, 1h30m, 2d; F64 */
    GALE_PARAM_BYTES,   /* a number of bytes, or a size: 64 KB, 100 MB, 2 GiB; I64 */
    GALE_PARAM_TEXT,    /* STRING, without a NUL */
    GALE_PARAM_WORD,    /* one of `words`, in capitals or not; STRING, as `words` has it */
    GALE_PARAM_FIELD,   /* the name of a field; STRING */
    GALE_PARAM_FIELDS,  /* names of fields, as a list or with commas between them; STRING "a, b" */
    GALE_PARAM_LIST,    /* texts, as a list or with commas between them; LIST of STRING */
    GALE_PARAM_MAP,     /* names and what they stand for, in the file's order; MAP, not sorted */
    GALE_PARAM_TYPE_COUNT
} gale_param_type;

/* What gale must know of a parameter beside its type, to see what is wrong with a file before it runs. */
typedef enum gale_param_role {
    GALE_PARAM_READS = 1,   /* names a file that is read */
    GALE_PARAM_WRITES = 2,  /* names a file that is written: two that write the same are refused */
    GALE_PARAM_KEY = 4,     /* names the fields by which something is kept; not given: the first field */
    GALE_PARAM_INPUT = 8,   /* names fields that what comes in must have */
    GALE_PARAM_OUTPUT = 16, /* names the fields that go out */
    GALE_PARAM_TIME = 32,   /* names the field of the tuples' own time; not given: the clock is meant */
    GALE_PARAM_ABOVE = 64,  /* a number must be above `min`, not at it */
    GALE_PARAM_BRACES = 128 /* a text: {name} and {+name} stand for fields that what comes in must have */
} gale_param_role;

/* `name`, `type` and `text` must be there. `fallback` is text as it would stand in a file ("10", "true"): NULL says that the
 * parameter must be given, "" that there is none (so of a list or a map). */
typedef struct gale_param {
    const char *name;
    int32_t type;   /* gale_param_type */
    uint32_t roles; /* GALE_PARAM_READS | ... */
    const char *fallback;
    const char *text;    /* a sentence, without a point: "the most tuples a second" */
    int64_t min, max;    /* of numbers, when min < max */
    const char *words;   /* of GALE_PARAM_WORD, separated by blanks; with GALE_PARAM_BRACES, what is no field */
    const char *unit;    /* "lines", "a second"; NULL: none */
    const char *example; /* a value, as it stands in a file; NULL: none worth showing */
    const char *also;    /* another name that files may use, or NULL */
    const char *takes;   /* types of the fields that it names, "int float"; NULL: any */
} gale_param;

/* --- What a file gives -------------------------------------------------------------------------------------------- */

/* A stream that leads to a bolt. Set `size` before it is asked for. */
typedef struct gale_input {
    size_t size;
    const char *source, *stream;
    const char *fields; /* "word, count"; NULL: not known, as in a cycle: a bolt that must know returns GALE_FIELDS */
} gale_input;

typedef struct gale_args gale_args;

/* Filled by who makes components of a file. Call the functions below instead. */
typedef struct gale_args_ops {
    size_t size;
    gale_value (*value)(const gale_args *args, const char *name);
    bool (*given)(const gale_args *args, const char *name);
    size_t (*input_count)(const gale_args *args);
    bool (*input)(const gale_args *args, size_t index, gale_input *ret_input);
} gale_args_ops;

struct gale_args {
    const gale_args_ops *ops;
};

/* The value of a parameter, its fallback where the file gives none; null where there is neither. A class that asks for a
 * parameter that it does not have is refused when it is made. */
GALE_INLINE gale_value gale_args_value(const gale_args *args, const char *name) {
    return args && args->ops ? args->ops->value(args, name) : gale_null();
}

/* Does the file give it? */
GALE_INLINE bool gale_args_given(const gale_args *args, const char *name) {
    return args && args->ops && args->ops->given(args, name);
}

/* Of the types that come as a STRING: ended by a NUL; NULL where there is none. */
GALE_INLINE const char *gale_args_text(const gale_args *args, const char *name) {
    gale_value value = gale_args_value(args, name);
    return value.type == GALE_TYPE_STRING ? value.as.string : NULL;
}

/* Of a BOOL; false where there is none. */
GALE_INLINE bool gale_args_flag(const gale_args *args, const char *name) {
    gale_value value = gale_args_value(args, name);
    return value.type == GALE_TYPE_BOOL && value.as.boolean;
}

/* Of the types that come as an I64; 0 where there is none. */
GALE_INLINE int64_t gale_args_whole(const gale_args *args, const char *name) {
    gale_value value = gale_args_value(args, name);
    return value.type == GALE_TYPE_I64 ? value.as.i64 : 0;
}

/* Of the types that come as an F64; 0 where there is none. */
GALE_INLINE double gale_args_number(const gale_args *args, const char *name) {
    gale_value value = gale_args_value(args, name);
    return value.type == GALE_TYPE_F64 ? value.as.f64 : 0;
}

/* How many streams lead to the bolt. */
GALE_INLINE size_t gale_args_input_count(const gale_args *args) {
    return args && args->ops ? args->ops->input_count(args) : 0;
}

/* One of them. False when there are not so many; nothing is written then. GALE_INPUT_INIT sets the size. */
GALE_INLINE bool gale_args_input(const gale_args *args, size_t index, gale_input *ret_input) {
    return args && args->ops && ret_input && args->ops->input(args, index, ret_input);
}

#define GALE_INPUT_INIT                                                                                                \
    { sizeof(gale_input), NULL, NULL, NULL }

/* --- Classes ------------------------------------------------------------------------------------------------------ */

typedef enum gale_class_kind { GALE_CLASS_SPOUT, GALE_CLASS_BOLT, GALE_CLASS_KIND_COUNT } gale_class_kind;

typedef enum gale_class_flag {
    GALE_CLASS_REMEMBERS = 1 /* a run that begins anew without a state has lost what it knew */
} gale_class_flag;

/* `make_spout` or `make_bolt` as `kind` says. It is given a structure that is zero but for its size, and fills it in as a whole
 * (`*ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt, ... }`); `ops`, outputs and settings must last until `free_user` is
 * called, or for ever where there is none. It opens nothing: `gale check` makes components, too, and runs none. */
typedef struct gale_class {
    const char *name; /* "acme.bolt.Upper": it begins with the plugin's prefix */
    int32_t kind;     /* gale_class_kind */
    uint32_t flags;   /* GALE_CLASS_REMEMBERS | ... */
    const char *text; /* a sentence, without a point: "writes text in capitals" */
    const gale_param *params;
    size_t param_size, param_count; /* params, param_size, param_count: GALE_TABLE(rows) */
    const char *aliases; /* other names, separated by blanks, as of a Java class; not gale's or Storm's own */
    const char *outputs; /* the fields of its default stream, "word, count", or NULL */
    const char *keys;    /* the keys of the configuration that it reads, separated by blanks, or NULL */
    int (*make_spout)(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error);
    int (*make_bolt)(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error);
    void *user;        /* given to them */
    const char *types; /* of fields that it makes, "partition int, bad.line string"; NULL: not known */
} gale_class;

/* --- The plugin --------------------------------------------------------------------------------------------------- */

/* All but `needs` must be there. `name` is small letters, digits, '-' and '_'; `prefix` ends with a point, and is neither gale's
 * ("gale.") nor Storm's ("org.apache.storm."). */
typedef struct gale_plugin {
    size_t size;
    uint32_t abi;   /* GALE_PLUGIN_ABI */
    uint32_t needs; /* the oldest GALE_PLUGIN_ABI of a gale that it runs in; 0: that of `abi` */
    const char *name;
    const char *version;
    const char *prefix;  /* "acme." */
    const char *license; /* "Apache-2.0" */
    const char *text;    /* a sentence, without a point: "reads and writes what Acme's scales say" */
    const gale_class *classes;
    size_t class_size, class_count; /* classes, class_size, class_count: GALE_TABLE(rows) */
} gale_plugin;

/* --- For C, and for C++ without designated initialisers ----------------------------------------------------------- */

/* A table, the size of its rows, and how many there are: the three fields that say so, in this order. */
#define GALE_TABLE(rows) (rows), sizeof((rows)[0]), sizeof(rows) / sizeof((rows)[0])

/* A row of a table of parameters: in order, with types of fields, or with all that the third has. In C, designated
 * initialisers say the same. */
#define GALE_PARAM(name, type, fallback, text)                                                                         \
    { (name), (type), 0, (fallback), (text), 0, 0, NULL, NULL, NULL, NULL, NULL }
#define GALE_PARAM_TAKES(name, type, fallback, text, roles, takes, example)                                            \
    { (name), (type), (roles), (fallback), (text), 0, 0, NULL, NULL, (example), NULL, (takes) }
#define GALE_PARAM_MORE(name, type, fallback, text, roles, min, max, words, unit, example)                             \
    { (name), (type), (roles), (fallback), (text), (min), (max), (words), (unit), (example), NULL, NULL }

/* A row of a table of classes; `outputs` as in gale_class. */
#define GALE_SPOUT_CLASS(name, text, params, outputs, make)                                                            \
    { (name), GALE_CLASS_SPOUT, 0, (text), GALE_TABLE(params), NULL, (outputs), NULL, (make), NULL, NULL, NULL }
#define GALE_BOLT_CLASS(name, text, params, outputs, make)                                                             \
    { (name), GALE_CLASS_BOLT, 0, (text), GALE_TABLE(params), NULL, (outputs), NULL, NULL, (make), NULL, NULL }

/* A gale_plugin. */
#define GALE_PLUGIN_INIT(name, version, prefix, license, text, classes)                                                \
    { sizeof(gale_plugin), GALE_PLUGIN_ABI, 0, (name), (version), (prefix), (license), (text), GALE_TABLE(classes) }

/* The one function that a plugin shows: `GALE_PLUGIN_ENTRY { return &plugin; }`. */
#ifdef __cplusplus
#define GALE_PLUGIN_ENTRY                                                                                              \
    extern "C" GALE_API const gale_plugin *gale_plugin_v1(void);                                                       \
    extern "C" GALE_API const gale_plugin *gale_plugin_v1(void)
#else
#define GALE_PLUGIN_ENTRY                                                                                              \
    GALE_API const gale_plugin *gale_plugin_v1(void);                                                                  \
    GALE_API const gale_plugin *gale_plugin_v1(void)
#endif

GALE_END

#endif
