/* What a client sends and gale itself reads: a target, headers, a body, each up to a NUL. The target's pieces lie in it, are UTF-8, have no
 * control character and are not longer than it; who has no token is not let in, whatever else he says; a body is a text or a refusal. */
#include "fuzz.h"

#include "base/secret.h"
#include "base/utf8.h"
#include "serve/access.h"
#include "serve/exposition.h"
#include "serve/redact.h"
#include "serve/routes.h"

#include <ctype.h>

static const char token[] = "0123456789abcdef-token";

static gale_str next(gale_str *rest) {
    const char *end = rest->size ? memchr(rest->data, 0, rest->size) : NULL;
    gale_str piece = { rest->data, end ? (size_t)(end - rest->data) : rest->size };
    size_t taken = piece.size + (end != NULL);
    *rest = (gale_str){ rest->data + taken, rest->size - taken };
    return piece;
}

static size_t check_piece(const gx_target *target, gale_str piece) {
    expect(piece.data >= target->bytes && piece.data + piece.size <= target->bytes + target->size);
    expect(gx_utf8_valid(piece.data, piece.size));
    for (size_t i = 0; i < piece.size; i++) expect(!iscntrl((unsigned char)piece.data[i]));
    return piece.size;
}

static void check_target(const gx_target *target, gale_str text) {
    gale_str names[GX_CALL_NAMES];
    const char *allow;
    size_t sum = 0;
    expect(target->size <= text.size && text.size <= GX_TARGET_SIZE);
    for (uint32_t i = 0; i < target->segment_count; i++) {
        sum += check_piece(target, target->segments[i]);
        expect(!gx_str_is(target->segments[i], ".") && !gx_str_is(target->segments[i], ".."));
    }
    for (uint32_t i = 0; i < target->pair_count; i++)
        sum += check_piece(target, target->pairs[i].name) + check_piece(target, target->pairs[i].value);
    expect(sum == target->size);
    (void)gx_routes_find(target, false, names, &allow);
    (void)gx_routes_find(target, true, names, &allow);
}

/* Only what has the token in it, as it is or as base64, may be let in. */
static bool may_know(const gx_access_request *r) {
    gale_str texts[] = { r->query_token, r->cookie, r->authorization };
    if (r->authorization.size > 6) return true; /* base64 hides it: the tests look at that */
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].size && memmem(texts[i].data, texts[i].size, token, sizeof token - 1)) return true;
    return false;
}

static void check_access(gx_access_request request, bool loopback) {
    const gx_access rules = { gx_str(token), loopback, "gale_token_8080" };
    for (int changes = 0; changes < 2; changes++) {
        request.changes = changes;
        gx_access_verdict verdict = gx_access_judge(&rules, &request);
        expect((verdict.status == 0) == (verdict.why == NULL));
        expect(verdict.status != 0 || may_know(&request));
        expect(verdict.status != 0 || verdict.by != GX_ACCESS_BY_NOBODY);
        expect(verdict.status || !loopback || !request.host.size || gx_access_is_loopback_host(request.host));
    }
}

static void check_body(gx_call *call) {
    gx_http_reply reply = { .status = 200, .body = GX_BUF_INIT(NULL) };
    char text[32];
    uint64_t number;
    bool found = gx_call_text(call, &reply, "level", text, sizeof text);
    expect(found == (reply.status == 200));
    expect(!found || gx_utf8_valid(text, strlen(text)));
    reply.status = 200;
    found = gx_call_number(call, &reply, "seconds", 7, 1, 600, &number);
    expect(found == (reply.status == 200) && (!found || (number >= 1 && number <= 600)));
    expect(gx_utf8_valid(reply.body.data ? reply.body.data : "", reply.body.size));
    gx_buf_fini(&reply.body);
}

static void check_redaction(gale_str key, gale_str text) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&out);
    gale_value value = gale_string(text.data, text.size);
    gx_redact_value(&json, key, &value);
    expect(!gx_secret_is_key(key) || (out.size == 5 && memcmp(out.data, "\"***\"", 5) == 0));
    gx_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_str rest = { (const char *)data, size }, target_text = next(&rest);
    gx_target target;
    const char *why;
    bool read = gx_target_read(target_text, &target, &why);
    expect(read == (why == NULL));
    if (read) check_target(&target, target_text);
    if (!read) target.pair_count = 0;
    gx_access_request request = { .host = next(&rest),
                                  .origin = next(&rest),
                                  .fetch_site = next(&rest),
                                  .cookie = next(&rest),
                                  .authorization = next(&rest),
                                  .content_type = next(&rest),
                                  .guard = next(&rest) };
    request.query_token = gx_target_query(&target, "token");
    check_access(request, true);
    check_access(request, false);
    (void)gx_exposition_is_open(request.content_type);
    check_redaction(request.origin, request.cookie);
    gx_call call = { .target = &target, .body = rest };
    check_body(&call);
    return 0;
}
