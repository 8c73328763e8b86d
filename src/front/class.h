/* What a class of a topology file is: its names, its parameters, how one is made. All that is known of a parameter stands
 * in one row, which checks files and makes `gale help classes`, docs/reference/classes.md and the JSON Schema.
 *
 * What:    a class is a spout, a bolt, or a value (for Flux's `components`). constructorArgs fill its parameters in order,
 *          properties by name, configMethods by a method's name (withX, setX or x fill the parameter x). A class is made
 *          of gx_args, which it asks by name.
 * Threads: tables are constant; any thread. Arguments belong to one.
 * Owner:   arguments borrow from the document that they were read from; who makes something copies.
 * Limits:  GX_PARAMS_MAX parameters a class, GX_ALIASES_MAX other names.
 */
#ifndef GX_FRONT_CLASS_H
#define GX_FRONT_CLASS_H

#include "front/value_types.h"

#include <gale/component.h>

enum { GX_PARAMS_MAX = 64, GX_ALIASES_MAX = 12 };

typedef enum gx_class_kind { GX_CLASS_SPOUT, GX_CLASS_BOLT, GX_CLASS_VALUE, GX_CLASS_KIND_COUNT } gx_class_kind;

/* What a file may give, and as which gale_type it comes. */
typedef enum gx_param_type {
    GX_PARAM_ANY,     /* everything; as it is */
    GX_PARAM_BOOL,    /* true or false; BOOL */
    GX_PARAM_WHOLE,   /* a whole number; I64 */
    GX_PARAM_NUMBER,  /* a number; F64 */
    GX_PARAM_SECONDS, /* a number of seconds, or a duration: 250ms, 10s, 5m, 1h30m, 2d; F64 */
    GX_PARAM_BYTES,   /* a whole number of bytes, or a size: 64 KB, 100 MB, 2 GiB; I64 */
    GX_PARAM_TEXT,    /* STRING, without a NUL */
    GX_PARAM_WORD,    /* one of `words`, in capitals or not; STRING, as `words` has it */
    GX_PARAM_FIELD,   /* the name of a field; STRING */
    GX_PARAM_FIELDS,  /* names of fields, as a list or with commas between them; STRING "a, b" */
    GX_PARAM_LIST,    /* texts, as a list or with commas between them; LIST of STRING */
    GX_PARAM_MAP,     /* names and what they stand for, in the file's order; MAP, not sorted */
    GX_PARAM_TYPE_COUNT
} gx_param_type;

/* What the program must know about a parameter beside its type. */
typedef enum gx_param_role {
    GX_PARAM_READS = 1,   /* names a file to read (gale.input may name another) */
    GX_PARAM_WRITES = 2,  /* names a file to write (gale.output, too) */
    GX_PARAM_KEEPS = 4,   /* names a state (connect/file/state.h) */
    GX_PARAM_STAYS = 8,   /* says whether what a file to write holds stays */
    GX_PARAM_KEY = 16,    /* names the fields by which it keeps what it knows: when it is not given, the first field */
    GX_PARAM_INPUT = 32,  /* names fields that what comes in must have */
    GX_PARAM_OUTPUT = 64, /* names the fields that go out */
    GX_PARAM_ABOVE = 128, /* a number must be above `min`, not at it */
    GX_PARAM_TEMPLATE = 256,    /* a path that may name fields of what comes in (connect/file/template.h) */
    GX_PARAM_TIME = 512,        /* names the field of the tuples' own time; none: it goes by the clock */
    GX_PARAM_AGGREGATES = 1024, /* what is told of a window (kit/window_spec.h) */
    GX_PARAM_KEYLESS = 2048,    /* of a key: when it is not given, what it knows is one */
    GX_PARAM_BRACES = 4096,     /* a text with fields of what comes in, {name} or {+name}; `words` are none */
    GX_PARAM_PASSES = 8192,  /* the fields that it names go out as they come in; `fields`, when it names none: all do */
    GX_PARAM_COLUMNS = 16384 /* names fields that are made, perhaps with `as NAME`, and their types: "status int" */
} gx_param_role;

typedef struct gx_param {
    const char *name;
    const char *also;     /* another name that files may use, or NULL */
    int32_t type;         /* gx_param_type */
    uint32_t roles;       /* GX_PARAM_READS | ... */
    const char *fallback; /* as text; NULL: the parameter must be given; "": null */
    int64_t min, max;     /* of numbers and seconds, when min < max */
    const char *words;    /* of GX_PARAM_WORD, and perhaps with GX_PARAM_BRACES, separated by blanks */
    const char *unit;     /* "lines", "a second"; NULL: none. That of GX_PARAM_SECONDS needs no saying */
    const char *text;     /* a sentence */
    const char *example;  /* a value, as it stands in a file; NULL: none worth showing */
    const char *takes; /* types that the fields may have which it names, "int float" (front/value_types.h); NULL: any */
    const char *gives; /* types of the fields that it makes, of GX_PARAM_COLUMNS those without a type; NULL: any */
    uint32_t nth;      /* of a field, when it is not given: the first (1), or the second, of what comes in; 0: none */
} gx_param;

