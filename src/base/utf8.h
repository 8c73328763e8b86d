/* UTF-8 validation, behind gale_utf8_valid. ASCII runs are checked eight bytes at a time. */
#ifndef GX_BASE_UTF8_H
#define GX_BASE_UTF8_H

#include "base/port.h"

bool gx_utf8_valid(const char *text, size_t size);

#endif
