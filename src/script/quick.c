#include "script/quick.h"

#include <math.h>

enum {
    OP_VALUE, /* push a constant */
    OP_NAME,  /* push a value that was given */
    OP_NOT,
    OP_MINUS,
    OP_AND, /* jump when false, else drop */
    OP_OR,  /* jump when true, else drop */
    OP_EQUAL,
    OP_UNEQUAL,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_MORE,
    OP_MORE_EQUAL,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_FLOOR_DIVIDE,
    OP_REST,
    FUSED = 32 /* with an operation on two: a name and a constant, which are the step's own */
};

/* --- Compiling --- */

typedef struct parser {
    gx_quick *made;
    gale_str rest;
    gx_token token;
    const gale_str *names;
    uint32_t name_count;
    uint32_t depth; /* of the machine's stack */
    uint32_t levels;
    uint32_t target; /* of the last jump */
    bool failed;
} parser;

static const struct {
    const char *sign;
    uint8_t op, power;
} infix[] = {
    { "or", OP_OR, 1 },
    { "and", OP_AND, 2 },
    { "<", OP_LESS, 3 },
    { ">", OP_MORE, 3 },
    { "<=", OP_LESS_EQUAL, 3 },
    { ">=", OP_MORE_EQUAL, 3 },
    { "~=", OP_UNEQUAL, 3 },
    { "==", OP_EQUAL, 3 },
    { "+", OP_ADD, 10 },
    { "-", OP_SUBTRACT, 10 },
    { "*", OP_MULTIPLY, 11 },
    { "/", OP_DIVIDE, 11 },
    { "//", OP_FLOOR_DIVIDE, 11 },
    { "%", OP_REST, 11 },
};

enum { POWER_OF_PREFIX = 12, LEVELS_MAX = 32 };

static uint32_t emit(parser *p, gx_quick_step step) {
    if (p->made->count == GX_QUICK_CODE) {
        p->failed = true;
        return 0;
    }
    p->made->code[p->made->count] = step;
    return p->made->count++;
}

static void push(parser *p, gx_quick_step step) {
    emit(p, step);
    if (++p->depth > GX_QUICK_STACK) p->failed = true;
}

static void advance(parser *p) {
    p->token = gx_token_next(&p->rest);
}

static void expression(parser *p, int power);

static bool push_word(parser *p, gale_str word) {
    gale_value value = gale_null();
    if (gx_str_is(word, "true") || gx_str_is(word, "false")) {
        value = gale_bool(word.size == 4);
    } else if (!gx_str_is(word, "nil")) {
        if (gx_token_is_reserved(word)) return false;
        for (uint32_t i = p->name_count; i-- > 0;) { /* what came later hides what was there */
            if (!gx_str_equal(p->names[i], word)) continue;
            push(p, (gx_quick_step){ .op = OP_NAME, .name = (uint16_t)i });
            return true;
        }
        return false;
    }
    push(p, (gx_quick_step){ .op = OP_VALUE, .value = value });
    return true;
}

static void operand(parser *p) {
    gx_token token = p->token;
    gale_value value;
    switch (token.kind) {
    case GX_TOKEN_NAME:
        if (!push_word(p, token.text)) p->failed = true;
        advance(p);
        return;
    case GX_TOKEN_NUMBER: value = token.is_whole ? gale_i64(token.whole) : gale_f64(token.number); break;
    case GX_TOKEN_STRING: value = gale_string(token.inside.data, token.inside.size); break;
    default:
        if (!gx_token_is(&token, "(")) {
            p->failed = true;
            return;
        }
        advance(p);
        expression(p, 0);
        if (!gx_token_is(&p->token, ")")) p->failed = true;
        advance(p);
        return;
    }
    push(p, (gx_quick_step){ .op = OP_VALUE, .value = value });
    advance(p);
}

static void prefixed(parser *p) {
    uint8_t op = gx_token_is(&p->token, "-") ? OP_MINUS : OP_NOT;
    if (op == OP_NOT && !gx_token_is(&p->token, "not")) {
        operand(p);
        return;
    }
    advance(p);
    expression(p, POWER_OF_PREFIX);
    emit(p, (gx_quick_step){ .op = op });
}

/* A name and a constant, the most frequent operands, are made part of the operation: one step instead of three. Nothing jumps
 * between them: a jump leads behind the right side of an `and` or `or`, whose operation is a jump itself. */
static void emit_binary(parser *p, uint8_t op) {
    gx_quick_step *code = p->made->code;
    uint32_t count = p->made->count;
    bool fits = !p->failed && count >= 2 && code[count - 2].op == OP_NAME && code[count - 1].op == OP_VALUE;
    if (!fits || p->target > count - 2) {
        emit(p, (gx_quick_step){ .op = op });
        return;
    }
    code[count - 2].op = op | FUSED;
    code[count - 2].value = code[count - 1].value;
    p->made->count--;
}

