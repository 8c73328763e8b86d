/* Bytes, read as a statement of a user's, as the connector sqlite does before there is a file: what SQLite takes for a statement has those parameters that were found. */
#include "fuzz.h"

#include "connect/sqlite/parameters.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static bool has(const char *at, const char *name) {
    gale_str parameter;
    while (lite_parameter_next(&at, &parameter))
        if (parameter.size == strlen(name) && memcmp(parameter.data, name, parameter.size) == 0) return true;
    return false;
}

static void check_found(const char *text, sqlite3_stmt *statement) {
    gale_str parameter;
    while (lite_parameter_next(&text, &parameter)) {
        char *name = strndup(parameter.data, parameter.size);
        if (!name) return;
        if (*name == '?') /* a number may be that of one with a name */
            expect(atoi(name + 1) <= sqlite3_bind_parameter_count(statement));
        else
            expect(sqlite3_bind_parameter_index(statement, name) > 0);
        free(name);
    }
}

static void check(sqlite3 *db, char *text) {
    sqlite3_stmt *statement = NULL;
    const char *rest = text;
    const char *at = text;
    gale_str parameter;
    while (lite_parameter_next(&at, &parameter)) {
        expect(parameter.size && parameter.data >= text && parameter.data + parameter.size <= at);
        expect(lite_parameter_name(parameter).size <= parameter.size);
    }
    expect(*at == '\0');
    if (sqlite3_prepare_v2(db, text, -1, &statement, &rest) != SQLITE_OK || !statement) return;
    text[rest - text] = '\0';
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
        const char *name = sqlite3_bind_parameter_name(statement, i);
        if (name) expect(has(text, name));
    }
    check_found(text, statement);
    (void)sqlite3_finalize(statement);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sqlite3 *db;
    if (!db && sqlite3_open(":memory:", &db) != SQLITE_OK) return 0;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check(db, text);
    free(text);
    return 0;
}
