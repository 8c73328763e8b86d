/* What `protoc --include_imports -o FILE` writes, a FileDescriptorSet, as tables: messages by their full names, fields by their numbers.
 *
 * Threads: frozen when it is read. Owner: its memory, which has copies of all. Limits: a file of FMT_SCHEMA_MAX bytes, messages inside of each other
 * PB_NESTED_MAX deep. Groups of proto2 are left out, as unknown fields are; editions are refused. */
#ifndef GALE_CONNECT_FORMATS_PROTOBUF_SCHEMA_H
#define GALE_CONNECT_FORMATS_PROTOBUF_SCHEMA_H

#include "connect/formats/format.h"

enum { PB_NESTED_MAX = 32, PB_NUMBER_MAX = (1 << 29) - 1 };

/* As descriptor.proto numbers them. */
typedef enum pb_type {
    PB_DOUBLE = 1,
    PB_FLOAT,
    PB_INT64,
    PB_UINT64,
    PB_INT32,
    PB_FIXED64,
    PB_FIXED32,
    PB_BOOL,
    PB_STRING,
    PB_GROUP,
    PB_MESSAGE,
    PB_BYTES,
    PB_UINT32,
    PB_ENUM,
    PB_SFIXED32,
    PB_SFIXED64,
    PB_SINT32,
    PB_SINT64,
    PB_TYPE_COUNT
} pb_type;

typedef enum pb_wire { PB_WIRE_VARINT, PB_WIRE_64, PB_WIRE_BYTES, PB_WIRE_BEGIN, PB_WIRE_END, PB_WIRE_32 } pb_wire;

typedef struct pb_constant {
    gale_str name;
    int32_t number;
} pb_constant;

typedef struct pb_enum {
    gale_str name;
    pb_constant *constants; /* by number; of several with the same, the first that is declared stands first */
    size_t count;
} pb_enum;

typedef struct pb_message pb_message;

typedef struct pb_field {
    gale_str name, type_name, fallback;
    uint32_t number;
    int type;      /* pb_type */
    bool repeated; /* a list, or a map */
    bool packed;   /* is written so */
    bool presence; /* one that is not there is null, not zero */
    const pb_message *message;
    const pb_enum *constants;
    gale_value absent; /* what it is where it is not there */
} pb_field;

struct pb_message {
    gale_str name; /* "shop.Order" */
    bool is_entry; /* of a map: key is field 0, value field 1 */
    pb_field *fields;
    size_t count;
    const pb_field **by_number;
};

typedef struct pb_schema {
    fmt_memory memory;
    const pb_message **messages; /* by name */
    size_t message_count;
    const pb_enum **enums; /* by name */
    size_t enum_count;
    const pb_message *root; /* the message that is asked for */
} pb_schema;

/* Zeroed before. GALE_DAMAGED, GALE_NO_MEMORY, GALE_TOO_LARGE, GALE_UNSUPPORTED; its memory is to be freed even then. */
int pb_schema_read(pb_schema *schema, gale_str bytes, gale_error *error);

const pb_message *pb_schema_message(const pb_schema *schema, gale_str name);
const pb_field *pb_message_field(const pb_message *message, uint32_t number);
const pb_constant *pb_enum_constant(const pb_enum *constants, int32_t number);

/* A map, of which key and value are fields. */
GALE_INLINE bool pb_is_map(const pb_field *field) {
    return field->repeated && field->message && field->message->is_entry;
}

/* How one value of the type stands on the wire. */
pb_wire pb_wire_of(int type);

#endif
