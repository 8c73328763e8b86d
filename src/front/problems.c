#include "front/problems.h"

#include <stdlib.h>
#include <string.h>

static bool read_number(const char **at, uint32_t *ret_number) {
    char *end;
    if (**at < '1' || **at > '9') return false;
    unsigned long number = strtoul(*at, &end, 10);
    if (*end != ':' || number > UINT32_MAX) return false;
    *ret_number = (uint32_t)number;
    *at = end + 1;
    return true;
}

bool gx_position_read(const char *file, const char *text, gx_position *ret_place, const char **ret_text) {
    size_t size = strlen(file);
    if (strncmp(text, file, size) != 0 || text[size] != ':') return false;
    const char *at = text + size + 1;
    gx_position place = { file, 0, 0 };
    if (*at != ' ' && !(read_number(&at, &place.line) && read_number(&at, &place.column))) return false;
    if (*at != ' ') return false;
    *ret_place = place;
    *ret_text = at + 1;
    return true;
}

static bool is_same(const gx_problem *a, gx_position place, const char *text) {
    return a->position.line == place.line && a->position.column == place.column &&
           strcmp(a->position.file, place.file) == 0 && strcmp(a->text, text) == 0;
}

static void let_go(gx_problem *problem) {
    free((void *)problem->position.file);
    free(problem->text);
}

/* The number of a file that something was said about, or the next one. */
static size_t file_of(const gx_problems *problems, const char *file) {
    size_t next = 0;
    for (size_t i = 0; i < problems->count; i++) {
        if (strcmp(problems->list[i].position.file, file) == 0) return problems->list[i].file;
        if (problems->list[i].file >= next) next = problems->list[i].file + 1;
    }
    return next;
}

bool gx_problems_add(gx_problems *problems, bool warning, int code, gx_position place, const char *text) {
    problems->told += !warning;
    for (size_t i = 0; i < problems->count; i++)
        if (is_same(&problems->list[i], place, text)) return true;
    if (problems->count == GX_PROBLEMS_MAX) {
        problems->more = true;
        return false;
    }
    gx_problem *problem = &problems->list[problems->count];
    *problem = (gx_problem){
        warning, code, { strdup(place.file), place.line, place.column }, strdup(text), file_of(problems, place.file)
    };
    if (!problem->position.file || !problem->text) {
        let_go(problem);
        return false;
    }
    problems->count++;
    problems->errors += !warning;
    return true;
}

static bool belongs_before(const gx_problem *a, const gx_problem *b) {
    if (a->file != b->file) return a->file < b->file;
    if (a->position.line != b->position.line) return a->position.line < b->position.line;
    return a->position.column < b->position.column;
}

void gx_problems_sort(gx_problems *problems) {
    for (size_t i = 1; i < problems->count; i++) {
        gx_problem moved = problems->list[i];
        size_t at = i;
        for (; at > 0 && belongs_before(&moved, &problems->list[at - 1]); at--)
            problems->list[at] = problems->list[at - 1];
        problems->list[at] = moved;
    }
}

void gx_problems_fini(gx_problems *problems) {
    for (size_t i = 0; i < problems->count; i++) let_go(&problems->list[i]);
    *problems = (gx_problems){ .count = 0 };
}

gx_problems *gx_problems_new(void) {
    return calloc(1, sizeof(gx_problems));
}

void gx_problems_free(gx_problems *problems) {
    if (problems) gx_problems_fini(problems);
    free(problems);
}
