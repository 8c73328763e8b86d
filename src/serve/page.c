#include "serve/page.h"

static const char index_text[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>gale</title><h1>gale</h1>\n"
    "<p>This run answers at <a href=\"/api/gale/v1/topology\">/api/gale/v1/topology</a>, \n"
    "<a href=\"/api/gale/v1/now\">now</a>, <a href=\"/api/gale/v1/history\">history</a>, \n"
    "<a href=\"/api/gale/v1/open-trees\">open-trees</a>, <a href=\"/api/gale/v1/checkpoints\">checkpoints</a>, and at "
    "\n"
    "<a href=\"/healthz\">/healthz</a>, <a href=\"/readyz\">/readyz</a>.</p></html>\n";

static const char no_token_text[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>gale</title><h1>gale</h1>\n"
    "<p>A token is needed: open the address that <code>gale run</code> has printed.</p></html>\n";

void gx_page_index(const gx_call *call, gx_http_reply *reply) {
    reply->type = "text/html; charset=utf-8";
    reply->status = call->known ? 200 : 401;
    gx_buf_add_text(&reply->body, call->known ? index_text : no_token_text);
}
