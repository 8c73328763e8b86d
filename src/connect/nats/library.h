/* cnats in this process, which has threads of its own: it is closed behind the last that has it, so that none of them is left when the process ends.
 *
 * What:    a thread of cnats that still ends while the process does runs into OpenSSL's own end. Whoever has an object of cnats holds the library, and
 *          releases it when the last of these objects is destroyed. It may be held again afterwards: cnats opens itself anew.
 * Threads: any but cnats' own. The last release waits for cnats' threads, and a hold meanwhile for that: NATS_LIBRARY_END_MS at the most; there is nothing left for
 *          them to do.
 * Limits:  where the program itself was linked to cnats, it is the program's, and stays open. */
#ifndef GALE_CONNECT_NATS_LIBRARY_H
#define GALE_CONNECT_NATS_LIBRARY_H

enum { NATS_LIBRARY_END_MS = 2000 };

void nats_library_hold(void);
void nats_library_release(void);

#endif
