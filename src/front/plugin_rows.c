#include "front/plugin_rows.h"

#include "base/options.h"
#include "base/str.h"
#include "base/utf8.h"
#include "front/arguments.h"
#include "front/connector.h"
#include "front/plugin_make.h"
#include "topology/config.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct taking {
    const char *path;
    const gx_connector *own; /* gale's connector, which may use gale's prefix; NULL: it is somebody's */
    gale_plugin said;        /* as far as this gale knows it */
    gx_plugin *plugin;
    size_t param_count; /* taken so far */
    size_t alias_bytes;
    gale_error *error;
} taking;

static int refuse(const taking *t, int code, const char *format, ...) GALE_PRINTF(3, 4);

static int refuse(const taking *t, int code, const char *format, ...) {
    char text[GALE_ERROR_TEXT];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return gale_error_set(t->error, code, "'%s' %s", t->path, text);
}

static int no_memory(const taking *t) {
    return refuse(t, GALE_NO_MEMORY, "cannot be loaded: out of memory");
}

/* --- Text and tables ---------------------------------------------------------------------------------------------- */

/* Text for people: in one line. */
static bool is_text(const char *text) {
    size_t size = text ? strnlen(text, GX_PLUGIN_TEXT_MAX + 1) : 0;
    if (!size || size > GX_PLUGIN_TEXT_MAX || !gx_utf8_valid(text, size)) return false;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) return false;
    return true;
}

/* One that may be left out. */
static bool is_text_if_any(const char *text) {
    return !text || !*text || is_text(text);
}

/* A name without blanks, as files have it. */
static bool is_name(const char *text) {
    if (!is_text(text)) return false;
    for (; *text; text++)
        if (*text == ' ' || *text == ',' || *text == ':' || *text == '\'' || *text == '"') return false;
    return true;
}

static bool begins_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Row `index` of a table whose rows are `from_size` bytes: what it does not have is zero. */
static void take_row(void *to, size_t to_size, const void *table, size_t from_size, size_t index) {
    memset(to, 0, to_size);
    memcpy(to, (const char *)table + index * from_size, from_size < to_size ? from_size : to_size);
}

static bool is_row_size(size_t size, size_t least) {
    return size >= least && size <= GX_OPTIONS_SIZE_MAX && size % sizeof(void *) == 0;
}

/* --- Parameters --------------------------------------------------------------------------------------------------- */

static const int32_t types[GALE_PARAM_TYPE_COUNT] = {
    [GALE_PARAM_ANY] = GX_PARAM_ANY,       [GALE_PARAM_BOOL] = GX_PARAM_BOOL,       [GALE_PARAM_WHOLE] = GX_PARAM_WHOLE,
    [GALE_PARAM_NUMBER] = GX_PARAM_NUMBER, [GALE_PARAM_SECONDS] = GX_PARAM_SECONDS, [GALE_PARAM_BYTES] = GX_PARAM_BYTES,
    [GALE_PARAM_TEXT] = GX_PARAM_TEXT,     [GALE_PARAM_WORD] = GX_PARAM_WORD,       [GALE_PARAM_FIELD] = GX_PARAM_FIELD,
    [GALE_PARAM_FIELDS] = GX_PARAM_FIELDS, [GALE_PARAM_LIST] = GX_PARAM_LIST,       [GALE_PARAM_MAP] = GX_PARAM_MAP,
};

static const struct {
    uint32_t theirs, ours;
} roles[] = {
    { GALE_PARAM_READS, GX_PARAM_READS }, { GALE_PARAM_WRITES, GX_PARAM_WRITES }, { GALE_PARAM_KEY, GX_PARAM_KEY },
    { GALE_PARAM_INPUT, GX_PARAM_INPUT }, { GALE_PARAM_OUTPUT, GX_PARAM_OUTPUT }, { GALE_PARAM_TIME, GX_PARAM_TIME },
    { GALE_PARAM_ABOVE, GX_PARAM_ABOVE }, { GALE_PARAM_BRACES, GX_PARAM_BRACES },
};

