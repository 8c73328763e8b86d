/* Bytes, read as JSON that is looked at where it stands (<gale/json.h>): what was checked has items that are JSON, and of what was not no item
 * lies outside of it; texts and numbers are what the bytes say. */
#include "fuzz.h"

#include <gale/json.h>
#include <stdlib.h>

static void look_at_scalar(gale_str json, bool checked) {
    char *text = malloc(json.size + 1), small[4];
    int64_t whole, size = gale_json_text(json, text, json.size + 1);
    double number;
    expect(size <= (int64_t)json.size && (size < 0 || text[size] == 0));
    expect(gale_json_text(json, small, sizeof small) == size);
    if (gale_json_number(json, &number)) expect(number - number == 0);
    if (gale_json_whole(json, &whole)) expect(gale_json_number(json, &number) && number == (double)whole);
    if (checked && size >= 0) expect(gale_utf8_valid(text, (size_t)size));
    free(text);
}

static void look_at(gale_str json, bool checked, int depth) {
    gale_str last = { json.data, 0 }, found;
    gale_json_item item = GALE_JSON_FIRST(json);
    look_at_scalar(json, checked);
    while (gale_json_next(&item)) {
        expect(item.value.size && item.value.data >= last.data + last.size);
        expect(item.value.data + item.value.size <= json.data + json.size);
        if (checked) expect(gale_json_check(item.value, &found, NULL) == 0 && found.size == item.value.size);
        if (depth < 20) look_at(item.value, checked, depth + 1);
        last = item.value;
    }
    if (checked) expect(!item.broken);
    (void)gale_json_get(json, "a.b", &found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_str text = { (const char *)data, size }, json = text;
    gale_error error = GALE_ERROR_INIT;
    bool checked = gale_json_check(text, &json, &error) == 0;
    expect(checked == !error.text[0]);
    look_at(json, checked, 0);
    return 0;
}
