/* Bytes, read as the state file of a file spout. What is accepted must be what would be written. */
#include "fuzz.h"

#include "connect/file/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gx_file_state state;
    gale_error error = GALE_ERROR_INIT;
    gale_str text = { (const char *)data, size };
    char again[GX_FILE_STATE_TEXT];
    int code = gx_file_state_parse("state", text, &state, &error);
    expect((code < 0) == (error.length > 0));
    if (code < 0) return 0;
    expect(gx_str_equal(gx_file_state_format(&state, again), text));
    expect(state.offset >= 0 && state.task < state.tasks);
    return 0;
}
