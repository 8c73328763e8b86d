#include "cli/terminal.h"

#include "base/os/file.h"
#include "base/os/gathered.h"
#include "base/os/time.h"
#include "base/secret.h"
#include "base/str.h"
#include "base/visible.h"
#include "cli/signals.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool locale_is_utf8(void) {
    const char *names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        if (!value || !*value) continue;
        return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

enum { LEVEL_UNSET = 1000 }; /* no logger was asked for yet */

void gx_terminal_init(gx_terminal *terminal, int fd) {
    const char *kind = getenv("TERM");
    bool shown = isatty(fd);
    *terminal = (gx_terminal){ .fd = fd, .utf8 = locale_is_utf8(), .log = GX_LOG_LINES_INIT, .log_level = LEVEL_UNSET };
    terminal->is_tty = shown && (!kind || strcmp(kind, "dumb") != 0);
    terminal->visible = shown || fd != STDOUT_FILENO;
    pthread_mutex_init(&terminal->mutex, NULL);
}

static struct winsize size_of(const gx_terminal *terminal) {
    struct winsize size = { .ws_col = 0 };
    if (ioctl(terminal->fd, TIOCGWINSZ, &size) != 0) size = (struct winsize){ .ws_col = 0 };
    if (size.ws_col < 2) size.ws_col = 80;
    if (size.ws_row < 2) size.ws_row = 24;
    return size;
}

size_t gx_terminal_columns(const gx_terminal *terminal) {
    return size_of(terminal).ws_col;
}

/* The cursor stands below the block. */
size_t gx_terminal_room(const gx_terminal *terminal) {
    return (size_t)size_of(terminal).ws_row - 1;
}

/* --- Marks --------------------------------------------------------------------------------------------------------- */

/* By the mark: what the terminal is told. */
static const char *paint_of(char c) {
    static const char *const paints[] = { NULL, "1", "2", "31", "33", "32", "7" };
    if (c == GX_MARK_END[0]) return "0";
    return c > 0 && (size_t)c < sizeof paints / sizeof *paints ? paints[(int)c] : NULL;
}

static bool has_colours(const gx_terminal *terminal) {
    const char *none = getenv("NO_COLOR");
    return terminal->is_tty && !(none && *none);
}

static void add_painted(const gx_terminal *terminal, const gx_buf *text, gx_buf *out) {
    bool colours = has_colours(terminal);
    for (size_t at = 0; at < text->size; at++) {
        const char *paint = paint_of(text->data[at]);
        if (!paint)
            gx_buf_add_byte(out, text->data[at]);
        else if (colours)
            gx_buf_format(out, "\x1b[%sm", paint);
    }
}

/* How many rows the block takes: it was drawn without a line that is too long, but a window that became narrower since
 * has broken its lines. */
static size_t rows_of(const gx_buf *block, size_t width) {
    size_t rows = 0, columns = 0;
    for (size_t at = 0, step; at < block->size; at += step) {
        bool shows;
        step = gx_visible_step(block->data + at, block->size - at, &shows);
        if (paint_of(block->data[at])) continue;
        if (block->data[at] != '\n') {
            columns += gx_visible_columns(block->data + at, block->size - at);
            continue;
        }
        rows += columns > width ? (columns + width - 1) / width : 1;
        columns = 0;
    }
    return rows;
}

/* To the first line of the live block, with nothing from there on. Line by line: who clears the whole screen at once has
 * it kept above by some terminals, and a block that fills the window would be there once a second. */
static void erase(const gx_terminal *terminal, gx_buf *out) {
    size_t rows = rows_of(&terminal->live, size_of(terminal).ws_col);
    if (rows == 0) return;
    gx_buf_format(out, "\r\x1b[%zuA", rows);
    for (size_t i = 0; i < rows; i++) gx_buf_add_text(out, "\x1b[K\x1b[B");
    gx_buf_format(out, "\x1b[K\x1b[%zuA", rows);
}

/* A reader that does not read holds up the writer, until an end is asked for. From then on it has PATIENCE, once, and
 * what it does not take is dropped. */
static bool wait_for_reader(gx_terminal *terminal, int *waited) {
    enum { SLICE = 50, PATIENCE = 300 }; /* ms */
    struct pollfd reader = { .fd = terminal->fd, .events = POLLOUT };
    while (poll(&reader, 1, terminal->stalled ? 0 : SLICE) == 0) {
        if (!gx_signals_ending()) continue;
        terminal->stalled |= (*waited += SLICE) > PATIENCE;
        return false;
    }
    return true;
}

