/* The commands of the program. Each lies in a file of its own, cmd_<name>.c, and is listed in main.c. */
#ifndef GX_CLI_COMMAND_H
#define GX_CLI_COMMAND_H

#include "cli/options.h"
#include "cli/terminal.h"

typedef struct gx_command {
    const char *name;
    const char *usage; /* what follows "gale " */
    const char *text;  /* one line */
    const char *more;  /* further lines for its help, or "" */
    const gx_option *options;
    size_t option_count;
    int (*run)(int argc, char **argv, gx_terminal *errors); /* argv: what follows the command's name; an exit code */
} gx_command;

extern const gx_command gx_cmd_run;
extern const gx_command gx_cmd_check;
extern const gx_command gx_cmd_graph;
extern const gx_command gx_cmd_dead_letters;
extern const gx_command gx_cmd_demo;
extern const gx_command gx_cmd_simulate;
extern const gx_command gx_cmd_test;
extern const gx_command gx_cmd_new;
extern const gx_command gx_cmd_checkpoint;
extern const gx_command gx_cmd_state;
extern const gx_command gx_cmd_plugins;
extern const gx_command gx_cmd_ps;
extern const gx_command gx_cmd_top;
extern const gx_command gx_cmd_stats;
extern const gx_command gx_cmd_tap;
extern const gx_command gx_cmd_activate;
extern const gx_command gx_cmd_deactivate;
extern const gx_command gx_cmd_drain;
extern const gx_command gx_cmd_kill;
extern const gx_command gx_cmd_log_level;
extern const gx_command gx_cmd_set;
extern const gx_command gx_cmd_reload;
extern const gx_command gx_cmd_restart;

#endif
