/* gale set TOPOLOGY COMPONENT.pending=N COMPONENT.rate=X COMPONENT.drop=oldest */
#include "cli/command.h"
#include "cli/heard.h"
#include "cli/running.h"
#include "cli/session.h"

#include "base/json.h"
#include "base/nearest.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

typedef struct setting {
    gale_str component, name, value;
} setting;

/* --- Reading -------------------------------------------------------------------------------------------------------- */

static const char *const names[] = { "pending", "rate", "drop" };

enum { NAMES = sizeof names / sizeof *names, HINT = 160 };

static int refuse_name(const char *word, gale_str name, gale_error *error) {
    char hint[HINT];
    gx_nearest nearest = gx_nearest_to(name);
    for (size_t i = 0; i < NAMES; i++) gx_nearest_offer(&nearest, gx_str(names[i]));
    return gale_error_set(
        error, GALE_INVALID,
        "'%s': '%.*s' cannot be set while a topology runs%s (pending, rate and drop can; gale restart "
        "--set changes the rest)",
        word, GX_STR(name), gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* "COMPONENT.NAME=VALUE": a component's name may have dots. */
static int read_setting(const char *word, setting *ret_setting, gale_error *error) {
    const char *equals = strchr(word, '='), *dot = equals;
    while (dot && dot > word && *dot != '.') dot--;
    if (!equals || dot == word || !equals[1])
        return gale_error_set(error, GALE_INVALID,
                              "'%s' must be COMPONENT.pending=N, COMPONENT.rate=X or COMPONENT.drop=oldest|newest",
                              word);
    *ret_setting = (setting){ { word, (size_t)(dot - word) },
                              { dot + 1, (size_t)(equals - dot - 1) },
                              gx_str(equals + 1) };
    for (size_t i = 0; i < NAMES; i++)
        if (gx_str_is(ret_setting->name, names[i])) return 0;
    return refuse_name(word, ret_setting->name, error);
}

static int read_all(const gx_words *words, setting *ret_settings, gale_error *error) {
    if (words->count < 2)
        return gale_error_set(error, GALE_INVALID, "set wants a topology that runs, and what to set: gale %s",
                              gx_cmd_set.usage);
    int rc = 0;
    for (size_t i = 1; rc == 0 && i < words->count; i++) rc = read_setting(words->items[i], &ret_settings[i], error);
    return rc;
}

/* --- Asking --------------------------------------------------------------------------------------------------------- */

/* What is no number goes as text, which is refused in the topology's words where a number is wanted. */
static void add_value(gx_json *json, gale_str value) {
    int64_t whole;
    double number;
    if (gx_number_whole(value, &whole))
        gx_json_i64(json, whole);
    else if (gx_number_read(value, &number) && isfinite(number))
        gx_json_f64(json, number);
    else
        gx_json_string(json, value);
}

static int set(const gx_running *one, const setting *s, gale_error *error) {
    gx_buf body = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&body);
    gx_heard heard;
    gx_json_open(&json, '{');
    gx_json_key(&json, gx_str("component"));
    gx_json_string(&json, s->component);
    gx_json_key(&json, s->name);
    add_value(&json, s->value);
    gx_json_close(&json, '}');
    const char *text = gx_buf_text(&body);
    int rc = text ? gx_heard_ask(one->path, "POST", GX_HEARD_API "/set", text, &heard, error)
                  : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    if (text) gx_heard_fini(&heard);
    gx_buf_fini(&body);
    return rc;
}

/* In order; what stands before one that is refused is set. */
static int set_all(const gx_running *one, const gx_words *words, const setting *settings, gale_error *error) {
    for (size_t i = 1; i < words->count; i++) {
        gale_error why = GALE_ERROR_INIT;
        int rc = set(one, &settings[i], &why);
        if (rc < 0)
            return gale_error_set(error, rc, "'%s': %s%s", words->items[i], why.text,
                                  i > 1 ? "; what stands before it is set" : "");
    }
    return 0;
}

static int run_set(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    setting settings[GX_WORDS_MAX];
    gx_words words = { .count = 0 };
    gx_running one;
    int rc = gx_options_read(NULL, 0, argc, argv, NULL, &words, &error);
    if (rc == 0) rc = read_all(&words, settings, &error);
    if (rc == 0) rc = gx_running_find(words.items[0], &one, &error);
    if (rc >= 0) rc = set_all(&one, &words, settings, &error);
    return rc < 0 ? gx_session_refuse(errors, &error, gx_heard_exit(rc)) : GX_EXIT_OK;
}

const gx_command gx_cmd_set = {
    .name = "set",
    .usage = "set TOPOLOGY COMPONENT.NAME=VALUE...",
    .text = "set a spout's rate or bound of open trees, or what a bolt's inputs drop",
    .more =
        "  COMPONENT.pending=N     how many trees each task of a spout may have open; 0: no bound\n"
        "  COMPONENT.rate=X        tuples a second that each task of a spout emits at the most; 0: no bound\n"
        "  COMPONENT.drop=oldest   what a bolt's inputs that drop lose: their oldest tuples, or the newest\n"
        "In force at once; nothing restarts, and open trees stay open. It is not kept: when the topology ends or is\n"
        "changed (gale reload, restart), what its file says holds again.\n"
        "TOPOLOGY is the name of one that you run, or its process's number, or both (word-count.4711); gale ps lists "
        "them.\n",
    .run = run_set,
};
