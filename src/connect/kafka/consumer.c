#include "connect/kafka/consumer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t now(const kafka_consumer *c) {
    return gale_context_now(c->client.context);
}

/* --- The queue ------------------------------------------------------------------------------------------------------ */

static void pass_all(kafka_consumer *c) {
    while (c->at < c->count) kafka_consumer_pass(c);
}

/* Takes what is there, as far as there is room. */
static void look(kafka_consumer *c, int wait_ms) {
    if (c->at == c->count) c->at = c->count = 0;
    size_t room = 2 * KAFKA_BATCH - c->count;
    if (room > KAFKA_BATCH) room = KAFKA_BATCH;
    if (!room) return;
    ssize_t got = rd_kafka_consume_batch_queue(c->client.queue, wait_ms, c->stash + c->count, room);
    if (got > 0) c->count += (size_t)got;
    c->looked = now(c);
}

/* Those that it reads. */
static rd_kafka_topic_partition_list_t *list_read(const kafka_consumer *c) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)c->parts.count);
    for (size_t i = 0; i < c->parts.count; i++) {
        const kafka_part *part = &c->parts.list[i];
        if (part->topic && !part->leaving) rd_kafka_topic_partition_list_add(list, part->topic, part->partition);
    }
    return list;
}

static void set_paused(kafka_consumer *c, bool paused) {
    if (c->paused == paused) return;
    rd_kafka_topic_partition_list_t *list = list_read(c);
    c->paused = paused;
    if (list->cnt)
        (void)(paused ? rd_kafka_pause_partitions(c->client.rk, list) : rd_kafka_resume_partitions(c->client.rk, list));
    rd_kafka_topic_partition_list_destroy(list);
}

/* What was read and nobody wants now stays; no more is read. */
static void keep_alive(kafka_consumer *c) {
    if (c->at < c->count) set_paused(c, true);
    look(c, 0);
}

/* --- What the group is told ------------------------------------------------------------------------------------------ */

/* What it did not take is told again. */
static void forget_told(kafka_consumer *c, const rd_kafka_topic_partition_list_t *list, bool all) {
    for (int i = 0; list && i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *one = &list->elems[i];
        kafka_part *part = all || one->err ? kafka_parts_find(&c->parts, one->topic, one->partition) : NULL;
        if (part) part->told = -1;
    }
}

static void tell(kafka_consumer *c, bool leaving) {
    rd_kafka_topic_partition_list_t *list = kafka_parts_tell(&c->parts, leaving);
    if (!leaving) c->told = now(c);
    if (!list) return;
    if (rd_kafka_commit(c->client.rk, list, 1) == RD_KAFKA_RESP_ERR_NO_ERROR)
        c->telling++;
    else
        forget_told(c, list, true);
    rd_kafka_topic_partition_list_destroy(list);
}

static bool is_of_a_change(rd_kafka_resp_err_t err) {
    return err == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION || err == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID ||
           err == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS || err == RD_KAFKA_RESP_ERR__DESTROY;
}

static void hear_commit(rd_kafka_t *rk, rd_kafka_resp_err_t err, rd_kafka_topic_partition_list_t *list, void *user) {
    kafka_consumer *c = user;
    (void)rk;
    if (c->telling) c->telling--;
    forget_told(c, list, err != RD_KAFKA_RESP_ERR_NO_ERROR);
    for (int i = 0; !err && list && i < list->cnt; i++) err = list->elems[i].err;
    if (!err)
        kafka_client_well(&c->client);
    else if (!is_of_a_change(err))
        kafka_client_unwell(&c->client, "offsets are not committed", rd_kafka_err2str(err));
}

/* --- Changes of the partitions --------------------------------------------------------------------------------------- */

static void hear_change(rd_kafka_t *rk, rd_kafka_resp_err_t err, rd_kafka_topic_partition_list_t *list, void *user) {
    kafka_consumer *c = user;
    kafka_change *change = malloc(sizeof *change), **end = &c->changes;
    if (!change) { /* it has none then, and asks the group again */
        rd_kafka_assign(rk, NULL);
        return;
    }
    *change = (kafka_change){ .list = rd_kafka_topic_partition_list_copy(list),
                              .gains = err == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS };
    while (*end) end = &(*end)->next;
    *end = change;
}

