/* Storm's TestWordSpout: gale_word_spout. */
#include "kit/recall.h"

#include <gale/kit.h>

/* A word is emitted this long after the one before it; Storm sleeps as long, and does not catch up either. */
#define PERIOD (100 * GALE_MILLISECOND)

typedef struct word_spout {
    gx_instance instance;
    int64_t due;
} word_spout;

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)out;
    word_spout *words = gx_define_instance(context, sizeof *words);
    if (!words) return GALE_NO_MEMORY;
    words->due = gale_context_now(context) + PERIOD;
    *ret_self = words;
    return 0;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    static const char *const all[] = { "nathan", "mike", "jackson", "golda", "bertels" };
    word_spout *words = self;
    const gale_context *context = words->instance.context;
    int64_t now = gale_context_now(context);
    if (now < words->due) {
        wait->until = words->due;
        return GALE_NEXT_UNTIL;
    }
    uint64_t index = ((gale_context_random(context) >> 32) * 5) >> 32;
    gale_value word = gale_text(all[index]);
    int rc = gale_emit(out, 0, &word, 1);
    if (rc < 0) return rc;
    words->due = now + PERIOD;
    return GALE_NEXT_EMITTED;
}

static int spout_save(void *self, gale_saver *to) {
    const word_spout *words = self;
    gale_value due = gale_i64(words->due);
    return gale_save(to, &due, 1);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    word_spout *words = self;
    gx_recall recall = { from, out, "word spout", words->instance.context, 0 };
    const gale_value *v;
    int rc = gx_recall_one(&recall, "i", &v);
    if (rc >= 0) words->due = v[0].as.i64;
    return rc;
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_PARTS,
    .save = spout_save,
    .restore = spout_restore,
};

static const gale_spout_ops ops = {
    .size = sizeof(gale_spout_ops),
    .name = "word spout",
    .open = spout_open,
    .next = spout_next,
    .close = gx_define_instance_free,
    .durable = &durable,
};

int gale_word_spout(bool distributed, gale_spout *ret_spout, gale_error *error) {
    static const gale_output outputs[] = { { NULL, "word" } };
    static const gale_setting alone = { "topology.max.task.parallelism", { .type = GALE_TYPE_I64, .as.i64 = 1 } };
    if (!ret_spout) return gx_define_nowhere("word spout", error);
    gale_spout spout = gx_define_spout(&ops, NULL, outputs, 1);
    if (!distributed) {
        spout.settings = &alone;
        spout.setting_count = 1;
    }
    *ret_spout = spout;
    return 0;
}
