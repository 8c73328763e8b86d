#include "connect/mqtt/inbound.h"

#include <stdlib.h>
#include <string.h>

/* --- Ids in order ----------------------------------------------------------------------------------------------------- */

static void push(mqtt_ids *ids, uint16_t id) {
    ids->list[(ids->first + ids->count++) % MQTT_IDS] = id;
}

static uint16_t front(const mqtt_ids *ids) {
    return ids->list[ids->first];
}

static void pop(mqtt_ids *ids) {
    ids->first = (ids->first + 1) % MQTT_IDS;
    ids->count--;
}

int mqtt_inbound_init(mqtt_inbound *in, bool durable) {
    *in = (mqtt_inbound){ .durable = durable };
    in->ids = calloc(MQTT_IDS, sizeof *in->ids);
    in->turns = calloc(4, sizeof *in->turns);
    if (!in->ids || !in->turns) return GALE_NO_MEMORY;
    in->complete = &in->turns[2];
    in->released = &in->turns[3];
    return 0;
}

void mqtt_inbound_free(mqtt_inbound *in) {
    free(in->ids);
    free(in->turns);
    in->ids = NULL;
    in->turns = NULL;
}

/* --- A message's way -------------------------------------------------------------------------------------------------- */

static void set_state(mqtt_inbound *in, mqtt_in *one, mqtt_in_state state) {
    in->open += (size_t)(state == MQTT_OPEN) - (one->state == MQTT_OPEN);
    one->state = (uint8_t)state;
}

static int64_t place_of(const mqtt_in *one, uint16_t id) {
    return (int64_t)((uint64_t)one->number << 16 | id);
}

static mqtt_in *find(const mqtt_inbound *in, int64_t place) {
    mqtt_in *one = &in->ids[(uint16_t)place];
    return place > 0 && one->state != MQTT_FREE && one->number == place >> 16 ? one : NULL;
}

/* It stands in the queue of those that are to be answered on this connection. */
static void queue(mqtt_inbound *in, mqtt_in *one, uint16_t id) {
    if (one->here) return;
    one->here = true;
    in->here++;
    push(&in->turns[one->qos - 1], id);
}

static int refuse_id(const mqtt_packet *packet, const char *words, gale_error *error) {
    return gale_error_set(error, GALE_DAMAGED, "%s: %s: packet id %u", mqtt_type_name(packet->type), words, packet->id);
}

int mqtt_inbound_take(mqtt_inbound *in, const mqtt_packet *publish, int64_t *ret_place, gale_error *error) {
    mqtt_in *one = &in->ids[publish->id];
    bool known = one->state != MQTT_FREE && one->qos == publish->message.qos;
    if (!known && (one->here || one->state == MQTT_RELEASED))
        return refuse_id(publish, "another message has its id", error);
    if (!known) {
        one->qos = publish->message.qos;
        one->number = ++in->number;
        set_state(in, one, MQTT_OPEN);
    } else if (one->state == MQTT_RECEIVED) {
        set_state(in, one, MQTT_ANSWERED); /* the broker has not heard it */
        if (one->here) push(&in->turns[one->qos - 1], publish->id);
    }
    if (one->state != MQTT_RELEASED) queue(in, one, publish->id);
    *ret_place = place_of(one, publish->id);
    return !known;
}

void mqtt_inbound_drop(mqtt_inbound *in, int64_t place) {
    mqtt_in *one = find(in, place);
    if (one) set_state(in, one, MQTT_FREE);
}

void mqtt_inbound_answer(mqtt_inbound *in, int64_t place) {
    mqtt_in *one = find(in, place);
    if (one && one->state == MQTT_OPEN) set_state(in, one, MQTT_ANSWERED);
}

/* --- What the broker is told ------------------------------------------------------------------------------------------ */

static void settle(mqtt_inbound *in, mqtt_in *one) {
    set_state(in, one, MQTT_FREE);
    in->here -= one->here;
    one->here = false;
}

int mqtt_inbound_release(mqtt_inbound *in, const mqtt_packet *pubrel, gale_error *error) {
    mqtt_in *one = &in->ids[pubrel->id];
    bool mine = one->state != MQTT_FREE && one->qos == 2;
    if (mine && (one->state == MQTT_OPEN || (one->state == MQTT_ANSWERED && one->here)))
        return refuse_id(pubrel, "its message has no PUBREC yet", error);
    if (mine && one->state == MQTT_RELEASED) return 0;
    if (mine && in->durable) {
        set_state(in, one, MQTT_RELEASED);
        push(in->released, pubrel->id);
        return 0;
    }
    if (in->complete->count == MQTT_IDS) return refuse_id(pubrel, "there are too many", error);
    if (mine) settle(in, one);
    push(in->complete, pubrel->id);
    return 0;
}

static bool next_complete(mqtt_inbound *in, mqtt_packet *ret_packet) {
    if (!in->complete->count) return false;
    *ret_packet = (mqtt_packet){ .type = MQTT_PUBCOMP, .id = front(in->complete) };
    pop(in->complete);
    return true;
}

static bool next_turn(mqtt_inbound *in, mqtt_ids *turns, mqtt_packet *ret_packet) {
    uint16_t id = front(turns);
    mqtt_in *one = &in->ids[id];
    if (!turns->count || one->state != MQTT_ANSWERED) return false;
    pop(turns);
    *ret_packet = (mqtt_packet){ .type = one->qos == 1 ? MQTT_PUBACK : MQTT_PUBREC, .id = id };
    if (one->qos == 1)
        settle(in, one);
    else
        set_state(in, one, MQTT_RECEIVED);
    return true;
}

