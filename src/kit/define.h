/* What every ready-made component needs: a definition filled in, a task's instance with a heap of its own, and reports
 * that name component, field and type.
 * Threads: the defining functions any thread; instances belong to their task.
 * Owner:   a user block is freed by gx_define_free, which the definition carries as free_user. */
#ifndef GX_KIT_DEFINE_H
#define GX_KIT_DEFINE_H

#include "base/buf.h"
#include "base/options.h"

#include <gale/component.h>
#include <gale/error.h>

/* Every instance begins with it. */
typedef struct gx_instance {
    gx_heap heap;
    const gale_context *context;
    size_t size;
} gx_instance;

/* A copy of `size` bytes at `from`, or NULL with a report. */
void *gx_define_user(const void *from, size_t size, const char *what, gale_error *error);
void gx_define_free(void *user);

/* There is no place for the definition: GALE_INVALID. `what` is how the report calls the component. */
int gx_define_nowhere(const char *what, gale_error *error);

/* `outputs` is static, `user` is NULL or comes from gx_define_user. */
gale_spout gx_define_spout(const gale_spout_ops *ops, void *user, const gale_output *outputs, size_t output_count);
gale_bolt gx_define_bolt(const gale_bolt_ops *ops, void *user, const gale_output *outputs, size_t output_count);

/* The setting that asks for a tick every `seconds`. */
gale_setting gx_define_tick(int64_t seconds);

/* A zeroed instance of `size` bytes from the context's allocator; NULL when memory is out. */
void *gx_define_instance(const gale_context *context, size_t size);
void gx_define_instance_free(void *instance);

/* gale_report with a format; at most 500 bytes. */
void gx_define_report(gale_collector *out, const char *format, ...) GALE_PRINTF(2, 3);

/* The tuple has fewer than `needed` values: reports and returns GALE_FIELDS. */
int gx_define_need(gale_collector *out, const char *who, const gale_tuple *tuple, size_t needed);

/* Value `index` is not what it must be: reports and returns GALE_TYPE. */
int gx_define_wrong_type(gale_collector *out, const char *who, const gale_tuple *tuple, size_t index,
                         const char *wanted);

#endif
