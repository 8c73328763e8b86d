#include "serve/door.h"

#include "base/encoding.h"
#include "base/os/entropy.h"
#include "base/os/file.h"
#include "base/os/folder.h"
#include "base/str.h"
#include "base/utf8.h"

#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_TRIES = 10 };

/* --- An address ---------------------------------------------------------------------------------------------------- */

static bool is_loopback(const gx_address *address) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        unsigned char bytes[sizeof address->bytes];
    } a;
    memcpy(a.bytes, address->bytes, sizeof a.bytes);
    if (a.any.sa_family == AF_INET) return ntohl(a.v4.sin_addr.s_addr) >> 24 == 127;
    return a.any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr);
}

/* What --listen leaves out: this machine, and a port that is always the same. */
static bool complete(const char *where, char *to, size_t room) {
    const char *colon = strrchr(where, ':');
    bool v6 = where[0] == '[', has_port = colon && !(v6 && strchr(colon, ']'));
    gale_str host = gx_str(where);
    uint64_t number;
    if (gx_str_number(host, 10, 65535, &number)) return snprintf(to, room, "127.0.0.1:%s", where) < (int)room;
    if (has_port) host.size = (size_t)(colon - where);
    if (!host.size || gx_str_is(host, "localhost")) host = gx_str("127.0.0.1");
    if (has_port) return snprintf(to, room, "%.*s%s", GX_STR(host), colon) < (int)room;
    return snprintf(to, room, "%.*s:%d", GX_STR(host), GX_DOOR_PORT) < (int)room;
}

int gx_door_open(const char *where, gx_door *ret_door, gale_error *error) {
    char text[300];
    gx_addresses found;
    gx_door door = GX_DOOR_CLOSED;
    if (!complete(where, text, sizeof text))
        return gale_error_set(error, GALE_INVALID, "--listen: the address is too long");
    int rc = gx_address_find(text, true, GX_SOCKET_STREAM, &found, error);
    if (rc >= 0) rc = gx_socket_listen_first(&found, GX_SOCKET_STREAM, false, &door.fd, &door.address, error);
    if (rc < 0) return rc;
    gx_socket_name(door.fd, &door.address);
    door.loopback = is_loopback(&door.address);
    gx_address_text(&door.address, door.text);
    *ret_door = door;
    return 0;
}

/* --- A socket in the owner's folder ---------------------------------------------------------------------------------- */

bool gx_door_folder(char ret_path[GX_DOOR_PATH]) {
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    int size = runtime && *runtime == '/' ? snprintf(ret_path, GX_DOOR_PATH, "%s/gale", runtime)
                                          : snprintf(ret_path, GX_DOOR_PATH, "/tmp/gale-%u", (unsigned)geteuid());
    return size < GX_DOOR_PATH;
}

int gx_door_too_long(gale_error *error) {
    return gale_error_set(
        error, GALE_INVALID,
        "the path of the folder for sockets, $XDG_RUNTIME_DIR/gale, is too long for a socket (%d bytes "
        "with its name); set XDG_RUNTIME_DIR to a shorter one",
        GX_DOOR_PATH - 1);
}

/* As much of the name as there is room for, whole characters. */
static bool socket_path(const char *folder, const char *name, char path[GX_DOOR_PATH]) {
    char ending[32];
    size_t size = strlen(folder), tail = (size_t)snprintf(ending, sizeof ending, ".%ld.sock", (long)getpid());
    if (size + tail + 10 > GX_DOOR_PATH) return false;
    memcpy(path, folder, size);
    path[size++] = '/';
    gx_utf8_copy(path + size, GX_DOOR_PATH - size - tail, name);
    memcpy(path + strlen(path), ending, tail + 1);
    return true;
}

/* The last run that closes its door takes the folder away, perhaps between the two calls. */
static int listen_in(const char *folder, gx_door *door, gale_error *error) {
    int rc = 0;
    for (int i = 0; i < FOLDER_TRIES; i++) {
        if (error) *error = (gale_error)GALE_ERROR_INIT;
        rc = gx_folder_make_own(folder, error);
        if (rc >= 0) rc = gx_socket_listen(&door->address, GX_SOCKET_STREAM, false, &door->fd, error);
        if (rc >= 0 || access(folder, F_OK) == 0) break;
    }
    return rc;
}

int gx_door_open_control(const char *name, gx_door *ret_door, gale_error *error) {
    char folder[GX_DOOR_PATH], path[GX_DOOR_PATH];
    gx_door door = GX_DOOR_CLOSED;
    if (!gx_door_folder(folder) || !socket_path(folder, name, path)) return gx_door_too_long(error);
    int rc = gx_address_path(path, &door.address, error);
    if (rc >= 0) rc = listen_in(folder, &door, error);
    if (rc < 0) return rc;
    chmod(path, 0600); /* the folder keeps others out already */
    door.loopback = true;
    snprintf(door.text, sizeof door.text, "%s", path);
    *ret_door = door;
    return 0;
}

void gx_door_close(gx_door *door) {
    char folder[GX_DOOR_PATH];
    if (door->fd >= 0) gx_socket_end(door->fd, &door->address);
    if (door->fd >= 0 && *door->text == '/' && gx_door_folder(folder))
        rmdir(folder); /* unless another's socket is in it */
    door->fd = -1;
}

/* --- Tokens ---------------------------------------------------------------------------------------------------------- */

int gx_door_make_token(char ret_token[GX_DOOR_TOKEN], gale_error *error) {
    unsigned char secret[24];
    if (!gx_os_secret(secret, sizeof secret))
        return gale_error_set(error, GALE_IO, "the system has no random numbers for a token");
    for (size_t i = 0; i < sizeof secret; i++) snprintf(ret_token + 2 * i, 3, "%02x", secret[i]);
    return 0;
}

static bool is_token(gale_str text) {
    if (text.size < 16 || text.size > 500) return false;
    for (size_t i = 0; i < text.size; i++)
        if (!isalnum((unsigned char)text.data[i]) && !strchr("-._~+/=", text.data[i])) return false;
    return true;
}

int gx_door_read_token(const char *path, char ret_token[GX_DOOR_TOKEN], gale_error *error) {
    char *bytes;
    size_t size;
    int rc = gx_file_read_all(path, 4096, &bytes, &size, error);
    if (rc < 0) return rc;
    gale_str line = gx_str_trim(gx_encoding_text((gale_str){ bytes, strcspn(bytes, "\r\n") }));
    if (is_token(line))
        snprintf(ret_token, GX_DOOR_TOKEN, "%.*s", GX_STR(line));
    else
        rc = gale_error_set(error, GALE_INVALID,
                            "'%s' has no token in its first line: 16 to 500 letters, digits and -._~+/=", path);
    free(bytes);
    return rc;
}
