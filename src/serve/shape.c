#include "serve/shape.h"

#include "serve/member.h"

typedef struct reader {
    gx_json *json;
    const char *at;
    bool wrong;
} reader;

enum { DEPTH_MAX = 16 };

static void skip(reader *r) {
    while (*r->at == ' ') r->at++;
}

static bool take(reader *r, char c) {
    skip(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static void expect(reader *r, char c) {
    if (!take(r, c)) r->wrong = true;
}

/* A member's name: up to its colon; Storm has some that begin with one. */
static gale_str take_name(reader *r) {
    skip(r);
    const char *begin = r->at;
    if (*r->at == ':') r->at++;
    r->at += strcspn(r->at, ":,{}[] ");
    return (gale_str){ begin, (size_t)(r->at - begin) };
}

static void read_value(reader *r, int depth);

static void read_members(reader *r, int depth) {
    const char *names[64];
    size_t sizes[64], count = 0;
    gx_member_open(r->json, "properties", '{');
    do {
        gale_str name = take_name(r);
        expect(r, ':');
        r->wrong |= !name.size || count == 64;
        if (r->wrong) return;
        names[count] = name.data;
        sizes[count++] = name.size;
        gx_json_key(r->json, name);
        read_value(r, depth + 1);
    } while (!r->wrong && take(r, ','));
    gx_json_close(r->json, '}');
    gx_member_open(r->json, "required", '[');
    for (size_t i = 0; i < count; i++) gx_json_string(r->json, (gale_str){ names[i], sizes[i] });
    gx_json_close(r->json, ']');
    gx_member_bool(r->json, "additionalProperties", false);
}

static void read_object(reader *r, int depth) {
    if (take(r, '*')) {
        expect(r, ':');
        gx_json_key(r->json, gx_str("additionalProperties"));
        read_value(r, depth + 1);
    } else {
        read_members(r, depth);
    }
    expect(r, '}');
}

/* The end of a value is looked for first, since its type says whether it may be null. */
static bool may_be_null(const char *at) {
    int open = 0;
    for (; *at; at++) {
        open += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        if (open < 0 || (open == 0 && *at != ' ')) break;
    }
    return *at && at[1] == '?';
}

static void write_type(reader *r, const char *type, bool null) {
    gx_json_key(r->json, gx_str("type"));
    if (null) gx_json_open(r->json, '[');
    gx_json_string(r->json, gx_str(type));
    if (null) gx_json_string(r->json, gx_str("null"));
    if (null) gx_json_close(r->json, ']');
}

static void read_list(reader *r, int depth) {
    gx_json_key(r->json, gx_str("items"));
    read_value(r, depth + 1);
    expect(r, ']');
}

static void read_scalar(reader *r, char c, bool null) {
    const char *type = c == 's' ? "string" : c == 'n' ? "number" : c == 'i' ? "integer" : c == 'b' ? "boolean" : NULL;
    if (type)
        write_type(r, type, null);
    else
        r->wrong |= c != '?';
}

static void read_value(reader *r, int depth) {
    skip(r);
    bool null = may_be_null(r->at);
    char c = *r->at;
    r->wrong |= !c || depth > DEPTH_MAX;
    if (r->wrong) return;
    r->at++;
    gx_json_open(r->json, '{');
    if (c == '{') {
        write_type(r, "object", null);
        read_object(r, depth);
    } else if (c == '[') {
        write_type(r, "array", null);
        read_list(r, depth);
    } else {
        read_scalar(r, c, null);
    }
    if (null && !r->wrong) expect(r, '?');
    gx_json_close(r->json, '}');
}

static bool read_one(gx_json *json, const char *shape, const char **ret_rest) {
    reader r = { .json = json, .at = shape };
    read_value(&r, 0);
    skip(&r);
    *ret_rest = r.at;
    return !r.wrong;
}

bool gx_shape_schema(gx_json *json, const char *shape) {
    const char *rest = shape;
    bool read = true;
    if (!strchr(shape, '|')) return read_one(json, shape, &rest) && !*rest;
    gx_json_open(json, '{');
    gx_member_open(json, "oneOf", '[');
    for (rest--; read && (rest < shape || *rest == '|');) read = read_one(json, rest + 1, &rest);
    gx_json_close(json, ']');
    gx_json_close(json, '}');
    return read && !*rest;
}
