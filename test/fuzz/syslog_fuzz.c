/* Bytes, read as a syslog message. Whatever they are, its pieces lie within them and are in their order, structured data is taken to pieces to its
 * end, and the time is one of the calendar's. */
#include "fuzz.h"

#include "kit/syslog.h"

static const char *at; /* what comes next lies behind it */

static void inside(gale_str piece, gale_str text) {
    if (!piece.data) return;
    expect(piece.data >= at && piece.data + piece.size <= text.data + text.size);
    at = piece.data + piece.size;
}

static void take_data(gale_str data) {
    gale_str id, parameters, name, value;
    char *plain = malloc(data.size + 1);
    expect(plain != NULL);
    while (gx_syslog_element(&data, &id, &parameters)) {
        expect(id.size > 0);
        while (gx_syslog_parameter(&parameters, &name, &value)) {
            expect(name.size > 0);
            expect(gx_syslog_unescape(value, plain) <= value.size);
        }
        expect(parameters.size == 0);
    }
    expect(data.size == 0);
    free(plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_str text = { (const char *)data, size };
    gx_syslog m;
    gx_syslog_read(text, 1795410000, 3600, &m);
    expect(m.facility >= 0 && m.facility <= 23 && m.severity >= 0 && m.severity <= 7);
    expect(gx_syslog_facility_name(m.facility) && gx_syslog_severity_name(m.severity));
    at = text.data;
    inside(m.host, text);
    inside(m.app, text);
    inside(m.procid, text);
    inside(m.msgid, text);
    inside(m.data, text);
    inside(m.message, text);
    if (m.has_time)
        expect(m.time.second >= GX_MOMENT_FIRST && m.time.second <= GX_MOMENT_LAST && m.time.nano >= 0 &&
               m.time.nano < 1000000000);
    if (m.data.data) take_data(m.data);
    return 0;
}
