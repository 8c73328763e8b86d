/* Pipes to and from child processes, whose ends do not block.
 *
 * What:    a write to a pipe that nobody reads any more raises SIGPIPE, which ends a process that has not said otherwise. What a
 *          process does with a signal is not a library's to change, so the signal is kept from the thread that writes, and what it has
 *          raised is taken away again.
 * Threads: any. Owner: the caller. Errors: errno. */
#ifndef GX_BASE_OS_PIPE_H
#define GX_BASE_OS_PIPE_H

#include "base/port.h"

/* How many bytes were taken; -1 and errno: EAGAIN, there is no room; EPIPE, the reader has gone. */
int64_t gx_pipe_write(int fd, const void *bytes, size_t size);

/* How many bytes were read; 0 at the end; -1 and errno: EAGAIN, there are none now. */
int64_t gx_pipe_read(int fd, void *bytes, size_t size);

/* How many of those that were written nobody has read yet, asked at either end; -1: the system does not say. */
int64_t gx_pipe_unread(int fd);

#endif
