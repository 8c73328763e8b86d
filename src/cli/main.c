/* gale: the command line. */
#include "cli/command.h"
#include "cli/session.h"

#include "base/nearest.h"
#include "base/str.h"

#include <string.h>

static const gx_command *const commands[] = { &gx_cmd_run, &gx_cmd_demo };

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

/* Prints `out` to the standard output. */
static int print(gx_buf *out) {
    gx_terminal standard;
    gx_terminal_init(&standard, 1);
    const char *text = gx_buf_text(out);
    bool whole = text && gx_terminal_print(&standard, text);
    gx_terminal_fini(&standard);
    gx_buf_fini(out);
    return whole ? GX_EXIT_OK : GX_EXIT_IO;
}

static int help(void) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_buf_format(&out, "gale %s: Storm's processing model on one machine\n\nusage: gale COMMAND [options]\n\n",
                  gale_version());
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        gx_buf_format(&out, "  %-10s %s\n", commands[i]->name, commands[i]->text);
    gx_buf_add_text(&out, "  help       help for a command\n\n  --version  print the version\n"
                          "\ngale COMMAND --help says more.\n");
    return print(&out);
}

static int help_command(const gx_command *command) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_buf_format(&out, "gale %s: %s\n\nusage: gale %s\n\n", command->name, command->text, command->usage);
    gx_options_help(command->options, command->option_count, &out);
    gx_buf_format(&out, "  -h, --help                 this text\n%s%s", *command->more ? "\n" : "", command->more);
    return print(&out);
}

static const gx_command *find(const char *name, gx_terminal *errors) {
    gx_nearest nearest = gx_nearest_to(gx_str(name));
    gale_error error = GALE_ERROR_INIT;
    char hint[100];
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i]->name) == 0) return commands[i];
        gx_nearest_offer(&nearest, gx_str(commands[i]->name));
    }
    gx_nearest_offer(&nearest, gx_str("help"));
    gale_error_set(&error, GALE_NOT_FOUND, "unknown command '%s'%s (gale help lists the commands)", name,
                   gx_nearest_hint(&nearest, hint, sizeof hint));
    gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    return NULL;
}

static bool asks_for_help(int argc, char **argv) {
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) return true;
    return false;
}

static int dispatch(int argc, char **argv, gx_terminal *errors) {
    gx_buf version = GX_BUF_INIT(NULL);
    if (argc < 2) return help(), GX_EXIT_USAGE;
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        gx_buf_format(&version, "gale %s\n", gale_version());
        return print(&version);
    }
    bool is_help = strcmp(argv[1], "help") == 0;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (is_help && argc == 2)) return help();
    const gx_command *command = find(argv[is_help ? 2 : 1], errors);
    if (!command) return GX_EXIT_USAGE;
    if (is_help || asks_for_help(argc - 2, argv + 2)) return help_command(command);
    return command->run(argc - 2, argv + 2, errors);
}

int main(int argc, char **argv) {
    gx_terminal errors;
    gx_session_prepare();
    gx_terminal_init(&errors, 2);
    int exit_code = dispatch(argc, argv, &errors);
    gx_terminal_fini(&errors);
    return exit_code;
}
