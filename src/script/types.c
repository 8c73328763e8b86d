/* The types of an expression's values: gale_expression_types. After Pratt, with Lua's precedences, as script/quick.c;
 * what is not known of a part is not known of the whole. */
#include "script/token.h"

#include <gale_script.h>

#define BIT(type) (1u << (type))

enum {
    INT = BIT(GALE_TYPE_I64),
    FLOAT = BIT(GALE_TYPE_F64),
    NUMBER = INT | FLOAT,
    BOOL = BIT(GALE_TYPE_BOOL),
    TEXT = BIT(GALE_TYPE_STRING) | BIT(GALE_TYPE_BYTES),
    ANY = (BIT(GALE_TYPE_COUNT) - 1) & ~BIT(GALE_TYPE_NULL),
    LEVELS_MAX = 100,
};

typedef struct reader {
    gale_str rest;
    gx_token token;
    const gale_typed_name *names;
    size_t count;
    int levels;
    bool failed; /* it is more than this knows */
} reader;

static void advance(reader *r) {
    r->token = gx_token_next(&r->rest);
}

static bool takes(reader *r, const char *sign) {
    bool is = gx_token_is(&r->token, sign);
    if (is) advance(r);
    return is;
}

static uint32_t expression(reader *r, int power);

/* Functions that return one type whatever they are given, or null. */
static uint32_t of_function(gale_str name) {
    static const struct {
        const char *name;
        uint32_t types;
    } known[] = {
        { "tonumber", NUMBER },    { "now", FLOAT },        { "hash", INT },           { "tostring", TEXT },
        { "trim", TEXT },          { "replace", TEXT },     { "join", TEXT },          { "pad", TEXT },
        { "hex", TEXT },           { "type", TEXT },        { "starts", BOOL },        { "ends", BOOL },
        { "contains", BOOL },      { "string.len", INT },   { "string.lower", TEXT },  { "string.upper", TEXT },
        { "string.sub", TEXT },    { "string.rep", TEXT },  { "string.format", TEXT }, { "string.reverse", TEXT },
        { "json.encode", TEXT },   { "url.encode", TEXT },  { "url.decode", TEXT },    { "base64.encode", TEXT },
        { "base64.decode", TEXT }, { "time.format", TEXT }, { "time.parse", NUMBER },  { "time.floor", NUMBER },
        { "math.floor", NUMBER },  { "math.ceil", NUMBER }, { "math.abs", NUMBER },    { "math.max", NUMBER },
        { "math.min", NUMBER },    { "math.sqrt", FLOAT },  { "math.tointeger", INT },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (gx_str_is(name, known[i].name)) return known[i].types;
    return ANY;
}

/* Arguments up to the bracket that closes. */
static void pass_arguments(reader *r) {
    int depth = 1;
    while (depth && r->token.kind != GX_TOKEN_END && r->token.kind != GX_TOKEN_WRONG) {
        depth += gx_token_is(&r->token, "(") - gx_token_is(&r->token, ")");
        advance(r);
    }
    if (depth) r->failed = true;
}

/* What follows an operand makes something else of it. */
static bool goes_on(const reader *r) {
    static const char *const signs[] = { ".", ":", "[", "(", "{" };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (gx_token_is(&r->token, signs[i])) return true;
    return r->token.kind == GX_TOKEN_STRING || r->token.kind == GX_TOKEN_LONG;
}

static uint32_t of_name(reader *r, gale_str name) {
    gale_str whole = name;
    for (size_t i = r->count; i-- > 0;)
        if (gx_str_equal(r->names[i].name, name)) return r->names[i].types;
    if (gx_token_is(&r->token, ".")) {
        advance(r);
        whole.size = (size_t)(r->token.text.data + r->token.text.size - name.data);
        advance(r);
    }
    if (!takes(r, "(")) return r->failed = true, ANY;
    pass_arguments(r);
    return of_function(whole);
}

static uint32_t operand(reader *r) {
    gx_token token = r->token;
    uint32_t types = ANY;
    advance(r);
    if (token.kind == GX_TOKEN_NUMBER) return token.is_whole ? INT : FLOAT;
    if (token.kind == GX_TOKEN_STRING || token.kind == GX_TOKEN_LONG) {
        types = TEXT;
    } else if (gx_token_is(&token, "true") || gx_token_is(&token, "false")) {
        return BOOL;
    } else if (gx_token_is(&token, "nil")) {
        return 0;
    } else if (token.kind == GX_TOKEN_NAME && !gx_token_is_reserved(token.text)) {
        types = of_name(r, token.text);
    } else if (gx_token_is(&token, "(")) {
        types = expression(r, 0);
        if (!takes(r, ")")) r->failed = true;
    } else {
        r->failed = true;
    }
    if (goes_on(r)) r->failed = true;
    return types;
}

enum { OF_AND = 2, OF_COMPARISON = 3, OF_TEXT = 9, OF_SUM = 10, OF_PRODUCT = 11, OF_PREFIX = 12 };

static const struct {
    const char *sign;
    int power;
} infix[] = {
    { "or", 1 },
    { "and", OF_AND },
    { "<", OF_COMPARISON },
    { ">", OF_COMPARISON },
    { "<=", OF_COMPARISON },
    { ">=", OF_COMPARISON },
    { "~=", OF_COMPARISON },
    { "==", OF_COMPARISON },
    { "..", OF_TEXT },
    { "+", OF_SUM },
    { "-", OF_SUM },
    { "*", OF_PRODUCT },
    { "/", OF_PRODUCT },
    { "//", OF_PRODUCT },
    { "%", OF_PRODUCT },
};

static uint32_t prefixed(reader *r) {
    if (takes(r, "not")) return expression(r, OF_PREFIX), BOOL;
    if (takes(r, "#")) return expression(r, OF_PREFIX), INT;
    if (!takes(r, "-")) return operand(r);
    uint32_t types = expression(r, OF_PREFIX);
    return types == INT || types == FLOAT ? types : NUMBER;
}

/* Text that says a number is one to Lua's arithmetic. */
static uint32_t combine(const gale_str sign, int power, uint32_t left, uint32_t right) {
    if (power == 1) return left | right;
    if (power == OF_AND) return right | (left & BOOL);
    if (power == OF_COMPARISON) return BOOL;
    if (power == OF_TEXT) return TEXT;
    if (gx_str_is(sign, "/")) return FLOAT;
    if (left == INT && right == INT) return INT;
    return (left == FLOAT || right == FLOAT) && !((left | right) & ~(uint32_t)NUMBER) ? FLOAT : NUMBER;
}

static uint32_t expression(reader *r, int power) {
    if (++r->levels > LEVELS_MAX) r->failed = true;
    uint32_t types = r->failed ? ANY : prefixed(r);
    while (!r->failed) {
        size_t i = 0, count = sizeof infix / sizeof *infix;
        while (i < count && !gx_token_is(&r->token, infix[i].sign)) i++;
        if (i == count || infix[i].power <= power) break;
        gale_str sign = r->token.text;
        advance(r);
        types = combine(sign, infix[i].power, types, expression(r, infix[i].power));
    }
    r->levels--;
    return types;
}

uint32_t gale_expression_types(const char *text, const gale_typed_name *names, size_t count) {
    reader r = { .rest = gx_str(text), .names = names, .count = names ? count : 0 };
    if (!text) return ANY;
    advance(&r);
    uint32_t types = expression(&r, 0);
    bool known = !r.failed && r.token.kind == GX_TOKEN_END && types;
    return known ? types : ANY;
}
