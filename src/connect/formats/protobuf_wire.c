#include "connect/formats/protobuf_wire.h"

#include <string.h>

pb_wire pb_wire_of(int type) {
    switch (type) {
    case PB_DOUBLE:
    case PB_FIXED64:
    case PB_SFIXED64: return PB_WIRE_64;
    case PB_FLOAT:
    case PB_FIXED32:
    case PB_SFIXED32: return PB_WIRE_32;
    case PB_STRING:
    case PB_BYTES:
    case PB_MESSAGE: return PB_WIRE_BYTES;
    default: return PB_WIRE_VARINT;
    }
}

static bool read_item(fmt_cursor *from, pb_item *item) {
    uint64_t tag = fmt_read_varint(from);
    *item = (pb_item){ .number = (uint32_t)(tag >> 3), .wire = (pb_wire)(tag & 7) };
    if (tag >> 3 == 0 || tag >> 3 > PB_NUMBER_MAX) from->bad = true;
    switch (item->wire) {
    case PB_WIRE_VARINT: item->value = fmt_read_varint(from); break;
    case PB_WIRE_64: item->value = fmt_read_fixed(from, 8); break;
    case PB_WIRE_32: item->value = fmt_read_fixed(from, 4); break;
    case PB_WIRE_BYTES: item->bytes = fmt_read_bytes(from, fmt_read_varint(from)); break;
    case PB_WIRE_BEGIN:
    case PB_WIRE_END: break;
    default: from->bad = true;
    }
    return !from->bad;
}

/* All up to the end of the group that has begun. */
static bool skip_group(fmt_cursor *from, uint32_t number) {
    uint32_t open[PB_NESTED_MAX] = { number };
    size_t depth = 1;
    pb_item item;
    while (depth && from->left && read_item(from, &item)) {
        if (item.wire == PB_WIRE_BEGIN && depth == PB_NESTED_MAX) break;
        if (item.wire == PB_WIRE_BEGIN) open[depth++] = item.number;
        if (item.wire == PB_WIRE_END && open[--depth] != item.number) break;
        if (!depth) return true;
    }
    from->bad = true;
    return false;
}

bool pb_next(fmt_cursor *from, pb_item *ret_item) {
    while (from->left && read_item(from, ret_item)) {
        if (ret_item->wire == PB_WIRE_END) from->bad = true;
        if (ret_item->wire == PB_WIRE_BEGIN) (void)skip_group(from, ret_item->number);
        if (from->bad) return false;
        if (ret_item->wire != PB_WIRE_BEGIN) return true;
    }
    return false;
}

gale_value pb_constant_value(const pb_enum *constants, int32_t number) {
    const pb_constant *found = pb_enum_constant(constants, number);
    return found ? gale_string(found->name.data, found->name.size) : gale_i64(number);
}

gale_value pb_number_value(const pb_field *field, uint64_t number) {
    double wide;
    float narrow;
    uint32_t half = (uint32_t)number;
    switch (field->type) {
    case PB_DOUBLE: memcpy(&wide, &number, sizeof wide); return gale_f64(wide);
    case PB_FLOAT: memcpy(&narrow, &half, sizeof narrow); return gale_f64((double)narrow);
    case PB_BOOL: return gale_bool(number != 0);
    case PB_ENUM: return pb_constant_value(field->constants, (int32_t)half);
    case PB_INT32:
    case PB_SFIXED32: return gale_i64((int32_t)half);
    case PB_UINT32:
    case PB_FIXED32: return gale_i64(half);
    case PB_SINT32: return gale_i64((int32_t)fmt_unzigzag(half));
    case PB_SINT64: return gale_i64(fmt_unzigzag(number));
    default: return gale_i64((int64_t)number);
    }
}
