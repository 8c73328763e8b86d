/* A client's session against a broker that says what the test has it say, byte by byte; without a socket, and without a clock. */
#include "connect/mqtt/session.h"
#include "harness/fake_saver.h"

#include "connect/mqtt/hex.h"

static const mqtt_subscription filters[] = { { .filter = { "a/#", 3 }, .qos = 2 } };

static const mqtt_identity reader = { .version = MQTT_3_1_1,
                                      .client = { "c", 1 },
                                      .expiry = 60,
                                      .keep_alive = 60,
                                      .receive_max = 10,
                                      .packet_max = 1000,
                                      .filters = filters,
                                      .filter_count = 1,
                                      .out_most = 10 };

static const mqtt_identity writer = { .version = MQTT_5,
                                      .client = { "w", 1 },
                                      .expiry = 60,
                                      .anew = true,
                                      .receive_max = 10,
                                      .packet_max = 1000,
                                      .out_most = 100 };

enum { LOG = 64 };

typedef struct fixture {
    mqtt_session session;
    int64_t places[LOG]; /* of messages, in order */
    size_t messages;
    int refuses; /* what `message` returns */
    uint64_t tags[LOG];
    char why[LOG][80];
    size_t confirmed;
    char noted[200];
    gale_error error;
} fixture;

static int message(void *user, const mqtt_packet *publish, int64_t place) {
    fixture *f = user;
    (void)publish;
    if (f->refuses) return f->refuses;
    f->places[f->messages++] = place;
    return 0;
}

static void confirmed(void *user, uint64_t tag, const char *why) {
    fixture *f = user;
    f->tags[f->confirmed] = tag;
    snprintf(f->why[f->confirmed++], sizeof *f->why, "%s", why ? why : "");
}

static void noted(void *user, const char *words) {
    fixture *f = user;
    snprintf(f->noted, sizeof f->noted, "%s", words);
}

static const mqtt_session_ops ops = { message, confirmed, noted, NULL, NULL };

static void begin(fixture *f, const mqtt_identity *identity, bool durable) {
    memset(f, 0, sizeof *f);
    f->error = (gale_error)GALE_ERROR_INIT;
    assert_int_equal(mqtt_session_init(&f->session, identity, durable, &ops, f), 0);
}

static void end(fixture *f) {
    mqtt_session_free(&f->session);
}

/* What the session has to say now is this, and nothing else. */
static void says(fixture *f, const char *hex) {
    gale_str wanted = bytes_of(hex);
    mqtt_session_write(&f->session, SIZE_MAX);
    const mqtt_bytes *unsent = &f->session.unsent;
    if (unsent->size != wanted.size || (wanted.size && memcmp(unsent->data, wanted.data, wanted.size) != 0)) {
        for (size_t i = 0; i < unsent->size; i++) print_message("%02x", (unsigned char)unsent->data[i]);
        fail_msg(" is said, not %s", hex);
    }
    f->session.unsent.size = 0;
    give_back(wanted);
}

static int hears(fixture *f, const char *hex) {
    gale_str bytes = bytes_of(hex);
    mqtt_packet packet;
    f->error = (gale_error)GALE_ERROR_INIT;
    if (mqtt_packet_read(f->session.given->version, bytes, &packet, &f->error) < 0)
        fail_msg("%s: %s", hex, f->error.text);
    int rc = mqtt_session_hear(&f->session, &packet, &f->error);
    assert_true(rc == 0 || f->error.length);
    give_back(bytes);
    return rc;
}

static void hears_well(fixture *f, const char *hex) {
    if (hears(f, hex) != 0) fail_msg("%s: %s", hex, f->error.text);
}

/* A reader of 3.1.1 comes up. */
static void up(fixture *f, bool session_present) {
    mqtt_session_open(&f->session, NULL);
    says(f, "10 0d 0004'MQTT' 04 00 003c 0001'c'");
    hears_well(f, session_present ? "20 02 01 00" : "20 02 00 00");
    says(f, "82 08 ffff 0003'a/#' 02");
    hears_well(f, "90 03 ffff 02");
    assert_int_equal(f->session.state, MQTT_UP);
}

