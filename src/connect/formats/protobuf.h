/* Messages of protobuf by a schema: bytes to a map of all fields, and back. Threads: any. Owner: what is read borrows from the bytes, the schema and the
 * memory. Limits: GALE_VALUE_DEPTH; fmt_memory. */
#ifndef GALE_CONNECT_FORMATS_PROTOBUF_H
#define GALE_CONNECT_FORMATS_PROTOBUF_H

#include "connect/formats/protobuf_schema.h"

/* GALE_DAMAGED with a problem, GALE_NO_MEMORY, GALE_TOO_LARGE. */
int pb_read(const pb_message *message, gale_str bytes, fmt_memory *memory, gale_value *ret_value, fmt_problem *problem);

/* Appends it. GALE_DAMAGED with a problem. */
int pb_write(const pb_message *message, const gale_value *value, fmt_bytes *to, fmt_problem *problem);

#endif
