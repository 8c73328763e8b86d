#include "serve/exposition.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

const char *gx_family_kind_name(gx_family_kind kind) {
    static const char *const names[] = { "counter", "gauge", "histogram" };
    return names[kind];
}

static const char *total(const gx_exposition *to) {
    return to->kind == GX_FAMILY_COUNTER ? "_total" : "";
}

/* With a backslash before each of `marks`. */
static void add_escaped(gx_buf *out, const char *text, const char *marks) {
    for (; *text; text++) {
        if (strchr(marks, *text)) gx_buf_add_byte(out, '\\');
        if (*text == '\n')
            gx_buf_add_text(out, "\\n");
        else
            gx_buf_add_byte(out, *text);
    }
}

void gx_exposition_family(gx_exposition *to, const gx_family *family) {
    to->family = family->name;
    to->kind = family->kind;
    const char *ending = to->open ? "" : total(to);
    gx_buf_format(to->out, "# HELP %s%s ", family->name, ending);
    add_escaped(to->out, family->help, to->open ? "\\\"" : "\\");
    gx_buf_format(to->out, "\n# TYPE %s%s %s\n", family->name, ending, gx_family_kind_name(family->kind));
    if (to->open && *family->unit) gx_buf_format(to->out, "# UNIT %s %s\n", family->name, family->unit);
}

static void add_name(gx_exposition *to, const char *ending, const gx_label *labels) {
    gx_buf_format(to->out, "%s%s%s", to->family, ending, total(to));
    for (const gx_label *label = labels; label && label->name; label++) {
        gx_buf_format(to->out, "%c%s=\"", label == labels ? '{' : ',', label->name);
        add_escaped(to->out, label->value, "\\\"");
        gx_buf_add_byte(to->out, '"');
    }
    gx_buf_add_text(to->out, labels && labels->name ? "} " : " ");
}

void gx_exposition_count(gx_exposition *to, const char *ending, const gx_label *labels, uint64_t value) {
    add_name(to, ending, labels);
    gx_buf_add_u64(to->out, value);
    gx_buf_add_byte(to->out, '\n');
}

void gx_exposition_number(gx_exposition *to, const char *ending, const gx_label *labels, double value) {
    add_name(to, ending, labels);
    char text[GX_NUMBER_TEXT];
    if (isfinite(value))
        gx_buf_format(to->out, "%.*s\n", (int)gx_number_write(text, value), text);
    else
        gx_buf_add_text(to->out, isnan(value) ? "NaN\n" : value > 0 ? "+Inf\n" : "-Inf\n");
}

void gx_exposition_end(gx_exposition *to) {
    if (to->open) gx_buf_add_text(to->out, "# EOF\n");
}

/* Prometheus names OpenMetrics first when it takes it. */
bool gx_exposition_is_open(gale_str accept) {
    static const char type[] = "application/openmetrics-text";
    return accept.size && memmem(accept.data, accept.size, type, sizeof type - 1);
}

const char *gx_exposition_type(bool open) {
    return open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                : "text/plain; version=0.0.4; charset=utf-8";
}