/* `and` and `or` leave what decides on the stack and jump behind what they need not look at. */
static void binary(parser *p, uint8_t op, int power) {
    bool jumps = op == OP_AND || op == OP_OR;
    uint32_t jump = jumps ? emit(p, (gx_quick_step){ .op = op }) : 0;
    if (jumps) p->depth--;
    expression(p, power);
    if (jumps) {
        p->made->code[jump].to = (uint8_t)p->made->count;
        p->target = p->made->count;
    } else {
        emit_binary(p, op);
        p->depth--;
    }
}

static void expression(parser *p, int power) {
    if (++p->levels > LEVELS_MAX) p->failed = true;
    if (!p->failed) prefixed(p);
    while (!p->failed) {
        size_t i = 0, count = sizeof infix / sizeof *infix;
        while (i < count && !gx_token_is(&p->token, infix[i].sign)) i++;
        if (i == count || infix[i].power <= power) break;
        advance(p);
        binary(p, infix[i].op, infix[i].power);
    }
    p->levels--;
}

bool gx_quick_compile(gx_quick *made, gale_str text, const gale_str *names, uint32_t name_count) {
    *made = (gx_quick){ .count = 0 };
    if (name_count > UINT16_MAX) return false;
    parser p = { .made = made, .rest = text, .names = names, .name_count = name_count };
    advance(&p);
    expression(&p, 0);
    return !p.failed && p.token.kind == GX_TOKEN_END;
}

/* --- Running --- */

static bool is_true(const gale_value *v) {
    return v->type != GALE_TYPE_NULL && (v->type != GALE_TYPE_BOOL || v->as.boolean);
}

static bool is_text(const gale_value *v) {
    return v->type == GALE_TYPE_STRING || v->type == GALE_TYPE_BYTES;
}

static bool is_number(const gale_value *v) {
    return v->type == GALE_TYPE_I64 || v->type == GALE_TYPE_F64;
}

/* As a float, if that is the number itself. */
static bool as_float(const gale_value *v, double *ret_number) {
    *ret_number = v->type == GALE_TYPE_I64 ? (double)v->as.i64 : v->as.f64;
    return v->type == GALE_TYPE_F64 || (v->as.i64 <= 1LL << 53 && v->as.i64 >= -(1LL << 53));
}

/* A number, a text and a truth value are never equal to each other. */
enum { UNLIKE = -2 };

/* 1 and 0: yes and no; -1: Lua must say; UNLIKE. Lists and maps are new tables in Lua. */
static int equal(const gale_value *a, const gale_value *b) {
    if (a->type == GALE_TYPE_I64 && b->type == GALE_TYPE_I64) return a->as.i64 == b->as.i64;
    if (is_number(a) && is_number(b)) {
        double x, y;
        return as_float(a, &x) && as_float(b, &y) ? x == y : -1;
    }
    if (is_text(a) && is_text(b))
        return a->size == b->size && (a->size == 0 || memcmp(a->as.string, b->as.string, a->size) == 0);
    if (a->type >= GALE_TYPE_LIST || b->type >= GALE_TYPE_LIST) return -1;
    if (a->type == GALE_TYPE_NULL || b->type == GALE_TYPE_NULL) return a->type == b->type;
    if (a->type != b->type) return UNLIKE;
    return a->as.boolean == b->as.boolean;
}

/* Is a < b (or a <= b)? */
static int less(const gale_value *a, const gale_value *b, bool or_equal) {
    if (a->type == GALE_TYPE_I64 && b->type == GALE_TYPE_I64)
        return or_equal ? a->as.i64 <= b->as.i64 : a->as.i64 < b->as.i64;
    if (is_number(a) && is_number(b)) {
        double x, y;
        if (!as_float(a, &x) || !as_float(b, &y)) return -1;
        return or_equal ? x <= y : x < y;
    }
    if (!is_text(a) || !is_text(b)) return -1;
    int order = gx_str_compare((gale_str){ a->as.string, a->size }, (gale_str){ b->as.string, b->size });
    return or_equal ? order <= 0 : order < 0;
}

static int compare(uint8_t op, const gale_value *a, const gale_value *b) {
    int is;
    switch (op) {
    case OP_EQUAL: return equal(a, b);
    case OP_UNEQUAL: is = equal(a, b); return is < 0 ? is : !is;
    case OP_LESS: return less(a, b, false);
    case OP_LESS_EQUAL: return less(a, b, true);
    case OP_MORE: return less(b, a, false);
    default: return less(b, a, true);
    }
}

