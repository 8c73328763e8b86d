/* Where a run is reached: an address for browsers and scrapers, a socket for its owner's other commands. What is listened at, and who may come in.
 *
 * Threads: one at a time. Owner: the caller, who closes what it has opened.
 */
#ifndef GX_SERVE_DOOR_H
#define GX_SERVE_DOOR_H

#include "base/os/socket.h"

enum { GX_DOOR_PATH = 108, GX_DOOR_TOKEN = 512, GX_DOOR_PORT = 8080 };

typedef struct gx_door {
    int fd; /* -1: closed */
    gx_address address;
    bool loopback;              /* nobody of another machine can reach it */
    char text[GX_ADDRESS_TEXT]; /* the address, or the path */
} gx_door;

#define GX_DOOR_CLOSED                                                                                                 \
    { .fd = -1 }

/* Listens at an address as --listen has it: "", "8080", "127.0.0.1", "localhost:0", ":9000" (all of these this machine alone), "[::1]:80",
 * "0.0.0.0:8080", "*:8080" (all of the machine's). Port 0: the system picks one. GALE_INVALID, GALE_IO. */
GALE_MUST_USE int gx_door_open(const char *where, gx_door *ret_door, gale_error *error);

/* Listens at $XDG_RUNTIME_DIR/gale/NAME.PID.sock, or where that is not set at /tmp/gale-UID/NAME.PID.sock; of a long name the
 * beginning. gx_door_close takes the folder away when nothing is left in it. GALE_INVALID: the folder is not ours alone; GALE_IO. */
GALE_MUST_USE int gx_door_open_control(const char *name, gx_door *ret_door, gale_error *error);

/* The folder that those sockets are in. False: the path is too long. */
bool gx_door_folder(char ret_path[GX_DOOR_PATH]);

/* The sentence for that. GALE_INVALID. */
int gx_door_too_long(gale_error *error);

void gx_door_close(gx_door *door);

/* A token that nobody can guess. GALE_IO. */
GALE_MUST_USE int gx_door_make_token(char ret_token[GX_DOOR_TOKEN], gale_error *error);

/* The first line of a file: 16 to 500 letters, digits and any of "-._~+/=". GALE_INVALID, GALE_IO. */
GALE_MUST_USE int gx_door_read_token(const char *path, char ret_token[GX_DOOR_TOKEN], gale_error *error);

#endif
