#include "cases/vacuous.h"

#include "base/str.h"

/* What a step says of the list that is wanted. */
static const gx_yaml *list_of(const gx_step *step) {
    static const char *const keys[] = { "tuples", "lines", "texts" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (gx_yaml_get(step->node, keys[i])) return gx_yaml_get(step->node, keys[i]);
    return NULL;
}

static bool acts(const gx_step *step) {
    return step->kind == GX_STEP_FEED || step->kind == GX_STEP_ADVANCE || step->kind == GX_STEP_FINISH;
}

/* Is it about what was fed to a component? */
static bool is_of_feed(const gx_step *step) {
    return step->of_spout || (step->kind >= GX_STEP_ACKED && step->kind <= GX_STEP_LETTERS);
}

static bool wants_none(const gx_step *step) {
    return step->count == 0 || (step->rows.wanted && !step->rows.count && step->order != GALE_TEST_CONTAINS);
}

static bool is_fed_before(const gx_case *c, const gx_step *step) {
    for (const gx_step *other = c->steps; other < step; other++)
        if (other->kind == GX_STEP_FEED && gx_str_equal(other->id->text, step->id->text)) return true;
    return false;
}

static bool is_acted_before(const gx_case *c, const gx_step *step) {
    for (const gx_step *other = c->steps; other < step; other++)
        if (acts(other)) return true;
    return false;
}

static int check_step(const gx_yaml_doc *doc, const gx_case *c, const gx_step *step, gale_error *error) {
    const gx_yaml *list = list_of(step);
    if (step->kind == GX_STEP_FEED && !step->rows.count)
        return gx_yaml_error(doc, list ? list : step->node, error, GALE_INVALID, "this feeds nothing: give a tuple");
    if (acts(step) || step->kind == GX_STEP_STOPPED) return 0;
    if (list && !step->rows.count && step->order == GALE_TEST_CONTAINS && step->count < 0)
        return gx_yaml_error(doc, list, error, GALE_INVALID,
                             "'contains' of nothing holds for everything: name what is expected; if there is to be "
                             "none, say `count: 0`");
    if (is_of_feed(step) && !is_fed_before(c, step))
        return gx_yaml_error(doc, step->id, error, GALE_INVALID,
                             "nothing was fed to '%.*s' before this step: feed it, or leave the step out",
                             GX_STR(step->id->text));
    if (wants_none(step) && !is_acted_before(c, step))
        return gx_yaml_error(doc, step->id, error, GALE_INVALID,
                             "nothing has happened before this step, so that there can be nothing: feed something, or "
                             "let time pass");
    return 0;
}

int gx_vacuous_check(const gx_yaml_doc *doc, const gx_case *c, gale_error *error) {
    bool expects = false;
    int rc = 0;
    for (size_t i = 0; i < c->step_count && rc == 0; i++) {
        expects |= !acts(&c->steps[i]);
        rc = check_step(doc, c, &c->steps[i], error);
    }
    if (rc < 0 || expects) return rc;
    return gx_yaml_error(doc, c->node, error, GALE_INVALID,
                         "this case expects nothing, and cannot fail: say what is to come of it (expect, acked, ...)");
}
