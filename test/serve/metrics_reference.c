/* docs/metrics.md, made of the table in serve/metrics.c. Without an argument it is printed; with the path of the page, that is compared. */
#include "serve/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char intro[] =
    "# Metrics\n\n"
    "`/metrics` of a run that is [served](reference/serving.md) has these, as Prometheus reads them, or as OpenMetrics "
    "when\n"
    "that is asked for. Names stay. Counts are exact, and since the start of the run; what they were in a while is "
    "for\n"
    "`rate()`. A scrape needs the token:\n\n"
    "```yaml\n"
    "scrape_configs:\n"
    "  - job_name: gale\n"
    "    authorization: { credentials_file: /etc/gale/token }\n"
    "    static_configs: [{ targets: ['127.0.0.1:8080'] }]\n"
    "```\n\n"
    "where gale was started with `--listen --listen-token-file /etc/gale/token`, and a file with that option's token.\n"
    "Metrics of checkpoints are there in durable runs alone.\n\n"
    "| name | kind | labels | what it is |\n| --- | --- | --- | --- |\n";

static bool is_same(const char *path, const gx_buf *page) {
    FILE *file = fopen(path, "rb");
    char *there = malloc(page->size + 2);
    size_t got = file && there ? fread(there, 1, page->size + 2, file) : 0;
    bool same = there && got == page->size && memcmp(there, page->data, got) == 0;
    if (file) fclose(file);
    free(there);
    return same;
}

static const char outro[] =
    "\n"
    "## Components' own\n"
    "\n"
    "What a component notes ([gale/metric.h](api/metric.md)) is `gale_metric_` and its name, with the "
    "component's sentence as help.\n"
    "\n"
    "| kind | name | labels | |\n"
    "| --- | --- | --- | --- |\n"
    "| counter | `gale_metric_NAME_total` | component, its own | the sum of its tasks |\n"
    "| gauge | `gale_metric_NAME` | component, its own, task | |\n"
    "| histogram | `gale_metric_NAME` with `_bucket`, `_sum`, `_count` | component, its own, le | in its "
    "own unit; bounds are 1, 2.5 and 5 of each power of ten from 1e-6 to 1e9 |\n"
    "\n"
    "A name has one kind in a topology, and ends in nothing that belongs to another: `_total` is never "
    "written, and a gauge's name does\n"
    "not end in `_bucket`, `_count` or `_sum`. Each run begins at 0.\n"
    "\n"
    "### Labels\n"
    "\n"
    "A metric may have labels of its own, in C, in Python and in expressions: `metric.gauge(\"p99\", "
    "p99, {url = url})` is\n"
    "`gale_metric_p99{component=\"...\",url=\"/a\",task=\"7\"}`. Each set of values is a series.\n"
    "\n"
    "| what | bound |\n"
    "| --- | --- |\n"
    "| labels of a metric | 8. All series of a name have the same names of labels |\n"
    "| a label's name | as a metric's; not `component`, `task`, `le`, `quantile`, nor what begins with "
    "`__` |\n"
    "| a label's value | 120 bytes of UTF-8; a longer one is cut, bytes that are not UTF-8 become `?` |\n"
    "| series of a task | 200 with labels, all its metrics together; "
    "[`gale.metric.series`](reference/config.md) sets it, up to 2000 |\n"
    "\n"
    "Values that come from data may have no end. When a task has as many series as it may, each further "
    "set of values is counted in\n"
    "one series of its metric, whose values are all `other`. The task reports that once. No tuple fails "
    "for it, and no value is lost\n"
    "from the sum.\n";

int main(int argc, char **argv) {
    gx_buf page = GX_BUF_INIT(NULL);
    gx_buf_add_text(&page, intro);
    gx_metrics_markdown(&page);
    gx_buf_add_text(&page, outro);
    bool same = argc < 2 ? fwrite(page.data, 1, page.size, stdout) == page.size : is_same(argv[1], &page);
    if (!same)
        printf("%s is not what the table in src/serve/metrics.c says.\n"
               "Renew it: build/test/serve/metrics_reference > docs/metrics.md\n",
               argv[1]);
    gx_buf_fini(&page);
    return !same;
}
