/* gale: the command line. */
#include "cli/classes.h"
#include "cli/command.h"
#include "cli/session.h"

#include "base/nearest.h"
#include "base/str.h"
#include "front/builtin.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static const gx_command *const commands[] = { &gx_cmd_run,          &gx_cmd_check, &gx_cmd_checkpoint, &gx_cmd_state,
                                              &gx_cmd_dead_letters, &gx_cmd_demo,  &gx_cmd_simulate };

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static int help(gx_terminal *errors) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_buf_format(&out, "gale %s: Storm's processing model on one machine\n\nusage: gale COMMAND [options]\n\n",
                  gale_version());
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        gx_buf_format(&out, "  %-12s %s\n", commands[i]->name, commands[i]->text);
    gx_buf_add_text(&out, "  help         help for a command; help classes [NAME]: what topology files can name\n\n  "
                          "--version    print the version\n"
                          "\ngale COMMAND --help says more.\n");
    return gx_session_print(errors, &out);
}

/* help classes, help classes NAME, help classes --markdown */
static int help_classes(int argc, char **argv, gx_terminal *errors) {
    const gx_registry *registry = gx_registry_builtin();
    gale_error error = GALE_ERROR_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    char hint[GX_HINT_SIZE];
    if (argc > 1) {
        gale_error_set(&error, GALE_INVALID, "help classes takes one name, not %d", argc);
        return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    }
    const gx_class *class_ = argc ? gx_registry_find(registry, gx_str(argv[0])) : NULL;
    if (argc == 0)
        gx_classes_list(registry, &out);
    else if (class_)
        gx_classes_one(class_, &out);
    else if (strcmp(argv[0], "--markdown") == 0)
        gx_classes_page(registry, &out);
    else {
        gale_error_set(&error, GALE_NOT_FOUND, "unknown class '%s'%s", argv[0],
                       gx_registry_hint(registry, gx_str(argv[0]), GX_CLASS_KIND_COUNT, hint));
        return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    }
    return gx_session_print(errors, &out);
}

static int help_command(const gx_command *command, gx_terminal *errors) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_buf_format(&out, "gale %s: %s\n\nusage: gale %s\n\n", command->name, command->text, command->usage);
    gx_options_help(command->options, command->option_count, &out);
    gx_buf_format(&out, "  -h, --help                 this text\n%s%s", *command->more ? "\n" : "", command->more);
    return gx_session_print(errors, &out);
}

static const gx_command *find(const char *name, bool is_help, gx_terminal *errors) {
    gx_nearest nearest = gx_nearest_to(gx_str(name));
    gale_error error = GALE_ERROR_INIT;
    char hint[100];
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i]->name) == 0) return commands[i];
        gx_nearest_offer(&nearest, gx_str(commands[i]->name));
    }
    gx_nearest_offer(&nearest, gx_str("help"));
    if (is_help) gx_nearest_offer(&nearest, gx_str("classes"));
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
    if (argc < 2) return help(errors) == GX_EXIT_OK ? GX_EXIT_USAGE : GX_EXIT_IO;
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        gx_buf_format(&version, "gale %s\n", gale_version());
        return gx_session_print(errors, &version);
    }
    bool is_help = strcmp(argv[1], "help") == 0;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (is_help && argc == 2)) return help(errors);
    if (is_help && strcmp(argv[2], "classes") == 0) return help_classes(argc - 3, argv + 3, errors);
    const gx_command *command = find(argv[is_help ? 2 : 1], is_help, errors);
    if (!command) return GX_EXIT_USAGE;
    if (is_help || asks_for_help(argc - 2, argv + 2)) return help_command(command, errors);
    return command->run(argc - 2, argv + 2, errors);
}

/* A standard descriptor that came closed must not become a file that a component opens: what is printed would go there.
 * Each is opened the wrong way round, so that its use still fails. */
static void fill_descriptors(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv) {
    gx_terminal errors;
    fill_descriptors();
    gx_session_prepare();
    gx_terminal_init(&errors, 2);
    int exit_code = dispatch(argc, argv, &errors);
    gx_terminal_fini(&errors);
    return exit_code;
}
