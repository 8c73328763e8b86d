/* gale_bench_limit: the limit of a flow, measured as the driver asks (harness/arguments.h). Beyond the protocol it takes
 * --trees N: so many trees and no more, for counting instructions. */
#include "limit/limit.h"

#include <string.h>

enum { WORDS_A_LINE = 10 };

typedef struct bench_limit {
    const bench_arguments *arguments;
    bench_latency latency;
} bench_limit;

static bool is(const bench_arguments *a, const char *flow) {
    return strcmp(a->flow, flow) == 0;
}

static bool in_flight(const bench_arguments *a) {
    return a->pending == 1 && is(a, "const-null") && a->acks;
}

/* False when there is no such limit. */
static bool run_loop(bench_loop *loop) {
    const bench_arguments *a = loop->arguments;
    bool two = a->executors == 2;
    if (a->executors > 2 || a->rate > 0 || (a->pending && !in_flight(a))) return false;
    if (in_flight(a))
        bench_limit_one_in_flight(loop, two);
    else if (is(a, "const-null") || is(a, "const-id-null"))
        (two ? bench_limit_chain_across : bench_limit_chain)(loop, is(a, "const-null") ? 1 : 2);
    else if (is(a, "word-count"))
        (two ? bench_limit_words_across : bench_limit_words)(loop);
    else if (is(a, "fan-out-10") && !two)
        bench_limit_fan_out(loop);
    else if (is(a, "diamond") && !two)
        bench_limit_diamond(loop);
    else if (is(a, "keyed-count") && !two)
        bench_limit_keys(loop);
    else
        return false;
    return true;
}

static void make_trial(void *user, int64_t nanoseconds, bench_trial *ret_trial) {
    bench_limit *limit = user;
    const bench_arguments *a = limit->arguments;
    bench_loop loop = { .arguments = a, .nanoseconds = nanoseconds / 8 + 1 };
    run_loop(&loop); /* caches were others' meanwhile */
    bench_latency_begin(&limit->latency);
    loop.nanoseconds = nanoseconds;
    loop.trees = a->trees;
    loop.latency = in_flight(a) ? &limit->latency : NULL;
    run_loop(&loop);
    bench_latency_end(&limit->latency, &ret_trial->latency);
    ret_trial->timed = loop.latency != NULL;
    ret_trial->trees = loop.done;
    ret_trial->words = is(a, "word-count") ? loop.done * WORDS_A_LINE : 0;
    ret_trial->nanoseconds = loop.spent;
}

static void run_counted(const bench_arguments *a, const bench_subject *subject) {
    static bench_trial trial;
    bench_loop loop = { .arguments = a, .trees = a->trees };
    run_loop(&loop);
    trial.trees = loop.done;
    trial.words = is(a, "word-count") ? loop.done * WORDS_A_LINE : 0;
    trial.nanoseconds = loop.spent;
    bench_trials_print(a, subject, &trial);
}

int main(int argc, char **argv) {
    bench_trials_born();
    bench_arguments arguments = bench_arguments_read(argc, argv);
    static bench_limit limit;
    limit.arguments = &arguments;
    bench_loop probe = { .arguments = &arguments, .trees = 1 };
    if (!run_loop(&probe)) bench_arguments_lack(&arguments, "limit");
    bench_subject subject = { "limit", "hand-written loop, the same work", &limit, make_trial };
    if (arguments.trees)
        run_counted(&arguments, &subject);
    else
        bench_trials(&arguments, &subject);
    return 0;
}
