/* The machine of weak.pml itself: small programs whose outcomes the C standard allows or forbids. `wrong` says that the
 * outcome was seen. A checker that cannot show what is allowed proves nothing when it shows nothing. */
#define THREADS 3
#define X 0
#define Y 1
#define LOCATIONS 2
#define CELLS 1
#define HISTORY 4
#include "weak.pml"

byte a, b, c;
bool first_done, second_done, third_done;

proctype first() {
#ifdef STORE_BUFFERING
    store(0, X, 1, RELEASE);
    load(0, Y, ACQUIRE, a);
#endif
#if defined(MESSAGE) || defined(CHAIN) || defined(COHERENCE) || defined(OVERWRITTEN)
    store(0, X, 1, RELAXED);
#endif
#if defined(MESSAGE) || defined(CHAIN) || defined(OVERWRITTEN)
    store(0, Y, 1, SENDS);
#endif
#ifdef COHERENCE
    store(0, X, 2, RELAXED);
#endif
#ifdef EXCHANGES
    swap(0, X, 1, RELAXED, a);
#endif
#ifdef PLAIN
    write_cell(0, 0, 1);
#endif
    first_done = true
}

proctype second() {
#ifdef STORE_BUFFERING
    store(1, Y, 1, RELEASE);
    load(1, X, ACQUIRE, b);
#endif
#if defined(MESSAGE) || defined(OVERWRITTEN)
    load(1, Y, RECEIVES, a);
    load(1, X, RELAXED, b);
#endif
#ifdef COHERENCE
    load(1, X, RELAXED, a);
    load(1, X, RELAXED, b);
#endif
#ifdef CHAIN
    add(1, Y, 1, RELAXED, c); /* in the release sequence of the store, when it comes after it */
#endif
#ifdef EXCHANGES
    swap(1, X, 1, RELAXED, b);
#endif
#ifdef PLAIN
    read_cell(1, 0, a);
#endif
    second_done = true
}

proctype third() {
#ifdef CHAIN
    load(2, Y, ACQUIRE, a);
    load(2, X, RELAXED, b);
#endif
#ifdef OVERWRITTEN
    first_done; /* no order in memory comes of that */
    store(2, Y, 2, RELAXED);
#endif
    third_done = true
}

active proctype judge() {
    run first();
    run second();
    run third();
    first_done && second_done && third_done;
#ifdef STORE_BUFFERING
    wrong = a == 0 && b == 0;
#endif
#ifdef MESSAGE
    wrong = a == 1 && b == 0;
#endif
#ifdef COHERENCE
    wrong = a == 2 && b != 2 || a == 1 && b == 0;
#endif
#ifdef CHAIN
    wrong = a == 2 && b == 0;
#endif
#ifdef OVERWRITTEN
    wrong = a == 2 && b == 0;
#endif
#ifdef EXCHANGES
    wrong = a == b;
#endif
    assert(!wrong)
}
