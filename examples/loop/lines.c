/* A spout that watches a descriptor: it is asked when there is something, and costs nothing until then. */
#include "counting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 64 << 10 }; /* of a line, too: a longer one comes in pieces */

typedef struct lines {
    int fd;
    bool ended;
    size_t size;
    char bytes[ROOM];
} lines;

/* There is something to read: it is noted, and `next` emits it. While the spout may not emit it is not told, so that
 * what has not been read yet waits where it is. */
static int readable(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    lines *l = user;
    (void)events;
    ssize_t got = read(l->fd, l->bytes + l->size, ROOM - l->size);
    if (got > 0) l->size += (size_t)got;
    if (got == 0) l->ended = true;
    if (got < 0 && errno != EAGAIN && errno != EINTR) {
        gale_stop(out, GALE_IO, strerror(errno));
        l->ended = true;
    }
    return l->ended ? gale_watch_free(out, watch) : 0;
}

static int lines_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    gale_watch watch;
    lines *l = calloc(1, sizeof *l);
    (void)context;
    if (!l) return GALE_NO_MEMORY;
    l->fd = *(const int *)user;
    options.fd = l->fd;
    options.events = GALE_WATCH_READ;
    options.call = readable;
    options.user = l;
    (void)fcntl(l->fd, F_SETFL, fcntl(l->fd, F_GETFL) | O_NONBLOCK);
    int rc = gale_watch_new(out, &options, &watch);
    if (rc == GALE_UNSUPPORTED) gale_report(out, "the input is a file, which is always ready: give it by a pipe");
    if (rc < 0)
        free(l);
    else
        *ret_self = l;
    return rc;
}

/* All whole lines that are there. */
static int lines_next(void *self, gale_collector *out, gale_wait *wait) {
    lines *l = self;
    size_t at = 0;
    (void)wait;
    for (char *end; at < l->size; at = (size_t)(end - l->bytes) + 1) {
        end = memchr(l->bytes + at, '\n', l->size - at);
        bool piece = !end && (l->ended || (at == 0 && l->size == ROOM));
        if (!end && !piece) break;
        if (!end) end = l->bytes + l->size;
        gale_value line = gale_string(l->bytes + at, (size_t)(end - l->bytes) - at);
        int rc = gale_emit(out, 0, &line, 1);
        if (rc < 0) return rc;
    }
    if (at > l->size) at = l->size;
    l->size -= at;
    memmove(l->bytes, l->bytes + at, l->size);
    if (at) return GALE_NEXT_EMITTED;
    return l->ended ? GALE_NEXT_DONE : GALE_NEXT_WATCHED;
}

static void lines_close(void *self) {
    free(self);
}

gale_spout lines_spout(const int *fd) {
    static const gale_spout_ops ops = {
        .size = sizeof ops, .name = "lines", .open = lines_open, .next = lines_next, .close = lines_close
    };
    static const gale_output line = { NULL, "line" };
    return (
        gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .user = (void *)fd, .outputs = &line, .output_count = 1 };
}
