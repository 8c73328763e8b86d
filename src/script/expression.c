#include "script/expression.h"

#include "base/nearest.h"
#include "script/meant.h"
#include "tuple/json.h"

#include <stdio.h>

/* --- Which names it uses --- */

typedef struct scan {
    gx_expression *made;
    gale_str rest;
    gx_token last, now, next;
    bool makes_names; /* it has locals or functions of its own, so that only Lua knows what a name is */
    gale_str unknown; /* the first one */
} scan;

static scan begin_scan(gx_expression *e) {
    scan s = { .made = e, .rest = e->text };
    s.next = gx_token_next(&s.rest);
    return s;
}

static bool advance(scan *s) {
    s->last = s->now;
    s->now = s->next;
    if (s->now.kind == GX_TOKEN_END) return false;
    s->next = gx_token_next(&s->rest);
    return true;
}

/* Behind a point or a colon it is a name of a table's, and before an equals sign one of a table that is made. */
static bool is_free_name(const scan *s) {
    return s->now.kind == GX_TOKEN_NAME && !gx_token_is_reserved(s->now.text) && !gx_token_is(&s->last, ".") &&
           !gx_token_is(&s->last, ":") && !gx_token_is(&s->next, "=");
}

/* time.format(time): what is called or indexed is the library's, if it has the name. Methods are those of texts. */
static bool is_library(const scan *s) {
    bool used = gx_token_is(&s->next, ".") || gx_token_is(&s->next, "(");
    return used && gx_box_knows(s->made->box, s->now.text);
}

static int32_t place_of(const gx_expression *e, gale_str name) {
    for (uint32_t i = e->name_count; i-- > 0;) /* what came later hides what was there */
        if (gx_str_equal(e->names[i], name)) return (int32_t)i;
    return -1;
}

static void use(gx_expression *e, uint32_t place) {
    for (uint32_t i = 0; i < e->count; i++)
        if (e->uses[i] == place) return;
    e->uses[e->count++] = place;
}

static void see(scan *s) {
    gx_expression *e = s->made;
    if (gx_token_is(&s->now, "function") || gx_token_is(&s->now, "local") || gx_token_is(&s->now, "for"))
        s->makes_names = true;
    if (!is_free_name(s) || is_library(s)) return;
    int32_t place = place_of(e, s->now.text);
    if (place >= 0)
        use(e, (uint32_t)place);
    else if (gx_str_is(s->now.text, "row"))
        e->row = true;
    else if (!s->unknown.size && !gx_box_knows(e->box, s->now.text))
        s->unknown = s->now.text;
}

static bool is_called(const gx_expression *e, gale_str name) {
    const char *end = name.data + name.size;
    gale_str rest = { end, (size_t)(e->text.data + e->text.size - end) };
    gx_token next = gx_token_next(&rest);
    return gx_token_is(&next, "(");
}

static int refuse_unknown(const gx_expression *e, gale_str name, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(name);
    char hint[100];
    bool called = is_called(e, name);
    unsigned line = 1, column = 1;
    for (const char *at = e->text.data; at < name.data; at++, column++)
        if (*at == '\n') line++, column = 0;
    for (uint32_t i = 0; i < e->name_count; i++) gx_nearest_offer(&nearest, e->names[i]);
    const char *meant = called ? gx_meant_hint(gx_box_names(e->box), name, hint, sizeof hint)
                               : gx_nearest_hint(&nearest, hint, sizeof hint);
    return gale_error_set(error, GALE_SYNTAX, "%s:%u:%u: there is no %s '%.*s'%s", e->what, line, column,
                          called ? "function" : "field", GX_STR(name), meant);
}

static int find_names(gx_expression *e, gale_error *error) {
    scan s = begin_scan(e);
    while (advance(&s)) see(&s);
    return s.unknown.size && !s.makes_names ? refuse_unknown(e, s.unknown, error) : GALE_OK;
}

/* --- Compiling --- */

/* A field that has a name of the library's is called field_NAME inside, so that both can be used. */
static void write_field(const gx_expression *e, gale_str name, gx_buf *to) {
    if (gx_box_knows(e->box, name)) gx_buf_add_text(to, "field_");
    gx_buf_add(to, name.data, name.size);
}

static void write_text(gx_expression *e, gx_buf *to) {
    const char *written = e->text.data;
    scan s = begin_scan(e);
    while (advance(&s)) {
        if (!is_free_name(&s) || is_library(&s) || place_of(e, s.now.text) < 0) continue;
        gx_buf_add(to, written, (size_t)(s.now.text.data - written));
        write_field(e, s.now.text, to);
        written = s.now.text.data + s.now.text.size;
    }
    gx_buf_add(to, written, (size_t)(e->text.data + e->text.size - written));
}

static int compile_in_box(gx_expression *e, gale_error *error) {
    gx_buf text = GX_BUF_INIT(e->heap), names = GX_BUF_INIT(e->heap);
    for (uint32_t i = 0; i < e->count; i++) {
        if (i) gx_buf_add_byte(&names, ',');
        write_field(e, e->names[e->uses[i]], &names);
    }
    if (e->row) gx_buf_add_text(&names, e->count ? ",row" : "row");
    write_text(e, &text);
    int rc = text.failed || names.failed ? gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", e->what)
                                         : gx_box_compile(e->box, (gale_str){ text.data, text.size }, e->what,
                                                          (gale_str){ names.data, names.size }, &e->function, error);
    gx_buf_fini(&text);
    gx_buf_fini(&names);
    return rc;
}

/* "a && b != c" is C's and many other languages'. */
static void add_signs_hint(gx_expression *e, gale_error *error) {
    scan s = begin_scan(e);
    char said[GALE_ERROR_TEXT];
    bool foreign = false;
    while (!foreign && advance(&s)) {
        bool doubled = s.last.text.data && s.last.text.data + 1 == s.now.text.data &&
                       gx_str_equal(s.last.text, s.now.text);
        foreign = (s.now.kind == GX_TOKEN_WRONG && gx_str_is(s.now.text, "!")) ||
                  (doubled && (gx_token_is(&s.now, "&") || gx_token_is(&s.now, "|")));
    }
    if (!foreign || !error) return;
    snprintf(said, sizeof said, "%s", error->text);
    gale_error_set(error, GALE_SYNTAX, "%s; it is `and`, `or`, `~=`, `not` here", said);
}

/* "end > 5" is no Lua, though `end` is a field: a window's rows have it. */
static void add_hint(gx_expression *e, gale_error *error) {
    scan s = begin_scan(e);
    while (advance(&s)) {
        bool hidden = s.now.kind == GX_TOKEN_NAME && gx_token_is_reserved(s.now.text) && place_of(e, s.now.text) >= 0;
        if (!hidden) continue;
        gale_error_add(error, "  '%.*s' is a word of Lua's; the field is row[\"%.*s\"]", GX_STR(s.now.text),
                       GX_STR(s.now.text));
        return;
    }
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
    int rc = find_names(made, error);
    if (rc == GALE_OK) {
        rc = compile_in_box(made, error);
        if (rc == GALE_SYNTAX) add_signs_hint(made, error);
    }
    if (rc == GALE_SYNTAX) add_hint(made, error);
    if (rc < 0) return rc;
    made->is_quick = gx_quick_compile(&made->quick, text, names, name_count);
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
    return run_in_box(e, values, ret_value, error);
}
