#include "connect/http/bulk.h"

#include <jansson.h>
#include <stdio.h>

/* {"index": {"status": 201}}: what stands in the one member. */
static json_t *result_of(json_t *item) {
    void *at = json_is_object(item) ? json_object_iter(item) : NULL;
    return at ? json_object_iter_value(at) : NULL;
}

static void read_why(const json_t *error, char why[HTTP_BULK_WHY]) {
    const char *type = json_string_value(json_object_get(error, "type"));
    const char *reason = json_string_value(json_object_get(error, "reason"));
    *why = '\0';
    if (json_is_string(error))
        snprintf(why, HTTP_BULK_WHY, "%s", json_string_value(error));
    else if (type || reason)
        snprintf(why, HTTP_BULK_WHY, "%s%s%s", type ? type : "", type && reason ? ": " : "", reason ? reason : "");
}

static bool are_all_there(const json_t *items, size_t count) {
    if (!json_is_array(items) || json_array_size(items) != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!json_is_integer(json_object_get(result_of(json_array_get(items, i)), "status"))) return false;
    return true;
}

bool http_bulk_read(gale_str answer, size_t count, http_bulk_fn *each, void *user) {
    json_t *json = json_loadb(answer.data, answer.size, 0, NULL);
    const json_t *items = json_object_get(json, "items");
    bool are = are_all_there(items, count);
    for (size_t i = 0; are && i < count; i++) {
        const json_t *result = result_of(json_array_get(items, i));
        http_bulk_item item = { .status = json_integer_value(json_object_get(result, "status")) };
        read_why(json_object_get(result, "error"), item.why);
        each(user, i, &item);
    }
    json_decref(json);
    return are;
}
