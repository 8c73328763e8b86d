#include "sim/bolt.h"

static bool gathers(const gx_sim_task *task) {
    return task->component->built->bolt.flush && !task->component->captured;
}

/* Hold, fail, forget, twice or reset: the first that strikes, to be met when the tuple is answered. What a flush is to
 * answer is not acked before it. */
static int draw_fate(gx_sim_task *task) {
    static const int fates[] = { GX_FAULT_HOLD, GX_FAULT_FAIL, GX_FAULT_FORGET, GX_FAULT_RESET, GX_FAULT_TWICE };
    for (size_t i = 0; i < sizeof fates / sizeof *fates - gathers(task); i++)
        if (gx_fault_strikes(&task->sim->random, task->sim->faults.odds[fates[i]])) return fates[i];
    return GX_FAULT_COUNT;
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const gx_sim_component *component = user;
    gx_sim_task *task = gx_sim_task_new(component, context, out);
    if (!task) return GALE_NO_MEMORY;
    const gale_bolt_ops *ops = &component->built->bolt;
    int rc = gx_sim_opens(task);
    gx_sim_enter(task);
    if (rc == GALE_OK && ops->prepare && !component->captured)
        rc = ops->prepare(component->built->user, context, &task->out, &task->self);
    gx_sim_leave(task);
    if (rc < 0)
        gx_sim_task_free(task);
    else
        *ret_self = task;
    return rc;
}

static void reset_if_drawn(gx_sim_task *task) {
    if (task->fate != GX_FAULT_RESET) return;
    gx_sim_struck(task, GX_FAULT_RESET);
    gale_reset_timeout(&task->out, task->handle);
}

/* Runs the component on the tuple, unless it stands for a sink or its fate is to fail first. */
static int run(gx_sim_task *task, const gale_tuple *tuple) {
    reset_if_drawn(task);
    if (task->component->captured) {
        task->sim->captured++;
        if (task->component->built->bolt.kind == GALE_BOLT_MANUAL) gale_ack(&task->out, task->handle);
        return GALE_OK;
    }
    return task->component->built->bolt.execute(task->self, tuple, &task->out);
}

/* The engine answers it with the next flush. */
static void owe(gx_sim_task *task) {
    if (!gx_grow(&task->sim->heap, GX_TAG_OTHER, &task->owed, &task->owed_capacity, task->owed_count + 1,
                 sizeof *task->owed)) {
        gx_oracle_violated(&task->sim->oracle, "the simulator has no memory");
        return;
    }
    task->owed[task->owed_count++] = task->delivery;
    gx_oracle_kept(&task->sim->oracle, &task->delivery, true);
}

/* What the engine makes of the tuple once the call returns `rc`. */
static void settle(gx_sim_task *task, int rc) {
    gx_oracle *oracle = &task->sim->oracle;
    uint16_t id = (uint16_t)task->context->task;
    if (task->state != GX_SIM_OPEN) return;
    if (rc < 0)
        gx_oracle_failed(oracle, id, &task->delivery, GALE_REASON_FAILED);
    else if (task->component->built->bolt.kind == GALE_BOLT_SIMPLE && gathers(task) && !task->delivery.failed)
        owe(task);
    else if (task->component->built->bolt.kind == GALE_BOLT_SIMPLE)
        gx_oracle_acked(oracle, id, &task->delivery);
    else
        gx_oracle_forgotten(oracle, id, &task->delivery);
}

static void settle_owed(gx_sim_task *task, int rc) {
    gx_oracle *oracle = &task->sim->oracle;
    bool stopping = gx_phase(gx_sim_engine_task(task)->executor->shared) >= GALE_PHASE_CLOSING;
    for (size_t i = 0; i < task->owed_count; i++) {
        const gx_sim_delivery *delivery = &task->owed[i];
        gx_oracle_kept(oracle, delivery, false);
        if (rc >= 0)
            gx_oracle_acked(oracle, (uint16_t)task->context->task, delivery);
        else if (!stopping)
            gx_oracle_failed(oracle, (uint16_t)task->context->task, delivery, GALE_REASON_FAILED);
    }
    task->owed_count = 0;
}

