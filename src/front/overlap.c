#include "front/overlap.h"

#include "base/buf.h"
#include "base/os/file.h"
#include "base/str.h"
#include "connect/file/names.h"
#include "connect/file/state.h"

#include <fnmatch.h>
#include <stdlib.h>

enum { STANDARD_INPUT = 0, STANDARD_OUTPUT = 1, STATE_MAX = 4096, LINKS_MAX = 40 };

gx_used gx_used_of(const gx_args *args, const char *id) {
    const gx_class *class_ = args->class_;
    gx_used used = { .class_ = class_,
                     .id = id,
                     .reads = gx_args_text_with(args, GX_PARAM_READS),
                     .writes = gx_args_text_with(args, GX_PARAM_WRITES),
                     .keeps = gx_args_text_with(args, GX_PARAM_KEEPS) };
    if (!gx_class_param_with(class_, GX_PARAM_READS) && gx_class_reads_key(class_, "gale.input")) used.reads = "-";
    if (!gx_class_param_with(class_, GX_PARAM_WRITES) && class_->prints && class_->prints(args)) used.writes = "-";
    used.follows = gx_class_has(class_, "follow") && gx_args_flag(args, "follow");
    const gale_value *stays = gx_args_with(args, GX_PARAM_STAYS);
    used.replaces = stays && stays->type == GALE_TYPE_BOOL && !stays->as.boolean;
    return used;
}

/* What stands in the configuration, if the class obeys it, else `path`. */
static const char *effective(const gale_topology *topology, const gx_used *used, const char *key, const char *path) {
    const gx_component *component = gx_topology_find(topology, used->id);
    gale_value value;
    if (!gx_class_reads_key(used->class_, key)) return path;
    bool set = component && component->config && gale_config_get(component->config, key, &value);
    if (!set) set = gale_config_get(gale_topology_config(topology), key, &value);
    return set && value.type == GALE_TYPE_STRING ? value.as.string : path;
}

static uint32_t tasks_of(const gale_topology *topology, const gx_used *used) {
    const gx_component *component = gx_topology_find(topology, used->id);
    return component ? gx_component_tasks(topology, component) : 1;
}

static bool is_standard(const char *path) {
    return strcmp(path, "-") == 0;
}

/* --- What a file is ----------------------------------------------------------------------------------------------- */

/* A file, or a place for one. */
typedef struct file_id {
    uint64_t device, inode; /* of the file; of its folder, when it is not there */
    const char *name;       /* in that folder; NULL: it is there */
} file_id;

/* `target`, as a link at `path` names it. */
static char *beside(const char *path, const char *target) {
    const char *slash = *target == '/' ? NULL : strrchr(path, '/');
    gx_buf name = GX_BUF_INIT(NULL);
    if (slash) gx_buf_add(&name, path, (size_t)(slash - path) + 1);
    gx_buf_add_text(&name, target);
    const char *text = gx_buf_text(&name);
    char *made = text ? strdup(text) : NULL;
    gx_buf_fini(&name);
    return made;
}

/* A link that leads nowhere yet. */
static bool dangles(const char *path, char ret_target[GX_FILE_NAME_SIZE]) {
    gx_file_about about;
    if (is_standard(path) || gx_file_about_path(path, &about, NULL) != GALE_NOT_FOUND) return false;
    return gx_file_link(path, ret_target);
}

/* The end of a chain of links: a file that is written through one is made there, when it is not there yet. */
static char *follow(const char *path) {
    char target[GX_FILE_NAME_SIZE], *at = strdup(path);
    for (int i = 0; at && i < LINKS_MAX && dangles(at, target); i++) {
        char *next = beside(at, target);
        free(at);
        at = next;
    }
    return at;
}

/* Where it would be made. */
static bool find_place(const char *path, file_id *ret_id) {
    gx_file_about folder;
    gx_buf parent = GX_BUF_INIT(NULL);
    const char *slash = strrchr(path, '/');
    gx_buf_add(&parent, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    const char *text = gx_buf_text(&parent);
    bool found = text && gx_file_about_path(text, &folder, NULL) == 0;
    if (found) *ret_id = (file_id){ folder.device, folder.inode, slash ? slash + 1 : path };
    gx_buf_fini(&parent);
    return found;
}

/* False for what many may use, and for what cannot be made. */
static bool identify(const char *path, int standard, file_id *ret_id) {
    gx_file_about about;
    int rc = is_standard(path) ? gx_file_about_open(standard, path, &about, NULL)
                               : gx_file_about_path(path, &about, NULL);
    if (rc == GALE_NOT_FOUND) return find_place(path, ret_id);
    if (rc < 0 || !about.regular) return false;
    *ret_id = (file_id){ .device = about.device, .inode = about.inode };
    return true;
}

static int compare_ids(const file_id *a, const file_id *b) {
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode) return a->inode < b->inode ? -1 : 1;
    if (!a->name || !b->name) return (a->name != NULL) - (b->name != NULL);
    return strcmp(a->name, b->name);
}

