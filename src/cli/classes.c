#include "cli/classes.h"

#include "base/str.h"
#include "front/connector.h"

static const char *const headings[GX_CLASS_KIND_COUNT] = { "Spouts", "Bolts", "Values, for `components`" };

static const char *const unsupported[] = {
    "`topologySource` and `workerHooks`, which are Java code",
    "a `customClass` but PartialKey-, Shuffle- and LoadAwareShuffleGrouping of `org.apache.storm.grouping`",
    "classes that are not listed here, Java's own among them; where gale has something near, the error says so",
};

enum { UNSUPPORTED_COUNT = sizeof unsupported / sizeof unsupported[0] };

/* "whole number, 1 to 10", "one of: tsv json". What has no end worth telling has none. */
static void say_range(const gx_param *param, gx_buf *out) {
    if (param->min >= param->max) return;
    gx_buf_format(out, ", %s %lld", param->roles & GX_PARAM_ABOVE ? "above" : "from", (long long)param->min);
    if (param->max < UINT32_MAX) gx_buf_format(out, " to %lld", (long long)param->max);
}

static void say_type(const gx_param *param, gx_buf *out) {
    if (param->type == GX_PARAM_WORD)
        gx_buf_format(out, "one of: %s", param->words);
    else
        gx_buf_add_text(out, gx_param_type_name(param->type));
    uint32_t types;
    char room[GX_TYPES_WORDS];
    if (param->takes && gx_types_read(gx_str(param->takes), &types))
        gx_buf_format(out, ": %s", gx_types_text(types, room));
    say_range(param, out);
    if (param->unit) gx_buf_format(out, ", in %s", param->unit);
}

/* "needed", or the default as it would be written. */
static const char *fallback_of(const gx_param *param) {
    if (!param->fallback) return "needed";
    return *param->fallback ? param->fallback : "none";
}

