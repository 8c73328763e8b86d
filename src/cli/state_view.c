#include "cli/state_view.h"

#include "base/os/time.h"
#include "base/str.h"
#include "cli/figures.h"
#include "connect/file/kept.h"
#include "connect/file/position.h"
#include "engine/rest.h"
#include "front/exact_json.h"
#include "front/saved_lines.h"
#include "topology/saver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(n) gx_figure_count((n), (char[GX_FIGURE_SIZE]){ 0 })
#define TIME(n) gx_figure_time((double)(n), (char[GX_FIGURE_SIZE]){ 0 })
#define BYTES(n) gx_figure_bytes((n), (char[GX_FIGURE_SIZE]){ 0 })

/* --- Gathering ---------------------------------------------------------------------------------------------------- */

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "no memory for what the checkpoint has");
}

/* NULL: the head does not have it, which no run writes. */
static gx_view_component *component_of(gx_view *view, const char *name) {
    for (size_t i = 0; i < view->head.count; i++)
        if (strcmp(view->head.components[i].name, name) == 0) return &view->components[i];
    return NULL;
}

/* Whose keyed state has that name. */
static gx_view_component *keeper_of(gx_view *view, const char *kept) {
    if (view->last && strcmp(view->last->about->kept, kept) == 0) return view->last;
    for (size_t i = 0; i < view->head.count; i++)
        if (strcmp(view->head.components[i].kept, kept) == 0) return view->last = &view->components[i];
    return NULL;
}

enum { SHORT = 160 };

static void add_words(const gx_saved_component *component, const gale_body *record, gx_buf *out) {
    gale_value values[16];
    size_t count = gale_body_count(record);
    for (size_t i = 0; i < count && i < 16; i++) values[i] = gale_body_value(record, i);
    if (component->spout && gx_file_position_tell(values, count < 16 ? count : 16, out)) return;
    if (component->spout && gx_file_kept_tell(values, count, out)) return;
    gx_buf all = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&all);
    gx_saved_record_json(&json, record);
    size_t size = all.size < SHORT ? all.size : SHORT;
    while (size < all.size && size && ((unsigned char)all.data[size] & 0xc0) == 0x80) size--;
    gx_buf_add(out, all.data, size);
    if (size < all.size) gx_buf_add_text(out, " ...");
    if (all.failed) out->failed = true;
    gx_buf_fini(&all);
}

static int take_records(gx_view *view, const gx_saved_pair *pair, gale_error *error) {
    gx_view_component *component = component_of(view, pair->component);
    if (!component || pair->index >= component->about->tasks)
        return gale_error_set(error, GALE_DAMAGED,
                              "the store has records of '%s', task %" PRIu32
                              ", which the checkpoint's topology does not have",
                              pair->component, pair->index);
    gx_view_part *part = &component->parts[pair->index];
    gale_str records = pair->records;
    const gale_body *record;
    part->bytes += records.size;
    while (gx_records_next(&records, &record)) {
        if (!part->records++) add_words(component->about, record, &part->words);
        if (part->records > view->limit) continue;
        if (part->values.size) gx_buf_add_byte(&part->values, ',');
        gx_json json = gx_json_to(&part->values);
        gx_saved_record_json(&json, record);
    }
    return part->words.failed || part->values.failed ? no_memory(error) : GALE_OK;
}

/* Pairs of one state stand together. */
static int take_keyed(gx_view *view, const gx_saved_pair *pair, gale_error *error) {
    gx_view_component *component = keeper_of(view, pair->component);
    if (!component)
        return gale_error_set(error, GALE_DAMAGED,
                              "the store has keyed state of '%s', which the checkpoint's topology does not have",
                              pair->component);
    gx_view_state **at = &component->states;
    while (*at && strcmp((*at)->name, pair->state) != 0) at = &(*at)->next;
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (!*at) return no_memory(error);
        snprintf((*at)->name, sizeof(*at)->name, "%s", pair->state);
    }
    (*at)->keys++;
    (*at)->bytes += pair->raw_key.size + pair->raw_value.size;
    return GALE_OK;
}

/* A tree that waits to be emitted again has no root. */
static void take_tree(gx_view *view, const gale_body *record) {
    if (gale_body_count(record) < GX_REST_TREE_VALUES) return;
    if (gale_body_value(record, 3).as.i64 == 0) {
        view->waiting++;
        return;
    }
    int64_t start = gale_body_value(record, 6).as.i64;
    view->open++;
    if (start < view->oldest) view->oldest = start;
}

