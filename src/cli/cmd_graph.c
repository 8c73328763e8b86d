/* gale graph FILE.yaml */
#include "cli/command.h"
#include "cli/flux_file.h"
#include "cli/session.h"

#include "base/os/file.h"
#include "base/str.h"
#include "draw/json.h"
#include "draw/languages.h"
#include "draw/svg.h"
#include "draw/text.h"
#include "front/builtin.h"

#include <stddef.h>

typedef struct choices {
    gx_flux_choices flux;
    bool text, svg, dot, mermaid, json, ascii, down;
    const char *output;
} choices;

#define AT(field) offsetof(choices, field)

static const gx_option options[] = {
    { 0, "text", NULL, GX_OPTION_FLAG, AT(text), 0, 0, "draw with characters (this is the default)" },
    { 0, "svg", NULL, GX_OPTION_FLAG, AT(svg), 0, 0, "draw an SVG, for browsers and documents" },
    { 0, "dot", NULL, GX_OPTION_FLAG, AT(dot), 0, 0, "write it in the language of Graphviz" },
    { 0, "mermaid", NULL, GX_OPTION_FLAG, AT(mermaid), 0, 0, "write it in the language of Mermaid" },
    { 0, "json", NULL, GX_OPTION_FLAG, AT(json), 0, 0, "write components, edges and their places as JSON" },
    { 'o', "output", "FILE", GX_OPTION_TEXT, AT(output), 0, 0,
      "write it to FILE, whose ending (.svg, .dot, .mmd, .json, .txt) says how, unless an option does" },
    { 0, "down", NULL, GX_OPTION_FLAG, AT(down), 0, 0,
      "from top to bottom, as characters always are, not from left to right" },
    { 0, "ascii", NULL, GX_OPTION_FLAG, AT(ascii), 0, 0,
      "with the characters of ASCII alone, as where the locale is not UTF-8" },
    GX_FLUX_ROWS,
};

enum { OPTION_COUNT = sizeof options / sizeof options[0] };

/* --- In which form ------------------------------------------------------------------------------------------------- */

typedef enum form { FORM_TEXT, FORM_SVG, FORM_DOT, FORM_MERMAID, FORM_JSON, FORM_COUNT } form;

static const char *const endings[FORM_COUNT] = { ".txt", ".svg", ".dot", ".mmd", ".json" };

static bool has_ending(const char *path, const char *ending) {
    size_t size = strlen(path), end = strlen(ending);
    return size > end && strcmp(path + size - end, ending) == 0;
}

/* The form that the file's ending stands for; FORM_COUNT: none. To the standard output goes what a terminal shows. */
static form form_of_path(const char *path) {
    form f = 0;
    if (strcmp(path, "-") == 0) return FORM_TEXT;
    while (f < FORM_COUNT && !has_ending(path, endings[f])) f++;
    return f;
}

static int find_form(const choices *c, form *ret_form, gale_error *error) {
    const bool chosen[FORM_COUNT] = { c->text, c->svg, c->dot, c->mermaid, c->json };
    int count = 0;
    *ret_form = c->output ? form_of_path(c->output) : FORM_TEXT;
    for (int i = 0; i < FORM_COUNT; i++) {
        if (chosen[i]) *ret_form = (form)i;
        count += chosen[i];
    }
    if (count > 1)
        return gale_error_set(error, GALE_INVALID, "one of --text, --svg, --dot, --mermaid and --json, not several");
    if (*ret_form == FORM_COUNT)
        return gale_error_set(error, GALE_INVALID,
                              "'%s' ends with none of .svg, .dot, .mmd, .json and .txt, which say how it is written: "
                              "give --svg, --dot, --mermaid, --json or --text",
                              c->output);
    if (*ret_form == FORM_TEXT && c->down)
        return gale_error_set(error, GALE_INVALID, "--text is always drawn downwards");
    if (*ret_form != FORM_TEXT && c->ascii) return gale_error_set(error, GALE_INVALID, "--ascii is for --text alone");
    return GALE_OK;
}

/* --- Drawing ------------------------------------------------------------------------------------------------------- */

typedef struct task {
    const choices *chosen;
    form form;
    gx_heap heap;
    gx_terminal *errors;
    gx_buf *out;
} task;