static bool take_roles(uint32_t theirs, uint32_t *ret_ours) {
    *ret_ours = 0;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (theirs & roles[i].theirs) *ret_ours |= roles[i].ours;
        theirs &= ~roles[i].theirs;
    }
    return !theirs;
}

static bool is_number_in(const gx_param *param, gale_value value) {
    double number = value.type == GALE_TYPE_I64 ? (double)value.as.i64 : value.as.f64;
    bool above = !(param->roles & GX_PARAM_ABOVE) || number > (double)param->min;
    bool in = number >= (double)param->min && number <= (double)param->max && above;
    return isfinite(number) && (param->min >= param->max || in);
}

static bool is_among(const char *words, const char *wanted) {
    gale_str rest = gx_str(words), word;
    while (gx_str_next(&rest, ' ', &word))
        if (gx_str_is(word, wanted)) return true;
    return false;
}

/* Would a file that says the same be right? */
static bool fallback_fits(const gx_param *param) {
    if (!param->fallback || !*param->fallback) return true;
    gale_value value = gx_param_fallback(param);
    bool whole = value.type == GALE_TYPE_I64;
    switch (param->type) {
    case GX_PARAM_LIST:
    case GX_PARAM_MAP: return false;
    case GX_PARAM_BOOL: return value.type == GALE_TYPE_BOOL;
    case GX_PARAM_WHOLE:
    case GX_PARAM_BYTES: return whole && is_number_in(param, value);
    case GX_PARAM_NUMBER:
    case GX_PARAM_SECONDS: return (whole || value.type == GALE_TYPE_F64) && is_number_in(param, value);
    case GX_PARAM_WORD: return is_among(param->words, param->fallback);
    default: return true;
    }
}

static bool words_fit(const gale_param *theirs) {
    bool has = theirs->words && *theirs->words, may = theirs->roles & GALE_PARAM_BRACES;
    return (has == (theirs->type == GALE_PARAM_WORD) || (has && may)) && is_text_if_any(theirs->words);
}

/* Words of types, or none. */
static bool is_types(const char *words) {
    uint32_t read;
    return !words || (is_text(words) && gx_types_read(gx_str(words), &read));
}

/* "partition int, bad.line string": rows of a name and types. */
static bool is_table_of_types(const char *table) {
    gale_str rest = gx_str(table), row;
    uint32_t read;
    while (rest.data && gx_str_next(&rest, ',', &row)) {
        const char *blank = memchr(row.data, ' ', row.size);
        gale_str words = { blank, blank ? row.size - (size_t)(blank - row.data) : 0 };
        if (!words.size || !gx_types_read(words, &read)) return false;
    }
    return true;
}

static int check_param(const taking *t, const char *class_, const gale_param *theirs, gx_param *ours) {
    if (!is_name(theirs->name)) return refuse(t, GALE_INVALID, "has a parameter of %s without a name", class_);
    if (!is_text(theirs->text))
        return refuse(t, GALE_INVALID, "says nothing of the parameter '%s' of %s", theirs->name, class_);
    if (theirs->type < 0 || theirs->type >= GALE_PARAM_TYPE_COUNT || !take_roles(theirs->roles, &ours->roles))
        return refuse(t, GALE_UNSUPPORTED, "has a parameter '%s' of %s of a type or a role that gale %s does not know",
                      theirs->name, class_, GALE_VERSION_TEXT);
    if (!words_fit(theirs))
        return refuse(t, GALE_INVALID, "has a parameter '%s' of %s whose type and words do not fit", theirs->name,
                      class_);
    if (!is_text_if_any(theirs->unit) || !is_text_if_any(theirs->example) || !is_text_if_any(theirs->fallback) ||
        (theirs->also && !is_name(theirs->also)) || !is_types(theirs->takes))
        return refuse(t, GALE_INVALID, "has a parameter '%s' of %s with text that is none", theirs->name, class_);
    return 0;
}