static bool by_and_by(const kafka_consumer *c) {
    const char *protocol = rd_kafka_rebalance_protocol(c->client.rk);
    return protocol && strcmp(protocol, "COOPERATIVE") == 0;
}

/* May the group be told of partitions that stay? */
static bool may_tell(const kafka_consumer *c) {
    return !c->telling && (c->steady || !by_and_by(c));
}

static void tell_if_due(kafka_consumer *c) {
    if (now(c) - c->told >= c->every && may_tell(c)) tell(c, false);
}

static void hear_statistics(kafka_client *client, const char *json) {
    kafka_consumer *c = (kafka_consumer *)client;
    c->steady = strstr(json, "\"join_state\": \"steady\"") != NULL;
    tell_if_due(c);
    if (!c->closing) c->steady = false;
}

static void carry_out(kafka_consumer *c, const kafka_change *change) {
    rd_kafka_t *rk = c->client.rk;
    rd_kafka_error_t *error = NULL;
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (by_and_by(c))
        error = change->gains ? rd_kafka_incremental_assign(rk, change->list)
                              : rd_kafka_incremental_unassign(rk, change->list);
    else
        err = rd_kafka_assign(rk, change->gains ? change->list : NULL);
    if (error) err = rd_kafka_error_code(error);
    if (err)
        kafka_client_unwell(&c->client, "partitions", error ? rd_kafka_error_string(error) : rd_kafka_err2str(err));
    if (error) rd_kafka_error_destroy(error);
}

/* Where they begin, as far as librdkafka does not see to it. False: it waits. Who is closing reads nothing of them. */
static bool place(kafka_consumer *c, kafka_change *change) {
    gale_error error = GALE_ERROR_INIT;
    if (c->closing || !kafka_from_asks(&c->reading->from)) return true;
    if (now(c) < change->until) return false;
    int rc = kafka_from_place(&c->reading->from, c->client.rk, change->list, c->begun_ms, KAFKA_PLACE_WAIT_MS, &error);
    if (rc == 0) return true;
    change->until = now(c) + GALE_SECOND;
    kafka_client_unwell(&c->client, NULL, error.text);
    return false;
}

/* False: it waits. */
static bool gain(kafka_consumer *c, kafka_change *change) {
    if (!place(c, change)) return false;
    set_paused(c, false); /* so that the next pause is of these, too */
    for (int i = 0; i < change->list->cnt; i++) {
        const rd_kafka_topic_partition_t *one = &change->list->elems[i];
        int rc = kafka_parts_gain(&c->parts, one->topic, one->partition);
        if (rc < 0) gale_stop(c->client.out, rc, "kafka: there is no room for another partition");
    }
    kafka_client_well(&c->client);
    return true;
}

static kafka_part *part_of(kafka_consumer *c, const rd_kafka_message_t *message) {
    return message->rkt ? kafka_parts_find(&c->parts, rd_kafka_topic_name(message->rkt), message->partition) : NULL;
}

/* What was read of those that leave, and not given to the spout, the next owner reads. */
static void begin_leaving(kafka_consumer *c, const kafka_change *change) {
    size_t kept = c->at;
    for (int i = 0; i < change->list->cnt; i++) {
        const rd_kafka_topic_partition_t *one = &change->list->elems[i];
        kafka_part *part = kafka_parts_find(&c->parts, one->topic, one->partition);
        if (part) part->leaving = true;
    }
    for (size_t i = c->at; i < c->count; i++) {
        const kafka_part *part = part_of(c, c->stash[i]);
        if (part && part->leaving)
            rd_kafka_message_destroy(c->stash[i]);
        else
            c->stash[kept++] = c->stash[i];
    }
    c->count = kept;
}

static void lose(kafka_consumer *c) {
    for (size_t i = 0; i < c->parts.count; i++) {
        kafka_part *part = &c->parts.list[i];
        if (!part->leaving) continue;
        c->lost(c->user, kafka_parts_source(&c->parts, part));
        kafka_part_lose(part);
    }
}

