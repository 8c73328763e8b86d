/* wire/tls.h: TLS on a socket that does not wait, by OpenSSL (docs/decisions/0048-one-wire.md says why).
 *
 *      begun --wire_tls_shake--> GALE_AGAIN ... 0: bytes pass --wire_tls_end--> gone
 *                    '--what is wrong--> GALE_IO, in words
 *
 * What:    TLS 1.2 or newer; the chain is verified by `ca` or the system's certificates, and the certificate is the host's, unless the settings say
 *          `verify: false`. Files are read each time: keys that were renewed are taken without a restart. Nobody is asked for a passphrase.
 * Threads: one at a time. Owner: wire_tls_end; the socket stays the caller's.
 * Errors:  what would wait says GALE_AGAIN and for what (gale_watch_event); what is over says GALE_IO with a sentence in `why`, which has nothing of a key's. */
#ifndef GALE_WIRE_TLS_H
#define GALE_WIRE_TLS_H

#include "wire/finding.h"

typedef struct wire_tls wire_tls;

/* NULL with a sentence: a file cannot be read or is none, memory is out. */
wire_tls *wire_tls_begin(const wire_settings *settings, int fd, char why[WIRE_WHY_MAX]);

int wire_tls_shake(wire_tls *tls, int32_t *ret_wants, char why[WIRE_WHY_MAX]);

/* How many bytes; never 0: the end is GALE_IO, too. */
int64_t wire_tls_read(wire_tls *tls, void *to, size_t size, int32_t *ret_wants, char why[WIRE_WHY_MAX]);
int64_t wire_tls_write(wire_tls *tls, const void *bytes, size_t size, int32_t *ret_wants, char why[WIRE_WHY_MAX]);

/* Has it bytes that were received already? The socket does not tell of them again. */
bool wire_tls_has_more(const wire_tls *tls);

/* Says goodbye, as far as that does not wait, where `orderly`. NULL is none. */
void wire_tls_end(wire_tls *tls, bool orderly);

#endif
