/* Parts of the connector redis that need no server: commands, replies and their bounds, what is open, entries. */
#include "connect/redis/book.h"
#include "connect/redis/command.h"
#include "connect/redis/entries.h"
#include "connect/redis/reply.h"
#include "connect/redis/text.h"
#include "harness/cm.h"
#include "harness/fake_collector.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_text(const redis_text *text, const char *expected) {
    assert_int_equal(text->size, strlen(expected));
    assert_memory_equal(text->data, expected, text->size);
}

/* --- Commands --------------------------------------------------------------------------------------------------------------- */

static void a_command_is_a_list_of_texts_with_their_sizes(void **state) {
    redis_text text = { .data = NULL };
    (void)state;
    redis_text_command(&text, 4);
    redis_text_words(&text, "SET", "key", NULL);
    redis_text_word(&text, "a\r\nb\0", 5);
    redis_text_number(&text, INT64_MIN);
    assert_int_equal(text.size, 60);
    assert_memory_equal(text.data, "*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\na\r\nb\0\r\n$20\r\n-9223372036854775808\r\n",
                        60);
    redis_text_free(&text);
}

static void a_value_is_as_it_stands_in_redis(void **state) {
    static const struct {
        double number;
        const char *text;
    } numbers[] = {
        { 0.1, "0.1" },           { 1e22, "1e+22" }, { 123456789.5, "123456789.5" }, { -0.0, "-0.0" },
        { HUGE_VAL, "Infinity" }, { 3, "3.0" },      { 5e-324, "5e-324" },           { 1.0 / 3, "0.3333333333333333" }
    };
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        redis_text text = { .data = NULL };
        gale_value value = gale_f64(numbers[i].number);
        assert_null(redis_text_value(&text, &value));
        redis_text_add(&text, "", 1);
        assert_true(strtod(text.data, NULL) == numbers[i].number);
        assert_string_equal(text.data, numbers[i].text);
        redis_text_free(&text);
    }
    redis_text text = { .data = NULL };
    const gale_value fine[] = { gale_i64(-7), gale_bool(true), gale_bool(false), gale_text("x"),
                                gale_bytes("\xff", 1) };
    for (size_t i = 0; i < 5; i++) assert_null(redis_text_value(&text, &fine[i]));
    check_text(&text, "-710x\xff");
    const gale_value none[] = { gale_null(), gale_list(NULL, 0), gale_map(NULL, 0), gale_f64(NAN) };
    for (size_t i = 0; i < 4; i++) assert_true(strncmp(redis_text_value(&text, &none[i]), "is ", 3) == 0);
    redis_text_free(&text);
}

/* --- Replies ---------------------------------------------------------------------------------------------------------------- */

static int read_text(redis_reader *reader, const char *bytes, const redis_reply **ret_reply) {
    int rc = redis_reader_feed(reader, bytes, strlen(bytes));
    return rc < 0 ? rc : redis_reader_next(reader, ret_reply);
}

static void replies_come_one_after_the_other_in_pieces_of_any_size(void **state) {
    static const char all[] = "+OK\r\n*3\r\n:-12\r\n$-1\r\n*2\r\n$3\r\na\0b\r\n-ERR no\r\n*0\r\n";
    const size_t size = sizeof all - 1;
    (void)state;
    for (size_t piece = 1; piece <= size; piece++) {
        redis_reader reader;
        const redis_reply *reply;
        int got = 0;
        assert_int_equal(redis_reader_open(&reader, 4096), 0);
        for (size_t at = 0; at < size; at += piece) {
            assert_int_equal(redis_reader_feed(&reader, all + at, size - at < piece ? size - at : piece), 0);
            while (redis_reader_next(&reader, &reply) == 1) {
                got++;
                if (got == 1) assert_true(redis_reply_says(reply, "OK"));
                if (got == 3) assert_true(reply->kind == REDIS_LIST && !reply->count);
                if (got != 2) continue;
                assert_int_equal(reply->count, 3);
                assert_int_equal(reply->items[0].number, -12);
                assert_int_equal(reply->items[1].kind, REDIS_NIL);
                assert_int_equal(reply->items[2].items[0].text.size, 3);
                assert_memory_equal(reply->items[2].items[0].text.data, "a\0b", 4);
                assert_true(redis_reply_is_wrong(&reply->items[2].items[1], "ERR"));
            }
        }
        assert_int_equal(got, 3);
        redis_reader_free(&reader);
    }
}

