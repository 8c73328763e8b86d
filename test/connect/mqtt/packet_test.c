/* Packets of MQTT, as bytes: what each says, and what is refused with which sentence. */
#include "connect/mqtt/filter.h"
#include "connect/mqtt/packet.h"

#include "connect/mqtt/hex.h"

enum { BOTH = 0 };

/* --- What is taken ---------------------------------------------------------------------------------------------------- */

typedef struct good {
    int version; /* or BOTH */
    const char *bytes;
    const char *again; /* as it is written; NULL: as it came */
} good;

static const good taken[] = {
    { 4, "10 0e 0004'MQTT' 04 02 003c 0002'ab'", NULL },
    { 4, "10 0c 0004'MQTT' 04 02 0000 0000", NULL },
    { 4, "10 24 0004'MQTT' 04 f6 003c 0001'c' 0004'will' 0003'bye' 0004'user' 0004 00ff00fe", NULL },
    { 5, "10 0d 0004'MQTT' 05 00 003c 00 0000", NULL },
    { 5, "10 21 0004'MQTT' 05 02 003c 14 11 00000e10 21 000a 27 00100000 17 01 22 0000 19 00 0000", NULL },
    { 5, "10 1e 0004'MQTT' 05 0e 0000 00 0001'c' 0a 18 00000005 02 0000003c 0001't' 0000", NULL },
    { 5, "10 17 0004'MQTT' 05 40 0000 00 0001'c' 0007'sesame!'", NULL },
    { 4, "20 02 00 00", NULL },
    { 4, "20 02 01 00", NULL },
    { 4, "20 02 00 05", NULL },
    { 5, "20 03 01 00 00", NULL },
    { 5, "20 13 00 00 10 21 0014 22 000a 12 0003'abc' 24 01 25 00", NULL },
    { 5, "20 17 00 87 14 1f 0004'no! ' 26 0001'a' 0001'b' 26 0001'a' 0000", NULL },
    { 4, "30 05 0003'a/b'", NULL },
    { 4, "31 08 0003'a/b' 'xyz'", NULL },
    { 4, "32 07 0003'a/b' 0001", NULL },
    { 4, "3c 09 0003'a/b' ffff ff00", NULL },
    { 4, "3b 07 0003'a/b' 0001", NULL },
    { 5, "30 06 0003'a/b' 00", NULL },
    { 5,
      "32 29 0003'a/b' 0007 1f 01 01 02 0000000a 03 0001'x' 08 0001'r' 09 0001 00 26 0001'k' 0001'v' 0b 01 0b ff7f "
      "'{}'",
      NULL },
    { 5, "30 06 0000 03 23 0001", NULL },
    { BOTH, "40 02 0001", NULL },
    { BOTH, "50 02 0001", NULL },
    { BOTH, "62 02 0001", NULL },
    { BOTH, "70 02 0001", NULL },
    { 5, "40 03 0001 10", NULL },
    { 5, "40 03 0001 00", "40 02 0001" },
    { 5, "40 04 0001 00 00", "40 02 0001" },
    { 5, "50 04 0001 87 00", "50 03 0001 87" },
    { 5, "50 08 0001 97 04 1f 0001'q'", NULL },
    { 5, "62 03 0001 92", NULL },
    { 5, "70 03 0001 92", NULL },
    { 4, "82 0a 0001 0005'a/+/b' 01", NULL },
    { 4, "82 0e 0001 0001'#' 00 0005'+/x/#' 02", NULL },
    { 5, "82 0b 0001 00 0005'a/+/b' 2d", NULL },
    { 5, "82 13 0001 02 0b 05 000b'$share/g/a/' 01", NULL },
    { 4, "90 05 0001 00 02 80", NULL },
    { 5, "90 06 0001 00 00 02 87", NULL },
    { 4, "a2 05 0001 0001'a'", NULL },
    { 5, "a2 06 0001 00 0001'a'", NULL },
    { 4, "b0 02 0001", NULL },
    { 5, "b0 05 0001 00 00 11", NULL },
    { BOTH, "c0 00", NULL },
    { BOTH, "d0 00", NULL },
    { BOTH, "e0 00", NULL },
    { 5, "e0 01 8e", NULL },
    { 5, "e0 02 8b 00", "e0 01 8b" },
    { 5, "e0 0e 9d 0c 1c 0003'b:1' 26 0001'a' 0000", NULL },
    { 5, "f0 00", NULL },
    { 5, "f0 09 18 07 15 0001'x' 16 0000", NULL },
    { 4, "c0 8000", "c0 00" }, /* 3.1.1 does not forbid it */
};

