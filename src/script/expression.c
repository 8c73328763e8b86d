#include "script/expression.h"

#include "base/nearest.h"
#include "script/foreign.h"
#include "script/meant.h"
#include "script/names.h"
#include "tuple/json.h"

#include <stdio.h>

/* --- Which names it uses --- */

typedef struct reading {
    gx_expression *made;
    gx_names names;
    gx_names_own own;
    gale_error *error;
} reading;

static int32_t place_of(const gx_expression *e, gale_str name) {
    for (uint32_t i = e->name_count; i-- > 0;) /* what came later hides what was there */
        if (gx_str_equal(e->names[i], name)) return (int32_t)i;
    return -1;
}

static bool is_own(const reading *r, gale_str name) {
    return gx_names_has(&r->own.values, name);
}

/* "string" and "find" as "string.find", which the library may have. */
static bool has_member(const gx_expression *e, gale_str table, gale_str member) {
    char name[80];
    if (table.size + member.size + 1 >= sizeof name) return false;
    int size = snprintf(name, sizeof name, "%.*s.%.*s", GX_STR(table), GX_STR(member));
    return gx_box_knows(e->box, (gale_str){ name, (size_t)size });
}

/* The name behind the point that follows. */
static gale_str member_of(const gx_names *n) {
    gale_str rest = n->rest;
    return gx_token_next(&rest).text;
}

/* Is the value that is now the library's? A field may have the same name: a function is called, and a table has the
 * member. */
static bool is_library(const reading *r) {
    const gx_names *n = &r->names;
    gale_str name = n->now.text;
    if (is_own(r, name) || !gx_box_knows(r->made->box, name)) return false;
    if (place_of(r->made, name) < 0) return true;
    if (gx_token_is(&n->next, ".")) return has_member(r->made, name, member_of(n));
    return gx_names_is_called(n) && !gx_box_is_table(r->made->box, name);
}

/* Is the word in the brackets that follow anything but what a field may have and the row has not? */
static bool is_key_of_row(const reading *r) {
    gale_str rest = r->names.rest;
    gx_token key = gx_token_next(&rest), end = gx_token_next(&rest);
    if (!gx_token_is(&end, "]")) return true;
    if (key.kind == GX_TOKEN_STRING) return place_of(r->made, key.inside) >= 0;
    return key.kind != GX_TOKEN_NUMBER;
}

/* Is the name that is now the row's? A field may have that name, too: the row has the member or the key. */
static bool is_row(const reading *r) {
    const gx_names *n = &r->names;
    if (!gx_str_is(n->now.text, "row") || is_own(r, n->now.text)) return false;
    if (place_of(r->made, n->now.text) < 0) return true;
    if (gx_token_is(&n->next, ".")) return place_of(r->made, member_of(n)) >= 0;
    return gx_token_is(&n->next, "[") && is_key_of_row(r);
}

static bool is_field(const reading *r) {
    return r->names.role == GX_NAME_VALUE && place_of(r->made, r->names.now.text) >= 0 && !is_library(r) && !is_row(r);
}

static void use(gx_expression *e, uint32_t place) {
    for (uint32_t i = 0; i < e->count; i++)
        if (e->uses[i] == place) return;
    e->uses[e->count++] = place;
}

/* --- Names that are nothing --- */

/* GALE_SYNTAX, "what:line:column: message" for a name in the text. */
static int refuse_at(const reading *r, const char *at, const char *message, const char *hint) {
    unsigned line = 1, column = 1;
    for (const char *c = r->made->text.data; c < at; c++, column++)
        if (*c == '\n') line++, column = 0;
    return gale_error_set(r->error, GALE_SYNTAX, "%s:%u:%u: %s%s", r->made->what, line, column, message, hint);
}

static int refuse_value(const reading *r) {
    const gx_expression *e = r->made;
    gale_str name = r->names.now.text, names = gx_box_names(e->box);
    gx_nearest nearest = gx_nearest_to(name);
    char hint[120], message[160];
    bool called = gx_names_is_called(&r->names);
    if (gx_token_is(&r->names.next, "=") || gx_token_is(&r->names.last, "function")) {
        snprintf(message, sizeof message,
                 "'%.*s' is not local: nothing is kept from one tuple to the next; write local %.*s", GX_STR(name),
                 GX_STR(name));
        return refuse_at(r, name.data, message, gx_token_is(&r->names.next, "=") ? " = ..." : "");
    }
    for (uint32_t i = 0; i < e->name_count; i++) gx_nearest_offer(&nearest, e->names[i]);
    const char *meant = called ? gx_meant_hint(names, name, hint, sizeof hint)
                               : gx_nearest_hint(&nearest, hint, sizeof hint);
    snprintf(message, sizeof message, "there is no %s '%.*s'", called ? "function" : "field", GX_STR(name));
    return refuse_at(r, name.data, message, meant);
}