/* False: it waits. */
static bool leave(kafka_consumer *c, kafka_change *change) {
    bool gone = rd_kafka_assignment_lost(c->client.rk);
    if (change->phase == KAFKA_ASKED) {
        begin_leaving(c, change);
        change->phase = KAFKA_LEAVING;
        change->until = now(c) + KAFKA_LEAVE;
    }
    if (change->phase == KAFKA_LEAVING) {
        if (!gone && kafka_parts_leave_something(&c->parts) && now(c) < change->until) return false;
        change->phase = KAFKA_TELLING;
        change->until = now(c) + KAFKA_TELL;
        if (!gone) tell(c, true);
    }
    if (!gone && c->telling && now(c) < change->until) return false;
    lose(c);
    return true;
}

static void end_change(kafka_consumer *c) {
    kafka_change *change = c->changes;
    c->changes = change->next;
    rd_kafka_topic_partition_list_destroy(change->list);
    free(change);
}

/* Those that can be carried out now. */
static void settle(kafka_consumer *c) {
    while (c->changes) {
        kafka_change *change = c->changes;
        if (!(change->gains ? gain(c, change) : leave(c, change))) return;
        carry_out(c, change);
        end_change(c);
    }
}

/* --- What it is told ------------------------------------------------------------------------------------------------- */

/* `next` is asked behind it. */
static int hear_bell(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    kafka_client_heard(user);
    return 0;
}

static int hear_tick(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    kafka_consumer *c = user;
    int64_t at = now(c);
    (void)events;
    if (at - c->looked >= c->alive) keep_alive(c);
    settle(c);
    tell_if_due(c);
    (void)gale_metric_note(c->lag, (double)kafka_parts_lag(&c->parts, c->client.rk));
    return gale_watch_set(out, watch, 0, at + (c->changes ? GALE_SECOND / 10 : c->often));
}

/* Without it there is no lag to be seen, and all else goes on. */
static void begin_lag(kafka_consumer *c) {
    gale_metric_options lag = GALE_METRIC_OPTIONS_INIT;
    lag.name = "kafka_lag";
    lag.kind = GALE_METRIC_GAUGE;
    lag.help = "Messages of the partitions that were not given to the topology yet";
    if (gale_metric_new(c->client.out, &lag, &c->lag) < 0) c->lag = NULL;
}

static int begin_tick(kafka_consumer *c) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.at = now(c) + GALE_SECOND / 10;
    options.always = true;
    options.call = hear_tick;
    options.user = c;
    return gale_watch_new(c->client.out, &options, &c->tick);
}

/* A tenth of what the group allows; not longer than it may take to hear of a change. */
static int64_t read_alive(const rd_kafka_conf_t *conf) {
    char text[32];
    size_t size = sizeof text;
    long long ms = 0;
    if (rd_kafka_conf_get(conf, "max.poll.interval.ms", text, &size) == RD_KAFKA_CONF_OK) ms = atoll(text);
    return ms && ms < KAFKA_ALIVE / GALE_MILLISECOND * 10 ? ms * GALE_MILLISECOND / 10 : KAFKA_ALIVE;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

int kafka_consumer_open(kafka_consumer *consumer, const kafka_settings *given, const kafka_reading *reading,
                        const gale_context *context, gale_collector *out, gale_error *error) {
    kafka_consumer *c = consumer;
    c->reading = reading;
    c->begun_ms = kafka_moment_now();
    kafka_client_init(&c->client, given, context, out);
    kafka_parts_init(&c->parts, context);
    rd_kafka_conf_t *conf = kafka_settings_conf(given, error);
    if (!conf) return error->code;
    c->alive = read_alive(conf);
    c->every = (int64_t)(reading->commit_every * 1e9);
    c->often = least(GALE_SECOND, least(c->alive, c->every > GALE_SECOND / 100 ? c->every : GALE_SECOND / 100));
    c->looked = c->told = now(c);
    c->client.statistics = hear_statistics;
    c->client.busy = true;
    rd_kafka_conf_set_rebalance_cb(conf, hear_change);
    rd_kafka_conf_set_offset_commit_cb(conf, hear_commit);
    int rc = kafka_client_open(&c->client, RD_KAFKA_CONSUMER, conf, hear_bell, false, error);
    if (rc == 0 && begin_tick(c) < 0) rc = gale_error_set(error, GALE_IO, "kafka: its timer cannot be made");
    if (rc < 0) return rc;
    begin_lag(c);
    if (kafka_fixed_is(reading, context)) return kafka_fixed_open(&c->fixed, c->client.rk, reading, context, error);
    rd_kafka_resp_err_t err = rd_kafka_subscribe(c->client.rk, reading->topics);
    return err ? gale_error_set(error, GALE_INVALID, "topics: %s", rd_kafka_err2str(err)) : 0;
}

/* --- For the spout --------------------------------------------------------------------------------------------------- */

void kafka_consumer_pass(kafka_consumer *c) {
    rd_kafka_message_destroy(c->stash[c->at++]);
}

/* What is no message: the end of a partition, or an error. */
static void hear(kafka_consumer *c, const rd_kafka_message_t *message, kafka_part *part) {
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        if (part) part->at_end = true;
        if (part && part->next < 0) part->next = message->offset;
        kafka_client_well(&c->client);
        return;
    }
    kafka_client_unwell(&c->client, message->rkt ? rd_kafka_topic_name(message->rkt) : NULL,
                        rd_kafka_message_errstr(message));
}

