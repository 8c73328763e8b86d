/* gale dead-letters show FILE */
#include "cli/bad_letters.h"
#include "cli/command.h"
#include "cli/letter_table.h"
#include "cli/session.h"

#include "base/nearest.h"
#include "base/str.h"
#include "front/dead_letter_file.h"

#include <gale/component.h>
#include <stddef.h>
#include <string.h>

typedef struct choices {
    const char *reason;
    bool json;
} choices;

static const gx_option options[] = {
    { 0, "reason", "REASON", GX_OPTION_TEXT, offsetof(choices, reason), 0, 0,
      "only those that failed for this reason: failed, rejected, timeout..." },
    { 0, "json", NULL, GX_OPTION_FLAG, offsetof(choices, json), 0, 0,
      "the lines as they are in the file, for another file" },
};

enum { OPTION_COUNT = sizeof options / sizeof options[0], PIECE = 64 << 10 };

/* --- The command --- */

static int unknown_reason(const char *reason, const gx_nearest *nearest, gale_error *error) {
    char hint[100];
    gale_error_set(error, GALE_INVALID, "there is no reason '%s'%s", reason,
                   gx_nearest_hint(nearest, hint, sizeof hint));
    if (*hint) return GALE_INVALID;
    gx_buf list = GX_BUF_INIT(NULL);
    for (int32_t i = 0; i < GALE_REASON_COUNT; i++) gx_buf_format(&list, "%s, ", gale_reason_name(i));
    const char *text = gx_buf_text(&list);
    if (text) gale_error_add(error, "the reasons are %s%s", text, gale_reason_name(GALE_REASON_USER));
    gx_buf_fini(&list);
    return GALE_INVALID;
}

static int check_reason(const char *reason, gale_error *error) {
    if (!reason) return 0;
    gx_nearest nearest = gx_nearest_to(gx_str(reason));
    for (int32_t i = 0; i <= GALE_REASON_COUNT; i++) {
        const char *name = gale_reason_name(i < GALE_REASON_COUNT ? i : GALE_REASON_USER);
        if (strcmp(name, reason) == 0) return 0;
        gx_nearest_offer(&nearest, gx_str(name));
    }
    return unknown_reason(reason, &nearest, error);
}

/* Reading goes on line by line; what is to be printed is written in pieces. */
typedef struct showing {
    const choices *choices;
    gx_terminal *errors;
    gx_letter_reader reader;
    gx_letter_table table;
    gx_buf out;
    gx_bad_letters bad;
    bool any; /* a letter was found */
} showing;

/* Returns the exit code. */
static int print(showing *s) {
    gx_buf piece = s->out;
    s->out = (gx_buf)GX_BUF_INIT(NULL);
    if (piece.size || piece.failed) return gx_session_print(s->errors, &piece);
    gx_buf_fini(&piece);
    return GX_EXIT_OK;
}

static int show_letter(showing *s, const gx_letter *letter) {
    s->any = true;
    if (s->choices->reason && !gx_str_is(letter->reason, s->choices->reason)) return GX_EXIT_OK;
    if (s->choices->json) {
        gx_buf_add(&s->out, letter->line.data, letter->line.size);
        gx_buf_add_byte(&s->out, '\n');
        return s->out.size < PIECE ? GX_EXIT_OK : print(s);
    }
    if (!gx_letter_table_add(&s->table, letter)) return GX_EXIT_OK;
    gx_letter_table_take(&s->table, &s->out);
    return print(s);
}

/* To the end of the file, or to what cannot be gone on with: then it has been said. */
static int show_letters(showing *s) {
    for (;;) {
        gale_error error = GALE_ERROR_INIT;
        const gx_letter *letter;
        int exit_code = GX_EXIT_OK, code = gx_letter_reader_next(&s->reader, &letter, &error);
        if (code == 0) return GX_EXIT_OK;
        if (code > 0)
            exit_code = show_letter(s, letter);
        else if (gx_letter_is_bad(code))
            gx_bad_letters_tell(&s->bad, &error);
        else
            exit_code = gx_session_refuse(s->errors, &error, gx_session_exit(code));
        if (exit_code != GX_EXIT_OK) return exit_code;
    }
}

static int show_file(showing *s, const char *path) {
    int exit_code = show_letters(s);
    if (exit_code != GX_EXIT_OK) return exit_code;
    bool none = s->bad.count && !s->any;
    if (!s->choices->json && !none) gx_letter_table_end(&s->table, &s->out);
    exit_code = print(s);
    gx_bad_letters_end(&s->bad, path);
    if (exit_code != GX_EXIT_OK || !s->bad.count) return exit_code;
    return none ? GX_EXIT_USAGE : GX_EXIT_FAILED;
}

static int show(const char *path, const choices *c, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    showing s = { .choices = c, .errors = errors, .bad = { errors, 0 } };
    int rc = check_reason(c->reason, &error);
    if (rc < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    rc = gx_letter_reader_open(&s.reader, path, &error);
    if (rc < 0) return gx_session_refuse(errors, &error, gx_session_exit(rc));
    gx_letter_table_init(&s.table);
    int exit_code = show_file(&s, path);
    gx_letter_reader_close(&s.reader);
    gx_letter_table_fini(&s.table);
    gx_buf_fini(&s.out);
    return exit_code;
}

static int check(const gx_words *words, gale_error *error) {
    const char *usage = gx_cmd_dead_letters.usage;
    if (words->count && strcmp(words->items[0], "show") != 0) {
        gx_nearest nearest = gx_nearest_to(gx_str(words->items[0]));
        char hint[100];
        gx_nearest_offer(&nearest, gx_str("show"));
        gx_nearest_hint(&nearest, hint, sizeof hint);
        return gale_error_set(error, GALE_INVALID, "dead-letters knows no '%s'%s%s", words->items[0],
                              *hint ? hint : ": gale ", *hint ? "" : usage);
    }
    if (words->count == 2) return 0;
    return gale_error_set(error, GALE_INVALID, "dead-letters wants 'show' and one file: gale %s", usage);
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { 0 };
    gx_words words = { .count = 0 };
    int rc = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &words, &error);
    if (rc == 0) rc = check(&words, &error);
    if (rc < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    return show(words.items[1], &c, errors);
}

const gx_command gx_cmd_dead_letters = {
    .name = "dead-letters",
    .usage = "dead-letters show FILE [options]",
    .text = "show what a run has given up",
    .more = "FILE is what topology.dead_letters.file named. gale run FILE.yaml --replay-dead-letters FILE emits them "
            "again.\n"
            "A line that is no dead letter is said with its place, and skipped.\n"
            "Exit codes: 0 ok, 1 lines were skipped, 2 usage or not a dead-letter file, 3 the file cannot be read.\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run,
};
