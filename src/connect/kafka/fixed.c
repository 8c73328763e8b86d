#include "connect/kafka/fixed.h"

#include "connect/kafka/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- Members -------------------------------------------------------------------------------------------------------- */

int kafka_member_parse(const char *text, kafka_member *member, gale_error *error) {
    unsigned index, count;
    char more;
    *member = (kafka_member){ 0, 0 };
    if (!text) return 0;
    bool is = sscanf(text, "%5u/%5u%c", &index, &count, &more) == 2 && index && index <= count;
    if (!is || count > KAFKA_MEMBERS_MAX)
        return gale_error_set(error, GALE_INVALID, "member: '%s' is none: 2/3 is the second of three", text);
    *member = (kafka_member){ index - 1, count };
    return 0;
}

int kafka_member_of(const gale_context *context, kafka_member *member, gale_error *error) {
    gale_str text = gale_config_text(context->config, "gale.member", (gale_str){ NULL, 0 });
    char copy[32];
    *member = (kafka_member){ 0, 0 };
    if (!text.size) return 0;
    snprintf(copy, sizeof copy, "%.*s", (int)text.size, text.data);
    return kafka_member_parse(copy, member, error);
}

/* --- Which they are ------------------------------------------------------------------------------------------------- */

static int list_topic(kafka_fixed *fixed, const rd_kafka_metadata_topic_t *topic, kafka_member member,
                      const gale_context *context, gale_error *error) {
    uint32_t of_each = context->task_count, all = of_each * (member.count ? member.count : 1);
    if (topic->err)
        return gale_error_set(error, GALE_AGAIN, "kafka %s: %s", topic->topic, rd_kafka_err2str(topic->err));
    for (int i = 0; i < topic->partition_cnt; i++) {
        int32_t partition = topic->partitions[i].id;
        if (partition >= 0 && (uint32_t)partition % all == member.index * of_each + context->task_index)
            rd_kafka_topic_partition_list_add(fixed->mine, topic->topic, partition);
    }
    return 0;
}

static int ask_topic(kafka_fixed *fixed, rd_kafka_t *rk, const char *name, kafka_member member,
                     const gale_context *context, gale_error *error) {
    const struct rd_kafka_metadata *about = NULL;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, name, NULL);
    if (!topic) return gale_error_set(error, GALE_INVALID, "topics: %s is no name of one", name);
    rd_kafka_resp_err_t err = rd_kafka_metadata(rk, 0, topic, &about, KAFKA_FIXED_WAIT_MS);
    int rc = 0;
    if (err)
        rc = gale_error_set(error, GALE_AGAIN, "kafka: the partitions of %s are not known: %s", name,
                            rd_kafka_err2str(err));
    for (int i = 0; rc == 0 && i < about->topic_cnt; i++)
        rc = list_topic(fixed, &about->topics[i], member, context, error);
    if (about) rd_kafka_metadata_destroy(about);
    rd_kafka_topic_destroy(topic);
    return rc;
}

bool kafka_fixed_is(const kafka_reading *reading, const gale_context *context) {
    return context->durable || reading->member.count || reading->from.always;
}

int kafka_fixed_open(kafka_fixed *fixed, rd_kafka_t *rk, const kafka_reading *reading, const gale_context *context,
                     gale_error *error) {
    const rd_kafka_topic_partition_list_t *topics = reading->topics;
    int rc = 0;
    fixed->mine = rd_kafka_topic_partition_list_new(topics->cnt);
    for (int i = 0; rc == 0 && i < topics->cnt; i++) {
        const char *name = topics->elems[i].topic;
        rc = *name == '^'
                 ? gale_error_set(error, GALE_INVALID,
                                  "topics: %s is a pattern; fixed partitions are of topics that are known", name)
                 : ask_topic(fixed, rk, name, reading->member, context, error);
    }
    if (rc < 0) return rc;
    return kafka_from_place(&reading->from, rk, fixed->mine, kafka_moment_now(), KAFKA_FIXED_WAIT_MS, error);
}

void kafka_fixed_close(kafka_fixed *fixed) {
    if (fixed->mine) rd_kafka_topic_partition_list_destroy(fixed->mine);
    *fixed = (kafka_fixed){ .mine = NULL };
}

#define WARN(parts, ...) gale_log((parts)->context->logger, GALE_LOG_WARN, (parts)->context->component, __VA_ARGS__)

/* Is the saved position one of this topic? Rows that are open of the one before have a name of their own then. Where the brokers do not say,
 * it is taken as it is. */
