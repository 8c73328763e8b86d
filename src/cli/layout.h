/* What would run where: the tasks of a topology on the executors of a runtime that is not started, why each is there, and
 * the streams between components. As text for people, or as one JSON object for programs:
 *
 *     {"topology":"t","executors":2,
 *      "tasks":[{"task":1,"component":"count","executor":0,"because":"spread"}],
 *      "streams":[{"from":"split","stream":"default","to":"count","grouping":"fields","fields":["word"],"drop":null}]}
 *
 * Threads: one.
 */
#ifndef GX_CLI_LAYOUT_H
#define GX_CLI_LAYOUT_H

#include "base/buf.h"

#include <gale/runtime.h>

void gx_layout_text(const gale_topology *topology, const gale_runtime *runtime, gx_buf *out);
void gx_layout_json(const gale_topology *topology, const gale_runtime *runtime, gx_buf *out);

#endif
