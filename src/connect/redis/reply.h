/* What a server answers, read by hiredis's reader into memory of its own that is taken and forgotten as a whole.
 *
 *      redis_reader_feed --> redis_reader_next: 0, more is needed ... 1, a reply, good until the next call
 *                                      '--> GALE_DAMAGED, GALE_TOO_LARGE: nothing more of this connection can be read
 *
 * What:    bytes of a server are not trusted: a reply has at most `most` bytes, with what its lists take, whatever its head promises; lists are nested as deep as
 *          hiredis has them (seven); nothing is taken for a length that has not come, but for a list's places, which are of `most`.
 * Threads: one. Owner: redis_reader_free. */
#ifndef GALE_CONNECT_REDIS_REPLY_H
#define GALE_CONNECT_REDIS_REPLY_H

#include <gale/error.h>
#include <hiredis/read.h>

typedef enum redis_kind { REDIS_NIL, REDIS_TEXT, REDIS_STATUS, REDIS_WRONG, REDIS_NUMBER, REDIS_LIST } redis_kind;

typedef struct redis_reply {
    redis_kind kind;
    gale_str text; /* of TEXT, STATUS and WRONG (what an error says); ended by a NUL, too */
    int64_t number;
    struct redis_reply *items; /* of LIST */
    size_t count;
} redis_reply;

typedef struct redis_block redis_block;

typedef struct redis_reader {
    redisReader *reader;
    size_t most, used;
    bool too_large, spent; /* spent: the last reply was given out */
    redis_block *blocks;   /* of the reply that is being read; the first stays */
    redis_reply root;
} redis_reader;

/* GALE_NO_MEMORY. */
int redis_reader_open(redis_reader *reader, size_t most);
void redis_reader_free(redis_reader *reader);

/* Bytes of another connection come. GALE_NO_MEMORY. */
int redis_reader_reset(redis_reader *reader);

/* GALE_TOO_LARGE, GALE_NO_MEMORY. */
int redis_reader_feed(redis_reader *reader, const char *bytes, size_t size);

/* 1 with a reply; 0; or what is wrong, with GALE_NO_MEMORY. */
int redis_reader_next(redis_reader *reader, const redis_reply **ret_reply);

/* Is it this status, "OK"? */
bool redis_reply_says(const redis_reply *reply, const char *status);

/* Is it an error of this kind, "WRONGTYPE"? */
bool redis_reply_is_wrong(const redis_reply *reply, const char *kind);

/* Is it an error that is the command's own fault, and so of what it was made of: a key of another type, a value that is no number? All else (memory that is
 * out, a replica, a right that is missing) is of the server, and passes, or is mended there. */
bool redis_reply_refuses(const redis_reply *reply);

#endif
