/* A made-up access log: gale_access_log_spout. Visitors come again and again, some far more often than others; two of
 * them share each address and differ in their agent. The log's clock moves evenly; one line in fifty is late, one in a
 * hundred is there twice, one in a thousand is cut off, as when a disk was full. Everything follows from the seed. */
#include "base/buf.h"
#include "base/random.h"
#include "kit/civil.h"
#include "kit/define.h"
#include "kit/pace.h"
#include "kit/recall.h"
#include "kit/retry.h"

#include <gale/kit.h>

enum {
    DEFAULT_VISITORS = 1000,
    DEFAULT_LINES_A_MINUTE = 600,
    DEFAULT_LATE = 240,
    VISITORS_MAX = 1 << 20,
    LATE_MAX = 1000000,
    LATE_ONE_IN = 50,
    TWICE_ONE_IN = 100,
    CUT_ONE_IN = 1000,
    CUT_SIZE = 20 /* before the time: such a line is never taken for a whole one */
};

#define DEFAULT_START INT64_C(1767225600) /* 2026-01-01 00:00:00 UTC */
#define START_MAX INT64_C(4102444800)     /* 2100-01-01 */
#define MINUTES_MAX 1000000000            /* the log's clock begins anew after 1900 years: a year has four digits */

typedef struct maker {
    gx_instance instance;
    gale_access_log_spout_options options;
    gx_random random;
    gx_buf line;
    gx_retry retry;
    gx_pace pace;
    uint64_t made;
} maker;

static const char *const agents[] = {
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1.15",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)",
    "curl/8.8.0",
    "Feed\\\"Fetcher\\\"/1.0",
    "-",
};
static const char *const pages[] = {
    "/", "/about", "/blog/2026/storms", "/feed.xml", "/img/logo.png", "/search?q=gale"
};
static const char *const zones[] = { "+0000", "+0200", "-0530" };
static const int64_t ahead[] = { 0, 7200, -19800 };

#define COUNT_OF(table) (uint32_t)(sizeof(table) / sizeof((table)[0]))

static void spout_close(void *self) {
    maker *spout = self;
    gx_retry_fini(&spout->retry);
    gx_buf_fini(&spout->line);
    gx_define_instance_free(spout);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    maker *spout = gx_define_instance(context, sizeof *spout);
    if (!spout) return GALE_NO_MEMORY;
    spout->options = *(const gale_access_log_spout_options *)user;
    spout->random = gx_random_new(spout->options.seed, context->task_index);
    spout->line = (gx_buf)GX_BUF_INIT(&spout->instance.heap);
    gx_retry_init(&spout->retry, &spout->instance.heap, out, spout->options.max_attempts);
    gx_pace_init(&spout->pace, context);
    *ret_self = spout;
    return 0;
}

static bool one_in(maker *self, uint32_t n) {
    return gx_random_below(&self->random, n) == 0;
}

static void add_visitor(gx_buf *line, uint32_t visitor) {
    uint32_t address = visitor / 2;
    gx_buf_format(line, "10.%u.%u.%u - %s ", (address >> 16) & 255, (address >> 8) & 255, address & 255,
                  visitor % 50 == 7 ? "mia" : "-");
}

static void add_time(gx_buf *line, int64_t time, uint32_t zone) {
    static const char months[][4] = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
    };
    time += ahead[zone];
    int64_t second = time % 86400;
    gx_civil date = gx_civil_of(time / 86400);
    gx_buf_format(line, "[%02d/%s/%04d:%02d:%02d:%02d %s] ", date.day, months[date.month - 1], (int)date.year,
                  (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60), zones[zone]);
}

static void add_request(maker *self, gx_buf *line, uint32_t visitor) {
    gx_random *random = &self->random;
    const char *page = pages[gx_random_below(random, COUNT_OF(pages))];
    const char *agent = agents[(visitor / 2 + visitor % 2) % COUNT_OF(agents)];
    bool found = !one_in(self, 20);
    gx_buf_format(line, "\"GET %s HTTP/1.1\" %d ", page, found ? 200 : 404);
    if (found)
        gx_buf_format(line, "%u", 100 + gx_random_below(random, 50000));
    else
        gx_buf_add_byte(line, '-');
    gx_buf_format(line, " \"-\" \"%s\"", agent);
}

/* The product of two draws: low numbers come more often. */
static uint32_t draw_visitor(maker *self) {
    uint64_t a = gx_random_below(&self->random, self->options.visitors);
    uint64_t b = gx_random_below(&self->random, self->options.visitors);
    return (uint32_t)(a * b / self->options.visitors);
}

/* The clock of the log at the next line, without overflow however many there were. */
static int64_t log_time(const maker *self) {
    uint64_t a_minute = self->options.lines_a_minute;
    uint64_t minutes = self->made / a_minute, rest = self->made % a_minute;
    return self->options.start + (int64_t)(minutes % MINUTES_MAX * 60 + rest * 60 / a_minute);
}

