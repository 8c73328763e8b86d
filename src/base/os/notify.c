#include "base/os/notify.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* An abstract name begins with a NUL, and is as long as it is. */
static int make_address(const char *address, struct sockaddr_un *ret_to, socklen_t *ret_size, gale_error *error) {
    size_t size = strlen(address);
    bool abstract = address[0] == '@';
    if ((address[0] != '/' && !abstract) || size < 2)
        return gale_error_set(error, GALE_INVALID, "'%s' is neither a path nor an abstract name (@...)", address);
    if (size >= sizeof ret_to->sun_path)
        return gale_error_set(error, GALE_INVALID, "'%s' is too long for a socket: at most %zu bytes", address,
                              sizeof ret_to->sun_path - 1);
    *ret_to = (struct sockaddr_un){ .sun_family = AF_UNIX };
    memcpy(ret_to->sun_path, address, size);
    if (abstract) ret_to->sun_path[0] = 0;
    *ret_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size + !abstract);
    return 0;
}

int gx_notify_open(gx_notify *notify, const char *address, gale_error *error) {
    struct sockaddr_un to;
    socklen_t size = 0;
    int rc = make_address(address, &to, &size, error);
    if (rc < 0) return rc;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, size) == 0) return notify->fd = fd, 0;
    rc = gale_error_set(error, GALE_IO, "cannot tell '%s': %s", address, strerror(errno));
    if (fd >= 0) close(fd);
    return rc;
}

bool gx_notify_send(const gx_notify *notify, const char *lines) {
    size_t size = strlen(lines);
    return notify->fd >= 0 && send(notify->fd, lines, size, MSG_NOSIGNAL) == (ssize_t)size;
}

void gx_notify_close(gx_notify *notify) {
    if (notify->fd >= 0) close(notify->fd);
    notify->fd = -1;
}
