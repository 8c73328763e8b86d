/* The time that tuples carry: gale_event_time_bolt. In one task, and before the work is spread, so that what is late is
 * decided by the order of the input alone and not by how tasks happen to run. */
#include "kit/own_time.h"
#include "kit/recall.h"

#include <gale/kit.h>
#include <stdio.h>

enum { STREAM_ON_TIME, STREAM_LATE, STREAM_WATERMARK, STREAMS };

static const char who[] = "event time";

#define LATENESS_MAX 1000000000

typedef struct settings {
    gx_fields time;
    gx_fields output;
    int64_t lateness; /* ns */
    gale_output streams[STREAMS];
    char late_fields[GX_FIELDS_TEXT + 20];
} settings;

typedef struct clerk {
    gx_instance instance;
    const settings *given;
    int64_t newest;         /* ns; INT64_MIN before the first tuple */
    int64_t newest_seconds; /* of it, whole; the watermark's */
    int64_t told;           /* of these, what the watermark said last */
    int64_t late;
    uint64_t unheard; /* late tuples that nobody subscribed to */
    gx_field_places time_places, output_places;
    gale_value values[GX_FIELDS_MAX + 2];
} clerk;

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    if (context->task_count > 1) {
        gx_define_report(out, "%s: %u tasks of '%s' would each see a part of the times; it must be one", who,
                         context->task_count, context->component);
        return GALE_INVALID;
    }
    clerk *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->given = user;
    bolt->newest = bolt->newest_seconds = bolt->told = INT64_MIN;
    *ret_self = bolt;
    return 0;
}

static void bolt_cleanup(void *self) {
    const clerk *bolt = self;
    const gale_context *context = bolt->instance.context;
    if (bolt->unheard)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "%llu tuple%s more than %lld seconds late; who subscribes to the stream 'late' gets them",
                 (unsigned long long)bolt->unheard, bolt->unheard == 1 ? " was" : "s were",
                 (long long)(bolt->given->lateness / GALE_SECOND));
    gx_define_instance_free(self);
}

/* In whole seconds, which is exact for what goes by them: a window that ends at one has all that is on time when it is
 * passed, rounded down. It belongs to no line: it is not anchored, and the next one makes up for one that is lost. It
 * goes out before the tuple that moved it, which is never late by it. */
static int tell(clerk *bolt, gale_collector *out) {
    if (bolt->told == bolt->newest_seconds) return 0;
    int64_t lateness = bolt->given->lateness / GALE_SECOND;
    gale_value values[2] = { gale_i64(bolt->newest_seconds - lateness), gale_i64(bolt->newest_seconds) };
    int rc = gale_emit_unanchored(out, STREAM_WATERMARK, values, 2);
    if (rc >= 0) bolt->told = bolt->newest_seconds;
    return rc < 0 ? rc : 0;
}

static bool is_round(uint64_t count) {
    while (count % 10 == 0) count /= 10;
    return count == 1;
}

/* A run that follows its input has no end at which it could be told: so at once, and at 10, 100, 1,000... */
static void note_unheard(clerk *bolt, int64_t behind) {
    const gale_context *context = bolt->instance.context;
    long long allowed = bolt->given->lateness / GALE_SECOND;
    double late_by = (double)behind / 1e9;
    if (!is_round(++bolt->unheard)) return;
    if (bolt->unheard == 1)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "a tuple is %g second%s behind the newest, where latenessSeconds allows %lld, and is left out, as "
                 "all such "
                 "will be; subscribe to the stream 'late', or raise latenessSeconds",
                 late_by, late_by == 1 ? "" : "s", allowed);
    else
        gale_log(
            context->logger, GALE_LOG_WARN, context->component,
            "%llu tuples so far were more than %lld seconds late and left out, the last one by %g; subscribe to the "
            "stream 'late', or raise latenessSeconds",
            (unsigned long long)bolt->unheard, allowed, late_by);
}

