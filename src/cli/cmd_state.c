/* gale state show | export | import | reset DIR */
#include "cli/command.h"
#include "cli/figures.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/state_folder.h"
#include "cli/state_move.h"
#include "cli/state_view.h"

#include "base/nearest.h"
#include "base/os/time.h"
#include "base/str.h"

#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <unistd.h>

typedef struct choices {
    bool json, yes;
    const char *keys, *output;
    uint64_t limit;
    gx_words components;
} choices;

#define AT(field) offsetof(choices, field)

static const gx_option options[] = {
    { 0, "json", NULL, GX_OPTION_FLAG, AT(json), 0, 0, "show: as one JSON object; with --keys, as lines of an export" },
    { 0, "keys", "COMPONENT", GX_OPTION_TEXT, AT(keys), 0, 0, "show: this component's keyed state" },
    { 0, "limit", "N", GX_OPTION_WHOLE, AT(limit), 1, UINT64_MAX,
      "show: so many keys, or records of a task, at the most (default: 100)" },
    { 'o', "output", "FILE", GX_OPTION_TEXT, AT(output), 0, 0, "export: write this, instead of the standard output" },
    { 0, "component", "NAME", GX_OPTION_WORDS, AT(components), 0, 0,
      "reset: forget only what this one has saved; may be repeated" },
    { 0, "yes", NULL, GX_OPTION_FLAG, AT(yes), 0, 0, "reset: do not ask" },
};

enum { OPTION_COUNT = sizeof options / sizeof options[0] };

static int refuse(gx_terminal *errors, const gale_error *error) {
    bool syntax = error->code == GALE_SYNTAX || error->code == GALE_TYPE;
    return gx_session_refuse(errors, error, syntax ? GX_EXIT_USAGE : gx_session_exit(error->code));
}

/* --- show --------------------------------------------------------------------------------------------------------- */

static int show_keys(const gale_store *store, const choices *c, uint64_t limit, gx_buf *out, gale_error *error) {
    int rc = gx_state_keys(store, c->keys, limit, c->json, out, error);
    if (rc == 1 && !c->json)
        gx_buf_format(out, "and more: --limit N shows so many (these are %s)\n",
                      gx_figure_count(limit, (char[GX_FIGURE_SIZE]){ 0 }));
    return rc < 0 ? rc : GALE_OK;
}

static int show(const char *folder, const char *file, const choices *c, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gale_store store;
    gx_view view;
    gx_buf out = GX_BUF_INIT(NULL);
    uint64_t limit = c->limit ? c->limit : 100;
    (void)file;
    int rc = gx_state_folder_look(folder, true, &store, &error);
    if (rc < 0) return refuse(errors, &error);
    if (c->keys) {
        rc = show_keys(&store, c, limit, &out, &error);
    } else {
        rc = gx_view_gather(&store, folder, limit, &view, &error);
        if (rc == GALE_OK) {
            (c->json ? gx_view_json : gx_view_text)(&view, &out);
            gx_view_fini(&view);
        }
    }
    store.close(store.self);
    if (rc == GALE_OK) return gx_session_print(errors, &out);
    gx_buf_fini(&out);
    return refuse(errors, &error);
}

/* --- export, import ----------------------------------------------------------------------------------------------- */

static int export(const char *folder, const char *file, const choices *c, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gale_store store;
    (void)file;
    int rc = gx_state_folder_look(folder, true, &store, &error);
    if (rc < 0) return refuse(errors, &error);
    rc = gx_state_export(&store, folder, c->output ? c->output : "-", &error);
    store.close(store.self);
    return rc < 0 ? refuse(errors, &error) : GX_EXIT_OK;
}

static int import(const char *folder, const char *file, const choices *c, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    uint64_t checkpoint;
    (void)c;
    if (gx_state_import(folder, file, &checkpoint, &error) < 0) return refuse(errors, &error);
    gx_buf_format(&out, "made checkpoint %" PRIu64 " in '%s'; gale run FILE --state %s goes on from it\n", checkpoint,
                  folder, folder);
    return gx_session_print(errors, &out);
}

/* --- reset -------------------------------------------------------------------------------------------------------- */

/* One line from the terminal, or a signal's number below 0. */
static int hear(char *text, size_t room) {
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    for (;;) {
        int number = gx_signals_asked();
        if (number) return -number;
        if (poll(&input, 1, 50) > 0) break;
    }
    ssize_t got = read(STDIN_FILENO, text, room - 1);
    text[got > 0 ? got : 0] = 0;
    return 0;
}

/* GX_EXIT_OK: do it; else it is not to be done, and this is the exit code. */
static int ask(const char *folder, const choices *c, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gx_buf text = GX_BUF_INIT(NULL);
    char answer[100];
    if (c->yes) return GX_EXIT_OK;
    if (!isatty(STDIN_FILENO)) {
        gale_error_set(&error, GALE_INVALID, "state reset asks first, and there is no terminal to ask on: give --yes");
        return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    }
    gx_buf_format(&text, "forget ");
    for (size_t i = 0; i < c->components.count; i++)
        gx_buf_format(&text, "%s'%s'", i ? ", " : "what is saved of ", c->components.items[i]);
    gx_buf_format(&text, "%s in '%s'? [y/N] ", c->components.count ? "" : "the state of the run", folder);
    if (gx_buf_text(&text)) gx_terminal_print(errors, gx_buf_text(&text));
    gx_buf_fini(&text);
    int heard = hear(answer, sizeof answer);
    if (heard < 0) return GX_EXIT_SIGNAL - heard;
    return *answer == 'y' || *answer == 'Y' ? GX_EXIT_OK : GX_EXIT_FAILED;
}

