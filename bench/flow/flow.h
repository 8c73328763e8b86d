/* The flows: topologies made of gale's public interface, one after the other Storm's performance topologies and those
 * that show what they leave out. Each says how its trees are counted when nothing is acked. */
#ifndef BENCH_FLOW_FLOW_H
#define BENCH_FLOW_FLOW_H

#include "flow/feed.h"

#include <gale/topology.h>

typedef struct bench_flow {
    const char *name;
    void (*build)(gale_topology *topology, bench_shared *shared);
    const char *sink; /* the bolt that takes what a tree ends in, */
    uint32_t inputs;  /* so many tuples a tree */
    uint32_t words;   /* of a tree; 0: words are not what is counted */
    const char *last; /* the bolt that goes to the last executor when they are spread; NULL: the engine places all */
    uint32_t pending; /* trees open at the most; 0: no limit but the queues' */
    const char *settings;
} bench_flow;

extern const bench_flow bench_flow_const_null, bench_flow_const_id_null, bench_flow_fan_out, bench_flow_diamond,
    bench_flow_low_throughput, bench_flow_back_pressure, bench_flow_open_trees, bench_flow_word_count,
    bench_flow_file_word_count, bench_flow_top_words, bench_flow_keyed_count;

/* How many tasks the flow's bolts get when the arguments do not say: one, or one an executor. */
uint32_t bench_flow_tasks(const bench_shared *shared);

/* How many tasks the flow's spout gets: `usual`, unless the arguments say. */
uint32_t bench_flow_spouts(const bench_shared *shared, uint32_t usual);

/* --- Building: a topology keeps its first error, so nothing is looked at before it runs --- */

/* A spout with these functions, whose instance begins with a bench_feed. */
void bench_flow_spout(gale_topology *topology, const char *name, const gale_spout_ops *ops, bench_shared *shared,
                      const char *fields, uint32_t tasks);

/* `made` is what the kit's function that filled `bolt` returned. */
void bench_flow_bolt(gale_topology *topology, const char *name, int made, gale_bolt bolt, uint32_t tasks,
                     const char *from, gale_grouping grouping);

/* "const": a spout that emits the same 9 bytes for ever, of one task unless the arguments say. Output: (data). */
void bench_flow_add_const(gale_topology *topology, bench_shared *shared);

/* A bolt of one's own, with one field or none. */
gale_bolt bench_flow_own(const gale_bolt_ops *ops, bench_shared *shared, const gale_output *output);

#endif
