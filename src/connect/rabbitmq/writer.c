#include "connect/rabbitmq/writer.h"

#include "connect/rabbitmq/message.h"

#include <amqp_framing.h>
#include <string.h>

static bool begin(void *user, rmq_worker *worker, rmq_session *session) {
    const rmq_writer *w = user;
    (void)worker;
    if (!rmq_declare_carry_out(w->declare, session->state, session->why)) return false;
    (void)amqp_confirm_select(session->state, RMQ_CHANNEL);
    return rmq_session_answered(session);
}

static void lose(void *user) {
    rmq_assembly_drop(&((rmq_writer *)user)->assembly);
}

static bool carry_out(void *user, rmq_worker *worker, rmq_session *session, const rmq_note *order) {
    (void)user, (void)worker;
    return rmq_message_publish((const rmq_message *)order, session);
}

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

static bool tell_confirm(rmq_worker *worker, rmq_session *session, uint64_t tag, bool multiple, bool refused) {
    rmq_note *note = rmq_note_new(RMQ_CONFIRM, rmq_worker_session(worker), sizeof *note, 0);
    if (note) {
        note->tag = tag;
        note->multiple = multiple;
        note->refused = refused;
    }
    return rmq_worker_tell(worker, session, note);
}

static bool begin_return(rmq_writer *w, const rmq_worker *worker, rmq_session *session,
                         const amqp_basic_return_t *returned) {
    char words[RMQ_WORDS];
    gale_str text;
    rmq_words(words, "%u %.*s", (unsigned)returned->reply_code,
              (int)(returned->reply_text.len < 100 ? returned->reply_text.len : 100),
              returned->reply_text.len ? (char *)returned->reply_text.bytes : "");
    bool is = rmq_assembly_begin(&w->assembly, RMQ_RETURN, rmq_worker_session(worker), returned->exchange,
                                 returned->routing_key) &&
              rmq_arena_copy(&w->assembly.now->note.arena, words, strlen(words), &text);
    if (!is) return rmq_session_fail(session, AMQP_STATUS_NO_MEMORY);
    w->assembly.now->note.text = text.data;
    return true;
}

static bool hear_method(rmq_writer *w, rmq_worker *worker, rmq_session *session, const amqp_method_t *method) {
    const amqp_basic_ack_t *ack = method->decoded;
    const amqp_basic_nack_t *nack = method->decoded;
    switch (method->id) {
    case AMQP_BASIC_ACK_METHOD: return tell_confirm(worker, session, ack->delivery_tag, ack->multiple, false);
    case AMQP_BASIC_NACK_METHOD: return tell_confirm(worker, session, nack->delivery_tag, nack->multiple, true);
    case AMQP_BASIC_RETURN_METHOD: return begin_return(w, worker, session, method->decoded);
    default: return true;
    }
}

static bool hear(void *user, rmq_worker *worker, rmq_session *session, const amqp_frame_t *frame) {
    rmq_writer *w = user;
    rmq_delivery *whole;
    if (frame->frame_type == AMQP_FRAME_METHOD) return hear_method(w, worker, session, &frame->payload.method);
    int rc = rmq_assembly_frame(&w->assembly, frame, &whole);
    if (rc < 0)
        return rmq_session_fail(session, rc == GALE_NO_MEMORY ? AMQP_STATUS_NO_MEMORY : AMQP_STATUS_BAD_AMQP_DATA);
    return rc == 0 || rmq_worker_tell(worker, session, &whole->note);
}

const rmq_worker_ops rmq_writer_ops = { begin, carry_out, hear, lose };