static int refuse_member(const reading *r, gale_str member) {
    gale_str names = gx_box_names(r->made->box), table = r->names.now.text;
    char hint[120], message[160];
    const char *meant = gx_meant_member_hint(names, table, member, hint, sizeof hint);
    snprintf(message, sizeof message, "there is no '%.*s.%.*s'", GX_STR(table), GX_STR(member));
    return refuse_at(r, table.data, message, meant);
}

/* "line.contains('x')", "line:contains('x')": `name` is a function of no value. */
static int refuse_method(const reading *r, gale_str name) {
    char hint[120], message[160];
    const char *meant = gx_meant_method_hint(gx_box_names(r->made->box), name, hint, sizeof hint);
    snprintf(message, sizeof message, "there is no function '%.*s' in a value", GX_STR(name));
    return refuse_at(r, name.data, message, meant);
}

/* A value has no functions; text has those of `string`, and a table that the text makes has those that the text gives
 * it. */
static int see_method(const reading *r) {
    gale_str name = r->names.now.text;
    bool may_be_set = r->own.has_functions || r->own.sets_by_index;
    if (has_member(r->made, gx_str("string"), name) || gx_names_has(&r->own.keys, name)) return GALE_OK;
    if (r->names.before_last.kind != GX_TOKEN_NAME) return may_be_set ? GALE_OK : refuse_method(r, name);
    bool is_of_field = place_of(r->made, r->names.before_last.text) >= 0 && !is_own(r, r->names.before_last.text);
    return is_of_field || !may_be_set ? refuse_method(r, name) : GALE_OK;
}

/* A field is not called, nor is its member, "a.b.c": a value has no functions. */
static int see_field_call(const reading *r) {
    gx_names n = r->names;
    gale_str name = n.now.text;
    if (is_own(r, name)) return GALE_OK;
    while (gx_token_is(&n.next, ".") && gx_names_advance(&n) && gx_names_advance(&n)) continue;
    if (!gx_names_is_called(&n) || gx_names_has(&r->own.keys, n.now.text)) return GALE_OK;
    if (n.role == GX_NAME_VALUE) return r->own.has_functions ? GALE_OK : refuse_value(r); /* it may be assigned one */
    return gx_box_is_table(r->made->box, name) ? refuse_member(r, n.now.text) : refuse_method(r, n.now.text);
}

static int see_value(const reading *r) {
    gx_expression *e = r->made;
    gale_str name = r->names.now.text;
    if (is_field(r)) {
        use(e, (uint32_t)place_of(e, name));
        return see_field_call(r);
    }
    if (is_library(r)) {
        gale_str member = member_of(&r->names);
        if (!gx_box_is_table(e->box, name)) return GALE_OK;
        if (gx_names_is_called(&r->names)) return refuse_value(r);
        bool is_wrong = gx_token_is(&r->names.next, ".") && !has_member(e, name, member);
        return is_wrong ? refuse_member(r, member) : GALE_OK;
    }
    if (is_own(r, name)) return GALE_OK;
    if (!is_row(r)) return gx_str_is(name, "_ENV") ? GALE_OK : refuse_value(r);
    e->row = true;
    return see_field_call(r);
}

static int find_names(reading *r) {
    int rc = GALE_OK;
    r->names = gx_names_begin(r->made->text);
    while (rc == GALE_OK && gx_names_advance(&r->names)) {
        if (r->names.role == GX_NAME_VALUE) rc = see_value(r);
        if (r->names.role == GX_NAME_METHOD && rc == GALE_OK) rc = see_method(r);
        if (rc < 0 && r->own.has_environment) rc = GALE_OK; /* its names may be anything */
    }
    return rc;
}

/* --- Compiling --- */

static bool is_taken(const reading *r, gale_str name) {
    gx_names n = gx_names_begin(r->made->text);
    while (gx_names_advance(&n))
        if (n.now.kind == GX_TOKEN_NAME && gx_str_equal(n.now.text, name)) return true;
    return place_of(r->made, name) >= 0 || gx_box_knows(r->made->box, name);
}

