/* gale plugins [PLUGIN...] [--plugin PLUGIN] */
#include "cli/command.h"
#include "cli/flux_file.h"
#include "cli/session.h"

#include "base/os/library.h"
#include "front/builtin.h"
#include "front/connecting.h"
#include "front/linked_plugins.h"
#include "front/plugin_folders.h"
#include "front/plugin_note.h"
#include "front/plugin_path.h"

#include <stddef.h>

typedef struct choices {
    gx_words plugins;
} choices;

static const gx_option options[] = {
    { 0, "plugin", "PLUGIN", GX_OPTION_WORDS, offsetof(choices, plugins), 0, 0,
      "the same as PLUGIN alone; may be repeated" },
};

enum { OPTION_COUNT = sizeof options / sizeof options[0] };

typedef struct telling {
    gx_buf out;
    size_t told, refused;
} telling;

static void tell_plugin(const gx_plugin *plugin, gx_buf *out) {
    gx_buf_format(out, "%s %s: %s\n  file     %s\n  licence  %s\n", plugin->name, plugin->version, plugin->text,
                  plugin->path, plugin->license);
    for (size_t i = 0; i < plugin->class_count; i++)
        gx_buf_format(out, "  %-7s  %s: %s\n", gx_class_kind_name(plugin->classes[i].kind), plugin->classes[i].name,
                      plugin->classes[i].text);
}

/* Each by itself: what two have in common is a matter of the file that names both. */
static void tell(telling *t, const char *word) {
    gale_error error = GALE_ERROR_INIT;
    gx_plugins *plugins = gx_plugins_new(gx_registry_builtin());
    int rc = plugins ? gx_plugins_load(plugins, word, NULL, &error)
                     : gale_error_set(&error, GALE_NO_MEMORY, "out of memory");
    if (t->told++) gx_buf_add_text(&t->out, "\n");
    if (rc == 0)
        tell_plugin(gx_plugins_at(plugins, 0), &t->out);
    else
        gx_buf_format(&t->out, "refused: %s\n", error.text);
    t->refused += rc < 0;
    gx_plugins_free(plugins);
}

/* A file that has the name of one that is linked in is found by its path alone. */
static int tell_path(void *user, const char *path) {
    tell(user, path);
    return 0;
}

static void tell_all(telling *t) {
    const gx_linked_plugin *linked;
    for (size_t i = 0; (linked = gx_linked_plugins_at(i)); i++) tell(t, linked->name);
    if (gx_library_can()) gx_plugin_path_each(tell_path, t);
}

/* gale's own that are not there, with what to do. */
static void tell_missing(gx_buf *out) {
    for (size_t i = 0; i < gx_connector_count; i++) {
        const gx_connector *missing = &gx_connectors[i];
        if (gx_connecting_has(missing)) continue;
        gx_buf_format(out, "%s%s, not installed: %s\n  classes  ", out->size ? "\n" : "", missing->name, missing->text);
        gx_connector_classes(missing, out);
        gx_buf_add_text(out, "\n  to have  ");
        gx_connector_advice(missing, out);
        gx_buf_add_text(out, "\n");
    }
}

static void tell_none(gx_buf *out) {
    gx_buf_add_text(out, "no plugins: no file gale-NAME.so in ");
    gx_plugin_folders_describe(out);
    gx_buf_add_text(out, "\n");
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gx_words words = { .count = 0 };
    choices c = { .plugins = { .count = 0 } };
    telling t = { .out = GX_BUF_INIT(NULL) };
    int rc = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &words, &error);
    if (rc < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    gx_plugin_note_on_crash();
    bool named = words.count || c.plugins.count;
    for (size_t i = 0; i < words.count; i++) tell(&t, words.items[i]);
    for (size_t i = 0; i < c.plugins.count; i++) tell(&t, c.plugins.items[i]);
    if (!named) tell_all(&t);
    if (!t.told) tell_none(&t.out);
    if (!named) tell_missing(&t.out);
    int printed = gx_session_print(errors, &t.out);
    return printed != GX_EXIT_OK ? printed : t.refused ? GX_EXIT_USAGE : GX_EXIT_OK;
}

const gx_command gx_cmd_plugins = {
    .name = "plugins",
    .usage = "plugins [PLUGIN...] [--plugin PLUGIN]",
    .text = "tell which plugins there are, and what is in them",
    .more = "PLUGIN is the path of a .so file, or stands for gale-PLUGIN.so in the folders of GALE_PLUGIN_PATH (with "
            "colons\n"
            "between them), in the build folder or beside the installed program, and in gale's own folder. Without "
            "one, all\n"
            "that are there are loaded and listed, and gale's own connectors that are not there.\n"
            "Exit codes: 0; 2 one was refused.\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run,
};
