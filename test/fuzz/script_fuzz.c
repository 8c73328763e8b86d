/* Bytes, read as an expression over a field `x`, whose value is the text itself. Whatever it is, it compiles or is refused, and
 * its call ends within its bounds; the box answers as before. As an expression over fields, some with names of the library, it is
 * refused with a place or runs, too. */
#include "fuzz.h"

#include "base/str.h"
#include "script/expression.h"

enum { WORK = 50000, MEMORY = 200000, PIECES = 500, MOST = 4096 };

static gx_heap heap;
static gx_box *box;
static int known; /* a function that must go on to answer */
static int pieces;

static gx_box *begin(void) {
    gale_error error = GALE_ERROR_INIT;
    gx_box_limits limits = { .work = WORK, .memory = MEMORY };
    if (!box) {
        gx_heap_init(&heap, NULL);
        expect(gx_box_new(&heap, &limits, &box, &error) == GALE_OK);
        expect(gx_box_compile(box, gx_str("join(split(x, ','), '+')"), "known", gx_str("x"), &known, &error) ==
               GALE_OK);
        pieces = 0;
    }
    return box;
}

/* Functions stay as long as their box. */
static void end(void) {
    if (++pieces < PIECES) return;
    gx_box_free(box);
    box = NULL;
    expect(gx_heap_reserved(&heap) == 0);
}

static int call(int function, gale_value x, gale_value *ret_value) {
    gale_error error = GALE_ERROR_INIT;
    gx_box_begin(box);
    int rc = gx_box_call(box, function, &x, 1, ret_value, &error);
    expect(rc == GALE_OK || (rc < 0 && error.text[0]));
    return rc;
}

static void try_expression(gale_str text) {
    static const char *const names[] = { "x", "time", "field_time", "row", "_ENV" };
    enum { NAMES = sizeof names / sizeof *names };
    gale_error error = GALE_ERROR_INIT;
    gale_str fields[NAMES];
    gale_value values[NAMES], value;
    gx_expression made;
    for (int i = 0; i < NAMES; i++) {
        fields[i] = gx_str(names[i]);
        values[i] = gale_string(text.data, text.size);
    }
    int rc = gx_expression_compile(&made, &heap, box, text, "here", fields, NAMES, &error);
    expect(rc == GALE_OK || (rc == GALE_SYNTAX && strncmp(error.text, "here:", 5) == 0));
    if (rc < 0) return;
    gx_box_begin(box);
    rc = gx_expression_run(&made, values, &value, &error);
    expect(rc == GALE_OK || (rc < 0 && error.text[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_error error = GALE_ERROR_INIT;
    gale_str text = { (const char *)data, size < MOST ? size : MOST };
    gale_value value;
    int function;
    begin();
    int rc = gx_box_compile(box, text, "here", gx_str("x"), &function, &error);
    expect(rc == GALE_OK || rc == GALE_SYNTAX);
    if (rc == GALE_OK) call(function, gale_string(text.data, text.size), &value);
    try_expression(text);
    expect(call(known, gale_string("a,b", 3), &value) == GALE_OK);
    expect(value.size == 3 && memcmp(value.as.string, "a+b", 3) == 0);
    end();
    return 0;
}