/* --- Connecting ------------------------------------------------------------------------------------------------------- */

static void a_reader_subscribes_and_is_up(void **state) {
    fixture f;
    (void)state;
    begin(&f, &reader, false);
    assert_false(mqtt_session_expects(&f.session));
    mqtt_session_open(&f.session, NULL);
    assert_true(mqtt_session_expects(&f.session));
    mqtt_session_lost(&f.session);
    up(&f, false);
    assert_false(mqtt_session_expects(&f.session));
    assert_int_equal(mqtt_session_ping_after(&f.session), 45 * GALE_SECOND);
    end(&f);
}

static void version_5_says_its_limits_and_takes_the_brokers(void **state) {
    mqtt_identity identity = reader;
    fixture f;
    (void)state;
    identity.version = MQTT_5;
    begin(&f, &identity, false);
    mqtt_session_open(&f.session, "pw");
    says(&f, "10 1f 0004'MQTT' 05 40 003c 0d 11 0000003c 21 000a 27 000003e8 0001'c' 0002'pw'");
    hears_well(&f, "20 0b 00 00 08 13 0004 21 0002 24 00");
    assert_int_equal(mqtt_session_ping_after(&f.session), 3 * GALE_SECOND);
    assert_int_equal(f.session.out.window, 2);
    says(&f, "82 0b ffff 02 0b 01 0003'a/#' 02");
    hears_well(&f, "90 04 ffff 00 01");
    assert_string_equal(f.noted, "a/# is granted QoS 1 alone");
    end(&f);
}

static void a_broker_without_subscription_ids_is_sent_none(void **state) {
    mqtt_identity identity = reader;
    fixture f;
    (void)state;
    identity.version = MQTT_5;
    begin(&f, &identity, false);
    mqtt_session_open(&f.session, NULL);
    f.session.unsent.size = 0;
    hears_well(&f, "20 05 00 00 02 29 00");
    says(&f, "82 09 ffff 00 0003'a/#' 02");
    end(&f);
}

static void what_is_refused_is_refused_in_words(void **state) {
    mqtt_identity identity = reader;
    fixture f;
    (void)state;
    begin(&f, &reader, false);
    mqtt_session_open(&f.session, NULL);
    assert_int_equal(hears(&f, "20 02 00 04"), GALE_IO);
    assert_string_equal(f.error.text, "the connection was refused: bad user name or password");
    mqtt_session_open(&f.session, NULL);
    hears_well(&f, "20 02 00 00");
    assert_int_equal(hears(&f, "90 03 ffff 80"), GALE_IO);
    assert_string_equal(f.error.text, "the subscription to a/# was refused: refused");
    end(&f);
    identity.version = MQTT_5;
    begin(&f, &identity, false);
    mqtt_session_open(&f.session, NULL);
    assert_int_equal(hears(&f, "20 09 00 87 06 1f 0003'no!'"), GALE_IO);
    assert_string_equal(f.error.text, "the connection was refused: not authorized: no!");
    mqtt_session_open(&f.session, NULL);
    hears_well(&f, "20 03 00 00 00");
    assert_int_equal(hears(&f, "e0 01 8e"), GALE_IO);
    assert_string_equal(
        f.error.text,
        "the broker ends the connection: the session was taken over: another client has the same client id");
    end(&f);
}

