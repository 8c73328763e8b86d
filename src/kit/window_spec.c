#include "kit/window_spec.h"

#include "base/nearest.h"
#include "base/str.h"

#include <stdio.h>

typedef struct word {
    const char *name;
    bool needs_field;
    bool has_parameter;
} word;

static const word words[] = {
    [GX_WINDOW_COUNT] = { "count", false, false }, [GX_WINDOW_SUM] = { "sum", true, false },
    [GX_WINDOW_AVG] = { "avg", true, false },      [GX_WINDOW_MIN] = { "min", true, false },
    [GX_WINDOW_MAX] = { "max", true, false },      [GX_WINDOW_FIRST] = { "first", true, false },
    [GX_WINDOW_LAST] = { "last", true, false },    [GX_WINDOW_DISTINCT] = { "distinct", true, false },
    [GX_WINDOW_TOP] = { "top", true, true },       [GX_WINDOW_PERCENTILE] = { "percentile", true, true },
};
enum { WORDS = sizeof words / sizeof *words };

bool gx_window_function_counts(uint8_t function) {
    return function == GX_WINDOW_SUM || function == GX_WINDOW_AVG || function == GX_WINDOW_MIN ||
           function == GX_WINDOW_MAX || function == GX_WINDOW_PERCENTILE;
}

const char *gx_window_function_name(uint8_t function) {
    return function < WORDS ? words[function].name : "?";
}

/* --- Pieces ---------------------------------------------------------------------------------------------------------- */

typedef struct reader {
    const char *text;
    const char *at;
    const char *what;
    const char *taken;
    gale_error *error;
    gx_window_spec *spec;
    size_t names_size;
    char fields[GX_FIELDS_TEXT]; /* as gx_fields_parse takes them */
    size_t fields_size;
    uint32_t field_count;
} reader;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_of_word(char c) {
    return c && !is_blank(c) && c != ',' && c != '(' && c != ')';
}

static void skip_blanks(reader *r) {
    while (is_blank(*r->at)) r->at++;
}

static gale_str read_word(reader *r) {
    skip_blanks(r);
    gale_str found = { r->at, 0 };
    while (is_of_word(*r->at)) r->at++;
    found.size = (size_t)(r->at - found.data);
    return found;
}