static void what_a_head_promises_is_not_taken_before_it_comes(void **state) {
    static const char *const promises[] = { "*2000000000\r\n", "*100000\r\n", "*2\r\n*3000\r\n" };
    (void)state;
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
        redis_reader reader;
        const redis_reply *reply;
        assert_int_equal(redis_reader_open(&reader, 100000), 0);
        assert_int_equal(read_text(&reader, promises[i], &reply), GALE_TOO_LARGE);
        assert_true(reader.used <= 100000);
        redis_reader_free(&reader);
    }
}

static void a_text_that_goes_on_and_on_is_too_large(void **state) {
    redis_reader reader;
    const redis_reply *reply;
    char bytes[1000];
    int rc = 0;
    (void)state;
    memset(bytes, 'x', sizeof bytes);
    assert_int_equal(redis_reader_open(&reader, 10000), 0);
    rc = read_text(&reader, "$2000000000\r\n", &reply);
    for (int i = 0; rc == 0 && i < 100; i++) {
        rc = redis_reader_feed(&reader, bytes, sizeof bytes);
        if (rc == 0) rc = redis_reader_next(&reader, &reply);
    }
    assert_int_equal(rc, GALE_TOO_LARGE);
    redis_reader_free(&reader);
}

static void what_is_no_reply_is_told(void **state) {
    static const char *const none[] = { "HTTP/1.1 400\r\n", "$-2\r\n", "*-2\r\n", "*1\r\n?\r\n",
                                        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n" };
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        redis_reader reader;
        const redis_reply *reply;
        assert_int_equal(redis_reader_open(&reader, 10000), 0);
        assert_int_equal(read_text(&reader, none[i], &reply), GALE_DAMAGED);
        assert_int_equal(redis_reader_reset(&reader), 0);
        assert_int_equal(read_text(&reader, "+PONG\r\n", &reply), 1);
        redis_reader_free(&reader);
    }
}

static void what_a_command_is_refused_for_is_told_from_what_the_server_cannot_now(void **state) {
    static const char *const of_command[] = { "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
                                              "-ERR value is not an integer or out of range\r\n",
                                              "-ERR hash value is not an integer\r\n",
                                              "-ERR increment or decrement would overflow\r\n",
                                              "-ERR value is not a valid float\r\n" };
    static const char *const of_server[] = { "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
                                             "-LOADING Redis is loading the dataset in memory\r\n",
                                             "-READONLY You can't write against a read only replica.\r\n",
                                             "-NOAUTH Authentication required.\r\n",
                                             "-MOVED 866 127.0.0.1:7001\r\n",
                                             "-ERR unknown command 'XADD'\r\n",
                                             "+WRONGTYPE\r\n" };
    redis_reader reader;
    const redis_reply *reply;
    (void)state;
    assert_int_equal(redis_reader_open(&reader, 10000), 0);
    for (size_t i = 0; i < sizeof of_command / sizeof *of_command; i++) {
        assert_int_equal(read_text(&reader, of_command[i], &reply), 1);
        assert_true(redis_reply_refuses(reply));
    }
    for (size_t i = 0; i < sizeof of_server / sizeof *of_server; i++) {
        assert_int_equal(read_text(&reader, of_server[i], &reply), 1);
        assert_false(redis_reply_refuses(reply));
    }
    redis_reader_free(&reader);
}

/* --- Entries ---------------------------------------------------------------------------------------------------------------- */

