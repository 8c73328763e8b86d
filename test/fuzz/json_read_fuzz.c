/* Bytes, read as a text of JSON in three ways: skipped, as a whole document, and by paths that its first bytes
 * choose. Skipping takes whatever the others take; a document that is written and read again is the same. */
#include "fuzz.h"

#include "base/utf8.h"
#include "tuple/json.h"
#include "tuple/json_read.h"

static const char *const wanted[] = { "a", "a.b", "0", "a.0", "b.a.1", "1.0", "c", "" };
enum { PATHS = sizeof wanted / sizeof *wanted };

static int read_paths(gx_json_reader *reader, gale_str text, unsigned chosen, gale_value *columns) {
    gx_json_node nodes[PATHS * GX_JSON_STEPS];
    gx_json_paths paths;
    gx_json_paths_init(&paths, nodes);
    for (uint32_t i = 0; i < PATHS; i++)
        if (chosen >> i & 1) gx_json_paths_add(&paths, gx_str(wanted[i]), i, (gx_json_numbers)(i % 3));
    for (uint32_t i = 0; i < PATHS; i++) columns[i] = gale_null();
    int rc = gx_json_read(reader, text, &paths, columns);
    expect(rc == GALE_OK || (rc == GALE_INVALID && reader->wrong && reader->line && reader->column));
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    unsigned chosen = fuzz_byte(&in);
    gale_str text = { (const char *)in.data, in.size };
    gale_value columns[PATHS], again[PATHS];
    gx_json_reader reader, second;
    gx_heap heap;
    if (!gx_utf8_valid(text.data, text.size)) return 0;
    gx_heap_init(&heap, NULL);
    gx_json_reader_init(&reader, &heap);
    gx_json_reader_init(&second, &heap);
    bool is_json = read_paths(&reader, text, 0, columns) == GALE_OK;
    if (read_paths(&reader, text, chosen, columns) == GALE_OK) expect(is_json);
    if (read_paths(&reader, text, 1u << (PATHS - 1), columns) == GALE_OK) {
        gx_buf out = GX_BUF_INIT(NULL);
        gx_json json = gx_json_to(&out);
        gx_json_value(&json, &columns[PATHS - 1]);
        expect(gx_buf_text(&out) != NULL);
        expect(read_paths(&second, (gale_str){ out.data, out.size }, 1u << (PATHS - 1), again) == GALE_OK);
        expect(gale_value_equal(&columns[PATHS - 1], &again[PATHS - 1]));
        gx_buf_fini(&out);
    }
    gx_json_reader_fini(&reader);
    gx_json_reader_fini(&second);
    expect(gx_heap_reserved(&heap) == 0);
    return 0;
}