/* What is too wide for a terminal would be broken into lines by it, and be no picture. */
static void tell_width(const task *t, uint32_t width, uint32_t columns) {
    gx_buf text = GX_BUF_INIT(NULL);
    gx_buf_format(
        &text,
        "gale: the picture is %u columns wide, this terminal %u: a wider one shows it, or \"| less -S\", or --svg\n",
        width, columns);
    const char *whole = gx_buf_text(&text);
    if (whole) (void)gx_terminal_print(t->errors, whole);
    gx_buf_fini(&text);
}

static int draw_text(task *t, const gx_graph *graph, gale_error *error) {
    gx_terminal terminal;
    uint32_t width;
    gx_terminal_init(&terminal, 1);
    gx_text_options how = { .ascii = t->chosen->ascii || !terminal.utf8 };
    if (terminal.is_tty && !t->chosen->output) how.columns = (uint32_t)gx_terminal_columns(&terminal);
    gx_terminal_fini(&terminal);
    int rc = gx_text_draw(&t->heap, graph, &how, t->out, &width, error);
    if (rc == GALE_OK && how.columns && width > how.columns) tell_width(t, width, how.columns);
    return rc;
}

static int draw_points(task *t, const gx_graph *graph, gale_error *error) {
    gx_drawing drawing;
    gx_json json = gx_json_to(t->out);
    int rc = gx_drawing_new(&t->heap, graph, t->chosen->down, &drawing, error);
    if (rc < 0) return rc;
    if (t->form == FORM_SVG) {
        gx_svg_write(&drawing, t->out);
    } else {
        gx_drawing_json_whole(&drawing, &json);
        gx_buf_add_byte(t->out, '\n');
    }
    gx_drawing_free(&drawing);
    return GALE_OK;
}

static int draw(task *t, const gale_topology *topology, gale_error *error) {
    gx_graph graph;
    int rc = gx_graph_new(&t->heap, topology, &graph, error);
    if (rc < 0) return rc;
    switch (t->form) {
    case FORM_DOT: gx_dot_write(&graph, t->chosen->down, t->out); break;
    case FORM_MERMAID: gx_mermaid_write(&graph, t->chosen->down, t->out); break;
    case FORM_TEXT: rc = draw_text(t, &graph, error); break;
    default: rc = draw_points(t, &graph, error); break;
    }
    gx_graph_free(&graph);
    return rc == GALE_OK && t->out->failed ? gale_error_set(error, GALE_NO_MEMORY, "out of memory") : rc;
}

/* --- All ----------------------------------------------------------------------------------------------------------- */

static int draw_file(task *t, const char *path, gale_error *error) {
    gale_topology *topology = NULL;
    int rc = gx_flux_file_load(path, &t->chosen->flux, (gx_flux_options){ .dry = true }, &topology, error);
    if (rc == GALE_OK) rc = draw(t, topology, error);
    gale_topology_free(topology);
    return rc;
}

static int write_file(const char *path, const gx_buf *out, gale_error *error) {
    int fd, rc = gx_file_create(path, false, &fd, error);
    if (rc < 0) return rc;
    rc = gx_file_write(fd, out->data, out->size, path, error);
    int closed = gx_file_close_written(fd, path, rc < 0 ? NULL : error);
    return rc < 0 ? rc : closed;
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .output = NULL };
    gx_words files = { .count = 0 };
    gx_buf out = GX_BUF_INIT(NULL);
    task t = { .chosen = &c, .errors = errors, .out = &out };
    gx_heap_init(&t.heap, NULL);
    int rc = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &files, &error);
    if (rc == GALE_OK && files.count != 1)
        rc = gale_error_set(&error, GALE_INVALID, "graph wants one topology file, not %zu: gale %s", files.count,
                            gx_cmd_graph.usage);
    if (rc == GALE_OK) rc = find_form(&c, &t.form, &error);
    if (rc == GALE_OK) rc = draw_file(&t, files.items[0], &error);
    if (rc == GALE_OK && !c.output) return gx_session_print(errors, &out);
    if (rc == GALE_OK) rc = write_file(c.output, &out, &error);
    gx_buf_fini(&out);
    return rc < 0 ? gx_session_refuse(errors, &error, gx_session_exit(rc)) : GX_EXIT_OK;
}

const gx_command gx_cmd_graph = {
    .name = "graph",
    .usage = "graph FILE.yaml [options]",
    .text = "draw a topology: in the terminal, as SVG, dot, Mermaid or JSON",
    .more =
        "Nothing is run. Spouts have double lines (in an SVG they are round), what closes a cycle is dashed and goes "
        "back.\n"
        "On a terminal that is too narrow, names are cut; if that is not enough, gale says how wide the picture is.\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run,
};
