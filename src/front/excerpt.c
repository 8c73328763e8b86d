#include "front/excerpt.h"

#include "base/os/file.h"
#include "base/secret.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 160 };

void gx_excerpts_fini(gx_excerpts *e) {
    free(e->file);
    free(e->text);
    gx_yaml_free(e->doc);
    e->file = e->text = NULL;
    e->doc = NULL;
}

static bool open_file(gx_excerpts *e, const char *file) {
    if (e->file && strcmp(e->file, file) == 0) return e->text;
    gx_excerpts_fini(e);
    const gx_source source = { e->variables, NULL, NULL };
    e->file = strdup(file);
    if (!e->file || gx_file_read_all(file, GX_YAML_BYTES, &e->text, &e->size, NULL) < 0) {
        e->text = NULL;
        return false;
    }
    if (gx_source_parse(&source, file, (gale_str){ e->text, e->size }, &e->doc, NULL) < 0) e->doc = NULL;
    return true;
}

static bool find_line(const gx_excerpts *e, uint32_t line, gale_str *ret_line) {
    const char *at = e->text, *end = e->text + e->size;
    for (uint32_t n = 1; n < line && at < end; n++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    if (line == 0 || at == end) return false;
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    *ret_line = (gale_str){ at, (size_t)((newline ? newline : end) - at) };
    if (ret_line->size && at[ret_line->size - 1] == '\r') ret_line->size--;
    return true;
}

/* The column of the first secret in the line (0: none); 1 for a line in the middle of one. */
static uint32_t secret_in(const gx_yaml *node, uint32_t line) {
    uint32_t first = 0;
    if (gx_yaml_is_scalar(node)) {
        if (line < node->line || line > node->end_line) return 0;
        if (!node->secret && !gx_secret_find(node->text).size) return 0;
        return line == node->line ? node->column : 1;
    }
    for (const gx_yaml *child = node->as.first; child; child = child->next) {
        uint32_t column = secret_in(child, line);
        if (column && (!first || column < first)) first = column;
    }
    return first;
}

static bool speaks_of_secrets(const gx_excerpts *e, uint32_t line) {
    gale_str text;
    return find_line(e, line, &text) && (gx_secret_is_named(text) || gx_secret_find(text).size);
}

/* How many bytes the first `columns` characters have. */
static size_t bytes_of(gale_str text, size_t columns) {
    size_t at = 0;
    while (at < text.size && columns--)
        for (at++; at < text.size && ((unsigned char)text.data[at] & 0xc0) == 0x80;) at++;
    return at;
}

/* A line that is too long begins later: where the column is in sight. */
static void add_line(gale_str line, gx_position position, bool hidden, gx_buf *out) {
    size_t skip = position.column > WIDTH - 20 ? position.column - (WIDTH - 40) : 0;
    size_t from = bytes_of(line, skip);
    gale_str shown = { line.data + from, line.size - from };
    size_t size = bytes_of(shown, WIDTH);
    char number[16];
    int width = snprintf(number, sizeof number, "%u", position.line);
    gx_buf_format(out, "  %s | %s", number, skip ? "..." : "");
    for (size_t i = 0; i < size; i++) gx_buf_add_byte(out, shown.data[i] == '\t' ? ' ' : shown.data[i]);
    gx_buf_format(out, "%s%s\n  %*s | ", size < shown.size ? "..." : "", hidden ? "***" : "", width, "");
    size_t dashes = position.column - 1 - skip + (skip ? 3 : 0);
    for (size_t i = 0; i < dashes; i++) gx_buf_add_byte(out, ' ');
    gx_buf_add_text(out, "^\n");
}

bool gx_excerpt_add(gx_excerpts *e, gx_position position, gx_buf *out) {
    gale_str line;
    if (!position.line || !open_file(e, position.file) || !find_line(e, position.line, &line)) return false;
    if (!e->doc &&
        (speaks_of_secrets(e, position.line) || (position.line > 1 && speaks_of_secrets(e, position.line - 1))))
        return false;
    const gx_yaml *root = e->doc ? gx_yaml_root(e->doc) : NULL;
    uint32_t secret = root ? secret_in(root, position.line) : 0;
    if (secret) line.size = bytes_of(line, secret - 1);
    add_line(line, position, secret != 0, out);
    return true;
}
