/* A plugin in C: a spout that makes card numbers up, and a bolt that hides them.
 *
 *      mask.spout.Cards -> (owner, card)
 *      mask.bolt.Mask   -> the fields that come in, one of them with stars for all but its last characters
 *
 * It is built with the headers of gale alone, and linked with nothing of it: gale itself has the functions that it calls.
 */
#include <gale/plugin.h>
#include <gale/state.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- mask.spout.Cards --------------------------------------------------------------------------------------------- */

typedef struct cards {
    int64_t count;
    int64_t pause; /* nanoseconds */
    const gale_context *context;
    int64_t next, due;
    uint64_t *again; /* the numbers of rows that failed */
    size_t again_count, again_room;
} cards;

static int cards_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const cards *as_made = user;
    cards *c = malloc(sizeof *c);
    (void)out;
    if (!c) return GALE_NO_MEMORY;
    *c = *as_made;
    c->context = context;
    *ret_self = c;
    return 0;
}

/* Row `number` is the same whenever it is made, so that one that failed can be made again. */
static int emit_row(gale_collector *out, uint64_t number) {
    static const char *const owners[] = { "Ada", "Grace", "Edsger", "Barbara" };
    char card[32];
    int size = snprintf(card, sizeof card, "4000-%04u-%04u-%04u", (unsigned)(number * 7919 % 10000),
                        (unsigned)(number * 104729 % 10000), (unsigned)(number % 10000));
    gale_value row[] = { gale_text(owners[number % 4]), gale_string(card, (size_t)size) };
    return gale_emit_tracked(out, 0, row, 2, number);
}

static int cards_next(void *self, gale_collector *out, gale_wait *wait) {
    cards *c = self;
    if (c->again_count) {
        int rc = emit_row(out, c->again[c->again_count - 1]);
        if (rc < 0) return rc == GALE_AGAIN ? GALE_NEXT_NOTHING : rc;
        c->again_count--;
        return GALE_NEXT_EMITTED;
    }
    if (c->next == c->count) return GALE_NEXT_DONE;
    if (c->pause && gale_context_now(c->context) < c->due) {
        wait->until = c->due;
        return GALE_NEXT_UNTIL;
    }
    int rc = emit_row(out, (uint64_t)c->next);
    if (rc < 0) return rc == GALE_AGAIN ? GALE_NEXT_NOTHING : rc;
    c->next++;
    c->due = gale_context_now(c->context) + c->pause;
    return GALE_NEXT_EMITTED;
}

/* Where memory is out, one row is lost, and said to be: `final` would have been its end, too. */
static void cards_fail(void *self, uint64_t number, const gale_failure *failure) {
    cards *c = self;
    if (failure->final || failure->reason == GALE_REASON_STOPPED) return;
    if (c->again_count == c->again_room) {
        size_t room = c->again_room ? 2 * c->again_room : 16;
        uint64_t *more = realloc(c->again, room * sizeof *more);
        if (!more) {
            gale_log(c->context->logger, GALE_LOG_ERROR, c->context->component, "row %llu is lost: out of memory",
                     (unsigned long long)number);
            return;
        }
        c->again = more;
        c->again_room = room;
    }
    c->again[c->again_count++] = number;
}

static void cards_close(void *self) {
    cards *c = self;
    free(c->again);
    free(c);
}

/* In a durable run: which row is next. Those that are open are kept by the engine, those that failed are in the records behind. */
static int cards_save(void *self, gale_saver *to) {
    cards *c = self;
    gale_value next = gale_i64(c->next);
    int rc = gale_save(to, &next, 1);
    for (size_t i = 0; i < c->again_count && rc == 0; i++) {
        gale_value number = gale_i64((int64_t)c->again[i]);
        rc = gale_save(to, &number, 1);
    }
    return rc;
}

static int cards_restore(void *self, gale_saved *from, gale_collector *out) {
    cards *c = self;
    const gale_value *values;
    const gale_failure failed = { .size = sizeof failed, .text = "" };
    size_t count;
    (void)out;
    int rc = gale_saved_next(from, &values, &count);
    if (rc <= 0 || count != 1 || values->type != GALE_TYPE_I64) return rc < 0 ? rc : GALE_DAMAGED;
    c->next = values->as.i64;
    while ((rc = gale_saved_next(from, &values, &count)) > 0) cards_fail(c, (uint64_t)values->as.i64, &failed);
    return rc;
}

static const gale_durable_ops cards_durable = {
    .size = sizeof cards_durable, .version = 1, .save = cards_save, .restore = cards_restore
};

static const gale_spout_ops cards_ops = { .size = sizeof cards_ops,
                                          .name = "cards",
                                          .open = cards_open,
                                          .next = cards_next,
                                          .fail = cards_fail,
                                          .close = cards_close,
                                          .durable = &cards_durable };

static const gale_param cards_params[] = {
    GALE_PARAM_MORE("count", GALE_PARAM_WHOLE, "10", "how many rows", 0, 0, 1000000000, NULL, "rows", "1000"),
    GALE_PARAM_MORE("pause", GALE_PARAM_SECONDS, "0", "how long it waits between two rows", 0, 0, 3600, NULL, NULL,
                    "250ms"),
};

