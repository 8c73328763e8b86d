/* The connector formats: gale.bolt.Protobuf, gale.bolt.ProtobufFormat, gale.bolt.Avro and gale.bolt.AvroFormat. docs/connectors/protobuf.md,
 * docs/connectors/avro.md. */
#include "connect/formats/bolts.h"

#define FIELD_ROW                                                                                                      \
    GALE_PARAM_MORE("field", GALE_PARAM_FIELD, "", "the field that has the message; none: the first",                  \
                    GALE_PARAM_INPUT, 0, 0, NULL, NULL, "value")
#define FIELDS_ROW                                                                                                     \
    GALE_PARAM_MORE("fields", GALE_PARAM_LIST, "",                                                                     \
                    "paths in the message; none: all of its fields; each perhaps with `as NAME`", GALE_PARAM_OUTPUT,   \
                    0, 0, NULL, NULL, "[id, customer.name as name, items.0.sku as first]")
#define KEEP_ROW                                                                                                       \
    GALE_PARAM_MORE("keep", GALE_PARAM_FIELDS, "", "fields of the input that go out before them", GALE_PARAM_INPUT, 0, \
                    0, NULL, NULL, "[offset]")
#define BYTES_ROW                                                                                                      \
    GALE_PARAM_MORE("maxBytes", GALE_PARAM_WHOLE, "16777216", "a larger message is bad", 0, 1, 1 << 30, NULL, "bytes", \
                    NULL)
#define WRITTEN_ROW                                                                                                    \
    GALE_PARAM_MORE("fields", GALE_PARAM_LIST, "",                                                                     \
                    "the fields that are written; none: all that come in and are not kept; each perhaps with `as "     \
                    "NAME`, as the message calls it",                                                                  \
                    0, 0, 0, NULL, NULL, "[id, name as customer_name]")
#define AS_ROW                                                                                                         \
    GALE_PARAM_MORE("as", GALE_PARAM_FIELD, "value", "the field that has the message", GALE_PARAM_OUTPUT, 0, 0, NULL,  \
                    NULL, NULL)
#define PROTOBUF_SCHEMA_ROWS                                                                                           \
    GALE_PARAM_MORE("schema", GALE_PARAM_TEXT, NULL, "what `protoc --include_imports -o FILE.pb FILE.proto` writes",   \
                    GALE_PARAM_READS, 0, 0, NULL, NULL, "order.pb"),                                                   \
        GALE_PARAM_MORE("message", GALE_PARAM_TEXT, NULL, "the message's full name", 0, 0, 0, NULL, NULL,              \
                        "shop.Order")

static const gale_param protobuf_params[] = { PROTOBUF_SCHEMA_ROWS, FIELDS_ROW, FIELD_ROW, KEEP_ROW, BYTES_ROW };
static const gale_param protobuf_format_params[] = { PROTOBUF_SCHEMA_ROWS, WRITTEN_ROW, AS_ROW, KEEP_ROW };

#define AVRO_ROWS                                                                                                      \
    GALE_PARAM_MORE("schema", GALE_PARAM_TEXT, NULL, "a file with the schema, of a record", GALE_PARAM_READS, 0, 0,    \
                    NULL, NULL, "order.avsc"),                                                                         \
        GALE_PARAM_MORE("framing", GALE_PARAM_WORD, "none",                                                            \
                        "what stands before a message: nothing, or a byte 0 and the schema's number in four, as "      \
                        "Confluent's serializers write",                                                               \
                        0, 0, 0, "none confluent", NULL, NULL)

static const gale_param avro_params[] = { AVRO_ROWS, FIELDS_ROW, FIELD_ROW, KEEP_ROW, BYTES_ROW };
static const gale_param avro_format_params[] = {
    AVRO_ROWS,
    WRITTEN_ROW,
    AS_ROW,
    KEEP_ROW,
    GALE_PARAM_MORE("schemaId", GALE_PARAM_WHOLE, "0",
                    "with `framing: confluent`: the schema's number, which must be given then", 0, 0, UINT32_MAX, NULL,
                    NULL, "17"),
};

#define FORMAT_CLASS(name, text, params, make, format)                                                                 \
    {                                                                                                                  \
        (name), GALE_CLASS_BOLT, 0, (text), GALE_TABLE(params), NULL, NULL, NULL, NULL, (make), (void *)(&(format)),   \
            NULL                                                                                                       \
    }

static const gale_class classes[] = {
    FORMAT_CLASS("gale.bolt.Protobuf",
                 "makes fields of protobuf messages; what is none goes to the stream `bad` (line, problem)",
                 protobuf_params, fmt_make_reader, fmt_protobuf),
    FORMAT_CLASS("gale.bolt.ProtobufFormat", "makes protobuf messages of fields", protobuf_format_params,
                 fmt_make_writer, fmt_protobuf),
    FORMAT_CLASS("gale.bolt.Avro",
                 "makes fields of Avro messages; what is none goes to the stream `bad` (line, problem)", avro_params,
                 fmt_make_reader, fmt_avro),
    FORMAT_CLASS("gale.bolt.AvroFormat", "makes Avro messages of fields", avro_format_params, fmt_make_writer,
                 fmt_avro_written),
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("formats", "1.0", "gale.", "Apache-2.0",
                                                   "reads and writes messages of protobuf and Avro", classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
