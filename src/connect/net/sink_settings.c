#include "connect/net/sink_settings.h"

#include "base/os/socket.h"

#include <gale/file.h>
#include <stdlib.h>

enum { BYTES = 1 << 20, WAIT = 10, SECONDS_MAX = 1000000, DATAGRAM_MAX = 65507 };

static int check_words(const gale_net_sink_options *given, gale_error *error) {
    bool datagrams = given->transport == GALE_NET_UDP;
    if (given->transport != GALE_NET_TCP && !datagrams)
        return gale_error_set(error, GALE_INVALID, "net sink: transport is %d, must be GALE_NET_TCP or GALE_NET_UDP",
                              given->transport);
    if (given->framing < GALE_NET_AS_IT_COMES || given->framing > GALE_NET_OCTETS)
        return gale_error_set(error, GALE_INVALID, "net sink: framing is %d, which is none that can be written",
                              given->framing);
    if (given->format < GALE_FILE_TSV || given->format > GALE_FILE_TEXT)
        return gale_error_set(error, GALE_INVALID,
                              "net sink: format is %d, which is none of TSV (%d), JSON (%d), CSV (%d) and TEXT (%d)",
                              given->format, GALE_FILE_TSV, GALE_FILE_JSON, GALE_FILE_CSV, GALE_FILE_TEXT);
    if (given->datagram && !datagrams) return gale_error_set(error, GALE_INVALID, "net sink: datagram is for UDP");
    if (given->datagram > DATAGRAM_MAX)
        return gale_error_set(error, GALE_INVALID, "net sink: datagram is %u bytes, at most %d", given->datagram,
                              DATAGRAM_MAX);
    if (!(given->finish_wait >= 0 && given->finish_wait <= SECONDS_MAX))
        return gale_error_set(error, GALE_INVALID, "net sink: finish_wait is %g, must be 0 to %d seconds",
                              given->finish_wait, SECONDS_MAX);
    return 0;
}

static int check_fields(const gale_net_sink_options *given, gx_fields *ret_fields, gale_error *error) {
    ret_fields->count = 0;
    if (!given->fields || !*given->fields) return 0;
    if (given->format == GALE_FILE_TEXT)
        return gx_fields_parse_one(given->fields, "net sink: fields, of which format text writes one,", ret_fields,
                                   error);
    return gx_fields_parse(given->fields, "net sink: fields", ret_fields, error);
}

int gx_net_sink_settings_make(const gale_net_sink_options *given, gx_net_sink_settings **ret_settings,
                              gale_error *error) {
    gx_fields fields;
    int rc = check_words(given, error);
    if (rc == 0 && !given->connect)
        rc = gale_error_set(error, GALE_INVALID, "net sink: options.connect is not set: it is host:port");
    if (rc == 0) rc = gx_address_check(given->connect, false, error);
    if (rc == 0) rc = check_fields(given, &fields, error);
    if (rc < 0) return rc;
    size_t size = strlen(given->connect) + 1;
    gx_net_sink_settings *made = malloc(sizeof *made + size);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "net sink: out of memory");
    *made = (gx_net_sink_settings){ .options = *given, .fields = fields };
    memcpy(made->address, given->connect, size);
    made->options.connect = made->options.fields = NULL;
    if (!made->options.max_bytes) made->options.max_bytes = BYTES;
    made->finish_wait = (int64_t)((given->finish_wait > 0 ? given->finish_wait : WAIT) * GALE_SECOND);
    if (given->transport == GALE_NET_TCP && !given->framing) made->options.framing = GALE_NET_LINES;
    if (given->datagram && !given->framing) made->options.framing = GALE_NET_LINES;
    *ret_settings = made;
    return 0;
}

/* --- Records ------------------------------------------------------------------------------------------------------ */

void gx_net_former_init(gx_net_former *former, const gx_net_sink_settings *given, gx_heap *heap) {
    former->given = given;
    former->lines.who = "net sink";
    former->lines.format = given->options.format;
    former->lines.fields = given->fields;
    former->line = (gx_buf)GX_BUF_INIT(heap);
}

void gx_net_former_fini(gx_net_former *former) {
    gx_buf_fini(&former->line);
}

/* With its newline. What a receiver takes for the end of a record, or for a part of that, is not to stand in it. */
static bool can_carry(int32_t framing, const char *line, size_t size) {
    if (framing == GALE_NET_LINES)
        return memchr(line, '\n', size) == line + size - 1 && (size < 2 || line[size - 2] != '\r');
    if (framing == GALE_NET_OCTETS) return size > 1;
    return framing != GALE_NET_NUL || !memchr(line, 0, size);
}

const char *gx_net_refusal(const gx_net_former *former) {
    switch (former->given->options.framing) {
    case GALE_NET_NUL: return "net sink: framing nul cannot carry it: it has a NUL in it; octets can";
    case GALE_NET_OCTETS: return "net sink: framing octets cannot carry it: it is empty, and RFC 6587 has no length 0";
    default:
        return "net sink: framing lines cannot carry it: it has an end of line in it; octets and nul can, and so can "
               "formats tsv and json";
    }
}

static int form_line(gx_net_former *former, const gale_tuple *tuple, gale_collector *out, gx_buf *to) {
    size_t before = to->size;
    int rc = gx_lines_add(&former->lines, tuple, out, to);
    if (rc < 0 || can_carry(GALE_NET_LINES, to->data + before, to->size - before)) return rc;
    to->size = before;
    return GALE_INVALID;
}

/* A line ends with a newline, which the others put something else for, or nothing. */
int gx_net_form(gx_net_former *former, const gale_tuple *tuple, gale_collector *out, gx_buf *to) {
    int32_t framing = former->given->options.framing;
    gx_buf *line = &former->line;
    size_t before = to->size;
    if (framing == GALE_NET_LINES) return form_line(former, tuple, out, to);
    gx_buf_reset(line);
    int rc = gx_lines_add(&former->lines, tuple, out, line);
    if (rc < 0) return rc;
    if (!can_carry(framing, line->data, line->size)) return GALE_INVALID;
    if (framing == GALE_NET_OCTETS) gx_buf_format(to, "%zu ", line->size - 1);
    if (framing == GALE_NET_NUL) line->data[line->size - 1] = 0;
    gx_buf_add(to, line->data, line->size - (framing != GALE_NET_NUL));
    if (!to->failed) return 0;
    to->failed = false;
    to->size = before;
    return GALE_NO_MEMORY;
}
