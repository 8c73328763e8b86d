#include "cli/complete.h"

#include "base/str.h"
#include "cli/heard.h"
#include "cli/running.h"
#include "front/builtin.h"
#include "front/connector.h"
#include "front/linked_plugins.h"
#include "front/plugin_path.h"
#include "sim/faults.h"
#include "topology/config.h"

#include <gale/component.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct completion {
    const gx_command *const *commands;
    size_t count;
    const char *current; /* what is being written */
    const char *before;  /* stands before each candidate: "--config=" */
    const char *behind;  /* the operand before it, or NULL */
    gx_buf *out;
} completion;

/* Of several lines one; the shell shows a line a candidate. */
static void offer(const completion *c, const char *word, const char *text) {
    size_t written = strlen(c->current), before = strlen(c->before);
    if (written > before && strncmp(c->current + before, word, written - before) != 0) return;
    gx_buf_format(c->out, "%s%s", c->before, word);
    if (text) gx_buf_format(c->out, "\t%.*s", (int)strcspn(text, "\n"), text);
    gx_buf_add_byte(c->out, '\n');
}

static void offer_each(const completion *c, gale_str words, char separator) {
    gale_str word;
    char text[100];
    while (gx_str_next(&words, separator, &word)) {
        snprintf(text, sizeof text, "%.*s", GX_STR(word));
        offer(c, text, NULL);
    }
}

/* --- Values of options -------------------------------------------------------------------------------------------- */

static void offer_levels(const completion *c) {
    offer_each(c, gx_str("trace debug info warn error off"), ' ');
}

static void offer_keys(const completion *c) {
    size_t count;
    char word[200];
    const gx_key *keys = gx_config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].class_ != GX_KEY_WORKS) continue;
        snprintf(word, sizeof word, "%s=", keys[i].name);
        offer(c, word, keys[i].text);
    }
}

static void offer_faults(const completion *c) {
    char word[100];
    for (int fault = 0; fault < GX_FAULT_COUNT; fault++) {
        snprintf(word, sizeof word, "%s=", gx_fault_name(fault));
        offer(c, word, NULL);
    }
    offer(c, "none", NULL);
}

static void offer_reasons(const completion *c) {
    for (int32_t reason = 0; reason < GALE_REASON_COUNT; reason++) offer(c, gale_reason_name(reason), NULL);
}

static void say_files(const completion *c) {
    gx_buf_add_text(c->out, ":files\n");
}

/* Folders that may have some, too. */
static void say_yaml(const completion *c) {
    gx_buf_add_text(c->out, ":yaml\n");
}

static void say_folders(const completion *c) {
    gx_buf_add_text(c->out, ":folders\n");
}

static int offer_plugin_file(void *user, const char *path) {
    const char *file = strrchr(path, '/') + 1;
    char name[100];
    snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - strlen("gale-") - strlen(".so")), file + strlen("gale-"));
    offer(user, name, NULL);
    return 0;
}

/* By name, or by path. Nothing is loaded. */
static void offer_plugins(const completion *c) {
    completion copy = *c;
    const gx_linked_plugin *linked;
    say_files(c);
    for (size_t i = 0; (linked = gx_linked_plugins_at(i)); i++) offer(c, linked->name, NULL);
    gx_plugin_path_each(offer_plugin_file, &copy);
}

static void offer_running(const completion *c) {
    gx_runnings *all = malloc(sizeof *all);
    if (all && gx_running_list(all, NULL) == GALE_OK)
        for (size_t i = 0; i < all->count; i++) offer(c, all->list[i].name, NULL);
    free(all);
}

/* A shell takes blanks and what is no sign for the end of a word. */
static void offer_component(const completion *c, gale_str name) {
    char word[200];
    for (size_t i = 0; i < name.size; i++)
        if ((unsigned char)name.data[i] <= ' ' || name.data[i] == 0x7f) return;
    if (name.size && name.size < sizeof word && snprintf(word, sizeof word, "%.*s", GX_STR(name)) > 0)
        offer(c, word, NULL);
}

