/* A pattern, a NUL, and a text: find, match, gmatch, gsub and regex are of one mind, and end within their bounds. What follows a
 * second NUL is read as JSON, as a moment and as a URL. */
#include "fuzz.h"

#include "base/str.h"
#include "script/box.h"

enum { WORK = 1000000, CALLS = 2000, MOST = 2000 };

/* True, or an error; false: that is a lie. */
static const char patterns[] =
    "local found, ends = string.find(text, pattern)\n"
    "local rest, count = string.gsub(text, pattern, '')\n"
    "local n = 0 for w in string.gmatch(text, pattern) do n = n + 1 end\n"
    "local r = regex(text, pattern)\n"
    "if not ((found == nil) == (r == nil)) then return false end string.match(text, pattern)\n"
    "if not ((count == 0) == (found == nil) and count == n) then return false end\n"
    "if not (not found or (found >= 1 and ends <= #text and found <= ends + 1)) then return false end\n"
    "return true";

static const char others[] =
    "local v = json.decode(text)\n"
    "if v ~= nil then local e = json.encode(v) "
    "if not (e == json.encode(json.decode(e))) then return false end end\n"
    "local t = time.parse(text)\n"
    "if t then if not (math.abs(time.parse(time.format(t)) - t) < 1e-4) then return false end end\n"
    "local u = url.parse(text)\n"
    "if not (url.decode(url.encode(text)) == text) then return false end\n"
    "if not (base64.decode(base64.encode(text)) == text) then return false end\n"
    "url.query(text) split(text, ' ') lines(text) pad(text, 9) time.parse('1', pattern)\n"
    "return true";

static gx_heap heap;
static gx_box *box;
static int functions[2];
static int calls;

static void begin(void) {
    gale_error error = GALE_ERROR_INIT;
    gx_box_limits limits = { .work = WORK };
    if (box) return;
    gx_heap_init(&heap, NULL);
    expect(gx_box_new(&heap, &limits, &box, &error) == GALE_OK);
    expect(gx_box_compile(box, gx_str(patterns), "p", gx_str("text,pattern"), &functions[0], &error) == GALE_OK);
    expect(gx_box_compile(box, gx_str(others), "o", gx_str("text,pattern"), &functions[1], &error) == GALE_OK);
}

static void call(int function, gale_str text, gale_str pattern) {
    gale_error error = GALE_ERROR_INIT;
    gale_value values[2] = { gale_string(text.data, text.size), gale_string(pattern.data, pattern.size) }, value;
    gx_box_begin(box);
    int rc = gx_box_call(box, function, values, 2, &value, &error);
    expect(rc < 0 || value.as.boolean);
}

static gale_str piece(gale_str *rest) {
    const char *end = rest->size ? memchr(rest->data, 0, rest->size) : NULL;
    gale_str cut = { rest->data, end ? (size_t)(end - rest->data) : rest->size };
    *rest = end ? (gale_str){ end + 1, rest->size - cut.size - 1 } : (gale_str){ rest->data + cut.size, 0 };
    return cut;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_str rest = { (const char *)data, size < MOST ? size : MOST };
    gale_str pattern = piece(&rest), text = piece(&rest);
    begin();
    call(functions[0], text, pattern);
    call(functions[1], rest, pattern);
    if (++calls % CALLS == 0) {
        gx_box_free(box);
        box = NULL;
        expect(gx_heap_reserved(&heap) == 0);
    }
    return 0;
}