/* Means the name something else where it is no field's? */
static bool is_given(const reading *r, gale_str name) {
    return gx_box_knows(r->made->box, name) || gx_str_is(name, "row") || gx_str_is(name, "_ENV");
}

/* Writes the name of a field as Lua has it. A field whose name is the library's, too, gets another name, so that both
 * can be used: one that nothing else has. */
static void write_field(const reading *r, gale_str name, gx_buf *to) {
    gx_buf made = GX_BUF_INIT(to->heap);
    if (!is_given(r, name)) {
        gx_buf_add(to, name.data, name.size);
        return;
    }
    gx_buf_format(&made, "field_%.*s", GX_STR(name));
    while (!made.failed && is_taken(r, (gale_str){ made.data, made.size })) gx_buf_add_byte(&made, '_');
    gx_buf_add(to, made.data, made.size);
    to->failed |= made.failed;
    gx_buf_fini(&made);
}

static void write_text(reading *r, gx_buf *to) {
    gale_str text = r->made->text;
    const char *written = text.data;
    r->names = gx_names_begin(text);
    while (gx_names_advance(&r->names)) {
        gale_str name = r->names.now.text;
        bool joins = gx_token_is(&r->names.now, "..") && !r->own.has_environment;
        if (!joins && !is_field(r)) continue;
        gx_buf_add(to, written, (size_t)(name.data - written));
        if (joins)
            gx_buf_add_text(to, ".. _ENV .."); /* script/format.c */
        else
            write_field(r, name, to);
        written = name.data + name.size;
    }
    gx_buf_add(to, written, (size_t)(text.data + text.size - written));
}

static int compile_in_box(reading *r) {
    gx_expression *e = r->made;
    gx_buf text = GX_BUF_INIT(e->heap), names = GX_BUF_INIT(e->heap);
    for (uint32_t i = 0; i < e->count; i++) {
        if (i) gx_buf_add_byte(&names, ',');
        write_field(r, e->names[e->uses[i]], &names);
    }
    if (e->row) gx_buf_add_text(&names, e->count ? ",row" : "row");
    write_text(r, &text);
    int rc = text.failed || names.failed ? gale_error_set(r->error, GALE_NO_MEMORY, "%s: out of memory", e->what)
                                         : gx_box_compile(e->box, (gale_str){ text.data, text.size }, e->what,
                                                          (gale_str){ names.data, names.size }, &e->function, r->error);
    gx_buf_fini(&text);
    gx_buf_fini(&names);
    return rc;
}

static bool knows(const void *user, gale_str name) {
    const reading *r = user;
    return is_own(r, name) || place_of(r->made, name) >= 0 || gx_box_knows(r->made->box, name);
}

/* What another language has says more than what Lua says of it. */
static void hint_at_foreign(const reading *r) {
    gx_foreign found;
    char message[120];
    if (!gx_foreign_find(r->made->text, knows, r, &found)) return;
    snprintf(message, sizeof message, "cannot use `%.*s`; write ", GX_STR(found.text));
    refuse_at(r, found.text.data, message, found.write);
}

/* "end > 5" is no Lua, though `end` is a field: a window's rows have it. */
static void add_hint(gx_expression *e, gale_error *error) {
    gx_names s = gx_names_begin(e->text);
    while (gx_names_advance(&s)) {
        bool hidden = s.now.kind == GX_TOKEN_NAME && gx_token_is_reserved(s.now.text) && place_of(e, s.now.text) >= 0;
        if (!hidden) continue;
        gale_error_add(error, "  '%.*s' is a word of Lua's; the field is row[\"%.*s\"]", GX_STR(s.now.text),
                       GX_STR(s.now.text));
        return;
    }
}

/* "status = 500" is a statement of Lua's, whose value is nothing. */
static bool only_assigns(const gx_expression *e) {
    gale_str rest = e->text;
    gx_token token = gx_token_next(&rest), second = gx_token_next(&rest);
    if (token.kind != GX_TOKEN_NAME || place_of(e, token.text) < 0 || !gx_token_is(&second, "=")) return false;
    while (token.kind != GX_TOKEN_END && !gx_token_is(&token, "return")) token = gx_token_next(&rest);
    return token.kind == GX_TOKEN_END;
}

/* --- Equations --- */

/* May a comparison begin behind this, or end before it? Else an operator may take the field or the constant away. */
static bool is_edge(const gx_token *token) {
    static const char *const edges[] = { "(", ")", "{", "}", ",", ";", "and", "or", "return", "then", "else", "if" };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        if (gx_token_is(token, edges[i])) return true;
    return token->kind == GX_TOKEN_END;
}

