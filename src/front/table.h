/* For those who write tables of classes: rows of parameters, in the order of constructorArgs.
 *
 *     static const gx_param params[] = {
 *         GX_ROW(TEXT, "path", NULL, "the file to read", .roles = GX_PARAM_READS, .example = "in.txt"),
 *         GX_ROW(WHOLE, "words", "10", "words a line", GX_RANGE(1, 10000)),
 *     };
 *     { .name = "...", .kind = GX_CLASS_SPOUT, GX_PARAMS(params), ... }
 *
 * A fallback of NULL says that the parameter must be given, one of "" that there is none. */
#ifndef GX_FRONT_TABLE_H
#define GX_FRONT_TABLE_H

#include "front/class.h"

/* What follows the fallback is the sentence, and then whatever else there is to say. */
#define GX_ROW(type_, name_, fallback_, ...)                                                                           \
    { .name = (name_), .type = GX_PARAM_##type_, .fallback = (fallback_), .text = __VA_ARGS__ }
/* Of a field that has a text, and of a field that has a number. */
#define GX_TEXT "string bytes"
#define GX_NUMBER "int float"
#define GX_RANGE(min_, max_) .min = (min_), .max = (max_)
#define GX_PARAMS(table) .params = (table), .param_count = sizeof(table) / sizeof((table)[0])

#endif
