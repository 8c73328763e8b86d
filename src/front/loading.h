/* A topology on its way from a Flux file: what its parts, which read the file one after the other, know of each other. */
#ifndef GX_FRONT_LOADING_H
#define GX_FRONT_LOADING_H

#include "front/arguments.h"
#include "front/buffer.h"
#include "front/flux_options.h"
#include "front/keyed.h"
#include "front/registry.h"
#include "front/set.h"
#include "front/via.h"
#include "topology/builder.h"

enum { GX_WARNED_MAX = 512 };

#define GX_OBJECT_KEYS "id className constructorArgs factory factoryArgs properties configMethods"
#define GX_VERTEX_KEYS GX_OBJECT_KEYS " parallelism numTasks onHeapMemoryLoad offHeapMemoryLoad cpuLoad config"

/* A spout or bolt of the file. */
typedef struct gx_vertex {
    const gx_yaml *item, *id;
    const gx_class *class_;
    gx_args *args;
    uint32_t tasks;
    bool reached; /* a stream leads to it */
    bool whole;   /* nothing was wrong with it */
    bool blind;   /* it is not known what comes in */
    bool made;    /* `bolt` is to be added, or given back */
    gale_bolt bolt;
    gx_typed_stream *typed; /* what its streams carry, once it is made (front/typing.h) */
    uint32_t typed_count;
} gx_vertex;

typedef struct gx_loading {
    gx_yaml_doc *doc;
    const gx_registry *registry;
    const gx_flux_options *options; /* never NULL */
    gale_topology *topology;
    gale_error *error;
    gx_refs refs;
    gx_setting *settings; /* of --set */
    size_t setting_count;
    gx_vertex *vertices; /* spouts, then bolts, in the file's order */
    size_t vertex_count, spout_count;
    gx_via *vias;       /* streams that go through a topic */
    gx_buffer *buffers; /* and through a folder */
    gx_used *used;      /* the spouts and bolts */
    size_t used_count;
    const gx_vertex *blind; /* the first one of which it is not known what comes in; NULL: none */
    gale_error blindness;   /* what it says of that, where nothing else is wrong */
    gx_keyed *keyed;        /* the bolts that have a key */
    size_t keyed_count;
    bool nameless;              /* a spout or bolt has no name that could be found */
    bool lost;                  /* a stream leads to what is not there */
    bool lacks_plugins;         /* one could not be loaded: its classes are not known, and that was told */
    bool prints;                /* a component writes to the standard output, whatever gale.output says */
    bool sink_prints;           /* one does that gale.output would lead elsewhere */
    bool warned[GX_WARNED_MAX]; /* by the key's place in the table */
} gx_loading;

int gx_loading_no_memory(const gx_loading *l);

/* Passes on what the topology's builder said, with the place that it was said about. */
int gx_loading_builder_error(const gx_loading *l, const gx_yaml *place, int code);

/* gx_yaml_keep: goes on where several errors are wanted. */
int gx_loading_keep(const gx_loading *l, int rc);

/* True the first time that a key is asked for. */
bool gx_loading_first_time(gx_loading *l, gale_str key);

/* Entries of a `config` map, for the topology (`component` NULL) or a component. */
int gx_loading_config(gx_loading *l, const gx_yaml *map, const char *component);

/* The vertex with this id, or NULL; also one that something is wrong with. */
gx_vertex *gx_loading_vertex(const gx_loading *l, gale_str id);

#endif