static void take_rest(gx_view *view, const gx_saved_pair *pair) {
    gale_str records = pair->records;
    const gale_body *record;
    while (gx_records_next(&records, &record)) {
        switch (gale_body_value(record, 0).as.i64) {
        case GX_REST_TREE: take_tree(view, record); break;
        case GX_REST_ROW: view->rows++; break;
        case GX_REST_HELD: view->held++; break;
        case GX_REST_COMMAND: view->commands++; break;
        default: break;
        }
    }
}

static int take_pair(void *user, const gx_saved_pair *pair, gale_error *error) {
    gx_view *view = user;
    gx_view_component *component;
    switch (pair->kind) {
    case GX_SAVED_RECORDS: return take_records(view, pair, error);
    case GX_SAVED_KEYED: return take_keyed(view, pair, error);
    case GX_SAVED_REST: take_rest(view, pair); break;
    case GX_SAVED_ANEW:
        component = component_of(view, pair->component);
        if (component) component->anew = true;
        break;
    case GX_SAVED_OTHER: view->other++; break;
    default: break;
    }
    return GALE_OK;
}

static bool make_components(gx_view *view) {
    view->components = calloc(view->head.count + 1, sizeof *view->components);
    bool made = view->components != NULL;
    for (size_t i = 0; made && i < view->head.count; i++) {
        gx_view_component *component = &view->components[i];
        component->about = &view->head.components[i];
        component->parts = calloc(component->about->tasks, sizeof *component->parts); /* a buffer of zeroes is empty */
        made = component->parts != NULL;
    }
    return made;
}

int gx_view_gather(const gale_store *store, const char *folder, uint64_t limit, gx_view *ret_view, gale_error *error) {
    gx_view view = { .folder = folder, .limit = limit, .oldest = INT64_MAX, .store = { .size = sizeof view.store } };
    int rc = gx_saved_head_read(store, &view.head, error);
    if (rc == GALE_NOT_FOUND) return gale_error_set(error, rc, "there is no checkpoint in '%s' yet", folder);
    if (rc < 0) return rc;
    rc = make_components(&view) ? store->about(store->self, &view.store, error) : no_memory(error);
    if (rc == GALE_OK) rc = gx_saved_each(store, (gale_str){ "", 0 }, take_pair, &view, error);
    if (rc < 0) {
        gx_view_fini(&view);
        return rc;
    }
    view.store.topology = NULL; /* it ends with the store */
    *ret_view = view;
    return GALE_OK;
}

static void free_component(gx_view_component *component) {
    for (uint32_t i = 0; component->parts && i < component->about->tasks; i++) {
        gx_buf_fini(&component->parts[i].words);
        gx_buf_fini(&component->parts[i].values);
    }
    free(component->parts);
    while (component->states) {
        gx_view_state *next = component->states->next;
        free(component->states);
        component->states = next;
    }
}

