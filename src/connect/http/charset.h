/* Charset that a Content-Type declares (RFC 9110, 8.3): may the body be read as UTF-8?
 *
 * What:    UTF-8 and US-ASCII are read. Of a charset of one byte a character that extends ASCII (ISO 8859, Windows, KOI8), a
 *          body that is ASCII is read. Nothing is converted: any other one is refused by its name.
 * Threads: any. */
#ifndef GALE_CONNECT_HTTP_CHARSET_H
#define GALE_CONNECT_HTTP_CHARSET_H

#include <gale/value.h>

/* `type` is a header Content-Type, or NULL. False: `why` names the charset. */
bool http_charset_is_read(const char *type, gale_str body, char *why, size_t size);

#endif
