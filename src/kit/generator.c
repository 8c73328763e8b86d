/* Lines of made-up text: gale_generator_spout. */
#include "base/buf.h"
#include "kit/define.h"
#include "kit/pace.h"
#include "kit/recall.h"
#include "kit/retry.h"
#include "kit/vocabulary.h"

#include <gale/kit.h>

enum { DEFAULT_WORDS = 10, MAX_WORDS = 1 << 20, DEFAULT_VOCABULARY = 10000 };

typedef struct generator {
    gx_instance instance;
    gale_generator_options options;
    gx_vocabulary vocabulary;
    gx_random random;
    gx_buf line;
    gx_retry retry;
    gx_pace pace;
    uint64_t made;
} generator;

static void spout_close(void *self) {
    generator *made = self;
    gx_retry_fini(&made->retry);
    gx_buf_fini(&made->line);
    gx_vocabulary_fini(&made->vocabulary);
    gx_define_instance_free(made);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const gale_generator_options *options = user;
    generator *made = gx_define_instance(context, sizeof *made);
    if (!made) return GALE_NO_MEMORY;
    gx_heap *heap = &made->instance.heap;
    made->options = *options;
    made->random = gx_random_new(options->seed, context->task_index);
    made->line = (gx_buf)GX_BUF_INIT(heap);
    gx_retry_init(&made->retry, heap, out, options->max_attempts);
    gx_pace_init(&made->pace, context);
    if (gx_vocabulary_init(&made->vocabulary, heap, options->vocabulary) < 0) {
        spout_close(made);
        return GALE_NO_MEMORY;
    }
    *ret_self = made;
    return 0;
}

/* Writes a line and takes a slot for it. What was drawn is put back when memory is out. */
static int make_line(generator *self, uint32_t *ret_id) {
    gx_random before = self->random;
    gx_buf_reset(&self->line);
    for (uint32_t i = 0; i < self->options.words; i++) {
        gale_str word = gx_vocabulary_draw(&self->vocabulary, &self->random);
        if (i > 0) gx_buf_add_byte(&self->line, ' ');
        gx_buf_add(&self->line, word.data, word.size);
    }
    gale_str line = { self->line.data, self->line.size }; /* ASCII */
    int rc = self->line.failed ? GALE_NO_MEMORY : gx_retry_add(&self->retry, line, true, self->made + 1, ret_id);
    if (rc < 0) {
        self->random = before;
        return rc;
    }
    self->made++;
    return 0;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    generator *made = self;
    bool ended = made->options.lines && made->made == made->options.lines;
    if (ended && !gx_retry_waiting(&made->retry)) return GALE_NEXT_DONE;
    if (!gx_pace_ready(&made->pace, &wait->until)) return GALE_NEXT_UNTIL;
    uint32_t id;
    if (!gx_retry_take(&made->retry, &id)) {
        int rc = make_line(made, &id);
        if (rc < 0) return rc;
    }
    int rc = gx_retry_emit(&made->retry, out, id);
    if (rc == GALE_NEXT_EMITTED) gx_pace_step(&made->pace);
    return rc;
}

static void spout_ack(void *self, uint64_t message_id) {
    gx_retry_ack(&((generator *)self)->retry, message_id);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    gx_retry_fail(&((generator *)self)->retry, message_id, failure);
}

/* --- What lasts: where it is, and the lines on their way ------------------------------------------------------------- */

static int spout_save(void *self, gale_saver *to) {
    const generator *made = self;
    const gale_value record[5] = { gale_i64((int64_t)made->random.state), gale_i64((int64_t)made->random.gamma),
                                   gale_i64((int64_t)made->made), gale_i64(made->pace.due),
                                   gale_i64(made->pace.fraction) };
    int rc = gale_save(to, record, 5);
    return rc < 0 ? rc : gx_retry_save(&made->retry, to);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    generator *made = self;
    gx_recall recall = { from, out, "generator spout", made->instance.context, 0 };
    const gale_value *v;
    int rc = gx_recall_one(&recall, "iinin", &v);
    if (rc < 0) return rc;
    if (!(v[1].as.i64 & 1)) return gx_recall_refuse(&recall, "has a state of random numbers that is none");
    made->random = (gx_random){ (uint64_t)v[0].as.i64, (uint64_t)v[1].as.i64 };
    made->made = (uint64_t)v[2].as.i64;
    gx_pace_resume(&made->pace, v[3].as.i64, (uint32_t)v[4].as.i64);
    return gx_retry_recall(&made->retry, &recall);
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .save = spout_save,
    .restore = spout_restore,
};

static const gale_spout_ops ops = {
    .size = sizeof(gale_spout_ops),
    .name = "generator spout",
    .open = spout_open,
    .next = spout_next,
    .ack = spout_ack,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};

int gale_generator_spout(const gale_generator_options *options, gale_spout *ret_spout, gale_error *error) {
    static const gale_output outputs[] = { { NULL, "line" } };
    if (!ret_spout) return gx_define_nowhere("generator spout", error);
    gale_generator_options made;
    int rc = gx_options_take(&made, sizeof made, options, "generator spout: options", error);
    if (rc < 0) return rc;
    if (!made.words) made.words = DEFAULT_WORDS;
    if (!made.vocabulary) made.vocabulary = DEFAULT_VOCABULARY;
    if (made.words > MAX_WORDS) {
        return gale_error_set(error, GALE_INVALID, "generator spout: words is %u, at most %d", made.words, MAX_WORDS);
    }
    if (made.vocabulary > GX_VOCABULARY_MAX) {
        return gale_error_set(error, GALE_INVALID, "generator spout: vocabulary is %u, at most %d", made.vocabulary,
                              GX_VOCABULARY_MAX);
    }
    void *user = gx_define_user(&made, sizeof made, "generator spout", error);
    if (!user) return GALE_NO_MEMORY;
    *ret_spout = gx_define_spout(&ops, user, outputs, 1);
    return 0;
}
