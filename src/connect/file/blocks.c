#include "connect/file/blocks.h"

enum { AT_ONCE = 1 << 16 /* lines of others */ };

static bool is_own(const gx_file_blocks *blocks, int64_t place) {
    return place >= blocks->from && place < blocks->to;
}

/* Finds the block of this task at or behind the place of the reader, and moves near to its beginning. The first line is read
 * by all tasks. What lies closer than a seek would go is read. */
static int find(gx_file_blocks *blocks, gx_file_reader *reader, int64_t at, gale_error *error) {
    int64_t tasks = blocks->tasks, block = at / blocks->size;
    int64_t own = block + (blocks->task + tasks - block % tasks) % tasks;
    blocks->from = own * blocks->size;
    blocks->to = blocks->from + blocks->size;
    int64_t near = blocks->from - GX_FILE_HOLE;
    if (blocks->counts || at == 0 || at >= near || at >= reader->seen) return GALE_OK;
    return gx_file_reader_skip(reader, near < reader->seen ? near : reader->seen, error);
}

static int next_of_several(gx_file_blocks *blocks, gx_file_reader *reader, gale_str *ret_line, gale_error *error) {
    for (int lines = 0; lines < AT_ONCE; lines++) {
        int64_t at = gx_file_reader_next_at(reader);
        int rc = is_own(blocks, at) ? GALE_OK : find(blocks, reader, at, error);
        if (rc == GALE_OK) rc = gx_file_reader_next(reader, ret_line, error);
        if (rc <= 0) return rc;
        int64_t place = gx_file_reader_last_at(reader);
        if (GX_LIKELY(is_own(blocks, place) && place < reader->seen)) return 1;
        if (place >= blocks->to || place >= reader->seen) gx_file_reader_unread(reader);
        if (place >= reader->seen) return 0;
    }
    return GALE_AGAIN;
}

int gx_file_blocks_next(gx_file_blocks *blocks, gx_file_reader *reader, gale_str *ret_line, gale_error *error) {
    if (GX_LIKELY(blocks->tasks == 1)) return gx_file_reader_next(reader, ret_line, error);
    if (!reader->regular) return blocks->task == 0 ? gx_file_reader_next(reader, ret_line, error) : 0;
    return next_of_several(blocks, reader, ret_line, error);
}
