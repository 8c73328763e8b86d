#include "serve/page.h"

#include "serve/page_files.h"

static const char no_token_text[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>gale</title><h1>gale</h1>\n"
    "<p>A token is needed: open the address that <code>gale run</code> has printed.</p></html>\n";

static void fill(gx_http_reply *reply, int file, const char *type) {
    reply->type = type;
    gx_buf_add(&reply->body, gx_page_files[file].bytes, gx_page_files[file].size);
}

/* A browser that is told to keep what it asked for without a version would show an old page some day. */
static void fill_part(const gx_call *call, gx_http_reply *reply, int file, const char *type) {
    reply->lasts = gx_target_query(call->target, "v").size > 0;
    fill(reply, file, type);
}

void gx_page_index(const gx_call *call, gx_http_reply *reply) {
    if (call->known) {
        fill(reply, GX_PAGE_INDEX, "text/html; charset=utf-8");
        return;
    }
    reply->status = 401;
    reply->type = "text/html; charset=utf-8";
    gx_buf_add_text(&reply->body, no_token_text);
}

void gx_page_script(const gx_call *call, gx_http_reply *reply) {
    fill_part(call, reply, GX_PAGE_SCRIPT, "text/javascript; charset=utf-8");
}

void gx_page_style(const gx_call *call, gx_http_reply *reply) {
    fill_part(call, reply, GX_PAGE_STYLE, "text/css; charset=utf-8");
}
