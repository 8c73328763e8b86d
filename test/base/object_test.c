#include "base/object.h"

#include "harness/cm.h"

#include <stdlib.h>

typedef struct thing {
    gx_mark mark;
    int content;
} thing;

static void a_marked_object_is_of_its_kind_alone(void **state) {
    (void)state;
    thing made;
    gx_mark_begin(&made.mark, GX_KIND_CONFIG);
    assert_true(gx_mark_is(&made, GX_KIND_CONFIG));
    assert_false(gx_mark_is(&made, GX_KIND_TOPOLOGY));
    assert_false(gx_mark_is(NULL, GX_KIND_CONFIG));
    gx_mark_end(&made.mark);
    assert_false(gx_mark_is(&made, GX_KIND_CONFIG));
}

static void what_is_no_object_is_none_wherever_it_lies(void **state) {
    (void)state;
    char text[] = "some text of an application";
    assert_false(gx_mark_is(text + 1, GX_KIND_CONFIG));
}

#if defined(GALE_CHECKS) && GALE_CHECKS >= 1

static void a_listed_object_is_known_until_its_end_and_never_read(void **state) {
    (void)state;
    const void *object = (const void *)(uintptr_t)0x1000; /* nobody could read there */
    assert_false(gx_object_is(object, GX_KIND_ROTATING_MAP));
    gx_object_begin(object, GX_KIND_ROTATING_MAP);
    assert_true(gx_object_is(object, GX_KIND_ROTATING_MAP));
    assert_false(gx_object_is(object, GX_KIND_TIME_CACHE_MAP));
    gx_object_end(object);
    assert_false(gx_object_is(object, GX_KIND_ROTATING_MAP));
}

static void a_full_list_refuses_nobody_and_goes_on(void **state) {
    (void)state;
    enum { MANY = (1 << 16) + 100 }; /* a hundred more than there are places */
    for (uintptr_t i = 1; i <= MANY; i++) gx_object_begin((const void *)(i << 12), GX_KIND_CONFIG);
    for (uintptr_t i = 1; i <= MANY; i++) assert_true(gx_object_is((const void *)(i << 12), GX_KIND_CONFIG));
    for (uintptr_t i = 1; i <= MANY; i++) gx_object_end((const void *)(i << 12));
    gx_object_begin(state, GX_KIND_TOPOLOGY);
    assert_false(gx_object_is(state, GX_KIND_CONFIG));
    gx_object_end(state);
}

#else

static void without_checks_a_listed_object_is_what_is_not_null(void **state) {
    gx_object_begin(state, GX_KIND_ROTATING_MAP);
    assert_true(gx_object_is(state, GX_KIND_ROTATING_MAP));
    assert_false(gx_object_is(NULL, GX_KIND_ROTATING_MAP));
    gx_object_end(state);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marked_object_is_of_its_kind_alone),
        cmocka_unit_test(what_is_no_object_is_none_wherever_it_lies),
#if defined(GALE_CHECKS) && GALE_CHECKS >= 1
        cmocka_unit_test(a_listed_object_is_known_until_its_end_and_never_read),
        cmocka_unit_test(a_full_list_refuses_nobody_and_goes_on),
#else
        cmocka_unit_test(without_checks_a_listed_object_is_what_is_not_null),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
