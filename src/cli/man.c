#include "cli/man.h"

#include "base/str.h"

#include <string.h>

/* Text as roff takes it: nothing at a line's beginning is a request, and what is typed has the minus of the keyboard. */
static void add_text(gx_buf *out, gale_str text) {
    for (size_t i = 0; i < text.size; i++) {
        bool first = i == 0 || text.data[i - 1] == '\n';
        if (first && (text.data[i] == '.' || text.data[i] == '\'')) gx_buf_add_text(out, "\\&");
        if (text.data[i] == '\\')
            gx_buf_add_text(out, "\\e");
        else if (text.data[i] == '-')
            gx_buf_add_text(out, "\\-");
        else
            gx_buf_add_byte(out, text.data[i]);
    }
}

/* A macro and its argument: ".B gale run". */
static void add_line(gx_buf *out, const char *macro, gale_str text) {
    gx_buf_format(out, "%s ", macro);
    add_text(out, text);
    gx_buf_add_byte(out, '\n');
}

static void add_option(gx_buf *out, const gx_option *option) {
    gx_buf_add_text(out, ".TP\n");
    if (option->letter) gx_buf_format(out, "\\fB\\-%c\\fR, ", option->letter);
    gx_buf_add_text(out, "\\fB\\-\\-");
    add_text(out, gx_str(option->name));
    gx_buf_add_text(out, "\\fR");
    if (option->argument) {
        gx_buf_add_text(out, " \\fI");
        add_text(out, gx_str(option->argument));
        gx_buf_add_text(out, "\\fR");
    }
    gx_buf_add_byte(out, '\n');
    add_text(out, gx_str(option->text));
    gx_buf_add_byte(out, '\n');
}

/* Lines as they stand. */
static void add_lines(gx_buf *out, const char *text) {
    gale_str rest = gx_str(text);
    if (!rest.size) return;
    if (rest.data[rest.size - 1] == '\n') rest.size--;
    gx_buf_add_text(out, ".PP\n.nf\n");
    add_text(out, rest);
    gx_buf_add_text(out, "\n.fi\n");
}

static void add_command(gx_buf *out, const gx_command *command) {
    gale_str forms = gx_str(command->usage), form;
    gx_buf_add_text(out, ".SS gale ");
    add_text(out, gx_str(command->name));
    gx_buf_add_byte(out, '\n');
    gx_buf_format(out, "%c", command->text[0] - 'a' + 'A');
    add_text(out, gx_str(command->text + 1));
    gx_buf_add_text(out, ".\n");
    while (gx_str_next(&forms, ',', &form)) {
        gx_buf_add_text(out, ".PP\n.B gale\n");
        add_text(out, form);
        gx_buf_add_byte(out, '\n');
    }
    for (size_t i = 0; i < command->option_count; i++) add_option(out, &command->options[i]);
    add_lines(out, command->more);
}

static const char about[] =
    ".SH DESCRIPTION\n"
    "gale runs topologies of spouts and bolts, as Apache Storm does, in one process. A topology is written in a YAML\n"
    "file (Storm's Flux); each tuple that a spout emits is answered when all that became of it was acked, or has "
    "failed.\n"
    ".PP\n"
    "\\fBgale \\fICOMMAND\\fB \\-\\-help\\fR prints what stands here of a command;\n"
    "\\fBgale help classes\\fR lists the spouts and bolts that a file can name, and\n"
    "\\fBgale help classes \\fINAME\\fR says which properties one has.\n";

void gx_man_page(const gx_command *const *commands, size_t count, gx_buf *out) {
    gx_buf_format(out,
                  ".\\\" Made by: gale help --man\n"
                  ".TH GALE 1 \"\" \"gale %s\" \"User Commands\"\n"
                  ".SH NAME\ngale \\- stream processing after Storm's model, on one machine\n.SH SYNOPSIS\n",
                  gale_version());
    for (size_t i = 0; i < count; i++) {
        add_line(out, ".B gale", gx_str(commands[i]->name));
        gx_buf_add_text(out, i + 1 < count ? ".RI [ options ]\n.br\n" : ".RI [ options ]\n");
    }
    gx_buf_add_text(out, about);
    gx_buf_add_text(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < count; i++) add_command(out, commands[i]);
}
