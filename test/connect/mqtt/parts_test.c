/* Parts of the connector mqtt that need no broker: levels of topics, rows, places that wait for a checkpoint. */
#include "connect/mqtt/row.h"
#include "connect/mqtt/settled.h"
#include "connect/mqtt/topic.h"

#include "connect/mqtt/hex.h"

/* --- Levels ----------------------------------------------------------------------------------------------------------- */

static void check_levels(const char *pattern, const char *topic, const char *wanted) {
    gale_error error = GALE_ERROR_INIT;
    gale_value values[MQTT_LEVELS_MAX];
    mqtt_levels levels;
    char found[200] = "";
    if (mqtt_levels_make(&levels, pattern, &error) < 0) fail_msg("%s: %s", pattern, error.text);
    mqtt_levels_read(&levels, (gale_str){ topic, strlen(topic) }, values);
    for (size_t i = 0; i < levels.count; i++) {
        size_t size = strlen(found);
        if (values[i].type == GALE_TYPE_NULL)
            snprintf(found + size, sizeof found - size, "|-");
        else
            snprintf(found + size, sizeof found - size, "|%.*s", (int)values[i].size, values[i].as.string);
    }
    if (strcmp(found, wanted) != 0) fail_msg("%s of %s is %s, not %s", topic, pattern, found, wanted);
    mqtt_levels_free(&levels);
}

static void levels_of_a_topic_are_fields(void **state) {
    (void)state;
    check_levels("sensors/{site}/{kind}/+", "sensors/graz/heat/7", "|graz|heat");
    check_levels("sensors/{site}/{kind}/+", "sensors/graz/heat", "|-|-");
    check_levels("sensors/{site}/{kind}/+", "sensors/graz/heat/7/8", "|-|-");
    check_levels("sensors/{site}/{kind}/+", "actors/graz/heat/7", "|-|-");
    check_levels("{a}/#", "x", "|x");
    check_levels("{a}/#", "x/y/z", "|x");
    check_levels("/{a}/{b}", "/x/", "|x|");
    check_levels("{a}", "", "|");
}

