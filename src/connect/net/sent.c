#include "connect/net/sent.h"

#include "base/utf8.h"
#include "kit/scalar.h"
#include "kit/syslog.h"

enum {
    ELEMENTS = 64,
    /* A map's pairs, each element's pairs, and the values of names that come twice. */
    DATA = 2 * ELEMENTS + 2 * GALE_NET_PARAMETERS + GALE_NET_PARAMETERS
};

void gx_net_sent_init(gx_net_sent *sent, gx_heap *heap, gale_collector *out, const gx_net_settings *given) {
    *sent = (gx_net_sent){ .given = given, .slot = GX_BUF_INIT(heap), .plain = GX_BUF_INIT(heap) };
    gx_retry_init(&sent->retry, heap, out, given->options.max_attempts);
}

void gx_net_sent_fini(gx_net_sent *sent) {
    gx_free(sent->retry.heap, GX_TAG_OTHER, sent->data, DATA * sizeof *sent->data);
    gx_buf_fini(&sent->slot);
    gx_buf_fini(&sent->plain);
    gx_retry_fini(&sent->retry);
}

/* --- What a slot has: the record, the peer, and a byte that is the size of that. --- */

int gx_net_sent_add(gx_net_sent *sent, const gx_net_record *record, uint32_t *ret_id) {
    size_t peer = strlen(record->peer);
    gx_buf *slot = &sent->slot;
    gx_buf_reset(slot);
    if (record->bytes.size) gx_buf_add(slot, record->bytes.data, record->bytes.size);
    gx_buf_add(slot, record->peer, peer);
    gx_buf_add_byte(slot, (char)peer);
    if (slot->failed) return GALE_NO_MEMORY;
    bool is_text = gx_utf8_valid(record->bytes.data, record->bytes.size);
    int rc = gx_retry_add(&sent->retry, (gale_str){ slot->data, slot->size }, is_text, sent->number + 1, ret_id);
    if (slot->capacity > GX_RETRY_KEEP) gx_buf_fini(slot);
    if (rc < 0) return rc;
    sent->retry.slots[*ret_id].place = record->received;
    sent->number++;
    return 0;
}

/* What was saved is not trusted: a size that does not fit is none. */
static gale_str take_peer(gale_str *record) {
    size_t size = record->size ? (unsigned char)record->data[record->size - 1] : 0;
    if (record->size) record->size--;
    if (size > record->size) size = 0;
    record->size -= size;
    return (gale_str){ record->data + record->size, size };
}

/* --- Structured data ---------------------------------------------------------------------------------------------- */

static gale_value value_of(gx_net_sent *sent, gale_str value, bool is_text) {
    if (!value.size || !memchr(value.data, '\\', value.size)) return gx_scalar_text(value, is_text);
    char *to = sent->plain.data + sent->plain.size;
    size_t size = gx_syslog_unescape(value, to);
    sent->plain.size += size;
    return gx_scalar_text((gale_str){ to, size }, is_text);
}

typedef struct data_room {
    gale_value *next;
    uint32_t left; /* parameters */
} data_room;

/* All values of a name, from where it comes first. */
static gale_value values_of(gx_net_sent *sent, gale_str name, gale_str from, bool is_text, data_room *room) {
    gale_value *begin = room->next;
    gale_str other, value;
    while (room->left && gx_syslog_parameter(&from, &other, &value)) {
        if (!gx_str_equal(other, name)) continue;
        *room->next++ = value_of(sent, value, is_text);
        room->left--;
    }
    if (room->next - begin != 1) return gale_list(begin, (size_t)(room->next - begin));
    room->next = begin;
    return *begin;
}

static bool has_key(const gale_value *pairs, uint32_t count, gale_str key) {
    for (uint32_t i = 0; i < count; i++)
        if (gx_str_equal((gale_str){ pairs[2 * i].as.string, pairs[2 * i].size }, key)) return true;
    return false;
}

/* Pairs stand together: the element's are as many as it has parameters, at the most. */
static gale_value element_of(gx_net_sent *sent, gale_str parameters, bool is_text, data_room *room) {
    gale_str name, value, at = parameters, here;
    uint32_t count = 0, most = 0;
    while (most < room->left && gx_syslog_parameter(&at, &name, &value)) most++;
    gale_value *pairs = room->next;
    room->next += (size_t)2 * most;
    for (at = here = parameters; count < most && room->left && gx_syslog_parameter(&at, &name, &value); here = at) {
        if (has_key(pairs, count, name)) continue;
        pairs[2 * count] = gale_string(name.data, name.size);
        pairs[2 * count + 1] = values_of(sent, name, here, is_text, room);
        count++;
    }
    return gale_map(pairs, count);
}