static void what_no_broker_may_say_is_refused(void **state) {
    static const char *const said[] = { "10 0d 0004'MQTT' 04 02 003c 0001'c'",
                                        "82 06 0001 0001'a' 00",
                                        "a2 05 0001 0001'a'",
                                        "c0 00",
                                        "e0 00",
                                        "20 02 00 00",
                                        "90 03 0001 00",
                                        "b0 02 0001" };
    fixture f;
    (void)state;
    begin(&f, &reader, false);
    up(&f, false);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) assert_int_equal(hears(&f, said[i]), GALE_DAMAGED);
    mqtt_session_open(&f.session, NULL);
    assert_int_equal(hears(&f, "30 05 0003'a/b'"), GALE_DAMAGED);
    assert_string_equal(f.error.text, "PUBLISH: it comes before CONNACK");
    end(&f);
}

static void a_will_and_a_goodbye_are_said(void **state) {
    mqtt_identity identity = writer;
    fixture f;
    (void)state;
    identity.expiry = 0;
    identity.has_will = true;
    identity.user = (gale_str){ "u", 1 };
    identity.will = (mqtt_message){ .topic = { "t", 1 }, .payload = { "bye", 3 }, .qos = 1, .retain = true };
    begin(&f, &identity, false);
    mqtt_session_open(&f.session, "secret");
    says(&f, "10 2a 0004'MQTT' 05 ee 0000 08 21 000a 27 000003e8 0001'w' 00 0001't' 0003'bye' 0001'u' 0006'secret'");
    mqtt_session_end(&f.session, MQTT_PROTOCOL_ERROR);
    says(&f, "e0 01 82");
    mqtt_session_end(&f.session, 0);
    says(&f, "");
    end(&f);
}

static void a_ping_expects_its_answer(void **state) {
    fixture f;
    (void)state;
    begin(&f, &reader, false);
    up(&f, false);
    mqtt_session_ping(&f.session);
    says(&f, "c0 00");
    assert_true(mqtt_session_expects(&f.session));
    hears_well(&f, "d0 00");
    assert_false(mqtt_session_expects(&f.session));
    end(&f);
}

/* --- Messages in ------------------------------------------------------------------------------------------------------ */

static void the_broker_is_told_when_a_message_is_done_and_in_order(void **state) {
    fixture f;
    (void)state;
    begin(&f, &reader, false);
    up(&f, false);
    hears_well(&f, "32 07 0003'a/b' 0001");
    hears_well(&f, "32 07 0003'a/b' 0002");
    hears_well(&f, "30 05 0003'a/b'");
    says(&f, "");
    assert_int_equal(f.messages, 3);
    assert_int_equal(f.places[2], 0);
    mqtt_session_answer(&f.session, f.places[1]);
    says(&f, ""); /* the first one goes before */
    mqtt_session_answer(&f.session, f.places[0]);
    says(&f, "40 02 0001 40 02 0002");
    mqtt_session_answer(&f.session, f.places[0]); /* is over */
    says(&f, "");
    hears_well(&f, "32 07 0003'a/b' 0001");
    assert_int_equal(f.messages, 4);
    assert_int_not_equal(f.places[3], f.places[0]);
    end(&f);
}

static void qos_2_is_received_when_it_is_done_and_then_released(void **state) {
    fixture f;
    (void)state;
    begin(&f, &reader, false);
    up(&f, false);
    hears_well(&f, "34 07 0003'a/b' 0007");
    assert_int_equal(hears(&f, "62 02 0007"), GALE_DAMAGED);
    assert_string_equal(f.error.text, "PUBREL: its message has no PUBREC yet: packet id 7");
    mqtt_session_answer(&f.session, f.places[0]);
    says(&f, "50 02 0007");
    hears_well(&f, "3c 07 0003'a/b' 0007"); /* it did not hear that */
    says(&f, "50 02 0007");
    assert_int_equal(f.messages, 1);
    hears_well(&f, "62 02 0007");
    says(&f, "70 02 0007");
    hears_well(&f, "62 02 0007");
    says(&f, "70 02 0007");
    hears_well(&f, "34 07 0003'a/b' 0007");
    assert_int_equal(f.messages, 2);
    end(&f);
}

