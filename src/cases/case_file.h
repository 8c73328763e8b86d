/* A file of cases (NAME.test.yaml): what is done to a topology, step by step, and what is to come of it.
 *
 * What:    gx_case_file_load reads it, with the topology that it names, and checks all: keys, names of components, streams and
 *          fields, numbers, patterns. What is wrong is kept as problems with places, as of a topology file; nothing runs.
 * Threads: one at a time.
 * Owner:   cases, steps and rows belong to the file and live until gx_case_file_fini.
 * Limits:  those of front/yaml.h; GX_CASE_SEEDS_MAX seeds a case.
 */
#ifndef GX_CASES_CASE_FILE_H
#define GX_CASES_CASE_FILE_H

#include "cases/rows.h"
#include "front/flux_options.h"
#include "front/registry.h"

#include <gale_test.h>

enum { GX_CASE_SEEDS_MAX = 100000, GX_CASE_PATH = 4096 };

typedef enum gx_step_kind {
    GX_STEP_FEED,
    GX_STEP_ADVANCE,
    GX_STEP_FINISH,
    GX_STEP_EXPECT,
    GX_STEP_ACKED,
    GX_STEP_FAILED,
    GX_STEP_OPEN,
    GX_STEP_LETTERS,
    GX_STEP_REPORTS,
    GX_STEP_LOGS,
    GX_STEP_FILE,
    GX_STEP_STOPPED,
    GX_STEP_KIND_COUNT
} gx_step_kind;

typedef struct gx_step {
    int32_t kind;
    const gx_yaml *node;  /* the step */
    const gx_yaml *id;    /* the value of its first word: the component, the file's path */
    const gx_yaml *to;    /* feed: the bolt, or NULL */
    const char *stream;   /* "default" */
    int64_t nanoseconds;  /* advance */
    int32_t order;        /* gale_test_order */
    int64_t count;        /* how many there are to be; -1: that is not said */
    bool all;             /* as many as were fed */
    gx_rows rows;         /* fed or wanted */
    const gx_yaml **from; /* where each wanted row stands */
} gx_step;

/* One thing that a mock may do with a tuple. */
typedef struct gx_mock_answer {
    const gx_yaml *node;
    gx_wanted_row when;       /* by the tuple's fields, or by `names` */
    const char *const *names; /* fields that `when` is about; NULL: all, in order */
    bool any;                 /* whatever comes */
    const char *fail, *reject;
    int64_t after; /* ns */
    uint32_t stream;
    gx_rows emits;
} gx_mock_answer;

typedef struct gx_mock {
    const gx_yaml *id;
    gx_mock_answer *answers;
    size_t count;
} gx_mock;

typedef struct gx_case {
    const gx_yaml *node, *name;
    int64_t seed, seeds, executors;
    const char *faults; /* or NULL */
    gx_mock *mocks;
    size_t mock_count;
    gx_step *steps;
    size_t step_count;
    gale_test_edge *edges; /* of what is fed straight into a bolt */
    size_t edge_count;
    const char **sets; /* "id.name=value": the file's and its own */
    size_t set_count;
} gx_case;

typedef struct gx_case_file {
    gx_yaml_doc *doc;
    gx_takers takers;
    char path[GX_CASE_PATH]; /* of the topology */
    const gx_registry *registry;
    struct gx_plugins *plugins; /* borrowed; NULL: topologies may have none */
    gx_properties properties;
    bool has_properties;
    gx_variables variables;
    const char **assignments;
    size_t assignment_count;
    const char **sets;
    size_t set_count;
    gale_topology *topology; /* to look names up in */
    gx_case *cases;
    size_t count;
} gx_case_file;

/* What is wrong is in `problems`; when it holds errors the file is of no use. An error that is returned is about memory. */
int gx_case_file_load(const char *name, const gx_registry *registry, struct gx_plugins *plugins, gx_problems *problems,
                      gx_case_file *file, gale_error *error);

/* The same of text; `name` is what errors call the file. `topology` (NULL: the one that it names) is its own from now on. */
int gx_case_file_parse(const char *name, gale_str text, const gx_registry *registry, gale_topology *topology,
                       gx_problems *problems, gx_case_file *file, gale_error *error);

void gx_case_file_fini(gx_case_file *file);

/* The topology as a case has it; what its components write lies below `folder`. */
int gx_case_file_topology(const gx_case_file *file, const gx_case *of, const char *folder, gale_topology **ret_topology,
                          gale_error *error);

#endif
