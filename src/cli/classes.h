/* What the classes of a registry are called, take and emit: for `gale help classes` and the reference that is made of
 * the same tables.
 *
 * Threads: any; all is constant.
 */
#ifndef GX_CLI_CLASSES_H
#define GX_CLI_CLASSES_H

#include "base/buf.h"
#include "front/registry.h"

/* A line a class, and what topology files cannot do. */
void gx_classes_list(const gx_registry *registry, gx_buf *out);

/* Everything about one class. */
void gx_classes_one(const gx_class *class_, gx_buf *out);

/* Everything about all of them, as Markdown: docs/reference/classes.md. */
void gx_classes_page(const gx_registry *registry, gx_buf *out);

#endif