void gx_view_fini(gx_view *view) {
    for (size_t i = 0; view->components && i < view->head.count; i++) free_component(&view->components[i]);
    free(view->components);
    gx_saved_head_fini(&view->head);
    *view = (gx_view){ .limit = 0 };
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

static int64_t age_of(const gx_view *view) {
    int64_t age = gx_os_wall() - view->head.wall;
    return age > 0 ? age : 0;
}

static uint64_t records_of(const gx_view_component *component, uint64_t *ret_bytes) {
    uint64_t records = 0;
    *ret_bytes = 0;
    for (uint32_t i = 0; i < component->about->tasks; i++) {
        records += component->parts[i].records;
        *ret_bytes += component->parts[i].bytes;
    }
    return records;
}

static uint64_t keys_of(const gx_view_component *component, uint64_t *ret_bytes) {
    uint64_t keys = 0;
    *ret_bytes = 0;
    for (const gx_view_state *state = component->states; state; state = state->next) {
        keys += state->keys;
        *ret_bytes += state->bytes;
    }
    return keys;
}

enum { KIND, TASKS, BY_KEY, VERSION, RECORDS, SAVED, KEYS, KEYED, COLUMNS };

static const char *const headers[COLUMNS] = {
    "kind", "tasks", "by key", "version", "records", "saved", "keys", "keyed"
};

static const char *cell(const gx_view_component *component, int column, char out[GX_FIGURE_SIZE]) {
    const gx_saved_component *about = component->about;
    uint64_t bytes, keyed, records = records_of(component, &bytes), keys = keys_of(component, &keyed);
    switch (column) {
    case KIND: return strcpy(out, about->spout ? "spout" : "bolt");
    case TASKS: return gx_figure_count(about->tasks, out);
    case BY_KEY: return strcpy(out, about->by_key ? "yes" : "no");
    case VERSION: return records ? gx_figure_count(about->version, out) : strcpy(out, "-");
    case RECORDS: return records ? gx_figure_count(records, out) : strcpy(out, "-");
    case SAVED: return records ? gx_figure_bytes(bytes, out) : strcpy(out, "-");
    case KEYS: return keys ? gx_figure_count(keys, out) : strcpy(out, "-");
    default: return keys ? gx_figure_bytes(keyed, out) : strcpy(out, "-");
    }
}

static void text_table(const gx_view *view, gx_buf *out) {
    int first = (int)strlen("component"), widths[COLUMNS];
    char text[GX_FIGURE_SIZE];
    for (int c = 0; c < COLUMNS; c++) widths[c] = (int)strlen(headers[c]);
    for (size_t i = 0; i < view->head.count; i++) {
        int own = (int)strlen(view->head.components[i].name);
        if (own > first) first = own;
        for (int c = 0; c < COLUMNS; c++) {
            own = (int)strlen(cell(&view->components[i], c, text));
            if (own > widths[c]) widths[c] = own;
        }
    }
    gx_buf_format(out, "%-*s", first, "component");
    for (int c = 0; c < COLUMNS; c++) gx_buf_format(out, "  %*s", widths[c], headers[c]);
    gx_buf_add_byte(out, '\n');
    for (size_t i = 0; i < view->head.count; i++) {
        gx_buf_format(out, "%-*s", first, view->head.components[i].name);
        for (int c = 0; c < COLUMNS; c++) gx_buf_format(out, "  %*s", widths[c], cell(&view->components[i], c, text));
        gx_buf_add_byte(out, '\n');
    }
}

static void text_component(const gx_view_component *component, gx_buf *out) {
    const char *name = component->about->name;
    if (component->anew) gx_buf_format(out, "%s begins anew with the next run: its state was reset\n", name);
    for (const gx_view_state *state = component->states; state; state = state->next)
        gx_buf_format(out, "%s: keyed state '%s', %s key%s, %s\n", name, state->name, COUNT(state->keys),
                      gx_plural(state->keys), BYTES(state->bytes));
    for (uint32_t i = 0; i < component->about->tasks; i++) {
        const gx_view_part *part = &component->parts[i];
        if (!part->records) continue;
        gx_buf_format(out, "%s[%" PRIu32 "]: ", name, i);
        gx_buf_add(out, part->words.data, part->words.size);
        if (part->records > 1)
            gx_buf_format(out, ", and %s more record%s", COUNT(part->records - 1), gx_plural(part->records - 1));
        gx_buf_add_byte(out, '\n');
    }
}

static void text_left(const gx_view *view, gx_buf *out) {
    gx_buf_format(out, "on its way: %s tuple%s in queues, %s held, %s tree%s open", COUNT(view->rows),
                  gx_plural(view->rows), COUNT(view->held), COUNT(view->open), gx_plural(view->open));
    if (view->oldest != INT64_MAX) gx_buf_format(out, " (the oldest for %s)", TIME(view->head.time - view->oldest));
    gx_buf_format(out, ", %s to be emitted again", COUNT(view->waiting));
    if (view->commands)
        gx_buf_format(out, ", %s command%s of remotes", COUNT(view->commands), gx_plural(view->commands));
    gx_buf_add_byte(out, '\n');
}

void gx_view_text(const gx_view *view, gx_buf *out) {
    const gx_saved_head *head = &view->head;
    gx_buf_format(out, "topology '%s', checkpoint %" PRIu64 ", %s old%s\n", head->topology, head->checkpoint,
                  TIME(age_of(view)), head->complete ? ", of the end of a run: all is done" : "");
    gx_buf_format(out, "format %" PRIu32 " in a store of format %" PRIu32 ", %s on disk\n\n", head->format,
                  view->store.format, BYTES(view->store.disk_bytes));
    text_table(view, out);
    gx_buf_add_byte(out, '\n');
    for (size_t i = 0; i < head->count; i++) text_component(&view->components[i], out);
    text_left(view, out);
    if (view->other)
        gx_buf_format(out, "%s pair%s that this version does not know\n", COUNT(view->other), gx_plural(view->other));
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void text_member(gx_json *json, const char *key, const char *text) {
    gale_value value = gale_text(text);
    gx_json_key(json, gx_str(key));
    gx_exact_json(json, &value);
}

static void bool_member(gx_json *json, const char *key, bool value) {
    gx_json_key(json, gx_str(key));
    gx_json_bool(json, value);
}

static void json_part(const gx_view_part *part, uint32_t task, gx_json *json) {
    gx_json_open(json, '{');
    gx_figure_count_member(json, "task", task);
    gx_figure_count_member(json, "records", part->records);
    gx_figure_count_member(json, "bytes", part->bytes);
    gx_json_key(json, gx_str("first"));
    gx_json_string(json, (gale_str){ part->words.data, part->words.size });
    gx_json_key(json, gx_str("values"));
    gx_json_open(json, '[');
    gx_buf_add(json->out, part->values.data, part->values.size);
    gx_json_close(json, ']');
    gx_json_close(json, '}');
}

static void json_component(const gx_view_component *component, gx_json *json) {
    const gx_saved_component *about = component->about;
    gx_json_open(json, '{');
    text_member(json, "component", about->name);
    text_member(json, "kind", about->spout ? "spout" : "bolt");
    gx_figure_count_member(json, "tasks", about->tasks);
    bool_member(json, "by_key", about->by_key);
    gx_figure_count_member(json, "version", about->version);
    bool_member(json, "begins_anew", component->anew);
    gx_json_key(json, gx_str("saved"));
    gx_json_open(json, '[');
    for (uint32_t i = 0; i < about->tasks; i++)
        if (component->parts[i].records) json_part(&component->parts[i], i, json);
    gx_json_close(json, ']');
    gx_json_key(json, gx_str("states"));
    gx_json_open(json, '[');
    for (const gx_view_state *state = component->states; state; state = state->next) {
        gx_json_open(json, '{');
        text_member(json, "state", state->name);
        gx_figure_count_member(json, "keys", state->keys);
        gx_figure_count_member(json, "bytes", state->bytes);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
    gx_json_close(json, '}');
}

static void json_left(const gx_view *view, gx_json *json) {
    gx_json_key(json, gx_str("on_its_way"));
    gx_json_open(json, '{');
    gx_figure_count_member(json, "tuples", view->rows);
    gx_figure_count_member(json, "held", view->held);
    gx_figure_count_member(json, "open_trees", view->open);
    if (view->oldest == INT64_MAX) {
        gx_json_key(json, gx_str("oldest_tree_seconds"));
        gx_json_null(json);
    } else {
        gx_figure_seconds_member(json, "oldest_tree_seconds", view->head.time - view->oldest);
    }
    gx_figure_count_member(json, "to_be_emitted_again", view->waiting);
    gx_figure_count_member(json, "commands", view->commands);
    gx_json_close(json, '}');
}

void gx_view_json(const gx_view *view, gx_buf *out) {
    const gx_saved_head *head = &view->head;
    gx_json json = gx_json_to(out);
    gx_json_open(&json, '{');
    text_member(&json, "folder", view->folder);
    text_member(&json, "topology", head->topology);
    gx_figure_count_member(&json, "checkpoint", head->checkpoint);
    gx_figure_seconds_member(&json, "age_seconds", age_of(view));
    bool_member(&json, "complete", head->complete);
    gx_figure_count_member(&json, "format", head->format);
    gx_figure_count_member(&json, "store_format", view->store.format);
    gx_figure_count_member(&json, "disk_bytes", view->store.disk_bytes);
    gx_json_key(&json, gx_str("components"));
    gx_json_open(&json, '[');
    for (size_t i = 0; i < head->count; i++) json_component(&view->components[i], &json);
    gx_json_close(&json, ']');
    json_left(view, &json);
    gx_json_close(&json, '}');
    gx_buf_add_byte(out, '\n');
}
