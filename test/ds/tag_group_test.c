#include "ds/tag_group.h"

#include "base/random.h"
#include "harness/cm.h"

#include <stdalign.h>

static void every_slot_with_the_tag_is_found_and_no_other(void **state) {
    (void)state;
    gx_random random = gx_random_new(3, 3);
    for (int round = 0; round < 100000; round++) {
        alignas(64) gx_tag_slot group[GX_TAG_GROUP];
        uint32_t tag = 1 + gx_random_below(&random, 3), naive = 0;
        if (round % 2) tag |= UINT32_C(0xffff0000); /* all of the tag counts */
        for (uint32_t i = 0; i < GX_TAG_GROUP; i++) {
            group[i].tag = gx_random_below(&random, 4) | (gx_random_below(&random, 2) ? UINT32_C(0xffff0000) : 0);
            group[i].entry = gx_random_below(&random, 2) ? tag : 0; /* what is the user's does not */
            if (group[i].tag == tag) naive |= UINT32_C(1) << i;
        }
        assert_int_equal(gx_tag_group_match(group, tag), naive);
        assert_int_equal(gx_tag_group_match_plain(group, tag), naive);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_slot_with_the_tag_is_found_and_no_other) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
