/* The two bolts of every format. */
#ifndef GALE_CONNECT_FORMATS_BOLTS_H
#define GALE_CONNECT_FORMATS_BOLTS_H

#include "connect/formats/format.h"

extern const fmt_format fmt_protobuf, fmt_avro, fmt_avro_written;

/* Of gale_class; `format` is its user: a message to fields, fields to a message. */
int fmt_make_reader(void *format, const gale_args *args, gale_bolt *ret_bolt, gale_error *error);
int fmt_make_writer(void *format, const gale_args *args, gale_bolt *ret_bolt, gale_error *error);

#endif