static bool takes(reader *r, char c) {
    skip_blanks(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

/* From where on it is wrong, and what. */
static int wrong(reader *r, const char *from, const char *format, gale_str about, const char *hint) {
    char text[300];
    snprintf(text, sizeof text, format, (int)(about.size < 100 ? about.size : 100), about.data ? about.data : "");
    return gale_error_set(r->error, GALE_INVALID, "%s, column %zu: %s%s", r->what, (size_t)(from - r->text) + 1, text,
                          hint);
}

static int expected(reader *r, const char *what) {
    gale_str found = { r->at, *r->at ? 1 : 0 };
    char format[100];
    snprintf(format, sizeof format, found.size ? "'%%.*s' where %s is to be" : "the end, where %s is to be%%.*s", what);
    return wrong(r, r->at, format, found, "");
}

/* --- One call -------------------------------------------------------------------------------------------------------- */

/* What other languages call them. */
static const char *const others[][2] = {
    { "median", "percentile(x, 0.5)" },
    { "average", "avg" },
    { "mean", "avg" },
    { "cnt", "count" },
    { "maximum", "max" },
    { "minimum", "min" },
    { "total", "sum" },
    { "quantile", "percentile" },
    { "unique", "distinct" },
    { "uniq", "distinct" },
    { "nunique", "distinct" },
};

bool gx_window_percentile_meant(gale_str name, char *out, size_t size) {
    uint64_t percent;
    gale_str digits = { name.data + 1, name.size ? name.size - 1 : 0 };
    if (!digits.size || (name.data[0] | 0x20) != 'p' || !gx_str_number(digits, 10, 9999, &percent)) return false;
    if (percent == 0 || percent == 100) return false;
    snprintf(out, size, "percentile(x, 0.%s%.*s)", digits.size == 1 ? "0" : "", GX_STR(digits));
    return true;
}

static int no_function(reader *r, gale_str name, const gx_nearest *nearest) {
    char hint[100];
    char percentile[40];
    gx_nearest_hint(nearest, hint, sizeof hint);
    if (gx_window_percentile_meant(name, percentile, sizeof percentile))
        snprintf(hint, sizeof hint, "; did you mean '%s'?", percentile);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (gx_str_is(name, others[i][0])) snprintf(hint, sizeof hint, "; did you mean '%s'?", others[i][1]);
    return wrong(r, name.data, "there is no function '%.*s'", name, hint);
}

static int read_function(reader *r, uint8_t *ret_function) {
    gale_str name = read_word(r);
    if (!name.size) return expected(r, "a function");
    gx_nearest nearest = gx_nearest_to(name);
    for (uint32_t i = 0; i < WORDS; i++) {
        gx_nearest_offer(&nearest, gx_str(words[i].name));
        if (!gx_str_is(name, words[i].name)) continue;
        *ret_function = (uint8_t)i;
        return GALE_OK;
    }
    return no_function(r, name, &nearest);
}

/* Which field of the list this is; it is added when it is none yet. */
static int field_index(reader *r, gale_str name, uint16_t *ret_index) {
    gale_str rest = { r->fields_size ? r->fields : NULL, r->fields_size }, other;
    for (*ret_index = 0; gx_str_next(&rest, ',', &other); (*ret_index)++)
        if (gx_str_equal(other, name)) return GALE_OK;
    if (r->fields_size + name.size + 2 >= sizeof r->fields || r->field_count == GX_FIELDS_MAX)
        return wrong(r, name.data, "'%.*s' is a field too many", name, "");
    if (r->fields_size) r->fields[r->fields_size++] = ',';
    memcpy(r->fields + r->fields_size, name.data, name.size);
    r->fields_size += name.size;
    r->field_count++;
    return GALE_OK;
}

/* "0.99" as parts of 10^9. */
static bool read_share(gale_str text, uint32_t *ret_parts) {
    uint64_t parts = 0, weight = GX_WINDOW_PARTS;
    bool fraction = false, digits = false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (c < '0' || c > '9' || (fraction && weight == 1)) return false;
        digits = true;
        if (fraction) weight /= 10;
        parts = fraction ? parts + (uint64_t)(c - '0') * weight : parts * 10 + (uint64_t)(c - '0') * GX_WINDOW_PARTS;
        if (parts > GX_WINDOW_PARTS) return false;
    }
    *ret_parts = (uint32_t)parts;
    return digits;
}

static int read_parameter(reader *r, gx_window_call *call) {
    uint64_t number = 0;
    if (!takes(r, ',')) return expected(r, "a comma and a number");
    gale_str text = read_word(r);
    if (!text.size) return expected(r, "a number");
    if (call->function == GX_WINDOW_PERCENTILE)
        return read_share(text, &call->parameter)
                   ? GALE_OK
                   : wrong(r, text.data, "'%.*s' is not from 0 to 1, with 9 digits behind the point at most", text, "");
    if (!gx_str_number(text, 10, GX_WINDOW_TOP_MAX, &number) || !number)
        return wrong(r, text.data, "'%.*s' is no whole number from 1 to 1000", text, "");
    call->parameter = (uint32_t)number;
    return GALE_OK;
}

static int read_weight(reader *r, gx_window_call *call) {
    gale_str field = read_word(r);
    if (!field.size) return expected(r, "a field");
    call->weighted = true;
    return field_index(r, field, &call->weight);
}

static int read_arguments(reader *r, gx_window_call *call, gale_str *ret_field) {
    const word *function = &words[call->function];
    gale_str name = { function->name, strlen(function->name) };
    if (!takes(r, '(')) return function->needs_field ? wrong(r, r->at, "%.*s needs a field: (field)", name, "") : 0;
    *ret_field = read_word(r);
    if (!ret_field->size && !function->needs_field && takes(r, ')')) return GALE_OK; /* count() */
    if (!ret_field->size) return expected(r, "a field");
    call->has_field = true;
    int rc = field_index(r, *ret_field, &call->field);
    if (rc >= 0 && function->has_parameter) rc = read_parameter(r, call);
    if (rc >= 0 && call->function == GX_WINDOW_TOP && takes(r, ',')) rc = read_weight(r, call);
    if (rc < 0 || takes(r, ')')) return rc;
    return expected(r, "')'");
}

/* --- Its name -------------------------------------------------------------------------------------------------------- */

static bool is_taken(const reader *r, gale_str name) {
    gale_str rest = gx_str(r->taken), other;
    while (gx_str_next(&rest, ',', &other))
        if (gx_str_equal(other, name)) return true;
    for (uint32_t i = 0; i < r->spec->count; i++)
        if (gx_str_equal(gx_window_call_name(r->spec, i), name)) return true;
    return false;
}

static int name_call(reader *r, gx_window_call *call, const char *from, gale_str given, gale_str field) {
    char *to = r->spec->names + r->names_size;
    size_t room = sizeof r->spec->names - r->names_size;
    const char *function = words[call->function].name;
    int size = given.size   ? snprintf(to, room, "%.*s", GX_STR(given))
               : field.size ? snprintf(to, room, "%s_%.*s", function, GX_STR(field))
                            : snprintf(to, room, "%s", function);
    if (size < 0 || (size_t)size >= room) return wrong(r, from, "the names are too long together%.*s", given, "");
    gale_str name = { to, (size_t)size };
    if (is_taken(r, name))
        return wrong(r, from, "the row has a field '%.*s' already; give it another name with 'as'", name, "");
    call->name_at = (uint16_t)r->names_size;
    call->name_size = (uint16_t)size;
    r->names_size += (size_t)size;
    return GALE_OK;
}

static int read_name(reader *r, gale_str *ret_name) {
    const char *before = r->at;
    gale_str as = read_word(r);
    if (!as.size) return GALE_OK;
    if (!gx_str_is(as, "as")) {
        r->at = before;
        skip_blanks(r);
        return wrong(r, r->at, "'%.*s' where 'as', a comma or the end is to be", as, "");
    }
    *ret_name = read_word(r);
    return ret_name->size ? GALE_OK : expected(r, "a name");
}

static int read_call(reader *r) {
    gx_window_call call = { 0 };
    gale_str field = { NULL, 0 }, name = { NULL, 0 };
    skip_blanks(r);
    const char *from = r->at;
    if (r->spec->count == GX_WINDOW_AGGREGATES) return wrong(r, from, "there are more than 32%.*s", name, "");
    int rc = read_function(r, &call.function);
    if (rc >= 0) rc = read_arguments(r, &call, &field);
    if (rc >= 0) rc = read_name(r, &name);
    if (rc >= 0) rc = name_call(r, &call, from, name, field);
    if (rc >= 0) r->spec->calls[r->spec->count++] = call;
    return rc;
}

int gx_window_spec_parse(const char *text, const char *taken, const char *what, gx_window_spec *ret_spec,
                         gale_error *error) {
    if (!text || !*text) return gale_error_set(error, GALE_INVALID, "%s: there are none", what);
    gx_window_spec spec = { .count = 0 };
    reader r = { .text = text, .at = text, .what = what, .taken = taken, .error = error, .spec = &spec };
    int rc;
    do rc = read_call(&r);
    while (rc >= 0 && takes(&r, ','));
    if (rc >= 0 && *r.at) rc = expected(&r, "a comma or the end");
    if (rc >= 0 && r.fields_size) rc = gx_fields_parse(r.fields, what, &spec.fields, error);
    if (rc >= 0) *ret_spec = spec;
    return rc < 0 ? rc : GALE_OK;
}

int gx_window_row_of(const char *key, const char *aggregates, gx_fields *ret_key, gx_window_spec *ret_spec,
                     char ret_row[GX_WINDOW_FIELDS_TEXT], gale_error *error) {
    gx_fields fields = { .count = 0 };
    int rc = key && *key ? gx_fields_parse(key, "window bolt: key", &fields, error) : GALE_OK;
    if (rc < 0) return rc;
    int size = snprintf(ret_row, GX_WINDOW_FIELDS_TEXT, "%s%sstart, end", fields.text, fields.count ? ", " : "");
    rc = gx_window_spec_parse(aggregates, ret_row, "window bolt: aggregates", ret_spec, error);
    if (rc < 0) return rc;
    for (uint32_t i = 0; i < ret_spec->count; i++) {
        gale_str name = gx_window_call_name(ret_spec, i);
        size += snprintf(ret_row + size, GX_WINDOW_FIELDS_TEXT - (size_t)size, ", %.*s", GX_STR(name));
    }
    *ret_key = fields;
    return GALE_OK;
}
