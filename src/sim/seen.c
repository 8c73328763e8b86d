#include "sim/seen.h"

#include <stdlib.h>
#include <string.h>

static void free_tuple(gx_seen_tuple *tuple) {
    gale_value_owned_free(tuple->list);
    free(tuple->values);
}

static void see_emit(void *user, const gx_component *component, uint32_t stream, const gale_value *values,
                     size_t count) {
    gx_seen *seen = user;
    gale_value list = gale_list(values, count);
    gx_seen_tuple tuple = { .component = component, .stream = stream, .count = (uint32_t)count };
    if (seen->tuple_count == GX_SEEN_MAX || !gx_grow(seen->heap, GX_TAG_OTHER, &seen->tuples, &seen->tuple_capacity,
                                                     seen->tuple_count + 1, sizeof *seen->tuples)) {
        seen->full = true;
        return;
    }
    tuple.list = gale_value_copy(&list);
    tuple.values = calloc(count + 1, sizeof *tuple.values);
    if (!tuple.list || !tuple.values) {
        free_tuple(&tuple);
        seen->full = true;
        return;
    }
    list = gale_value_owned_view(tuple.list);
    for (size_t i = 0; i < count; i++) tuple.values[i] = gale_list_at(&list, i);
    seen->tuples[seen->tuple_count++] = tuple;
}

static void add_text(gx_seen *seen, gx_seen_text **list, size_t *count, size_t *capacity, const char *component,
                     const char *text) {
    gx_seen_text added = { strdup(component), strdup(text) };
    if (added.component && added.text && gx_grow(seen->heap, GX_TAG_OTHER, list, capacity, *count + 1, sizeof **list)) {
        (*list)[(*count)++] = added;
        return;
    }
    free(added.component);
    free(added.text);
    seen->full = true;
}

static void see_report(void *user, const gx_component *component, const char *text) {
    gx_seen *seen = user;
    add_text(seen, &seen->reports, &seen->report_count, &seen->report_capacity, component->name, text);
}

void gx_seen_log(gx_seen *seen, const char *component, const char *text) {
    add_text(seen, &seen->logged, &seen->logged_count, &seen->logged_capacity, component ? component : "", text);
}

gx_sim_watcher gx_seen_watcher(gx_seen *seen) {
    return (gx_sim_watcher){ seen, see_emit, see_report };
}

static void free_texts(gx_seen *seen, gx_seen_text *list, size_t count, size_t capacity) {
    for (size_t i = 0; i < count; i++) {
        free(list[i].component);
        free(list[i].text);
    }
    gx_free(seen->heap, GX_TAG_OTHER, list, capacity * sizeof *list);
}

void gx_seen_fini(gx_seen *seen) {
    for (size_t i = 0; i < seen->tuple_count; i++) free_tuple(&seen->tuples[i]);
    gx_free(seen->heap, GX_TAG_OTHER, seen->tuples, seen->tuple_capacity * sizeof *seen->tuples);
    free_texts(seen, seen->reports, seen->report_count, seen->report_capacity);
    free_texts(seen, seen->logged, seen->logged_count, seen->logged_capacity);
}
