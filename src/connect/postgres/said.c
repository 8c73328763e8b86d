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

bool pg_said_refuses_row(const PGresult *result) {
    static const char classes[][3] = { "21", "22", "23", "44", "54", "P0" };
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    for (size_t i = 0; state && i < sizeof classes / sizeof *classes; i++)
        if (strncmp(state, classes[i], 2) == 0) return true;
    return false;
}

bool pg_said_is(const PGresult *result, const char *state) {
    const char *said = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return said && strcmp(said, state) == 0;
}