static void what_comes_again_on_another_connection_is_the_same_message(void **state) {
    fixture f;
    (void)state;
    begin(&f, &reader, false);
    up(&f, false);
    hears_well(&f, "32 07 0003'a/b' 0001");
    hears_well(&f, "32 07 0003'a/b' 0002");
    hears_well(&f, "34 07 0003'a/b' 0003");
    mqtt_session_answer(&f.session, f.places[2]);
    says(&f, "50 02 0003");
    mqtt_session_lost(&f.session);
    mqtt_session_answer(&f.session, f.places[0]); /* while there is no connection */
    up(&f, true);
    says(&f, "");
    hears_well(&f, "3a 07 0003'a/b' 0001");
    hears_well(&f, "3a 07 0003'a/b' 0002");
    says(&f, "40 02 0001");
    hears_well(&f, "62 02 0003");
    says(&f, "70 02 0003");
    mqtt_session_answer(&f.session, f.places[1]);
    says(&f, "40 02 0002");
    assert_int_equal(f.messages, 3);
    end(&f);
}

static void a_broker_without_the_session_has_forgotten_all_ids(void **state) {
    fixture f;
    (void)state;
    begin(&f, &reader, false);
    up(&f, false);
    assert_string_equal(f.noted, "");
    hears_well(&f, "32 07 0003'a/b' 0001");
    mqtt_session_lost(&f.session);
    up(&f, false);
    assert_string_equal(f.noted, "the broker has no session of it any more: what came meanwhile is lost");
    hears_well(&f, "32 07 0003'a/b' 0001");
    assert_int_equal(f.messages, 2);
    mqtt_session_answer(&f.session, f.places[0]); /* nobody's */
    says(&f, "");
    mqtt_session_answer(&f.session, f.places[1]);
    says(&f, "40 02 0001");
    end(&f);
}

static void an_alias_that_was_not_allowed_is_refused(void **state) {
    mqtt_identity identity = reader;
    fixture f;
    (void)state;
    identity.version = MQTT_5;
    begin(&f, &identity, false);
    mqtt_session_open(&f.session, NULL);
    hears_well(&f, "20 03 00 00 00");
    hears_well(&f, "90 04 ffff 00 02");
    assert_int_equal(hears(&f, "30 09 0000 03 23 0001 'x' 'y' 'z'"), GALE_DAMAGED);
    assert_string_equal(f.error.text, "PUBLISH: it has an alias for its topic, and none was allowed");
    end(&f);
}

static void an_id_that_is_anothers_is_refused(void **state) {
    fixture f;
    (void)state;
    begin(&f, &reader, false);
    up(&f, false);
    hears_well(&f, "32 07 0003'a/b' 0001");
    assert_int_equal(hears(&f, "34 07 0003'a/b' 0001"), GALE_DAMAGED);
    assert_string_equal(f.error.text, "PUBLISH: another message has its id: packet id 1");
    mqtt_session_lost(&f.session);
    up(&f, true);
    hears_well(&f, "34 07 0003'a/b' 0001"); /* a broker that has gone back in time */
    assert_int_equal(f.messages, 2);
    end(&f);
}

static void a_message_that_cannot_be_kept_comes_again(void **state) {
    fixture f;
    (void)state;
    begin(&f, &reader, false);
    up(&f, false);
    f.refuses = GALE_NO_MEMORY;
    assert_int_equal(hears(&f, "32 07 0003'a/b' 0001"), GALE_NO_MEMORY);
    mqtt_session_lost(&f.session);
    f.refuses = 0;
    up(&f, true);
    hears_well(&f, "3a 07 0003'a/b' 0001");
    assert_int_equal(f.messages, 1);
    end(&f);
}

/* --- Messages in, in a durable run ------------------------------------------------------------------------------------ */

static int save_inbound(void *self, gale_saver *to) {
    fixture *f = self;
    return mqtt_inbound_save(&f->session.in, to);
}

