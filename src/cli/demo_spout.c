#include "cli/demo_spout.h"

#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct spout {
    gx_demo_source *source;
    const gale_context *context;
    gx_reader *reader;
    gale_collector *out;
    int64_t due; /* when the next line is, if it is paced */
    uint64_t next_id;
} spout;

static int open_spout(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    spout *self = calloc(1, sizeof *self);
    if (!self) return GALE_NO_MEMORY;
    *self = (spout){ .source = user, .context = context, .out = out, .due = gale_context_now(context) };
    self->reader = gx_reader_new(self->source->documents, self->source->seed, self->source->repeat);
    if (!self->reader) return free(self), GALE_NO_MEMORY;
    gx_reader_begin(self->reader);
    *ret_self = self;
    return 0;
}

/* Is it time? A spout that was held up goes on at its pace; it does not make up for what it missed. */
static bool is_due(spout *self, gale_wait *wait) {
    if (self->source->rate <= 0) return true;
    int64_t now = gale_context_now(self->context);
    if (now < self->due) return wait->until = self->due, false;
    int64_t period = (int64_t)(1e9 / self->source->rate);
    if (now - self->due > 100 * GALE_MILLISECOND) self->due = now;
    self->due += period > 0 ? period : 1;
    return true;
}

static int next(void *instance, gale_collector *out, gale_wait *wait) {
    spout *self = instance;
    gale_str line;
    size_t document;
    if (!is_due(self, wait)) return GALE_NEXT_UNTIL;
    if (!gx_reader_next(self->reader, &line, &document)) return GALE_NEXT_DONE;
    gx_store_relaxed(&self->source->document, document);
    gale_value value = gx_utf8_valid(line.data, line.size) ? gale_string(line.data, line.size)
                                                           : gale_bytes(line.data, line.size);
    int rc = gale_emit_tracked(out, 0, &value, 1, self->next_id);
    if (rc < 0) return rc;
    self->next_id++;
    return GALE_NEXT_EMITTED;
}

/* A demonstration does not try again; it says what was lost. */
static void fail(void *instance, uint64_t message_id, const gale_failure *failure) {
    spout *self = instance;
    char text[300];
    if (failure->reason == GALE_REASON_STOPPED) return;
    snprintf(text, sizeof text, "line %llu failed: %s %s", (unsigned long long)message_id + 1,
             gale_reason_name(failure->reason), failure->text);
    gale_report(self->out, text);
}

static void close_spout(void *instance) {
    spout *self = instance;
    gx_reader_free(self->reader);
    free(self);
}

gale_spout gx_demo_spout(gx_demo_source *source) {
    static const gale_spout_ops ops = {
        .size = sizeof ops, .name = "demo", .open = open_spout, .next = next, .fail = fail, .close = close_spout
    };
    static const gale_output output = { NULL, "line" };
    return (
        gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .user = source, .outputs = &output, .output_count = 1 };
}
