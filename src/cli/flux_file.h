/* The options with which every command reads a topology file, and reading it with them. */
#ifndef GX_CLI_FLUX_FILE_H
#define GX_CLI_FLUX_FILE_H

#include "cli/options.h"
#include "front/flux.h"
#include "front/plugins.h"

typedef struct gx_flux_choices {
    const char *filter; /* a file of properties, or NULL */
    bool environment;
    gx_words assignments, sets;
    gx_words plugins; /* names and paths (front/plugin_path.h) */
} gx_flux_choices;

/* Rows for a command's table; AT(field) is the offset of a gx_flux_choices named `flux` in its structure. */
#define GX_FLUX_ROWS                                                                                                   \
    { 'c',                                                                                                             \
      "config",                                                                                                        \
      "KEY=VALUE",                                                                                                     \
      GX_OPTION_WORDS,                                                                                                 \
      AT(flux.assignments),                                                                                            \
      0,                                                                                                               \
      0,                                                                                                               \
      "set a key of the topology's configuration; may be repeated" },                                                  \
        { 0,                                                                                                           \
          "set",                                                                                                       \
          "ID.NAME=VALUE",                                                                                             \
          GX_OPTION_WORDS,                                                                                             \
          AT(flux.sets),                                                                                               \
          0,                                                                                                           \
          0,                                                                                                           \
          "set a spout's or bolt's parallelism, numTasks, property or own key; may be repeated" },                     \
        { 0,                                                                                                           \
          "plugin",                                                                                                    \
          "PLUGIN",                                                                                                    \
          GX_OPTION_WORDS,                                                                                             \
          AT(flux.plugins),                                                                                            \
          0,                                                                                                           \
          0,                                                                                                           \
          "load a plugin, by its name or the path of its .so file; may be repeated" },                                 \
        { 'f', "filter", "FILE", GX_OPTION_TEXT, AT(flux.filter), 0, 0, "the properties that ${NAME} stands for" }, {  \
        'e', "env-filter", NULL, GX_OPTION_FLAG, AT(flux.environment), 0, 0,                                           \
            "${ENV-NAME} stands for what the environment has"                                                          \
    }

/* Loads the plugins that a command line names; from then on a crash of one of them is told of. */
int gx_flux_file_plugins(const gx_words *words, gx_plugins *plugins, gale_error *error);

/* Loads the topology at `path`; `flux` has what else is to be laid over it. As gx_flux_load. */
int gx_flux_file_load(const char *path, const gx_flux_choices *choices, gx_flux_options flux,
                      gale_topology **ret_topology, gale_error *error);

#endif
