#include "sim/number.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS = 8, SHIFT = 32 }; /* of a text; of a whole number */

bool gx_sim_number_is_folded(const gx_output *output) {
    return output->field_count == 1 && strcmp(output->fields[0], GX_SIM_TOKEN) == 0;
}

int gx_sim_number_fold(gale_value *token, uint64_t number, gx_buf *text) {
    if (token->type == GALE_TYPE_I64) {
        token->as.i64 = (int64_t)(number << SHIFT) | token->as.i64;
        return GALE_OK;
    }
    gx_buf_reset(text);
    gx_buf_format(text, "%08x", (uint32_t)number);
    gx_buf_add(text, token->as.bytes, token->size);
    if (text->failed) return GALE_NO_MEMORY;
    *token = gale_string(text->data, text->size);
    return GALE_OK;
}

uint64_t gx_sim_number_read(bool folded, const gale_value *last) {
    if (!folded) return (uint64_t)last->as.i64;
    if (last->type == GALE_TYPE_I64) return (uint64_t)last->as.i64 >> SHIFT;
    char digits[DIGITS + 1] = "";
    memcpy(digits, last->as.bytes, DIGITS);
    return strtoull(digits, NULL, 16);
}

gale_value gx_sim_number_unfold(gale_value token) {
    if (token.type == GALE_TYPE_I64) return gale_i64(token.as.i64 & UINT32_MAX);
    return gale_string((const char *)token.as.bytes + DIGITS, token.size - DIGITS);
}