static int check_components(const gx_saved_head *head, const gx_words *components, gale_error *error) {
    for (size_t i = 0; i < components->count; i++)
        if (!gx_saved_head_find(head, components->items[i], error)) return GALE_NOT_FOUND;
    return GALE_OK;
}

static int reset_components(const char *folder, const choices *c, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gale_store store;
    gx_saved_head head;
    int rc = gx_state_folder_look(folder, false, &store, &error), exit_code = GX_EXIT_OK;
    if (rc < 0) return refuse(errors, &error);
    rc = gx_saved_head_read(&store, &head, &error);
    if (rc == GALE_OK) {
        rc = check_components(&head, &c->components, &error);
        if (rc == GALE_OK) exit_code = ask(folder, c, errors);
        if (rc == GALE_OK && exit_code == GX_EXIT_OK)
            rc = gx_state_forget(&store, &head, c->components.items, c->components.count, &error);
        gx_saved_head_fini(&head);
    } else if (rc == GALE_NOT_FOUND) {
        gale_error_set(&error, rc, "there is no checkpoint in '%s' yet", folder);
    }
    store.close(store.self);
    return rc < 0 ? refuse(errors, &error) : exit_code;
}

static int reset(const char *folder, const char *file, const choices *c, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    (void)file;
    if (c->components.count) return reset_components(folder, c, errors);
    int exit_code = ask(folder, c, errors);
    if (exit_code != GX_EXIT_OK) return exit_code;
    int rc = gx_state_folder_remove(folder, &error);
    if (rc == GALE_NOT_FOUND) gale_error_set(&error, rc, "there is no state of a run in '%s'", folder);
    return rc < 0 ? refuse(errors, &error) : GX_EXIT_OK;
}

/* --- The command -------------------------------------------------------------------------------------------------- */

typedef struct verb {
    const char *name;
    size_t words; /* with its own */
    int (*run)(const char *folder, const char *file, const choices *c, gx_terminal *errors);
    size_t options[3]; /* where those lie that it has */
} verb;

static const verb verbs[] = { { "show", 2, show, { AT(json), AT(keys), AT(limit) } },
                              { "export", 2, export, { AT(output), AT(output), AT(output) } },
                              { "import", 3, import, { SIZE_MAX, SIZE_MAX, SIZE_MAX } },
                              { "reset", 2, reset, { AT(components), AT(yes), AT(yes) } } };

enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static bool is_given(const choices *c, size_t offset) {
    switch (offset) {
    case AT(json): return c->json;
    case AT(yes): return c->yes;
    case AT(keys): return c->keys != NULL;
    case AT(output): return c->output != NULL;
    case AT(limit): return c->limit != 0;
    default: return c->components.count != 0;
    }
}

static int check_options(const verb *v, const choices *c, gale_error *error) {
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        size_t at = options[i].offset;
        bool its = at == v->options[0] || at == v->options[1] || at == v->options[2];
        if (!its && is_given(c, at))
            return gale_error_set(error, GALE_INVALID, "--%s is of no use with state %s", options[i].name, v->name);
    }
    return GALE_OK;
}

static int find(const gx_words *words, const verb **ret_verb, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(gx_str(words->count ? words->items[0] : ""));
    char hint[100];
    for (size_t i = 0; words->count && i < VERB_COUNT; i++) {
        gx_nearest_offer(&nearest, gx_str(verbs[i].name));
        if (strcmp(verbs[i].name, words->items[0]) != 0) continue;
        *ret_verb = &verbs[i];
        if (words->count == verbs[i].words) return GALE_OK;
        return gale_error_set(error, GALE_INVALID, "state %s wants %s: gale %s", verbs[i].name,
                              verbs[i].words == 3 ? "one folder and one file" : "one folder", gx_cmd_state.usage);
    }
    if (!words->count)
        return gale_error_set(error, GALE_INVALID, "state wants to be told what to do: gale %s", gx_cmd_state.usage);
    gx_nearest_hint(&nearest, hint, sizeof hint);
    return gale_error_set(error, GALE_INVALID, "state knows no '%s'%s%s", words->items[0], *hint ? hint : ": gale ",
                          *hint ? "" : gx_cmd_state.usage);
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { 0 };
    gx_words words = { .count = 0 };
    const verb *found = NULL;
    int rc = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &words, &error);
    if (rc == 0) rc = find(&words, &found, &error);
    if (rc == 0) rc = check_options(found, &c, &error);
    if (rc < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    return found->run(words.items[1], found->words == 3 ? words.items[2] : NULL, &c, errors);
}

const gx_command gx_cmd_state = {
    .name = "state",
    .usage = "state show|export|reset DIR, state import DIR FILE",
    .text = "show, move, edit or forget the state of a durable run",
    .more = "show: what the last checkpoint in the folder has. export: all of it as JSON lines, to be read, edited and "
            "imported.\n"
            "import: a new folder from an export. reset: removes the state, or what single components have saved.\n"
            "A run that has the folder is named, and not disturbed; gale checkpoint NAME has it keep a copy.\n"
            "Exit codes: 0 ok; 1 reset was answered with no; 2 usage, no state, in use, or no export; 3 input or\n"
            "output, or the state is damaged.\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run,
};
