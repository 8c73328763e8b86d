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

#include "cases/case.h"
#include "front/flux_options.h"
#include "front/registry.h"

enum { GX_CASE_SEEDS_MAX = 100000, GX_CASE_PATH = 4096 };

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
