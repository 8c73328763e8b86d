/* Sends datagrams of one of a thousand words to a port of this machine, at a rate, in batches: usage: gale_bench_udp_send PORT RATE SECONDS. Says as JSON how many
 * the system took. */
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { BATCH = 32, WORDS = 1000, WORD = 16 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char words[WORDS][WORD];
static struct iovec places[BATCH];
static struct mmsghdr heads[BATCH];

static unsigned batch(uint64_t from, uint64_t left) {
    unsigned count = left < BATCH ? (unsigned)left : BATCH;
    for (unsigned i = 0; i < count; i++) {
        char *word = words[(from + i) * 7919 % WORDS];
        places[i] = (struct iovec){ word, strlen(word) };
        heads[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &places[i], .msg_iovlen = 1 } };
    }
    return count;
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: gale_bench_udp_send PORT RATE SECONDS\n"), 2;
    double rate = atof(argv[2]), seconds = atof(argv[3]);
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])) };
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) return perror("udp_send"), 1;
    for (int i = 0; i < WORDS; i++) snprintf(words[i], WORD, "word-%d", i);
    uint64_t wanted = (uint64_t)(rate * seconds), sent = 0, refused = 0;
    double began = now();
    while (sent < wanted) {
        uint64_t due = (uint64_t)((now() - began) * rate);
        if (due > wanted) due = wanted;
        if (due <= sent + BATCH / 2 && due < wanted) {
            nanosleep(&(struct timespec){ 0, 50000 }, NULL);
            continue;
        }
        int took = sendmmsg(fd, heads, batch(sent, due - sent), 0);
        if (took < 0 && errno != ECONNREFUSED && errno != ENOBUFS) return perror("udp_send"), 1;
        if (took < 0) refused++;
        if (took > 0) sent += (uint64_t)took;
    }
    printf("{\"sent\": %llu, \"refused\": %llu, \"seconds\": %.3f}\n", (unsigned long long)sent,
           (unsigned long long)refused, now() - began);
    return 0;
}
