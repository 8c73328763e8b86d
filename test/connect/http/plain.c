/* The plain loop that rates.py puts beside gale: libmicrohttpd answers each request as soon as its body is there, and keeps nothing. One thread, epoll.
 *
 * usage: plain PORT */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char begun;

static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **own) {
    static char text[] = "{\"tuples\":1}\n";
    (void)user, (void)url, (void)method, (void)version, (void)data;
    if (!*own) {
        *own = &begun;
        return MHD_YES;
    }
    if (*size) {
        *size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(sizeof text - 1, text, MHD_RESPMEM_MUST_COPY);
    (void)MHD_add_response_header(response, "Content-Type", "application/json");
    enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, (uint16_t)atoi(arguments[1]), NULL,
                                                 NULL, handle, NULL, MHD_OPTION_END);
    if (!daemon) return 1;
    for (;;) pause();
}
