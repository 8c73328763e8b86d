/* Avro's binary encoding by a schema: bytes to a map of the record's fields, and back. Threads: any. Owner: what is read borrows from the bytes, the schema
 * and the memory. Limits: GALE_VALUE_DEPTH; fmt_memory; AV_EMPTY_MAX items that take no bytes. */
#ifndef GALE_CONNECT_FORMATS_AVRO_H
#define GALE_CONNECT_FORMATS_AVRO_H

#include "connect/formats/avro_schema.h"

enum { AV_EMPTY_MAX = 10000 };

/* All of the bytes are one record. GALE_DAMAGED with a problem, GALE_NO_MEMORY, GALE_TOO_LARGE. */
int av_read(const av_node *record, gale_str bytes, fmt_memory *memory, gale_value *ret_value, fmt_problem *problem);

/* Appends it. GALE_DAMAGED with a problem. */
int av_write(const av_node *record, const gale_value *value, fmt_bytes *to, fmt_problem *problem);

#endif