static void check_taken(int version, const good *row) {
    gale_str bytes = bytes_of(row->bytes), again = bytes_of(row->again ? row->again : row->bytes);
    gale_error error = GALE_ERROR_INIT;
    mqtt_bytes written = { .data = NULL };
    mqtt_packet packet;
    for (size_t size = 0; size < bytes.size; size++) {
        gale_str some = { bytes.data, size };
        int64_t said = mqtt_packet_size((mqtt_version)version, some, SIZE_MAX, &error);
        if (said != 0 && said != (int64_t)bytes.size) fail_msg("%s: %zu bytes of it are a packet", row->bytes, size);
    }
    if (mqtt_packet_size((mqtt_version)version, bytes, SIZE_MAX, &error) != (int64_t)bytes.size)
        fail_msg("%s: it has another size: %s", row->bytes, error.text);
    if (mqtt_packet_read((mqtt_version)version, bytes, &packet, &error) < 0) fail_msg("%s: %s", row->bytes, error.text);
    assert_int_equal(mqtt_packet_write((mqtt_version)version, &packet, &written), 0);
    if (written.size != again.size || memcmp(written.data, again.data, again.size) != 0)
        fail_msg("%s: it is written as something else", row->bytes);
    mqtt_bytes_free(&written);
    give_back(bytes);
    give_back(again);
}

static void every_packet_is_written_as_it_was_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        if (taken[i].again && strcmp(taken[i].again, "-") == 0) continue;
        for (int version = 4; version <= 5; version++)
            if (taken[i].version == BOTH || taken[i].version == version) check_taken(version, &taken[i]);
    }
}

static mqtt_packet read_one(mqtt_version version, gale_str bytes) {
    gale_error error = GALE_ERROR_INIT;
    mqtt_packet packet;
    if (mqtt_packet_read(version, bytes, &packet, &error) < 0) fail_msg("%s", error.text);
    return packet;
}

static void assert_text(gale_str text, const char *wanted) {
    assert_int_equal(text.size, strlen(wanted));
    assert_memory_equal(text.data, wanted, text.size);
}

static void a_message_says_all_that_it_has(void **state) {
    gale_str bytes = bytes_of(
        "3d 25 0003'a/b' 0107 16 02 0000000a 09 0001 00 26 0001'k' 0002'vw' 0b ff7f 0b 01 '{\"n\":1}'");
    mqtt_property property;
    (void)state;
    mqtt_packet packet = read_one(MQTT_5, bytes);
    assert_int_equal(packet.type, MQTT_PUBLISH);
    assert_int_equal(packet.id, 0x107);
    assert_int_equal(packet.message.qos, 2);
    assert_true(packet.dup && packet.message.retain);
    assert_text(packet.message.topic, "a/b");
    assert_text(packet.message.payload, "{\"n\":1}");
    assert_int_equal(mqtt_property_number(packet.properties, MQTT_MESSAGE_EXPIRY, 7), 10);
    assert_int_equal(mqtt_property_number(packet.properties, MQTT_PAYLOAD_FORMAT, 7), 7);
    assert_int_equal(mqtt_property_number(packet.properties, MQTT_SUBSCRIPTION_ID, 0), 16383);
    assert_true(mqtt_property_find(packet.properties, MQTT_USER_PROPERTY, &property));
    assert_text(property.text, "k");
    assert_text(property.value, "vw");
    assert_true(mqtt_property_find(packet.properties, MQTT_CORRELATION, &property));
    assert_int_equal(property.text.size, 1);
    give_back(bytes);
}

