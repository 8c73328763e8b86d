/* Bytes, read as a file of dead letters. What is accepted can be written again, and read again. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "front/dead_letter_file.h"
#include "tuple/json.h"

static void write_letter(gx_json *json, const gx_kept_letter *letter) {
    gale_value tuple = gale_value_owned_view(letter->tuple);
    gx_json_key(json, gx_str("t"));
    gx_json_value(json, &tuple);
    gx_json_string(json, letter->component);
    gx_json_string(json, letter->stream);
}

static void count_bad(void *user, const gale_error *error) {
    expect(error->length > 0);
    ++*(size_t *)user;
}

/* What is read where bad lines are skipped is what is read where they end it, or more. */
static void check_skipping(gale_str text, bool all_good, size_t count) {
    size_t bad = 0;
    gale_error error = GALE_ERROR_INIT;
    gx_dead_letter_file letters;
    gx_dead_letter_file_told told = { count_bad, &bad };
    int code = gx_dead_letter_file_parse("letters", text, &told, &letters, &error);
    expect((code < 0) == (error.length > 0) && (code >= 0 || !all_good));
    if (code < 0) return; /* packed, or in another encoding: none of it is read */
    expect(all_good == (bad == 0) && (!all_good || letters.count == count));
    gx_dead_letter_file_fini(&letters);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gx_dead_letter_file letters, again;
    gale_error error = GALE_ERROR_INIT;
    gale_str text = { (const char *)data, size };
    int code = gx_dead_letter_file_parse("letters", text, NULL, &letters, &error);
    expect((code < 0) == (error.length > 0));
    check_skipping(text, code >= 0, code < 0 ? 0 : letters.count);
    if (code < 0) return 0;
    gx_buf out = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&out);
    for (size_t i = 0; i < letters.count; i++) write_letter(&json, &letters.items[i]);
    expect(gx_dead_letter_file_parse("letters", text, NULL, &again, &error) >= 0 && again.count == letters.count);
    gx_buf_fini(&out);
    gx_dead_letter_file_fini(&again);
    gx_dead_letter_file_fini(&letters);
    return 0;
}