/* The tuple is in execution: its fate is drawn. GALE_COMPONENT: it is to fail before its work. */
static int begin_tuple(gx_sim_task *task, const gale_tuple *tuple) {
    task->handle = tuple->handle;
    task->state = GX_SIM_OPEN;
    task->current = NULL;
    task->fate = draw_fate(task);
    int rc = gx_sim_strip(task, tuple, &task->input);
    if (rc < 0) gx_oracle_violated(&task->sim->oracle, "the simulator has no memory");
    if (rc == GALE_OK && task->fate == GX_FAULT_FAIL && gx_random_below(&task->sim->random, 2)) {
        gx_sim_struck(task, GX_FAULT_FAIL);
        gale_report(&task->out, "drawn to fail before its work");
        rc = GALE_COMPONENT;
    }
    return rc;
}

/* A tuple that comes again has not been executed. */
static void set_more(gx_sim_task *task, bool more) {
    gx_sim_counts *counts = &task->sim->oracle.counts[task->context->task];
    task->more = more;
    if (more) task->state = GX_SIM_NONE;
    counts->received += more ? UINT64_MAX : 1;
    task->sim->oracle.executed += more ? UINT64_MAX : 1;
}

static void end_tuple(gx_sim_task *task, int rc) {
    bool simple = task->component->built->bolt.kind == GALE_BOLT_SIMPLE;
    if (rc == GALE_MORE && task->state == GX_SIM_OPEN && !task->delivery.failed) set_more(task, true);
    if (rc >= 0 && simple && task->state == GX_SIM_OPEN) gx_sim_meet_fate(task);
    settle(task, rc);
    task->state = GX_SIM_NONE;
    task->current = NULL;
}

static int execute_tuple(gx_sim_task *task, const gale_tuple *tuple) {
    int rc = begin_tuple(task, tuple);
    if (rc == GALE_OK) rc = run(task, &task->input.tuple);
    end_tuple(task, rc);
    return rc;
}

static uint64_t number_of(const gx_sim_task *task, const gale_tuple *tuple) {
    if (gx_sim_is_letter(gale_tuple_stream(tuple)))
        return gx_oracle_letter_number(&task->sim->oracle, (uint64_t)gale_tuple_value(tuple, GX_SIM_LETTER_ID).as.i64);
    gale_value last = gale_tuple_value(tuple, gale_tuple_size(tuple) - 1);
    return gx_sim_number_read(gx_sim_tuple_folds(task->sim, tuple), &last);
}

/* Is it the one whose emission is not done? */
static bool comes_again(const gx_sim_task *task, const gale_tuple *tuple) {
    const gx_sim_emission *e = &task->sim->oracle.emissions[task->delivery.emission];
    return e->number == number_of(task, tuple) && e->task == gale_tuple_task(tuple) && e->stream == tuple->head->stream;
}

/* False: it cannot be. */
static bool receive(gx_sim_task *task, const gale_tuple *tuple) {
    bool more = task->more, again = more && comes_again(task, tuple);
    if (again) set_more(task, false);
    if (again) return true;
    task->more = false;
    if (more && !task->sim->oracle.scarce) /* it found no memory where it was to wait */
        gx_oracle_violated(&task->sim->oracle, "task %u was given a tuple before the one that it is not done with",
                           task->id);
    return gx_oracle_received(&task->sim->oracle, (uint16_t)gale_tuple_task(tuple), (uint16_t)task->context->task,
                              tuple->head->stream, number_of(task, tuple), gx_row_root(tuple->head), &task->delivery);
}

static int execute(gx_sim_task *task, const gale_tuple *tuple) {
    if (gale_tuple_task(tuple) == 0) {
        int (*function)(void *, const gale_tuple *, gale_collector *) = task->component->built->bolt.execute;
        return task->component->captured ? GALE_OK : function(task->self, tuple, &task->out);
    }
    return receive(task, tuple) ? execute_tuple(task, tuple) : GALE_INVALID;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    gx_sim_task *task = self;
    (void)out;
    gx_sim_enter_for(task, GX_SIM_CALL_EXECUTE);
    gx_sim_disturb(task);
    int rc = execute(task, tuple);
    gx_sim_leave(task);
    return rc;
}

/* --- Many at once --- */

/* Between the component and the engine. */
typedef struct many {
    gale_batch given; /* first */
    gale_batch *engine;
    gx_sim_task *task;
} many;

/* One that is to fail before its work is not given: the engine has it failed and goes on to the next. */
static const gale_tuple *next_of_many(gale_batch *given) {
    const many *m = (const many *)given;
    gx_sim_task *task = m->task;
    for (;;) {
        task->unasked = false;
        end_tuple(task, GALE_OK);
        const gale_tuple *tuple = gale_batch_next(m->engine);
        if (!tuple || gale_tuple_task(tuple) == 0) return tuple;
        if (!receive(task, tuple)) return NULL;
        gx_sim_disturb(task);
        if (begin_tuple(task, tuple) == GALE_OK) break;
        gx_sim_answer(task, NULL, false, GALE_REASON_FAILED, "drawn to fail before its work");
    }
    reset_if_drawn(task);
    return &task->input.tuple;
}

