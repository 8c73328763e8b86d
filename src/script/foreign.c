#include "script/foreign.h"

#include "script/names.h"

#include <strings.h>

enum {
    BEHIND_VALUE = 1, /* it stands between two values */
    CALLED = 2,       /* a parenthesis follows */
    NAME_FOLLOWS = 4,
    LATER = 8,    /* behind more than one word */
    RESERVED = 16 /* Lua has the word, too, for loops and blocks: not in a text that has those */
};

typedef struct word {
    const char *text; /* words that follow each other, in any case; or a sign */
    uint32_t flags;
    const char *write;
} word;

#define CHOICE "`a and b or c`, or `if a then return b end return c`"
#define ONE_OF "`x == a or x == b`; `contains(text, part)` finds a part of a text"
#define PATTERN "`contains(text, part)`, `starts`, `ends`, or `string.match(text, pattern)`"
#define QUOTES "a text in quotes, \"x\" or 'x', and a field by its name"

/* A longer one stands before its beginning. */
static const word signs[] = {
    { "===", 0, "`==`" },
    { "!==", 0, "`~=`" },
    { "!=", 0, "`~=`" },
    { "!~", 0, "`not string.match(text, pattern)`" },
    { "=~", 0, "`string.match(text, pattern)`" },
    { "<>", 0, "`~=`" },
    { "&&", 0, "`and`" },
    { "||", 0, "`or`; `..` joins texts" },
    { "??", 0, "`or`" },
    { "?.", 0, "`(x or {}).y`" },
    { "?", 0, CHOICE },
    { "=>", 0, "`function(x) return ... end`; at least is `>=`" },
    { "=<", 0, "`<=`" },
    { "->", 0, "`.`" },
    { "**", 0, "`^`" },
    { "++", 0, "`x + 1`" },
    { "+=", 0, "`x + y`" },
    { "-=", 0, "`x - y`" },
    { "/*", 0, "`-- a comment`" },
    { "::", BEHIND_VALUE, "`tonumber(x)` or `tostring(x)`" },
    { "$", 0, "a field by its name: `user.name` for `$.user.name`" },
    { "@", 0, "a field by its name" },
    { "`", 0, QUOTES },
    { "\xe2\x80\x98", 0, QUOTES },
    { "\xe2\x80\x99", 0, QUOTES },
    { "\xe2\x80\x9c", 0, QUOTES },
    { "\xe2\x80\x9d", 0, QUOTES },
    { "!", 0, "`not`" },
    { "=", BEHIND_VALUE | RESERVED | LATER, "`==`" },
};

static const word words[] = {
    { "is not null", 0, "`x ~= nil`" },
    { "is not none", 0, "`x ~= nil`" },
    { "is not", BEHIND_VALUE, "`~=`" },
    { "is null", 0, "`x == nil`" },
    { "is none", 0, "`x == nil`" },
    { "is", BEHIND_VALUE, "`==`" },
    { "not in", BEHIND_VALUE, "`x ~= a and x ~= b`; `not contains(text, part)` for a part of a text" },
    { "in", BEHIND_VALUE | RESERVED, ONE_OF },
    { "not like", BEHIND_VALUE, "`not contains(text, part)`" },
    { "not between", BEHIND_VALUE, "`x < a or x > b`" },
    { "between", BEHIND_VALUE, "`x >= a and x <= b`" },
    { "like", BEHIND_VALUE, PATTERN },
    { "ilike", BEHIND_VALUE, PATTERN " with `string.lower(text)`" },
    { "rlike", BEHIND_VALUE, PATTERN },
    { "regexp", BEHIND_VALUE, PATTERN },
    { "matches", BEHIND_VALUE, PATTERN },
    { "contains", BEHIND_VALUE, "`contains(text, part)`" },
    { "startswith", BEHIND_VALUE, "`starts(text, part)`" },
    { "endswith", BEHIND_VALUE, "`ends(text, part)`" },
    { "eq", BEHIND_VALUE, "`==`" },
    { "ne", BEHIND_VALUE, "`~=`" },
    { "lt", BEHIND_VALUE, "`<`" },
    { "le", BEHIND_VALUE, "`<=`" },
    { "gt", BEHIND_VALUE, "`>`" },
    { "ge", BEHIND_VALUE, "`>=`" },
    { "div", BEHIND_VALUE, "`//`" },
    { "mod", BEHIND_VALUE, "`%`" },
    { "null", 0, "`nil`" },
    { "none", 0, "`nil`" },
    { "undefined", 0, "`nil`" },
    { "true", 0, "`true`" },
    { "false", 0, "`false`" },
    { "and", 0, "`and` between two conditions" },
    { "or", 0, "`or` between two conditions" },
    { "not", 0, "`not`" },
    { "case", 0, CHOICE },
    { "if", CALLED | RESERVED, CHOICE },
    { "iif", CALLED, CHOICE },
    { "if", BEHIND_VALUE | RESERVED, CHOICE },
    { "elif", 0, "`elseif`" },
    { "typeof", 0, "`type(x)`" },
    { "lambda", 0, "`function(x) return ... end`" },
    { "let", NAME_FOLLOWS, "`local`" },
    { "const", NAME_FOLLOWS, "`local`" },
    { "var", NAME_FOLLOWS, "`local`" },
};