/* Those that emit, of the topology that the operand before names, which is asked. */
static void offer_components(const completion *c) {
    gx_running one;
    gx_heard heard;
    if (!c->behind || gx_running_find(c->behind, &one, NULL) < 0) return;
    if (gx_heard_ask(one.path, "GET", GX_HEARD_API "/topology", NULL, &heard, NULL) >= 0) {
        size_t count = gx_heard_length(&heard.all, "components");
        for (size_t i = 0; i < count; i++) {
            gale_value component = gx_heard_item(&heard.all, "components", i);
            if (gx_heard_length(&component, "streams")) offer_component(c, gx_heard_text(&component, "name"));
        }
    }
    gx_heard_fini(&heard);
}

/* What an argument is, by how help calls it. Of others nothing is known. */
static const struct {
    const char *name;
    void (*offer)(const completion *c);
} arguments[] = {
    { "PATH", say_files },          { "FILE", say_files },         { "FILE.yaml", say_yaml },
    { "FILE.test.yaml", say_yaml }, { "DIR", say_folders },        { "LEVEL", offer_levels },
    { "KEY=VALUE", offer_keys },    { "REASON", offer_reasons },   { "NAME=P,...", offer_faults },
    { "PLUGIN", offer_plugins },    { "TOPOLOGY", offer_running }, { "COMPONENT", offer_components },
};

static void offer_argument(const completion *c, gale_str name) {
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        if (gx_str_is(name, arguments[i].name)) arguments[i].offer(c);
}

/* --- Options ------------------------------------------------------------------------------------------------------ */

/* The option that `word` ("--name", "-n") gives, or NULL; of letters together the last. */
static const gx_option *option_of(const gx_command *command, const char *word) {
    for (size_t i = 0; i < command->option_count; i++) {
        const gx_option *option = &command->options[i];
        if (word[0] == '-' && word[1] == '-' && strcmp(word + 2, option->name) == 0) return option;
        if (word[0] == '-' && word[1] && word[1] != '-' && option->letter == word[strlen(word) - 1]) return option;
    }
    return NULL;
}

static bool takes_value(const gx_command *command, const char *word) {
    const gx_option *option = option_of(command, word);
    return option && option->argument;
}

static void offer_options(const completion *c, const gx_command *command) {
    char word[100];
    for (size_t i = 0; i < command->option_count; i++) {
        snprintf(word, sizeof word, "--%s", command->options[i].name);
        offer(c, word, command->options[i].text);
    }
    offer(c, "--help", "this text");
}

/* "--name=" and what may stand behind it. */
static void offer_joined(const completion *c, const gx_command *command) {
    char name[100];
    size_t size = strcspn(c->current, "=");
    snprintf(name, sizeof name, "%.*s", (int)size, c->current);
    const gx_option *option = option_of(command, name);
    snprintf(name, sizeof name, "%.*s=", (int)size, c->current);
    if (!option || !option->argument) return;
    completion joined = *c;
    joined.before = name;
    offer_argument(&joined, gx_str(option->argument));
}

/* --- Words between options ---------------------------------------------------------------------------------------- */

static bool is_literal(gale_str alternative) {
    return alternative.size && (alternative.data[0] < 'A' || alternative.data[0] > 'Z') && alternative.data[0] != '-';
}

/* Does `word` fit "show|export|reset"? What is written large fits all. */
static bool fits(gale_str piece, const char *word) {
    gale_str alternative;
    while (gx_str_next(&piece, '|', &alternative))
        if (!is_literal(alternative) || gx_str_is(alternative, word)) return true;
    return false;
}