static void write_line(maker *self) {
    if (one_in(self, TWICE_ONE_IN) && self->made) return; /* the last one once more */
    uint32_t visitor = draw_visitor(self);
    int64_t time = log_time(self);
    if (one_in(self, LATE_ONE_IN)) time -= 1 + gx_random_below(&self->random, self->options.late_seconds);
    gx_buf_reset(&self->line);
    add_visitor(&self->line, visitor);
    add_time(&self->line, time, gx_random_below(&self->random, COUNT_OF(zones)));
    add_request(self, &self->line, visitor);
    if (one_in(self, CUT_ONE_IN) && self->line.size > CUT_SIZE) self->line.size = CUT_SIZE;
}

/* Writes a line and takes a slot for it. What was drawn is put back when memory is out. */
static int make_line(maker *self, uint32_t *ret_id) {
    gx_random before = self->random;
    write_line(self);
    gale_str line = { self->line.data, self->line.size }; /* ASCII */
    int rc = self->line.failed ? GALE_NO_MEMORY : gx_retry_add(&self->retry, line, true, self->made + 1, ret_id);
    if (rc < 0)
        self->random = before;
    else
        self->made++;
    return rc;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    maker *spout = self;
    bool ended = spout->options.lines && spout->made == spout->options.lines;
    if (ended && !gx_retry_waiting(&spout->retry)) return GALE_NEXT_DONE;
    if (!gx_pace_ready(&spout->pace, &wait->until)) return GALE_NEXT_UNTIL;
    uint32_t id;
    if (!gx_retry_take(&spout->retry, &id)) {
        int rc = make_line(spout, &id);
        if (rc < 0) return rc;
    }
    int rc = gx_retry_emit(&spout->retry, out, id);
    if (rc == GALE_NEXT_EMITTED) gx_pace_step(&spout->pace);
    return rc;
}

static void spout_ack(void *self, uint64_t message_id) {
    gx_retry_ack(&((maker *)self)->retry, message_id);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    gx_retry_fail(&((maker *)self)->retry, message_id, failure);
}

/* --- What lasts: where it is, the last line, which may come twice, and the lines on their way ------------------------- */

static int spout_save(void *self, gale_saver *to) {
    const maker *spout = self;
    const gale_value record[6] = {
        gale_i64((int64_t)spout->random.state), gale_i64((int64_t)spout->random.gamma),
        gale_i64((int64_t)spout->made),         gale_i64(spout->pace.due),
        gale_i64(spout->pace.fraction),         gale_bytes(spout->line.data, spout->line.size)
    };
    int rc = gale_save(to, record, 6);
    return rc < 0 ? rc : gx_retry_save(&spout->retry, to);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    maker *spout = self;
    gx_recall recall = { from, out, "access log spout", spout->instance.context, 0 };
    const gale_value *v;
    int rc = gx_recall_one(&recall, "iininy", &v);
    if (rc < 0) return rc;
    if (!(v[1].as.i64 & 1)) return gx_recall_refuse(&recall, "has a state of random numbers that is none");
    spout->random = (gx_random){ (uint64_t)v[0].as.i64, (uint64_t)v[1].as.i64 };
    spout->made = (uint64_t)v[2].as.i64;
    gx_pace_resume(&spout->pace, v[3].as.i64, (uint32_t)v[4].as.i64);
    gx_buf_reset(&spout->line);
    gx_buf_add(&spout->line, v[5].as.bytes, v[5].size);
    return spout->line.failed ? GALE_NO_MEMORY : gx_retry_recall(&spout->retry, &recall);
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .save = spout_save,
    .restore = spout_restore,
};

static const gale_spout_ops ops = {
    .size = sizeof(gale_spout_ops),
    .name = "access log spout",
    .open = spout_open,
    .next = spout_next,
    .ack = spout_ack,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};

static int check(const gale_access_log_spout_options *made, gale_error *error) {
    if (made->visitors > VISITORS_MAX)
        return gale_error_set(error, GALE_INVALID, "access log spout: visitors is %u, at most %d", made->visitors,
                              VISITORS_MAX);
    if (made->late_seconds > LATE_MAX)
        return gale_error_set(error, GALE_INVALID, "access log spout: late_seconds is %u, at most %d",
                              made->late_seconds, LATE_MAX);
    if (made->start < 2 * LATE_MAX || made->start > START_MAX)
        return gale_error_set(error, GALE_INVALID, "access log spout: start is %lld, must be %d to %lld",
                              (long long)made->start, 2 * LATE_MAX, (long long)START_MAX);
    return 0;
}

int gale_access_log_spout(const gale_access_log_spout_options *options, gale_spout *ret_spout, gale_error *error) {
    static const gale_output outputs[] = { { NULL, "line" } };
    if (!ret_spout) return gx_define_nowhere("access log spout", error);
    gale_access_log_spout_options made;
    int rc = gx_options_take(&made, sizeof made, options, "access log spout: options", error);
    if (rc < 0) return rc;
    if (!made.visitors) made.visitors = DEFAULT_VISITORS;
    if (!made.lines_a_minute) made.lines_a_minute = DEFAULT_LINES_A_MINUTE;
    if (!made.late_seconds) made.late_seconds = DEFAULT_LATE;
    if (!made.start) made.start = DEFAULT_START;
    if ((rc = check(&made, error)) < 0) return rc;
    void *user = gx_define_user(&made, sizeof made, "access log spout", error);
    if (!user) return GALE_NO_MEMORY;
    *ret_spout = gx_define_spout(&ops, user, outputs, 1);
    return 0;
}
