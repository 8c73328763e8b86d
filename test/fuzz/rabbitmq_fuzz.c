/* Bytes, read as the connector rabbitmq reads them: as an address; as headers of a message, which librabbitmq decodes and the connector makes values of, which are
 * valid and lie in the arena. */
#include "fuzz.h"

#include "connect/rabbitmq/address.h"
#include "connect/rabbitmq/table.h"
#include "connect/rabbitmq/template.h"

#include <stdlib.h>
#include <string.h>

/* By recursion: no deeper than a frame of a broker's has room for, which the connector's thread has a stack for (worker.c). */
enum { MOST = 4096 };

static void read_texts(const uint8_t *data, size_t size) {
    rmq_address address;
    char *text = malloc(size + 1);
    if (!text) return;
    memcpy(text, data, size);
    text[size] = '\0';
    if (rmq_address_read(text, &address, NULL) == 0)
        expect(*address.host && *address.vhost && address.port && memchr(address.host, 0, RMQ_NAME) &&
               memchr(address.vhost, 0, RMQ_NAME));
    (void)rmq_template_check(text, NULL);
    free(text);
}

static void read_table(const uint8_t *data, size_t size) {
    amqp_pool_t pool;
    amqp_table_t table;
    size_t offset = 0;
    rmq_arena arena = { .left = 1 << 20 };
    gale_value map;
    init_amqp_pool(&pool, 4096);
    if (amqp_decode_table((amqp_bytes_t){ size, (void *)data }, &pool, &table, &offset) == 0 && offset <= size) {
        (void)rmq_table_number(&table, "x-delivery-count", -1);
        int rc = rmq_table_read(&table, &arena, &map);
        expect(rc == 0 || rc == GALE_TOO_LARGE);
        if (rc == 0) {
            gale_value_owned *copy = gale_value_copy(&map);
            expect(copy);
            gale_value_owned_free(copy);
        }
    }
    empty_amqp_pool(&pool);
    rmq_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > MOST) size = MOST;
    read_texts(data, size);
    uint8_t *table = malloc(size + 4); /* behind its length */
    if (!table) return 0;
    for (int i = 0; i < 4; i++) table[i] = (uint8_t)(size >> (24 - 8 * i));
    if (size) memcpy(table + 4, data, size);
    read_table(table, size + 4);
    read_table(data, size);
    free(table);
    return 0;
}
