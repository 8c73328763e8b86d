/* docs/reference/expressions.md is true: its examples answer what it says, and every function stands in it. */
#include "script/rig.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 200, LINE = 1000 };

typedef struct row {
    char line[LINE];
    char *name, *example, *answer;
} row;

typedef struct page {
    rig rig;
    row rows[ROWS];
    size_t count;
} page;

/* Cuts the text between the next two backquotes out of `*rest`; NULL: there is none before the cell ends. */
static char *code(char **rest) {
    char *begin = *rest + strspn(*rest, " ");
    if (*begin != '`') return NULL;
    char *end = strstr(begin, "` |");
    if (!end) return NULL;
    *end = 0;
    *rest = end + strlen("` |");
    return begin + 1;
}

/* | `name` | what | `example` | `answer` | */
static bool read_row(row *r) {
    char *rest = r->line;
    if (strncmp(rest, "| `", 3) != 0) return false;
    rest++;
    r->name = code(&rest);
    if (!r->name || !(rest = strstr(rest, " | "))) return false;
    rest += strlen(" | ");
    r->example = code(&rest);
    r->answer = r->example ? code(&rest) : NULL;
    return r->answer != NULL;
}

static int open_page(void **state) {
    page *p = calloc(1, sizeof *p);
    FILE *file = fopen(GALE_EXPRESSIONS_PAGE, "r");
    assert_non_null(p);
    assert_non_null(file);
    while (p->count < ROWS && fgets(p->rows[p->count].line, LINE, file)) p->count += read_row(&p->rows[p->count]);
    fclose(file);
    rig_init(&p->rig, (gx_box_limits){ .work = 0 });
    *state = p;
    return 0;
}

static int close_page(void **state) {
    page *p = *state;
    rig_fini(&p->rig);
    free(p);
    return 0;
}

static void examples_answer_what_the_page_says(void **state) {
    page *p = *state;
    assert_in_range(p->count, 80, ROWS - 1);
    for (size_t i = 0; i < p->count; i++) rig_expect(&p->rig, p->rows[i].example, p->rows[i].answer);
}

static void rows_name_what_is_there(void **state) {
    page *p = *state;
    char text[200];
    for (size_t i = 0; i < p->count; i++) {
        snprintf(text, sizeof text, "%s ~= nil", p->rows[i].name);
        rig_expect(&p->rig, text, "true");
    }
}

static bool has_row(const page *p, gale_str name) {
    for (size_t i = 0; i < p->count; i++)
        if (gx_str_is(name, p->rows[i].name)) return true;
    return false;
}

static void everything_in_the_library_has_a_row(void **state) {
    page *p = *state;
    gale_str rest = gx_box_names(p->rig.box), name;
    char text[100];
    size_t count = 0;
    while (gx_str_next(&rest, ' ', &name)) {
        snprintf(text, sizeof text, "type(%.*s)", GX_STR(name));
        if (!name.size || strcmp(rig_ask(&p->rig, text), "\"table\"") == 0) continue;
        if (!has_row(p, name)) fail_msg("%.*s has no row", GX_STR(name));
        count++;
    }
    assert_in_range(count, 70, ROWS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_answer_what_the_page_says),
        cmocka_unit_test(rows_name_what_is_there),
        cmocka_unit_test(everything_in_the_library_has_a_row),
    };
    return cmocka_run_group_tests(tests, open_page, close_page);
}
