/* What would run where: the tasks of a topology on the executors of a runtime that is not started, why each is there, and
 * the streams between components, with the share of their deliveries that goes to another executor, as far as the grouping
 * says and if all tasks emit alike. As text for people, or as one JSON object for programs (`crosses` is null where only
 * the emit says who takes it):
 *
 *     {"topology":"t","executors":2,
 *      "tasks":[{"task":1,"component":"count","executor":0,"because":"spread"}],
 *      "streams":[{"from":"split","stream":"default","to":"count","grouping":"fields","fields":["word"],"drop":null,
 *                  "crosses":0.5}]}
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
