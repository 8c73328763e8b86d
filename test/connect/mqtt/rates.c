/* A plain loop on libmosquitto, for rates.py: reads so many messages at QoS 1 from a session of its own, or writes the lines of its input.
 *
 * usage: rates in PORT COUNT | session PORT | out PORT */
#include <mosquitto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long wanted, got, sent;

static void on_connect(struct mosquitto *client, void *user, int rc) {
    (void)user, (void)rc;
    mosquitto_subscribe(client, NULL, "a/#", 1);
}

static void on_subscribe(struct mosquitto *client, void *user, int id, int count, const int *granted) {
    (void)user, (void)id, (void)count, (void)granted;
    if (!wanted) mosquitto_disconnect(client);
}

static void on_message(struct mosquitto *client, void *user, const struct mosquitto_message *message) {
    (void)user, (void)message;
    if (++got == wanted) mosquitto_disconnect(client);
}

static void on_publish(struct mosquitto *client, void *user, int id) {
    (void)client, (void)user, (void)id;
    got++;
}

static struct mosquitto *connect_to(const char *id, int port, int clean) {
    struct mosquitto *client = mosquitto_new(id, clean, NULL);
    mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V311);
    mosquitto_int_option(client, MOSQ_OPT_SEND_MAXIMUM, 1000);
    mosquitto_connect_callback_set(client, clean ? NULL : on_connect);
    mosquitto_subscribe_callback_set(client, on_subscribe);
    mosquitto_message_callback_set(client, on_message);
    mosquitto_publish_callback_set(client, on_publish);
    if (mosquitto_connect(client, "127.0.0.1", port, 60)) exit(1);
    return client;
}

/* So many are on their way at once. */
static void write_lines(int port) {
    struct mosquitto *client = connect_to("plain-out", port, 1);
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        while (sent - got >= 1000) mosquitto_loop(client, 10, 100);
        if (mosquitto_publish(client, NULL, "a/b", (int)strcspn(line, "\n"), line, 1, 0)) exit(1);
        if (++sent % 100 == 0) mosquitto_loop(client, 0, 100);
    }
    while (got < sent) mosquitto_loop(client, 10, 100);
    mosquitto_disconnect(client);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    mosquitto_lib_init();
    int port = atoi(argv[2]);
    if (strcmp(argv[1], "out") == 0) {
        write_lines(port);
    } else {
        wanted = argc > 3 ? atol(argv[3]) : 0;
        mosquitto_loop_forever(connect_to("plain-in", port, 0), -1, 1);
    }
    return got == wanted || got == sent ? 0 : 1;
}
