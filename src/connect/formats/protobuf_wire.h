/* Protobuf's wire format: numbered items, each a number or bytes. Threads: any. Owner: borrows from the bytes.
 * Limits: groups, which nobody asks for, are skipped, PB_NESTED_MAX deep. */
#ifndef GALE_CONNECT_FORMATS_PROTOBUF_WIRE_H
#define GALE_CONNECT_FORMATS_PROTOBUF_WIRE_H

#include "connect/formats/cursor.h"
#include "connect/formats/protobuf_schema.h"

typedef struct pb_item {
    uint32_t number;
    pb_wire wire;
    uint64_t value; /* of numbers */
    gale_str bytes; /* of PB_WIRE_BYTES */
} pb_item;

/* The next item; false at the end, and where it cannot be read, which sets `from->bad`. */
bool pb_next(fmt_cursor *from, pb_item *ret_item);

/* The constant's name, or its number. */
gale_value pb_constant_value(const pb_enum *constants, int32_t number);

/* What a number on the wire is as a value of the type, which has one. */
gale_value pb_number_value(const pb_field *field, uint64_t number);

#endif