/* --- Who uses what ------------------------------------------------------------------------------------------------ */

typedef struct use {
    const char *who, *verb, *advice;
    bool named; /* `who` is the user's own name for it */
    bool written;
    char *path;  /* its own */
    char *place; /* its own: where links lead */
    file_id id;
    size_t order;
} use;

typedef struct uses {
    use *list;
    size_t count, capacity;
    bool failed; /* memory was out */
} uses;

static char *spell(const char *path, uint32_t index, const char *ending) {
    gx_buf name = GX_BUF_INIT(NULL);
    gx_buf_add_text(&name, path);
    if (index > 0) gx_buf_format(&name, ".%u", index);
    gx_buf_add_text(&name, ending);
    const char *text = gx_buf_text(&name);
    char *made = text ? strdup(text) : NULL;
    gx_buf_fini(&name);
    return made;
}

static bool grow(uses *all) {
    if (all->count < all->capacity) return true;
    size_t capacity = all->capacity ? 2 * all->capacity : 16;
    use *grown = realloc(all->list, capacity * sizeof *grown);
    if (!grown) return false;
    all->list = grown;
    all->capacity = capacity;
    return true;
}

static void free_use(const use *one) {
    free(one->path);
    free(one->place);
}

/* The file at `path`, of task `index`, with `ending` behind it. */
static void add(uses *all, use made, const char *path, uint32_t index, const char *ending) {
    made.path = spell(path, index, ending);
    made.place = made.path ? follow(made.path) : NULL;
    made.order = all->count;
    if (!made.place || !grow(all))
        all->failed = true;
    else if (identify(made.place, made.written ? STANDARD_OUTPUT : STANDARD_INPUT, &made.id)) {
        all->list[all->count++] = made;
        return;
    }
    free_use(&made);
}

static void add_component(uses *all, const gale_topology *topology, const gx_used *used) {
    const char *reads = effective(topology, used, "gale.input", used->reads);
    const char *writes = effective(topology, used, "gale.output", used->writes);
    uint32_t tasks = tasks_of(topology, used);
    use made = { .who = used->id, .named = true, .verb = "reads" };
    if (reads) add(all, made, reads, 0, "");
    made.written = true;
    made.verb = "writes";
    for (uint32_t i = 0; writes && i < (is_standard(writes) ? 1 : tasks); i++) add(all, made, writes, i, "");
    made.verb = "keeps its place in";
    for (uint32_t i = 0; used->keeps && i < tasks; i++) {
        add(all, made, used->keeps, i, "");
        add(all, made, used->keeps, i, ".new");
        add(all, made, used->keeps, i, ".lock");
    }
}

static void add_dead_letters(uses *all, const gale_topology *topology) {
    use made = { .who = "topology.dead_letters.file", .verb = "appends to", .written = true };
    gale_str file = gale_config_text(gale_topology_config(topology), "topology.dead_letters.file", gx_str(NULL));
    char *path = file.size ? strndup(file.data, file.size) : NULL;
    if (path) add(all, made, path, 0, "");
    all->failed |= file.size && !path;
    free(path);
}

static int by_file(const void *a, const void *b) {
    const use *x = a, *y = b;
    int order = compare_ids(&x->id, &y->id);
    return order ? order : x->order < y->order ? -1 : 1;
}

/* --- Refusing ----------------------------------------------------------------------------------------------------- */

/* The standard output is one file for all who print. */
static bool in_the_way(const use *a, const use *b) {
    if (!a->written && !b->written) return false;
    return !(a->written && b->written && is_standard(a->path) && is_standard(b->path));
}

static int refuse(const use *writer, const use *other, gale_error *error) {
    const char *path = !is_standard(other->path) ? other->path : other->written ? "standard output" : "standard input";
    const char *mine = writer->named ? "'" : "", *theirs = other->named ? "'" : "";
    const char *advice = writer->advice ? writer->advice : other->advice ? other->advice : "";
    return gale_error_set(error, GALE_INVALID, "%s%s%s would write to the file that %s%s%s %s: '%s'%s", mine,
                          writer->who, mine, theirs, other->who, theirs, other->verb, path, advice);
}

