#include "cli/open_trees.h"

enum { SHOWN = 10 };

static const int64_t patience = 200 * GALE_MILLISECOND;

void gx_open_trees_text(gale_runtime *runtime, gx_buf *out) {
    gale_open_tree trees[SHOWN] = { { .size = sizeof trees[0] } };
    int count = gale_runtime_open_trees(runtime, trees, SHOWN, patience);
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(runtime, &stats);
    if (count == GALE_AGAIN)
        gx_buf_format(out, "giving up with %llu open; where they are was not told: a call of a component takes long\n",
                      (unsigned long long)stats.open);
    if (count <= 0) return;
    gx_buf_format(out, "giving up with %llu open; the oldest:\n", (unsigned long long)stats.open);
    for (int i = 0; i < count; i++)
        gx_buf_format(out, "  %s #%llu, %.1f s old: %s\n", trees[i].spout, (unsigned long long)trees[i].message_id,
                      (double)trees[i].age / 1e9, trees[i].text);
}
