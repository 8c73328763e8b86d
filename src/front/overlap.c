#include "front/overlap.h"

#include "base/os/file.h"
#include "base/str.h"

enum { STANDARD_INPUT = 0, STANDARD_OUTPUT = 1 };

bool gx_class_reads_key(const gx_class *class_, const char *wanted) {
    gale_str rest = gx_str(class_->keys), key;
    while (rest.data && gx_str_next(&rest, ' ', &key))
        if (gx_str_is(key, wanted)) return true;
    return false;
}

static const char *path_at(const gale_value *values, int place) {
    return place > 0 && values[place - 1].type == GALE_TYPE_STRING ? values[place - 1].as.string : NULL;
}

gx_used gx_used_of(const gx_class *class_, const char *id, const gale_value *values) {
    gx_used used = { class_, id, path_at(values, class_->reads), path_at(values, class_->writes) };
    if (!class_->reads && gx_class_reads_key(class_, "gale.input")) used.reads = "-";
    if (!class_->writes && class_->prints && class_->prints(values)) used.writes = "-";
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

static bool find_out(const char *path, int standard, gx_file_about *ret_about) {
    if (!path) return false;
    int code = strcmp(path, "-") == 0 ? gx_file_about_open(standard, path, ret_about, NULL)
                                      : gx_file_about_path(path, ret_about, NULL);
    return code >= 0 && ret_about->regular;
}

int gx_overlap_check(const gale_topology *topology, const gx_used *used, size_t count, gale_error *error) {
    gx_file_about output, input;
    for (size_t w = 0; w < count; w++) {
        const char *writes = effective(topology, &used[w], "gale.output", used[w].writes);
        if (!find_out(writes, STANDARD_OUTPUT, &output)) continue;
        for (size_t r = 0; r < count; r++) {
            const char *reads = effective(topology, &used[r], "gale.input", used[r].reads);
            if (!find_out(reads, STANDARD_INPUT, &input)) continue;
            if (input.device != output.device || input.inode != output.inode) continue;
            return gale_error_set(error, GALE_INVALID, "'%s' would write to the file that '%s' reads: '%s'", used[w].id,
                                  used[r].id, strcmp(reads, "-") == 0 ? "standard input" : reads);
        }
    }
    return 0;
}
