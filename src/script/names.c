#include "script/names.h"

enum { PLAIN, LOCALS, ATTRIBUTE, LOOP, FUNCTION, PARAMETERS }; /* lists of names */
enum { BLOCK = 'b', REPEAT = 'r' };

gx_names gx_names_begin(gale_str text) {
    gx_names names = { .rest = text };
    names.next = gx_token_next(&names.rest);
    return names;
}

static char innermost(const gx_names *n) {
    return n->depth && n->depth <= GX_NAMES_NESTED ? n->open[n->depth - 1] : 0;
}

static void open(gx_names *n, char what) {
    if (n->depth < GX_NAMES_NESTED) n->open[n->depth] = what;
    n->depth++;
}

/* `while` and `for` have one `do`, `elseif` belongs to its `if`. */
static void follow_blocks(gx_names *n) {
    const gx_token *now = &n->now;
    if (gx_token_is(now, "{") || gx_token_is(now, "(") || gx_token_is(now, "["))
        open(n, now->text.data[0]);
    else if (gx_token_is(now, "function") || gx_token_is(now, "do") || gx_token_is(now, "if"))
        open(n, BLOCK);
    else if (gx_token_is(now, "repeat"))
        open(n, REPEAT);
    else if (n->depth && (gx_token_is(now, "}") || gx_token_is(now, ")") || gx_token_is(now, "]") ||
                          gx_token_is(now, "end") || gx_token_is(now, "until")))
        n->depth--;
}

static bool is_name(const gx_token *token) {
    return token->kind == GX_TOKEN_NAME && !gx_token_is_reserved(token->text);
}

/* Goes on in a list of names, "local a <const>, b", "for k, v in", "function f(a, b)". */
static void follow_lists(gx_names *n) {
    const gx_token *now = &n->now;
    n->is_declared = false;
    if (gx_token_is(now, "function")) {
        n->state = n->state == LOCALS ? LOCALS : FUNCTION;
    } else if (gx_token_is(now, "local") || gx_token_is(now, "for")) {
        n->state = gx_token_is(now, "for") ? LOOP : LOCALS;
    } else if (n->state == FUNCTION || (n->state == LOCALS && gx_token_is(now, "("))) {
        if (gx_token_is(now, "(")) n->state = PARAMETERS;
    } else if (n->state == ATTRIBUTE) {
        if (gx_token_is(now, ">")) n->state = LOCALS;
    } else if (n->state == LOCALS && gx_token_is(now, "<")) {
        n->state = ATTRIBUTE;
    } else if (n->state != PLAIN) {
        bool goes_on = is_name(now) ? !is_name(&n->last) && !gx_token_is(&n->last, ">") : gx_token_is(now, ",");
        n->is_declared = goes_on && is_name(now);
        if (!goes_on) n->state = PLAIN;
    }
}

static bool is_key(const gx_names *n) {
    bool begins = gx_token_is(&n->last, "{") || gx_token_is(&n->last, ",") || gx_token_is(&n->last, ";");
    if (gx_token_is(&n->next, "=") && begins && innermost(n) == '{') return true;
    if (gx_token_is(&n->last, "::") && gx_token_is(&n->next, "::")) return true;
    return gx_token_is(&n->last, "goto") || n->state == ATTRIBUTE;
}

static gx_name_role role_of(const gx_names *n) {
    if (!is_name(&n->now)) return GX_NAME_NONE;
    if (gx_token_is(&n->last, ".")) return GX_NAME_MEMBER;
    if (gx_token_is(&n->last, ":")) return GX_NAME_METHOD;
    return is_key(n) ? GX_NAME_KEY : GX_NAME_VALUE;
}

bool gx_names_advance(gx_names *n) {
    n->before_last = n->last;
    n->last = n->now;
    n->now = n->next;
    if (n->now.kind == GX_TOKEN_END) return false;
    n->next = gx_token_next(&n->rest);
    follow_lists(n);
    n->role = role_of(n);
    follow_blocks(n);
    return true;
}

bool gx_names_is_called(const gx_names *n) {
    return n->next.kind == GX_TOKEN_STRING || n->next.kind == GX_TOKEN_LONG || gx_token_is(&n->next, "(") ||
           gx_token_is(&n->next, "{");
}

/* --- The text's own names --- */

bool gx_names_has(const gx_buf *list, gale_str name) {
    gale_str rest = { list->data, list->size }, known;
    while (list->size && gx_str_next(&rest, ' ', &known))
        if (gx_str_equal(known, name)) return true;
    return false;
}

static void add(gx_buf *list, gale_str name) {
    if (gx_names_has(list, name)) return;
    gx_buf_add(list, name.data, name.size);
    gx_buf_add_byte(list, ' ');
}

/* "a = 1", "a, b = 1, 2"; of "t.a = 1" the member. Not "{ a = 1 }". */
static bool is_assigned(const gx_names *n) {
    return gx_token_is(&n->next, "=") || (gx_token_is(&n->next, ",") && !n->depth) || gx_token_is(&n->last, "function");
}

static void note(gx_names_own *own, const gx_names *n) {
    bool takes_self = n->role == GX_NAME_METHOD && n->state == FUNCTION;
    if (gx_token_is(&n->now, "function")) own->has_functions = true;
    if (gx_token_is(&n->now, "_ENV")) own->has_environment = true;
    if (gx_token_is(&n->now, "]") && gx_token_is(&n->next, "=")) own->sets_by_index = true;
    if (takes_self) add(&own->values, gx_str("self"));
    if (n->role == GX_NAME_VALUE && n->is_declared) add(&own->values, n->now.text);
    if (n->role == GX_NAME_KEY || takes_self || (n->role == GX_NAME_MEMBER && (is_assigned(n) || n->state == FUNCTION)))
        add(&own->keys, n->now.text);
}

bool gx_names_own_read(gx_names_own *own, gx_heap *heap, gale_str text) {
    *own = (gx_names_own){ .values = GX_BUF_INIT(heap), .keys = GX_BUF_INIT(heap) };
    gx_names names = gx_names_begin(text);
    while (gx_names_advance(&names)) note(own, &names);
    return !own->values.failed && !own->keys.failed;
}

void gx_names_own_fini(gx_names_own *own) {
    gx_buf_fini(&own->values);
    gx_buf_fini(&own->keys);
}
