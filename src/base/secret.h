/* Names that secrets are called by, wherever they stand: in a topology file, its configuration, a line of it.
 * Threads: any. */
#ifndef GX_BASE_SECRET_H
#define GX_BASE_SECRET_H

#include "base/str.h"

/* Does the text speak of a secret: password, passwd, pwd, passphrase, secret, token, credential, API key, private key, access key,
 * authorization, cookie, anywhere in it, in either case, with '.', '_' or '-' between its letters or without? */
bool gx_secret_is_named(gale_str text);

#endif