static int32_t type_of_constant(const gx_token *token) {
    if (token->kind == GX_TOKEN_NUMBER) return GALE_TYPE_I64;
    if (token->kind == GX_TOKEN_STRING) return GALE_TYPE_STRING;
    return gx_token_is(token, "true") || gx_token_is(token, "false") ? GALE_TYPE_BOOL : GALE_TYPE_NULL;
}

/* `tokens`: what is before, a side, the sign, the other side, what is behind. */
static void see_equation(gx_expression *e, const gx_names_own *own, const gx_token tokens[5]) {
    bool unequal = gx_token_is(&tokens[2], "~="), swapped = type_of_constant(&tokens[1]) != GALE_TYPE_NULL;
    const gx_token *field = &tokens[swapped ? 3 : 1], *constant = &tokens[swapped ? 1 : 3];
    int32_t type = type_of_constant(constant), place = place_of(e, field->text);
    if (!unequal && !gx_token_is(&tokens[2], "==")) return;
    if (!is_edge(&tokens[0]) || !is_edge(&tokens[4]) || type == GALE_TYPE_NULL || field->kind != GX_TOKEN_NAME) return;
    if (place < 0 || gx_names_has(&own->values, field->text) || e->equation_count == GX_EXPRESSION_EQUATIONS) return;
    e->equations[e->equation_count++] = (gx_equation){ (uint16_t)place, unequal, type, constant->text };
}

static void find_equations(gx_expression *e, const gx_names_own *own) {
    gx_token tokens[5] = { { .kind = GX_TOKEN_END } };
    gale_str rest = e->text;
    for (int i = 1; i < 5; i++) tokens[i] = gx_token_next(&rest);
    while (tokens[2].kind != GX_TOKEN_END) {
        see_equation(e, own, tokens);
        memmove(tokens, tokens + 1, 4 * sizeof *tokens);
        tokens[4] = gx_token_next(&rest);
    }
}

static bool is_unlike(const gx_equation *equation, const gale_value *value) {
    switch (value->type) {
    case GALE_TYPE_NULL: return false;
    case GALE_TYPE_I64:
    case GALE_TYPE_F64: return equation->type != GALE_TYPE_I64;
    case GALE_TYPE_BYTES:
    case GALE_TYPE_STRING: return equation->type != GALE_TYPE_STRING;
    default: return equation->type != value->type;
    }
}

static const char *type_text(int32_t type) {
    if (type == GALE_TYPE_STRING || type == GALE_TYPE_BYTES) return "text";
    return type == GALE_TYPE_I64 || type == GALE_TYPE_F64 ? "a number" : gale_type_name(type);
}

/* Once for each comparison: with data of one kind it is so for every tuple. */
static void report_unlike(const gx_expression *e, const gx_equation *equation, const gale_value *value) {
    gale_str name = e->names[equation->place];
    gx_buf text = GX_BUF_INIT(e->heap);
    gx_buf_format(&text, "%s: '%.*s' is %s, which %s %.*s, %s; ", e->what, GX_STR(name), type_text(value->type),
                  equation->is_unequal ? "always differs from" : "never equals", GX_STR(equation->constant),
                  type_text(equation->type));
    if (equation->type == GALE_TYPE_I64)
        gx_buf_format(&text, "write tonumber(%.*s), or the number in quotes", GX_STR(name));
    else
        gx_buf_add_text(&text, value->type == GALE_TYPE_STRING ? "write the text in quotes"
                                                               : "write it without quotes, or use tostring");
    const char *line = gx_buf_text(&text);
    gale_collector *out = gx_box_collector(e->box);
    if (line && out) gale_report(out, line);
    gx_buf_fini(&text);
}

static void look_at_equations(gx_expression *e, const gale_value *values) {
    for (uint32_t i = 0; i < e->equation_count;) {
        const gx_equation equation = e->equations[i];
        if (!is_unlike(&equation, &values[equation.place])) {
            i++;
            continue;
        }
        report_unlike(e, &equation, &values[equation.place]);
        e->equations[i] = e->equations[--e->equation_count];
    }
    e->quick.defers_unlike = e->equation_count > 0;
}

