/* JSON, URLs, bytes: what the library answers, beyond the examples of docs/reference/expressions.md. */
#include "script/rig.h"

#include <gale/json.h>

static void json_is_read(void **state) {
    RIG_EXPECT_ALL({ "json.decode(' 1 ')", "1" }, { "json.decode('-0')", "0" }, { "json.decode('1e2')", "100.0" },
                   { "json.decode('9223372036854775807')", "9223372036854775807" },
                   { "json.decode('9223372036854775808')", "9.223372036854776e+18" },
                   { "json.decode('\"a\\\\u00e9\\\\ud83d\\\\ude00\\\\n\\\\/\"')", "\"aé😀\\n/\"" },
                   { "json.decode('[]')", "[]" }, { "json.decode('{}')", "[]" },
                   { "json.decode('{\"a\":{\"b\":[true,false,null]}}')", "{\"a\":{\"b\":[true,false,null]}}" },
                   { "json.decode('{\"a\":1,\"a\":2}')", "{\"a\":2}" }, { "json.decode('\"\"')", "\"\"" },
                   { "#json.decode('\"\\\\u0000\"')", "1" },
                   { "#json.decode('\"' .. string.rep('a\\\\n', 1000) .. '\"')", "2000" });
}

static void what_is_no_json_is_told(void **state) {
    RIG_EXPECT_ALL(
        { "json.decode('')", "null" }, { "select(2, json.decode(''))", "\"no JSON: 1:1: expected a value\"" },
        { "select(2, json.decode('[1,]'))", "\"no JSON: 1:4: expected a value\"" },
        { "select(2, json.decode('[1 2]'))", "\"no JSON: 1:4: expected ',' or ']'\"" },
        { "select(2, json.decode('{\"a\" 1}'))", "\"no JSON: 1:6: expected ':'\"" },
        { "select(2, json.decode('{a:1}'))", "\"no JSON: 1:2: expected a name in quotation marks\"" },
        { "select(2, json.decode('{\"a\":1,\\n \"b\"}'))", "\"no JSON: 2:5: expected ':'\"" },
        { "select(2, json.decode('{\"a\":1 \"b\"}'))", "\"no JSON: 1:8: expected ',' or '}'\"" },
        { "select(2, json.decode('1 2'))", "\"no JSON: 1:3: expected the end of the text\"" },
        { "select(2, json.decode('01'))", "\"no JSON: 1:2: expected the end of the text\"" },
        { "select(2, json.decode('-'))", "\"no JSON: 1:1: expected digits\"" },
        { "select(2, json.decode('1.'))", "\"no JSON: 1:3: expected digits behind the point\"" },
        { "select(2, json.decode('[1e999]'))", "\"no JSON: 1:2: the number is larger than any float\"" },
        { "json.decode(string.rep('1', 300))", "1.1111111111111112e+299" },
        { "select(2, json.decode('\"a'))", "\"no JSON: 1:1: the string does not end\"" },
        { "select(2, json.decode('\"\\\\'))", "\"no JSON: 1:1: the string does not end\"" },
        { "select(2, json.decode('\"\\\\x\"'))", "\"no JSON: 1:2: there is no such escape\"" },
        { "select(2, json.decode('\"\\\\u12g4\"'))", "\"no JSON: 1:4: \\\\u needs four hexadecimal digits\"" },
        { "select(2, json.decode('[\"\\\\ud800\"]'))", "\"no JSON: 1:3: half of a surrogate pair stands alone\"" },
        { "select(2, json.decode('\"\\\\ud800\\\\u0041\"'))",
          "\"no JSON: 1:2: half of a surrogate pair stands alone\"" },
        { "select(2, json.decode('\"\\t\"'))", "\"no JSON: 1:2: a control character stands in a string\"" },
        { "select(2, json.decode('\"\\xff\"'))", "\"no JSON: 1:2: the bytes are not UTF-8\"" },
        { "select(2, json.decode(string.rep('[', 40)))",
          "\"no JSON: 1:33: more than 32 lists and objects inside each other are no value\"" },
        { "select(2, json.decode('nul'))", "\"no JSON: 1:1: expected a value\"" },
        { "assert(json.decode('x'))", "here:1: no JSON: 1:1: expected a value" },
        { "json.decode({})", "here:1: bad argument #1 to 'decode' (string expected, got table)" });
}

/* tuple/json_judge compares the reader with one of others. */
static void what_the_reader_takes_is_decoded(void **state) {
    static const char letters[] = "[]{}\"\\:,.-+eE019 atrufnlsebdcA8\n";
    uint64_t random = 1;
    char text[24];
    int function = rig_compile(
        *state, "json.decode(x) ~= nil and 1 or (select(2, json.decode(x))):find('larger than') and 2 or 3");
    for (int i = 0; i < 200000; i++) {
        size_t size = 0, most = 1 + (random >> 33) % (sizeof text - 1);
        static const char *const words[] = { "true", "null", "\"a\"", "[1,", "{\"b\":", "1.5e3", "\\u00e9", "]", "}" };
        while (size < most) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
            const char *word = words[(random >> 40) % (sizeof words / sizeof *words)];
            if ((random >> 60) < 8 || size + strlen(word) > most) {
                text[size++] = letters[(random >> 33) % (sizeof letters - 1)];
            } else {
                memcpy(text + size, word, strlen(word));
                size += strlen(word);
            }
        }
        bool is_json = gale_json_check((gale_str){ text, size }, NULL, NULL) == 0;
        gale_value x = gale_string(text, size);
        const char *ours = rig_call(*state, function, &x);
        if (*ours == (is_json ? '3' : '1')) fail_msg("'%.*s': %s", (int)size, text, ours);
    }
}

