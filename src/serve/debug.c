#include "serve/debug.h"

#include "base/log.h"
#include "serve/member.h"
#include "tuple/json.h"

/* On the executor that emits. */
static void tell(void *user, const gale_event *event) {
    const gx_served *served = user;
    gx_buf line = GX_BUF_INIT(NULL);
    if (!gx_log_wanted(&served->logger, GALE_LOG_INFO)) return;
    gx_json json = gx_json_to(&line);
    gx_json_open(&json, '[');
    for (size_t i = 0; i < event->count; i++) gx_json_value(&json, &event->values[i]);
    gx_json_close(&json, ']');
    const char *text = gx_buf_text(&line);
    if (text) gale_log(&served->logger, GALE_LOG_INFO, event->component, "emits to %s: %s", event->stream, text);
    gx_buf_fini(&line);
}

static int set_one(gx_served *served, const gx_part *part, double percent) {
    int rc = gale_runtime_log_events(served->runtime, part->name, percent, tell, served);
    if (rc >= 0) gx_store_relaxed(&served->debug[part - served->parts.parts], (uint32_t)(percent * 1000));
    return rc;
}

int gx_debug_set(gx_served *served, const gx_part *part, double percent) {
    int rc = part ? set_one(served, part, percent) : GALE_OK;
    for (uint32_t i = 0; !part && rc >= 0 && i < served->parts.count; i++)
        if (served->parts.parts[i].built) rc = set_one(served, &served->parts.parts[i], percent);
    return rc;
}

double gx_debug_of(const gx_served *served, const gx_part *part) {
    return gx_load_relaxed(&served->debug[part - served->parts.parts]) / 1000.0;
}
