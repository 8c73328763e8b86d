/* cmocka with the headers it wants before it. */
#ifndef TEST_HARNESS_CM_H
#define TEST_HARNESS_CM_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* `fail` is a word of ours; fail_msg, which is made of it, serves. */
#undef fail
#undef fail_msg
#define fail_msg(...) (print_error("ERROR: " __VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))
/* clang-format on */

#endif
