#include "serve/openapi.h"

#include "serve/member.h"
#include "serve/shape.h"

#include <gale/base.h>

/* "/topology/:id" as "/topology/{id}". */
static void add_path(gx_json *json, const char *path) {
    gx_buf text = GX_BUF_INIT(NULL);
    gale_str rest = gx_str(path + 1), piece;
    if (!rest.size) gx_buf_add_byte(&text, '/');
    while (rest.size && gx_str_next(&rest, '/', &piece)) {
        bool named = *piece.data == ':';
        gx_buf_format(&text, "/%s%.*s%s", named ? "{" : "", (int)(piece.size - named), piece.data + named,
                      named ? "}" : "");
    }
    gx_json_key(json, (gale_str){ text.data, text.size });
    gx_buf_fini(&text);
}

static void add_parameter(gx_json *json, gale_str name, const char *in, const char *text, const char *type) {
    gx_json_open(json, '{');
    gx_json_key(json, gx_str("name"));
    gx_json_string(json, name);
    gx_member_text(json, "in", in);
    gx_member_bool(json, "required", strcmp(in, "path") == 0);
    if (text) gx_member_text(json, "description", text);
    gx_member_open(json, "schema", '{');
    gx_member_text(json, "type", type);
    gx_json_close(json, '}');
    gx_json_close(json, '}');
}

static void add_parameters(gx_json *json, const gx_route *route) {
    gale_str rest = gx_str(route->path + 1), piece;
    gx_member_open(json, "parameters", '[');
    while (rest.size && gx_str_next(&rest, '/', &piece))
        if (*piece.data == ':')
            add_parameter(json, (gale_str){ piece.data + 1, piece.size - 1 }, "path", NULL, "string");
    for (const gx_route_parameter *p = route->parameters; p && p->name; p++)
        add_parameter(json, gx_str(p->name), "query", p->text, p->whole ? "integer" : "string");
    gx_json_close(json, ']');
}

static void add_content(gx_json *json, const char *type, const char *shape) {
    gx_member_open(json, "content", '{');
    gx_member_open(json, type, '{');
    gx_json_key(json, gx_str("schema"));
    if (shape)
        gx_shape_schema(json, shape);
    else
        gx_shape_schema(json, "s");
    gx_json_close(json, '}');
    gx_json_close(json, '}');
}

static void add_answer(gx_json *json, const char *status, const char *text, const char *type, const char *shape) {
    gx_member_open(json, status, '{');
    gx_member_text(json, "description", text);
    add_content(json, type, shape);
    gx_json_close(json, '}');
}

static void add_route(gx_json *json, const gx_route *route) {
    gx_json_key(json, gx_str(route->kind == GX_ROUTE_CHANGES ? "post" : "get"));
    gx_json_open(json, '{');
    gx_member_text(json, "summary", route->text);
    add_parameters(json, route);
    if (route->body) {
        gx_member_open(json, "requestBody", '{');
        add_content(json, "application/json", route->body);
        gx_json_close(json, '}');
    }
    gx_member_open(json, "responses", '{');
    add_answer(json, "200", route->text, route->type ? route->type : "application/json", route->answer);
    add_answer(json, "default", "Why not.", "application/json", "{error:s}|{error:s, errorMessage:s}");
    gx_json_close(json, '}');
    gx_json_close(json, '}');
}

static void add_paths(gx_json *json, const gx_route *routes, size_t count) {
    gx_member_open(json, "paths", '{');
    for (size_t i = 0; i < count; i++) {
        bool same = i && strcmp(routes[i].path, routes[i - 1].path) == 0;
        if (i && !same) gx_json_close(json, '}');
        if (!same) {
            add_path(json, routes[i].path);
            gx_json_open(json, '{');
        }
        add_route(json, &routes[i]);
    }
    gx_json_close(json, '}');
    gx_json_close(json, '}');
}

void gx_openapi_write(gx_json *json, const gx_route *routes, size_t count) {
    gx_json_open(json, '{');
    gx_member_text(json, "openapi", "3.1.0");
    gx_member_open(json, "info", '{');
    gx_member_text(json, "title", "gale");
    gx_member_text(json, "version", gale_version());
    gx_json_close(json, '}');
    gx_member_open(json, "components", '{');
    gx_member_open(json, "securitySchemes", '{');
    gx_member_open(json, "token", '{');
    gx_member_text(json, "type", "http");
    gx_member_text(json, "scheme", "bearer");
    gx_json_close(json, '}');
    gx_json_close(json, '}');
    gx_json_close(json, '}');
    gx_member_open(json, "security", '[');
    gx_json_open(json, '{');
    gx_member_open(json, "token", '[');
    gx_json_close(json, ']');
    gx_json_close(json, '}');
    gx_json_close(json, ']');
    add_paths(json, routes, count);
    gx_json_close(json, '}');
}
