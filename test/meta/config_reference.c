/* The page of the configuration keys, made from the one table of them (src/topology/config.c).
 *
 *     config_reference              prints the page
 *     config_reference PAGE         compares it with the file; what to do when they differ is said
 */
#include "topology/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const intro =
    "# Configuration keys\n"
    "\n"
    "This page is made from the table in [src/topology/config.c](../../src/topology/config.c), and a test compares "
    "the\n"
    "two. Every key that begins with `topology.` or `gale.` is in it; an unknown one is an error that names the "
    "nearest\n"
    "key there is. Other keys are the components' own, and pass unchecked.\n"
    "\n"
    "- **works**: it does what it says.\n"
    "- **no effect**: Storm's key is accepted, so that Storm's files run; one warning says that it changes nothing "
    "here.\n"
    "- **refused**: ignoring it would change results, so it is an error.\n"
    "\n"
    "*Level* says where a key may stand: with *topology, component* a component's own value goes over the topology's; "
    "with\n"
    "*topology* what a component says is dropped, as in Storm. `null` is allowed everywhere and means unset. Values "
    "come\n"
    "from a topology file (`config:`), from `gale_topology_set`, or from the command line (`-c key=value`).\n"
    "\n";

static const char *class_name(gx_key_class class_) {
    switch (class_) {
    case GX_KEY_WORKS: return "works";
    case GX_KEY_ACCEPTED: return "no effect";
    default: return "refused";
    }
}

static void print_types(FILE *out, uint32_t types) {
    const uint32_t any = (1u << GALE_TYPE_COUNT) - 1;
    const char *between = "";
    if (types == any) {
        fputs("any", out);
        return;
    }
    for (int type = 0; type < GALE_TYPE_COUNT; type++) {
        if (!(types & 1u << type)) continue;
        fprintf(out, "%s%s", between, gale_type_name(type));
        between = ", ";
    }
}

static void print_range(FILE *out, const gx_key *key) {
    const char *words = gx_config_words(key);
    if (words) fprintf(out, "; one of: %s", words);
    if (key->min > key->max) return;
    if (key->min > 0 && key->min < 1)
        fprintf(out, "; above 0, at most %.0f", key->max);
    else if (key->min < key->max)
        fprintf(out, "; %.0f to %.0f", key->min, key->max);
    else
        fprintf(out, "; only %.0f", key->min);
}

/* A refused key's text is the end of a sentence. */
static void print_text(FILE *out, const gx_key *key) {
    bool whole = key->class_ != GX_KEY_REFUSED;
    for (const char *at = key->text; *at; at++) {
        bool first = at == key->text && !whole && *at >= 'a' && *at <= 'z';
        if (*at == '|') fputc('\\', out);
        fputc(first ? *at - 'a' + 'A' : *at, out);
    }
    if (!whole) fputc('.', out);
}

static void print_key(FILE *out, const gx_key *key) {
    const char *mark = key->default_text[0] ? "`" : "";
    fprintf(out, "| `%s` | %s | ", key->name, class_name(key->class_));
    print_types(out, key->types);
    print_range(out, key);
    fprintf(out, " | %s%s%s | %s | ", mark, key->default_text, mark,
            key->component ? "topology, component" : "topology");
    print_text(out, key);
    fputs(" |\n", out);
}

static void print_page(FILE *out) {
    size_t count;
    const gx_key *keys = gx_config_keys(&count);
    fputs(intro, out);
    fputs("| key | class | types | default | level | |\n| --- | --- | --- | --- | --- | --- |\n", out);
    for (size_t i = 0; i < count; i++) print_key(out, &keys[i]);
}

static int compare(const char *path, const char *page, size_t size) {
    FILE *file = fopen(path, "rb");
    char *there = malloc(size + 2);
    size_t got = file && there ? fread(there, 1, size + 2, file) : 0;
    bool same = file && there && got == size && memcmp(there, page, size) == 0;
    if (file) fclose(file);
    free(there);
    if (same) return 0;
    printf("%s is not what the table in src/topology/config.c says.\n"
           "Renew it: build/test/meta/config_reference > docs/reference/config.md\n",
           path);
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_page(stdout);
        return 0;
    }
    char *page = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&page, &size);
    if (!out) return 1;
    print_page(out);
    fclose(out);
    int rc = compare(argv[1], page, size);
    free(page);
    return rc;
}
