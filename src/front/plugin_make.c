#include "front/plugin_make.h"

#include "base/options.h"
#include "front/plugin_note.h"

#include <stdlib.h>
#include <string.h>

/* --- Arguments ---------------------------------------------------------------------------------------------------- */

typedef struct shown {
    gale_args head;
    const gx_args *args;
    char *unknown; /* room for the first name that the class does not have, or "" */
} shown;

enum { UNKNOWN_SIZE = 100 };

/* What the plugin asks for is the plugin's own table: what is not in it is its mistake, which is told when it is done. */
static const gx_args *known(const gale_args *head, const char *name) {
    const shown *s = (const shown *)head;
    if (name && gx_class_has(s->args->class_, name)) return s->args;
    if (!*s->unknown) {
        strncpy(s->unknown, name && *name ? name : "(none)", UNKNOWN_SIZE - 1);
        s->unknown[UNKNOWN_SIZE - 1] = 0;
    }
    return NULL;
}

static gale_value value(const gale_args *head, const char *name) {
    const gx_args *args = known(head, name);
    return args ? *gx_args_value(args, name) : gale_null();
}

static bool given(const gale_args *head, const char *name) {
    const gx_args *args = known(head, name);
    return args && gx_args_given(args, name);
}

static size_t input_count(const gale_args *head) {
    return ((const shown *)head)->args->input_count;
}

static bool input(const gale_args *head, size_t index, gale_input *ret_input) {
    const gx_args *args = ((const shown *)head)->args;
    if (index >= args->input_count || ret_input->size < sizeof(size_t)) return false;
    const gx_input *from = &args->inputs[index];
    const gale_input whole = { ret_input->size, from->source, from->stream, from->fields };
    memcpy(ret_input, &whole, ret_input->size < sizeof whole ? ret_input->size : sizeof whole);
    return true;
}

static const gale_args_ops args_ops = {
    .size = sizeof args_ops, .value = value, .given = given, .input_count = input_count, .input = input
};

/* --- What begins with a note -------------------------------------------------------------------------------------- */

typedef int begin_fn(void *user, const gale_context *context, gale_collector *out, void **ret_self);

/* Stands between the engine and the component until it is open: the `user` of what the topology is given. */
typedef struct guarded {
    const gx_made_by *made_by;
    void *user;
    void (*free_user)(void *user);
    begin_fn *begin; /* theirs; NULL: there is none */
    gale_spout_ops spout;
    gale_bolt_ops bolt;
} guarded;

static int begin(void *user, const gale_context *context, gale_collector *out, void **ret_self, const char *doing) {
    const guarded *g = user;
    *ret_self = g->user;
    if (!g->begin) return 0;
    gx_plugin_note_begin(g->made_by->plugin->name, doing, g->made_by->theirs.name);
    int rc = g->begin(g->user, context, out, ret_self);
    gx_plugin_note_end();
    return rc;
}

static int open_spout(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    return begin(user, context, out, ret_self, "opening");
}

static int prepare_bolt(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    return begin(user, context, out, ret_self, "preparing");
}

static void free_guarded(void *user) {
    guarded *g = user;
    if (g->free_user) g->free_user(g->user);
    gx_plugin_unref(g->made_by->plugin);
    free(g);
}

/* --- Making ------------------------------------------------------------------------------------------------------- */

/* Room for a structure of any version: what was built with newer headers fills in more than is known here. */
typedef union filled {
    gale_spout spout;
    gale_bolt bolt;
    char room[GX_OPTIONS_SIZE_MAX];
} filled;

static int call(const gx_args *args, filled *ret, gale_error *error) {
    const gx_made_by *made_by = args->class_->made_by;
    const gale_class *theirs = &made_by->theirs;
    char unknown[UNKNOWN_SIZE] = "";
    const shown s = { { &args_ops }, args, unknown };
    memset(ret, 0, sizeof *ret);
    ret->spout.size = theirs->make_spout ? sizeof ret->spout : sizeof ret->bolt;
    gx_plugin_note_begin(made_by->plugin->name, "making", theirs->name);
    int rc = theirs->make_spout ? theirs->make_spout(theirs->user, &s.head, &ret->spout, error)
                                : theirs->make_bolt(theirs->user, &s.head, &ret->bolt, error);
    gx_plugin_note_end();
    if (rc < 0) return error->code ? rc : gale_error_set(error, rc, "%s: %s", theirs->name, gale_error_text(rc));
    if (!*unknown) return 0;
    if (ret->spout.free_user) ret->spout.free_user(ret->spout.user);
    return gale_error_set(error, GALE_COMPONENT, "%s asks for a parameter '%s' that it does not have", theirs->name,
                          unknown);
}

static guarded *guard(const gx_args *args, void *user, void (*free_user)(void *user), begin_fn *theirs) {
    guarded *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->made_by = args->class_->made_by;
    g->user = user;
    g->free_user = free_user;
    g->begin = theirs;
    gx_plugin_ref(g->made_by->plugin);
    return g;
}

/* What is wrong with it, the plugin did: the place is the component's. */
static int check_ops(const gx_args *args, const void *ops, gale_error *error) {
    if (ops) return 0;
    return gale_error_set(error, GALE_COMPONENT, "%s was made without a table of functions (`ops`)",
                          args->class_->name);
}

static int give_up(void *user, void (*free_user)(void *user), int code) {
    if (free_user) free_user(user);
    return code;
}

int gx_plugin_make_spout(const gx_args *args, gale_spout *ret_spout, gale_error *error) {
    gale_error own = GALE_ERROR_INIT;
    gale_spout_ops ops;
    gale_spout made;
    filled f;
    if (!error) error = &own;
    int rc = call(args, &f, error);
    if (rc < 0) return rc;
    rc = gx_options_take(&made, sizeof made, &f, args->class_->name, error);
    if (rc == 0) rc = check_ops(args, made.ops, error);
    if (rc == 0) rc = gx_options_take(&ops, sizeof ops, made.ops, args->class_->name, error);
    guarded *g = rc == 0 ? guard(args, made.user, made.free_user, ops.open) : NULL;
    if (rc == 0 && !g) rc = gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    if (rc < 0) return give_up(f.spout.user, f.spout.free_user, rc);
    g->spout = ops;
    g->spout.open = open_spout;
    made.ops = &g->spout;
    made.user = g;
    made.free_user = free_guarded;
    *ret_spout = made;
    return 0;
}

int gx_plugin_make_bolt(const gx_args *args, gale_bolt *ret_bolt, gale_error *error) {
    gale_error own = GALE_ERROR_INIT;
    gale_bolt_ops ops;
    gale_bolt made;
    filled f;
    if (!error) error = &own;
    int rc = call(args, &f, error);
    if (rc < 0) return rc;
    rc = gx_options_take(&made, sizeof made, &f, args->class_->name, error);
    if (rc == 0) rc = check_ops(args, made.ops, error);
    if (rc == 0) rc = gx_options_take(&ops, sizeof ops, made.ops, args->class_->name, error);
    guarded *g = rc == 0 ? guard(args, made.user, made.free_user, ops.prepare) : NULL;
    if (rc == 0 && !g) rc = gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    if (rc < 0) return give_up(f.bolt.user, f.bolt.free_user, rc);
    g->bolt = ops;
    g->bolt.prepare = prepare_bolt;
    made.ops = &g->bolt;
    made.user = g;
    made.free_user = free_guarded;
    *ret_bolt = made;
    return 0;
}
