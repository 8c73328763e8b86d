#include "cli/case_report.h"

#include "base/str.h"
#include "base/visible.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char red[] = "31", green[] = "32", yellow[] = "33";

void gx_case_report_begin(gx_case_report *report, gx_terminal *out) {
    report->out = out;
    report->junit = (gx_buf)GX_BUF_INIT(NULL);
    if (report->tap) (void)gx_terminal_print(out, "TAP version 13\n");
}

/* --- For people --------------------------------------------------------------------------------------------------- */

static void print(gx_terminal *out, gx_buf *text, const char *colour) {
    const char *line = gx_buf_text(text);
    if (line) (void)gx_terminal_print_in(out, line, colour);
    gx_buf_reset(text);
}

/* The mark of a line of a difference (sim/difference.h), which stands behind blanks. */
static const char *colour_of(gale_str line) {
    size_t at = 0;
    while (at < line.size && line.data[at] == ' ') at++;
    if (at + 1 >= line.size || at < 4 || line.data[at + 1] != ' ') return NULL;
    switch (line.data[at]) {
    case '-': return red;
    case '+': return green;
    case '~': return yellow;
    default: return NULL;
    }
}

/* Each line behind `indent`. */
static void print_lines(const gx_case_report *r, const char *text, const char *indent) {
    gx_buf line = GX_BUF_INIT(NULL);
    while (text && *text) {
        size_t size = strcspn(text, "\n");
        const char *colour = colour_of((gale_str){ text, size });
        gx_buf_add_text(&line, indent);
        gx_buf_add(&line, text, size);
        gx_buf_add_byte(&line, '\n');
        print(r->out, &line, r->tap ? NULL : colour);
        text += size + (text[size] == '\n');
    }
    gx_buf_fini(&line);
}

