#include "connect/exec/said.h"

#include "base/os/pipe.h"
#include "base/str.h"
#include "base/visible.h"

#include <errno.h>
#include <gale/watch.h>
#include <inttypes.h>
#include <unistd.h>

enum { PIECE = 16 << 10, AT_ONCE = 4, LEFT = 64 /* pieces: more than a pipe holds */ };

void gx_exec_said_init(gx_exec_said *said, const gale_context *context, const char *name, bool logs) {
    *said = (gx_exec_said){ .context = context, .name = name, .logs = logs, .fd = -1 };
}

/* --- Lines ----------------------------------------------------------------------------------------------------------- */

static void tell_left_out(gx_exec_said *said) {
    if (said->left_out && said->logs)
        gale_log(said->context->logger, GALE_LOG_WARN, said->context->component,
                 "command '%s': %" PRIu64 " more line%s on its standard error, which %s left out", said->name,
                 said->left_out, gx_plural(said->left_out), said->left_out == 1 ? "is" : "are");
    said->left_out = 0;
}

static bool may_log(gx_exec_said *said) {
    int64_t now = gale_context_now(said->context);
    if (!said->logged || now - said->second >= GALE_SECOND || now < said->second) {
        tell_left_out(said);
        said->second = now;
        said->logged = 0;
    }
    return said->logged < GX_EXEC_SAID_RATE;
}

/* Fit to be read, also where it has a NUL. */
static const char *show(char *to, size_t room, char *line, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (!line[i]) line[i] = ' ';
    line[size] = 0;
    return gx_visible_copy(to, room, line);
}

static void log_line(gx_exec_said *said) {
    char shown[2 * GX_EXEC_SAID_MAX];
    if (!said->logs) return;
    if (!may_log(said)) {
        said->left_out++;
        return;
    }
    said->logged++;
    gale_log(said->context->logger, GALE_LOG_WARN, said->context->component, "command '%s': %s", said->name,
             show(shown, sizeof shown, said->line, said->size));
}

static void take_line(gx_exec_said *said) {
    if (said->size && said->line[said->size - 1] == '\r') said->size--;
    if (said->size) {
        said->last_size = said->size < GX_EXEC_LAST ? said->size : GX_EXEC_LAST;
        memcpy(said->last, said->line, said->last_size);
        log_line(said);
    }
    said->size = 0;
}

/* A flood costs little more than its reading. */
static void take_piece(gx_exec_said *said, gale_str piece) {
    while (piece.size) {
        const char *end = memchr(piece.data, '\n', piece.size);
        size_t size = end ? (size_t)(end - piece.data) : piece.size, room = GX_EXEC_SAID_MAX - said->size;
        memcpy(said->line + said->size, piece.data, size < room ? size : room);
        said->size += size < room ? size : room;
        if (end) take_line(said);
        size += end != NULL;
        piece = (gale_str){ piece.data + size, piece.size - size };
    }
}

const char *gx_exec_said_last(const gx_exec_said *said, char to[2 * GX_EXEC_LAST]) {
    char last[GX_EXEC_LAST + 1];
    memcpy(last, said->last, said->last_size);
    return show(to, (size_t)2 * GX_EXEC_LAST, last, said->last_size);
}

/* --- Reading --------------------------------------------------------------------------------------------------------- */

static void shut(gx_exec_said *said) {
    if (said->fd >= 0) close(said->fd);
    said->fd = -1;
}

static bool read_piece(gx_exec_said *said) {
    char piece[PIECE];
    int64_t got = said->fd < 0 ? 0 : gx_pipe_read(said->fd, piece, sizeof piece);
    if (got > 0) take_piece(said, (gale_str){ piece, (size_t)got });
    return got > 0;
}

bool gx_exec_said_read(gx_exec_said *said) {
    bool more = true;
    for (int i = 0; more && i < AT_ONCE; i++) more = read_piece(said);
    return more;
}

/* At its end nothing more is waited for: its descriptor would be readable for ever. */
static int told(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    gx_exec_said *said = user;
    bool more = gx_exec_said_read(said);
    if (more || !(events & GALE_WATCH_HANGUP)) return 0;
    said->watch = 0;
    return gale_watch_free(out, watch);
}

int gx_exec_said_begin(gx_exec_said *said, gale_collector *out, int fd) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    said->fd = fd;
    said->size = 0;
    said->last_size = 0;
    options.fd = fd;
    options.events = GALE_WATCH_READ;
    options.always = true;
    options.call = told;
    options.user = said;
    int rc = gale_watch_new(out, &options, &said->watch);
    if (rc < 0) shut(said);
    return rc;
}

void gx_exec_said_end(gx_exec_said *said, gale_collector *out) {
    if (said->watch) (void)gale_watch_free(out, said->watch);
    said->watch = 0;
    for (int i = 0; i < LEFT && read_piece(said); i++) {
    }
    take_line(said);
    tell_left_out(said);
    shut(said);
}
