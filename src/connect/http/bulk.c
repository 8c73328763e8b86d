#include "connect/http/bulk.h"

#include <gale/json.h>
#include <string.h>

/* {"index": {"status": 201}}: what stands in the one member. */
static gale_str result_of(gale_str item) {
    gale_json_item member = GALE_JSON_FIRST(item);
    return gale_json_next(&member) ? member.value : (gale_str){ "", 0 };
}

static void read_why(gale_str error, char why[HTTP_BULK_WHY]) {
    gale_str type, reason;
    bool has_type = gale_json_get(error, "type", &type), has_reason = gale_json_get(error, "reason", &reason);
    *why = '\0';
    if (gale_json_kind_of(error) == GALE_JSON_STRING) (void)gale_json_text(error, why, HTTP_BULK_WHY);
    if (has_type) (void)gale_json_text(type, why, HTTP_BULK_WHY / 2);
    if (has_type && has_reason) strcat(why, ": ");
    if (has_reason) (void)gale_json_text(reason, why + strlen(why), HTTP_BULK_WHY - strlen(why));
}

static bool are_all_there(gale_str items, size_t count) {
    gale_json_item item = GALE_JSON_FIRST(items);
    gale_str status;
    int64_t number;
    size_t found = 0;
    if (gale_json_kind_of(items) != GALE_JSON_LIST) return false;
    for (; gale_json_next(&item); found++)
        if (!gale_json_get(result_of(item.value), "status", &status) || !gale_json_whole(status, &number)) return false;
    return found == count;
}

bool http_bulk_read(gale_str answer, size_t count, http_bulk_fn *each, void *user) {
    gale_str json, items, found;
    if (gale_json_check(answer, &json, NULL) < 0) return false;
    if (!gale_json_get(json, "items", &items) || !are_all_there(items, count)) return false;
    for (gale_json_item at = GALE_JSON_FIRST(items); gale_json_next(&at);) {
        gale_str result = result_of(at.value);
        http_bulk_item item = { .why = "" };
        if (gale_json_get(result, "status", &found)) (void)gale_json_whole(found, &item.status);
        if (gale_json_get(result, "error", &found)) read_why(found, item.why);
        each(user, at.index, &item);
    }
    return true;
}