/* In pieces that a pipe takes whole when it takes anything; while it has no room for one, what fits. Returns an
 * errno, or 0. */
static int write_all(gx_terminal *terminal, const char *bytes, size_t size) {
    int waited = 0;
    while (size) {
        size_t piece = size < PIPE_BUF ? size : PIPE_BUF, put = piece;
        if (!wait_for_reader(terminal, &waited))
            put = gx_file_write_now(terminal->fd, bytes, piece);
        else if (gx_file_write(terminal->fd, bytes, piece, "terminal", NULL) < 0)
            return errno ? errno : EIO;
        if (!put && terminal->stalled) return ETIMEDOUT;
        bytes += put;
        size -= put;
    }
    return 0;
}

static void write_out(gx_terminal *terminal, gx_buf *out) {
    int why = out->failed ? 0 : write_all(terminal, out->data, out->size);
    if (why) terminal->broken = why;
    gx_buf_fini(out);
}

/* With the mutex held. `colour` may be NULL. */
static void print(gx_terminal *terminal, const char *text, const char *colour) {
    gx_buf out = GX_BUF_INIT(NULL);
    erase(terminal, &out);
    if (colour) gx_buf_format(&out, "\x1b[%sm", colour);
    if (terminal->visible)
        gx_visible_add(&out, gx_str(text), "\n\t");
    else
        gx_buf_add_text(&out, text);
    if (colour) gx_buf_add_text(&out, "\x1b[0m");
    add_painted(terminal, &terminal->live, &out);
    write_out(terminal, &out);
}

bool gx_terminal_print(gx_terminal *terminal, const char *text) {
    return gx_terminal_print_in(terminal, text, NULL);
}

bool gx_terminal_print_in(gx_terminal *terminal, const char *text, const char *colour) {
    bool colours = colour && has_colours(terminal);
    pthread_mutex_lock(&terminal->mutex);
    print(terminal, text, colours ? colour : NULL);
    bool whole = !terminal->broken;
    pthread_mutex_unlock(&terminal->mutex);
    return whole;
}

/* Copies the first lines of `text`, at most `rows`, each cut before it is wider than `width`. */
static void cut_lines(gx_buf *out, const gx_buf *text, size_t rows, size_t width) {
    size_t column = 0;
    for (size_t at = 0, step; at < text->size && rows > 0; at += step) {
        bool shows, ends = text->data[at] == '\n';
        step = gx_visible_step(text->data + at, text->size - at, &shows);
        if (paint_of(text->data[at])) {
            gx_buf_add_byte(out, text->data[at]);
            continue;
        }
        column = ends ? 0 : column + gx_visible_columns(text->data + at, text->size - at);
        if (column <= width) gx_buf_add(out, text->data + at, step);
        rows -= ends;
    }
}

static void redraw(gx_terminal *terminal, const gx_buf *whole) {
    gx_buf out = GX_BUF_INIT(NULL);
    pthread_mutex_lock(&terminal->mutex);
    erase(terminal, &out);
    gx_buf_reset(&terminal->live);
    cut_lines(&terminal->live, whole, gx_terminal_room(terminal), (size_t)size_of(terminal).ws_col - 1);
    add_painted(terminal, &terminal->live, &out);
    write_out(terminal, &out);
    pthread_mutex_unlock(&terminal->mutex);
}

void gx_terminal_live(gx_terminal *terminal, const char *text) {
    if (!terminal->is_tty) return;
    gx_buf whole = GX_BUF_INIT(NULL);
    gx_visible_add(&whole, gx_str(text), "\n");
    redraw(terminal, &whole);
    gx_buf_fini(&whole);
}

void gx_terminal_leave(gx_terminal *terminal) {
    pthread_mutex_lock(&terminal->mutex);
    gx_buf_reset(&terminal->live);
    pthread_mutex_unlock(&terminal->mutex);
}

void gx_terminal_live_marked(gx_terminal *terminal, const char *text) {
    if (!terminal->is_tty) return;
    gx_buf whole = GX_BUF_INIT(NULL);
    gx_buf_add_text(&whole, text);
    redraw(terminal, &whole);
    gx_buf_fini(&whole);
}

/* --- The log ------------------------------------------------------------------------------------------------------ */

