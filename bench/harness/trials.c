#include "harness/trials.h"

#include "base/json.h"
#include "base/os/time.h"

#include <gale/clock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t born, first;

void bench_trials_born(void) {
    born = gx_os_monotonic();
}

void bench_trials_first(void) {
    if (!first) first = gx_os_monotonic();
}

/* The most that was resident, in bytes. (getrusage would tell the parent's, if that was more.) */
static uint64_t peak_resident(void) {
    unsigned long long kilobytes = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %llu", &kilobytes) == 1) break;
    fclose(file);
    return kilobytes * 1024;
}

static void key(gx_json *json, const char *name) {
    gx_json_key(json, (gale_str){ name, strlen(name) });
}

static void text(gx_json *json, const char *name, const char *value) {
    key(json, name);
    gx_json_string(json, (gale_str){ value, strlen(value) });
}

static void real(gx_json *json, const char *name, double value) {
    key(json, name);
    gx_json_f64(json, value);
}

static void count(gx_json *json, const char *name, uint64_t value) {
    key(json, name);
    gx_json_u64(json, value);
}

static void percentile(gx_json *json, const char *name, const bench_trial *trial, double share) {
    key(json, name);
    if (trial->timed && trial->latency.count)
        gx_json_f64(json, (double)gx_histogram_quantile(&trial->latency, share) / 1000);
    else
        gx_json_null(json);
}

static void asked(gx_json *json, const bench_arguments *a, const bench_subject *subject) {
    text(json, "program", subject->program);
    text(json, "flow", a->flow);
    key(json, "acks");
    gx_json_bool(json, a->acks);
    count(json, "executors", a->executors);
}

static void found(gx_json *json, const bench_trial *trial) {
    uint64_t units = trial->words ? trial->words : trial->trees;
    count(json, "trees", trial->trees);
    if (trial->words) count(json, "words", trial->words);
    real(json, "seconds", (double)trial->nanoseconds / 1e9);
    key(json, "ns");
    if (units)
        gx_json_f64(json, (double)trial->nanoseconds / (double)units);
    else
        gx_json_null(json);
    percentile(json, "p50_us", trial, 0.5);
    percentile(json, "p99_us", trial, 0.99);
    percentile(json, "p999_us", trial, 0.999);
}

void bench_trials_print(const bench_arguments *arguments, const bench_subject *subject, const bench_trial *trial) {
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_buf line = GX_BUF_INIT(&heap);
    gx_json json = gx_json_to(&line);
    gx_json_open(&json, '{');
    asked(&json, arguments, subject);
    found(&json, trial);
    count(&json, "rss", peak_resident());
    key(&json, "first_ms");
    if (first)
        gx_json_f64(&json, (double)(first - born) / 1e6);
    else
        gx_json_null(&json);
    text(&json, "settings", subject->settings);
    gx_json_close(&json, '}');
    printf("%.*s\n", (int)line.size, (const char *)line.data);
    fflush(stdout);
    gx_buf_fini(&line);
}

void bench_trials(const bench_arguments *arguments, const bench_subject *subject) {
    static bench_trial trial; /* 15 KiB */
    char line[64];
    if (arguments->warm > 0) subject->run(subject->user, (int64_t)(arguments->warm * 1e9), &trial);
    for (uint32_t i = 0; i < arguments->trials && fgets(line, sizeof line, stdin); i++) {
        memset(&trial, 0, sizeof trial);
        subject->run(subject->user, (int64_t)(arguments->seconds * 1e9), &trial);
        bench_trials_print(arguments, subject, &trial);
    }
}
