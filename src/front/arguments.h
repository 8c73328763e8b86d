/* What an object of a file gives to its class: constructorArgs, factoryArgs, properties and configMethods become gx_args.
 *
 * What:    each value is checked and converted as the class's table says; references are followed; defaults do the rest.
 * Threads: one at a time.
 * Owner:   arguments borrow from the document and from what references stand for.
 * Limits:  a value that references are part of has at most GX_VALUE_PARTS parts, all of them counted.
 */
#ifndef GX_FRONT_ARGUMENTS_H
#define GX_FRONT_ARGUMENTS_H

#include "front/class.h"
#include "front/shape.h"

enum { GX_VALUE_PARTS = 100000 };

/* What `{ref: id}` can name. */
typedef struct gx_ref {
    gale_str id;
    gale_value value;
} gx_ref;

typedef struct gx_refs {
    gx_ref *refs;
    size_t count;
} gx_refs;

/* One value that a command line lays over what the file gives: its parameter, and the node that has it. */
typedef struct gx_override {
    gale_str name;
    const gx_yaml *node;
} gx_override;

/* The arguments of `class_` as `object` gives them. With several errors the document keeps those that it can keep
 * (gx_yaml_keep), and the arguments are of no use. `overrides` (may be NULL) go over all. */
int gx_arguments_read(const gx_class *class_, const gx_refs *refs, gx_yaml_doc *doc, const gx_yaml *object,
                      const gx_override *overrides, size_t override_count, gx_args *ret_args, gale_error *error);

#endif
