#include "runtime/image.h"

#include "base/str.h"
#include "engine/cut.h"
#include "topology/saver.h"

#include <inttypes.h>

enum { HEAD_VALUES = 7, COMPONENT_VALUES = 8 };

/* --- Writing --- */

static const gx_plan_component *at(const gx_plan *plan, uint32_t index) {
    return &plan->components[index];
}

const gale_durable_ops *gx_image_durable(const gx_plan_component *component) {
    if (!component->built) return NULL;
    return component->built->is_spout ? component->built->spout.durable : component->built->bolt.durable;
}

/* Rows of texts, as a list of lists. Filled twice: to count, and then for good. */
typedef struct table {
    gale_value *cells, *rows; /* NULL: only counted */
    size_t cell_count, row_count, first;
} table;

static void put_cell(table *to, const char *text) {
    if (to->cells) to->cells[to->cell_count] = gale_text(text);
    to->cell_count++;
}

static void end_row(table *to) {
    if (to->rows) to->rows[to->row_count] = gale_list(to->cells + to->first, to->cell_count - to->first);
    to->row_count++;
    to->first = to->cell_count;
}

static void put_streams(table *to, const gx_plan *plan, uint16_t component) {
    const gx_schema_component *schema = &at(plan, component)->schema;
    for (uint32_t s = 0; s < schema->stream_count; s++) {
        put_cell(to, schema->streams[s].name);
        for (uint32_t f = 0; f < schema->streams[s].field_count; f++) put_cell(to, schema->streams[s].fields[f]);
        end_row(to);
    }
}

static void put_input(table *to, const gx_plan_component *from, uint32_t s, const gx_plan_edge *edge) {
    const gx_schema_stream *stream = &from->schema.streams[s];
    put_cell(to, from->schema.name);
    put_cell(to, stream->name);
    put_cell(to, gale_grouping_name(edge->grouping));
    for (uint32_t f = 0; f < edge->field_count; f++) put_cell(to, stream->fields[edge->fields[f]]);
    end_row(to);
}

static void put_inputs(table *to, const gx_plan *plan, uint16_t component) {
    for (uint32_t c = 0; c < plan->component_count; c++)
        for (uint32_t s = 0; s < at(plan, c)->stream_count && s < at(plan, c)->schema.stream_count; s++)
            for (uint32_t e = 0; e < at(plan, c)->streams[s].edge_count; e++)
                if (at(plan, c)->streams[s].edges[e].component == component)
                    put_input(to, at(plan, c), s, &at(plan, c)->streams[s].edges[e]);
}

static void fill(table *streams, table *inputs, const gx_plan *plan, uint16_t component) {
    put_streams(streams, plan, component);
    put_inputs(inputs, plan, component);
}

/* So many values, of which the first are to be the cells. */
static gale_value *room_for(gx_heap *heap, table *to, size_t *ret_count) {
    *ret_count = to->cell_count + to->row_count + 1;
    gale_value *values = gx_alloc_array(heap, GX_TAG_OTHER, *ret_count, sizeof *values);
    *to = (table){ .cells = values, .rows = values ? values + to->cell_count : NULL };
    return values;
}

static int add_component(gx_buf *records, const gx_plan *plan, uint16_t c, const char *kept, gx_heap *heap) {
    const gx_plan_component *component = at(plan, c);
    const gale_durable_ops *durable = gx_image_durable(component);
    table streams = { NULL, NULL, 0, 0, 0 }, inputs = streams;
    size_t stream_room, input_room;
    fill(&streams, &inputs, plan, c);
    gale_value *of_streams = room_for(heap, &streams, &stream_room), *of_inputs = room_for(heap, &inputs, &input_room);
    int rc = GALE_NO_MEMORY;
    if (of_streams && of_inputs) {
        fill(&streams, &inputs, plan, c);
        const gale_value v[COMPONENT_VALUES] = {
            gale_text(component->schema.name),        gale_bool(component->built && component->built->is_spout),
            gale_i64(component->task_count),          gale_bool(gx_plan_is_by_key(plan, c)),
            gale_i64(durable ? durable->version : 0), gale_list(streams.rows, streams.row_count),
            gale_list(inputs.rows, inputs.row_count), gale_text(kept ? kept : component->schema.name),
        };
        rc = gx_record_add(records, v, COMPONENT_VALUES);
    }
    gx_free(heap, GX_TAG_OTHER, of_streams, stream_room * sizeof *of_streams);
    gx_free(heap, GX_TAG_OTHER, of_inputs, input_room * sizeof *of_inputs);
    return rc;
}

void gx_image_write(const gx_image *image, const gx_plan *plan, const char *const *kept, gx_changes *changes) {
    static const char key = GX_CUT_HEAD;
    gx_buf *records = &changes->bytes;
    const gale_value v[HEAD_VALUES] = { gale_i64(GX_IMAGE_FORMAT),       gale_i64((int64_t)image->number),
                                        gale_text(plan->topology->name), gale_i64(image->time),
                                        gale_i64(image->wall),           gale_bool(image->complete),
                                        gale_i64(plan->executor_count) };
    gx_changes_begin(changes, (gale_str){ &key, 1 });
    int rc = gx_record_add(records, v, HEAD_VALUES);
    for (uint32_t c = 0; rc == GALE_OK && c < plan->component_count; c++)
        rc = add_component(records, plan, (uint16_t)c, kept ? kept[c] : NULL, records->heap);
    if (rc < 0) records->failed = true;
    gx_changes_end(changes);
}

/* --- Reading --- */

static int damaged(gale_error *error) {
    return gale_error_set(error, GALE_DAMAGED, "the head of the checkpoint does not hold");
}

static bool is_number(const gale_value *v) {
    return v->type == GALE_TYPE_I64 && v->as.i64 >= 0;
}

