/* Parts of the connector rabbitmq that need no server. */
#include "connect/rabbitmq/address.h"
#include "connect/rabbitmq/flight.h"
#include "connect/rabbitmq/frames.h"
#include "connect/rabbitmq/table.h"
#include "connect/rabbitmq/tags.h"
#include "connect/rabbitmq/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* A number below `bound`, of a seed. */
static uint32_t draw(uint64_t *seed, uint32_t bound) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % bound);
}

/* --- Addresses -------------------------------------------------------------------------------------------------------- */

static void an_address_has_a_host_a_port_and_a_virtual_host(void **state) {
    static const struct {
        const char *text, *host, *vhost;
        unsigned port;
        bool tls;
    } rows[] = {
        { "amqp://rabbit1", "rabbit1", "/", 5672, false },
        { "AMQPS://rabbit1/", "rabbit1", "/", 5671, true },
        { "amqp://rabbit1:65535/shop", "rabbit1", "shop", 65535, false },
        { "amqp://[::1]:5673/%2Fa%25", "::1", "/a%", 5673, false },
        { "amqp://[::1]", "::1", "/", 5672, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rmq_address address;
        assert_int_equal(rmq_address_read(rows[i].text, &address, NULL), 0);
        assert_string_equal(address.host, rows[i].host);
        assert_string_equal(address.vhost, rows[i].vhost);
        assert_int_equal(address.port, rows[i].port);
        assert_int_equal(address.tls, rows[i].tls);
    }
}

static void what_is_no_address_is_refused_and_nothing_is_written(void **state) {
    static const char *const texts[] = { "",
                                         "amqp:/a",
                                         "http://a",
                                         "amqp://",
                                         "amqp://:5672",
                                         "amqp://a:",
                                         "amqp://a:0",
                                         "amqp://a:65536",
                                         "amqp://a:1x",
                                         "amqp://u:p@a",
                                         "amqp://[::1",
                                         "amqp://[::1]x",
                                         "amqp://a/b/c",
                                         "amqp://a/%",
                                         "amqp://a/%4",
                                         "amqp://a/%zz",
                                         "amqp://a/%00",
                                         "amqp://a?b" };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rmq_address address = { .port = 7 };
        gale_error error = GALE_ERROR_INIT;
        assert_int_equal(rmq_address_read(texts[i], &address, &error), GALE_INVALID);
        assert_memory_equal(error.text, "url: ", 5);
        assert_int_equal(address.port, 7);
    }
}