static void a_connect_says_all_that_it_has(void **state) {
    gale_str bytes = bytes_of("10 33 0004'MQTT' 05 f4 0102 05 11 00000e10 0002'id' 05 18 00000005 0004'will' 0003'bye' "
                              "0004'user' 0006'sesame'");
    (void)state;
    mqtt_packet packet = read_one(MQTT_3_1_1, bytes);
    const mqtt_connect *connect = &packet.connect;
    assert_int_equal(connect->version, MQTT_5);
    assert_int_equal(connect->keep_alive, 0x102);
    assert_false(connect->clean);
    assert_text(connect->client, "id");
    assert_text(connect->will.topic, "will");
    assert_text(connect->will.payload, "bye");
    assert_int_equal(connect->will.qos, 2);
    assert_true(connect->will.retain);
    assert_int_equal(mqtt_property_number(connect->will.properties, MQTT_WILL_DELAY, 0), 5);
    assert_text(connect->user, "user");
    assert_text(connect->password, "sesame");
    assert_int_equal(mqtt_property_number(packet.properties, MQTT_SESSION_EXPIRY, 0), 3600);
    give_back(bytes);
}

static void filters_come_with_their_options(void **state) {
    gale_str bytes = bytes_of("82 0d 0001 00 0001'a' 01 0003'b/#' 2e");
    mqtt_subscription one;
    (void)state;
    mqtt_packet packet = read_one(MQTT_5, bytes);
    mqtt_cursor cursor = mqtt_cursor_of(packet.list);
    assert_true(mqtt_subscription_next(MQTT_SUBSCRIBE, &cursor, &one));
    assert_text(one.filter, "a");
    assert_int_equal(one.qos, 1);
    assert_true(mqtt_subscription_next(MQTT_SUBSCRIBE, &cursor, &one));
    assert_text(one.filter, "b/#");
    assert_int_equal(one.qos, 2);
    assert_true(one.no_local && one.retain_as_published);
    assert_int_equal(one.retain_handling, 2);
    assert_false(mqtt_subscription_next(MQTT_SUBSCRIBE, &cursor, &one));
    give_back(bytes);
}

/* --- What is refused -------------------------------------------------------------------------------------------------- */

typedef struct bad {
    int version;
    const char *bytes;
    const char *words;
} bad;

