/* The words of an expression, as Lua has them: names, numbers, strings, signs. Comments and blanks stand between them.
 * Threads: any. Owner: a token borrows from the text. */
#ifndef GX_SCRIPT_TOKEN_H
#define GX_SCRIPT_TOKEN_H

#include "base/str.h"

typedef enum gx_token_kind {
    GX_TOKEN_END,
    GX_TOKEN_NAME,   /* or a word of Lua's own */
    GX_TOKEN_NUMBER, /* `value` is it */
    GX_TOKEN_STRING, /* in quotes, without an escape: `inside` is it */
    GX_TOKEN_LONG,   /* any other string */
    GX_TOKEN_SIGN,
    GX_TOKEN_WRONG /* nothing of Lua's */
} gx_token_kind;

typedef struct gx_token {
    gx_token_kind kind;
    gale_str text;
    gale_str inside;
    bool is_whole; /* a number without point and exponent, which fits */
    int64_t whole;
    double number;
} gx_token;

/* Takes the next one from the front of `*rest`. */
gx_token gx_token_next(gale_str *rest);

GX_INLINE bool gx_token_is(const gx_token *token, const char *text) {
    return (token->kind == GX_TOKEN_SIGN || token->kind == GX_TOKEN_NAME) && gx_str_is(token->text, text);
}

/* Is it one of Lua's own words, which name nothing? */
bool gx_token_is_reserved(gale_str name);

/* May it stand for a value in an expression? */
bool gx_token_is_name(gale_str name);

#endif