static void a_pattern_that_is_none_is_refused(void **state) {
    static const struct {
        const char *pattern, *words;
    } rows[] = {
        { "a/b", "levels: it has no field: {name}" },
        { "{a/b", "levels: a field is a whole level in braces: {name}" },
        { "{a}x", "levels: a field is a whole level in braces: {name}" },
        { "{}", "levels: '' is no name" },
        { "{a b}", "levels: 'a b' is no name" },
        { "{a}/{a}", "levels: {a} stands there twice" },
        { "x{a}", "levels: 'x{a}': braces, '+' and '#' take a whole level, and '#' is the last" },
        { "#/{a}", "levels: '#': braces, '+' and '#' take a whole level, and '#' is the last" },
        { "a+/{a}", "levels: 'a+': braces, '+' and '#' take a whole level, and '#' is the last" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gale_error error = GALE_ERROR_INIT;
        mqtt_levels levels;
        assert_int_equal(mqtt_levels_make(&levels, rows[i].pattern, &error), GALE_INVALID);
        assert_string_equal(error.text, rows[i].words);
        mqtt_levels_free(&levels);
    }
}

/* --- Rows ------------------------------------------------------------------------------------------------------------- */

static void assert_is(const gale_value *value, const char *wanted) {
    assert_int_equal(value->type, GALE_TYPE_STRING);
    assert_int_equal(value->size, strlen(wanted));
    assert_memory_equal(value->as.string, wanted, value->size);
}

static mqtt_packet read_publish(gale_str bytes) {
    gale_error error = GALE_ERROR_INIT;
    mqtt_packet packet;
    if (mqtt_packet_read(MQTT_5, bytes, &packet, &error) < 0) fail_msg("%s", error.text);
    return packet;
}

static void a_row_has_what_emit_and_levels_name(void **state) {
    static const mqtt_subscription filters[] = { { .filter = { "x/#", 3 } }, { .filter = { "a/#", 3 } } };
    gale_str bytes = bytes_of(
        "35 23 0003'a/b' 0001 19 02 0000000a 03 0001'x' 0b 02 26 0001'k' 0001'1' 26 0001'k' 0001'2' ff00");
    gale_error error = GALE_ERROR_INIT;
    static mqtt_values values;
    mqtt_row row;
    gale_value found;
    mqtt_message letter;
    (void)state;
    assert_int_equal(mqtt_row_make(&row, "properties, qos, retain, filter, contentType, correlation, expiry, payload",
                                   "a/{leaf}", &error),
                     0);
    assert_string_equal(row.text, "properties, qos, retain, filter, contentType, correlation, expiry, payload, leaf");
    row.filters = filters;
    row.filter_count = 2;
    row.keeps = true;
    mqtt_packet packet = read_publish(bytes);
    assert_int_equal(mqtt_row_values(&row, &packet, &values), 0);
    assert_int_equal(mqtt_row_count(&row), 9);
    assert_int_equal(values.count, 12);
    assert_int_equal(values.list[0].size, 1);
    assert_true(gale_map_get(&values.list[0], (gale_str){ "k", 1 }, &found));
    assert_is(&found, "2");
    assert_int_equal(values.list[1].as.i64, 2);
    assert_true(values.list[2].as.boolean);
    assert_is(&values.list[3], "a/#");
    assert_is(&values.list[4], "x");
    assert_int_equal(values.list[5].type, GALE_TYPE_NULL);
    assert_int_equal(values.list[6].as.i64, 10);
    assert_int_equal(values.list[7].type, GALE_TYPE_BYTES);
    assert_is(&values.list[8], "b");
    assert_true(mqtt_row_letter(&row, values.list, values.count, &letter));
    assert_int_equal(letter.payload.size, 2);
    assert_memory_equal(letter.topic.data, "a/b", 3);
    assert_false(mqtt_row_letter(&row, values.list, 9, &letter));
    mqtt_row_free(&row);
    give_back(bytes);
}

static void names_that_meet_are_refused(void **state) {
    gale_error error = GALE_ERROR_INIT;
    mqtt_row row;
    (void)state;
    assert_int_equal(mqtt_row_make(&row, "payload, topic", "a/{topic}", &error), GALE_INVALID);
    assert_string_equal(error.text, "levels: {topic} is a field of emit already");
    mqtt_row_free(&row);
    assert_int_equal(mqtt_row_make(&row, "payloud", NULL, &error), GALE_INVALID);
    assert_non_null(strstr(error.text, "payload"));
    mqtt_row_free(&row);
}

/* --- Topics ----------------------------------------------------------------------------------------------------------- */

static void topics_may_have_fields(void **state) {
    static const char *const good[] = { "a", "a/{b}", "{a}/{+b}", "{a}{b}" };
    static const char *const bad[] = { "", "a/#", "+/a", "a/{", "a/}", "a/{}", "a/{b{c}}" };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        bool fields;
        assert_int_equal(mqtt_topic_check(good[i], &fields, NULL), 0);
        assert_int_equal(fields, i > 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bool fields;
        gale_error error = GALE_ERROR_INIT;
        if (mqtt_topic_check(bad[i], &fields, &error) != GALE_INVALID) fail_msg("%s", bad[i]);
        assert_memory_equal(error.text, "topic: ", 7);
    }
}

/* --- Places ----------------------------------------------------------------------------------------------------------- */

static void what_was_settled_behind_a_cut_waits_for_the_next_one(void **state) {
    mqtt_settled settled = { .count = 0 };
    (void)state;
    for (int64_t i = 0; i < 100; i++) assert_true(mqtt_settled_add(&settled, i));
    mqtt_settled_cut(&settled, 5);
    assert_true(mqtt_settled_add(&settled, 100));
    assert_int_equal(mqtt_settled_lasting(&settled, 4), 0);
    assert_int_equal(mqtt_settled_lasting(&settled, 5), 100);
    mqtt_settled_forget(&settled, 100);
    assert_int_equal(mqtt_settled_lasting(&settled, 6), 0);
    assert_int_equal(settled.count, 1);
    assert_int_equal(settled.places[0], 100);
    mqtt_settled_free(&settled);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_of_a_topic_are_fields),
        cmocka_unit_test(a_pattern_that_is_none_is_refused),
        cmocka_unit_test(a_row_has_what_emit_and_levels_name),
        cmocka_unit_test(names_that_meet_are_refused),
        cmocka_unit_test(topics_may_have_fields),
        cmocka_unit_test(what_was_settled_behind_a_cut_waits_for_the_next_one),
    };
    return cmocka_run_group_tests_name("mqtt parts", tests, NULL, NULL);
}