static void json_is_written(void **state) {
    RIG_EXPECT_ALL(
        { "json.encode(nil)", "\"null\"" }, { "json.encode(json.null)", "\"null\"" }, { "json.encode({})", "\"[]\"" },
        { "json.encode({1, {2}, json.null})", "\"[1,[2],null]\"" }, { "json.encode(0/0)", "\"null\"" },
        { "json.encode(1/0)", "\"null\"" }, { "json.encode(1.0)", "\"1.0\"" },
        { "json.encode('\"\\\\\\n\\x7f')", "\"\\\"\\\\\\\"\\\\\\\\\\\\n\\\\u007f\\\"\"" },
        { "#json.encode(string.rep('\\1', 1000))", "6002" },
        { "json.encode({b = {x = 1}, a = 'é', B = false})",
          "\"{\\\"B\\\":false,\\\"a\\\":\\\"é\\\",\\\"b\\\":{\\\"x\\\":1}}\"" },
        { "json.encode('\\xff')", "here:1: text that is no UTF-8 cannot be JSON; write base64.encode(...)" },
        { "json.encode({1, a = 2})",
          "here:1: a table that is neither a list (1 to n) nor a map (strings) cannot be JSON" },
        { "json.encode({[2] = 1})",
          "here:1: a table that is neither a list (1 to n) nor a map (strings) cannot be JSON" },
        { "json.encode(split)", "here:1: a function cannot be JSON" },
        { "local t = {} t.t = t return json.encode(t)", "here:1: the value is too deep, or contains itself" },
        { "json.encode()", "here:1: bad argument #1 to 'encode' (value expected)" });
}

static void urls_have_parts(void **state) {
    RIG_EXPECT_ALL(
        { "url.parse('')", "{\"path\":\"\"}" }, { "url.parse('/a/b?c')", "{\"path\":\"/a/b\",\"query\":\"c\"}" },
        { "url.parse('http://h')", "{\"host\":\"h\",\"path\":\"\",\"scheme\":\"http\"}" },
        { "url.parse('http://u:p@h:0/?#')", "{\"fragment\":\"\",\"host\":\"h\",\"path\":\"/"
                                            "\",\"port\":0,\"query\":\"\",\"scheme\":\"http\",\"user\":\"u:p\"}" },
        { "url.parse('http://[::1]:80/x')", "{\"host\":\"[::1]\",\"path\":\"/x\",\"port\":80,\"scheme\":\"http\"}" },
        { "url.parse('http://[::1]/x').host", "\"[::1]\"" }, { "url.parse('//h:65536').host", "\"h:65536\"" },
        { "url.parse('mailto:a@b.c')", "{\"path\":\"a@b.c\",\"scheme\":\"mailto\"}" },
        { "url.parse('1a:b').scheme", "null" }, { "url.parse('a b:c').scheme", "null" },
        { "url.parse('//a@b@c').user", "\"a@b\"" });
}

static void queries_and_percent_signs_are_decoded(void **state) {
    RIG_EXPECT_ALL({ "url.query('')", "[]" }, { "url.query('a')", "{\"a\":\"\"}" },
                   { "url.query('a=1&&b==2&a=3')", "{\"a\":\"3\",\"b\":\"=2\"}" },
                   { "url.query('http://h/?x=%26#y=1')", "{\"x\":\"&\"}" },
                   { "url.decode('%41%4a%4A+%')", "\"AJJ+%\"" }, { "url.decode('%4')", "\"%4\"" },
                   { "#url.decode('%00')", "1" }, { "url.encode('-._~aZ9')", "\"-._~aZ9\"" },
                   { "url.encode('\\0 +')", "\"%00%20%2B\"" });
}

static void bytes_are_coded(void **state) {
    RIG_EXPECT_ALL(
        { "base64.encode('')", "\"\"" }, { "base64.encode('a')", "\"YQ==\"" }, { "base64.encode('ab')", "\"YWI=\"" },
        { "base64.decode('')", "\"\"" }, { "base64.decode('YQ==')", "\"a\"" }, { "base64.decode('YQ=')", "null" },
        { "base64.decode('Y===')", "null" }, { "base64.decode('YQ==YQ==')", "null" },
        { "local s = string.rep('\\0\\xff\\x80', 1000) return base64.decode(base64.encode(s)) == s", "true" },
        { "hex('')", "\"\"" }, { "hex('\\0\\xff')", "\"00ff\"" }, { "hash('')", "3244421341483603138" },
        { "hash(1) == hash('1')", "true" });
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read),
        cmocka_unit_test(what_is_no_json_is_told),
        cmocka_unit_test(what_the_reader_takes_is_decoded),
        cmocka_unit_test(json_is_written),
        cmocka_unit_test(urls_have_parts),
        cmocka_unit_test(queries_and_percent_signs_are_decoded),
        cmocka_unit_test(bytes_are_coded),
    };
    return cmocka_run_group_tests(tests, rig_set_up, rig_tear_down);
}
