#include "front/leading.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b) {
    return gx_str_compare((*(gx_vertex *const *)a)->id->text, (*(gx_vertex *const *)b)->id->text);
}

static int by_target(const void *a, const void *b) {
    const gx_link *x = a, *y = b;
    return (x->to > y->to) - (x->to < y->to);
}

static gx_vertex *look_up(const gx_links *all, size_t count, gale_str id) {
    gx_yaml name = { .text = id };
    gx_vertex wanted = { .id = &name }, *pointer = &wanted;
    gx_vertex **found = count ? bsearch(&pointer, all->by_id, count, sizeof *all->by_id, by_id) : NULL;
    return found ? *found : NULL;
}

static const gx_yaml *text_of(const gx_yaml *map, const char *key) {
    const gx_yaml *text = gx_yaml_get(map, key);
    return text && gx_yaml_is_scalar(text) && text->type != GALE_TYPE_NULL ? text : NULL;
}

static void add_link(const gx_loading *l, gx_links *all, size_t named, const gx_yaml *item) {
    const gx_yaml *from = text_of(item, "from"), *to = text_of(item, "to");
    const gx_yaml *stream = text_of(gx_yaml_get(item, "grouping"), "streamId");
    gx_vertex *target = to ? look_up(all, named, to->text) : NULL;
    if (!from || !target || target < l->vertices + l->spout_count) return;
    all->list[all->count++] = (gx_link){ look_up(all, named, from->text),        target, from->text.data,
                                         stream ? stream->text.data : "default", NULL,   NULL };
}

static void add_via(gx_links *all, size_t named, const gx_via *via) {
    gx_vertex *source = look_up(all, named, via->from->text), *target = look_up(all, named, via->unpack);
    const char *stream = via->stream_id ? via->stream_id->text.data : "default";
    if (source && target)
        all->list[all->count++] = (gx_link){ source, target, via->from->text.data, stream, via, NULL };
}

static void add_buffer(gx_links *all, size_t named, const gx_buffer *buffer) {
    gx_vertex *source = look_up(all, named, buffer->from->text), *target = look_up(all, named, buffer->spout);
    const char *stream = buffer->stream_id ? buffer->stream_id->text.data : "default";
    if (source && target)
        all->list[all->count++] = (gx_link){ source, target, buffer->from->text.data, stream, NULL, buffer };
}

int gx_links_find(const gx_loading *l, const gx_yaml *root, gx_links *all) {
    const gx_yaml *list = gx_yaml_get(root, "streams");
    bool there = list && list->type == GALE_TYPE_LIST;
    size_t named = 0;
    all->list = calloc((there ? 2 * (size_t)list->count : 0) + 1, sizeof *all->list);
    all->by_id = calloc(l->vertex_count + 1, sizeof *all->by_id);
    if (!all->list || !all->by_id) return gx_loading_no_memory(l);
    for (size_t i = 0; i < l->vertex_count; i++)
        if (l->vertices[i].id) all->by_id[named++] = &l->vertices[i];
    qsort(all->by_id, named, sizeof *all->by_id, by_id);
    for (const gx_yaml *item = there ? list->as.first : NULL; item; item = item->next) add_link(l, all, named, item);
    for (const gx_via *via = l->vias; via; via = via->next) add_via(all, named, via);
    for (const gx_buffer *buffer = l->buffers; buffer; buffer = buffer->next) add_buffer(all, named, buffer);
    qsort(all->list, all->count, sizeof *all->list, by_target);
    return 0;
}

/* "word, count" of a component that has been added. */
static const char *added_fields(const gx_loading *l, const gx_component *component, const char *stream) {
    int index = gx_component_stream(component, stream);
    gx_buf names = GX_BUF_INIT(NULL);
    if (index < 0) return NULL;
    for (uint32_t i = 0; i < component->outputs[index].field_count; i++)
        gx_buf_format(&names, "%s%s", i ? ", " : "", component->outputs[index].fields[i]);
    const char *text = gx_buf_text(&names);
    char *kept = text ? gx_yaml_take(l->doc, names.size + 1) : NULL;
    if (kept) memcpy(kept, text, names.size + 1);
    gx_buf_fini(&names);
    return kept;
}

const char *gx_link_fields(const gx_loading *l, const gx_link *from) {
    if (!from->from) {
        bool system = strcmp(from->source, GX_SYSTEM_COMPONENT) == 0;
        return system ? added_fields(l, gx_topology_system(), from->stream) : NULL;
    }
    if (from->from < l->vertices + l->spout_count) {
        const gx_component *spout = gx_topology_find(l->topology, from->source);
        return spout ? added_fields(l, spout, from->stream) : NULL;
    }
    for (size_t i = 0; from->from->made && i < from->from->bolt.output_count; i++) {
        const gale_output *output = &from->from->bolt.outputs[i];
        if (strcmp(output->stream ? output->stream : "default", from->stream) == 0) return output->fields;
    }
    return NULL;
}

size_t gx_links_first(const gx_links *all, const gx_vertex *v) {
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->list[middle].to < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void gx_links_free(gx_links *all) {
    free(all->list);
    free(all->by_id);
}
