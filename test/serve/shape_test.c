/* Shapes of answers become JSON Schema. */
#include "serve/shape.h"

#include "serve/routes.h"
#include "serve/shapes.h"

#include "harness/cm.h"

static void assert_schema(const char *shape, const char *expected) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&out);
    assert_true(gx_shape_schema(&json, shape));
    assert_string_equal(gx_buf_text(&out), expected);
    gx_buf_fini(&out);
}

static void assert_none(const char *shape) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&out);
    if (gx_shape_schema(&json, shape)) fail_msg("'%s' is no shape", shape);
    gx_buf_fini(&out);
}

static void scalars(void **state) {
    (void)state;
    assert_schema("s", "{\"type\":\"string\"}");
    assert_schema("n?", "{\"type\":[\"number\",\"null\"]}");
    assert_schema("i", "{\"type\":\"integer\"}");
    assert_schema("b", "{\"type\":\"boolean\"}");
    assert_schema("?", "{}");
}

static void lists_and_objects(void **state) {
    (void)state;
    assert_schema("[s]", "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}");
    assert_schema("[n?]?", "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":[\"number\",\"null\"]}}");
    assert_schema("{*:i}", "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}");
    assert_schema("{a:i, b:?}?",
                  "{\"type\":[\"object\",\"null\"],\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{}},"
                  "\"required\":[\"a\",\"b\"],\"additionalProperties\":false}");
    assert_schema("{:host:s}",
                  "{\"type\":\"object\",\"properties\":{\":host\":{\"type\":\"string\"}},\"required\":[\":host\"],"
                  "\"additionalProperties\":false}");
}

static void one_of_two(void **state) {
    (void)state;
    assert_schema("s|[i]|n", "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},"
                             "{\"type\":\"number\"}]}");
    assert_none("s|");
    assert_none("|s");
    assert_none("s|x");
}

static void what_is_no_shape(void **state) {
    (void)state;
    static const char *const none[] = { "",     "x",      "[",   "[s",   "{",    "{a}", "{a:}",
                                        "{a:s", "{a:s,}", "s s", "{*s}", "{:s}", "s??" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_none(none[i]);
    char deep[60];
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = 0;
    assert_none(deep);
}

static void every_route_has_a_description_and_a_shape_that_is_one(void **state) {
    (void)state;
    for (size_t i = 0; i < gx_route_count; i++) {
        const gx_route *route = &gx_routes[i];
        gx_buf out = GX_BUF_INIT(NULL);
        gx_json json = gx_json_to(&out);
        if (!route->text || !*route->text || route->text[strlen(route->text) - 1] != '.')
            fail_msg("%s has no sentence", route->path);
        bool lines = route->type && strcmp(route->type, "application/x-ndjson") == 0; /* each has the shape */
        if (!lines && !route->answer != (route->type != NULL))
            fail_msg("%s: a shape, or a type that is not JSON", route->path);
        if (route->answer && !gx_shape_schema(&json, route->answer)) fail_msg("%s: no shape", route->path);
        json = gx_json_to(&out);
        if (route->body && !gx_shape_schema(&json, route->body)) fail_msg("%s: no shape of the body", route->path);
        gx_buf_fini(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars),
        cmocka_unit_test(lists_and_objects),
        cmocka_unit_test(one_of_two),
        cmocka_unit_test(what_is_no_shape),
        cmocka_unit_test(every_route_has_a_description_and_a_shape_that_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
