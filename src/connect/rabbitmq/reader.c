#include "connect/rabbitmq/reader.h"

#include <amqp_framing.h>

/* --- It begins -------------------------------------------------------------------------------------------------------- */

static bool begin(void *user, rmq_worker *worker, rmq_session *session) {
    const rmq_reader *r = user;
    rmq_worker_enough(worker, r->prefetch / 8 + 1u);
    if (!rmq_declare_carry_out(r->declare, session->state, session->why)) return false;
    (void)amqp_basic_qos(session->state, RMQ_CHANNEL, 0, r->prefetch, false);
    if (!rmq_session_answered(session)) return false;
    (void)amqp_basic_consume(session->state, RMQ_CHANNEL, amqp_cstring_bytes(r->declare->queue), amqp_empty_bytes,
                             false, false, false, amqp_empty_table);
    return rmq_session_answered(session);
}

static void lose(void *user) {
    rmq_assembly_drop(&((rmq_reader *)user)->assembly);
}

/* --- Orders ----------------------------------------------------------------------------------------------------------- */

static bool look(const rmq_reader *r, rmq_worker *worker, rmq_session *session) {
    const amqp_queue_declare_ok_t *queue = amqp_queue_declare(session->state, RMQ_CHANNEL,
                                                              amqp_cstring_bytes(r->declare->queue), true, false, false,
                                                              false, amqp_empty_table);
    if (!rmq_session_answered(session) || !queue) return false;
    rmq_note *depth = rmq_note_new(RMQ_DEPTH, rmq_worker_session(worker), sizeof *depth, 0);
    if (depth) depth->tag = queue->message_count;
    return rmq_worker_tell(worker, session, depth);
}

static bool carry_out(void *user, rmq_worker *worker, rmq_session *session, const rmq_note *order) {
    if (order->kind == RMQ_LOOK) return look(user, worker, session);
    int status = order->kind == RMQ_ACK ? amqp_basic_ack(session->state, RMQ_CHANNEL, order->tag, order->multiple)
                                        : amqp_basic_reject(session->state, RMQ_CHANNEL, order->tag, order->requeue);
    return status == AMQP_STATUS_OK || rmq_session_fail(session, status);
}

/* --- Deliveries ------------------------------------------------------------------------------------------------------- */

static bool begin_delivery(rmq_reader *r, const rmq_worker *worker, rmq_session *session,
                           const amqp_basic_deliver_t *deliver) {
    if (!rmq_assembly_begin(&r->assembly, RMQ_DELIVERY, rmq_worker_session(worker), deliver->exchange,
                            deliver->routing_key))
        return rmq_session_fail(session, AMQP_STATUS_NO_MEMORY);
    r->assembly.now->note.tag = deliver->delivery_tag;
    r->assembly.now->redelivered = deliver->redelivered;
    return true;
}

static bool hear(void *user, rmq_worker *worker, rmq_session *session, const amqp_frame_t *frame) {
    rmq_reader *r = user;
    rmq_delivery *whole;
    if (frame->frame_type == AMQP_FRAME_METHOD)
        return frame->payload.method.id != AMQP_BASIC_DELIVER_METHOD ||
               begin_delivery(r, worker, session, frame->payload.method.decoded);
    int rc = rmq_assembly_frame(&r->assembly, frame, &whole);
    if (rc < 0)
        return rmq_session_fail(session, rc == GALE_NO_MEMORY ? AMQP_STATUS_NO_MEMORY : AMQP_STATUS_BAD_AMQP_DATA);
    return rc == 0 || rmq_worker_tell(worker, session, &whole->note);
}

const rmq_worker_ops rmq_reader_ops = { begin, carry_out, hear, lose };
