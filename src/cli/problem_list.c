#include "cli/problem_list.h"

static void add_place(gx_position position, gx_buf *out) {
    gx_buf_add_text(out, position.file);
    if (position.line) gx_buf_format(out, ":%u:%u", position.line, position.column);
}

static void add_problem(const gx_problem *problem, gx_excerpts *excerpts, gx_buf *out) {
    add_place(problem->position, out);
    gx_buf_format(out, ": %s: ", problem->warning ? "warning" : "error");
    for (const char *c = problem->text; *c; c++) {
        gx_buf_add_byte(out, *c);
        if (*c == '\n') gx_buf_add_text(out, "  ");
    }
    gx_buf_add_text(out, "\n");
    gx_excerpt_add(excerpts, problem->position, out);
}

void gx_problem_list(const gx_problems *problems, const gx_variables *variables, gx_buf *out) {
    gx_excerpts excerpts = { .variables = variables };
    for (size_t i = 0; i < problems->count; i++) add_problem(&problems->list[i], &excerpts, out);
    gx_excerpts_fini(&excerpts);
}
