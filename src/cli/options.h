/* Command lines, read by one table: "-j 4", "-j4", "--jobs 4", "--jobs=4", "--", and words between them.
 *
 * What:    a command describes its options with gx_option and gets them in a structure of its own; help is printed from
 *          the same table.
 * Threads: one. Owner: text points into argv.
 * Limits:  GX_WORDS_MAX of a repeated option.
 */
#ifndef GX_CLI_OPTIONS_H
#define GX_CLI_OPTIONS_H

#include "base/buf.h"

#include <gale/error.h>

enum { GX_WORDS_MAX = 64 };

/* What an option that can be given more than once collects. */
typedef struct gx_words {
    const char *items[GX_WORDS_MAX];
    size_t count;
} gx_words;

typedef enum gx_option_kind {
    GX_OPTION_FLAG,  /* bool */
    GX_OPTION_TEXT,  /* const char * */
    GX_OPTION_WHOLE, /* uint64_t */
    GX_OPTION_RATE,  /* double, above 0 */
    GX_OPTION_WORDS, /* gx_words */
    GX_OPTION_PAIRS  /* gx_words: the value, or an argument behind it that has a '='; without one "*" */
} gx_option_kind;

typedef struct gx_option {
    char letter;          /* 0: none */
    const char *name;     /* without "--" */
    const char *argument; /* how help calls it; NULL for a flag */
    gx_option_kind kind;
    size_t offset;     /* of the field in the command's structure */
    uint64_t min, max; /* for GX_OPTION_WHOLE */
    const char *text;
} gx_option;

/* Reads argv[0..argc) into `into`; words that are no options go to `words`. GALE_INVALID with one line in `error`. */
int gx_options_read(const gx_option *options, size_t count, int argc, char *const *argv, void *into, gx_words *words,
                    gale_error *error);

/* A line an option, for help. */
void gx_options_help(const gx_option *options, size_t count, gx_buf *out);

#endif
