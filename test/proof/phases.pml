/* The phases of a run (src/runtime/control.c) with executors that step late. Component r, of rank r, lives on executor
 * EXECUTORS - 1 - r; the first one is a spout, and what it emits goes from executor to executor and is acked by the
 * last. Each component's `finish` emits a tuple for the next. Threads of the application put commands for the spout and
 * for a bolt at any time. What must hold:
 *
 *     finishing begins when no spout's command can come any more, none waits, no tree is open, nothing is on its way;
 *     a component finishes when what those before it emitted in `finish` has been executed;
 *     when the run closes, nothing that was accepted waits;
 *     and it comes to an end.
 *
 * The machine is sequentially consistent. What an executor shows is of one moment (a sequence lock), is stored with
 * release and read with acquire by one thread, and follows the messages that it counts; so all that a weaker machine adds
 * is that the reader lags behind some executors, as it does behind one that is late here. An executor takes one thing a
 * step, so that it is late in every way.
 *
 * Mutants: STALE_QUIET (what was shown of an earlier phase counts), TORN (figures are shown one by one), READS_ONCE,
 * IGNORES_WORK (between two readings), BOLTS_STAY_OPEN (until all is closed), LATE_CLOSE (of an inbox, after showing). */
#if !defined(EXECUTORS)
#define EXECUTORS 2
#endif
#if !defined(SPOUT_COMMANDS)
#define SPOUT_COMMANDS 1
#endif
#if !defined(BOLT_COMMANDS)
#define BOLT_COMMANDS 0
#endif
#define COMPONENTS EXECUTORS
#define SPOUT (EXECUTORS - 1)

#define RUNNING 1
#define DRAINING 2
#define FINISHING 3
#define CLOSING 4

/* Shared. */
byte phase = RUNNING;
byte finish_rank;
bool until_drained;
byte seen_received[EXECUTORS], seen_sent[EXECUTORS], seen_quiet[EXECUTORS];
bool seen_work[EXECUTORS]; /* more of it than the control has read: all that it asks of the number */
byte seen_finished[EXECUTORS];
byte tracked[EXECUTORS]; /* on their way to an executor */
byte untracked[EXECUTORS];
byte acks; /* on their way to the spout's */
byte queued[EXECUTORS], queued_untracked[EXECUTORS]; /* in the executor's own queue */
byte spouts_lane, bolts_lane; /* commands in the inboxes: the spout's executor's, executor 0's */
bool spouts_refused, bolts_refused;
bool news; /* something was shown since the control last began to read */

/* The executors' own. */
byte sent[EXECUTORS], received[EXECUTORS], finished[EXECUTORS], stepped_in[EXECUTORS];
bool work[EXECUTORS]; /* more of it than was shown */
bool did[EXECUTORS]; /* the last step did something: another one follows */
byte open;
bool wrong;

#define ON_ITS_WAY (tracked[0] + tracked[1] + untracked[0] + untracked[1] + THIRD + acks)
#if EXECUTORS > 2
#define THIRD (tracked[2] + untracked[2])
#else
#define THIRD 0
#endif

#define CARRIES_OUT(p) (p == RUNNING || p == DRAINING)

#define HAS_NEWS(e) (queued[e] || queued_untracked[e] || phase != stepped_in[e] || did[e] || (phase == FINISHING && finished[e] <= finish_rank) ||           \
    tracked[e] || untracked[e] || (e == SPOUT && (acks || (spouts_lane && CARRIES_OUT(phase)))) ||                       \
    (e == 0 && bolts_lane))

inline send_tracked(e) {
    tracked[e - 1]++;
    sent[e]++
}

inline send_untracked(e) {
    untracked[e - 1]++;
    sent[e]++
}

inline finish(e) {
    wrong = wrong || untracked[e] + queued_untracked[e] > 0 || open > 0; /* what those before it emitted has not been executed */
    assert(!wrong);
    if
    :: e > 0 -> send_untracked(e)
    :: else
    fi;
    work[e] = true
}

inline close_inbox(e, seen) {
    if
    :: seen == DRAINING && e == SPOUT -> spouts_refused = true
#ifndef BOLTS_STAY_OPEN
    :: seen == FINISHING && e == 0 && finish_rank == COMPONENTS -> bolts_refused = true
#endif
    :: else
    fi
}

inline finish_component(e, seen) {
    if
    :: seen == FINISHING && finished[e] <= finish_rank ->
        if
        :: finish_rank == SPOUT - e -> finish(e)
        :: else
        fi;
        finished[e] = finish_rank + 1;
        did[e] = true
    :: else
    fi
}

/* One thing, of any kind. */
inline take_one(e, seen) {
    if
    :: tracked[e] > 0 -> tracked[e]--; queued[e]++; received[e]++; work[e] = true; did[e] = true
    :: queued[e] > 0 ->
        queued[e]--;
        work[e] = true;
        did[e] = true;
        if
        :: e > 0 -> send_tracked(e)
        :: else -> acks++; sent[e]++
        fi
    :: untracked[e] > 0 -> untracked[e]--; queued_untracked[e]++; received[e]++; work[e] = true; did[e] = true
    :: queued_untracked[e] > 0 -> queued_untracked[e]--; work[e] = true; did[e] = true
    :: e == SPOUT && acks > 0 -> acks--; open--; received[e]++; work[e] = true; did[e] = true
    :: e == SPOUT && spouts_lane > 0 && CARRIES_OUT(seen) ->
        spouts_lane--;
        open++;
        work[e] = true;
        did[e] = true;
        send_tracked(e)
    :: e == 0 && bolts_lane > 0 -> bolts_lane--; work[e] = true; did[e] = true
    :: else
    fi
}