static int bolt_execute_batch(void *self, gale_batch *tuples, gale_collector *out) {
    gx_sim_task *task = self;
    many m = { { sizeof m.given, next_of_many }, tuples, task };
    (void)out;
    gx_sim_enter_for(task, GX_SIM_CALL_EXECUTE);
    gx_sim_disturb(task);
    task->unasked = true;
    int rc = task->component->built->bolt.execute_batch(task->self, &m.given, &task->out);
    end_tuple(task, rc);
    gx_sim_leave(task);
    return rc;
}

/* What its call did not ask for the engine has taken, and fails. */
void gx_sim_bolt_executed(gx_sim_task *task, const gale_tuple *tuple, int returned) {
    if (!task->unasked || gale_tuple_task(tuple) == 0) return;
    task->unasked = false;
    if (returned >= 0)
        gx_oracle_violated(&task->sim->oracle, "task %u was acked for a tuple that it has not taken", task->id);
    if (receive(task, tuple))
        gx_oracle_failed(&task->sim->oracle, (uint16_t)task->id, &task->delivery, GALE_REASON_FAILED);
}

/* --- The rest --- */

static int bolt_finish(void *self, gale_collector *out) {
    gx_sim_task *task = self;
    const gale_bolt_ops *ops = &task->component->built->bolt;
    (void)out;
    gx_sim_enter_for(task, GX_SIM_CALL_FINISH);
    int rc = ops->finish && !task->component->captured ? ops->finish(task->self, &task->out) : GALE_OK;
    task->stage.finished = rc != GALE_MORE;
    gx_sim_leave(task);
    return rc;
}

static int bolt_flush(void *self, gale_collector *out) {
    gx_sim_task *task = self;
    const gale_bolt_ops *ops = &task->component->built->bolt;
    (void)out;
    gx_sim_enter_for(task, GX_SIM_CALL_FLUSH);
    int rc = gx_sim_strikes(task, GX_FAULT_FAIL) ? GALE_COMPONENT : ops->flush(task->self, &task->out);
    gx_sim_leave(task);
    settle_owed(task, rc);
    return rc;
}

static void bolt_cleanup(void *self) {
    gx_sim_task *task = self;
    const gale_bolt_ops *ops = &task->component->built->bolt;
    gx_sim_enter_for(task, GX_SIM_CALL_CLOSE);
    if (ops->cleanup && !task->component->captured) ops->cleanup(task->self);
    gx_sim_leave(task);
}

/* By whether the component answers itself, has a `finish`, a `flush`, and takes many at once: what has none is given
 * none. */
#define OPS(kind_, finish_, flush_, execute_, execute_batch_)                                                          \
    {                                                                                                                  \
        .size = sizeof(gale_bolt_ops), .name = "sim", .kind = (kind_), .prepare = bolt_prepare, .execute = (execute_), \
        .finish = (finish_), .cleanup = bolt_cleanup, .flush = (flush_), .execute_batch = (execute_batch_)             \
    }
#define BOTH(kind, finish, flush)                                                                                      \
    { OPS(kind, finish, flush, bolt_execute, NULL), OPS(kind, finish, flush, NULL, bolt_execute_batch) }
#define KIND(kind)                                                                                                     \
    {                                                                                                                  \
        { BOTH(kind, NULL, NULL), BOTH(kind, NULL, bolt_flush) },                                                      \
            { BOTH(kind, bolt_finish, NULL), BOTH(kind, bolt_finish, bolt_flush) },                                    \
    }
static const gale_bolt_ops bolts[2][2][2][2] = { KIND(GALE_BOLT_SIMPLE), KIND(GALE_BOLT_MANUAL) };

gale_bolt gx_sim_bolt(gx_sim_component *component) {
    const gale_bolt_ops *built = &component->built->bolt;
    bool manual = built->kind != GALE_BOLT_SIMPLE, flushes = built->flush && !component->captured;
    bool at_once = built->execute_batch && !component->captured;
    return (gale_bolt){ .size = sizeof(gale_bolt),
                        .ops = &bolts[manual][built->finish != NULL][flushes][at_once],
                        .user = component };
}
