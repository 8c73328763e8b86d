#include "cli/options.h"

#include "base/nearest.h"
#include "base/number.h"
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEFT = 26 }; /* the column of help's texts */

typedef struct reader {
    const gx_option *options;
    size_t count;
    int argc;
    char *const *argv;
    int at; /* the next argument */
    void *into;
    gx_words *words;
    gale_error *error;
} reader;

static int add_word(reader *r, gx_words *words, const char *word) {
    if (words->count == GX_WORDS_MAX)
        return gale_error_set(r->error, GALE_TOO_LARGE, "too many arguments at '%s': at most %d of a kind", word,
                              GX_WORDS_MAX);
    words->items[words->count++] = word;
    return 0;
}

static int set_whole(reader *r, const gx_option *option, const char *text, uint64_t *ret) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n < option->min || n > option->max)
        return gale_error_set(r->error, GALE_INVALID,
                              "--%s must be a whole number from %" PRIu64 " to %" PRIu64 ", not '%s'", option->name,
                              option->min, option->max, text);
    *ret = n;
    return 0;
}

static int set_rate(reader *r, const gx_option *option, const char *text, double *ret) {
    double n;
    if (!gx_number_read(gx_str(text), &n) || !isfinite(n) || n <= 0)
        return gale_error_set(r->error, GALE_INVALID, "--%s must be a number above 0, not '%s'", option->name, text);
    *ret = n;
    return 0;
}

static int set_option(reader *r, const gx_option *option, const char *value) {
    void *field = (char *)r->into + option->offset;
    switch (option->kind) {
    case GX_OPTION_FLAG: *(bool *)field = true; return 0;
    case GX_OPTION_TEXT: *(const char **)field = value; return 0;
    case GX_OPTION_WHOLE: return set_whole(r, option, value, field);
    case GX_OPTION_RATE: return set_rate(r, option, value, field);
    default: return add_word(r, field, value);
    }
}

static int need_value(reader *r, const gx_option *option, const char **ret_value) {
    bool optional = option->kind == GX_OPTION_PAIRS;
    if (optional && (r->at == r->argc || r->argv[r->at][0] == '-' || !strchr(r->argv[r->at], '='))) {
        *ret_value = "*";
        return 0;
    }
    if (r->at == r->argc)
        return gale_error_set(r->error, GALE_INVALID, "--%s needs a value: --%s %s", option->name, option->name,
                              option->argument);
    *ret_value = r->argv[r->at++];
    return 0;
}

static int read_long(reader *r, const char *argument) {
    gale_str name = gx_str(argument + 2);
    const char *equals = memchr(name.data, '=', name.size), *value = equals ? equals + 1 : NULL;
    if (equals) name.size = (size_t)(equals - name.data);
    gx_nearest nearest = gx_nearest_to(name);
    for (size_t i = 0; i < r->count; i++) {
        const gx_option *option = &r->options[i];
        gx_nearest_offer(&nearest, gx_str(option->name));
        if (!gx_str_is(name, option->name)) continue;
        if (option->kind == GX_OPTION_FLAG && value)
            return gale_error_set(r->error, GALE_INVALID, "--%s takes no value", option->name);
        int rc = option->kind != GX_OPTION_FLAG && !value ? need_value(r, option, &value) : 0;
        return rc < 0 ? rc : set_option(r, option, value);
    }
    gale_str near = gx_nearest_word(&nearest);
    return near.size ? gale_error_set(r->error, GALE_NOT_FOUND, "unknown option '--%.*s'; did you mean '--%.*s'?",
                                      GX_STR(name), GX_STR(near))
                     : gale_error_set(r->error, GALE_NOT_FOUND, "unknown option '--%.*s'", GX_STR(name));
}

/* "-q", "-j 4", "-j4", and flags together: "-qj4". */
static int read_short(reader *r, const char *letters) {
    for (const char *letter = letters; *letter; letter++) {
        const gx_option *option = NULL;
        for (size_t i = 0; i < r->count && !option; i++)
            if (r->options[i].letter == *letter) option = &r->options[i];
        if (!option) return gale_error_set(r->error, GALE_NOT_FOUND, "unknown option '-%c'", *letter);
        const char *value = NULL;
        int rc = 0;
        if (option->kind != GX_OPTION_FLAG && letter[1])
            value = letter + 1;
        else if (option->kind != GX_OPTION_FLAG)
            rc = need_value(r, option, &value);
        if (rc == 0) rc = set_option(r, option, value);
        if (rc < 0 || value) return rc;
    }
    return 0;
}

int gx_options_read(const gx_option *options, size_t count, int argc, char *const *argv, void *into, gx_words *words,
                    gale_error *error) {
    reader r = { options, count, argc, argv, 0, into, words, error };
    bool options_ended = false;
    int code = 0;
    while (r.at < argc && code == 0) {
        const char *argument = argv[r.at++];
        bool is_option = !options_ended && argument[0] == '-' && argument[1];
        if (is_option && strcmp(argument, "--") == 0)
            options_ended = true;
        else if (is_option && argument[1] == '-')
            code = read_long(&r, argument);
        else if (is_option)
            code = read_short(&r, argument + 1);
        else
            code = add_word(&r, words, argument);
    }
    return code;
}

/* What stands on the left may be too long for its column: then the text has a line of its own. */
void gx_options_help(const gx_option *options, size_t count, gx_buf *out) {
    for (size_t i = 0; i < count; i++) {
        const gx_option *option = &options[i];
        char left[64];
        snprintf(left, sizeof left, "%c%c%s --%s%s%s", option->letter ? '-' : ' ',
                 option->letter ? option->letter : ' ', option->letter ? "," : " ", option->name,
                 option->argument ? " " : "", option->argument ? option->argument : "");
        gx_buf_format(out, "  %-*s%s%*s %s\n", LEFT, left, strlen(left) > LEFT ? "\n" : "",
                      strlen(left) > LEFT ? 2 + LEFT : 0, "", option->text);
    }
}