/* What the inside of a step does to what others see is one step here: a command that comes in its middle might as well
 * have come before or after it. */
inline work_on(e, seen, quiet) {
    atomic {
#ifndef LATE_CLOSE
        close_inbox(e, seen);
#endif
        finish_component(e, seen);
        take_one(e, seen);
        quiet = (queued[e] + queued_untracked[e] == 0 && !(e == SPOUT && (spouts_lane > 0 || open > 0)) &&
            !(e == 0 && bolts_lane > 0) -> seen : 0)
    }
}

/* Of one moment, by a sequence lock (ledger.pml); TORN: figure by figure, in an order that was once thought safe. */
inline show_all(e, quiet) {
#ifdef TORN
    seen_received[e] = received[e];
    seen_sent[e] = sent[e];
    d_step { seen_work[e] = seen_work[e] || work[e]; work[e] = false }
    seen_quiet[e] = quiet;
#endif
    d_step {
        seen_received[e] = received[e];
        seen_sent[e] = sent[e];
        seen_work[e] = seen_work[e] || work[e];
        work[e] = false;
        seen_quiet[e] = quiet;
        seen_finished[e] = finished[e];
        news = true;
        quiet = 0
    }
}

#define SHOWS_NOTHING(e, quiet) (seen_received[e] == received[e] && seen_sent[e] == sent[e] && !work[e] &&             \
    seen_quiet[e] == quiet && seen_finished[e] == finished[e])

proctype executor(byte e) {
    byte seen, quiet;
    do
    :: phase == CLOSING -> break
    :: atomic { phase < CLOSING && HAS_NEWS(e) -> did[e] = false; seen = phase; stepped_in[e] = seen }
        work_on(e, seen, quiet);
        if
        :: d_step { (seen == RUNNING && !until_drained) || SHOWS_NOTHING(e, quiet) -> seen = 0; quiet = 0 }
        :: else ->
            show_all(e, quiet);
#ifdef LATE_CLOSE
            close_inbox(e, seen);
#endif
            seen = 0
        fi
    od
}

/* --- The control: executor 0's thread, but it may be later than executor 0 --- */

bool quiet_once;

#ifdef STALE_QUIET
#define IS_QUIET(e) (seen_quiet[e] != 0)
#else
#define IS_QUIET(e) (seen_quiet[e] == in)
#endif

/* Given up when somebody is found who is not quiet: what else it would read is of no use. */
inline read_quiet(quiet) {
    do
    :: atomic {
        e < EXECUTORS && quiet ->
        quiet = IS_QUIET(e) && (in != FINISHING || seen_finished[e] > finish_rank);
        missing = missing + seen_sent[e] - seen_received[e];
        worked = worked || seen_work[e];
        seen_work[e] = false;
        e++
    }
    :: atomic { e == EXECUTORS || !quiet -> e = 0; break }
    od
}

#ifdef READS_ONCE
#define TWICE quiet
#else
#ifdef IGNORES_WORK
#define TWICE (quiet && quiet_once)
#else
#define TWICE (quiet && quiet_once && !worked)
#endif
#endif

inline move_on() {
    if
    :: in == RUNNING && phase == RUNNING -> phase = DRAINING
    :: in == DRAINING ->
        wrong = wrong || !spouts_refused || spouts_lane > 0 || open > 0 || ON_ITS_WAY > 0;
        assert(!wrong);
        phase = FINISHING
    :: in == FINISHING && finish_rank < COMPONENTS -> finish_rank++
    :: in == FINISHING && finish_rank == COMPONENTS ->
        wrong = wrong || !bolts_refused || bolts_lane > 0 || ON_ITS_WAY > 0;
        assert(!wrong);
        phase = CLOSING
    :: else
    fi
}

active proctype control() {
    byte in, e, missing;
    bool quiet, twice, worked;
    do
    :: phase == CLOSING -> break
    :: atomic {
        phase < CLOSING && (phase != RUNNING || until_drained) && (news || quiet_once) ->
        news = false;
        in = phase;
        quiet = true
    }
        read_quiet(quiet);
        atomic {
            quiet = quiet && missing == 0;
            twice = TWICE;
            quiet_once = quiet && !twice;
            if
            :: twice -> move_on()
            :: else
            fi
        }
        d_step { in = 0; missing = 0; worked = false; quiet = false; twice = false }
    od
}

/* --- The application --- */

active proctype spouts_remote() {
    byte count;
    do
    :: atomic { !spouts_refused && count < SPOUT_COMMANDS -> spouts_lane++; count++ }
    :: spouts_refused || count == SPOUT_COMMANDS -> break
    :: true -> break
    od
}

active proctype bolts_remote() {
    byte count;
    do
    :: atomic { !bolts_refused && count < BOLT_COMMANDS -> bolts_lane++; count++ }
    :: bolts_refused || count == BOLT_COMMANDS -> break
    :: true -> break
    od
}

init {
    byte e;
    atomic {
#if !defined(ONLY_DRAINED)
        if
        :: until_drained = true
        :: true
        fi;
#endif
        do
        :: e < EXECUTORS -> run executor(e); e++
        :: else -> break
        od;
        e = 0
    }
    if
    :: !until_drained -> phase = DRAINING /* gale_runtime_drain; nobody else moves it from there */
    :: else
    fi
}