static int restore_inbound(void *self, gale_saved *from, gale_collector *out) {
    fixture *f = self;
    (void)out;
    return mqtt_inbound_restore(&f->session.in, from);
}

static const gale_durable_ops durable = {
    .size = sizeof durable, .version = 1, .save = save_inbound, .restore = restore_inbound
};

static void an_id_of_qos_2_is_free_when_no_checkpoint_has_it(void **state) {
    fake_collector fake;
    fake_saver saver;
    fixture f;
    (void)state;
    fake_init(&fake);
    fake_saver_init(&saver, &fake);
    begin(&f, &reader, true);
    up(&f, false);
    hears_well(&f, "34 07 0003'a/b' 0001");
    mqtt_session_answer(&f.session, f.places[0]);
    says(&f, "50 02 0001");
    assert_int_equal(fake_save(&saver, &durable, &f), 0);
    hears_well(&f, "62 02 0001");
    assert_true(mqtt_inbound_waits(&f.session.in));
    says(&f, "");
    mqtt_inbound_committed(&f.session.in, saver.checkpoint); /* this one has it still */
    says(&f, "");
    assert_int_equal(fake_save(&saver, &durable, &f), 0);
    assert_false(mqtt_inbound_waits(&f.session.in));
    mqtt_inbound_committed(&f.session.in, saver.checkpoint);
    says(&f, "70 02 0001");
    hears_well(&f, "34 07 0003'a/b' 0001");
    assert_int_equal(f.messages, 2);
    end(&f);
    fake_saver_fini(&saver);
    fake_fini(&fake);
}

/* Four messages: of each QoS one that is open in the checkpoint, and one that is done. */
static void a_run_that_goes_on_knows_what_comes_again(void **state) {
    fake_collector fake;
    fake_saver saver;
    fixture f, next;
    (void)state;
    fake_init(&fake);
    fake_saver_init(&saver, &fake);
    begin(&f, &reader, true);
    up(&f, false);
    hears_well(&f, "32 07 0003'a/b' 0001");
    hears_well(&f, "32 07 0003'a/b' 0002");
    hears_well(&f, "34 07 0003'a/b' 0003");
    hears_well(&f, "34 07 0003'a/b' 0004");
    assert_int_equal(fake_save(&saver, &durable, &f), 0);
    begin(&next, &reader, true);
    assert_int_equal(fake_restore(&saver, &durable, &next), 0);
    mqtt_inbound_reopen(&next.session.in, f.places[0]);
    mqtt_inbound_reopen(&next.session.in, f.places[2]);
    mqtt_inbound_conclude(&next.session.in);
    up(&next, true);
    hears_well(&next, "3a 07 0003'a/b' 0001"); /* open: known */
    hears_well(&next, "3c 07 0003'a/b' 0003"); /* open: known */
    hears_well(&next, "3c 07 0003'a/b' 0004"); /* done: known */
    assert_int_equal(next.messages, 0);
    hears_well(&next, "3a 07 0003'a/b' 0002"); /* of QoS 1 it may be another one */
    assert_int_equal(next.messages, 1);
    says(&next, "");
    mqtt_session_answer(&next.session, f.places[0]);
    mqtt_session_answer(&next.session, f.places[2]);
    says(&next, "40 02 0001 50 02 0003 50 02 0004");
    mqtt_session_answer(&next.session, next.places[0]);
    says(&next, "40 02 0002");
    end(&next);
    end(&f);
    fake_saver_fini(&saver);
    fake_fini(&fake);
}

/* --- Messages out ----------------------------------------------------------------------------------------------------- */

static void add(fixture *f, uint8_t qos, const char *payload, uint64_t tag) {
    const mqtt_packet publish = {
        .type = MQTT_PUBLISH, .message = { .topic = { "t", 1 }, .payload = { payload, strlen(payload) }, .qos = qos }
    };
    assert_int_equal(mqtt_outbound_add(&f->session.out, &publish, tag), 0);
}

