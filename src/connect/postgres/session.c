#include "connect/postgres/session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static bool be_silent(pg_session *s) {
    snprintf(s->why, sizeof s->why, "it is silent for %g s (timeout)", (double)s->given->timeout / 1e9);
    return false;
}

static bool fail(pg_session *s) {
    pg_said_connection(s->conn, s->why);
    s->ended = PQstatus(s->conn) == CONNECTION_BAD && !s->spoke;
    return false;
}

/* False: it is late, and that is why. */
static bool wait_for(pg_session *s, short events, int64_t until) {
    struct pollfd socket = { .fd = PQsocket(s->conn), .events = events };
    int64_t left = until - now();
    if (left <= 0) return be_silent(s);
    int got = poll(&socket, 1, (int)(left / 1000000) + 1);
    if (got > 0 || (got < 0 && errno == EINTR)) return true;
    return be_silent(s);
}

void pg_session_end(pg_session *s) {
    if (s->conn) PQfinish(s->conn);
    s->conn = NULL;
}

bool pg_session_begin(pg_session *s) {
    gale_error error = GALE_ERROR_INIT;
    if (s->conn) return true;
    s->refused = false;
    s->conn = pg_settings_connect(s->given, false, &error);
    if (!s->conn) {
        snprintf(s->why, sizeof s->why, "%.*s", (int)sizeof s->why - 1, error.text);
        return false;
    }
    int64_t until = now() + s->given->timeout;
    PostgresPollingStatusType status = PQstatus(s->conn) == CONNECTION_BAD ? PGRES_POLLING_FAILED
                                                                           : PGRES_POLLING_WRITING;
    while (status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING) {
        if (!wait_for(s, status == PGRES_POLLING_READING ? POLLIN : POLLOUT, until)) return false;
        status = PQconnectPoll(s->conn);
    }
    if (status == PGRES_POLLING_FAILED) return fail(s);
    (void)PQsetnonblocking(s->conn, 1);
    return true;
}

/* Sends all that libpq has. */
static bool flush(pg_session *s, int64_t until) {
    int left;
    while ((left = PQflush(s->conn)) > 0) {
        if (!wait_for(s, POLLIN | POLLOUT, until)) return false;
        if (!PQconsumeInput(s->conn)) return fail(s);
    }
    return left == 0 || fail(s);
}

/* The next result; NULL at the end of them. False: it did not come. */
static bool next_result(pg_session *s, int64_t until, PGresult **ret_result) {
    while (PQisBusy(s->conn)) {
        if (!wait_for(s, POLLIN, until)) return false;
        if (!PQconsumeInput(s->conn)) return fail(s);
    }
    *ret_result = PQgetResult(s->conn);
    return true;
}

static bool is_well(pg_session *s, const PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_COPY_IN) return true;
    pg_said_result(result, s->why);
    s->refused = pg_said_refuses_row(result);
    s->spoke = s->spoke || PQresultErrorField(result, PG_DIAG_SQLSTATE);
    s->ended = PQstatus(s->conn) == CONNECTION_BAD && !s->spoke;
    return false;
}

/* The last result of what was sent; NULL: why not. */
static PGresult *last_result(pg_session *s, int64_t until) {
    PGresult *last = NULL, *result = NULL;
    bool well = true;
    do {
        if (!next_result(s, until, &result)) {
            PQclear(last);
            return NULL;
        }
        if (!result) break;
        well = is_well(s, result) && well;
        PQclear(last);
        last = result;
    } while (PQresultStatus(last) != PGRES_COPY_IN);
    if (well && last) return last;
    PQclear(last);
    return NULL;
}

PGresult *pg_session_ask(pg_session *s, const char *statement, const char *const *values, int count) {
    int64_t until = now() + s->given->timeout;
    s->refused = s->spoke = s->ended = false;
    bool sent = count ? PQsendQueryParams(s->conn, statement, count, NULL, values, NULL, NULL, 0)
                      : PQsendQuery(s->conn, statement);
    if (!sent) {
        (void)fail(s);
        return NULL;
    }
    return flush(s, until) ? last_result(s, until) : NULL;
}

bool pg_session_run(pg_session *s, const char *statement, const char *const *values, int count) {
    PGresult *result = pg_session_ask(s, statement, values, count);
    PQclear(result);
    return result != NULL;
}

bool pg_session_copy(pg_session *s, const char *statement, gale_str rows) {
    enum { AT_ONCE = 1 << 20 };
    if (!pg_session_run(s, statement, NULL, 0)) return false;
    int64_t until = now() + s->given->timeout;
    for (size_t at = 0; at < rows.size; at += AT_ONCE) {
        int size = rows.size - at < AT_ONCE ? (int)(rows.size - at) : AT_ONCE;
        if (PQputCopyData(s->conn, rows.data + at, size) != 1) return fail(s);
        if (!flush(s, until)) return false;
        until = now() + s->given->timeout;
    }
    if (PQputCopyEnd(s->conn, NULL) != 1) return fail(s);
    if (!flush(s, until)) return false;
    PGresult *result = last_result(s, until);
    PQclear(result);
    return result != NULL;
}