static int longest_name(const gx_class *class_) {
    int width = 0;
    for (size_t i = 0; i < class_->param_count; i++)
        if ((int)strlen(class_->params[i].name) > width) width = (int)strlen(class_->params[i].name);
    return width;
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

/* Without the marks that Markdown needs. */
static void add_plain(gx_buf *out, const char *text) {
    for (; *text; text++)
        if (*text != '`') gx_buf_add_byte(out, *text);
}

static void list_kind(const gx_registry *registry, int32_t kind, int width, gx_buf *out) {
    add_plain(out, headings[kind]);
    gx_buf_add_text(out, "\n");
    const gx_class *class_;
    for (size_t i = 0; (class_ = gx_registry_at(registry, i)); i++)
        if (class_->kind == kind) gx_buf_format(out, "  %-*s  %s\n", width, class_->name, class_->text);
    gx_buf_add_text(out, "\n");
}

/* What a file could name if a plugin of gale's own were there. */
static void list_missing(const gx_registry *registry, gx_buf *out) {
    gale_str name;
    bool any = false;
    for (size_t i = 0; i < gx_connector_count; i++) {
        gale_str rest = gx_str(gx_connectors[i].classes);
        while (gx_str_next(&rest, ' ', &name)) {
            if (gx_registry_find(registry, name)) continue;
            if (!any) gx_buf_add_text(out, "Of plugins that are not installed:\n");
            gx_buf_format(out, "  %.*s (gale-%s)\n", GX_STR(name), gx_connectors[i].name);
            any = true;
        }
    }
    if (any) gx_buf_add_text(out, "\n");
}

void gx_classes_list(const gx_registry *registry, gx_buf *out) {
    int width = 0;
    const gx_class *class_;
    for (size_t i = 0; (class_ = gx_registry_at(registry, i)); i++)
        if ((int)strlen(class_->name) > width) width = (int)strlen(class_->name);
    gx_buf_add_text(out, "The classes that a topology file can name:\n\n");
    for (int32_t kind = 0; kind < GX_CLASS_KIND_COUNT; kind++) list_kind(registry, kind, width, out);
    list_missing(registry, out);
    gx_buf_add_text(out, "gale help classes NAME says which properties one has.\n\nFlux files cannot have:\n");
    for (size_t i = 0; i < UNSUPPORTED_COUNT; i++) {
        gx_buf_add_text(out, "  - ");
        add_plain(out, unsupported[i]);
        gx_buf_add_text(out, "\n");
    }
}

static void one_param(const gx_param *param, int width, gx_buf *out) {
    gx_buf_format(out, "  %-*s  ", width, param->name);
    say_type(param, out);
    gx_buf_format(out, "; %s%s\n  %-*s  %s\n", param->fallback ? "default " : "", fallback_of(param), width, "",
                  param->text);
    if (param->also) gx_buf_format(out, "  %-*s  also called %s\n", width, "", param->also);
    if (param->example)
        gx_buf_format(out, "  %-*s  as in {name: %s, value: %s}\n", width, "", param->name, param->example);
}

void gx_classes_one(const gx_class *class_, gx_buf *out) {
    int width = longest_name(class_);
    gx_buf_format(out, "%s: %s\n\n  kind         %s\n", class_->name, class_->text, gx_class_kind_name(class_->kind));
    for (size_t i = 0; i < GX_ALIASES_MAX && class_->aliases[i]; i++)
        gx_buf_format(out, "  %-11s  %s\n", i ? "" : "also called", class_->aliases[i]);
    if (class_->outputs) gx_buf_format(out, "  output       (%s)\n", class_->outputs);
    if (class_->keys) gx_buf_format(out, "  obeys keys   %s\n", class_->keys);
    if (class_->factories) gx_buf_format(out, "  factories    %s\n", class_->factories);
    gx_buf_add_text(out,
                    class_->param_count ? "\nProperties, in the order of constructorArgs:\n" : "\nNo properties.\n");
    for (size_t i = 0; i < class_->param_count; i++) one_param(&class_->params[i], width, out);
}

/* --- Markdown ----------------------------------------------------------------------------------------------------- */

static void page_params(const gx_class *class_, gx_buf *out) {
    if (class_->param_count == 0) return;
    gx_buf_add_text(out, "\n| property | type | default | |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < class_->param_count; i++) {
        const gx_param *param = &class_->params[i];
        gx_buf_format(out, "| `%s` | ", param->name);
        say_type(param, out);
        gx_buf_format(out, " | %s | %s", fallback_of(param), param->text);
        if (param->example) gx_buf_format(out, ": `%s`", param->example);
        if (param->also) gx_buf_format(out, ". Also called `%s`", param->also);
        gx_buf_add_text(out, " |\n");
    }
}

static void page_keys(const gx_class *class_, gx_buf *out) {
    gale_str rest = gx_str(class_->keys), key;
    for (int i = 0; rest.data && gx_str_next(&rest, ' ', &key); i++)
        gx_buf_format(out, "%s `%.*s`", i ? "," : "\nObeys the configuration's", GX_STR(key));
    if (class_->keys) gx_buf_add_text(out, ".");
}

static void page_class(const gx_class *class_, gx_buf *out) {
    gx_buf_format(out, "\n### %s\n\n%c%s.", class_->name, class_->text[0] - 'a' + 'A', class_->text + 1);
    if (class_->outputs) gx_buf_format(out, " Output: `(%s)`.", class_->outputs);
    for (size_t i = 0; i < GX_ALIASES_MAX && class_->aliases[i]; i++)
        gx_buf_format(out, "%s `%s`", i ? "," : "\nAlso called", class_->aliases[i]);
    if (class_->aliases[0]) gx_buf_add_text(out, ".");
    page_keys(class_, out);
    if (class_->factories) gx_buf_format(out, "\nFactories: `%s`.", class_->factories);
    gx_buf_add_text(out, "\n");
    page_params(class_, out);
}

void gx_classes_page(const gx_registry *registry, gx_buf *out) {
    gx_buf_add_text(
        out,
        "# Classes\n\n"
        "The classes that a topology file can name. `gale help classes` prints the same. `properties` give values by "
        "name,\nas Storm's list (`{name: path, value: a.txt}`) or as a map (`{path: a.txt}`); `constructorArgs` in the "
        "order of the tables,\n`configMethods` by name with or without `with` or `set`; `factoryArgs` as "
        "constructorArgs, where a class has factories.\nA `duration` is a number of seconds, or 250ms, 10s, 5m, 1h30m, "
        "2d, a `size` a number of bytes, or 64 KB, 100 MB, 2 GiB; `fields` and lists are YAML lists, or text with "
        "commas.\n\n"
        "This page is made by the program: `gale help classes --markdown > docs/reference/classes.md`.\n");
    for (int32_t kind = 0; kind < GX_CLASS_KIND_COUNT; kind++) {
        gx_buf_format(out, "\n## %s\n", headings[kind]);
        const gx_class *class_;
        for (size_t i = 0; (class_ = gx_registry_at(registry, i)); i++)
            if (class_->kind == kind) page_class(class_, out);
    }
    gx_buf_add_text(out, "\n## What Flux files cannot have\n\nEach is refused with its place, never skipped.\n\n");
    for (size_t i = 0; i < UNSUPPORTED_COUNT; i++) gx_buf_format(out, "- %s\n", unsupported[i]);
}
