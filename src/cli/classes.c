#include "cli/classes.h"

#include "base/str.h"

static const char *const headings[GX_CLASS_KIND_COUNT] = { "Spouts", "Bolts", "Values, for `components`" };

static const char *const unsupported[] = {
    "`includes` and `topologySource`: a topology is one file that says all",
    "`${...}`, of properties files or the environment; `-c key=value` sets a key of the configuration",
    "`workerHooks`",
    "`factory` and `factoryArgs`; `reflist`",
    "a `customClass` other than `org.apache.storm.grouping.PartialKeyGrouping`",
    "classes that are not listed here, Java's own among them",
};

enum { UNSUPPORTED_COUNT = sizeof unsupported / sizeof unsupported[0] };

static const char *type_of(const gx_param *param) {
    switch (param->type) {
    case GALE_TYPE_BOOL: return "true or false";
    case GALE_TYPE_I64: return "whole number";
    case GALE_TYPE_STRING: return "string";
    default: return "any scalar";
    }
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
    for (size_t i = 0; i < registry->class_count; i++) {
        const gx_class *class_ = &registry->classes[i];
        if (class_->kind == kind) gx_buf_format(out, "  %-*s  %s\n", width, class_->name, class_->text);
    }
    gx_buf_add_text(out, "\n");
}

void gx_classes_list(const gx_registry *registry, gx_buf *out) {
    int width = 0;
    for (size_t i = 0; i < registry->class_count; i++)
        if ((int)strlen(registry->classes[i].name) > width) width = (int)strlen(registry->classes[i].name);
    gx_buf_add_text(out, "The classes that a topology file can name:\n\n");
    for (int32_t kind = 0; kind < GX_CLASS_KIND_COUNT; kind++) list_kind(registry, kind, width, out);
    gx_buf_add_text(out, "gale help classes NAME says which properties one has.\n\nFlux files cannot have, yet:\n");
    for (size_t i = 0; i < UNSUPPORTED_COUNT; i++) {
        gx_buf_add_text(out, "  - ");
        add_plain(out, unsupported[i]);
        gx_buf_add_text(out, "\n");
    }
}

void gx_classes_one(const gx_class *class_, gx_buf *out) {
    int width = longest_name(class_);
    gx_buf_format(out, "%s: %s\n\n  kind         %s\n", class_->name, class_->text, gx_class_kind_name(class_->kind));
    for (size_t i = 0; i < GX_ALIASES_MAX && class_->aliases[i]; i++)
        gx_buf_format(out, "  %-11s  %s\n", i ? "" : "also called", class_->aliases[i]);
    if (class_->outputs) gx_buf_format(out, "  output       (%s)\n", class_->outputs);
    if (class_->keys) gx_buf_format(out, "  obeys keys   %s\n", class_->keys);
    gx_buf_add_text(out,
                    class_->param_count ? "\nProperties, in the order of constructorArgs:\n" : "\nNo properties.\n");
    for (size_t i = 0; i < class_->param_count; i++) {
        const gx_param *param = &class_->params[i];
        gx_buf_format(out, "  %-*s  %s, %s%s\n  %-*s  %s\n", width, param->name, type_of(param),
                      param->fallback ? "default " : "", fallback_of(param), width, "", param->text);
    }
}

/* --- Markdown ----------------------------------------------------------------------------------------------------- */

static void page_params(const gx_class *class_, gx_buf *out) {
    if (class_->param_count == 0) return;
    gx_buf_add_text(out, "\n| property | type | default | |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < class_->param_count; i++) {
        const gx_param *param = &class_->params[i];
        gx_buf_format(out, "| `%s` | %s | %s | %s |\n", param->name, type_of(param), fallback_of(param), param->text);
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
    gx_buf_add_text(out, "\n");
    page_params(class_, out);
}

void gx_classes_page(const gx_registry *registry, gx_buf *out) {
    gx_buf_add_text(
        out,
        "# Classes\n\n"
        "The classes that a topology file can name. `gale help classes` prints the same. `properties` give values by "
        "name,\n`constructorArgs` in the order of the tables, `configMethods` by name with or without `with` or "
        "`set`.\n\n"
        "This page is made by the program: `gale help classes --markdown > docs/reference/classes.md`.\n");
    for (int32_t kind = 0; kind < GX_CLASS_KIND_COUNT; kind++) {
        gx_buf_format(out, "\n## %s\n", headings[kind]);
        for (size_t i = 0; i < registry->class_count; i++)
            if (registry->classes[i].kind == kind) page_class(&registry->classes[i], out);
    }
    gx_buf_add_text(out, "\n## What Flux files cannot have, yet\n\nEach is refused with its place, never skipped.\n\n");
    for (size_t i = 0; i < UNSUPPORTED_COUNT; i++) gx_buf_format(out, "- %s\n", unsupported[i]);
}
