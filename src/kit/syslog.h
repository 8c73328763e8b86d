/* A syslog message taken to pieces: RFC 5424, RFC 3164 as it is seen in the wild, and whatever else, which is a message all the
 * same.
 *
 *      <34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 [exampleSDID@32473 iut="3"] 'su root' failed
 *      <34>Oct 11 22:14:15 mymachine su[230]: 'su root' failed
 *
 * What:    of RFC 3164 the time may have a year before or behind its clock, a fraction and a zone, or be one of RFC 3339;
 *          the host may lack, as in what a machine says to itself. Without a time there is no host and no tag: all is
 *          the message. What has no PRI is of user, notice (RFC 3164, 4.3.3).
 * Threads: any. Owner: pieces borrow from the text. */
#ifndef GX_KIT_SYSLOG_H
#define GX_KIT_SYSLOG_H

#include "kit/moment.h"

typedef enum gx_syslog_form {
    GX_SYSLOG_NONE, /* no PRI, or it says that it is RFC 5424's and is not */
    GX_SYSLOG_3164,
    GX_SYSLOG_5424
} gx_syslog_form;

typedef struct gx_syslog {
    int32_t form;
    int32_t facility, severity;
    bool has_time;
    gx_moment time;
    gale_str host, app, procid, msgid; /* data NULL: it does not say */
    gale_str data;                     /* structured data as it stands; data NULL: none */
    gale_str message;                  /* without a byte order mark */
} gx_syslog;

/* `now` is when it was received, in seconds since 1970: a time without a year is of the year that brings it nearest to that; `ahead`,
 * how many seconds a clock that says no zone is ahead of UTC. Ends of lines and NULs at the end of the text are no part of it. */
void gx_syslog_read(gale_str text, int64_t now, int32_t ahead, gx_syslog *ret_message);

/* The next element of structured data, `[id name="value" ...]`, and its parameters; false when there are no more. */
bool gx_syslog_element(gale_str *data, gale_str *ret_id, gale_str *ret_parameters);

/* The next parameter of an element. In the value \", \\ and \] stand for what follows the backslash (gx_syslog_unescape). */
bool gx_syslog_parameter(gale_str *parameters, gale_str *ret_name, gale_str *ret_value);

/* Writes a value without its backslashes to `to`, which has room for all of it, and returns its size. */
size_t gx_syslog_unescape(gale_str value, char *to);

/* "auth" for 4, "crit" for 2. Static storage. */
const char *gx_syslog_facility_name(int32_t facility);
const char *gx_syslog_severity_name(int32_t severity);

#endif
