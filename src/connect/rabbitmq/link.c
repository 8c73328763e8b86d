#include "connect/rabbitmq/link.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#define LASTED (10 * GALE_SECOND) /* who was up for so long is tried anew soon */

/* --- Health ----------------------------------------------------------------------------------------------------------- */

void rmq_link_unwell(rmq_link *link, const char *why) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "rabbitmq %s", why);
    link->unwell = true;
    gale_health(link->out, text);
}

void rmq_link_well(rmq_link *link) {
    if (!link->unwell) return;
    link->unwell = false;
    gale_health(link->out, NULL);
}

/* --- Orders ----------------------------------------------------------------------------------------------------------- */

void rmq_link_flush(rmq_link *link) {
    rmq_worker_give(link->worker, &link->orders);
}

static void set_due(rmq_link *link, int64_t at) {
    link->due = at;
    (void)gale_watch_set(link->out, link->timer, 0, at);
}

static void try_later(rmq_link *link) {
    set_due(link, gale_context_now(link->context) + gale_backoff_next(&link->backoff, link->context));
}

/* The password is read each time: it may have been replaced. */
static void connect(rmq_link *link) {
    gale_error error = GALE_ERROR_INIT;
    char *password = rmq_settings_password(link->given, &error);
    rmq_note *order = password ? rmq_note_say(RMQ_CONNECT, link->session + 1, password) : NULL;
    gale_secret_free(password);
    if (!order) {
        rmq_link_unwell(link, password ? "out of memory" : error.text);
        try_later(link);
        return;
    }
    link->session++;
    set_due(link, 0);
    rmq_chain_add(&link->orders, order);
    rmq_link_flush(link);
}

static void go_down(rmq_link *link, bool counts, const char *why) {
    bool was_up = link->up;
    link->up = false;
    rmq_chain_free(&link->orders);
    rmq_link_unwell(link, why);
    if (was_up && gale_context_now(link->context) - link->since > LASTED) link->backoff = (gale_backoff){ 0 };
    try_later(link);
    if (was_up) link->ops->down(link->user, counts, why);
}

void rmq_link_fail(rmq_link *link, const char *why) {
    if (link->up) go_down(link, false, why);
}

/* Deliveries that were not ordered back are the broker's again when the connection goes; so a new one is made. */
void rmq_link_order(rmq_link *link, rmq_note *order) {
    if (!link->up) {
        rmq_note_free(order);
    } else if (!order) {
        go_down(link, false, "out of memory");
    } else {
        order->session = link->session;
        rmq_chain_add(&link->orders, order);
    }
}

/* --- News ------------------------------------------------------------------------------------------------------------- */

static void come_up(rmq_link *link) {
    link->up = true;
    link->since = gale_context_now(link->context);
    rmq_link_well(link);
    link->ops->up(link->user);
}

static void hear_blocked(rmq_link *link, const char *why) {
    if (*why)
        rmq_link_unwell(link, why);
    else
        rmq_link_well(link);
}

static void hear_note(rmq_link *link, rmq_note *note) {
    bool is_own = note->session == link->session && !link->due;
    if (is_own && note->kind > RMQ_BLOCKED) {
        link->ops->news(link->user, note);
        return;
    }
    if (is_own && note->kind == RMQ_UP) come_up(link);
    if (is_own && note->kind == RMQ_DOWN) go_down(link, !note->away, note->text);
    if (is_own && note->kind == RMQ_BLOCKED) hear_blocked(link, note->text);
    rmq_note_free(note);
}

static void hear_all(rmq_link *link) {
    rmq_chain news = { .first = NULL };
    rmq_worker_take(link->worker, &news);
    for (rmq_note *note; (note = rmq_chain_take(&news));) hear_note(link, note);
    rmq_link_flush(link);
}

static int hear_bell(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    hear_all(user);
    return 0;
}

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    rmq_link *link = user;
    (void)out, (void)watch, (void)events;
    if (link->due) connect(link);
    return 0;
}

void rmq_link_wait(rmq_link *link, int ms) {
    struct pollfd bell = { .fd = rmq_worker_bell(link->worker), .events = POLLIN };
    if (link->due && link->due <= gale_context_now(link->context)) connect(link);
    rmq_link_flush(link);
    (void)poll(&bell, 1, ms);
    hear_all(link);
}

/* --- The whole -------------------------------------------------------------------------------------------------------- */

static int hang_bell(rmq_link *link, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.fd = rmq_worker_bell(link->worker);
    options.events = GALE_WATCH_READ;
    options.always = true;
    options.call = hear_bell;
    options.user = link;
    int rc = gale_watch_new(link->out, &options, &link->bell);
    return rc < 0 ? gale_error_set(error, rc, "rabbitmq: its news cannot be watched: %s", gale_error_text(rc)) : 0;
}

static int set_timer(rmq_link *link, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.at = link->due = gale_context_now(link->context);
    options.always = true;
    options.call = hear_timer;
    options.user = link;
    int rc = gale_watch_new(link->out, &options, &link->timer);
    return rc < 0 ? gale_error_set(error, rc, "rabbitmq: a timer cannot be made: %s", gale_error_text(rc)) : 0;
}

int rmq_link_open(rmq_link *link, const rmq_settings *given, const rmq_link_ops *ops, void *user,
                  const rmq_worker_ops *worker_ops, void *worker_user, const gale_context *context, gale_collector *out,
                  gale_error *error) {
    char name[200];
    *link = (rmq_link){ .given = given, .context = context, .out = out, .ops = ops, .user = user };
    snprintf(name, sizeof name, "gale %s/%s/%" PRIu32, context->topology, context->component, context->task_index);
    char *password = rmq_settings_password(given, error); /* a file that is not there is told at once */
    if (!password) return error->code;
    gale_secret_free(password);
    int rc = rmq_worker_start(given, name, worker_ops, worker_user, &link->worker, error);
    if (rc == 0) rc = hang_bell(link, error);
    return rc < 0 ? rc : set_timer(link, error);
}

/* What the tasks before the end have ordered is carried out. */
void rmq_link_close(rmq_link *link) {
    if (!link->worker) return;
    rmq_link_flush(link);
    if (link->bell) (void)gale_watch_free(link->out, link->bell);
    if (link->timer) (void)gale_watch_free(link->out, link->timer);
    rmq_worker_end(link->worker);
    rmq_chain_free(&link->orders);
    link->worker = NULL;
}
