/* Bytes, read as the record of gale simulate: behind its two lines, or instead of them. What is accepted stays accepted when
 * more is written behind it. */
#include "fuzz.h"

#include "base/str.h"
#include "cli/progress.h"

enum { WHAT = 0xabc };

static void write_on(gx_buf *record, uint64_t next, const char *text) {
    gale_error error = GALE_ERROR_INIT;
    uint64_t again = 1;
    if (record->size && record->data[record->size - 1] != '\n') gx_buf_add_byte(record, '\n');
    gx_progress_done(record, next, next, 1);
    gx_progress_failed(record, next, text);
    expect(gx_progress_parse("record", (gale_str){ record->data, record->size }, WHAT, &again, &error) == GALE_OK);
    expect(again == next + 1 || next == UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    gale_error error = GALE_ERROR_INIT;
    gx_buf record = GX_BUF_INIT(NULL);
    uint64_t next = 1;
    if (fuzz_byte(&in) & 1) gx_progress_begin(&record, WHAT);
    gx_buf_add(&record, in.data, in.size);
    char *text = fuzz_text(&in);
    int rc = gx_progress_parse("record", (gale_str){ record.data, record.size }, WHAT, &next, &error);
    expect((rc < 0) == (error.length > 0) && (rc == GALE_OK || next == 1));
    if (rc == GALE_OK) write_on(&record, next, text);
    free(text);
    gx_buf_fini(&record);
    return 0;
}
