#include "cli/event_log.h"

#include "base/log.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/os/fate.h"
#include "base/os/file.h"
#include "base/str.h"
#include "topology/builder.h"
#include "tuple/json.h"

#include <gale/clock.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FULL = 64 << 10 };

/* --- What is wanted ----------------------------------------------------------------------------------------------- */

typedef struct choice {
    const gx_component *component;
    double percent;
} choice;

static const gx_component *find(const gale_topology *topology, gale_str name) {
    for (uint32_t i = 0; i < topology->component_count; i++)
        if (gx_str_is(name, topology->components[i]->name)) return topology->components[i];
    return NULL;
}

static int refuse_component(const gale_topology *topology, gale_str name, gale_error *error) {
    char hint[160];
    gx_nearest nearest = gx_nearest_to(name);
    for (uint32_t i = 0; i < topology->component_count; i++)
        gx_nearest_offer(&nearest, gx_str(topology->components[i]->name));
    return gale_error_set(error, GALE_NOT_FOUND, "--log-events: there is no component '%.*s'%s", GX_STR(name),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int read_percent(const char *text, double *ret_percent, gale_error *error) {
    double percent;
    if (!gx_number_read(gx_str(text), &percent) || !(percent > 0 && percent <= 100))
        return gale_error_set(error, GALE_INVALID, "--log-events: a percentage is above 0 and at most 100, not '%s'",
                              text);
    *ret_percent = percent;
    return 0;
}

/* "split" or "split=10"; a component whose own name holds a '=' can be named too. */
static int read_choice(const char *word, const gale_topology *topology, choice *ret_choice, gale_error *error) {
    gale_str name = gx_str(word);
    const char *equals = strrchr(word, '=');
    choice made = { find(topology, name), 100 };
    if (!made.component && equals) {
        name.size = (size_t)(equals - word);
        made.component = find(topology, name);
    }
    if (!made.component) return refuse_component(topology, name, error);
    int rc = name.data[name.size] ? read_percent(equals + 1, &made.percent, error) : 0;
    if (rc == 0) *ret_choice = made;
    return rc;
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

static void break_off(gx_event_log *log, const gale_error *why) {
    if (!log->broken.code) log->broken = *why;
}

/* Events that go where nobody can find them are no log. Where it cannot be made anew, they go on to where they went. */
static void look_at_file(gx_event_log *log) {
    int fd, fate = gx_fate_of(log->fd, log->path, 0, NULL, NULL);
    if (fate < GX_FATE_REMOVED || gx_file_create(log->path, true, &fd, NULL) < 0) return;
    gale_log(&log->logger, GALE_LOG_WARN, NULL,
             "%s: was %s by somebody while it is written to: the events that it held are gone", log->path,
             fate == GX_FATE_REMOVED ? "removed" : "replaced with another file");
    gx_file_close(log->fd);
    log->fd = fd;
}

/* With the mutex held. */
static void write_lines(gx_event_log *log) {
    gale_error error = GALE_ERROR_INIT;
    if (log->lines.size && !log->broken.code) look_at_file(log);
    if (log->lines.failed) gale_error_set(&error, GALE_NO_MEMORY, "no memory for a line of the event log");
    if (!error.code && !log->broken.code && log->lines.size)
        gx_file_append(log->fd, log->lines.data, log->lines.size, log->path, &error);
    if (error.code) break_off(log, &error);
    gx_buf_reset(&log->lines);
}

static void add_time(gx_json *json, int64_t when) {
    time_t seconds = (time_t)(when / GALE_SECOND);
    struct tm utc;
    char text[40];
    gmtime_r(&seconds, &utc);
    size_t size = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    size += (size_t)snprintf(text + size, sizeof text - size, ".%09dZ", (int)(when % GALE_SECOND));
    gx_json_string(json, (gale_str){ text, size });
}

static void add_line(gx_buf *lines, const gale_event *event) {
    gx_json json = gx_json_to(lines);
    gx_json_open(&json, '{');
    gx_json_key(&json, gx_str("time"));
    add_time(&json, event->when);
    gx_json_key(&json, gx_str("component"));
    gx_json_string(&json, gx_str(event->component));
    gx_json_key(&json, gx_str("task"));
    gx_json_u64(&json, event->task);
    gx_json_key(&json, gx_str("stream"));
    gx_json_string(&json, gx_str(event->stream));
    if (event->tracked) {
        gx_json_key(&json, gx_str("id"));
        gx_json_u64(&json, event->message_id);
    }
    gx_json_key(&json, gx_str("values"));
    gx_json_open(&json, '[');
    for (size_t i = 0; i < event->count; i++) gx_json_value(&json, &event->values[i]);
    gx_json_close(&json, ']');
    gx_json_close(&json, '}');
    gx_buf_add_byte(lines, '\n');
}

static void on_event(void *user, const gale_event *event) {
    gx_event_log *log = user;
    pthread_mutex_lock(&log->mutex);
    if (!log->broken.code) add_line(&log->lines, event);
    if (log->lines.failed || log->lines.size >= FULL) write_lines(log);
    pthread_mutex_unlock(&log->mutex);
}

/* --- Its life ----------------------------------------------------------------------------------------------------- */

int gx_event_log_open(gx_event_log *log, const gx_words *wanted, const char *path, const gale_topology *topology,
                      const gale_logger *logger, gale_error *error) {
    choice made;
    for (size_t i = 0; i < wanted->count; i++) {
        int rc = read_choice(wanted->items[i], topology, &made, error);
        if (rc < 0) return rc;
        if (made.component->output_count == 0)
            gale_log(logger, GALE_LOG_WARN, NULL, "--log-events: '%s' has no outputs: it emits nothing to be logged",
                     made.component->name);
    }
    int fd;
    int rc = gx_file_create(path, true, &fd, error);
    if (rc < 0) return rc;
    *log = (gx_event_log){ .wanted = wanted, .path = path, .fd = fd, .logger = *logger };
    log->broken = (gale_error)GALE_ERROR_INIT;
    pthread_mutex_init(&log->mutex, NULL);
    return 0;
}

int gx_event_log_attach(gx_event_log *log, const gale_topology *topology, gale_runtime *runtime, gale_error *error) {
    for (size_t i = 0; i < log->wanted->count; i++) {
        choice made = { NULL, 0 };
        int rc = read_choice(log->wanted->items[i], topology, &made, error);
        if (rc < 0) return rc;
        rc = gale_runtime_log_events(runtime, made.component->name, made.percent, on_event, log);
        if (rc < 0) return gale_error_set(error, rc, "no event log: %s", gale_error_text(rc));
    }
    return 0;
}

int gx_event_log_flush(gx_event_log *log, bool *ret_news, gale_error *error) {
    pthread_mutex_lock(&log->mutex);
    write_lines(log);
    int rc = log->broken.code;
    *ret_news = rc && !log->told;
    if (*ret_news) *error = log->broken;
    log->told = rc != 0;
    pthread_mutex_unlock(&log->mutex);
    return rc;
}

int gx_event_log_reopen(gx_event_log *log, gale_error *error) {
    int fd;
    int rc = gx_file_create(log->path, true, &fd, error);
    if (rc < 0) return rc;
    pthread_mutex_lock(&log->mutex);
    write_lines(log);
    int before = log->fd;
    log->fd = fd;
    pthread_mutex_unlock(&log->mutex);
    return gx_file_close_written(before, log->path, error);
}

int gx_event_log_close(gx_event_log *log, gale_error *error) {
    int rc = gx_file_close_written(log->fd, log->path, error);
    gx_buf_fini(&log->lines);
    pthread_mutex_destroy(&log->mutex);
    return rc;
}
