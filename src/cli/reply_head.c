#include "cli/reply_head.h"

#include "base/str.h"

#include <gale/error.h>
#include <strings.h>

/* Cuts the next line, without its CR LF. 1; 0: it is not whole yet; GALE_INVALID: something in it is no text. */
static int next_line(gale_str bytes, size_t *at, gale_str *ret_line) {
    size_t begin = *at;
    for (size_t i = begin; i < bytes.size; i++) {
        unsigned char c = (unsigned char)bytes.data[i];
        if (c == '\r' && i + 1 == bytes.size) return 0;
        if (c == '\r' && bytes.data[i + 1] == '\n') {
            *ret_line = (gale_str){ bytes.data + begin, i - begin };
            *at = i + 2;
            return 1;
        }
        if ((c < 0x20 && c != '\t') || c == 0x7f) return GALE_INVALID;
    }
    return 0;
}

/* "HTTP/1.0 200 OK" */
static bool read_status(gale_str line, gx_reply_head *head) {
    uint64_t status;
    bool named = line.size >= 12 && memcmp(line.data, "HTTP/1.", 7) == 0 && line.data[8] == ' ';
    if (!named || (line.data[7] != '0' && line.data[7] != '1')) return false;
    if (!gx_str_number((gale_str){ line.data + 9, 3 }, 10, 599, &status) || status < 100) return false;
    head->status = (unsigned)status;
    return line.size == 12 || line.data[12] == ' ';
}

static bool is_called(gale_str name, const char *wanted) {
    return name.size == strlen(wanted) && strncasecmp(name.data, wanted, name.size) == 0;
}

static bool read_field(gale_str line, gx_reply_head *head) {
    const char *colon = memchr(line.data, ':', line.size);
    if (!colon || colon == line.data || line.data[0] == ' ' || line.data[0] == '\t' || colon[-1] == ' ') return false;
    gale_str name = { line.data, (size_t)(colon - line.data) };
    gale_str value = gx_str_trim((gale_str){ colon + 1, line.size - name.size - 1 });
    uint64_t length;
    if (is_called(name, "Transfer-Encoding")) return false;
    if (!is_called(name, "Content-Length")) return true;
    if (!gx_str_number(value, 10, INT64_MAX, &length) || (head->has_length && head->length != length)) return false;
    head->has_length = true;
    head->length = length;
    return true;
}

static int read_lines(gale_str bytes, gx_reply_head *head) {
    gale_str line;
    size_t at = 0;
    int rc = next_line(bytes, &at, &line);
    if (rc == 1 && !read_status(line, head)) return GALE_INVALID;
    while (rc == 1 && (rc = next_line(bytes, &at, &line)) == 1) {
        head->size = at;
        if (!line.size) return 1;
        if (!read_field(line, head)) return GALE_INVALID;
    }
    return rc;
}

int gx_reply_head_read(gale_str bytes, gx_reply_head *ret_head) {
    gale_str head = { bytes.data, bytes.size < GX_REPLY_HEAD_MAX ? bytes.size : GX_REPLY_HEAD_MAX };
    *ret_head = (gx_reply_head){ .status = 0 };
    int rc = read_lines(head, ret_head);
    return rc == 0 && bytes.size >= GX_REPLY_HEAD_MAX ? GALE_TOO_LARGE : rc;
}
