/* The metrics that components have made (gale/metric.h): their names, and where each is.
 *
 * What:    names in byte order, each once, with its kind and its help. What was made since is told next time.
 * Threads: any may read the runtime. Owner: whoever read it; texts are the runtime's.
 */
#ifndef GX_SERVE_NOTED_H
#define GX_SERVE_NOTED_H

#include "base/json.h"
#include "serve/exposition.h"
#include "serve/parts.h"

typedef struct gx_noted {
    gale_metric_stats *list; /* of each series some task's; those of a name stand together */
    uint32_t count;
} gx_noted;

/* False: memory is out. */
bool gx_noted_read(const gale_runtime *runtime, gx_noted *ret_noted);
void gx_noted_free(gx_noted *noted);

/* The metrics of one component, as a list of JSON. */
void gx_noted_json(gx_json *json, const gx_noted *noted, const gale_runtime *runtime, const char *component);

/* All of them, a family a name: "gale_metric_" and the name. */
void gx_noted_expose(gx_exposition *to, const gx_noted *noted, const gale_runtime *runtime, const gx_parts *parts);

#endif