static void routing_keys_are_checked_before_they_are_used(void **state) {
    static const char *const bad[] = { "{", "}", "a{b", "a}b", "{}", "{a{b}}" };
    (void)state;
    assert_int_equal(rmq_template_check("a.{b}.{c}", NULL), 0);
    assert_int_equal(rmq_template_check("", NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(rmq_template_check(bad[i], NULL), GALE_INVALID);
}

/* --- Tags ------------------------------------------------------------------------------------------------------------- */

enum { TAGS = 2000 };

typedef struct broker {
    bool open[TAGS + 1], done[TAGS + 1], acked[TAGS + 1];
    size_t answers;
} broker;

/* As a broker does: an ack of what is not open is an error, and so is one of what is not done. */
static void hear_ack(void *user, uint64_t tag, bool multiple) {
    broker *b = user;
    b->answers++;
    assert_true(b->open[tag]);
    for (uint64_t i = multiple ? 1 : tag; i <= tag; i++) {
        if (!b->open[i]) continue;
        assert_true(b->done[i]);
        b->open[i] = false;
        b->acked[i] = true;
    }
}

static void what_is_done_is_acked_once_and_nothing_else_is(void **state) {
    static broker b;
    uint64_t seed = 7;
    (void)state;
    for (int turn = 0; turn < 50; turn++) {
        rmq_tags tags;
        uint32_t places[TAGS + 1];
        size_t rejected = 0;
        rmq_tags_init(&tags);
        b = (broker){ .answers = 0 };
        uint64_t next = 1;
        while (next <= TAGS || tags.count) {
            uint64_t tag = next > 1 ? 1 + draw(&seed, (uint32_t)next - 1) : 0, taken;
            if (next <= TAGS && draw(&seed, 2)) {
                assert_int_equal(rmq_tags_add(&tags, next, &places[next]), 0);
                b.open[next++] = true;
            } else if (tag && b.open[tag] && !b.done[tag] && !draw(&seed, 8)) {
                assert_true(rmq_tags_take(&tags, places[tag], &taken));
                assert_int_equal(taken, tag);
                b.open[tag] = false;
                rejected++;
            } else if (tag && b.open[tag] && !b.done[tag]) {
                assert_true(rmq_tags_done(&tags, places[tag]));
                assert_false(rmq_tags_done(&tags, places[tag]));
                b.done[tag] = true;
            }
            if (!draw(&seed, 5)) rmq_tags_flush(&tags, hear_ack, &b);
        }
        rmq_tags_flush(&tags, hear_ack, &b);
        size_t acked = 0;
        for (uint64_t i = 1; i <= TAGS; i++) acked += b.acked[i];
        assert_int_equal(acked + rejected, TAGS);
        rmq_tags_free(&tags);
    }
}

static void what_is_done_in_order_is_acked_with_one_answer(void **state) {
    static broker b;
    rmq_tags tags;
    uint32_t places[101];
    (void)state;
    b = (broker){ .answers = 0 };
    rmq_tags_init(&tags);
    for (uint64_t i = 1; i <= 100; i++) {
        assert_int_equal(rmq_tags_add(&tags, i, &places[i]), 0);
        b.open[i] = true;
    }
    for (uint64_t i = 100; i >= 1; i--) b.done[i] = rmq_tags_done(&tags, places[i]);
    rmq_tags_flush(&tags, hear_ack, &b);
    assert_int_equal(b.answers, 1);
    assert_int_equal(tags.count, 0);
    rmq_tags_free(&tags);
}

static void a_session_that_is_over_has_no_places(void **state) {
    rmq_tags tags;
    uint32_t place;
    uint64_t tag;
    (void)state;
    rmq_tags_init(&tags);
    assert_int_equal(rmq_tags_add(&tags, 1, &place), 0);
    rmq_tags_clear(&tags);
    assert_false(rmq_tags_done(&tags, place));
    assert_false(rmq_tags_take(&tags, place, &tag));
    assert_false(rmq_tags_done(&tags, UINT32_MAX));
    rmq_tags_free(&tags);
}

/* --- What is out ------------------------------------------------------------------------------------------------------ */

typedef struct outcome {
    rmq_flight *flight;
    uint64_t sum;
    size_t count;
    bool again;
} outcome;

static void settle(void *user, rmq_flying *one) {
    outcome *o = user;
    o->count++;
    o->sum += one->name.number;
    if (o->again)
        one->state = RMQ_AGAIN;
    else
        rmq_flight_remove(o->flight, one);
}

static void add_all(rmq_flight *f, uint64_t count, bool waits) {
    for (uint64_t i = 1; i <= count; i++) assert_non_null(rmq_flight_add(f, (rmq_name){ 1, i }, 10, waits));
}

static size_t send_all(rmq_flight *f) {
    rmq_flying *one;
    size_t count = 0;
    for (uint64_t last = 0; (one = rmq_flight_next(f)); count++) {
        assert_true(one->name.number > last);
        last = one->name.number;
        assert_int_equal(rmq_flight_out(f, one), 0);
    }
    return count;
}

static void what_a_broker_confirms_is_what_was_sent_under_that_tag(void **state) {
    rmq_flight f;
    outcome o = { .flight = &f };
    (void)state;
    rmq_flight_init(&f);
    add_all(&f, 1000, false);
    assert_int_equal(send_all(&f), 1000);
    rmq_flight_confirm(&f, 7, false, settle, &o);
    rmq_flight_confirm(&f, 7, false, settle, &o);
    rmq_flight_confirm(&f, 1001, false, settle, &o);
    assert_int_equal(o.sum, 7);
    rmq_flight_confirm(&f, 10, true, settle, &o);
    assert_int_equal(o.sum, 55);
    rmq_flight_confirm(&f, 5, true, settle, &o);
    rmq_flight_confirm(&f, 0, true, settle, &o);
    assert_int_equal(o.sum, 1000 * 1001 / 2);
    assert_int_equal(f.count, 0);
    rmq_flight_free(&f);
}

static void what_was_out_when_a_connection_is_lost_goes_again_in_order(void **state) {
    rmq_flight f;
    outcome o = { .flight = &f };
    (void)state;
    rmq_flight_init(&f);
    add_all(&f, 100, false);
    (void)send_all(&f);
    rmq_flight_confirm(&f, 50, false, settle, &o);
    rmq_flight_lose(&f);
    rmq_flight_confirm(&f, 1, true, settle, &o);
    assert_int_equal(o.count, 1);
    assert_int_equal(send_all(&f), 99);
    rmq_flight_confirm(&f, 50, true, settle, &o); /* the fiftieth is the fifty-first message now */
    assert_int_equal(o.sum, 51 * 52 / 2);
    rmq_flight_free(&f);
}

static void what_is_refused_goes_again_after_a_pause_and_not_before(void **state) {
    rmq_flight f;
    outcome o = { .flight = &f, .again = true };
    (void)state;
    rmq_flight_init(&f);
    add_all(&f, 10, false);
    (void)send_all(&f);
    rmq_flight_confirm(&f, 3, true, settle, &o);
    assert_int_equal(send_all(&f), 0);
    rmq_flight_again(&f);
    assert_int_equal(send_all(&f), 3);
    o = (outcome){ .flight = &f };
    rmq_flight_confirm(&f, 13, true, settle, &o);
    assert_int_equal(o.sum, 55);
    rmq_flight_free(&f);
}

static void what_waits_for_a_checkpoint_goes_when_that_lasts(void **state) {
    rmq_flight f;
    (void)state;
    rmq_flight_init(&f);
    add_all(&f, 3, true);
    rmq_flight_save(&f, 5);
    add_all(&f, 2, true);
    rmq_flight_kept(&f, 4);
    assert_int_equal(send_all(&f), 0);
    assert_int_equal(f.waiting, 5);
    rmq_flight_kept(&f, 5);
    assert_int_equal(send_all(&f), 3);
    assert_int_equal(f.waiting_bytes, 20);
    rmq_flight_kept(&f, UINT64_MAX);
    assert_int_equal(send_all(&f), 2);
    rmq_flight_free(&f);
}

/* --- Tables ----------------------------------------------------------------------------------------------------------- */

static amqp_table_entry_t entry_of(const char *name, amqp_field_value_t value) {
    return (amqp_table_entry_t){ amqp_cstring_bytes(name), value };
}

static void of_two_headers_of_one_name_the_last_counts(void **state) {
    amqp_table_entry_t entries[] = {
        entry_of("a", (amqp_field_value_t){ .kind = AMQP_FIELD_KIND_I32, .value.i32 = -1 }),
        entry_of("b", (amqp_field_value_t){ .kind = AMQP_FIELD_KIND_U64, .value.u64 = UINT64_MAX }),
        entry_of("a", (amqp_field_value_t){ .kind = AMQP_FIELD_KIND_DECIMAL, .value.decimal = { 2, 125 } }),
        entry_of("\xff", (amqp_field_value_t){ .kind = AMQP_FIELD_KIND_VOID }),
    };
    const amqp_table_t table = { 4, entries };
    rmq_arena arena = { .left = 1 << 16 };
    gale_value map, value;
    gale_str key;
    (void)state;
    assert_int_equal(rmq_table_read(&table, &arena, &map), 0);
    assert_int_equal(map.size, 2);
    assert_true(gale_map_at(&map, 0, &key, &value));
    assert_true(key.size == 1 && *key.data == 'a' && value.type == GALE_TYPE_F64 && value.as.f64 == 1.25);
    assert_true(gale_map_at(&map, 1, &key, &value));
    assert_string_equal(value.as.string, "18446744073709551615");
    assert_int_equal(rmq_table_number(&table, "a", 7), -1);
    assert_int_equal(rmq_table_number(&table, "b", 7), 7);
    rmq_arena_free(&arena);
}

static void a_table_that_does_not_fit_is_refused(void **state) {
    static amqp_table_entry_t many[RMQ_TABLE_VALUES];
    amqp_table_entry_t deep[RMQ_TABLE_DEPTH + 2];
    rmq_arena arena = { .left = 1 << 20 }, small = { .left = 100 };
    gale_value map;
    (void)state;
    for (size_t i = 0; i < RMQ_TABLE_VALUES; i++)
        many[i] = entry_of("x", (amqp_field_value_t){ .kind = AMQP_FIELD_KIND_VOID });
    const amqp_table_t wide = { RMQ_TABLE_VALUES, many }, fits = { RMQ_TABLE_VALUES / 2, many };
    assert_int_equal(rmq_table_read(&wide, &arena, &map), GALE_TOO_LARGE);
    assert_int_equal(rmq_table_read(&fits, &arena, &map), 0);
    assert_int_equal(rmq_table_read(&fits, &small, &map), GALE_TOO_LARGE);
    amqp_table_t table = { 0, NULL };
    for (size_t i = 0; i < RMQ_TABLE_DEPTH + 2; i++) {
        deep[i] = entry_of("x", (amqp_field_value_t){ .kind = AMQP_FIELD_KIND_TABLE, .value.table = table });
        table = (amqp_table_t){ 1, &deep[i] };
        if (i == RMQ_TABLE_DEPTH - 1) assert_int_equal(rmq_table_read(&table, &arena, &map), 0);
    }
    assert_int_equal(rmq_table_read(&table, &arena, &map), GALE_TOO_LARGE);
    rmq_arena_free(&arena);
    rmq_arena_free(&small);
}

/* --- Frames ----------------------------------------------------------------------------------------------------------- */

static bool add_frames(rmq_frames *frames, const char *key, size_t size) {
    static char body[RMQ_FRAMES_SIZE + 1];
    amqp_basic_publish_t method = { .exchange = amqp_cstring_bytes("e"), .routing_key = amqp_cstring_bytes(key) };
    amqp_basic_properties_t properties = { ._flags = AMQP_BASIC_MESSAGE_ID_FLAG };
    properties.message_id = amqp_cstring_bytes("id");
    memset(body, 'x', sizeof body);
    return rmq_frames_add(frames, 1, &method, &properties, (amqp_bytes_t){ size, body });
}

/* The next frame of what stands there, as librabbitmq reads it. */
static amqp_frame_t read_frame(amqp_connection_state_t connection, amqp_bytes_t *bytes) {
    amqp_frame_t frame = { 0 };
    while (!frame.frame_type && bytes->len) {
        int taken = amqp_handle_input(connection, *bytes, &frame);
        assert_true(taken > 0);
        *bytes = (amqp_bytes_t){ bytes->len - (size_t)taken, (char *)bytes->bytes + taken };
    }
    return frame;
}

static void frames_that_are_gathered_are_what_librabbitmq_reads(void **state) {
    rmq_frames frames = { .largest = 4096 };
    amqp_connection_state_t connection = amqp_new_connection();
    (void)state;
    assert_true(add_frames(&frames, "one", 3) && add_frames(&frames, "two", 0) && add_frames(&frames, "three", 4088));
    amqp_bytes_t bytes = { frames.used, frames.data };
    static const struct {
        const char *key;
        size_t size;
    } rows[] = { { "one", 3 }, { "two", 0 }, { "three", 4088 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        amqp_frame_t frame = read_frame(connection, &bytes);
        assert_int_equal(frame.payload.method.id, AMQP_BASIC_PUBLISH_METHOD);
        const amqp_basic_publish_t *method = frame.payload.method.decoded;
        assert_int_equal(method->routing_key.len, strlen(rows[i].key));
        assert_memory_equal(method->routing_key.bytes, rows[i].key, strlen(rows[i].key));
        frame = read_frame(connection, &bytes);
        assert_int_equal(frame.frame_type, AMQP_FRAME_HEADER);
        assert_int_equal(frame.payload.properties.body_size, rows[i].size);
        assert_memory_equal(((amqp_basic_properties_t *)frame.payload.properties.decoded)->message_id.bytes, "id", 2);
        if (!rows[i].size) continue;
        frame = read_frame(connection, &bytes);
        assert_int_equal(frame.frame_type, AMQP_FRAME_BODY);
        assert_int_equal(frame.payload.body_fragment.len, rows[i].size);
    }
    assert_int_equal(bytes.len, 0);
    amqp_destroy_connection(connection);
    rmq_frames_free(&frames);
}

static void what_has_no_room_leaves_what_was_gathered_as_it_was(void **state) {
    rmq_frames frames = { .largest = 4096 };
    (void)state;
    assert_false(add_frames(&frames, "k", 4089)); /* more than a frame of the broker's */
    assert_int_equal(frames.used, 0);
    while (add_frames(&frames, "k", 1000)) continue;
    size_t used = frames.used;
    assert_in_range(used, RMQ_FRAMES_SIZE - 1100, RMQ_FRAMES_SIZE);
    assert_false(add_frames(&frames, "k", 1000));
    assert_int_equal(frames.used, used);
    frames.largest = RMQ_FRAMES_SIZE * 2;
    frames.used = 0;
    assert_false(add_frames(&frames, "k", RMQ_FRAMES_SIZE));
    rmq_frames_free(&frames);
}

static void who_takes_nothing_and_says_nothing_is_lost(void **state) {
    rmq_frames frames = { .largest = 131072 };
    int ends[2], rc = AMQP_STATUS_OK;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    for (int i = 0; i < 100 && rc == AMQP_STATUS_OK; i++) {
        assert_true(add_frames(&frames, "k", 50000));
        rc = rmq_frames_write(&frames, ends[0], 20);
    }
    assert_int_equal(rc, AMQP_STATUS_HEARTBEAT_TIMEOUT);
    close(ends[1]);
    assert_true(add_frames(&frames, "k", 10));
    assert_int_equal(rmq_frames_write(&frames, ends[0], 20), AMQP_STATUS_SOCKET_ERROR);
    assert_int_equal(frames.used, 0);
    close(ends[0]);
    rmq_frames_free(&frames);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_has_a_host_a_port_and_a_virtual_host),
        cmocka_unit_test(what_is_no_address_is_refused_and_nothing_is_written),
        cmocka_unit_test(routing_keys_are_checked_before_they_are_used),
        cmocka_unit_test(what_is_done_is_acked_once_and_nothing_else_is),
        cmocka_unit_test(what_is_done_in_order_is_acked_with_one_answer),
        cmocka_unit_test(a_session_that_is_over_has_no_places),
        cmocka_unit_test(what_a_broker_confirms_is_what_was_sent_under_that_tag),
        cmocka_unit_test(what_was_out_when_a_connection_is_lost_goes_again_in_order),
        cmocka_unit_test(what_is_refused_goes_again_after_a_pause_and_not_before),
        cmocka_unit_test(what_waits_for_a_checkpoint_goes_when_that_lasts),
        cmocka_unit_test(of_two_headers_of_one_name_the_last_counts),
        cmocka_unit_test(a_table_that_does_not_fit_is_refused),
        cmocka_unit_test(frames_that_are_gathered_are_what_librabbitmq_reads),
        cmocka_unit_test(what_has_no_room_leaves_what_was_gathered_as_it_was),
        cmocka_unit_test(who_takes_nothing_and_says_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
