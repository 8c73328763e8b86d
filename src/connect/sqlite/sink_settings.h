/* What a SqliteSink or a SqliteLetters was given in a file. Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_SQLITE_SINK_SETTINGS_H
#define GALE_CONNECT_SQLITE_SINK_SETTINGS_H

#include "connect/sqlite/table.h"

typedef struct lite_sink_settings {
    lite_settings sqlite;
    lite_table table;
    char *markers, *refused;     /* refused: NULL, none */
    bool creates;                /* a file that is missing is made */
    size_t rows;                 /* of a batch, at the most */
    int64_t linger, finish_wait; /* ns */
    uint64_t memory;
} lite_sink_settings;

/* `letters`: of a SqliteLetters. As lite_table_make; what was made is freed by lite_sink_settings_free, also after an error. */
int lite_sink_settings_make(lite_sink_settings *settings, bool letters, const gale_args *args, gale_error *error);
void lite_sink_settings_free(void *settings);

#endif
