#include "connect/redis/template.h"

#include <gale/tuple.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Making --------------------------------------------------------------------------------------------------------------- */

void redis_template_free(redis_template *made) {
    for (size_t i = 0; i < made->count; i++) free(made->pieces[i].text);
    free(made->pieces);
    *made = (redis_template){ .pieces = NULL };
}

static int add_piece(redis_template *made, const char *text, size_t size, bool field) {
    redis_piece *pieces = realloc(made->pieces, (made->count + 1) * sizeof *pieces);
    if (!pieces) return GALE_NO_MEMORY;
    made->pieces = pieces;
    pieces[made->count] = (redis_piece){ strndup(text, size), size, field };
    if (!pieces[made->count].text) return GALE_NO_MEMORY;
    made->count++;
    return 0;
}

/* One piece; `*at` goes behind it. A brace that stands twice is the end of a piece, with one of the two in it. */
static int next_piece(redis_template *made, const char **at) {
    size_t plain = strcspn(*at, "{}");
    const char *brace = *at + plain;
    const char *begin = *at;
    if (*brace && brace[1] == *brace) {
        *at = brace + 2;
        return add_piece(made, begin, plain + 1, false);
    }
    if (plain) {
        *at = brace;
        return add_piece(made, begin, plain, false);
    }
    const char *end = *brace == '{' ? strpbrk(brace + 1, "{}") : NULL;
    if (!end || *end == '{' || end == brace + 1) return GALE_INVALID;
    *at = end + 1;
    return add_piece(made, brace + 1, (size_t)(end - brace - 1), true);
}

bool redis_has_name(const char *names, const char *name) {
    size_t size = strlen(name);
    while (names && *names) {
        names += strspn(names, ", ");
        size_t found = strcspn(names, ", ");
        if (found == size && memcmp(names, name, size) == 0) return true;
        names += found;
    }
    return !names;
}

static int check_fields(const redis_template *made, const gale_args *args, gale_error *error) {
    for (size_t at = 0; at < gale_args_input_count(args); at++) {
        gale_input input = GALE_INPUT_INIT;
        if (!gale_args_input(args, at, &input)) continue;
        for (size_t i = 0; i < made->count; i++)
            if (made->pieces[i].field && !redis_has_name(input.fields, made->pieces[i].text))
                return gale_error_set(error, GALE_INVALID, "%s: what comes from '%s' has no field '%s', but %s",
                                      made->parameter, input.source, made->pieces[i].text, input.fields);
    }
    return 0;
}

int redis_template_make(redis_template *made, const gale_args *args, const char *parameter, gale_error *error) {
    const char *at = gale_args_text(args, parameter);
    *made = (redis_template){ .parameter = parameter };
    int rc = 0;
    while (rc == 0 && at && *at) rc = next_piece(made, &at);
    if (rc == GALE_NO_MEMORY) return gale_error_set(error, rc, "out of memory");
    if (rc < 0)
        return gale_error_set(error, rc, "%s: a field stands in braces, {name}, and a brace of its own twice",
                              parameter);
    return check_fields(made, args, error);
}

/* --- Writing -------------------------------------------------------------------------------------------------------------- */

static int write_field(const redis_template *made, const redis_piece *piece, const gale_tuple *tuple, redis_text *to,
                       char *why, size_t size) {
    gale_value value;
    if (!gale_tuple_get(tuple, piece->text, &value)) {
        snprintf(why, size, "%s: field %s is not there", made->parameter, piece->text);
        return GALE_INVALID;
    }
    const char *wrong = redis_text_value(to, &value);
    if (!wrong) return 0;
    snprintf(why, size, "%s: field %s %s", made->parameter, piece->text, wrong);
    return GALE_INVALID;
}

int redis_template_write(const redis_template *made, const gale_tuple *tuple, redis_text *to, char *why, size_t size) {
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < made->count; i++) {
        const redis_piece *piece = &made->pieces[i];
        if (piece->field)
            rc = write_field(made, piece, tuple, to, why, size);
        else
            redis_text_add(to, piece->text, piece->size);
    }
    return rc;
}