static void writer_up(fixture *f, bool session_present, const char *limits) {
    char hex[80];
    mqtt_session_open(&f->session, NULL);
    f->session.unsent.size = 0;
    snprintf(hex, sizeof hex, "20 %02zx %s 00 %02zx %s", 3 + (strlen(limits) + 1) / 3, session_present ? "01" : "00",
             (strlen(limits) + 1) / 3, limits);
    hears_well(f, hex);
}

static void messages_go_out_in_order_and_are_confirmed(void **state) {
    fixture f;
    (void)state;
    begin(&f, &writer, false);
    add(&f, 0, "a", 1);
    add(&f, 1, "b", 2);
    add(&f, 2, "c", 3);
    says(&f, "");
    writer_up(&f, false, "");
    says(&f, "30 05 0001't' 00 'a' 32 07 0001't' 0001 00 'b' 34 07 0001't' 0002 00 'c'");
    assert_int_equal(f.confirmed, 1);
    assert_true(mqtt_session_expects(&f.session));
    hears_well(&f, "40 02 0001");
    hears_well(&f, "50 02 0002");
    says(&f, "62 02 0002");
    hears_well(&f, "70 02 0002");
    assert_int_equal(f.confirmed, 3);
    assert_int_equal(f.tags[2], 3);
    assert_false(mqtt_session_expects(&f.session));
    hears_well(&f, "40 02 0009"); /* is nobody's */
    hears_well(&f, "50 02 0009");
    says(&f, "62 03 0009 92");
    end(&f);
}

static void no_more_are_out_than_the_broker_takes(void **state) {
    fixture f;
    (void)state;
    begin(&f, &writer, false);
    for (uint64_t i = 1; i <= 3; i++) add(&f, 1, "x", i);
    writer_up(&f, false, "21 00 01");
    says(&f, "32 07 0001't' 0001 00 'x'");
    hears_well(&f, "40 02 0001");
    says(&f, "32 07 0001't' 0001 00 'x'");
    hears_well(&f, "40 03 0001 97");
    assert_string_equal(f.why[1], "a quota was exceeded");
    hears_well(&f, "40 02 0001"); /* not out yet */
    says(&f, "32 07 0001't' 0001 00 'x'");
    end(&f);
}

static void a_session_that_stays_has_all_of_it_again(void **state) {
    fixture f;
    (void)state;
    begin(&f, &writer, false);
    writer_up(&f, false, "");
    add(&f, 1, "a", 1);
    add(&f, 2, "b", 2);
    add(&f, 2, "c", 3);
    says(&f, "32 07 0001't' 0001 00 'a' 34 07 0001't' 0002 00 'b' 34 07 0001't' 0003 00 'c'");
    hears_well(&f, "50 02 0002");
    says(&f, "62 02 0002");
    mqtt_session_lost(&f.session);
    add(&f, 1, "d", 4);
    writer_up(&f, true, "");
    says(&f, "3a 07 0001't' 0001 00 'a' 62 02 0002 3c 07 0001't' 0003 00 'c' 32 07 0001't' 0004 00 'd'");
    mqtt_session_lost(&f.session);
    writer_up(&f, false, ""); /* now the broker has it no more: all is new */
    says(&f, "32 07 0001't' 0004 00 'a' 34 07 0001't' 0003 00 'b' 34 07 0001't' 0002 00 'c' 32 07 0001't' 0001 00 'd'");
    assert_int_equal(f.confirmed, 0);
    end(&f);
}