/* Of two that write the later one is told of. */
static int check_pairs(const uses *all, gale_error *error) {
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = i + 1; k < all->count && compare_ids(&all->list[i].id, &all->list[k].id) == 0; k++) {
            const use *a = &all->list[i], *b = &all->list[k];
            if (in_the_way(a, b)) return b->written ? refuse(b, a, error) : refuse(a, b, error);
        }
    return 0;
}

/* What follows a pattern would read what is written to a file that matches. */
static int check_pattern(const gx_files *files, const gx_used *used, const uses *all, gale_error *error) {
    const char *path = used->follows ? effective(files->topology, used, "gale.input", used->reads) : NULL;
    file_id meant, written;
    if (!path || !gx_file_names_is_pattern(path) || !find_place(path, &meant)) return 0;
    for (size_t i = 0; i < all->count; i++) {
        const use *one = &all->list[i];
        use reader = { .who = used->id, .named = true, .verb = "reads", .path = (char *)path };
        if (!one->written || is_standard(one->path) || !find_place(one->place, &written)) continue;
        if (written.device == meant.device && written.inode == meant.inode &&
            fnmatch(meant.name, written.name, FNM_PERIOD) == 0)
            return refuse(one, &reader, error);
    }
    return 0;
}

static int check_uses(const gx_files *files, uses *all, gale_error *error) {
    for (size_t i = 0; i < files->used_count; i++) add_component(all, files->topology, &files->used[i]);
    add_dead_letters(all, files->topology);
    for (size_t i = 0; i < files->named_count; i++) {
        const gx_named_file *file = &files->named[i];
        use made = { .who = file->who, .verb = file->verb, .advice = file->advice, .written = file->written };
        if (file->path) add(all, made, file->path, 0, "");
    }
    if (all->failed) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    if (all->count) qsort(all->list, all->count, sizeof *all->list, by_file);
    int rc = check_pairs(all, error);
    for (size_t i = 0; rc == 0 && i < files->used_count; i++) rc = check_pattern(files, &files->used[i], all, error);
    return rc;
}

/* --- Going on ----------------------------------------------------------------------------------------------------- */

/* Has a task come further than the beginning? A state that cannot be read is for the spout to say. */
static bool has_moved(const char *path, uint32_t tasks) {
    bool moved = false;
    for (uint32_t i = 0; i < tasks && !moved; i++) {
        gx_file_state state = { .offset = 0 };
        char *name = spell(path, i, ""), *bytes;
        size_t size;
        if (name && gx_file_read_own(name, STATE_MAX, &bytes, &size, NULL) == 0) {
            moved = gx_file_state_parse(name, (gale_str){ bytes, size }, &state, NULL) == 0 && state.offset > 0;
            free(bytes);
        }
        free(name);
    }
    return moved;
}

/* "'lines' goes on from an earlier run (state 'in.state')", or false when the run begins anew. */
static bool say_who_goes_on(const gx_files *files, gx_buf *out) {
    for (size_t i = 0; i < files->named_count; i++)
        if (files->named[i].goes_on && files->named[i].path) {
            gx_buf_format(out, "%s goes on with an earlier run", files->named[i].who);
            return true;
        }
    for (size_t i = 0; i < files->used_count; i++) {
        const gx_used *used = &files->used[i];
        if (!used->keeps || !has_moved(used->keeps, tasks_of(files->topology, used))) continue;
        gx_buf_format(out, "'%s' goes on with an earlier run (state '%s')", used->id, used->keeps);
        return true;
    }
    return false;
}

static int check_replaced(const gx_files *files, gale_error *error) {
    gx_buf who = GX_BUF_INIT(NULL);
    int code = 0;
    for (size_t i = 0; i < files->used_count && code == 0; i++) {
        const gx_used *used = &files->used[i];
        const char *writes = effective(files->topology, used, "gale.output", used->writes);
        gx_file_about about;
        if (!used->replaces || !writes || is_standard(writes)) continue;
        if (gx_file_about_path(writes, &about, NULL) < 0 || !about.regular || !about.size) continue;
        if (!who.size && !say_who_goes_on(files, &who)) break;
        const char *text = gx_buf_text(&who);
        code = gale_error_set(error, GALE_INVALID,
                              "'%s' would replace '%s' (append: false), but %s: what that one wrote would be lost; "
                              "leave `append` out, or write to another file",
                              used->id, writes, text ? text : "the run goes on");
    }
    gx_buf_fini(&who);
    return code;
}

int gx_overlap_check(const gx_files *files, gale_error *error) {
    uses all = { .count = 0 };
    int rc = check_uses(files, &all, error);
    for (size_t i = 0; i < all.count; i++) free_use(&all.list[i]);
    free(all.list);
    return rc < 0 || files->dry ? rc : check_replaced(files, error);
}