static int compile(gx_expression *made, gale_error *error) {
    reading r = { .made = made, .error = error };
    int rc = gx_names_own_read(&r.own, made->heap, made->text)
                 ? find_names(&r)
                 : gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", made->what);
    if (rc == GALE_OK) {
        rc = compile_in_box(&r);
        if (rc == GALE_OK && only_assigns(made))
            rc = gale_error_set(error, GALE_SYNTAX, "%s:1: it has no value: `=` assigns, and `==` compares",
                                made->what);
    }
    if (rc == GALE_SYNTAX) hint_at_foreign(&r);
    if (rc == GALE_OK) find_equations(made, &r.own);
    gx_names_own_fini(&r.own);
    return rc;
}

int gx_expression_compile(gx_expression *made, gx_heap *heap, gx_box *box, gale_str text, const char *what,
                          const gale_str *names, uint32_t name_count, gale_error *error) {
    *made = (gx_expression){
        .heap = heap, .box = box, .what = what, .text = text, .names = names, .name_count = name_count
    };
    if (name_count > GX_EXPRESSION_NAMES)
        return gale_error_set(error, GALE_TOO_LARGE, "%s: has %u fields, at most %d", what, name_count,
                              GX_EXPRESSION_NAMES);
    if (text.size > GX_EXPRESSION_TEXT)
        return gale_error_set(error, GALE_TOO_LARGE, "%s: has %zu bytes, at most %d", what, text.size,
                              GX_EXPRESSION_TEXT);
    gale_str rest = text;
    if (gx_token_next(&rest).kind == GX_TOKEN_END) return gale_error_set(error, GALE_SYNTAX, "%s: is empty", what);
    int rc = compile(made, error);
    if (rc == GALE_SYNTAX) add_hint(made, error);
    if (rc < 0) return rc;
    made->is_quick = gx_quick_compile(&made->quick, text, names, name_count);
    made->quick.defers_unlike = made->equation_count > 0;
    return GALE_OK;
}

/* --- Running --- */

/* "status = 404, path = "/x"": so that a log line says what it was that could not be worked with. */
static void add_values(const gx_expression *e, const gale_value *values, gx_buf *to) {
    enum { VALUE_SHOWN = 80 };
    for (uint32_t i = 0; i < e->count; i++) {
        gx_buf text = GX_BUF_INIT(to->heap);
        gx_json json = gx_json_to(&text);
        gx_json_value(&json, &values[e->uses[i]]);
        gx_buf_format(to, "%s%.*s = %.*s%s", i ? ", " : " with ", GX_STR(e->names[e->uses[i]]),
                      (int)(text.size < VALUE_SHOWN ? text.size : VALUE_SHOWN), text.data ? text.data : "",
                      text.size > VALUE_SHOWN ? "..." : "");
        gx_buf_fini(&text);
    }
}

static int tell(const gx_expression *e, const gale_value *values, const gale_error *told, int rc, gale_error *error) {
    gx_buf with = GX_BUF_INIT(e->heap);
    add_values(e, values, &with);
    const char *shown = gx_buf_text(&with);
    size_t size = strlen(e->what);
    bool named = strncmp(told->text, e->what, size) == 0 && told->text[size] == ':';
    gale_error_set(error, rc, "%s%s%s;%s", named ? "" : e->what, named ? "" : ": ", told->text, shown ? shown : "");
    if (shown && !with.size) error->text[error->length ? --error->length : 0] = 0;
    gx_buf_fini(&with);
    return rc;
}

/* A field that is null is not there. */
static uint32_t make_row(const gx_expression *e, const gale_value *values, gale_value *pairs) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->name_count; i++) {
        if (values[i].type == GALE_TYPE_NULL) continue;
        pairs[2 * count] = gale_string(e->names[i].data, e->names[i].size);
        pairs[2 * count + 1] = values[i];
        count++;
    }
    return count;
}

static int run_in_box(gx_expression *e, const gale_value *values, gale_value *ret_value, gale_error *error) {
    gale_value given[GX_EXPRESSION_NAMES + 1], pairs[2 * GX_EXPRESSION_NAMES];
    gale_error told = GALE_ERROR_INIT;
    for (uint32_t i = 0; i < e->count; i++) given[i] = values[e->uses[i]];
    if (e->row) given[e->count] = gale_map(pairs, make_row(e, values, pairs));
    int rc = gx_box_call(e->box, e->function, given, e->count + e->row, ret_value, &told);
    return rc < 0 ? tell(e, values, &told, rc, error) : rc;
}

int gx_expression_run(gx_expression *e, const gale_value *values, gale_value *ret_value, gale_error *error) {
    if (e->is_quick && gx_quick_run(&e->quick, values, ret_value)) return GALE_OK;
    if (e->equation_count) look_at_equations(e, values);
    return run_in_box(e, values, ret_value, error);
}
