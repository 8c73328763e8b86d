/* Entries of streams in what XREADGROUP and XAUTOCLAIM answer, one after the other. Threads: any. Owner: the reply's. */
#ifndef GALE_CONNECT_REDIS_ENTRIES_H
#define GALE_CONNECT_REDIS_ENTRIES_H

#include "connect/redis/reply.h"

typedef struct redis_entry {
    gale_str stream;           /* its key; empty where only one was asked for (XAUTOCLAIM) */
    gale_str id;               /* "1526985054069-0": digits, '-', digits */
    const redis_reply *fields; /* names and values, all texts; NULL: the entry was deleted meanwhile */
} redis_entry;

typedef struct redis_entries {
    const redis_reply *streams; /* those that come next; NULL: none */
    size_t stream_count;
    gale_str stream;
    const redis_reply *entries; /* those that come next of `stream` */
    size_t count;
} redis_entries;

/* GALE_DAMAGED: it is no such answer. None at all is no mistake. */
int redis_entries_read(redis_entries *entries, const redis_reply *reply);

/* `*ret_cursor` is where the next XAUTOCLAIM goes on; "0-0": all was seen. */
int redis_entries_claimed(redis_entries *entries, const redis_reply *reply, gale_str *ret_cursor);

/* 1: the next one; 0: there is none; GALE_DAMAGED. */
int redis_entries_next(redis_entries *entries, redis_entry *ret_entry);

#endif