static int data_of(gx_net_sent *sent, gale_str data, bool is_text, gale_value *ret) {
    gale_str id, parameters;
    uint32_t count = 0;
    *ret = gale_null();
    if (!data.data) return 0;
    if (!sent->data) sent->data = gx_alloc_array(sent->retry.heap, GX_TAG_OTHER, DATA, sizeof *sent->data);
    gx_buf_reset(&sent->plain);
    if (!sent->data || !gx_buf_reserve(&sent->plain, data.size)) return GALE_NO_MEMORY;
    data_room room = { sent->data + (size_t)2 * ELEMENTS, GALE_NET_PARAMETERS };
    while (count < ELEMENTS && gx_syslog_element(&data, &id, &parameters)) {
        if (has_key(sent->data, count, id)) continue;
        sent->data[2 * count] = gale_string(id.data, id.size);
        sent->data[2 * count + 1] = element_of(sent, parameters, is_text, &room);
        count++;
    }
    *ret = gale_map(sent->data, count);
    return 0;
}

/* --- Tuples ------------------------------------------------------------------------------------------------------- */

static gale_value seconds_of(int64_t ns) {
    int64_t whole = ns / GALE_SECOND; /* a double has not room for all digits at once */
    return gale_f64((double)whole + (double)(ns - whole * GALE_SECOND) / 1e9);
}

static gale_value time_of(const gx_syslog *m, int64_t received) {
    if (!m->has_time) return seconds_of(received);
    if (!m->time.is_fraction) return gale_i64(m->time.second);
    return gale_f64((double)m->time.second + (double)m->time.nano / 1e9);
}

typedef struct message {
    const gx_retry_slot *slot;
    gale_str record, peer;
    gx_syslog syslog;
} message;

static gale_value part_of(const message *m, gx_net_part part) {
    const gx_syslog *s = &m->syslog;
    bool is_text = m->slot->is_text;
    switch (part) {
    case GX_NET_LINE:
        return is_text ? gale_string(m->record.data, m->record.size) : gale_bytes(m->record.data, m->record.size);
    case GX_NET_PEER: return gale_string(m->peer.data, m->peer.size);
    case GX_NET_NUMBER: return gale_i64((int64_t)m->slot->number);
    case GX_NET_RECEIVED: return seconds_of(m->slot->place);
    case GX_NET_FACILITY: return gale_i64(s->facility);
    case GX_NET_FACILITY_NAME: return gale_text(gx_syslog_facility_name(s->facility));
    case GX_NET_SEVERITY: return gale_i64(s->severity);
    case GX_NET_SEVERITY_NAME: return gale_text(gx_syslog_severity_name(s->severity));
    case GX_NET_TIME: return time_of(s, m->slot->place);
    case GX_NET_HOST: return gx_scalar_text(s->host, is_text);
    case GX_NET_APP: return gx_scalar_text(s->app, is_text);
    case GX_NET_PROCID: return gx_scalar_text(s->procid, is_text);
    case GX_NET_MSGID: return gx_scalar_text(s->msgid, is_text);
    case GX_NET_STRUCTURED: return gx_scalar_text(s->data, is_text);
    default: return gx_scalar_text(s->message, is_text);
    }
}

int gx_net_sent_emit(gx_net_sent *sent, gale_collector *out, uint32_t id) {
    const gx_net_row *row = &sent->given->row;
    const gx_retry_slot *slot = &sent->retry.slots[id];
    message m = { .slot = slot, .record = { slot->data, slot->size } };
    gale_value values[GX_NET_PARTS];
    int rc = 0;
    m.peer = take_peer(&m.record);
    if (row->syslog) gx_syslog_read(m.record, slot->place / GALE_SECOND, sent->given->ahead, &m.syslog);
    sent->other += row->syslog && m.syslog.form == GX_SYSLOG_NONE && slot->attempts == 0;
    for (uint32_t i = 0; rc == 0 && i < row->count; i++) {
        if (row->parts[i] == GX_NET_DATA)
            rc = data_of(sent, m.syslog.data, slot->is_text, &values[i]);
        else
            values[i] = part_of(&m, row->parts[i]);
    }
    if (rc == 0) return gx_retry_emit_row(&sent->retry, out, id, values, row->count);
    gx_retry_queue(&sent->retry, id);
    return rc;
}
