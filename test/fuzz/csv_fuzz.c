/* Bytes, read as a text of CSV whose format the first two say. Records lie in the text one after another; columns lie in their
 * record or, unquoted, beside each other in the scratch, stay until the record's end, and have no more bytes than it. */
#include "fuzz.h"

#include "kit/csv.h"

#include <gale/error.h>

static void read_record(gx_csv_format format, gale_str record, gx_buf *scratch) {
    gx_csv csv = gx_csv_begin(format, record, scratch);
    gale_str column;
    size_t bytes = 0, count = 0;
    const char *base = NULL;
    for (; gx_csv_next(&csv, &column); count++) {
        bool borrowed = column.data >= record.data && column.data + column.size <= record.data + record.size;
        bool copied = scratch->data && column.data >= scratch->data &&
                      column.data + column.size <= scratch->data + scratch->size;
        expect(!record.size || borrowed || copied);
        if (copied && !borrowed) {
            expect(!base || base == scratch->data);
            base = scratch->data;
        }
        bytes += column.size;
    }
    expect(bytes <= record.size && count <= record.size + 1);
    expect(!scratch->failed && (count || csv.problem) && (!csv.problem || csv.rest.data));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    gx_csv_format format = { (char)fuzz_byte(&in), (char)fuzz_byte(&in) };
    if (gx_csv_check(format, "it", NULL) < 0) format = (gx_csv_format){ ',', format.quote ? '"' : 0 };
    gx_buf scratch = GX_BUF_INIT(NULL);
    gale_str rest = { (const char *)in.data, in.size }, record;
    while (gx_csv_record(format, &rest, &record)) read_record(format, record, &scratch);
    gx_buf_fini(&scratch);
    return 0;
}
