/* Bytes, read as lines of the list of the files that a sink has made. What is accepted must be what would be written, and what
 * is written must be read again, where it stands and nowhere else. */
#include "fuzz.h"

#include "base/os/file.h"
#include "connect/file/made_list.h"

static void read_lines(gale_str text) {
    gx_buf again = GX_BUF_INIT(NULL);
    gx_made_line line;
    size_t at = 0, size;
    while (at < text.size &&
           gx_made_line_read((gale_str){ text.data + at, text.size - at }, (int64_t)at, &line, &size)) {
        expect(size > 0 && size <= text.size - at);
        expect(line.size >= -1 && line.path.size > 0 && line.path.size <= GX_FILE_PATH_MAX);
        gx_buf_reset(&again);
        gx_made_line_write(&again, &line, (int64_t)at);
        expect(gx_str_equal((gale_str){ again.data, again.size }, (gale_str){ text.data + at, size }));
        at += size;
    }
    gx_buf_fini(&again);
}

static void write_line(gale_str path) {
    gx_buf text = GX_BUF_INIT(NULL);
    const gx_made_line line = { path, (int64_t)path.size - 2, path.size * 7, path.size % 3 };
    gx_made_line found;
    size_t size;
    gx_made_line_write(&text, &line, 29);
    bool sound = path.size > 0 && path.size <= GX_FILE_PATH_MAX && !memchr(path.data, 0, path.size) && line.size >= -1;
    gale_str whole = { text.data, text.size };
    expect(gx_made_line_read(whole, 29, &found, &size) == sound);
    if (sound) {
        expect(size == text.size && gx_str_equal(found.path, path) && found.size == line.size);
        expect(found.inode == line.inode && found.next == line.next);
        expect(!gx_made_line_read(whole, 30, &found, &size));
        expect(!gx_made_line_read((gale_str){ text.data, text.size - 1 }, 29, &found, &size));
    }
    gx_buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_str text = { size ? (const char *)data : "", size };
    read_lines(text);
    write_line(text);
    return 0;
}