static int emit_late(clerk *bolt, int64_t behind, gale_collector *out) {
    uint32_t count = bolt->given->output.count;
    bolt->values[count] = gx_own_time_value(behind);
    bolt->values[count + 1] = gale_i64(bolt->late + 1);
    int rc = gale_emit(out, STREAM_LATE, bolt->values, count + 2);
    if (rc < 0) return rc;
    bolt->late++;
    if (rc == 0) note_unheard(bolt, behind);
    return 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    clerk *bolt = self;
    int64_t time = 0;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_own_time_take(&bolt->given->time, &bolt->time_places, who, tuple, out, &time);
    if (rc >= 0) rc = gx_fields_take(&bolt->given->output, &bolt->output_places, who, tuple, out, bolt->values);
    if (rc < 0) return rc;
    if (time > bolt->newest) bolt->newest = time, bolt->newest_seconds = gx_own_time_seconds(time);
    if ((rc = tell(bolt, out)) < 0) return rc;
    if (bolt->newest - time > bolt->given->lateness) return emit_late(bolt, bolt->newest - time, out);
    rc = gale_emit(out, STREAM_ON_TIME, bolt->values, bolt->given->output.count);
    return rc < 0 ? rc : 0;
}

/* --- What lasts ------------------------------------------------------------------------------------------------------ */

static int bolt_save(void *self, gale_saver *to) {
    const clerk *bolt = self;
    const gale_value record[4] = { gale_i64(bolt->newest), gale_i64(bolt->told), gale_i64(bolt->late),
                                   gale_i64((int64_t)bolt->unheard) };
    return gale_save(to, record, 4);
}

/* A time, or none yet. */
static bool is_time(int64_t time) {
    return time == INT64_MIN || (time >= -GX_OWN_TIME_MAX && time <= GX_OWN_TIME_MAX);
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    clerk *bolt = self;
    gx_recall recall = { from, out, who, bolt->instance.context, 0 };
    const gale_value *v;
    int rc = gx_recall_one(&recall, "iinn", &v);
    if (rc < 0) return rc;
    if (!is_time(v[0].as.i64) || !is_time(v[1].as.i64)) return gx_recall_refuse(&recall, "has a time that is none");
    bolt->newest = v[0].as.i64;
    bolt->newest_seconds = bolt->newest == INT64_MIN ? INT64_MIN : gx_own_time_seconds(bolt->newest);
    bolt->told = v[1].as.i64;
    bolt->late = v[2].as.i64;
    bolt->unheard = (uint64_t)v[3].as.i64;
    return 0;
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 2, /* 1: the newest time in seconds */
    .save = bolt_save,
    .restore = bolt_restore,
};

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "event time bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

static int check(const gale_event_time_options *given, settings *made, gale_error *error) {
    const char *time = given->time ? given->time : "time";
    int rc = gx_fields_parse(time, "event time bolt: time", &made->time, error);
    if (rc >= 0 && made->time.count != 1)
        rc = gale_error_set(error, GALE_INVALID, "event time bolt: time names %u fields, must name one: '%s'",
                            made->time.count, time);
    if (rc >= 0) rc = gx_fields_parse(given->output, "event time bolt: output", &made->output, error);
    if (rc >= 0 && (given->lateness_seconds < 0 || given->lateness_seconds > LATENESS_MAX))
        rc = gale_error_set(error, GALE_INVALID, "event time bolt: lateness_seconds is %lld, must be 0 to %d",
                            (long long)given->lateness_seconds, LATENESS_MAX);
    made->lateness = rc >= 0 ? given->lateness_seconds * GALE_SECOND : 0;
    return rc;
}

int gale_event_time_bolt(const gale_event_time_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere("event time bolt", error);
    gale_event_time_options given;
    settings made = { .lateness = 0 };
    int rc = gx_options_take(&given, sizeof given, options, "event time bolt: options", error);
    if (rc >= 0) rc = check(&given, &made, error);
    if (rc < 0) return rc;
    settings *user = gx_define_user(&made, sizeof made, "event time bolt", error);
    if (!user) return GALE_NO_MEMORY;
    snprintf(user->late_fields, sizeof user->late_fields, "%s, behind, late", user->output.text);
    user->streams[STREAM_ON_TIME] = (gale_output){ NULL, user->output.text };
    user->streams[STREAM_LATE] = (gale_output){ "late", user->late_fields };
    user->streams[STREAM_WATERMARK] = (gale_output){ "watermark", "mark, newest" };
    *ret_bolt = gx_define_bolt(&ops, user, user->streams, STREAMS);
    return 0;
}
