#include "connect/mqtt/outbound.h"

#include <stdlib.h>
#include <string.h>

int mqtt_outbound_init(mqtt_outbound *out, size_t most) {
    *out = (mqtt_outbound){ .most = most };
    out->by_id = calloc(most + 1, sizeof *out->by_id);
    out->ids = calloc(most, sizeof *out->ids);
    if (!out->by_id || !out->ids) return GALE_NO_MEMORY;
    for (size_t id = most; id > 0; id--) out->ids[out->free++] = (uint16_t)id;
    return 0;
}

void mqtt_outbound_free(mqtt_outbound *out) {
    while (out->oldest) {
        mqtt_out *one = out->oldest;
        out->oldest = one->newer;
        free(one);
    }
    free(out->by_id);
    free(out->ids);
    *out = (mqtt_outbound){ .most = 0 };
}

/* --- In and gone ------------------------------------------------------------------------------------------------------ */

static gale_str keep(char **at, gale_str text) {
    gale_str kept = { *at, text.size };
    if (text.size) memcpy(*at, text.data, text.size);
    *at += text.size;
    return kept;
}

int mqtt_outbound_add(mqtt_outbound *out, const mqtt_packet *publish, uint64_t tag) {
    const mqtt_message *m = &publish->message;
    mqtt_out *one = malloc(sizeof *one + m->topic.size + publish->properties.size + m->payload.size);
    if (!one) return GALE_NO_MEMORY;
    char *at = one->bytes;
    *one = (mqtt_out){ .older = out->newest, .tag = tag, .packet = *publish };
    one->packet.message.topic = keep(&at, m->topic);
    one->packet.properties = keep(&at, publish->properties);
    one->packet.message.payload = keep(&at, m->payload);
    *(out->newest ? &out->newest->newer : &out->oldest) = one;
    out->newest = one;
    if (!out->next) out->next = one;
    out->count++;
    return 0;
}

static void give_id_back(mqtt_outbound *out, mqtt_out *one) {
    if (!one->packet.id) return;
    out->by_id[one->packet.id] = NULL;
    out->ids[out->free++] = one->packet.id;
    one->packet.id = 0;
}

static void stop_counting(mqtt_outbound *out, mqtt_out *one) {
    out->out -= one->counts;
    one->counts = false;
}

static void remove_one(mqtt_outbound *out, mqtt_out *one) {
    give_id_back(out, one);
    stop_counting(out, one);
    *(one->older ? &one->older->newer : &out->oldest) = one->newer;
    *(one->newer ? &one->newer->older : &out->newest) = one->older;
    if (out->next == one) out->next = one->newer;
    out->count--;
    free(one);
}

/* --- Out -------------------------------------------------------------------------------------------------------------- */

void mqtt_outbound_begin(mqtt_outbound *out, bool has_session, size_t window) {
    out->window = window < out->most ? window : out->most;
    for (mqtt_out *one = out->oldest; one; one = one->newer) {
        stop_counting(out, one);
        if (!has_session) {
            give_id_back(out, one);
            one->state = MQTT_WAITING;
        }
        one->packet.dup = one->state == MQTT_SENT;
    }
    out->next = out->oldest;
}

/* A PUBREL needs no room: its message had it. */
static bool has_room(const mqtt_outbound *out, const mqtt_out *one) {
    if (!one->packet.message.qos || one->state == MQTT_RELEASING) return true;
    return out->out < out->window && (one->packet.id || out->free);
}

/* An id is given to it here, and stays when it is asked for again. */
static void have_id(mqtt_outbound *out, mqtt_out *one) {
    if (!one->packet.message.qos || one->packet.id) return;
    one->packet.id = out->ids[--out->free];
    out->by_id[one->packet.id] = one;
}

const mqtt_packet *mqtt_outbound_next(mqtt_outbound *out, mqtt_packet *room, uint64_t *ret_tag) {
    mqtt_out *one = out->next;
    if (!one || !has_room(out, one)) return NULL;
    have_id(out, one);
    *ret_tag = one->tag;
    *room = (mqtt_packet){ .type = MQTT_PUBREL, .id = one->packet.id };
    return one->state == MQTT_RELEASING ? room : &one->packet;
}

bool mqtt_outbound_wrote(mqtt_outbound *out, bool written) {
    mqtt_out *one = out->next;
    bool gone = !written || !one->packet.message.qos;
    out->next = one->newer;
    if (gone) {
        remove_one(out, one);
        return true;
    }
    if (one->state == MQTT_RELEASING) return false;
    one->state = MQTT_SENT;
    one->counts = true;
    out->out++;
    return false;
}

void mqtt_outbound_forget(mqtt_outbound *out, uint64_t tag) {
    mqtt_out *one = out->oldest;
    while (one && one->tag != tag) one = one->newer;
    if (one) remove_one(out, one);
}

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

int mqtt_outbound_hear(mqtt_outbound *out, const mqtt_packet *answer, uint64_t *ret_tag, mqtt_packet *ret_reply) {
    mqtt_out *one = answer->id <= out->most ? out->by_id[answer->id] : NULL;
    uint8_t qos = answer->type == MQTT_PUBACK ? 1 : 2;
    bool known = one && one->packet.message.qos == qos && one->state != MQTT_WAITING;
    *ret_reply = (mqtt_packet){ .type = MQTT_WILL };
    if (answer->type == MQTT_PUBREC && (!known || answer->reason < MQTT_FAILED)) {
        *ret_reply = (mqtt_packet){ .type = MQTT_PUBREL, .id = answer->id, .reason = known ? 0 : MQTT_NOT_FOUND };
        if (known) one->state = MQTT_RELEASING;
        return 0;
    }
    if (!known || (answer->type == MQTT_PUBCOMP && one->state != MQTT_RELEASING)) return 0;
    *ret_tag = one->tag;
    remove_one(out, one);
    return 1;
}
