#include "wire/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

enum { HOST_MOST = 253 };

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

/* --- The server ------------------------------------------------------------------------------------------------------- */

static int read_path(wire_settings *settings, const char *path, gale_error *error) {
    size_t most = sizeof((struct sockaddr_un *)NULL)->sun_path - 1, size = strlen(path);
    if (!size) return gale_error_set(error, GALE_INVALID, "server: there is no path behind 'unix:'");
    if (size > most)
        return gale_error_set(error, GALE_INVALID, "server: the path of a UNIX socket has at most %zu bytes", most);
    settings->path = strdup(path);
    return settings->path ? 0 : no_memory(error);
}

/* A number from 1 to 65535, and nothing else. */
static bool read_port(const char *text, char port[WIRE_PORT_MAX]) {
    size_t size = strspn(text, "0123456789");
    if (!size || text[size] || size >= WIRE_PORT_MAX) return false;
    long number = strtol(text, NULL, 10);
    if (number < 1 || number > 65535) return false;
    snprintf(port, WIRE_PORT_MAX, "%ld", number);
    return true;
}

static int refuse_server(const char *server, gale_error *error) {
    return gale_error_set(error, GALE_INVALID,
                          "server: '%s' is none: host:port, [IPv6 address]:port, or unix:/path are", server);
}

/* Where the host ends, and what is behind its ":", or NULL. False: it is no host. */
static bool split(const char *server, gale_str *ret_host, const char **ret_port) {
    bool brackets = server[0] == '[';
    const char *end = brackets ? strchr(server, ']') : strchr(server, ':');
    *ret_host = (gale_str){ server, end ? (size_t)(end - server) : strlen(server) };
    if (brackets && !end) return false;
    if (brackets) *ret_host = (gale_str){ server + 1, ret_host->size - 1 };
    const char *behind = brackets ? end + 1 : end;
    if (behind && *behind && *behind != ':') return false;
    *ret_port = behind && *behind ? behind + 1 : NULL;
    return ret_host->size > 0 && ret_host->size <= HOST_MOST;
}

static bool is_host(gale_str host) {
    for (size_t i = 0; i < host.size; i++)
        if (host.data[i] <= ' ' || strchr("/@?#\177", host.data[i])) return false;
    return true;
}

int wire_settings_server(wire_settings *settings, const char *server, uint16_t port, gale_error *error) {
    gale_str host;
    const char *given = NULL;
    if (strncmp(server, "unix:", 5) == 0) return read_path(settings, server + 5, error);
    if (strchr(server, '@'))
        return gale_error_set(error, GALE_INVALID,
                              "server: it is a host and a port alone; who connects stands beside it");
    if (!split(server, &host, &given) || !is_host(host)) return refuse_server(server, error);
    snprintf(settings->port, sizeof settings->port, "%u", port);
    if (given && !read_port(given, settings->port)) return refuse_server(server, error);
    settings->host = strndup(host.data, host.size);
    return settings->host ? 0 : no_memory(error);
}

/* --- The rest --------------------------------------------------------------------------------------------------------- */

static int copy(char **to, const gale_args *args, const char *parameter, gale_error *error) {
    const char *text = gale_args_text(args, parameter);
    if (!text || !*text) return 0;
    *to = strdup(text);
    return *to ? 0 : no_memory(error);
}

static int copy_files(wire_settings *settings, const gale_args *args, gale_error *error) {
    int rc = copy(&settings->ca, args, "ca", error);
    if (rc == 0) rc = copy(&settings->certificate, args, "certificate", error);
    if (rc == 0) rc = copy(&settings->certificate_key, args, "certificateKey", error);
    return rc;
}

static int check_tls(const wire_settings *settings, const gale_args *args, gale_error *error) {
    static const char *const of_tls[] = { "ca", "certificate", "certificateKey", "verify" };
    if (settings->tls && settings->path)
        return gale_error_set(error, GALE_INVALID, "tls: a UNIX socket is spoken to without");
    for (size_t i = 0; !settings->tls && i < sizeof of_tls / sizeof *of_tls; i++)
        if (gale_args_given(args, of_tls[i]))
            return gale_error_set(error, GALE_INVALID, "%s: it is of TLS: with `tls: true`", of_tls[i]);
    if (settings->ca && !settings->verify)
        return gale_error_set(error, GALE_INVALID, "ca: nothing is looked at with `verify: false`");
    if (settings->certificate && !settings->certificate_key)
        return gale_error_set(error, GALE_INVALID, "certificate: its key is missing (certificateKey)");
    if (!settings->certificate && settings->certificate_key)
        return gale_error_set(error, GALE_INVALID, "certificateKey: its certificate is missing (certificate)");
    return 0;
}

static void name_place(wire_settings *settings, const char *what) {
    bool brackets = settings->host && strchr(settings->host, ':');
    if (settings->path)
        snprintf(settings->where, sizeof settings->where, "%s unix:%s", what, settings->path);
    else
        snprintf(settings->where, sizeof settings->where, "%s %s%.*s%s:%s", what, brackets ? "[" : "", 120,
                 settings->host, brackets ? "]" : "", settings->port);
}

int wire_settings_make(wire_settings *settings, const gale_args *args, const char *what, uint16_t port,
                       uint16_t tls_port, gale_error *error) {
    const char *server = gale_args_text(args, "server");
    *settings = (wire_settings){ .tls = gale_args_flag(args, "tls"),
                                 .verify = gale_args_flag(args, "verify"),
                                 .timeout = (int64_t)(gale_args_number(args, "timeout") * 1e9) };
    int rc = wire_settings_server(settings, server ? server : "", settings->tls ? tls_port : port, error);
    if (rc == 0) rc = copy_files(settings, args, error);
    if (rc == 0) rc = check_tls(settings, args, error);
    if (rc == 0) name_place(settings, what);
    return rc;
}

void wire_settings_free(wire_settings *settings) {
    free(settings->host);
    free(settings->path);
    free(settings->ca);
    free(settings->certificate);
    free(settings->certificate_key);
    *settings = (wire_settings){ .host = NULL };
}