static int make_cards(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
    static const gale_output row = { NULL, "owner, card" };
    cards *c = calloc(1, sizeof *c);
    (void)user;
    if (!c) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    c->count = gale_args_whole(args, "count");
    c->pause = (int64_t)(gale_args_number(args, "pause") * 1e9);
    *ret_spout = (gale_spout){
        .size = sizeof *ret_spout, .ops = &cards_ops, .user = c, .free_user = free, .outputs = &row, .output_count = 1
    };
    return 0;
}

/* --- mask.bolt.Mask ----------------------------------------------------------------------------------------------- */

enum { CARD_MAX = 200, FIELDS_MAX = 64 };

typedef struct mask {
    size_t index; /* of the field */
    size_t keep;
    char with;
    gale_output output;
    char fields[]; /* that come in, and go out */
} mask;

/* All but the last `keep` letters and digits. */
static size_t hide(const mask *m, gale_value card, char out[CARD_MAX]) {
    size_t size = card.size < CARD_MAX ? card.size : CARD_MAX, left = 0;
    for (size_t i = 0; i < size; i++) left += card.as.string[i] != '-' && card.as.string[i] != ' ';
    for (size_t i = 0; i < size; i++) {
        char c = card.as.string[i];
        bool sign = c == '-' || c == ' ';
        out[i] = sign || left <= m->keep ? c : m->with;
        left -= !sign;
    }
    return size;
}

static int mask_execute(void *user, const gale_tuple *tuple, gale_collector *out) {
    const mask *m = user;
    size_t count = gale_tuple_size(tuple);
    gale_value row[FIELDS_MAX];
    char hidden[CARD_MAX];
    if (m->index >= count || count > FIELDS_MAX) return GALE_FIELDS;
    for (size_t i = 0; i < count; i++) row[i] = gale_tuple_value(tuple, i);
    if (row[m->index].type == GALE_TYPE_STRING) row[m->index] = gale_string(hidden, hide(m, row[m->index], hidden));
    int rc = gale_emit(out, 0, row, count);
    return rc < 0 ? rc : 0;
}

static const gale_bolt_ops mask_ops = {
    .size = sizeof mask_ops, .name = "mask", .execute = mask_execute, .durable = &gale_stateless
};

static const gale_param mask_params[] = {
    GALE_PARAM_MORE("field", GALE_PARAM_FIELD, NULL, "the field that is hidden", GALE_PARAM_INPUT, 0, 0, NULL, NULL,
                    "card"),
    GALE_PARAM_MORE("keep", GALE_PARAM_WHOLE, "4", "how many characters at its end stay", 0, 0, 100, NULL, "characters",
                    "4"),
    GALE_PARAM("with", GALE_PARAM_TEXT, "*", "the character that stands for the others"),
};

/* The place of `name` in "owner, card", or -1. */
static int place_of(const char *fields, const char *name) {
    for (int i = 0; *fields; i++) {
        size_t size = strcspn(fields, ",");
        if (size == strlen(name) && memcmp(fields, name, size) == 0) return i;
        fields += size;
        fields += strspn(fields, ", ");
    }
    return -1;
}

static int make_mask(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    gale_input input = GALE_INPUT_INIT;
    const char *with = gale_args_text(args, "with"), *field = gale_args_text(args, "field");
    (void)user;
    if (!with || strlen(with) != 1)
        return gale_error_set(error, GALE_INVALID, "mask.bolt.Mask: with must be one character");
    if (gale_args_input_count(args) != 1)
        return gale_error_set(error, GALE_INVALID, "mask.bolt.Mask: one stream must lead to it, not %zu",
                              gale_args_input_count(args));
    if (!gale_args_input(args, 0, &input) || !input.fields)
        return gale_error_set(error, GALE_FIELDS, "mask.bolt.Mask: which fields come in is not known");
    int index = place_of(input.fields, field);
    if (index < 0)
        return gale_error_set(error, GALE_INVALID, "mask.bolt.Mask: field '%s' does not come in; '%s' has %s", field,
                              input.source, input.fields);
    mask *m = calloc(1, sizeof *m + strlen(input.fields) + 1);
    if (!m) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    m->index = (size_t)index;
    m->keep = (size_t)gale_args_whole(args, "keep");
    m->with = *with;
    strcpy(m->fields, input.fields); /* there is room for it */
    m->output.fields = m->fields;
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt,
                             .ops = &mask_ops,
                             .user = m,
                             .free_user = free,
                             .outputs = &m->output,
                             .output_count = 1 };
    return 0;
}

/* --- The plugin --------------------------------------------------------------------------------------------------- */

static const gale_class classes[] = {
    GALE_SPOUT_CLASS("mask.spout.Cards", "makes owners and card numbers up", cards_params, "owner, card", make_cards),
    GALE_BOLT_CLASS("mask.bolt.Mask", "hides all but the end of a field", mask_params, NULL, make_mask),
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("mask", "1.0", "mask.", "Apache-2.0",
                                                   "hides what is not for everybody's eyes", classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
