/* A plain loop on libsqlite3 beside gale: rows of a CSV file into a table, so many a transaction. loop FILE.csv FILE.db ROWS-A-TRANSACTION */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run(sqlite3 *db, const char *statement) {
    if (sqlite3_exec(db, statement, NULL, NULL, NULL) == SQLITE_OK) return;
    fprintf(stderr, "loop: %s\n", sqlite3_errmsg(db));
    exit(1);
}

static void insert(sqlite3_stmt *statement, char *line) {
    char *name = strchr(line, ','), *amount = name ? strchr(name + 1, ',') : NULL;
    if (!amount) exit(1);
    sqlite3_bind_int64(statement, 1, strtoll(line, NULL, 10));
    sqlite3_bind_text(statement, 2, name + 1, (int)(amount - name - 1), SQLITE_STATIC);
    sqlite3_bind_double(statement, 3, strtod(amount + 1, NULL));
    if (sqlite3_step(statement) != SQLITE_DONE) exit(1);
    sqlite3_reset(statement);
}

int main(int argc, char **argv) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    char line[400];
    if (argc != 4 || sqlite3_open(argv[2], &db) != SQLITE_OK) return 2;
    FILE *file = fopen(argv[1], "r");
    long rows = strtol(argv[3], NULL, 10), count = 0;
    if (!file || rows < 1) return 2;
    if (sqlite3_prepare_v2(db, "INSERT INTO orders (id, name, amount) VALUES (?, ?, ?)", -1, &statement, NULL) !=
        SQLITE_OK)
        return 2;
    while (fgets(line, sizeof line, file)) {
        if (count % rows == 0) run(db, count ? "COMMIT; BEGIN" : "BEGIN");
        insert(statement, line);
        count++;
    }
    run(db, "COMMIT");
    sqlite3_finalize(statement);
    sqlite3_close(db);
    fclose(file);
    return 0;
}
