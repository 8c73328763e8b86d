/* The words of expressions. */
#include "script/token.h"

#include "base/buf.h"

#include "harness/cm.h"

static const char *const kinds = "$nd\"[sx"; /* end, name, number, string, long, sign, wrong */

/* Each token as its kind and text. */
static void expect(const char *text, const char *wanted) {
    gx_buf buf = GX_BUF_INIT(NULL);
    gale_str rest = gx_str(text);
    for (gx_token t = gx_token_next(&rest); t.kind != GX_TOKEN_END; t = gx_token_next(&rest))
        gx_buf_format(&buf, "%c%.*s ", kinds[t.kind], GX_STR(t.text));
    assert_string_equal(gx_buf_text(&buf), wanted);
    gx_buf_fini(&buf);
}

static void words_are_lua_s(void **state) {
    (void)state;
    expect("", "");
    expect(" \t\n\r", "");
    expect("status>=500 and not b_1", "nstatus s>= d500 nand nnot nb_1 ");
    expect("a.b:c(1,2)[3]..\"x\"...", "na s. nb s: nc s( d1 s, d2 s) s[ d3 s] s.. \"\"x\" s... ");
    expect("a//b/c~=d==e<=f<<g", "na s// nb s/ nc s~= nd s== ne s<= nf s<< ng ");
    expect("'it' 'i\\'t' [[long\n]] [==[ ]] ]==] [=", "\"'it' ['i\\'t' [[[long\n]] [[==[ ]] ]==] s[ s= ");
    expect("1 1.5 .5 1e3 1e-3 1e+3 0x10 1x 9223372036854775807 9223372036854775808",
           "d1 d1.5 d.5 d1e3 d1e-3 d1e+3 x0x10 x1x d9223372036854775807 d9223372036854775808 ");
    expect("a -- all of it\n b --[[ two\nlines ]] c --[==[ never ended", "na nb nc ");
    expect("'open", "x'open ");
    expect("'open\nline'", "x'open nline x' ");
    expect("a ? \x80 !", "na x? x\x80 x! ");
}

static void numbers_have_their_value(void **state) {
    (void)state;
    gale_str rest = gx_str("42 2.5e1 9223372036854775808");
    gx_token t = gx_token_next(&rest);
    assert_true(t.is_whole && t.whole == 42);
    t = gx_token_next(&rest);
    assert_true(!t.is_whole && t.number == 25.0);
    t = gx_token_next(&rest);
    assert_true(!t.is_whole && t.number == 9223372036854775808.0);
}

static void names_are_told_from_words_of_lua(void **state) {
    (void)state;
    assert_true(gx_token_is_name(gx_str("status_2")));
    assert_true(gx_token_is_name(gx_str("_")));
    assert_false(gx_token_is_name(gx_str("end")));
    assert_false(gx_token_is_name(gx_str("2nd")));
    assert_false(gx_token_is_name(gx_str("user-agent")));
    assert_false(gx_token_is_name(gx_str("")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_lua_s),
        cmocka_unit_test(numbers_have_their_value),
        cmocka_unit_test(names_are_told_from_words_of_lua),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