static const bad refused[] = {
    { BOTH, "00 00", "there is no packet of type 0" },
    { 4, "f0 00", "there is no packet of type 15" },
    { BOTH, "c1 00", "PINGREQ: its flags are others" },
    { BOTH, "c0 01 00", "PINGREQ: something stands behind its end" },
    { BOTH, "d0 01 00", "PINGRESP: something stands behind its end" },
    { BOTH, "60 02 0001", "PUBREL: its flags are others" },
    { BOTH, "80 06 0001 0001'a' 00", "SUBSCRIBE: its flags are others" },
    { BOTH, "a0 05 0001 0001'a'", "UNSUBSCRIBE: its flags are others" },
    { BOTH, "41 02 0001", "PUBACK: its flags are others" },
    { BOTH, "36 07 0003'a/b' 0001", "PUBLISH: its QoS is 3" },
    { BOTH, "38 05 0003'a/b'", "PUBLISH: of QoS 0 it says that it comes again" },
    { BOTH, "30 ffffffff7f", "PUBLISH: its length has more than four bytes" },
    { 5, "c0 8000", "PINGREQ: its length could be shorter" },
    { BOTH, "", "packet: it is not there as a whole" },
    { BOTH, "30", "PUBLISH: it is not there as a whole" },
    { BOTH, "30 80", "PUBLISH: it is not there as a whole" },
    { BOTH, "40 02 00", "PUBACK: it is not there as a whole" },
    { BOTH, "c0 00 00", "PINGREQ: it is not there as a whole" },

    { BOTH, "10 00", "CONNECT: it ends in its head" },
    { BOTH, "10 0c 0004'MQTX' 04 02 0000 0000", "CONNECT: its protocol is not MQTT" },
    { BOTH, "10 0e 0006'MQIsdp' 03 02 0000 0000", "CONNECT: its protocol is not MQTT" },
    { BOTH, "10 0c 0004'MQTT' 03 02 0000 0000", "CONNECT: its version is 3: neither 4 (3.1.1) nor 5" },
    { BOTH, "10 0c 0004'MQTT' 04 03 0000 0000", "CONNECT: its reserved flag is set" },
    { BOTH, "10 0c 0004'MQTT' 04 1e 0000 0000", "CONNECT: its will's QoS is 3" },
    { BOTH, "10 0c 0004'MQTT' 04 22 0000 0000", "CONNECT: it has flags of a will, and none" },
    { BOTH, "10 0c 0004'MQTT' 04 0a 0000 0000", "CONNECT: it has flags of a will, and none" },
    { BOTH, "10 10 0004'MQTT' 04 42 0000 0000 0002'pw'", "CONNECT: it has a password without a user name" },
    { BOTH, "10 0c 0004'MQTT' 04 00 0000 0000", "CONNECT: it has no client id, and wants a session that stays" },
    { BOTH, "10 0d 0004'MQTT' 04 02 0000 0002'a'", "CONNECT: it ends in its client id" },
    { BOTH, "10 0e 0004'MQTT' 04 02 0000 0002 c328", "CONNECT: its client id is not UTF-8, or has a NUL" },
    { BOTH, "10 0d 0004'MQTT' 04 02 0000 0001 00", "CONNECT: its client id is not UTF-8, or has a NUL" },
    { BOTH, "10 0f 0004'MQTT' 04 02 0000 0003 eda080", "CONNECT: its client id is not UTF-8, or has a NUL" },
    { BOTH, "10 12 0004'MQTT' 04 06 0000 0000 0002't#' 0000", "CONNECT: its topic is empty, or has a wildcard" },
    { BOTH, "10 0f 0004'MQTT' 04 06 0000 0000 0001't'", "CONNECT: it ends in its will" },
    { BOTH, "10 0c 0004'MQTT' 04 82 0000 0000", "CONNECT: it ends in its user name" },
    { BOTH, "10 0f 0004'MQTT' 04 c2 0000 0000 0001'u'", "CONNECT: it ends in its password" },
    { BOTH, "10 0d 0004'MQTT' 04 02 0000 0000 00", "CONNECT: something stands behind its end" },
    { BOTH, "10 0b 0004'MQTT' 05 02 0000 05", "CONNECT: it ends in its properties" },
    { BOTH, "10 10 0004'MQTT' 05 02 0000 03 21 0000 0000", "CONNECT: its property 'receive maximum' is 0" },
    { BOTH, "10 12 0004'MQTT' 05 02 0000 05 27 00000000 0000", "CONNECT: its property 'maximum packet size' is 0" },
    { BOTH, "10 0f 0004'MQTT' 05 02 0000 02 17 02 0000",
      "CONNECT: its property 'request problem information' is neither 0 nor 1" },
    { BOTH, "10 0f 0004'MQTT' 05 02 0000 02 16 00 0000",
      "CONNECT: its property 'authentication data' is not there as a whole" },
    { BOTH, "10 10 0004'MQTT' 05 02 0000 03 16 0000 0000",
      "CONNECT: its property 'authentication data' is there without a method" },
    { BOTH, "10 18 0004'MQTT' 05 06 0000 00 0000 05 11 00000001 0001't' 0000",
      "will: its property 'session expiry interval' is none of such a packet's" },

    { BOTH, "20 01 00", "CONNACK: it ends in its head" },
    { 4, "20 02 02 00", "CONNACK: its reserved flags are set" },
    { 4, "20 02 01 05", "CONNACK: it refuses, and has a session" },
    { 4, "20 02 00 06", "CONNACK: 0x06 is no reason of it" },
    { 5, "20 03 00 01 00", "CONNACK: 0x01 is no reason of it" },
    { 5, "20 03 01 87 00", "CONNACK: it refuses, and has a session" },
    { 5, "20 02 00 00", "CONNACK: it ends in its properties" },
    { 5, "20 09 00 00 06 21 0001 21 0002", "CONNACK: its property 'receive maximum' is there twice" },
    { 5, "20 05 00 00 02 24 02", "CONNACK: its property 'maximum QoS' is neither 0 nor 1" },
    { 5, "20 05 00 00 02 2b 00", "CONNACK: it has no such property" },
    { 5, "20 05 00 00 02 00 00", "CONNACK: it has no such property" },
    { 5, "20 06 00 00 03 ffff7f", "CONNACK: it has no such property" },
    { 5, "20 08 00 00 05 02 00000001", "CONNACK: its property 'message expiry interval' is none of such a packet's" },
    { 5, "20 07 00 00 04 1f 0001 ff", "CONNACK: its property 'reason string' is not UTF-8, or has a NUL" },
    { 5, "20 06 00 00 03 1f 0001", "CONNACK: its property 'reason string' is not there as a whole" },
    { 5, "20 07 00 00 04 26 0001'a'", "CONNACK: its property 'user property' is not there as a whole" },
    { 4, "20 03 00 00 00", "CONNACK: something stands behind its end" },

    { BOTH, "30 00", "PUBLISH: it ends in its topic" },
    { BOTH, "30 03 0002'a'", "PUBLISH: it ends in its topic" },
    { 4, "30 02 0000", "PUBLISH: its topic is empty, or has a wildcard" },
    { 5, "30 03 0000 00", "PUBLISH: its topic is empty, or has a wildcard" },
    { 4, "30 05 0003'a/#'", "PUBLISH: its topic is empty, or has a wildcard" },
    { 4, "30 05 0003'+/b'", "PUBLISH: its topic is empty, or has a wildcard" },
    { BOTH, "30 04 0002 c328", "PUBLISH: its topic is not UTF-8, or has a NUL" },
    { BOTH, "30 05 0003 'a' 00 'b'", "PUBLISH: its topic is not UTF-8, or has a NUL" },
    { BOTH, "32 05 0003'a/b'", "PUBLISH: it ends in its packet id" },
    { BOTH, "32 07 0003'a/b' 0000", "PUBLISH: its packet id is 0" },
    { 5, "30 05 0003'a/b'", "PUBLISH: it ends in its properties" },
    { 5, "30 06 0003'a/b' 01", "PUBLISH: it ends in its properties" },
    { 5, "30 09 0003'a/b' 03 23 0000", "PUBLISH: its property 'topic alias' is 0" },
    { 5, "30 08 0003'a/b' 02 01 02", "PUBLISH: its property 'payload format indicator' is neither 0 nor 1" },
    { 5, "30 08 0003'a/b' 02 0b 00", "PUBLISH: its property 'subscription identifier' is 0" },
    { 5, "30 08 0003'a/b' 02 0b 80", "PUBLISH: its property 'subscription identifier' is not there as a whole" },
    { 5, "30 0a 0003'a/b' 04 08 0001'#'",
      "PUBLISH: its property 'response topic' is no topic: it is empty, or has a wildcard" },
    { 5, "30 09 0003'a/b' 03 08 0000",
      "PUBLISH: its property 'response topic' is no topic: it is empty, or has a wildcard" },
    { 5, "30 0a 0003'a/b' 04 01 01 01 01", "PUBLISH: its property 'payload format indicator' is there twice" },

    { BOTH, "40 01 00", "PUBACK: it ends in its packet id" },
    { BOTH, "40 02 0000", "PUBACK: its packet id is 0" },
    { 4, "40 03 0001 00", "PUBACK: something stands behind its end" },
    { 5, "40 03 0001 92", "PUBACK: 0x92 is no reason of it" },
    { 5, "50 03 0001 11", "PUBREC: 0x11 is no reason of it" },
    { 5, "62 03 0001 87", "PUBREL: 0x87 is no reason of it" },
    { 5, "70 03 0001 10", "PUBCOMP: 0x10 is no reason of it" },
    { 5, "40 04 0001 10 01", "PUBACK: it ends in its properties" },
    { 5, "40 05 0001 10 00 00", "PUBACK: something stands behind its end" },
    { 5, "40 07 0001 10 03 21 0001", "PUBACK: its property 'receive maximum' is none of such a packet's" },

    { 4, "82 02 0001", "SUBSCRIBE: it has no filter" },
    { 5, "82 03 0001 00", "SUBSCRIBE: it has no filter" },
    { 4, "82 05 0001 0001'a'", "SUBSCRIBE: it ends in a filter" },
    { 4, "82 06 0001 0001'a' 03", "SUBSCRIBE: a QoS of it is 3" },
    { 4, "82 06 0001 0001'a' 04", "SUBSCRIBE: reserved options of it are set" },
    { 5, "82 07 0001 00 0001'a' 40", "SUBSCRIBE: reserved options of it are set" },
    { 5, "82 07 0001 00 0001'a' 30", "SUBSCRIBE: its retain handling is 3" },
    { 5, "82 10 0001 00 000a'$share/g/a' 04", "SUBSCRIBE: what is shared has no 'no local'" },
    { 4, "82 05 0001 0000 00", "SUBSCRIBE: a filter of it: it is empty" },
    { 4, "82 07 0001 0002'a#' 00", "SUBSCRIBE: a filter of it: '#' stands alone, as the last level" },
    { 4, "82 06 0000 0001'a' 00", "SUBSCRIBE: its packet id is 0" },
    { 5, "82 09 0001 02 0b 00 0001'a' 00", "SUBSCRIBE: its property 'subscription identifier' is 0" },
    { 5, "82 0b 0001 04 0b 01 0b 02 0001'a' 00", "SUBSCRIBE: its property 'subscription identifier' is there twice" },
    { 4, "90 02 0001", "SUBACK: it has no reason" },
    { 4, "90 03 0001 03", "SUBACK: 0x03 is no reason of it" },
    { 4, "90 03 0001 87", "SUBACK: 0x87 is no reason of it" },
    { 5, "90 04 0001 00 11", "SUBACK: 0x11 is no reason of it" },
    { 4, "a2 02 0001", "UNSUBSCRIBE: it has no filter" },
    { 4, "a2 06 0001 0002'+a'", "UNSUBSCRIBE: a filter of it: '+' stands alone in its level" },
    { 4, "b0 03 0001 00", "UNSUBACK: something stands behind its end" },
    { 5, "b0 03 0001 00", "UNSUBACK: it has no reason" },
    { 5, "b0 04 0001 00 01", "UNSUBACK: 0x01 is no reason of it" },

    { 4, "e0 01 00", "DISCONNECT: something stands behind its end" },
    { 5, "e0 01 01", "DISCONNECT: 0x01 is no reason of it" },
    { 5, "e0 02 00 01", "DISCONNECT: it ends in its properties" },
    { 5, "f0 01 87", "AUTH: 0x87 is no reason of it" },
    { 5, "f0 05 18 03 16 0000", "AUTH: its property 'authentication data' is there without a method" },
};

