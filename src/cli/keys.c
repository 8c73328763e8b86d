#include "cli/keys.h"

#include "base/os/time.h"
#include "cli/signals.h"

#include <gale/clock.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { SLICE = 50 /* ms */ };

static struct termios before;
static bool begun;

/* A process in the background must not touch its terminal: it would be stopped. */
void gx_keys_begin(void) {
    if (begun || !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp()) return;
    if (tcgetattr(STDIN_FILENO, &before) != 0) return;
    struct termios keys = before;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    gx_signals_restore_by(gx_keys_end);
    begun = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
}

void gx_keys_end(void) {
    if (begun) (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
    begun = false;
}

gx_key gx_keys_read(const char *bytes, size_t size) {
    bool arrow = size >= 3 && bytes[0] == '\x1b' && (bytes[1] == '[' || bytes[1] == 'O');
    if (!size) return GX_KEY_NONE;
    if (bytes[0] == 'q' || bytes[0] == 'Q' || bytes[0] == 4) return GX_KEY_QUIT; /* 4: Ctrl-D */
    if (bytes[0] == 'k' || (arrow && bytes[2] == 'A')) return GX_KEY_UP;
    if (bytes[0] == 'j' || (arrow && bytes[2] == 'B')) return GX_KEY_DOWN;
    return GX_KEY_OTHER;
}

static gx_key take(void) {
    char bytes[16];
    ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
    return size > 0 ? gx_keys_read(bytes, (size_t)size) : GX_KEY_QUIT; /* the terminal has gone */
}

gx_key gx_keys_wait(int64_t nanoseconds, int *ret_signal) {
    int64_t until = gx_os_monotonic() + nanoseconds;
    for (int64_t left = nanoseconds; left > 0; left = until - gx_os_monotonic()) {
        struct pollfd input = { .fd = begun ? STDIN_FILENO : -1, .events = POLLIN };
        int slice = left < SLICE * GALE_MILLISECOND ? (int)(left / GALE_MILLISECOND) + 1 : SLICE;
        if (poll(&input, 1, slice) > 0) return take();
        *ret_signal = gx_signals_asked();
        if (*ret_signal) return GX_KEY_NONE;
    }
    return GX_KEY_NONE;
}