int kafka_consumer_begin(kafka_consumer *c) {
    gale_error error = GALE_ERROR_INIT;
    if (!c->fixed.mine || c->fixed.begun) return 0;
    int rc = kafka_fixed_begin(&c->fixed, c->client.rk, c->client.queue, c->reading, &c->parts, &error);
    if (rc < 0) gale_report(c->client.out, error.text);
    return rc;
}

const rd_kafka_message_t *kafka_consumer_peek(kafka_consumer *c, kafka_part **ret_part) {
    for (;;) {
        if (c->at == c->count) {
            set_paused(c, false);
            look(c, 0);
            settle(c);
            if (c->at == c->count) return NULL;
        }
        const rd_kafka_message_t *message = c->stash[c->at];
        kafka_part *part = *ret_part = part_of(c, message);
        if (!message->err && part && !part->leaving) {
            part->at_end = false;
            kafka_client_well(&c->client);
            return message;
        }
        if (message->err) hear(c, message, part);
        kafka_consumer_pass(c);
    }
}

void kafka_consumer_answer(kafka_consumer *c, uint32_t source, int64_t place) {
    const kafka_part *part = kafka_parts_at(&c->parts, source);
    if (part) (void)gale_positions_done(part->positions, place);
}

bool kafka_consumer_at_end(const kafka_consumer *c) {
    return c->at == c->count && !c->changes && kafka_parts_at_end(&c->parts);
}

/* --- The end --------------------------------------------------------------------------------------------------------- */

/* Until `done`, or the time is over. What is asked for is carried out at once. */
static void serve_until(kafka_consumer *c, bool (*done)(kafka_consumer *c), int64_t until) {
    while (!done(c) && now(c) < until) {
        look(c, 50);
        pass_all(c);
        for (kafka_change *change = c->changes; change; change = change->next)
            if (change->phase != KAFKA_TELLING) change->until = 0;
        settle(c);
    }
}

static bool was_told(kafka_consumer *c) {
    if (may_tell(c)) tell(c, false);
    return !c->telling && (!by_and_by(c) || !kafka_parts_have_news(&c->parts));
}

static bool is_closed(kafka_consumer *c) {
    return rd_kafka_consumer_closed(c->client.rk);
}

void kafka_consumer_close(kafka_consumer *c) {
    if (c->client.queue) {
        int64_t until = now(c) + KAFKA_TELL;
        c->closing = true;
        pass_all(c);
        serve_until(c, was_told, until);
        rd_kafka_error_t *error = rd_kafka_consumer_close_queue(c->client.rk, c->client.queue);
        if (error)
            rd_kafka_error_destroy(error);
        else
            serve_until(c, is_closed, now(c) + KAFKA_TELL);
        pass_all(c);
    }
    while (c->changes) end_change(c);
    if (c->tick) (void)gale_watch_free(c->client.out, c->tick);
    kafka_fixed_close(&c->fixed);
    kafka_parts_free(&c->parts);
    kafka_client_close(&c->client);
}
