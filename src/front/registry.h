/* The classes that a topology file can name, as a table: what each is called, which parameters it has, how it is made.
 *
 * What:    a class is a spout, a bolt, or a plain value (for Flux's `components`). constructorArgs fill its parameters
 * in order, properties by name, configMethods by a method's name (withX, setX or x fill the parameter x). Threads:
 * tables are constant; any thread. Owner:   arguments borrow from the document that they were read from. Limits:
 * GX_PARAMS_MAX parameters a class.
 */
#ifndef GX_FRONT_REGISTRY_H
#define GX_FRONT_REGISTRY_H

#include "front/shape.h"

#include <gale/component.h>

enum { GX_PARAMS_MAX = 8, GX_ALIASES_MAX = 4 };

typedef enum gx_class_kind { GX_CLASS_SPOUT, GX_CLASS_BOLT, GX_CLASS_VALUE, GX_CLASS_KIND_COUNT } gx_class_kind;

typedef struct gx_param {
    const char *name;
    int32_t type;         /* GALE_TYPE_BOOL, _I64, _STRING; GALE_TYPE_NULL takes every scalar */
    const char *fallback; /* as text; NULL: the parameter must be given; "": null */
    int64_t min, max;     /* for _I64, when min < max */
    const char *choices;  /* for _STRING: the words that it may be, separated by blanks, or NULL */
    const char *text;     /* a sentence */
} gx_param;

typedef struct gx_class {
    const char *name;
    const char *aliases[GX_ALIASES_MAX]; /* ended by NULL unless full */
    int32_t kind;                        /* gx_class_kind */
    const gx_param *params;
    size_t param_count;
    const char *keys;    /* the configuration keys that it reads, separated by blanks, or NULL */
    const char *outputs; /* the fields of its default stream, "word, count", or NULL */
    const char *text;    /* a sentence */
    int key;    /* 1 + the index of the parameter that names the fields by which it keeps what it knows; when the
                          * parameter is not given, by the first field; 0: it keeps nothing so */
    int reads;  /* 1 + the index of the parameter that names a file to read (gale.input may name another) */
    int writes; /* 1 + the index of the one that names a file to write (gale.output, too); 0: none */
    int keeps;  /* 1 + the index of the one that names a state (connect/file/state.h) */
    int stays;  /* 1 + the index of the flag that says whether what a file to write holds stays */
    /* One value a parameter, all there (null for a string without default). Errors need no place; the caller adds it.
     */
    int (*make_spout)(const gale_value *values, gale_spout *ret_spout, gale_error *error);
    int (*make_bolt)(const gale_value *values, gale_bolt *ret_bolt, gale_error *error);
    bool (*prints)(const gale_value *values); /* does it write to the standard output? NULL: never */
} gx_class;

typedef struct gx_registry {
    const gx_class *classes;
    size_t class_count;
} gx_registry;

/* What `{ref: id}` can name. */
typedef struct gx_ref {
    gale_str id;
    gale_value value;
} gx_ref;

typedef struct gx_refs {
    gx_ref *refs;
    size_t count;
} gx_refs;

/* "spout" for GX_CLASS_SPOUT. Static storage. */
const char *gx_class_kind_name(int32_t kind);

/* By name or alias; NULL when there is none. */
const gx_class *gx_registry_find(const gx_registry *registry, gale_str name);

/* A hint for a name that is no class: the nearest one of `kind` (GX_CLASS_KIND_COUNT: of any), or where they are
 * listed. Borrowed from `out`, or static. */
const char *gx_registry_hint(const gx_registry *registry, gale_str wanted, int32_t kind, char out[GX_HINT_SIZE]);

/* The class that `object`'s className names. Of the wrong kind, or unknown: GALE_NOT_FOUND with the nearest name of
 * that kind, or with where to find them all. `what` is how messages call the object. */
int gx_registry_class(const gx_registry *registry, const gx_yaml_doc *doc, const gx_yaml *object, const char *what,
                      int32_t kind, const gx_class **ret_class, gale_error *error);

/* The values of `class_`'s parameters as `object` gives them, defaults filled in. */
int gx_registry_values(const gx_class *class_, const gx_refs *refs, const gx_yaml_doc *doc, const gx_yaml *object,
                       gale_value ret_values[GX_PARAMS_MAX], gale_error *error);

#endif