static void what_this_broker_does_not_take_is_refused_alone(void **state) {
    fixture f;
    mqtt_packet retained = { .type = MQTT_PUBLISH, .message = { .topic = { "t", 1 }, .retain = true } };
    (void)state;
    begin(&f, &writer, false);
    writer_up(&f, false, "24 01 25 00 27 00 00 00 0c");
    add(&f, 2, "a", 1);
    add(&f, 1, "more than twelve", 2);
    assert_int_equal(mqtt_outbound_add(&f.session.out, &retained, 3), 0);
    add(&f, 1, "b", 4);
    says(&f, "32 07 0001't' 0001 00 'b'");
    assert_int_equal(f.confirmed, 3);
    assert_string_equal(f.why[0], "the broker takes QoS 1 at the most");
    assert_string_equal(f.why[1], "the message is larger than the broker takes");
    assert_string_equal(f.why[2], "the broker keeps no messages (retain)");
    end(&f);
}

/* Any order of what may happen: nothing is confirmed twice, and all is in the end. */
static void whatever_happens_each_message_is_confirmed_once(void **state) {
    mqtt_identity identity = writer;
    uint64_t seed = 5;
    (void)state;
    identity.out_most = 6; /* so their ids are 1 to 6 */
    for (int run = 0; run < 300; run++) {
        fixture f;
        bool done[LOG] = { false };
        size_t added = 0;
        begin(&f, &identity, false);
        writer_up(&f, false, "21 00 05");
        for (int turn = 0; turn < 20000 && f.confirmed < 40; turn++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint32_t drawn = (uint32_t)(seed >> 40);
            char hex[20];
            size_t id = 1 + drawn / 16 % 6;
            if (drawn % 16 == 0) {
                mqtt_session_lost(&f.session);
                writer_up(&f, drawn & 0x100, "21 00 05");
            } else if (drawn % 16 < 5 && added < 40) {
                add(&f, 1 + drawn / 256 % 2, "x", added++);
            } else {
                snprintf(hex, sizeof hex, "%s 02 %04zx", drawn % 3 == 0 ? "40" : drawn % 3 == 1 ? "50" : "70", id);
                hears_well(&f, hex);
            }
            mqtt_session_write(&f.session, SIZE_MAX);
            f.session.unsent.size = 0;
            assert_true(f.session.out.out <= 5);
            if (added == 40 && !f.session.out.count) break;
        }
        assert_int_equal(f.confirmed, 40);
        for (size_t i = 0; i < 40; i++) {
            assert_false(done[f.tags[i]]);
            done[f.tags[i]] = true;
        }
        end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_subscribes_and_is_up),
        cmocka_unit_test(version_5_says_its_limits_and_takes_the_brokers),
        cmocka_unit_test(a_broker_without_subscription_ids_is_sent_none),
        cmocka_unit_test(what_is_refused_is_refused_in_words),
        cmocka_unit_test(what_no_broker_may_say_is_refused),
        cmocka_unit_test(a_will_and_a_goodbye_are_said),
        cmocka_unit_test(a_ping_expects_its_answer),
        cmocka_unit_test(the_broker_is_told_when_a_message_is_done_and_in_order),
        cmocka_unit_test(qos_2_is_received_when_it_is_done_and_then_released),
        cmocka_unit_test(what_comes_again_on_another_connection_is_the_same_message),
        cmocka_unit_test(a_broker_without_the_session_has_forgotten_all_ids),
        cmocka_unit_test(an_alias_that_was_not_allowed_is_refused),
        cmocka_unit_test(an_id_that_is_anothers_is_refused),
        cmocka_unit_test(a_message_that_cannot_be_kept_comes_again),
        cmocka_unit_test(an_id_of_qos_2_is_free_when_no_checkpoint_has_it),
        cmocka_unit_test(a_run_that_goes_on_knows_what_comes_again),
        cmocka_unit_test(messages_go_out_in_order_and_are_confirmed),
        cmocka_unit_test(no_more_are_out_than_the_broker_takes),
        cmocka_unit_test(a_session_that_stays_has_all_of_it_again),
        cmocka_unit_test(what_this_broker_does_not_take_is_refused_alone),
        cmocka_unit_test(whatever_happens_each_message_is_confirmed_once),
    };
    return cmocka_run_group_tests_name("mqtt session", tests, NULL, NULL);
}
