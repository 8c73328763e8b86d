/* Bodies from elsewhere: what gx_body_valid accepts can be read, and is what gx_body_encode writes. */
#include "fuzz.h"

#include "tuple/body.h"
#include "tuple/json.h"

static void encode_again(const gale_value *values, size_t count, const void *body, size_t size) {
    expect(gx_body_measure(values, count) == (int64_t)size);
    void *again = malloc(size);
    if (!again) return;
    gx_body_encode(values, count, again);
    expect(memcmp(again, body, size) == 0);
    free(again);
}

static void read_all(const gale_body *body, size_t size) {
    size_t count = gale_body_count(body);
    gale_value *values = malloc((count + 1) * sizeof *values);
    if (!values) return;
    for (size_t i = 0; i < count; i++) {
        gx_buf text = GX_BUF_INIT(NULL);
        gx_json json = gx_json_to(&text);
        values[i] = gale_body_value(body, i);
        gx_json_value(&json, &values[i]);
        (void)gale_value_hash(&values[i]);
        expect(gale_value_equal(&values[i], &values[i]));
        gx_buf_fini(&text);
    }
    encode_again(values, count, body, size);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    void *body = malloc(size + 1);
    if (!body) return 0;
    memcpy(body, data, size);
    if (gx_body_valid(body, size)) {
        expect(gx_body_size(body) == size);
        read_all(body, size);
    }
    free(body);
    return 0;
}
