#include "cli/session.h"

#include "base/nearest.h"
#include "base/str.h"

#include <errno.h>
#include <unistd.h>

int gx_session_logger(const gx_session *session, gale_logger *ret_logger, gale_error *error) {
    static const char *const names[] = { "trace", "debug", "info", "warn", "error", "off" };
    gale_str wanted = gx_str(session->log_level ? session->log_level : "info");
    gx_nearest nearest = gx_nearest_to(wanted);
    char hint[100];
    for (int32_t level = GALE_LOG_TRACE; level <= GALE_LOG_OFF; level++) {
        gx_nearest_offer(&nearest, gx_str(names[level]));
        if (!gx_str_is(wanted, names[level])) continue;
        *ret_logger = gx_terminal_logger(session->terminal, level);
        return 0;
    }
    return gale_error_set(error, GALE_INVALID,
                          "--log-level must be trace, debug, info, warn, error or off, not '%.*s'%s", GX_STR(wanted),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

int gx_session_refuse(gx_terminal *terminal, const gale_error *error, int exit_code) {
    gx_terminal_say(terminal, GALE_LOG_ERROR, error->length ? error->text : gale_error_text(error->code));
    return exit_code;
}

int gx_session_unwritten(gx_terminal *errors, int why) {
    gale_error error = GALE_ERROR_INIT;
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
