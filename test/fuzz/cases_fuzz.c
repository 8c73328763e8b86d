/* A file of cases: it is read, or refused with a place; and never half of it. */
#include "fuzz.h"

#include "base/str.h"
#include "cases/case_file.h"
#include "front/builtin.h"
#include "front/flux.h"

static const char topology[] = "name: fuzz\n"
                               "spouts: [{id: lines, className: gale.spout.Generator}]\n"
                               "bolts: [{id: split, className: gale.bolt.Split, parallelism: 2},\n"
                               "        {id: count, className: gale.bolt.Count}]\n"
                               "streams: [{from: lines, to: split, grouping: {type: SHUFFLE}},\n"
                               "          {from: split, to: count, grouping: {type: FIELDS, args: [word]}}]\n";

static gale_topology *make_topology(void) {
    gale_topology *made = NULL;
    expect(gx_flux_parse("fuzz.yaml", gx_str(topology), gx_registry_builtin(), NULL, &made, NULL) == 0);
    return made;
}

/* Each problem has a place in the file, or is about all of it. */
static void check_problems(const gx_problems *problems) {
    for (size_t i = 0; i < problems->count; i++) {
        expect(problems->list[i].text && *problems->list[i].text);
        expect(strcmp(problems->list[i].position.file, "fuzz.test.yaml") == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    char *text = fuzz_text(&in);
    gale_error error = GALE_ERROR_INIT;
    gx_problems *problems = gx_problems_new();
    gx_case_file file;
    expect(problems);
    int rc = gx_case_file_parse("fuzz.test.yaml", (gale_str){ text, size }, gx_registry_builtin(), make_topology(),
                                problems, &file, &error);
    expect(rc == 0);
    check_problems(problems);
    expect(problems->errors || file.count > 0);
    gx_case_file_fini(&file);
    gx_problems_free(problems);
    free(text);
    return 0;
}
