#include "script/column.h"

#include "kit/scalar.h"

/* The next word of a piece, cut off its front. */
static gale_str next_word(gale_str *piece) {
    gale_str word;
    *piece = gx_str_trim(*piece);
    if (!gx_str_next(piece, ' ', &word)) word = (gale_str){ "", 0 };
    return word;
}

const char *gx_column_read(gale_str piece, gx_column *ret_column) {
    gale_str rest = piece, from = next_word(&rest), name = { "", 0 }, word = next_word(&rest);
    if (gx_str_is(word, "as")) {
        name = next_word(&rest);
        if (!name.size) return "there is no name behind 'as'";
        word = next_word(&rest);
    }
    if (rest.data && gx_str_trim(rest).size) return "is not 'field', 'field as name' or 'field as name type'";
    *ret_column = (gx_column){ from, name, word };
    return NULL;
}

bool gx_column_convert(int32_t type, gale_value *value) {
    static const uint8_t wanted[GX_SCALAR_COUNT] = { [GX_SCALAR_STRING] = GALE_TYPE_STRING,
                                                     [GX_SCALAR_INT] = GALE_TYPE_I64,
                                                     [GX_SCALAR_FLOAT] = GALE_TYPE_F64,
                                                     [GX_SCALAR_BOOL] = GALE_TYPE_BOOL };
    if (value->type == GALE_TYPE_NULL) return true;
    if (value->type == GALE_TYPE_STRING)
        return gx_scalar_read((gale_str){ value->as.string, value->size }, true, type, value);
    if (type == GX_SCALAR_FLOAT && value->type == GALE_TYPE_I64) *value = gale_f64((double)value->as.i64);
    return type == GX_SCALAR_AUTO || value->type == wanted[type];
}

gx_json_numbers gx_column_numbers(gale_str type) {
    if (!type.size) return GX_JSON_NEAREST;
    return gx_scalar_type_of(type) == GX_SCALAR_STRING ? GX_JSON_TEXT : GX_JSON_DIGITS;
}