static void offer_piece(const completion *c, gale_str piece) {
    gale_str alternative;
    while (gx_str_next(&piece, '|', &alternative)) {
        if (alternative.size > 3 && memcmp(alternative.data + alternative.size - 3, "...", 3) == 0)
            alternative.size -= 3;
        if (is_literal(alternative))
            offer_each(c, alternative, '|');
        else
            offer_argument(c, alternative);
    }
}

/* One form of the usage, "state import DIR FILE": what comes behind `words`, if these fit it. A last piece with "..." comes again. */
static void offer_form(const completion *c, gale_str form, const char *const *words, size_t count) {
    gale_str piece, last = { NULL, 0 };
    size_t at = 0;
    gx_str_next(&form, ' ', &piece); /* the command's name */
    while (gx_str_next(&form, ' ', &piece) && piece.size) {
        if (gx_str_is(piece, "[TOPOLOGY]") || gx_str_is(piece, "[LEVEL]"))
            piece = (gale_str){ piece.data + 1, piece.size - 2 };
        if (piece.data[0] == '[' || piece.data[0] == '-') break;
        if (at == count) {
            completion here = *c;
            here.behind = at ? words[at - 1] : NULL;
            offer_piece(&here, piece);
            return;
        }
        if (!fits(piece, words[at++])) return;
        last = piece;
    }
    if (last.size > 3 && memcmp(last.data + last.size - 3, "...", 3) == 0) offer_piece(c, last);
}

static void offer_operand(const completion *c, const gx_command *command, char *const *words, size_t count) {
    gale_str forms = gx_str(command->usage), form;
    const char *operands[8];
    size_t operand_count = 0;
    for (size_t i = 0; i < count && operand_count < 8; i++) {
        if (words[i][0] == '-' && words[i][1])
            i += !strchr(words[i], '=') && takes_value(command, words[i]);
        else
            operands[operand_count++] = words[i];
    }
    while (gx_str_next(&forms, ',', &form)) offer_form(c, form, operands, operand_count);
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static void offer_commands(const completion *c) {
    for (size_t i = 0; i < c->count; i++) offer(c, c->commands[i]->name, c->commands[i]->text);
}

static void offer_classes(const completion *c) {
    const gx_class *class_;
    for (size_t i = 0; (class_ = gx_registry_at(gx_registry_builtin(), i)); i++) offer(c, class_->name, class_->text);
    for (size_t i = 0; i < gx_connector_count; i++) offer_each(c, gx_str(gx_connectors[i].classes), ' ');
}

static void complete_help(const completion *c, char *const *words, size_t count) {
    if (count == 0) {
        offer_commands(c);
        offer(c, "classes", "what topology files can name");
        if (strchr(c->current, '.')) offer_classes(c);
    } else if (count == 1 && strcmp(words[0], "classes") == 0) {
        offer_classes(c);
    }
}

static void complete_command(const completion *c, const gx_command *command, char *const *words, size_t count) {
    if (count && words[count - 1][0] == '-' && takes_value(command, words[count - 1]))
        offer_argument(c, gx_str(option_of(command, words[count - 1])->argument));
    else if (c->current[0] == '-' && strchr(c->current, '='))
        offer_joined(c, command);
    else if (c->current[0] == '-')
        offer_options(c, command);
    else
        offer_operand(c, command, words, count);
}

static void complete_first(const completion *c) {
    offer_commands(c);
    offer(c, "help", "help for a command");
    if (c->current[0] != '-') return;
    offer(c, "--help", "list the commands");
    offer(c, "--version", "print the version");
}

void gx_complete(const gx_command *const *commands, size_t count, char *const *words, size_t word_count, gx_buf *out) {
    if (word_count == 0) return;
    const completion c = { commands, count, words[word_count - 1], "", NULL, out };
    if (word_count == 1) {
        complete_first(&c);
        return;
    }
    if (strcmp(words[0], "help") == 0) complete_help(&c, words + 1, word_count - 2);
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[0], commands[i]->name) == 0) complete_command(&c, commands[i], words + 1, word_count - 2);
}
