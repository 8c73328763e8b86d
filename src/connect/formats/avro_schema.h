/* An Avro schema (.avsc) as a graph: named types are one node each, whoever names them. Logical types are their base.
 *
 * Threads: frozen when it is read. Owner: its memory, which has copies of all. Limits: AV_NESTED_MAX types inside of each other, AV_NAMED_MAX that have
 * names. */
#ifndef GALE_CONNECT_FORMATS_AVRO_SCHEMA_H
#define GALE_CONNECT_FORMATS_AVRO_SCHEMA_H

#include "connect/formats/format.h"

enum { AV_NESTED_MAX = 64, AV_NAMED_MAX = 4096 };

typedef enum av_kind {
    AV_NULL,
    AV_BOOLEAN,
    AV_INT,
    AV_LONG,
    AV_FLOAT,
    AV_DOUBLE,
    AV_BYTES,
    AV_STRING,
    AV_RECORD,
    AV_ENUM,
    AV_ARRAY,
    AV_MAP,
    AV_UNION,
    AV_FIXED,
    AV_KIND_COUNT
} av_kind;

typedef struct av_node av_node;

typedef struct av_field {
    gale_str name;
    const av_node *node;
    bool has_fallback;
    gale_value fallback;
} av_field;

struct av_node {
    av_kind kind;
    gale_str name;         /* of a named type, with its namespace; of others the kind's */
    av_field *fields;      /* of a record */
    gale_str *symbols;     /* of an enumeration */
    const av_node **below; /* of an array and a map one, of a union each branch */
    size_t count;          /* of these; of fixed, how many bytes */
};

typedef struct av_schema {
    fmt_memory memory;
    const av_node *root; /* a record */
    const av_node *named[AV_NAMED_MAX];
    size_t named_count;
} av_schema;

/* Zeroed before. GALE_SYNTAX, GALE_INVALID, GALE_NO_MEMORY, GALE_TOO_LARGE; its memory is to be freed even then. */
int av_schema_read(av_schema *schema, gale_str text, gale_error *error);

/* "long" for AV_LONG. Static storage. */
const char *av_kind_name(av_kind kind);

/* The record below a node, through a union with null; NULL where there is none, or several. */
const av_node *av_node_record(const av_node *node);

#endif
