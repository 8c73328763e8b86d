/* Bytes, read as messages of PostgreSQL's pgoutput, as the connector postgres does: each begins with its length, two bytes. What is read lies in the message, has as
 * many columns as its table, and ends with NULs; what it becomes is valid. */
#include "fuzz.h"

#include "connect/postgres/pgoutput.h"
#include "connect/postgres/row.h"
#include "connect/postgres/value.h"

#include <stdlib.h>
#include <string.h>

static pg_row_values values;

static void check_cells(const pg_cell *cells, const pg_relation *relation, const char *message, size_t size) {
    for (size_t i = 0; cells && i < relation->count; i++) {
        if (!cells[i].text) continue;
        expect(cells[i].text > message && cells[i].text + cells[i].size <= message + size);
        expect(cells[i].text[cells[i].size] == '\0');
    }
}

static void check_row(const pg_change *change) {
    static char id[] = "id";
    static const pg_row row = { .emit = { .places = { 0, 1, 2, 3, 4, 5, 6, 7 }, .count = PG_ROW_FIELDS },
                                .columns = { id },
                                .column_count = 1 };
    pg_event event = {
        .op = "insert", .relation = change->relation, .now = change->now, .before = change->before, .lsn = 1
    };
    pg_row_fill(&row, &event, &values);
    gale_value list = gale_list(values.list, row.emit.count + row.column_count);
    gale_value_owned_free(gale_value_copy(&list)); /* refused, where a column comes twice */
}

static void read_message(pg_output *output, const uint8_t *data, size_t size) {
    gale_error error = GALE_ERROR_INIT;
    pg_change change;
    char *message = malloc(size + 1);
    if (!message) return;
    memcpy(message, data, size);
    message[size] = '\0';
    int rc = pg_output_read(output, message, size, &change, &error);
    expect(rc == 0 || error.length);
    if (rc == 0 && change.relation) {
        check_cells(change.now, change.relation, message, size);
        check_cells(change.before, change.relation, message, size);
        check_row(&change);
    }
    for (size_t i = 0; rc == 0 && i < change.truncated_count; i++) expect(change.truncated[i]->name);
    free(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pg_output output;
    uint64_t lsn;
    char text[20];
    if (pg_output_init(&output) < 0) return 0;
    while (size >= 2) {
        size_t length = (size_t)data[0] << 8 | data[1];
        data += 2;
        size -= 2;
        if (length > size) length = size;
        read_message(&output, data, length);
        data += length;
        size -= length;
    }
    pg_output_free(&output);
    pg_lsn_write(size ? UINT64_MAX : 0, text);
    expect(pg_lsn_read(text, &lsn) && lsn == (size ? UINT64_MAX : 0));
    return 0;
}