static bool is_of_topic(const kafka_parts *parts, const kafka_part *part, rd_kafka_t *rk, const char *reset) {
    int64_t low, high;
    if (rd_kafka_query_watermark_offsets(rk, part->topic, part->partition, &low, &high, KAFKA_FIXED_WAIT_MS))
        return true;
    if (part->next > high)
        WARN(parts,
             "kafka %s[%" PRId32 "]: the saved position %" PRId64 " lies behind the end %" PRId64
             ": the topic was deleted and made again since, or cut; it is read from its %s message",
             part->topic, part->partition, part->next, high, reset);
    else if (part->next < low)
        WARN(parts,
             "kafka %s[%" PRId32 "]: the saved position %" PRId64 " lies before the first message %" PRId64
             ": what was between them is gone; it is read from its %s message",
             part->topic, part->partition, part->next, low, reset);
    else if (part->identity == KAFKA_IS_OTHER)
        WARN(parts,
             "kafka %s[%" PRId32 "]: message %" PRId64
             ", the last that was read, is another one now: the topic was deleted and made again since, or cut; it is "
             "read from its %s message",
             part->topic, part->partition, part->last, reset);
    return part->next >= low && part->next <= high && part->identity != KAFKA_IS_OTHER;
}

/* Where it goes on, or begins anew. */
static int go_on(rd_kafka_topic_partition_t *one, rd_kafka_t *rk, const char *reset, kafka_parts *parts) {
    kafka_part *part = kafka_parts_find(parts, one->topic, one->partition);
    part->at_end = false;
    if (part->next < 0) return 0;
    one->offset = part->next;
    if (is_of_topic(parts, part, rk, reset)) return 0;
    one->offset = strcmp(reset, "latest") == 0 ? RD_KAFKA_OFFSET_END : RD_KAFKA_OFFSET_BEGINNING;
    kafka_part_lose(part);
    return kafka_parts_gain(parts, one->topic, one->partition);
}

int kafka_fixed_begin(kafka_fixed *fixed, rd_kafka_t *rk, rd_kafka_queue_t *queue, const kafka_reading *reading,
                      kafka_parts *parts, gale_error *error) {
    kafka_identity_compare(parts, rk, queue, KAFKA_FIXED_WAIT_MS);
    for (int i = 0; i < fixed->mine->cnt; i++) {
        rd_kafka_topic_partition_t *one = &fixed->mine->elems[i];
        int rc = kafka_parts_gain(parts, one->topic, one->partition);
        if (rc == 0) rc = go_on(one, rk, kafka_from_reset(&reading->from), parts);
        if (rc < 0) return gale_error_set(error, rc, "kafka: there is no room for another partition");
    }
    rd_kafka_resp_err_t err = rd_kafka_assign(rk, fixed->mine);
    if (err) return gale_error_set(error, GALE_IO, "kafka: partitions: %s", rd_kafka_err2str(err));
    fixed->begun = true;
    return 0;
}

/* --- Checkpoints ---------------------------------------------------------------------------------------------------- */

/* How many partitions, and how many letters; of each partition its topic, number, and what is read next of it (-1: not known), the
 * last message that was taken (-1: none), and its hash. */
int kafka_fixed_save(const kafka_saves *saves, gale_saver *to) {
    const kafka_parts *parts = saves->parts;
    const gale_value counts[] = { gale_i64((int64_t)parts->count), gale_i64((int64_t)saves->letters->count) };
    int rc = gale_save(to, counts, 2);
    for (size_t i = 0; rc == 0 && i < parts->count; i++) {
        const kafka_part *part = &parts->list[i];
        const gale_value row[] = { gale_text(part->topic), gale_i64(part->partition), gale_i64(part->next),
                                   gale_i64(part->last), gale_i64((int64_t)part->hash) };
        rc = gale_save(to, row, 5);
    }
    if (rc == 0) rc = kafka_letters_save(saves->letters, to);
    return rc < 0 ? rc : gale_intake_save(saves->intake, to);
}

static int refuse(gale_collector *out, const char *what) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "kafka: what was saved of the spout %s", what);
    gale_report(out, text);
    return GALE_DAMAGED;
}

static bool is_part(const gale_value *row, size_t count) {
    return count == 5 && row[0].type == GALE_TYPE_STRING && row[0].size > 0 && row[0].size < 250 &&
           row[1].type == GALE_TYPE_I64 && row[1].as.i64 >= 0 && row[1].as.i64 <= INT32_MAX &&
           row[2].type == GALE_TYPE_I64 && row[2].as.i64 >= -1 && row[3].type == GALE_TYPE_I64 && row[3].as.i64 >= -1 &&
           row[4].type == GALE_TYPE_I64;
}

