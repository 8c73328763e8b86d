#include "cli/session.h"

#include "base/log.h"
#include "base/nearest.h"
#include "base/str.h"
#include "cli/signals.h"

#include <errno.h>
#include <unistd.h>

/* -1: there is none of this name; then `nearest` has what there is. */
static int32_t level_of(gale_str name, gx_nearest *nearest) {
    for (int32_t level = GALE_LOG_TRACE; level <= GALE_LOG_OFF; level++) {
        gx_nearest_offer(nearest, gx_str(gx_log_level_name(level)));
        if (gx_str_is(name, gx_log_level_name(level))) return level;
    }
    return -1;
}

int gx_session_logger(const gx_session *session, gale_logger *ret_logger, gale_error *error) {
    gale_str wanted = gx_str(session->log_level ? session->log_level : "info");
    gx_nearest nearest = gx_nearest_to(wanted);
    char hint[100];
    int32_t level = level_of(wanted, &nearest);
    if (level < 0)
        return gale_error_set(error, GALE_INVALID,
                              "--log-level must be trace, debug, info, warn, error or off, not '%.*s'%s",
                              GX_STR(wanted), gx_nearest_hint(&nearest, hint, sizeof hint));
    *ret_logger = gx_terminal_logger(session->terminal, level);
    return 0;
}

static const char *log_level(void *log) {
    return gx_log_level_name(gx_terminal_log_level(log));
}

static bool set_log_level(void *log, gale_str to) {
    gx_nearest nearest = gx_nearest_to(to);
    int32_t level = level_of(to, &nearest);
    if (level >= 0) gx_terminal_set_log_level(log, level);
    return level >= 0;
}

void gx_session_log_deeds(gx_session *session) {
    session->serve.deeds.log = session->terminal;
    session->serve.deeds.log_level = log_level;
    session->serve.deeds.set_log_level = set_log_level;
}

int gx_session_refuse(gx_terminal *terminal, const gale_error *error, int exit_code) {
    gx_terminal_say(terminal, GALE_LOG_ERROR, error->length ? error->text : gale_error_text(error->code));
    return exit_code;
}

int gx_session_unwritten(gx_terminal *errors, int why) {
    gale_error error = GALE_ERROR_INIT;
    if (why == ETIMEDOUT && gx_signals_ending()) return GX_EXIT_SIGNAL + gx_signals_ending();
    gale_error_set(&error, GALE_IO, "cannot write to standard output: %s",
                   why == EPIPE ? "its reader has gone" : strerror(why));
    return gx_session_refuse(errors, &error, GX_EXIT_IO);
}

int gx_session_print(gx_terminal *errors, gx_buf *out) {
    gale_error error = GALE_ERROR_INIT;
    gx_terminal standard;
    gx_terminal_init(&standard, STDOUT_FILENO);
    const char *text = gx_buf_text(out);
    bool whole = text && gx_terminal_print(&standard, text);
    int why = standard.broken;
    gx_terminal_fini(&standard);
    gx_buf_fini(out);
    if (why) return gx_session_unwritten(errors, why);
    if (whole) return GX_EXIT_OK;
    gale_error_set(&error, GALE_NO_MEMORY, "out of memory");
    return gx_session_refuse(errors, &error, GX_EXIT_FAILED);
}

bool gx_session_is_io(int code) {
    return code == GALE_IO || code == GALE_CLOSED_PIPE || code == GALE_TOO_LARGE || code == GALE_DAMAGED;
}

int gx_session_exit(int code) {
    if (gx_session_is_io(code)) return GX_EXIT_IO;
    return code == GALE_NO_MEMORY || code == GALE_COMPONENT ? GX_EXIT_FAILED : GX_EXIT_USAGE;
}
