/* gale: the command line. */
#include "cli/classes.h"
#include "cli/command.h"
#include "cli/complete.h"
#include "cli/flux_file.h"
#include "cli/linked.h"
#include "cli/man.h"
#include "cli/session.h"
#include "cli/signals.h"

#include "base/nearest.h"
#include "base/str.h"
#include "front/builtin.h"
#include "front/connecting.h"
#include "front/plugin_path.h"
#include "front/strangers.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

static const gx_command *const commands[] = { &gx_cmd_run,   &gx_cmd_check,        &gx_cmd_graph,    &gx_cmd_checkpoint,
                                              &gx_cmd_state, &gx_cmd_dead_letters, &gx_cmd_demo,     &gx_cmd_simulate,
                                              &gx_cmd_test,  &gx_cmd_new,          &gx_cmd_plugins,  &gx_cmd_ps,
                                              &gx_cmd_top,   &gx_cmd_stats,        &gx_cmd_activate, &gx_cmd_deactivate,
                                              &gx_cmd_drain, &gx_cmd_kill,         &gx_cmd_tap,      &gx_cmd_log_level,
                                              &gx_cmd_set,   &gx_cmd_reload,       &gx_cmd_restart };

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

/* --- Classes ------------------------------------------------------------------------------------------------------ */

typedef struct class_choices {
    gx_words plugins;
    bool markdown;
} class_choices;

static const gx_option class_options[] = {
    { 0, "plugin", "PLUGIN", GX_OPTION_WORDS, offsetof(class_choices, plugins), 0, 0, "load a plugin" },
    { 0, "markdown", NULL, GX_OPTION_FLAG, offsetof(class_choices, markdown), 0, 0, "all classes, as a page" },
};

static int load_quietly(void *user, const char *path) {
    (void)gx_plugins_load(user, path, NULL, NULL);
    return 0;
}

/* A class that is asked for may be of a plugin that was not named. */
static int find_class(gx_plugins *plugins, gale_str name, const gx_class **ret_class, gale_error *error) {
    char hint[GX_HINT_SIZE];
    const gx_registry *registry = gx_plugins_registry(plugins);
    int rc = gx_connecting_class(plugins, name, error);
    if (rc < 0 || (*ret_class = gx_registry_find(registry, name))) return rc;
    gx_plugin_path_each(load_quietly, plugins);
    if ((*ret_class = gx_registry_find(registry, name))) return 0;
    gx_buf text = GX_BUF_INIT(NULL);
    const char *stranger = gx_stranger(name, &text);
    if (stranger)
        gale_error_set(error, GALE_NOT_FOUND, "gale has no counterpart of '%.*s': %s", GX_STR(name), stranger);
    gx_buf_fini(&text);
    if (stranger) return GALE_NOT_FOUND;
    return gale_error_set(error, GALE_NOT_FOUND, "unknown class '%.*s'%s", GX_STR(name),
                          gx_registry_hint(registry, name, GX_CLASS_KIND_COUNT, hint));
}

/* The class `name`, or all of them, to `out`. */
static int tell_classes(gx_plugins *plugins, const class_choices *c, const char *name, gx_buf *out, gale_error *error) {
    const gx_class *class_ = NULL;
    int rc = name ? find_class(plugins, gx_str(name), &class_, error) : 0;
    if (rc < 0) return rc;
    if (!name && !c->markdown) gx_connecting_all(plugins);
    if (class_)
        gx_classes_one(class_, out);
    else if (c->markdown)
        gx_classes_page(gx_plugins_registry(plugins), out);
    else
        gx_classes_list(gx_plugins_registry(plugins), out);
    return 0;
}

/* help classes [NAME] [--plugin P] [--markdown], help NAME [--plugin P] */
static int help_classes(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    gx_words names = { .count = 0 };
    class_choices c = { .markdown = false };
    gx_plugins *plugins = gx_plugins_new(gx_registry_builtin());
    int rc = plugins ? 0 : gale_error_set(&error, GALE_NO_MEMORY, "out of memory");
    if (rc == 0)
        rc = gx_options_read(class_options, sizeof class_options / sizeof *class_options, argc, argv, &c, &names,
                             &error);
    if (rc == 0 && names.count > 1)
        rc = gale_error_set(&error, GALE_INVALID, "help classes takes one name, not %zu", names.count);
    if (rc == 0) rc = gx_flux_file_plugins(&c.plugins, plugins, &error);
    if (rc == 0) rc = tell_classes(plugins, &c, names.count ? names.items[0] : NULL, &out, &error);
    gx_plugins_free(plugins);
    if (rc == 0) return gx_session_print(errors, &out);
    gx_buf_fini(&out);
    return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

/* help --man; help --complete WORD..., for completion/. Neither is for people, so help does not tell of them. */
static int help_machine(int argc, char **argv, gx_terminal *errors) {
    gx_buf out = GX_BUF_INIT(NULL);
    if (strcmp(argv[0], "--man") == 0)
        gx_man_page(commands, COMMAND_COUNT, &out);
    else
        gx_complete(commands, COMMAND_COUNT, argv + 1, (size_t)argc - 1, &out);
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

/* The class that a word means where it is no command: "Count" is gale.bolt.Count. NULL: none. */
static const char *class_called(const char *word) {
    const gx_class *class_;
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(word, commands[i]->name) == 0) return NULL;
    for (size_t i = 0; (class_ = gx_registry_at(gx_registry_builtin(), i)); i++) {
        const char *dot = strrchr(class_->name, '.');
        if (dot && strcmp(dot + 1, word) == 0) return class_->name;
    }
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
    bool of_classes = is_help && strcmp(argv[2], "classes") == 0;
    char **word = argv + (of_classes && argc > 3 ? 3 : 2);
    const char *called = is_help ? class_called(*word) : NULL;
    if (called) *word = (char *)called;
    if (of_classes) return help_classes(argc - 3, argv + 3, errors);
    if (is_help && strchr(argv[2], '.')) return help_classes(argc - 2, argv + 2, errors);
    if (is_help && (strcmp(argv[2], "--man") == 0 || strcmp(argv[2], "--complete") == 0))
        return help_machine(argc - 2, argv + 2, errors);
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
    gx_signals_prepare();
    gx_terminal_init(&errors, 2);
    gx_linked_plugins_set(gx_cli_linked, gx_cli_linked_count);
    int exit_code = dispatch(argc, argv, &errors);
    gx_terminal_fini(&errors);
    return exit_code;
}