static int restore_part(kafka_parts *parts, gale_saved *from, size_t index, gale_collector *out) {
    const gale_value *row;
    size_t count;
    char topic[250];
    int rc = gale_saved_next(from, &row, &count);
    if (rc < 0) return rc;
    if (rc == 0 || !is_part(row, count)) return refuse(out, "has no such partition");
    snprintf(topic, sizeof topic, "%.*s", (int)row[0].size, row[0].as.string);
    int64_t next = row[2].as.i64, last = row[3].as.i64, hash = row[4].as.i64;
    rc = kafka_parts_gain(parts, topic, (int32_t)row[1].as.i64);
    if (rc < 0) return rc;
    if (parts->count != index + 1) return refuse(out, "has a partition twice");
    parts->list[index].next = next;
    parts->list[index].last = last;
    parts->list[index].hash = (uint64_t)hash;
    parts->list[index].at_end = true; /* until it is read again, if it is */
    return 0;
}

/* All before the first row that is open, or letter that is not written, is done. */
static void begin_row(void *user, uint32_t source, int64_t place) {
    const kafka_saves *saves = user;
    const kafka_part *part = kafka_parts_at(saves->parts, source);
    if (!part) return;
    kafka_letters_begin(saves->letters, part->positions, source, place);
    (void)gale_positions_start(part->positions, place);
    (void)gale_positions_begin(part->positions, place);
}

/* All behind them, up to what is read next, is done, too. */
static void begin_rest(const kafka_saves *saves) {
    for (size_t i = 0; i < saves->parts->count; i++) {
        const kafka_part *part = &saves->parts->list[i];
        kafka_letters_begin(saves->letters, part->positions, kafka_parts_source(saves->parts, part), INT64_MAX);
        if (part->next < 0 || gale_positions_start(part->positions, part->next) == 0) continue;
        if (gale_positions_begin(part->positions, part->next - 1) == 0)
            (void)gale_positions_done(part->positions, part->next - 1);
    }
}

/* A run that had come to its end runs nothing again: what has come since would seem to be done. */
static int check_end(const kafka_part *part, rd_kafka_t *rk, gale_collector *out) {
    char text[400];
    int64_t low, high;
    if (part->next < 0) return 0;
    if (rd_kafka_query_watermark_offsets(rk, part->topic, part->partition, &low, &high, KAFKA_FIXED_WAIT_MS)) return 0;
    bool is_other = part->identity == KAFKA_IS_OTHER;
    if (high == part->next && !is_other) return 0;
    snprintf(text, sizeof text,
             "kafka: the run had come to its end, and %s[%" PRId32 "] has %s since, from %" PRId64 " to %" PRId64
             ": begin anew, or without untilEnd",
             part->topic, part->partition,
             high > part->next && !is_other ? "grown" : "been deleted and made again, or cut,", part->next, high);
    gale_report(out, text);
    return GALE_STATE;
}

static bool are_counts(const gale_value *row, size_t count) {
    return count == 2 && row[0].type == GALE_TYPE_I64 && row[1].type == GALE_TYPE_I64 && row[0].as.i64 >= 0 &&
           row[1].as.i64 >= 0;
}

static int restore_letters(const kafka_saves *saves, size_t count, gale_saved *from) {
    if (count && !saves->letters->topic) {
        gale_report(saves->out,
                    "kafka: there are dead letters that are not written yet: deadLetters must say where to");
        return GALE_STATE;
    }
    int rc = kafka_letters_restore(saves->letters, count, from);
    return rc == GALE_DAMAGED ? refuse(saves->out, "has no such dead letter") : rc;
}

int kafka_fixed_restore(const kafka_saves *saves, gale_saved *from) {
    kafka_parts *parts = saves->parts;
    const gale_value *head;
    size_t count;
    int rc = gale_saved_next(from, &head, &count);
    if (rc < 0) return rc;
    if (rc == 0 || !are_counts(head, count)) return refuse(saves->out, "does not begin with its partitions");
    size_t parts_left = (size_t)head[0].as.i64, letters = (size_t)head[1].as.i64;
    rc = 0;
    for (size_t i = 0; rc == 0 && i < parts_left; i++) rc = restore_part(parts, from, i, saves->out);
    if (rc == 0) rc = restore_letters(saves, letters, from);
    if (rc == 0) rc = gale_intake_restore(saves->intake, from, begin_row, (void *)saves);
    if (rc == 0) begin_rest(saves);
    if (rc == 0 && gale_saved_is_end(from)) kafka_identity_compare(parts, saves->rk, saves->queue, KAFKA_FIXED_WAIT_MS);
    for (size_t i = 0; rc == 0 && gale_saved_is_end(from) && i < parts->count; i++)
        rc = check_end(&parts->list[i], saves->rk, saves->out);
    return rc;
}
