/* Secrets in text, wherever it comes from: a topology file, its configuration, what components say.
 * Threads: any. */
#ifndef GX_BASE_SECRET_H
#define GX_BASE_SECRET_H

#include "base/str.h"

/* Does the text speak of a secret: password, passwd, pwd, passphrase, secret, token, credential, API key, private key, access key,
 * authorization, cookie, a key to authenticate, sign or encrypt with, anywhere in it, in either case, with '.', '_' or '-' between its
 * letters or without? */
bool gx_secret_is_named(gale_str text);

/* Is what this names a secret? Where one is read from is none: passwordFrom, token_file, privateKeyPath. */
bool gx_secret_is_key(gale_str name);

/* The first secret that stands in the text:
 *
 *     redis://me:SECRET@host        ?token=SECRET&n=1, password = "SECRET"        Authorization: SECRET        Bearer SECRET
 *
 * of what is said about no secret, hardly anything looks like one. Empty: there is none. */
gale_str gx_secret_find(gale_str text);

/* Puts *** where one stands, in place (fewer stars for a shorter one). */
void gx_secret_mask(char *text);

#endif
