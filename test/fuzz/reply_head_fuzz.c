/* Bytes, read as the head of an answer by HTTP. A head is whole at one size alone, and more bytes behind it change nothing. */
#include "fuzz.h"

#include "cli/reply_head.h"

#include <gale/error.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gx_reply_head head, again;
    gale_str bytes = { (const char *)data, size };
    int rc = gx_reply_head_read(bytes, &head);
    expect(rc == 0 || rc == 1 || rc == GALE_INVALID || rc == GALE_TOO_LARGE);
    if (rc != 1) return 0;
    expect(head.status >= 100 && head.status < 600 && head.size <= size && head.size <= GX_REPLY_HEAD_MAX);
    expect(gx_reply_head_read((gale_str){ bytes.data, head.size }, &again) == 1);
    expect(again.status == head.status && again.size == head.size && again.length == head.length);
    for (size_t less = 0; less < head.size; less++)
        expect(gx_reply_head_read((gale_str){ bytes.data, less }, &again) == 0);
    return 0;
}