static int take_param(const taking *t, const char *class_, const gale_param *theirs, gx_param *ours) {
    int rc = check_param(t, class_, theirs, ours);
    if (rc < 0) return rc;
    uint32_t taken = ours->roles;
    *ours = (gx_param){ .name = theirs->name,
                        .also = theirs->also,
                        .type = types[theirs->type],
                        .roles = taken,
                        .fallback = theirs->fallback,
                        .min = theirs->min,
                        .max = theirs->max,
                        .words = theirs->words,
                        .unit = theirs->unit,
                        .text = theirs->text,
                        .example = theirs->example,
                        .takes = theirs->takes };
    if (fallback_fits(ours)) return 0;
    return refuse(t, GALE_INVALID, "has a parameter '%s' of %s whose default '%s' is not %s", ours->name, class_,
                  ours->fallback, ours->type == GX_PARAM_WORD ? "among its words" : gx_param_type_text(ours->type));
}

static int take_params(taking *t, const gale_class *theirs, gx_class *ours) {
    ours->params = t->plugin->params + t->param_count;
    ours->param_count = theirs->param_count;
    for (size_t i = 0; i < theirs->param_count; i++) {
        gale_param row;
        take_row(&row, sizeof row, theirs->params, theirs->param_size, i);
        int rc = take_param(t, theirs->name, &row, &t->plugin->params[t->param_count++]);
        if (rc < 0) return rc;
    }
    return 0;
}

/* --- Classes ------------------------------------------------------------------------------------------------------ */

static bool is_gales(const char *name) {
    return begins_with(name, "gale.") || begins_with(name, "org.apache.storm.");
}

/* Names of gale's or Storm's own are for the connectors that have them by gale's table. */
static bool is_given(const taking *t, const char *name) {
    return t->own && gx_connector_brings(t->own, gx_str(name));
}

static int refuse_name(const taking *t, const char *name) {
    gx_buf classes = GX_BUF_INIT(NULL);
    gx_connector_classes(t->own, &classes);
    const char *given = gx_buf_text(&classes);
    int rc = refuse(t, GALE_INVALID, "has a class '%s', and gale %s gives its plugin '%s' these alone: %s; update gale",
                    name, GALE_VERSION_TEXT, t->own->name, given ? given : "");
    gx_buf_fini(&classes);
    return rc;
}

/* One copy of all aliases, with a NUL behind each. */
static int take_aliases(taking *t, const gale_class *theirs, gx_class *ours) {
    gale_str rest = gx_str(theirs->aliases), word;
    size_t count = 0;
    while (rest.data && gx_str_next(&rest, ' ', &word)) {
        if (!word.size) continue;
        if (count == GX_ALIASES_MAX)
            return refuse(t, GALE_TOO_LARGE, "has a class %s with more than %d other names", theirs->name,
                          GX_ALIASES_MAX);
        char *copy = t->plugin->aliases + t->alias_bytes;
        memcpy(copy, word.data, word.size);
        t->alias_bytes += word.size + 1;
        if (is_gales(copy) && !is_given(t, copy))
            return refuse(t, GALE_INVALID, "has a class %s with a name of gale's or Storm's own, '%s': leave it out",
                          theirs->name, copy);
        ours->aliases[count++] = copy;
    }
    return 0;
}

static int check_class(const taking *t, const gale_class *theirs) {
    const char *prefix = t->said.prefix;
    bool spout = theirs->kind == GALE_CLASS_SPOUT;
    if (!is_name(theirs->name)) return refuse(t, GALE_INVALID, "has a class without a name");
    if (!begins_with(theirs->name, prefix) || !theirs->name[strlen(prefix)])
        return refuse(t, GALE_INVALID, "has a class '%s', which does not begin with its prefix '%s': rename it",
                      theirs->name, prefix);
    if (t->own && !is_given(t, theirs->name)) return refuse_name(t, theirs->name);
    if (!is_text(theirs->text)) return refuse(t, GALE_INVALID, "says nothing of its class %s", theirs->name);
    if (theirs->kind < 0 || theirs->kind >= GALE_CLASS_KIND_COUNT || theirs->flags & ~(uint32_t)GALE_CLASS_REMEMBERS)
        return refuse(t, GALE_UNSUPPORTED, "has a class %s of a kind that gale %s does not know", theirs->name,
                      GALE_VERSION_TEXT);
    if (!theirs->make_spout != !spout || !theirs->make_bolt != spout)
        return refuse(t, GALE_INVALID, "has a class %s that is a %s, and needs %s and nothing else to make it",
                      theirs->name, spout ? "spout" : "bolt", spout ? "make_spout" : "make_bolt");
    if (!is_text_if_any(theirs->outputs) || !is_text_if_any(theirs->keys) || !is_text_if_any(theirs->aliases) ||
        !is_text_if_any(theirs->types) || !is_table_of_types(theirs->types))
        return refuse(t, GALE_INVALID, "has a class %s with text that is none", theirs->name);
    return 0;
}

