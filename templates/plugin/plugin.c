/* A plugin with one class: @NAME@.bolt.Shout writes the letters of a field large.
 *
 * It is built with the headers of gale alone: gale itself has the functions that it calls.
 */
#include <gale/plugin.h>
#include <gale/state.h>

#include <ctype.h>
#include <stdlib.h>

enum { TEXT_MAX = 4096 };

typedef struct shout {
    int64_t marks; /* of exclamation, behind the text */
} shout;

static int shout_execute(void *user, const gale_tuple *tuple, gale_collector *out) {
    const shout *s = user;
    gale_value text = gale_tuple_value(tuple, 0);
    char loud[TEXT_MAX];
    if (text.type != GALE_TYPE_STRING || text.size + (size_t)s->marks > sizeof loud) {
        gale_report(out, "the first field is no text, or too long a one");
        return GALE_TYPE;
    }
    size_t size = 0;
    for (; size < text.size; size++) loud[size] = (char)toupper((unsigned char)text.as.string[size]);
    for (int64_t i = 0; i < s->marks; i++) loud[size++] = '!';
    gale_value value = gale_string(loud, size);
    int code = gale_emit(out, 0, &value, 1);
    return code < 0 ? code : 0;
}

/* It keeps nothing from one tuple to the next: durable runs may have it. */
static const gale_bolt_ops shout_ops = {
    .size = sizeof shout_ops, .name = "shout", .execute = shout_execute, .durable = &gale_stateless
};

static const gale_param shout_params[] = {
    GALE_PARAM_MORE("marks", GALE_PARAM_WHOLE, "1", "how many marks of exclamation follow", 0, 0, 100, NULL, "marks", "3"),
};

static int make_shout(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_output output = { NULL, "text" };
    shout *s = malloc(sizeof *s);
    (void)user;
    if (!s) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    s->marks = gale_args_whole(args, "marks");
    *ret_bolt = (gale_bolt){
        .size = sizeof *ret_bolt, .ops = &shout_ops, .user = s, .free_user = free, .outputs = &output, .output_count = 1
    };
    return 0;
}

static const gale_class classes[] = {
    GALE_BOLT_CLASS("@NAME@.bolt.Shout", "writes the letters of its first field large", shout_params, "text", make_shout),
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("@NAME@", "0.1", "@NAME@.", "Apache-2.0", "texts for who does not listen",
                                                   classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