typedef struct gx_args gx_args;

typedef struct gx_class {
    const char *name;
    const char *aliases[GX_ALIASES_MAX]; /* ended by NULL unless full */
    int32_t kind;                        /* gx_class_kind */
    const gx_param *params;
    size_t param_count;
    const char *keys;    /* the configuration keys that it reads, separated by blanks, or NULL */
    const char *outputs; /* the fields of its default stream, "word, count", or NULL */
    const char *
        types; /* of fields that it makes: "count int, late.behind int float" (of the stream `late`), "word @key" (as the field
                              that the parameter `key` names), or NULL */
    const char *apart;     /* streams of inputs that need not have the fields that its parameters name, or NULL */
    const char *factories; /* static methods that make one of factoryArgs, which are its parameters, or NULL */
    bool remembers;        /* a run that begins anew without a state has lost what it knew */
    const char *text;      /* a sentence */
    /* Errors need no place; the caller adds it. */
    int (*make_spout)(const gx_args *args, gale_spout *ret_spout, gale_error *error);
    int (*make_bolt)(const gx_args *args, gale_bolt *ret_bolt, gale_error *error);
    int (*make_value)(const gx_args *args, gale_value *ret_value, gale_error *error);
    bool (*prints)(const gx_args *args); /* does it write to the standard output? NULL: never */
    bool (*joins)(const gx_args *args);  /* does it go by the order in which lines come? NULL: never */
    /* Types that depend on more than the table says. Of a field that it makes; false: it passes `*field` on, which it
     * may set to the name that the field comes in with. And of what a parameter that has `takes` takes. NULL: the table
     * says all. */
    bool (*gives)(const gx_args *args, gale_str *field, uint32_t *ret_types);
    uint32_t (*takes)(const gx_args *args, const gx_param *param);
    const struct gx_made_by *made_by; /* of a plugin (front/plugin_class.h); NULL: gale's own */
} gx_class;

/* A stream that leads to a bolt. */
typedef struct gx_input {
    const char *source, *stream;
    const char *fields; /* "word, count"; NULL: not known, as in a cycle, or of a source that is wrong itself */
    const gx_typed_stream *typed; /* NULL: not known */
} gx_input;

/* One value a parameter, all there: null for what has no default and was not given. Of a bolt, also what leads to it:
 * sources are made first, so that a bolt which passes fields on knows them. */
struct gx_args {
    const gx_class *class_;
    gale_value values[GX_PARAMS_MAX];
    bool given[GX_PARAMS_MAX];
    const struct gx_yaml *places[GX_PARAMS_MAX]; /* where the file gives it */
    const gx_input *inputs;
    size_t input_count;
};

/* "spout" for GX_CLASS_SPOUT. Static storage. */
const char *gx_class_kind_name(int32_t kind);

/* Is this one of its names? */
bool gx_class_is_called(const gx_class *class_, gale_str name);

/* Has it a parameter of this name? */
bool gx_class_has(const gx_class *class_, const char *name);

/* Is `key` among the configuration keys that the class reads? */
bool gx_class_reads_key(const gx_class *class_, const char *key);

/* Need an input that is this stream not have the fields that its parameters name? */
bool gx_class_is_apart(const gx_class *class_, const char *stream);

/* "a whole number" for messages; "whole number" for tables. Static storage. */
const char *gx_param_type_text(int32_t type);

/* What a default is, as if a file said it; one for a list or a map is none. Borrowed from the parameter. */
gale_value gx_param_fallback(const gx_param *param);
const char *gx_param_type_name(int32_t type);

/* What a class without arguments is made of: the defaults. */
gx_args gx_args_of(const gx_class *class_);

/* By a parameter's name, which the class must have. */
const gale_value *gx_args_value(const gx_args *args, const char *name);
bool gx_args_given(const gx_args *args, const char *name);
const char *gx_args_text(const gx_args *args, const char *name); /* NULL where there is none */
bool gx_args_flag(const gx_args *args, const char *name);        /* null is false */
int64_t gx_args_whole(const gx_args *args, const char *name);    /* null is 0 */
double gx_args_number(const gx_args *args, const char *name);    /* null is 0 */
bool gx_args_is(const gx_args *args, const char *name, const char *word);

/* The types that a field of the inputs may have, of all that have it, and where it got them; GX_TYPES_ANY where that is
 * not known of one. The name stays. */
void gx_args_take_types(const gx_args *args, gale_str field, gx_typed_field *ret_field);

/* The first parameter that has one of `roles`, or NULL; and its value, or NULL when there is no such parameter. */
const gx_param *gx_class_param_with(const gx_class *class_, uint32_t roles);
const gale_value *gx_args_with(const gx_args *args, uint32_t roles);
const char *gx_args_text_with(const gx_args *args, uint32_t roles); /* NULL where it is no text */

#endif
