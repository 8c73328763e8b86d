#include "base/log.h"

#include "base/options.h"
#include "base/os/gathered.h"
#include "base/os/time.h"
#include "base/visible.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

enum { LINE = 1000, NAME = 200, WRITTEN_OUT = 6 }; /* at most six bytes for one: \u009b */

const char *gx_log_level_name(int32_t level) {
    static const char *const names[] = { "trace", "debug", "info", "warn", "error", "off" };
    return level >= GALE_LOG_TRACE && level <= GALE_LOG_OFF ? names[level] : "unknown";
}

/* Ends the text at most at `LINE` bytes, between two characters, and without the line ends it closes with. */
static void finish(char *text, size_t size) {
    if (size > LINE) {
        size = LINE;
        while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) size--;
    }
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r')) size--;
    text[size] = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\n' || text[i] == '\r') text[i] = ' '; /* one line is one line, also in a log file */
}

static void silence(void *user, int32_t level, const char *component, const char *text) {
    (void)user, (void)level, (void)component, (void)text;
}

int gx_logger_take(gale_logger *to, const gale_logger *given, const char *what, gale_error *error) {
    static const gale_logger silent = { sizeof silent, GALE_LOG_OFF, silence, NULL };
    gale_logger taken = silent;
    int rc = given ? gx_options_take(&taken, sizeof taken, given, what, error) : GALE_OK;
    if (rc == GALE_OK) *to = taken.write ? taken : silent;
    return rc;
}

void gale_log(const gale_logger *logger, int32_t level, const char *component, const char *format, ...) {
    if (!format || !gx_log_wanted(logger, level)) return;
    char text[LINE + 2]; /* one byte more than is handed on, to see whether the cut splits a character */
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (size < 0) return;
    finish(text, (size_t)size);
    logger->write(logger->user, level, component, text);
}

static void write_stderr(void *user, int32_t level, const char *component, const char *text) {
    (void)user;
    gx_gathered_flush_thread();
    int64_t now = gx_os_wall();
    time_t seconds = (time_t)(now / 1000000000);
    struct tm parts;
    char clock[16] = "";
    char name[NAME + 1], line[WRITTEN_OUT * LINE + 1]; /* others may have written them */
    if (localtime_r(&seconds, &parts)) strftime(clock, sizeof clock, "%H:%M:%S", &parts);
    fprintf(stderr, "%s.%03d %s %s%s%s\n", clock, (int)(now / 1000000 % 1000), gx_log_level_name(level),
            gx_visible_copy(name, sizeof name, component), component ? ": " : "",
            gx_visible_copy(line, sizeof line, text));
}

gale_logger gale_logger_stderr(int32_t level) {
    return (gale_logger){ sizeof(gale_logger), level, write_stderr, NULL };
}