/* For a shell, in quotation marks where it must be. */
static void add_quoted(gx_buf *out, const char *text) {
    gx_buf_add_byte(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            gx_buf_add_text(out, "'\\''");
        else
            gx_buf_add_byte(out, *text);
    gx_buf_add_byte(out, '\'');
}

static void add_again(gx_buf *out, const gx_case_result *result) {
    gx_buf_add_text(out, "again: gale test ");
    if (strcspn(result->file, " '\"$&;()<>|*?\\\t") == strlen(result->file))
        gx_buf_add_text(out, result->file);
    else
        add_quoted(out, result->file);
    gx_buf_add_text(out, " --filter ");
    add_quoted(out, result->name);
    gx_buf_format(out, " --seed %" PRIu64 "\n", result->seed);
}

static void tell_result(const gx_case_report *r, const gx_case_result *result) {
    gx_buf line = GX_BUF_INIT(NULL);
    if (!result->name) {
        gx_buf_format(&line, "  FAIL  the file cannot be used\n");
        print(r->out, &line, red);
        print_lines(r, result->text, "    ");
    } else if (result->passed && !r->quiet) {
        gx_buf_format(&line, "  ok    %s", result->name);
        if (result->seeds > 1) gx_buf_format(&line, " (%" PRIu64 " seeds)", result->seeds);
        gx_buf_add_byte(&line, '\n');
        print(r->out, &line, green);
    } else if (!result->passed) {
        gx_buf_format(&line, "  FAIL  %s (seed %" PRIu64 ")\n", result->name, result->seed);
        print(r->out, &line, red);
        print_lines(r, result->text, "    ");
        gx_buf_add_text(&line, "    ");
        add_again(&line, result);
        print(r->out, &line, NULL);
    }
    gx_buf_fini(&line);
}

/* --- TAP ---------------------------------------------------------------------------------------------------------- */

static void tell_tap(const gx_case_report *r, const gx_case_result *result) {
    gx_buf line = GX_BUF_INIT(NULL);
    gx_buf_format(&line, "%s %zu - %s", result->passed ? "ok" : "not ok", r->cases + r->broken, result->file);
    if (result->name) gx_buf_format(&line, ": %s", result->name);
    gx_buf_add_byte(&line, '\n');
    print(r->out, &line, NULL);
    if (!result->passed) {
        gx_buf_add_text(&line, "  ---\n  message: |\n");
        print(r->out, &line, NULL);
        print_lines(r, result->text, "    ");
        if (result->name) {
            gx_buf_add_text(&line, "    ");
            add_again(&line, result);
        }
        gx_buf_add_text(&line, "  ...\n");
        print(r->out, &line, NULL);
    }
    gx_buf_fini(&line);
}

/* --- JUnit -------------------------------------------------------------------------------------------------------- */

/* What XML cannot have is written out before. */
static void add_xml(gx_buf *out, const char *text) {
    gx_buf shown = GX_BUF_INIT(NULL);
    gx_visible_add(&shown, gx_str(text), "\n\t");
    for (size_t i = 0; i < shown.size; i++) switch (shown.data[i]) {
        case '<': gx_buf_add_text(out, "&lt;"); break;
        case '>': gx_buf_add_text(out, "&gt;"); break;
        case '&': gx_buf_add_text(out, "&amp;"); break;
        case '"': gx_buf_add_text(out, "&quot;"); break;
        default: gx_buf_add_byte(out, shown.data[i]);
        }
    out->failed |= shown.failed;
    gx_buf_fini(&shown);
}

static void add_junit(gx_case_report *r, const gx_case_result *result) {
    gx_buf *out = &r->junit;
    gx_buf_add_text(out, "  <testcase classname=\"");
    add_xml(out, result->file);
    gx_buf_add_text(out, "\" name=\"");
    add_xml(out, result->name ? result->name : "the file");
    gx_buf_add_text(out, result->passed ? "\"/>\n" : "\">\n");
    if (result->passed) return;
    gx_buf_format(out, "    <%s>", result->name ? "failure" : "error");
    add_xml(out, result->text ? result->text : "");
    gx_buf again = GX_BUF_INIT(NULL);
    if (result->name) add_again(&again, result);
    const char *text = gx_buf_text(&again);
    if (text) add_xml(out, text);
    gx_buf_fini(&again);
    gx_buf_format(out, "</%s>\n  </testcase>\n", result->name ? "failure" : "error");
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static void tell_file(gx_case_report *r, const gx_case_result *result) {
    bool quiet = r->quiet && result->passed;
    if (r->tap || quiet || (r->file && strcmp(r->file, result->file) == 0)) return;
    gx_buf line = GX_BUF_INIT(NULL);
    gx_buf_format(&line, "%s\n", result->file);
    print(r->out, &line, NULL);
    gx_buf_fini(&line);
    free(r->file);
    r->file = strdup(result->file);
}

void gx_case_report_add(gx_case_report *r, const gx_case_result *result) {
    r->cases += result->name != NULL;
    r->broken += result->name == NULL;
    r->failed += result->name && !result->passed;
    tell_file(r, result);
    if (r->tap)
        tell_tap(r, result);
    else
        tell_result(r, result);
    if (r->has_junit) add_junit(r, result);
}

static void tell_sums(const gx_case_report *r) {
    gx_buf line = GX_BUF_INIT(NULL);
    if (r->tap) {
        gx_buf_format(&line, "1..%zu\n", r->cases + r->broken);
        print(r->out, &line, NULL);
    } else {
        gx_buf_format(&line, "%zu case%s: %zu passed, %zu failed", r->cases, gx_plural(r->cases), r->cases - r->failed,
                      r->failed);
        if (r->broken) gx_buf_format(&line, "; %zu file%s cannot be used", r->broken, gx_plural(r->broken));
        gx_buf_add_byte(&line, '\n');
        print(r->out, &line, r->failed || r->broken ? red : green);
    }
    gx_buf_fini(&line);
}

void gx_case_report_end(gx_case_report *r, gx_buf *ret_junit) {
    tell_sums(r);
    if (ret_junit) {
        gx_buf_format(ret_junit,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<testsuite name=\"gale test\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
                      r->cases + r->broken, r->failed, r->broken);
        gx_buf_add(ret_junit, r->junit.data, r->junit.size);
        gx_buf_add_text(ret_junit, "</testsuite>\n");
        ret_junit->failed |= r->junit.failed;
    }
    gx_buf_fini(&r->junit);
    free(r->file);
    r->file = NULL;
}
