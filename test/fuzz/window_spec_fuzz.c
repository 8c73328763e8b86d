/* Text, read as what a window tells. What is accepted has names and fields that lie in it, each name once; what is not, has a
 * sentence. */
#include "fuzz.h"

#include "base/str.h"
#include "kit/window_cell.h"

static void is_sound(const gx_window_spec *spec) {
    gx_window_plan plan;
    expect(spec->count >= 1 && spec->count <= GX_WINDOW_AGGREGATES);
    for (uint32_t i = 0; i < spec->count; i++) {
        const gx_window_call *call = &spec->calls[i];
        gale_str name = gx_window_call_name(spec, i);
        expect(name.size > 0 && !memchr(name.data, ',', name.size));
        expect(call->has_field ? call->field < spec->fields.count : call->function == GX_WINDOW_COUNT);
        if (call->function == GX_WINDOW_PERCENTILE) expect(call->parameter <= GX_WINDOW_PARTS);
        if (call->function == GX_WINDOW_TOP) expect(call->parameter >= 1 && call->parameter <= GX_WINDOW_TOP_MAX);
        for (uint32_t k = 0; k < i; k++) expect(!gx_str_equal(name, gx_window_call_name(spec, k)));
    }
    gx_window_plan_make(&plan, spec, 10, 10);
    expect(plan.cell_count <= spec->count && plan.pane_size % 8 == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    char *text = fuzz_text(&in);
    gx_window_spec spec;
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_window_spec_parse(text, "key, start, end", "fuzz", &spec, &error);
    expect((rc < 0) == (error.length > 0));
    if (rc >= 0) is_sound(&spec);
    free(text);
    return 0;
}