bool mqtt_inbound_next(mqtt_inbound *in, mqtt_packet *ret_packet) {
    return next_complete(in, ret_packet) || next_turn(in, &in->turns[0], ret_packet) ||
           next_turn(in, &in->turns[1], ret_packet);
}

/* --- Losses ----------------------------------------------------------------------------------------------------------- */

/* A broker that has no PUBCOMP sends its PUBREL again. */
void mqtt_inbound_lost(mqtt_inbound *in) {
    for (size_t i = 0; in->here && i < MQTT_IDS; i++) {
        in->here -= in->ids[i].here;
        in->ids[i].here = false;
    }
    in->turns[0].count = in->turns[1].count = in->complete->count = 0;
}

void mqtt_inbound_forget(mqtt_inbound *in) {
    mqtt_inbound_lost(in);
    for (size_t i = 0; i < MQTT_IDS; i++)
        if (in->ids[i].state != MQTT_FREE) in->ids[i].state = MQTT_FREE;
    in->released->count = in->cut = in->open = 0;
}

/* --- Checkpoints ------------------------------------------------------------------------------------------------------ */

enum { ROW_VALUES = 4 };

bool mqtt_inbound_waits(const mqtt_inbound *in) {
    return in->released->count > in->cut;
}

/* How many ids, and the number of the last message; of each id itself, its message's number, QoS, state. Those that are released are left out. */
int mqtt_inbound_save(mqtt_inbound *in, gale_saver *to) {
    int64_t count = 0;
    for (size_t i = 0; i < MQTT_IDS; i++) count += in->ids[i].state != MQTT_FREE && in->ids[i].state != MQTT_RELEASED;
    const gale_value head[] = { gale_i64(count), gale_i64(in->number) };
    int rc = gale_save(to, head, 2);
    for (size_t i = 0; rc == 0 && i < MQTT_IDS; i++) {
        const mqtt_in *one = &in->ids[i];
        if (one->state == MQTT_FREE || one->state == MQTT_RELEASED) continue;
        const gale_value row[ROW_VALUES] = { gale_i64((int64_t)i), gale_i64(one->number), gale_i64(one->qos),
                                             gale_i64(one->state) };
        rc = gale_save(to, row, ROW_VALUES);
    }
    in->cut = in->released->count;
    in->checkpoint = gale_save_checkpoint(to);
    return rc;
}

static bool are_whole(const gale_value *row, size_t count, size_t wanted) {
    for (size_t i = 0; i < count && i < wanted; i++)
        if (row[i].type != GALE_TYPE_I64 || row[i].as.i64 < 0) return false;
    return count == wanted;
}

static bool is_row(const mqtt_inbound *in, const gale_value *row, size_t count) {
    return are_whole(row, count, ROW_VALUES) && row[0].as.i64 > 0 && row[0].as.i64 < MQTT_IDS && row[1].as.i64 > 0 &&
           row[1].as.i64 <= in->number && (row[2].as.i64 == 1 || row[2].as.i64 == 2) && row[3].as.i64 > MQTT_FREE &&
           row[3].as.i64 < MQTT_RELEASED;
}

static int restore_row(mqtt_inbound *in, gale_saved *from) {
    const gale_value *row;
    size_t count;
    int rc = gale_saved_next(from, &row, &count);
    if (rc < 0) return rc;
    if (rc == 0 || !is_row(in, row, count)) return GALE_DAMAGED;
    mqtt_in_state state = row[3].as.i64 == MQTT_RECEIVED ? MQTT_RECEIVED : MQTT_ANSWERED;
    in->ids[row[0].as.i64] = (mqtt_in){ .number = row[1].as.i64,
                                        .qos = (uint8_t)row[2].as.i64,
                                        .state = (uint8_t)state };
    return 0;
}

int mqtt_inbound_restore(mqtt_inbound *in, gale_saved *from) {
    const gale_value *head;
    size_t count;
    int rc = gale_saved_next(from, &head, &count);
    if (rc < 0) return rc;
    if (rc == 0 || !are_whole(head, count, 2) || head[0].as.i64 >= MQTT_IDS || head[1].as.i64 >> 47)
        return GALE_DAMAGED;
    in->number = head[1].as.i64;
    rc = 0;
    for (int64_t left = head[0].as.i64; rc == 0 && left > 0; left--) rc = restore_row(in, from);
    return rc;
}

void mqtt_inbound_reopen(mqtt_inbound *in, int64_t place) {
    mqtt_in *one = find(in, place);
    if (one && one->state == MQTT_ANSWERED) set_state(in, one, MQTT_OPEN);
}

void mqtt_inbound_conclude(mqtt_inbound *in) {
    for (size_t i = 0; i < MQTT_IDS; i++)
        if (in->ids[i].state == MQTT_ANSWERED && in->ids[i].qos == 1) in->ids[i].state = MQTT_FREE;
}

void mqtt_inbound_committed(mqtt_inbound *in, uint64_t checkpoint) {
    if (checkpoint < in->checkpoint) return;
    for (; in->cut; in->cut--) {
        uint16_t id = front(in->released);
        pop(in->released);
        settle(in, &in->ids[id]);
        if (in->complete->count < MQTT_IDS) push(in->complete, id);
    }
}