static void check_refused(int version, const bad *row) {
    gale_str bytes = bytes_of(row->bytes);
    gale_error error = GALE_ERROR_INIT;
    mqtt_packet packet = { .id = 77 };
    int rc = mqtt_packet_read((mqtt_version)version, bytes, &packet, &error);
    if (rc != GALE_DAMAGED) fail_msg("%s: it is taken by version %d (%d)", row->bytes, version, rc);
    if (strcmp(error.text, row->words) != 0) fail_msg("%s: %s", row->bytes, error.text);
    assert_int_equal(packet.id, 77);
    give_back(bytes);
}

static void what_breaks_a_rule_is_refused_with_its_sentence(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        for (int version = 4; version <= 5; version++)
            if (refused[i].version == BOTH || refused[i].version == version) check_refused(version, &refused[i]);
}

static void a_packet_that_is_too_large_is_refused_by_its_head(void **state) {
    gale_str bytes = bytes_of("30 ffffff7f 00");
    gale_error error = GALE_ERROR_INIT;
    (void)state;
    assert_int_equal(mqtt_packet_size(MQTT_5, bytes, 1000, &error), GALE_TOO_LARGE);
    assert_string_equal(error.text, "PUBLISH: it has 268435460 bytes, and no more than 1000 are taken");
    assert_int_equal(mqtt_packet_size(MQTT_5, bytes, SIZE_MAX, &error), 268435460);
    give_back(bytes);
}

