#include "connect/sqlite/text.h"

#include <gale/json.h>

/* --- Names ------------------------------------------------------------------------------------------------------------ */

static void add_quoted(sql_text *text, gale_str name, char quote) {
    sql_text_add(text, &quote, 1);
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] == quote) sql_text_add(text, &quote, 1);
        sql_text_add(text, &name.data[i], 1);
    }
    sql_text_add(text, &quote, 1);
}

void lite_text_name(sql_text *text, gale_str name) {
    add_quoted(text, name, '`');
}

void lite_text_defined(sql_text *text, gale_str name) {
    add_quoted(text, name, '"');
}

/* --- JSON ------------------------------------------------------------------------------------------------------------- */

void lite_text_json(sql_text *text, const gale_value *value) {
    if (!text->failed && !gale_json_append(value, &text->data, &text->size, &text->room)) text->failed = true;
}
