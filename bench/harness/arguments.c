#include "harness/arguments.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn static void refuse(const char *option, const char *text, const char *what) {
    fprintf(stderr, "%s %s: %s\n", option, text, what);
    exit(2);
}

static double number(const char *option, const char *text, double least, double most) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (errno || end == text || *end || !isfinite(value)) refuse(option, text, "this is no number");
    if (value < least || value > most) {
        char range[80];
        snprintf(range, sizeof range, "it must be from %g to %g", least, most);
        refuse(option, text, range);
    }
    return value;
}

static uint64_t whole(const char *option, const char *text, double least, double most) {
    double value = number(option, text, least, most);
    if (value != floor(value)) refuse(option, text, "it must be a whole number");
    return (uint64_t)value;
}

/* `yes` or `no`, by name. */
static bool choice(const char *option, const char *text, const char *yes, const char *no) {
    if (strcmp(text, yes) == 0) return true;
    if (strcmp(text, no) == 0) return false;
    char what[80];
    snprintf(what, sizeof what, "there are %s and %s", yes, no);
    refuse(option, text, what);
}

static void take(bench_arguments *a, const char *option, const char *text) {
    if (strcmp(option, "--flow") == 0)
        a->flow = text;
    else if (strcmp(option, "--acks") == 0)
        a->acks = choice(option, text, "on", "off");
    else if (strcmp(option, "--executors") == 0)
        a->executors = (uint32_t)whole(option, text, 1, BENCH_EXECUTORS_MAX);
    else if (strcmp(option, "--seconds") == 0)
        a->seconds = number(option, text, 0.001, 3600);
    else if (strcmp(option, "--warm") == 0)
        a->warm = number(option, text, 0, 3600);
    else if (strcmp(option, "--trials") == 0)
        a->trials = (uint32_t)whole(option, text, 1, 1e6);
    else if (strcmp(option, "--pending") == 0)
        a->pending = (uint32_t)whole(option, text, 0, 1 << 24);
    else if (strcmp(option, "--rate") == 0)
        a->rate = number(option, text, 0, 1e9);
    else if (strcmp(option, "--keys") == 0)
        a->keys = (uint32_t)whole(option, text, 1, BENCH_KEYS_MAX);
    else if (strcmp(option, "--tasks") == 0)
        a->tasks = (uint32_t)whole(option, text, 0, BENCH_TASKS_MAX);
    else if (strcmp(option, "--spouts") == 0)
        a->spouts = (uint32_t)whole(option, text, 0, BENCH_EXECUTORS_MAX);
    else if (strcmp(option, "--place") == 0)
        a->spread = choice(option, text, "spread", "engine");
    else if (strcmp(option, "--with") == 0)
        a->with = text;
    else if (strcmp(option, "--trees") == 0)
        a->trees = whole(option, text, 1, 1e12);
    else
        refuse(option, text, "there is no such option");
}

bench_arguments bench_arguments_read(int argc, char **argv) {
    bench_arguments a = {
        .acks = true, .executors = 1, .seconds = 1, .warm = 0.5, .trials = 1, .keys = 100000, .spread = true
    };
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc) refuse(argv[i], "", "it needs a value");
        take(&a, argv[i], argv[i + 1]);
    }
    if (!a.flow) refuse("--flow", "", "which one?");
    if (a.trees && a.rate > 0) refuse("--trees", "", "only as fast as it goes");
    return a;
}

_Noreturn void bench_arguments_lack(const bench_arguments *arguments, const char *program) {
    fprintf(stderr, "%s has no flow '%s' with acks %s, %u executors, pending %u, rate %g\n", program, arguments->flow,
            arguments->acks ? "on" : "off", arguments->executors, arguments->pending, arguments->rate);
    exit(3);
}
