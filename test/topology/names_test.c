#include "topology/names.h"

#include "topology/faults.h"
#include "topology/grouping.h"

/* last: cmocka has a macro `fail` */
#include "harness/cm.h"

static void says(int code, const gale_error *error, const char *expected) {
    assert_int_equal(code, GALE_TOPOLOGY);
    assert_int_equal(error->code, GALE_TOPOLOGY);
    assert_string_equal(error->text, expected);
}

static void names_of_users_may_be_any_text_but_for_the_systems(void **state) {
    (void)state;
    gale_error e = GALE_ERROR_INIT;
    assert_int_equal(gx_name_check("bolt", "count", &e), 0);
    assert_int_equal(gx_name_check("bolt", "_one", &e), 0);
    assert_int_equal(gx_name_check("bolt", "z\xc3\xa4hler 2", &e), 0);
    says(gx_name_check("bolt", "__acker", &e), &e,
         "bolt name '__acker' begins with '__', which is kept for the system");
    says(gx_name_check("bolt", "", &e), &e, "a bolt name is empty");
    says(gx_name_check("bolt", NULL, &e), &e, "a bolt name is empty");
    says(gx_name_check("stream", "a\nb", &e), &e, "a stream name has a control character at byte 1");
    says(gx_name_check("stream", "a\x7f", &e), &e, "a stream name has a control character at byte 1");
    says(gx_name_check("field", "\xff", &e), &e, "a field name is not UTF-8");
    assert_int_equal(gx_name_check("field", "", NULL), GALE_TOPOLOGY);
}

static void a_topology_is_named_as_storm_allows(void **state) {
    (void)state;
    gale_error e = GALE_ERROR_INIT;
    assert_int_equal(gx_name_check_topology("word-count 2", &e), 0);
    assert_int_equal(gx_name_check_topology("__x", &e), 0);
    says(gx_name_check_topology("", &e), &e, "a topology name is empty");
    says(gx_name_check_topology("a.b", &e), &e, "topology name 'a.b' has a '.'; none of / . : \\ may stand there");
    says(gx_name_check_topology("a\\b", &e), &e, "topology name 'a\\b' has a '\\'; none of / . : \\ may stand there");
    says(gx_name_check_topology("a/b", &e), &e, "topology name 'a/b' has a '/'; none of / . : \\ may stand there");
    says(gx_name_check_topology("a:b", &e), &e, "topology name 'a:b' has a ':'; none of / . : \\ may stand there");
}

static void a_list_of_names_is_split_at_commas(void **state) {
    (void)state;
    gale_error e = GALE_ERROR_INIT;
    char **names;
    uint32_t count;
    assert_int_equal(gx_names_split("field", " word,count , third", &names, &count, &e), 0);
    assert_int_equal(count, 3);
    assert_string_equal(names[0], "word");
    assert_string_equal(names[1], "count");
    assert_string_equal(names[2], "third");
    gx_names_free(names, count);
}

static void no_text_is_no_name(void **state) {
    (void)state;
    static const char *const empty[] = { NULL, "", "  " };
    for (int i = 0; i < 3; i++) {
        char **names = (char **)1;
        uint32_t count = 9;
        assert_int_equal(gx_names_split("field", empty[i], &names, &count, NULL), 0);
        assert_null(names);
        assert_int_equal(count, 0);
    }
}

static void a_list_with_a_bad_name_is_refused_whole(void **state) {
    (void)state;
    gale_error e = GALE_ERROR_INIT;
    char **names = NULL;
    uint32_t count = 7;
    says(gx_names_split("field", "a,b,a", &names, &count, &e), &e, "field 'a' comes twice");
    says(gx_names_split("field", "a,,b", &names, &count, &e), &e, "a field name is empty");
    says(gx_names_split("field", "a,", &names, &count, &e), &e, "a field name is empty");
    says(gx_names_split("field", "a,__b", &names, &count, &e), &e,
         "field name '__b' begins with '__', which is kept for the system");
    assert_null(names);
    assert_int_equal(count, 7);
}

static void a_split_without_memory_leaves_nothing_behind(void **state) {
    (void)state;
    for (long n = 1;; n++) {
        char **names = NULL;
        uint32_t count = 7;
        fail_call(n);
        int code = gx_names_split("field", "a, b, c", &names, &count, NULL);
        fail_call(0);
        if (code == 0) {
            assert_int_equal(n, 5);
            gx_names_free(names, count);
            return;
        }
        assert_int_equal(code, GALE_NO_MEMORY);
        assert_null(names);
        assert_int_equal(count, 7);
    }
}

static void groupings_have_names_and_flux_names_are_read_in_any_case(void **state) {
    (void)state;
    for (int kind = 0; kind < GALE_GROUPING_COUNT; kind++)
        assert_int_equal(gx_grouping_parse(gx_str(gale_grouping_name(kind))), kind);
    assert_string_equal(gale_grouping_name(GALE_GROUPING_COUNT), "unknown");
    assert_string_equal(gale_grouping_name(-1), "unknown");
    assert_int_equal(gx_grouping_parse(gx_str("FIELDS")), GALE_GROUPING_FIELDS);
    assert_int_equal(gx_grouping_parse(gx_str("Shuffle")), GALE_GROUPING_SHUFFLE);
    assert_int_equal(gx_grouping_parse(gx_str("LOCAL_OR_SHUFFLE")), GALE_GROUPING_LOCAL_OR_SHUFFLE);
    assert_int_equal(gx_grouping_parse(gx_str("none")), GALE_GROUPING_NONE);
    assert_int_equal(gx_grouping_parse(gx_str("DIRECT")), GALE_GROUPING_DIRECT);
    assert_int_equal(gx_grouping_parse(gx_str("Partial_Key")), GALE_GROUPING_PARTIAL_KEY);
    assert_int_equal(gx_grouping_parse(gx_str("CUSTOM")), GALE_GROUPING_CUSTOM);
    assert_int_equal(gx_grouping_parse(gx_str("field")), GX_GROUPING_UNKNOWN);
    assert_int_equal(gx_grouping_parse(gx_str("")), GX_GROUPING_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_users_may_be_any_text_but_for_the_systems),
        cmocka_unit_test(a_topology_is_named_as_storm_allows),
        cmocka_unit_test(a_list_of_names_is_split_at_commas),
        cmocka_unit_test(no_text_is_no_name),
        cmocka_unit_test(a_list_with_a_bad_name_is_refused_whole),
        cmocka_unit_test(a_split_without_memory_leaves_nothing_behind),
        cmocka_unit_test(groupings_have_names_and_flux_names_are_read_in_any_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
