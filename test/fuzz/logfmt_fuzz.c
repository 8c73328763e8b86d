/* Bytes, read as pairs of logfmt whose format the first two say. Keys lie in the text; values lie there or, with what was escaped,
 * beside each other in the scratch; all stay until the end, have no more bytes than the text, and are UTF-8 where it is. */
#include "fuzz.h"

#include "base/utf8.h"
#include "kit/logfmt.h"

#include <gale/error.h>

static bool lies_in(gale_str piece, const char *data, size_t size) {
    return data && piece.data >= data && piece.data + piece.size <= data + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    gx_logfmt_format format = { (char)fuzz_byte(&in), (char)fuzz_byte(&in) };
    if (gx_logfmt_check(format, "it", NULL) < 0) format = (gx_logfmt_format){ ' ', '=' };
    gx_buf scratch = GX_BUF_INIT(NULL);
    gale_str text = { (const char *)in.data, in.size }, key, value;
    gx_logfmt logfmt = gx_logfmt_begin(format, text, &scratch);
    bool is_text = gx_utf8_valid(text.data, text.size);
    const char *base = NULL;
    size_t bytes = 0;
    while (gx_logfmt_next(&logfmt, &key, &value)) {
        bool copied = value.data && !lies_in(value, text.data, text.size);
        expect(key.size && lies_in(key, text.data, text.size));
        expect(!copied || lies_in(value, scratch.data, scratch.size));
        expect(!copied || !base || base == scratch.data);
        base = copied ? scratch.data : base;
        expect(!is_text || (gx_utf8_valid(key.data, key.size) && gx_utf8_valid(value.data, value.size)));
        bytes += key.size + value.size;
    }
    expect(bytes <= text.size && !scratch.failed && (logfmt.problem || !logfmt.rest.size));
    gx_buf_fini(&scratch);
    return 0;
}