/* Whole numbers wrap around, as Lua's do. */
static bool calculate_whole(uint8_t op, int64_t a, int64_t b, gale_value *result) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case OP_ADD: *result = gale_i64((int64_t)(x + y)); return true;
    case OP_SUBTRACT: *result = gale_i64((int64_t)(x - y)); return true;
    case OP_MULTIPLY: *result = gale_i64((int64_t)(x * y)); return true;
    case OP_DIVIDE: *result = gale_f64((double)a / (double)b); return true;
    default: break;
    }
    if (b == 0) return false;
    if (b == -1) { /* where the quotient may not fit */
        *result = gale_i64(op == OP_REST ? 0 : (int64_t)(0 - x));
        return true;
    }
    int64_t quotient = a / b, rest = a % b;
    bool below = rest != 0 && (rest ^ b) < 0;
    *result = gale_i64(op == OP_REST ? rest + (below ? b : 0) : quotient - below);
    return true;
}

static gale_value calculate_float(uint8_t op, double a, double b) {
    switch (op) {
    case OP_ADD: return gale_f64(a + b);
    case OP_SUBTRACT: return gale_f64(a - b);
    case OP_MULTIPLY: return gale_f64(a * b);
    case OP_DIVIDE: return gale_f64(a / b);
    case OP_FLOOR_DIVIDE: return gale_f64(floor(a / b));
    default: break;
    }
    double rest = fmod(a, b);
    if (rest > 0 ? b < 0 : (rest < 0 && b != rest && b > 0)) rest += b;
    return gale_f64(rest);
}

static bool calculate(uint8_t op, const gale_value *a, const gale_value *b, gale_value *result) {
    if (a->type == GALE_TYPE_I64 && b->type == GALE_TYPE_I64) return calculate_whole(op, a->as.i64, b->as.i64, result);
    if (!is_number(a) || !is_number(b)) return false;
    double x = a->type == GALE_TYPE_I64 ? (double)a->as.i64 : a->as.f64;
    double y = b->type == GALE_TYPE_I64 ? (double)b->as.i64 : b->as.f64;
    *result = calculate_float(op, x, y);
    return true;
}

static bool negate(gale_value *v) {
    if (v->type == GALE_TYPE_I64)
        v->as.i64 = (int64_t)(0 - (uint64_t)v->as.i64);
    else if (v->type == GALE_TYPE_F64)
        v->as.f64 = -v->as.f64;
    else
        return false;
    return true;
}

/* Two whole numbers are compared here, as they are what most comparisons are of. */
GX_INLINE bool compare_whole(uint8_t op, int64_t a, int64_t b) {
    switch (op) {
    case OP_EQUAL: return a == b;
    case OP_UNEQUAL: return a != b;
    case OP_LESS: return a < b;
    case OP_LESS_EQUAL: return a <= b;
    case OP_MORE: return a > b;
    default: return a >= b;
    }
}

GX_INLINE bool combine(uint8_t op, bool defers, gale_value *a, const gale_value *b) {
    if (GX_LIKELY(op < OP_ADD && a->type == GALE_TYPE_I64 && b->type == GALE_TYPE_I64)) {
        *a = gale_bool(compare_whole(op, a->as.i64, b->as.i64));
        return true;
    }
    if (op >= OP_ADD) return calculate(op, a, b, a);
    int is = compare(op, a, b);
    if (is == UNLIKE && !defers) is = op == OP_UNEQUAL;
    *a = gale_bool(is > 0);
    return is >= 0;
}

bool gx_quick_run(const gx_quick *quick, const gale_value *values, gale_value *ret_value) {
    gale_value stack[GX_QUICK_STACK + 1], *top = stack; /* `top` is the last; the first stays unused */
    for (uint32_t at = 0; at < quick->count; at++) {
        const gx_quick_step *step = &quick->code[at];
        switch (step->op) {
        case OP_VALUE: *++top = step->value; break;
        case OP_NAME: *++top = values[step->name]; break;
        case OP_NOT: *top = gale_bool(!is_true(top)); break;
        case OP_MINUS:
            if (!negate(top)) return false;
            break;
        case OP_AND:
        case OP_OR:
            if (is_true(top) == (step->op == OP_OR))
                at = step->to - 1u;
            else
                top--;
            break;
        default:
            if (step->op & FUSED) {
                *++top = values[step->name];
                if (!combine(step->op & ~FUSED, quick->defers_unlike, top, &step->value)) return false;
                break;
            }
            top--;
            if (!combine(step->op, quick->defers_unlike, top, top + 1)) return false;
        }
    }
    *ret_value = *top;
    return true;
}