/* Each packet of the table, cut short and with each of its bytes another: read, or refused in words; nothing beyond the end is looked at (the sanitizers say). */
static void no_byte_is_trusted(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        gale_str bytes = bytes_of(taken[i].bytes);
        for (size_t at = 0; at < bytes.size * 2; at++) {
            char *other = (char *)(uintptr_t)bytes.data;
            other[at / 2] = (char)(other[at / 2] ^ (at & 1 ? 0x81 : 0x04));
            for (int version = 4; version <= 5; version++) {
                gale_error error = GALE_ERROR_INIT;
                mqtt_packet packet;
                int rc = mqtt_packet_read((mqtt_version)version, bytes, &packet, &error);
                assert_true(rc == 0 || (rc == GALE_DAMAGED && error.length));
            }
            other[at / 2] = (char)(other[at / 2] ^ (at & 1 ? 0x81 : 0x04));
        }
        give_back(bytes);
    }
}

/* --- Pieces ----------------------------------------------------------------------------------------------------------- */

static void numbers_have_one_to_four_bytes(void **state) {
    static const uint32_t numbers[] = { 0, 1, 127, 128, 16383, 16384, 2097151, 2097152, MQTT_NUMBER_MAX };
    static const size_t sizes[] = { 1, 1, 1, 2, 2, 3, 3, 4, 4 };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        mqtt_bytes bytes = { .data = NULL };
        uint32_t number = 0;
        mqtt_bytes_number(&bytes, numbers[i]);
        assert_int_equal(bytes.size, sizes[i]);
        assert_int_equal(mqtt_number_size(numbers[i]), sizes[i]);
        mqtt_cursor cursor = mqtt_cursor_of((gale_str){ bytes.data, bytes.size });
        assert_int_equal(mqtt_take_number(&cursor, &number), 1);
        assert_int_equal(number, numbers[i]);
        cursor = mqtt_cursor_of((gale_str){ bytes.data, bytes.size - 1 });
        assert_int_equal(mqtt_take_number(&cursor, &number), 0);
        mqtt_bytes_free(&bytes);
    }
}