typedef struct reader {
    gx_names names;
    gx_foreign_knows_fn *knows;
    const void *user;
    const char *end; /* of the text */
    bool has_blocks; /* the text has Lua's own loops, blocks and local names */
    uint32_t braces; /* in a table, "=" sets a key */
} reader;

static bool is_value(const gx_token *token) {
    bool closes = gx_token_is(token, ")") || gx_token_is(token, "]") || gx_token_is(token, "}");
    bool named = token->kind == GX_TOKEN_NAME && !gx_token_is_reserved(token->text);
    bool constant = gx_token_is(token, "true") || gx_token_is(token, "false") || gx_token_is(token, "nil");
    return closes || named || constant || token->kind == GX_TOKEN_NUMBER || token->kind == GX_TOKEN_STRING ||
           token->kind == GX_TOKEN_LONG;
}

static bool fits(const reader *r, const word *w) {
    const gx_names *n = &r->names;
    if ((w->flags & BEHIND_VALUE) && !is_value(&n->last)) return false;
    if ((w->flags & LATER) && !n->before_last.text.data) return false;
    if ((w->flags & CALLED) && !gx_token_is(&n->next, "(")) return false;
    if ((w->flags & NAME_FOLLOWS) && n->next.kind != GX_TOKEN_NAME) return false;
    return !(w->flags & RESERVED) || (!r->has_blocks && !r->braces);
}

static bool find_sign(const reader *r, gx_foreign *ret_found) {
    const gx_token *now = &r->names.now;
    if (now->kind != GX_TOKEN_SIGN && now->kind != GX_TOKEN_WRONG) return false;
    gale_str text = { now->text.data, (size_t)(r->end - now->text.data) };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t size = strlen(signs[i].text);
        if (size < now->text.size || size > text.size || memcmp(text.data, signs[i].text, size) != 0) continue;
        if (!fits(r, &signs[i])) continue;
        *ret_found = (gx_foreign){ { text.data, size }, signs[i].write };
        return true;
    }
    return false;
}

/* Do the words of `wanted` follow each other from `token` on? */
static bool follow(gx_token token, gale_str rest, const char *wanted, size_t *ret_size) {
    gale_str left = gx_str(wanted), one;
    const char *begin = token.text.data;
    while (gx_str_next(&left, ' ', &one)) {
        if (token.kind != GX_TOKEN_NAME || token.text.size != one.size) return false;
        if (strncasecmp(token.text.data, one.data, one.size) != 0) return false;
        *ret_size = (size_t)(token.text.data + token.text.size - begin);
        token = gx_token_next(&rest);
    }
    return true;
}

static bool find_word(const reader *r, gx_foreign *ret_found) {
    const gx_names *n = &r->names;
    size_t size;
    if (n->now.kind != GX_TOKEN_NAME || gx_token_is(&n->last, ".") || gx_token_is(&n->last, ":")) return false;
    const char *behind = n->now.text.data + n->now.text.size;
    gale_str rest = { behind, (size_t)(r->end - behind) };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool several = strchr(words[i].text, ' ') != NULL;
        if (!follow(n->now, rest, words[i].text, &size) || !fits(r, &words[i])) continue;
        bool own = gx_token_is_reserved(n->now.text) && !several && !(words[i].flags & RESERVED);
        bool known = !several && !(words[i].flags & BEHIND_VALUE) && r->knows(r->user, n->now.text);
        if (own || known) continue;
        *ret_found = (gx_foreign){ { n->now.text.data, size }, words[i].write };
        return true;
    }
    return false;
}

static bool has_blocks(gale_str text) {
    gx_names n = gx_names_begin(text);
    while (gx_names_advance(&n))
        if (gx_token_is(&n.now, "for") || gx_token_is(&n.now, "then") || gx_token_is(&n.now, "local") ||
            gx_token_is(&n.now, "return"))
            return true;
    return false;
}

bool gx_foreign_find(gale_str text, gx_foreign_knows_fn *knows, const void *user, gx_foreign *ret_found) {
    reader r = { .names = gx_names_begin(text),
                 .knows = knows,
                 .user = user,
                 .end = text.data + text.size,
                 .has_blocks = has_blocks(text) };
    while (gx_names_advance(&r.names)) {
        if (gx_token_is(&r.names.now, "{")) r.braces++;
        if (gx_token_is(&r.names.now, "}") && r.braces) r.braces--;
        if (find_sign(&r, ret_found) || find_word(&r, ret_found)) return true;
    }
    return false;
}
