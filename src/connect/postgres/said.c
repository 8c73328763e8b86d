#include "connect/postgres/said.h"

#include <stdio.h>
#include <string.h>

/* Ends of lines and the blanks at them as one blank. */
static void one_line(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool blank = *from == '\n' || *from == '\t' || *from == ' ';
        if (blank && (to == text || to[-1] == ' ')) continue;
        *to++ = blank ? ' ' : *from;
    }
    while (to > text && to[-1] == ' ') to--;
    *to = '\0';
}

void pg_said_result(const PGresult *result, char text[PG_SAID_MAX]) {
    const char *what = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    if (!what) what = PQresultErrorMessage(result);
    bool of_time = pg_said_is(result, "22007") || pg_said_is(result, "22008");
    snprintf(text, PG_SAID_MAX, "%s%s%s%s", what, detail ? ": " : "", detail ? detail : "",
             of_time ? " (`times` names columns whose fields are numbers since 1970)" : "");
    one_line(text);
}

void pg_said_connection(const PGconn *conn, char text[PG_SAID_MAX]) {
    snprintf(text, PG_SAID_MAX, "%s", PQerrorMessage(conn));
    one_line(text);
    if (!*text) snprintf(text, PG_SAID_MAX, "the connection is lost");
}

/* All classes but those that are of the server, the session or the statement: a trigger may raise a class of its own. */
bool pg_said_refuses_row(const PGresult *result) {
    static const char of_server[][3] = { "00", "01", "02", "03", "08", "0A", "0B", "0L", "0P", "0Z",
                                         "25", "26", "28", "2B", "2D", "34", "3B", "3D", "3F", "40",
                                         "42", "53", "55", "57", "58", "72", "F0", "HV", "XX" };
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    for (size_t i = 0; state && i < sizeof of_server / sizeof *of_server; i++)
        if (strncmp(state, of_server[i], 2) == 0) return false;
    return state != NULL;
}

bool pg_said_is(const PGresult *result, const char *state) {
    const char *said = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return said && strcmp(said, state) == 0;
}
