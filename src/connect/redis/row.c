#include "connect/redis/row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID, STREAM, TIME, ENTRY };
static const char *const names[] = { "id", "stream", "time", "entry", NULL };

/* --- Making ----------------------------------------------------------------------------------------------------------------- */

static int add_fields(redis_row *row, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "fields");
    for (size_t i = 0; list.type == GALE_TYPE_LIST && i < list.size; i++) {
        gale_value name = gale_list_at(&list, i);
        if (row->field_count == REDIS_ROW_MAX)
            return gale_error_set(error, GALE_INVALID, "fields: at most %d are named", REDIS_ROW_MAX);
        for (size_t j = 0; j < row->emit.count; j++)
            if (strlen(names[row->emit.places[j]]) == name.size &&
                memcmp(names[row->emit.places[j]], name.as.string, name.size) == 0)
                return gale_error_set(error, GALE_INVALID, "fields: '%.*s' is emitted already (emit)", (int)name.size,
                                      name.as.string);
        row->fields[row->field_count] = strndup(name.as.string, name.size);
        if (!row->fields[row->field_count]) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
        row->field_count++;
    }
    return 0;
}

static int name_output(redis_row *row, gale_error *error) {
    size_t size = strlen(row->emit.text) + 1;
    for (size_t i = 0; i < row->field_count; i++) size += strlen(row->fields[i]) + 2;
    row->names = malloc(size);
    if (!row->names) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    strcpy(row->names, row->emit.text);
    for (size_t i = 0; i < row->field_count; i++) {
        if (*row->names) strcat(row->names, ", ");
        strcat(row->names, row->fields[i]);
    }
    return 0;
}

/* With fields and without a word of `emit`, they alone go out. */
int redis_row_make(redis_row *row, const gale_args *args, bool keeps, gale_error *error) {
    bool fields_alone = gale_args_given(args, "fields") && !gale_args_given(args, "emit");
    int rc = fields_alone ? 0
                          : gale_names_read("emit", gale_args_text(args, "emit"), "an entry", names, &row->emit, error);
    if (rc == 0) rc = add_fields(row, args, error);
    if (rc == 0) rc = name_output(row, error);
    row->count = row->emit.count + row->field_count;
    row->keeps = keeps;
    if (rc == 0 && !row->count) rc = gale_error_set(error, GALE_INVALID, "fields: it names none");
    return rc;
}

void redis_row_free(redis_row *row) {
    for (size_t i = 0; i < row->field_count; i++) free(row->fields[i]);
    free(row->names);
}

size_t redis_row_size(const redis_row *row) {
    return row->count + row->keeps;
}

/* --- An entry --------------------------------------------------------------------------------------------------------------- */

static bool is_same(const redis_reply *text, const char *data, size_t size) {
    return text->text.size == size && memcmp(text->text.data, data, size) == 0;
}

/* Of a name that comes twice the last counts. */
static gale_value field_of(const redis_entry *entry, const char *name) {
    size_t size = strlen(name);
    for (size_t i = entry->fields->count; i >= 2; i -= 2) {
        const redis_reply *pair = &entry->fields->items[i - 2];
        if (is_same(pair, name, size)) return gale_text_or_bytes(pair[1].text.data, pair[1].text.size);
    }
    return gale_null();
}

static bool comes_again(const redis_reply *fields, size_t at) {
    const gale_str name = fields->items[at].text;
    for (size_t i = at + 2; i < fields->count; i += 2)
        if (is_same(&fields->items[i], name.data, name.size)) return true;
    return false;
}

static const char *map_of(const redis_entry *entry, redis_values *values, gale_value *ret_map) {
    const redis_reply *fields = entry->fields;
    size_t count = 0;
    if (fields->count > 2 * (size_t)REDIS_ENTRY_FIELDS) return "it has more than 1024 fields";
    for (size_t i = 0; i < fields->count; i += 2) {
        const gale_str name = fields->items[i].text, value = fields->items[i + 1].text;
        if (!gale_utf8_valid(name.data, name.size)) return "a field's name is no UTF-8";
        if (comes_again(fields, i)) continue;
        values->pairs[2 * count] = gale_string(name.data, name.size);
        values->pairs[2 * count + 1] = gale_text_or_bytes(value.data, value.size);
        count++;
    }
    *ret_map = gale_map(values->pairs, count);
    return NULL;
}

static bool wants_map(const redis_row *row) {
    for (size_t i = 0; i < row->emit.count; i++)
        if (row->emit.places[i] == ENTRY) return true;
    return row->keeps;
}

/* What stands before the '-'; beyond what a number has, none. */
static gale_value time_of(const redis_entry *entry) {
    unsigned long long milliseconds = strtoull(entry->id.data, NULL, 10);
    return milliseconds <= INT64_MAX ? gale_i64((int64_t)milliseconds) : gale_null();
}

const char *redis_row_values(const redis_row *row, const redis_entry *entry, const char *stream, redis_values *values) {
    gale_value map = gale_null();
    const char *wrong = wants_map(row) ? map_of(entry, values, &map) : NULL;
    size_t at = 0;
    if (wrong) return wrong;
    for (size_t i = 0; i < row->emit.count; i++) {
        switch (row->emit.places[i]) {
        case ID: values->list[at++] = gale_string(entry->id.data, entry->id.size); break;
        case STREAM: values->list[at++] = gale_text_or_bytes(stream, strlen(stream)); break;
        case TIME: values->list[at++] = time_of(entry); break;
        default: values->list[at++] = map; break;
        }
    }
    for (size_t i = 0; i < row->field_count; i++) values->list[at++] = field_of(entry, row->fields[i]);
    if (row->keeps) values->list[at++] = map;
    return NULL;
}