/* With the mutex held. What is not for a file is written above the block. */
static void show(gx_terminal *terminal, gx_buf *lines) {
    const char *whole = gx_buf_text(lines);
    if (whole && *whole) print(terminal, whole, NULL);
    gx_buf_fini(lines);
}

static void write_log(void *user, int32_t level, const char *component, const char *text) {
    gx_terminal *terminal = user;
    gx_buf lines = GX_BUF_INIT(NULL);
    if (level < gx_terminal_log_level(terminal)) return;
    gx_gathered_flush_thread();
    pthread_mutex_lock(&terminal->mutex);
    gx_log_lines_add(&terminal->log, gx_os_wall(), level, component, text, &lines);
    show(terminal, &lines);
    pthread_mutex_unlock(&terminal->mutex);
}

gale_logger gx_terminal_logger(gx_terminal *terminal, int32_t level) {
    uint32_t unset = LEVEL_UNSET;
    gx_cas_relaxed(&terminal->log_level, &unset, (uint32_t)level);
    return (gale_logger){ sizeof(gale_logger), GALE_LOG_TRACE, write_log, terminal };
}

int32_t gx_terminal_log_level(const gx_terminal *terminal) {
    uint32_t level = gx_load_relaxed(&terminal->log_level);
    return level == LEVEL_UNSET ? GALE_LOG_TRACE : (int32_t)level;
}

void gx_terminal_set_log_level(gx_terminal *terminal, int32_t level) {
    gx_store_relaxed(&terminal->log_level, (uint32_t)level);
}

bool gx_terminal_log_is_apart(const gx_terminal *terminal) {
    return terminal->log.json || terminal->log.path;
}

bool gx_terminal_is_for_people(const gx_terminal *terminal) {
    return !terminal->log.json || terminal->log.path;
}

void gx_terminal_tell(gx_terminal *terminal, int32_t level, const char *lines) {
    gx_buf entry = GX_BUF_INIT(NULL);
    size_t size = strlen(lines);
    gx_buf_add(&entry, lines, size - (size && lines[size - 1] == '\n'));
    if (gx_terminal_log_is_apart(terminal) && gx_buf_text(&entry)) write_log(terminal, level, NULL, entry.data);
    gx_buf_fini(&entry);
    if (gx_terminal_is_for_people(terminal)) gx_terminal_print(terminal, lines);
}

void gx_terminal_say(gx_terminal *terminal, int32_t level, const char *text) {
    gx_terminal_flush(terminal);
    if (gx_terminal_log_is_apart(terminal)) write_log(terminal, level, NULL, text);
    if (!gx_terminal_is_for_people(terminal)) return;
    gx_buf line = GX_BUF_INIT(NULL);
    gx_buf_add_text(&line, "gale: ");
    for (; *text; text++) {
        gx_buf_add_byte(&line, *text);
        if (*text == '\n') gx_buf_add_text(&line, "  ");
    }
    gx_buf_add_text(&line, "\n");
    if (gx_buf_text(&line)) gx_secret_mask(line.data);
    const char *whole = gx_buf_text(&line);
    if (whole) gx_terminal_print(terminal, whole);
    gx_buf_fini(&line);
}

int gx_terminal_log_to(gx_terminal *terminal, const char *path, bool json, gale_error *error) {
    pthread_mutex_lock(&terminal->mutex);
    int rc = path ? gx_log_lines_open(&terminal->log, path, error) : 0;
    if (rc == 0) terminal->log.json = json;
    pthread_mutex_unlock(&terminal->mutex);
    return rc;
}

int gx_terminal_log_reopen(gx_terminal *terminal, gale_error *error) {
    pthread_mutex_lock(&terminal->mutex);
    int rc = gx_log_lines_reopen(&terminal->log, error);
    pthread_mutex_unlock(&terminal->mutex);
    return rc;
}

void gx_terminal_flush(gx_terminal *terminal) {
    gx_buf lines = GX_BUF_INIT(NULL);
    pthread_mutex_lock(&terminal->mutex);
    gx_log_lines_repeat(&terminal->log, gx_os_wall(), &lines);
    show(terminal, &lines);
    pthread_mutex_unlock(&terminal->mutex);
}

void gx_terminal_fini(gx_terminal *terminal) {
    gx_terminal_live(terminal, "");
    gx_terminal_flush(terminal);
    gx_buf_fini(&terminal->live);
    gx_log_lines_fini(&terminal->log);
    pthread_mutex_destroy(&terminal->mutex);
}
