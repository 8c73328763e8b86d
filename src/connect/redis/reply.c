#include "connect/redis/reply.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 << 10 };

struct redis_block {
    redis_block *next;
    size_t size, used;
    alignas(16) char bytes[];
};

/* --- Memory of a reply ---------------------------------------------------------------------------------------------------- */

static void *refuse(redis_reader *reader) {
    reader->too_large = true;
    return NULL;
}

/* NULL: it would be too much, or memory is out. */
static void *take(redis_reader *reader, size_t size) {
    redis_block *block = reader->blocks;
    size = (size + 15) & ~(size_t)15;
    if (size > reader->most || reader->used > reader->most - size) return refuse(reader);
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK ? size : BLOCK;
        block = malloc(sizeof *block + room);
        if (!block) return NULL;
        *block = (redis_block){ .next = reader->blocks, .size = room };
        reader->blocks = block;
    }
    void *bytes = block->bytes + block->used;
    block->used += size;
    reader->used += size;
    return bytes;
}

/* All but one block of the usual size, which the next reply begins with. */
static void forget(redis_reader *reader) {
    redis_block *kept = NULL;
    for (redis_block *block = reader->blocks, *next; block; block = next) {
        next = block->next;
        if (!kept && block->size == BLOCK) {
            kept = block;
            kept->next = NULL;
            kept->used = 0;
        } else
            free(block);
    }
    reader->blocks = kept;
    reader->used = 0;
    reader->spent = false;
}

/* --- What hiredis makes of it ----------------------------------------------------------------------------------------------- */

/* Where it goes: a place of the list that it is in, or the whole reply. */
static redis_reply *place_of(const redisReadTask *task) {
    redis_reader *reader = task->privdata;
    redis_reply *list = task->parent ? task->parent->obj : NULL;
    return list ? &list->items[task->idx] : &reader->root;
}

static void *create_string(const redisReadTask *task, char *text, size_t size) {
    redis_reply *reply = place_of(task);
    char *copy = take(task->privdata, size + 1);
    if (!copy) return NULL;
    memcpy(copy, text, size);
    copy[size] = '\0';
    redis_kind kind = task->type == REDIS_REPLY_ERROR    ? REDIS_WRONG
                      : task->type == REDIS_REPLY_STATUS ? REDIS_STATUS
                                                         : REDIS_TEXT;
    *reply = (redis_reply){ .kind = kind, .text = { copy, size } };
    return reply;
}

static void *create_list(const redisReadTask *task, int count) {
    redis_reader *reader = task->privdata;
    redis_reply *reply = place_of(task);
    size_t places = count > 0 ? (size_t)count : 0;
    if (places > reader->most / sizeof(redis_reply)) return refuse(reader);
    redis_reply *items = places ? take(reader, places * sizeof *items) : NULL;
    if (places && !items) return NULL;
    for (size_t i = 0; i < places; i++) items[i] = (redis_reply){ .kind = REDIS_NIL };
    *reply = (redis_reply){ .kind = REDIS_LIST, .items = items, .count = places };
    return reply;
}

static void *create_number(const redisReadTask *task, long long number) {
    redis_reply *reply = place_of(task);
    *reply = (redis_reply){ .kind = REDIS_NUMBER, .number = number };
    return reply;
}

static void *create_nil(const redisReadTask *task) {
    redis_reply *reply = place_of(task);
    *reply = (redis_reply){ .kind = REDIS_NIL };
    return reply;
}

static void free_nothing(void *reply) {
    (void)reply; /* it is of the blocks */
}

static redisReplyObjectFunctions functions = { create_string, create_list, create_number, create_nil, free_nothing };

/* --- Reading ---------------------------------------------------------------------------------------------------------------- */

int redis_reader_reset(redis_reader *reader) {
    if (reader->reader) redisReaderFree(reader->reader);
    reader->reader = redisReaderCreateWithFunctions(&functions);
    forget(reader);
    reader->too_large = false;
    if (!reader->reader) return GALE_NO_MEMORY;
    reader->reader->privdata = reader;
    return 0;
}

int redis_reader_open(redis_reader *reader, size_t most) {
    *reader = (redis_reader){ .most = most };
    return redis_reader_reset(reader);
}

void redis_reader_free(redis_reader *reader) {
    if (reader->reader) redisReaderFree(reader->reader);
    for (redis_block *block = reader->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *reader = (redis_reader){ .reader = NULL };
}

int redis_reader_feed(redis_reader *reader, const char *bytes, size_t size) {
    if (reader->reader->len - reader->reader->pos > reader->most) return GALE_TOO_LARGE;
    return redisReaderFeed(reader->reader, bytes, size) == REDIS_OK ? 0 : GALE_NO_MEMORY;
}

int redis_reader_next(redis_reader *reader, const redis_reply **ret_reply) {
    void *made = NULL;
    if (reader->spent) forget(reader);
    if (redisReaderGetReply(reader->reader, &made) != REDIS_OK) {
        if (reader->too_large) return GALE_TOO_LARGE;
        return reader->reader->err == REDIS_ERR_OOM ? GALE_NO_MEMORY : GALE_DAMAGED;
    }
    if (!made) return 0;
    reader->spent = true;
    *ret_reply = &reader->root;
    return 1;
}

/* --- What it says --------------------------------------------------------------------------------------------------------- */

bool redis_reply_says(const redis_reply *reply, const char *status) {
    return reply->kind == REDIS_STATUS && strcmp(reply->text.data, status) == 0;
}

bool redis_reply_is_wrong(const redis_reply *reply, const char *kind) {
    size_t size = strlen(kind);
    return reply->kind == REDIS_WRONG && strncmp(reply->text.data, kind, size) == 0 &&
           (!reply->text.data[size] || reply->text.data[size] == ' ');
}

/* Of "ERR", which says much, what is of a value; the rest is of who wrote the topology, or of the server. */
bool redis_reply_refuses(const redis_reply *reply) {
    static const char *const of_values[] = { "not an integer",
                                             "not a valid float",
                                             "not a float",
                                             "out of range",
                                             "overflow",
                                             "NaN",
                                             "equal or smaller than",
                                             "exceeds maximum allowed size",
                                             "Invalid stream ID",
                                             "Protocol error" }; /* proto-max-bulk-len: it hangs up behind that */
    if (redis_reply_is_wrong(reply, "WRONGTYPE")) return true;
    for (size_t i = 0; redis_reply_is_wrong(reply, "ERR") && i < sizeof of_values / sizeof *of_values; i++)
        if (strstr(reply->text.data, of_values[i])) return true;
    return false;
}