static int take_class(taking *t, size_t index) {
    gx_made_by *maker = &t->plugin->makers[index];
    gx_class *ours = &t->plugin->classes[index];
    const gale_class *theirs = &maker->theirs;
    int rc = check_class(t, theirs);
    if (rc < 0) return rc;
    maker->plugin = t->plugin;
    ours->name = theirs->name;
    ours->kind = theirs->kind == GALE_CLASS_SPOUT ? GX_CLASS_SPOUT : GX_CLASS_BOLT;
    ours->keys = theirs->keys && *theirs->keys ? theirs->keys : NULL;
    ours->outputs = theirs->outputs && *theirs->outputs ? theirs->outputs : NULL;
    ours->types = theirs->types && *theirs->types ? theirs->types : NULL;
    ours->remembers = theirs->flags & GALE_CLASS_REMEMBERS;
    ours->text = theirs->text;
    ours->make_spout = ours->kind == GX_CLASS_SPOUT ? gx_plugin_make_spout : NULL;
    ours->make_bolt = ours->kind == GX_CLASS_BOLT ? gx_plugin_make_bolt : NULL;
    ours->made_by = maker;
    rc = take_aliases(t, theirs, ours);
    return rc == 0 ? take_params(t, theirs, ours) : rc;
}

/* How much room the rows of all classes need. Nothing of them is believed before it is looked at. */
static int measure(const taking *t, size_t *ret_params, size_t *ret_alias_bytes) {
    for (size_t i = 0; i < t->said.class_count; i++) {
        gale_class *theirs = &t->plugin->makers[i].theirs;
        take_row(theirs, sizeof *theirs, t->said.classes, t->said.class_size, i);
        const char *name = is_name(theirs->name) ? theirs->name : "without a name";
        if (theirs->param_count > GX_PARAMS_MAX)
            return refuse(t, GALE_TOO_LARGE, "has a class %s with more than %d parameters", name, GX_PARAMS_MAX);
        bool rows = theirs->params && is_row_size(theirs->param_size, offsetof(gale_param, min));
        if (theirs->param_count && !rows)
            return refuse(t, GALE_INVALID, "has a class %s whose parameters are no table (GALE_TABLE)", name);
        *ret_params += theirs->param_count;
        *ret_alias_bytes += is_text(theirs->aliases) ? strlen(theirs->aliases) + 1 : 0;
    }
    return 0;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static int check_abi(const taking *t) {
    uint32_t needs = t->said.needs ? t->said.needs : t->said.abi;
    if (needs > GALE_PLUGIN_ABI)
        return refuse(t, GALE_UNSUPPORTED,
                      "needs a gale with plugin ABI %u, and gale %s has %d: update gale, or build it with the headers "
                      "of this one",
                      needs, GALE_VERSION_TEXT, GALE_PLUGIN_ABI);
    if (t->said.abi < GX_PLUGIN_ABI_OLDEST)
        return refuse(
            t, GALE_UNSUPPORTED,
            "says plugin ABI %u, and gale %s understands %d to %d: build it again with the headers of this one",
            t->said.abi, GALE_VERSION_TEXT, GX_PLUGIN_ABI_OLDEST, GALE_PLUGIN_ABI);
    return 0;
}

/* Small letters, digits, '-' and '_': it is part of a file's name. */
static bool is_plugin_name(const char *name) {
    size_t size = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") : 0;
    return size && size <= 64 && !name[size];
}

static int check_prefix(taking *t) {
    const char *prefix = t->said.prefix;
    size_t size = is_name(prefix) ? strlen(prefix) : 0;
    if (size < 2 || prefix[size - 1] != '.' || prefix[0] == '.')
        return refuse(t, GALE_INVALID, "has no prefix for the names of its classes, such as \"acme.\"");
    if (strcmp(prefix, "gale.") == 0) t->own = gx_connector_named(gx_str(t->said.name));
    if (t->own) return 0;
    if (is_gales(prefix) || strcmp(prefix, "org.apache.") == 0 || strcmp(prefix, "org.") == 0)
        return refuse(t, GALE_INVALID, "has the prefix '%s', which is gale's or Storm's own: take another", prefix);
    return 0;
}

static int check_said(taking *t) {
    if (!is_plugin_name(t->said.name))
        return refuse(t, GALE_INVALID, "has no name of small letters, digits, '-' and '_'");
    if (!is_text(t->said.version)) return refuse(t, GALE_INVALID, "does not say its version");
    if (!is_text(t->said.license)) return refuse(t, GALE_INVALID, "does not say its licence");
    if (!is_text(t->said.text)) return refuse(t, GALE_INVALID, "says nothing of itself (text)");
    int rc = check_prefix(t);
    if (rc < 0) return rc;
    if (!t->said.classes || !t->said.class_count || !is_row_size(t->said.class_size, offsetof(gale_class, aliases)))
        return refuse(t, GALE_INVALID, "has no classes, or they are no table (GALE_TABLE)");
    if (t->said.class_count > GX_PLUGIN_CLASSES_MAX)
        return refuse(t, GALE_TOO_LARGE, "has more than %d classes", GX_PLUGIN_CLASSES_MAX);
    return 0;
}

/* The description begins with its size; less than all fields of the first version there never was. */
static int take_said(taking *t, const gale_plugin *described) {
    if (!described) return refuse(t, GALE_INVALID, "describes nothing: its gale_plugin_v1 returns NULL");
    size_t size = described->size;
    if (size < offsetof(gale_plugin, name) || size > GX_OPTIONS_SIZE_MAX)
        return refuse(t, GALE_INVALID, "says that its description has %zu bytes: set `size`, and build it again", size);
    memcpy(&t->said, described, size < sizeof t->said ? size : sizeof t->said);
    int rc = check_abi(t);
    if (rc < 0) return rc;
    if (size < sizeof(gale_plugin))
        return refuse(t, GALE_INVALID, "says that its description has %zu bytes: set `size`, and build it again", size);
    return check_said(t);
}

static int make_room(taking *t) {
    gx_plugin *plugin = t->plugin;
    size_t params = 0, alias_bytes = 0;
    plugin->class_count = t->said.class_count;
    plugin->path = strdup(t->path);
    plugin->classes = calloc(plugin->class_count, sizeof *plugin->classes);
    plugin->makers = calloc(plugin->class_count, sizeof *plugin->makers);
    if (!plugin->path || !plugin->classes || !plugin->makers) return no_memory(t);
    int rc = measure(t, &params, &alias_bytes);
    if (rc < 0) return rc;
    plugin->params = calloc(params + 1, sizeof *plugin->params);
    plugin->aliases = calloc(alias_bytes + 1, 1);
    return plugin->params && plugin->aliases ? 0 : no_memory(t);
}

int gx_plugin_new(const gale_plugin *described, const char *path, void *library, gx_plugin **ret_plugin,
                  gale_error *error) {
    taking t = { .path = path, .error = error };
    int rc = take_said(&t, described);
    if (rc < 0) return rc;
    if (!(t.plugin = calloc(1, sizeof *t.plugin))) return no_memory(&t);
    gx_store_relaxed(&t.plugin->refs, 1);
    t.plugin->name = t.said.name;
    t.plugin->version = t.said.version;
    t.plugin->license = t.said.license;
    t.plugin->text = t.said.text;
    t.plugin->library = library;
    rc = make_room(&t);
    for (size_t i = 0; i < t.said.class_count && rc == 0; i++) rc = take_class(&t, i);
    if (rc < 0) return gx_plugin_unref(t.plugin), rc;
    *ret_plugin = t.plugin;
    return 0;
}