static void filters_are_known(void **state) {
    static const char *const good_ones[] = { "a",  "/",    "a/b",    "+",          "+/+",         "#",  "a/#",
                                             "/+", "a//b", "$SYS/#", "$share/g/#", "$share/g//a", "ü/+" };
    static const char *const bad_ones[] = { "",         "a+",        "+a/b",      "#/a",        "a#",          "a/#/b",
                                            "$share/g", "$share/g/", "$share//a", "$share/+/a", "$share/g/a#", "\xff" };
    (void)state;
    for (size_t i = 0; i < sizeof good_ones / sizeof *good_ones; i++)
        if (mqtt_filter_wrong((gale_str){ good_ones[i], strlen(good_ones[i]) })) fail_msg("%s", good_ones[i]);
    for (size_t i = 0; i < sizeof bad_ones / sizeof *bad_ones; i++)
        if (!mqtt_filter_wrong((gale_str){ bad_ones[i], strlen(bad_ones[i]) })) fail_msg("%s", bad_ones[i]);
}

static void reasons_have_words(void **state) {
    char room[32];
    (void)state;
    assert_string_equal(mqtt_reason_words(MQTT_3_1_1, MQTT_CONNACK, 4, room, sizeof room), "bad user name or password");
    assert_string_equal(mqtt_reason_words(MQTT_5, MQTT_CONNACK, 0x86, room, sizeof room), "bad user name or password");
    assert_string_equal(mqtt_reason_words(MQTT_5, MQTT_CONNACK, 0x42, room, sizeof room), "reason 0x42");
    assert_string_equal(mqtt_type_name(MQTT_AUTH), "AUTH");
}

static void what_is_longer_than_a_packet_can_be_is_not_written(void **state) {
    mqtt_packet packet = { .type = MQTT_PUBLISH,
                           .message = { .topic = { "t", 1 }, .payload = { "", MQTT_NUMBER_MAX } } };
    mqtt_bytes bytes = { .data = NULL };
    (void)state;
    assert_int_equal(mqtt_packet_write(MQTT_3_1_1, &packet, &bytes), GALE_TOO_LARGE);
    assert_int_equal(bytes.size, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_packet_is_written_as_it_was_read),
        cmocka_unit_test(a_message_says_all_that_it_has),
        cmocka_unit_test(a_connect_says_all_that_it_has),
        cmocka_unit_test(filters_come_with_their_options),
        cmocka_unit_test(what_breaks_a_rule_is_refused_with_its_sentence),
        cmocka_unit_test(a_packet_that_is_too_large_is_refused_by_its_head),
        cmocka_unit_test(no_byte_is_trusted),
        cmocka_unit_test(numbers_have_one_to_four_bytes),
        cmocka_unit_test(filters_are_known),
        cmocka_unit_test(reasons_have_words),
        cmocka_unit_test(what_is_longer_than_a_packet_can_be_is_not_written),
    };
    return cmocka_run_group_tests_name("mqtt packets", tests, NULL, NULL);
}
