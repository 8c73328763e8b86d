/* The doorbell of src/engine/bell.c and the parking of src/runtime/runtime.c, for the models that include this. A model
 * names its location BELL and its owner's thread OWNER, and has an inline look(news), which is gx_step_has_news. The
 * eventfd is one flag, and it tells nobody anything about memory: the C standard promises nothing about it.
 *
 * Mutants: RING_STORED (the ringer stores where it exchanges, which passes on nothing), PARK_STORED, HEARD_STORED,
 * WAKE_STORED (so does the owner: when it parks, when it was rung before it could, when it wakes), DEAF (it parks
 * though it was rung), WAKES_NOBODY. NEVER_LOOKS leaves out the last look for news, and holds. */
#define AWAKE 0
#define RUNG 1
#define PARKED 2

bool eventfd;

#ifdef PARK_STORED
#define PARK_IS_EXCHANGED false
#else
#define PARK_IS_EXCHANGED true
#endif

#ifdef HEARD_STORED
#define HEARD_IS_EXCHANGED false
#else
#define HEARD_IS_EXCHANGED true
#endif

#ifdef WAKE_STORED
#define WAKE_IS_EXCHANGED false
#else
#define WAKE_IS_EXCHANGED true
#endif

#ifdef RING_STORED
#define RING_IS_EXCHANGED false
#else
#define RING_IS_EXCHANGED true
#endif

/* gx_bell_ring */
inline ring_bell(t, old) {
    exchange(t, BELL, RUNG, bell_R1, old, RING_IS_EXCHANGED);
    if
#ifndef WAKES_NOBODY
    :: old == PARKED -> eventfd = true
#endif
    :: else
    fi;
    old = 0
}

/* park() in src/runtime/runtime.c, with gx_bell_may_park, gx_wake_park and gx_bell_wake. */
inline park(old, news) {
    exchange(OWNER, BELL, PARKED, bell_park, old, PARK_IS_EXCHANGED);
    if
#ifndef DEAF
    :: old == RUNG -> exchange(OWNER, BELL, AWAKE, bell_A1, old, HEARD_IS_EXCHANGED)
#endif
    :: else ->
#ifndef NEVER_LOOKS
        look(news);
#endif
        if
        :: news
        :: else ->
end_asleep:
            eventfd;
            eventfd = false
        fi;
        exchange(OWNER, BELL, AWAKE, bell_A2, old, WAKE_IS_EXCHANGED)
    fi;
    old = 0;
    news = false
}
