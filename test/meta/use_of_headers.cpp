// The initialisers and inline functions of the public headers, used by the letter of C++17. Compiled, never run.
#include <gale/gale.h>

int gale_use_of_headers();

int gale_use_of_headers() {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.until_drained = true;
    gale_value items[2] = { gale_i64(1), gale_text("one") };
    gale_value list = gale_list(items, 2);
    gale_grouping grouping = gale_fields("word");
    return static_cast<int>(error.size + options.size + list.size + grouping.size);
}