/* A copy with its end, in the head's memory, which does not move: room for all was made. */
static const char *keep(gx_image_head *head, const gale_value *text) {
    const char *kept = head->texts.data + head->texts.size;
    gx_buf_add(&head->texts, text->as.string, text->size);
    gx_buf_add_byte(&head->texts, '\0');
    return kept;
}

static int read_first(gx_image_head *head, gale_saved *from, const gx_plan *plan, gale_error *error) {
    const gale_value *v;
    size_t count;
    int rc = gale_saved_next(from, &v, &count);
    if (rc == GALE_NO_MEMORY) return gale_error_set(error, rc, "no memory for the head of the checkpoint");
    if (rc != 1 || count < 1 || !is_number(v)) return damaged(error);
    if (v[0].as.i64 != GX_IMAGE_FORMAT)
        return gale_error_set(error, GALE_UNSUPPORTED, "the checkpoint is of format %" PRId64 ", this version knows %d",
                              v[0].as.i64, GX_IMAGE_FORMAT);
    if (count < HEAD_VALUES || !is_number(&v[1]) || v[2].type != GALE_TYPE_STRING || !is_number(&v[3]) ||
        v[4].type != GALE_TYPE_I64 || v[5].type != GALE_TYPE_BOOL)
        return damaged(error);
    const char *name = plan->topology->name;
    if (!gx_str_is((gale_str){ v[2].as.string, v[2].size }, name))
        return gale_error_set(error, GALE_STATE, "the checkpoint is of topology '%.*s', and this is '%s'",
                              (int)v[2].size, v[2].as.string, name);
    head->image = (gx_image){ (uint64_t)v[1].as.i64, v[3].as.i64, v[4].as.i64, v[5].as.boolean };
    return GALE_OK;
}

/* Rows of texts, at least so many in each. */
static bool are_rows(const gale_value *list, uint32_t least) {
    if (list->type != GALE_TYPE_LIST) return false;
    for (uint32_t r = 0; r < list->size; r++) {
        gale_value row = gale_list_at(list, r);
        if (row.type != GALE_TYPE_LIST || row.size < least || row.size > UINT16_MAX) return false;
        for (uint32_t i = 0; i < row.size; i++)
            if (gale_list_at(&row, i).type != GALE_TYPE_STRING) return false;
    }
    return list->size <= UINT16_MAX;
}

static int read_component(gx_image_head *head, const gale_value *v, size_t count) {
    if (count < COMPONENT_VALUES || v[0].type != GALE_TYPE_STRING || v[1].type != GALE_TYPE_BOOL || !is_number(&v[2]) ||
        v[2].as.i64 < 1 || v[2].as.i64 > UINT16_MAX || v[3].type != GALE_TYPE_BOOL || !is_number(&v[4]) ||
        !are_rows(&v[5], 1) || !are_rows(&v[6], 3) || v[7].type != GALE_TYPE_STRING)
        return GALE_DAMAGED;
    const char *name = keep(head, &v[0]);
    head->components[head->count] = (gx_rest_component){
        .name = name, .tasks = (uint32_t)v[2].as.i64, .now = -1, .stream_count = v[5].size
    };
    head->about[head->count] = (gx_image_component){ .version = (uint32_t)v[4].as.i64,
                                                     .spout = v[1].as.boolean,
                                                     .by_key = v[3].as.boolean,
                                                     .streams = v[5],
                                                     .inputs = v[6],
                                                     .kept = keep(head, &v[7]) };
    head->count++;
    return GALE_OK;
}

static uint32_t count_of(gale_str records) {
    uint32_t count = 0;
    const gale_body *body;
    while (gx_records_next(&records, &body)) count++;
    return count;
}

static int read_components(gx_image_head *head, gale_saved *from, gale_error *error) {
    head->room = count_of(from->records) + 1;
    const gale_value *v;
    size_t values;
    int rc;
    head->components = gx_alloc_array(head->heap, GX_TAG_OTHER, head->room, sizeof *head->components);
    head->about = gx_alloc_array(head->heap, GX_TAG_OTHER, head->room, sizeof *head->about);
    bool room = gx_buf_reserve(&head->texts, from->records.size + 8) && head->components && head->about;
    if (!room) return gale_error_set(error, GALE_NO_MEMORY, "no memory for the head of the checkpoint");
    while ((rc = gale_saved_next(from, &v, &values)) > 0)
        if ((rc = read_component(head, v, values)) < 0) break;
    return rc == GALE_DAMAGED ? damaged(error) : rc;
}

int gx_image_read(gx_image_head *head, gx_heap *heap, gale_str value, const gx_plan *plan, gale_error *error) {
    *head = (gx_image_head){ .heap = heap, .texts = GX_BUF_INIT(heap), .bytes = GX_BUF_INIT(heap) };
    if (!gx_records_are_whole(value)) return damaged(error);
    gx_buf_add(&head->bytes, value.data, value.size);
    if (head->bytes.failed) return gale_error_set(error, GALE_NO_MEMORY, "no memory for the head of the checkpoint");
    gale_saved from = { .records = { head->bytes.data, head->bytes.size }, .heap = heap };
    int rc = read_first(head, &from, plan, error);
    if (rc == GALE_OK) rc = read_components(head, &from, error);
    gx_saved_fini(&from);
    return rc;
}

void gx_image_end(gx_image_head *head) {
    gx_free(head->heap, GX_TAG_OTHER, head->components, head->room * sizeof *head->components);
    gx_free(head->heap, GX_TAG_OTHER, head->about, head->room * sizeof *head->about);
    gx_buf_fini(&head->texts);
    gx_buf_fini(&head->bytes);
    *head = (gx_image_head){ .heap = head->heap };
}
