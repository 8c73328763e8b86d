#include "connect/nats/link.h"

#include "connect/nats/library.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

void nats_link_unwell(nats_link *link, const char *about, const char *why) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "%s: %s%s%s", link->given->where, about ? about : "", about ? ": " : "", why);
    link->unwell = true;
    gale_health(link->out, text);
}

void nats_link_well(nats_link *link) {
    if (!link->unwell || link->lame) return;
    link->unwell = false;
    gale_health(link->out, NULL);
}

/* --- News ----------------------------------------------------------------------------------------------------------------- */

static void wait_until(nats_link *link, int64_t at) {
    link->retry_at = at;
    (void)gale_watch_set(link->out, link->watch, GALE_WATCH_READ, at);
}

static void be_down(nats_link *link) {
    bool counts = link->up && !link->lame && link->news.hung_up;
    link->up = link->lame = false;
    nats_link_unwell(link, NULL, link->news.words);
    link->ops->down(link->user, counts, link->news.words);
    wait_until(link, gale_context_now(link->context) + gale_backoff_next(&link->backoff, link->context));
}

static void be_up(nats_link *link) {
    link->up = true;
    link->backoff.tries = 0;
    nats_link_well(link);
    link->ops->up(link->user, &link->news.about);
}

static void be_lame(nats_link *link) {
    link->lame = true;
    nats_link_unwell(link, NULL, "the server says that it ends soon (lame duck mode)");
}

static void say_dropped(nats_link *link) {
    char text[NATS_WORDS];
    snprintf(text, sizeof text, "%s: %" PRIu64 " messages came that nobody had asked for, and are left out",
             link->given->where, link->news.dropped);
    gale_report(link->out, text);
}

/* What came before a connection was lost is heard before. */
static void hear(nats_link *link) {
    nats_news *news = &link->news;
    nats_wire_hear(link->wire, news);
    link->heard_at = gale_context_now(link->context);
    for (size_t i = 0; i < news->count; i++) link->ops->message(link->user, news->messages[i]);
    for (size_t i = 0; i < news->refusal_count; i++) link->ops->refused(link->user, &news->refusals[i]);
    news->count = news->refusal_count = news->bytes = 0;
    if (news->nobody) link->ops->nobody(link->user);
    if (news->dropped) say_dropped(link);
    if (news->down) be_down(link);
    if (news->up) be_up(link);
    if (news->looked) link->ops->looked(link->user, &news->about);
    if (news->lame) be_lame(link);
    nats_wire_flush(link->wire);
}

static void retry(nats_link *link) {
    if (!link->retry_at || gale_context_now(link->context) < link->retry_at) return;
    link->retry_at = 0;
    nats_wire_connect(link->wire);
}

static int hear_bell(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    nats_link *link = user;
    if (events & GALE_WATCH_READ) hear(link);
    retry(link);
    return gale_watch_set(out, watch, GALE_WATCH_READ, link->retry_at);
}

void nats_link_drive(nats_link *link, int wait_ms) {
    struct pollfd one = { .fd = nats_wire_bell(link->wire), .events = POLLIN };
    if (poll(&one, 1, wait_ms) > 0) hear(link);
    retry(link);
}

/* --- Life ----------------------------------------------------------------------------------------------------------------- */

static int hang_bell(nats_link *link, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.fd = nats_wire_bell(link->wire);
    options.events = GALE_WATCH_READ;
    options.always = true;
    options.call = hear_bell;
    options.user = link;
    int rc = gale_watch_new(link->out, &options, &link->watch);
    return rc < 0 ? gale_error_set(error, rc, "%s: its news cannot be watched: %s", link->given->where,
                                   gale_error_text(rc))
                  : 0;
}

int nats_link_open(nats_link *link, const nats_settings *given, nats_setup_fn *setup, const void *settings,
                   const gale_context *context, gale_collector *out, const nats_link_ops *ops, void *user,
                   gale_error *error) {
    *link = (nats_link){ .given = given, .context = context, .out = out, .ops = ops, .user = user };
    nats_library_hold();
    link->held = true;
    link->wire = nats_wire_new(given, setup, settings, error);
    int rc = link->wire ? hang_bell(link, error) : error->code;
    if (rc == 0) nats_wire_connect(link->wire);
    return rc;
}

void nats_link_close(nats_link *link) {
    if (link->watch) (void)gale_watch_free(link->out, link->watch);
    nats_wire_free(link->wire);
    nats_news_fini(&link->news);
    nats_spent_free(&link->spent);
    if (link->held) nats_library_release();
    link->wire = NULL;
    link->watch = 0;
    link->held = false;
}
