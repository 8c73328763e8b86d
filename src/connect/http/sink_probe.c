/* Whether a server is there that has hung up on a request while no other was answered: it is asked OPTIONS of its root, and any answer says so. A proxy
 * whose server is away hangs up on that, too. */
#include "connect/http/sink.h"

/* The address without its path and its query, which may be why. GALE_NO_MEMORY. */
static int set_root(CURL *easy, const char *url) {
    CURLU *root = curl_url();
    char *text = NULL;
    bool is = root && !curl_url_set(root, CURLUPART_URL, url, 0) && !curl_url_set(root, CURLUPART_PATH, "/", 0) &&
              !curl_url_set(root, CURLUPART_QUERY, NULL, 0) && !curl_url_get(root, CURLUPART_URL, &text, 0);
    if (is) curl_easy_setopt(easy, CURLOPT_URL, text);
    curl_free(text);
    curl_url_cleanup(root);
    return is ? 0 : GALE_NO_MEMORY;
}

void http_sink_probe(http_sink *s, const http_batch *b) {
    char *url = NULL;
    if (s->probe) return;
    s->probe = http_exchange_new(NULL, 0, s->given->most_answer);
    if (!s->probe) return;
    CURL *easy = s->probe->easy;
    curl_easy_getinfo(b->exchange->easy, CURLINFO_EFFECTIVE_URL, &url);
    int rc = url ? set_root(easy, url) : GALE_NO_MEMORY;
    if (rc == 0) rc = http_access_apply(&s->given->access, &s->secrets, easy, &s->probe->headers);
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "OPTIONS");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, s->probe->headers);
    if (rc == 0) rc = http_client_start(&s->client, easy);
    if (rc == 0) return;
    http_exchange_free(s->probe);
    s->probe = NULL;
}

void http_sink_probed(http_sink *s, CURLcode code) {
    s->answers += http_exchange_is_answered(s->probe, code);
    http_exchange_free(s->probe);
    s->probe = NULL;
}

void http_sink_probe_end(http_sink *s) {
    if (!s->probe) return;
    http_client_stop(&s->client, s->probe->easy);
    http_exchange_free(s->probe);
    s->probe = NULL;
}
