#include "base/os/child_text.h"

#include "base/str.h"

#include <gale/error.h>
#include <string.h>
#include <unistd.h>

static const char usual_path[] = "/usr/local/bin:/usr/bin:/bin"; /* where the environment says nothing */

static char *borrowed(const char *text) {
    return (char *)(uintptr_t)text;
}

static void add(gx_child_text *text, char *one) {
    gx_buf_add(&text->lists, &one, sizeof one);
}

/* --- The environment ------------------------------------------------------------------------------------------------- */

static size_t name_size(const char *setting) {
    return strcspn(setting, "=");
}

static bool same_name(const char *a, const char *b) {
    size_t size = name_size(a);
    return size == name_size(b) && memcmp(a, b, size) == 0;
}

static bool is_changed(const char *setting, const char *const *changes) {
    for (; changes && *changes; changes++)
        if (same_name(setting, *changes)) return true;
    return false;
}

/* What is said last of a name counts. */
static void add_changes(gx_child_text *text, const char *const *changes) {
    for (; changes && *changes; changes++)
        if (strchr(*changes, '=') && !is_changed(*changes, changes + 1)) add(text, borrowed(*changes));
}

static void add_environment(gx_child_text *text, const char *const *changes) {
    for (char **one = environ; one && *one; one++)
        if (!is_changed(*one, changes)) add(text, *one);
    add_changes(text, changes);
    add(text, NULL);
}

static gale_str path_of(char *const *environment) {
    for (; *environment; environment++)
        if (strncmp(*environment, "PATH=", 5) == 0) return gx_str(*environment + 5);
    return gx_str(usual_path);
}

/* --- The program ----------------------------------------------------------------------------------------------------- */

/* An empty folder in PATH is the one to work in. */
static size_t add_program(gx_child_text *text, gale_str folder, const char *name) {
    size_t at = text->bytes.size;
    gx_buf_add(&text->bytes, folder.data, folder.size);
    if (folder.size) gx_buf_add_byte(&text->bytes, '/');
    gx_buf_add(&text->bytes, name, strlen(name) + 1);
    return at;
}

/* Each path's place: text moves while it grows. */
static void add_programs(gx_child_text *text, const char *name, gale_str path) {
    size_t first = text->lists.size;
    bool more = !strchr(name, '/');
    if (!more) add(text, borrowed(name));
    while (more) {
        const char *colon = path.size ? memchr(path.data, ':', path.size) : NULL;
        gale_str folder = { path.data, colon ? (size_t)(colon - path.data) : path.size };
        size_t at = add_program(text, folder, name);
        gx_buf_add(&text->lists, &at, sizeof at);
        more = colon != NULL;
        if (more) path = (gale_str){ colon + 1, path.size - folder.size - 1 };
    }
    if (!strchr(name, '/') && !text->bytes.failed && !text->lists.failed)
        for (size_t i = first; i < text->lists.size; i += sizeof(char *)) {
            size_t at;
            memcpy(&at, text->lists.data + i, sizeof at);
            char *program = text->bytes.data + at;
            memcpy(text->lists.data + i, &program, sizeof program);
        }
    add(text, NULL);
}

/* --- All of it ------------------------------------------------------------------------------------------------------- */

static char **list_at(const gx_child_text *text, size_t at) {
    return (char **)(void *)(text->lists.data + at);
}

static const char *const shell[] = { "/bin/sh", "-c", NULL };

static void add_arguments(gx_child_text *text, const char *const *words, const char *command) {
    for (const char *const *word = command ? shell : words; *word; word++) add(text, borrowed(*word));
    if (command) add(text, borrowed(command));
    add(text, NULL);
}

int gx_child_text_init(gx_child_text *text, gx_heap *heap, const char *const *words, const char *command,
                       const char *const *changes) {
    *text = (gx_child_text){ .bytes = GX_BUF_INIT(heap), .lists = GX_BUF_INIT(heap) };
    add_arguments(text, words, command);
    size_t environment = text->lists.size;
    add_environment(text, changes);
    size_t programs = text->lists.size;
    if (!text->lists.failed) add_programs(text, command ? shell[0] : words[0], path_of(list_at(text, environment)));
    if (text->lists.failed || text->bytes.failed) {
        gx_child_text_fini(text);
        return GALE_NO_MEMORY;
    }
    text->arguments = list_at(text, 0);
    text->environment = list_at(text, environment);
    text->programs = list_at(text, programs);
    return GALE_OK;
}

void gx_child_text_fini(gx_child_text *text) {
    gx_buf_fini(&text->bytes);
    gx_buf_fini(&text->lists);
}