static void entries_are_read_and_what_are_none_is_refused(void **state) {
    static const char good[] =
        "*1\r\n*2\r\n$1\r\ns\r\n*2\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nn\r\n$1\r\n7\r\n*2\r\n$3\r\n2-0\r\n$-1\r\n";
    static const char *const bad[] = { ":1\r\n",
                                       "*1\r\n:1\r\n",
                                       "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$2\r\n1-\r\n*0\r\n",
                                       "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*1\r\n$1\r\nn\r\n",
                                       "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nn\r\n:7\r\n",
                                       "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$23\r\n111111111111111111111-0\r\n*0\r\n" };
    redis_reader reader;
    const redis_reply *reply;
    redis_entries entries;
    redis_entry entry;
    (void)state;
    assert_int_equal(redis_reader_open(&reader, 10000), 0);
    assert_int_equal(read_text(&reader, good, &reply), 1);
    assert_int_equal(redis_entries_read(&entries, reply), 0);
    assert_int_equal(redis_entries_next(&entries, &entry), 1);
    assert_string_equal(entry.stream.data, "s");
    assert_string_equal(entry.id.data, "1-0");
    assert_int_equal(entry.fields->count, 2);
    assert_int_equal(redis_entries_next(&entries, &entry), 1);
    assert_null(entry.fields);
    assert_int_equal(redis_entries_next(&entries, &entry), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_text(&reader, bad[i], &reply), 1);
        int rc = redis_entries_read(&entries, reply);
        assert_int_equal(rc < 0 ? rc : redis_entries_next(&entries, &entry), GALE_DAMAGED);
    }
    redis_reader_free(&reader);
}

/* --- What is open ------------------------------------------------------------------------------------------------------------- */

static gale_str numbered(char to[16], int number) {
    return (gale_str){ to, (size_t)snprintf(to, 16, "%d-%d", number, number % 7) };
}

/* Against a list of what is there: each number at most three times. */
static void a_book_has_what_was_put_in_and_not_taken_out(void **state) {
    enum { NUMBERS = 300, ROUNDS = 30000 };
    static int64_t places[NUMBERS][3];
    redis_book book = { .pages = NULL };
    uint64_t random = 3;
    size_t count = 0;
    char text[16];
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        int number = (int)((random >> 33) % NUMBERS), nth = (int)((random >> 20) % 3);
        int64_t *place = &places[number][nth];
        if (*place) {
            assert_non_null(redis_book_at(&book, *place));
            redis_book_remove(&book, *place);
            assert_null(redis_book_at(&book, *place));
            redis_book_remove(&book, *place); /* names nothing any more */
            *place = 0;
            count--;
        } else {
            assert_int_equal(redis_book_add(&book, (uint32_t)number % 5, numbered(text, number), place), 0);
            assert_true(*place > 0);
            count++;
        }
        bool there = places[number][0] || places[number][1] || places[number][2];
        assert_true(redis_book_has(&book, (uint32_t)number % 5, numbered(text, number)) == there);
        assert_false(redis_book_has(&book, 9, numbered(text, number)));
        assert_int_equal(book.count, count);
    }
    redis_book_begin_round(&book);
    for (int number = 0; number < NUMBERS; number++) {
        int there = !!places[number][0] + !!places[number][1] + !!places[number][2];
        while (there--) assert_true(redis_book_mark(&book, (uint32_t)number % 5, numbered(text, number)));
        assert_false(redis_book_mark(&book, (uint32_t)number % 5, numbered(text, number)));
    }
    redis_book_free(&book);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_a_list_of_texts_with_their_sizes),
        cmocka_unit_test(a_value_is_as_it_stands_in_redis),
        cmocka_unit_test(replies_come_one_after_the_other_in_pieces_of_any_size),
        cmocka_unit_test(what_a_head_promises_is_not_taken_before_it_comes),
        cmocka_unit_test(a_text_that_goes_on_and_on_is_too_large),
        cmocka_unit_test(what_is_no_reply_is_told),
        cmocka_unit_test(what_a_command_is_refused_for_is_told_from_what_the_server_cannot_now),
        cmocka_unit_test(entries_are_read_and_what_are_none_is_refused),
        cmocka_unit_test(a_book_has_what_was_put_in_and_not_taken_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
