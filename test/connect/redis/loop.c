/* What gale is held against: a plain loop on hiredis, as one writes it who wants it fast. usage: loop SOCKET in|out COUNT. `out`: XADD in pipelines of 1000. `in`:
 * XREADGROUP of 500, then XACK of them in one command. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take(redisContext *redis) {
    void *reply = NULL;
    if (redisGetReply(redis, &reply) != REDIS_OK || ((redisReply *)reply)->type == REDIS_REPLY_ERROR) exit(1);
    freeReplyObject(reply);
}

static void write_all(redisContext *redis, long count) {
    for (long n = 0; n < count;) {
        long end = n + 1000 < count ? n + 1000 : count, first = n;
        for (; n < end; n++)
            redisAppendCommand(redis, "XADD out * id %ld name %s amount %g", n, "a name of some length", (double)n / 8);
        for (; first < end; first++) take(redis);
    }
}

static void ack(redisContext *redis, const redisReply *entries) {
    const char *words[504] = { "XACK", "in", "g" };
    size_t count = 3;
    for (size_t i = 0; i < entries->elements; i++) words[count++] = entries->element[i]->element[0]->str;
    redisAppendCommandArgv(redis, (int)count, words, NULL);
    take(redis);
}

static void read_all(redisContext *redis, long count) {
    for (long n = 0; n < count;) {
        redisReply *reply = redisCommand(redis, "XREADGROUP GROUP g c COUNT 500 STREAMS in >");
        if (!reply || reply->type != REDIS_REPLY_ARRAY) exit(1);
        const redisReply *entries = reply->element[0]->element[1];
        n += (long)entries->elements;
        ack(redis, entries);
        freeReplyObject(reply);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    redisContext *redis = redisConnectUnix(argv[1]);
    if (!redis || redis->err) return 1;
    if (strcmp(argv[2], "out") == 0)
        write_all(redis, atol(argv[3]));
    else
        read_all(redis, atol(argv[3]));
    redisFree(redis);
    return 0;
}
