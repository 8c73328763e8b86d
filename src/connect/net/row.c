#include "connect/net/row.h"

#include "base/nearest.h"
#include "base/str.h"

#include <stdio.h>

static const char *const names[GX_NET_PARTS] = { "line",     "peer",         "number",     "received",
                                                 "facility", "facilityName", "severity",   "severityName",
                                                 "time",     "host",         "app",        "procid",
                                                 "msgid",    "data",         "structured", "message" };

/* Of syslog the record is the raw message. */
static const char *name_of(int part, bool syslog) {
    return syslog && part == GX_NET_LINE ? "raw" : names[part];
}

static int refuse(gale_str word, bool syslog, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(word);
    char hint[80], all[200];
    size_t size = 0;
    for (int i = 0; i < (syslog ? GX_NET_PARTS : GX_NET_FACILITY); i++) {
        gx_nearest_offer(&nearest, gx_str(name_of(i, syslog)));
        size += (size_t)snprintf(all + size, sizeof all - size, "%s%s", i ? ", " : "", name_of(i, syslog));
    }
    return gale_error_set(error, GALE_INVALID, "net spout: emit has '%.*s', may have %s%s", GX_STR(word), all,
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int add(gx_net_row *row, gale_str word, gale_error *error) {
    uint8_t found = 0, end = row->syslog ? GX_NET_PARTS : GX_NET_FACILITY;
    while (found < end && !gx_str_is(word, name_of(found, row->syslog))) found++;
    if (found == end) return refuse(word, row->syslog, error);
    for (uint32_t i = 0; i < row->count; i++)
        if (row->parts[i] == found)
            return gale_error_set(error, GALE_INVALID, "net spout: emit has '%.*s' twice", GX_STR(word));
    size_t at = strlen(row->fields);
    snprintf(row->fields + at, sizeof row->fields - at, "%s%s", row->count ? ", " : "", name_of(found, row->syslog));
    row->parts[row->count++] = found;
    return GALE_OK;
}

int gx_net_row_parse(const char *text, bool syslog, gx_net_row *ret_row, gale_error *error) {
    gx_net_row row = { .syslog = syslog };
    const char *usual = syslog ? "facility, severity, time, host, app, procid, msgid, data, message" : "line";
    gale_str rest = gx_str(text && *text ? text : usual), word;
    while (gx_str_next(&rest, ',', &word)) {
        int rc = add(&row, word, error);
        if (rc < 0) return rc;
    }
    *ret_row = row;
    return GALE_OK;
}
