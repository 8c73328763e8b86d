/* The congestion mark and its epoch (src/engine/flow.h) with the doorbell: gx_executor_congest,
 * gx_executor_check_gates, gx_executor_refresh_gates. Two executors clear the marks of their tasks, one of them twice;
 * the owner's task is gated by both. What must hold: when all are asleep or gone, the owner's gate is what the marks
 * say. */
#define OWNER 0
#define FIRST 1
#define SECOND 2
#define THREADS 3
#define BELL 0
#define EPOCH 1
#define MARK 2 /* and 3 */
#define LOCATIONS 4
#define CELLS 1
#define HISTORY 5
#include "weak.pml"
#include "doorbell.pml"

byte gated = 1; /* as of the epoch last seen; a mark's value is 0 for congested, because memory begins so */

/* gx_step_has_news */
inline look(news) {
    load(OWNER, EPOCH, flow_A1, word);
    news = word != epoch;
    word = 0
}

inline read_marks() {
    load(OWNER, MARK, flow_gate, word);
    gated = !word;
    load(OWNER, MARK + 1, flow_gate, word);
    gated = gated || !word
}

active proctype owner() {
    byte epoch, word, old;
    bool news;
    do
    ::  load(OWNER, EPOCH, flow_A1, word);
        if
        :: word != epoch ->
#ifdef MARKS_FIRST
            read_marks();
            load(OWNER, EPOCH, flow_A1, epoch)
#else
            load(OWNER, EPOCH, flow_A1, epoch);
            read_marks()
#endif
        :: else
        fi;
        word = 0;
        if
        :: true /* spins, or runs */
        :: park(old, news)
        fi
    od
}

inline mark(t, task, clear) {
#ifdef EPOCH_FIRST
    add(t, EPOCH, 1, flow_R1, old);
    store(t, MARK + task, clear, flow_mark);
#else
    store(t, MARK + task, clear, flow_mark);
    add(t, EPOCH, 1, flow_R1, old);
#endif
    if
    :: clear -> ring_bell(t, old)
    :: else
    fi;
    old = 0
}

active proctype first() {
    byte old;
    mark(FIRST, 0, 1);
    mark(FIRST, 0, 0);
    mark(FIRST, 0, 1)
}

active proctype second() {
    byte old;
    mark(SECOND, 1, 1)
}

active proctype judge() {
    timeout -> lost = gated;
    assert(!lost)
}
