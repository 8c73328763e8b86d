#include "cli/terminal.h"

#include "base/os/file.h"
#include "base/os/time.h"
#include "base/str.h"
#include "base/visible.h"

#include <errno.h>
#include <gale/clock.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <time.h>
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

void gx_terminal_init(gx_terminal *terminal, int fd) {
    const char *kind = getenv("TERM");
    bool shown = isatty(fd);
    *terminal = (gx_terminal){ .fd = fd, .utf8 = locale_is_utf8() };
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

/* The cursor stands below the block. */
size_t gx_terminal_room(const gx_terminal *terminal) {
    return (size_t)size_of(terminal).ws_row - 1;
}

/* How many rows the block takes: it was drawn without a line that is too long, but a window that became narrower since
 * has broken its lines. */
static size_t rows_of(const gx_buf *block, size_t width) {
    size_t rows = 0, columns = 0;
    for (size_t at = 0, step; at < block->size; at += step) {
        bool shows;
        step = gx_visible_step(block->data + at, block->size - at, &shows);
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

static void write_out(gx_terminal *terminal, gx_buf *out) {
    if (!out->failed && out->size && gx_file_write(terminal->fd, out->data, out->size, "terminal", NULL) < 0)
        terminal->broken = errno ? errno : EIO;
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
    gx_buf_add(&out, terminal->live.data, terminal->live.size);
    write_out(terminal, &out);
}

bool gx_terminal_print(gx_terminal *terminal, const char *text) {
    return gx_terminal_print_in(terminal, text, NULL);
}

bool gx_terminal_print_in(gx_terminal *terminal, const char *text, const char *colour) {
    const char *none = getenv("NO_COLOR");
    bool colours = colour && terminal->is_tty && !(none && *none);
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
        column = ends ? 0 : column + gx_visible_columns(text->data + at, text->size - at);
        if (column <= width) gx_buf_add(out, text->data + at, step);
        rows -= ends;
    }
}

void gx_terminal_live(gx_terminal *terminal, const char *text) {
    if (!terminal->is_tty) return;
    gx_buf out = GX_BUF_INIT(NULL), whole = GX_BUF_INIT(NULL);
    gx_visible_add(&whole, gx_str(text), "\n");
    pthread_mutex_lock(&terminal->mutex);
    erase(terminal, &out);
    gx_buf_reset(&terminal->live);
    cut_lines(&terminal->live, &whole, gx_terminal_room(terminal), (size_t)size_of(terminal).ws_col - 1);
    gx_buf_add(&out, terminal->live.data, terminal->live.size);
    write_out(terminal, &out);
    pthread_mutex_unlock(&terminal->mutex);
    gx_buf_fini(&whole);
}

/* --- Log lines ---------------------------------------------------------------------------------------------------- */

static const char *level_name(int32_t level) {
    static const char *const names[] = { "TRACE", "DEBUG", "INFO", "WARN", "ERROR" };
    return level >= GALE_LOG_TRACE && level < GALE_LOG_OFF ? names[level] : "LOG";
}

static void add_time(gx_buf *line, int64_t now) {
    time_t seconds = (time_t)(now / GALE_SECOND);
    struct tm local;
    localtime_r(&seconds, &local);
    gx_buf_format(line, "%02d:%02d:%02d.%03d ", local.tm_hour, local.tm_min, local.tm_sec,
                  (int)(now % GALE_SECOND / GALE_MILLISECOND));
}

/* A component that fails at every tuple says the same thing a million times a second. */
static bool is_repeated(gx_terminal *terminal, const gx_buf *body, int64_t now) {
    const gx_buf *last = &terminal->last_log;
    return last->size == body->size && memcmp(last->data, body->data, body->size) == 0 &&
           now - terminal->last_log_time < GALE_SECOND;
}

/* With its own text: what the line before it on the screen is, a component's output may have decided. */
static void say_repeats(gx_terminal *terminal, gx_buf *line) {
    uint64_t repeats = terminal->repeats;
    terminal->repeats = 0;
    if (!repeats || !terminal->last_log.size) return;
    add_time(line, gx_os_wall());
    gx_buf_add(line, terminal->last_log.data, terminal->last_log.size - 1); /* without its newline */
    gx_buf_format(line, " (%" PRIu64 " time%s more)\n", repeats, repeats == 1 ? "" : "s");
}

/* With the mutex held. */
static void print_log(gx_terminal *terminal, const gx_buf *body) {
    int64_t now = gx_os_wall();
    if (is_repeated(terminal, body, now)) {
        terminal->repeats++;
        return;
    }
    gx_buf line = GX_BUF_INIT(NULL);
    say_repeats(terminal, &line);
    add_time(&line, now);
    gx_buf_add(&line, body->data, body->size);
    const char *whole = gx_buf_text(&line);
    if (whole) print(terminal, whole, NULL);
    gx_buf_fini(&line);
    gx_buf_reset(&terminal->last_log);
    gx_buf_add(&terminal->last_log, body->data, body->size);
    terminal->last_log_time = now;
}

static void write_log(void *user, int32_t level, const char *component, const char *text) {
    gx_terminal *terminal = user;
    gx_buf body = GX_BUF_INIT(NULL);
    gx_buf_format(&body, "%s %s%s%s\n", level_name(level), component ? component : "", component ? ": " : "", text);
    pthread_mutex_lock(&terminal->mutex);
    if (!body.failed) print_log(terminal, &body);
    pthread_mutex_unlock(&terminal->mutex);
    gx_buf_fini(&body);
}

gale_logger gx_terminal_logger(gx_terminal *terminal, int32_t level) {
    return (gale_logger){ sizeof(gale_logger), level, write_log, terminal };
}

void gx_terminal_flush(gx_terminal *terminal) {
    gx_buf line = GX_BUF_INIT(NULL);
    pthread_mutex_lock(&terminal->mutex);
    say_repeats(terminal, &line);
    const char *whole = gx_buf_text(&line);
    if (whole && *whole) print(terminal, whole, NULL);
    pthread_mutex_unlock(&terminal->mutex);
    gx_buf_fini(&line);
}

void gx_terminal_fini(gx_terminal *terminal) {
    gx_terminal_live(terminal, "");
    gx_terminal_flush(terminal);
    gx_buf_fini(&terminal->live);
    gx_buf_fini(&terminal->last_log);
    pthread_mutex_destroy(&terminal->mutex);
}
