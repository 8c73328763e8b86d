/* gale new NAME */
#include "cli/command.h"
#include "cli/session.h"
#include "cli/templates.h"

#include "base/os/file.h"
#include "base/os/scratch.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MAX_SIZE = 40, PATH_SIZE = 256 };

typedef struct choices {
    bool yaml, c, plugin, python;
} choices;

#define AT(field) offsetof(choices, field)

static const gx_option options[] = {
    { 0, "yaml", NULL, GX_OPTION_FLAG, AT(yaml), 0, 0, "a topology file with its cases (default)" },
    { 0, "c", NULL, GX_OPTION_FLAG, AT(c), 0, 0, "a program with gale in it, and a bolt of its own with its test" },
    { 0, "plugin", NULL, GX_OPTION_FLAG, AT(plugin), 0, 0, "a plugin with a class, a topology that has it, and cases" },
    { 0, "python", NULL, GX_OPTION_FLAG, AT(python), 0, 0, "a topology of spouts and bolts in Python, with its test" },
};

enum { OPTION_COUNT = sizeof options / sizeof options[0] };

/* A kind of project, and the commands that are printed: those build it, test it and run it. `needs`: what they find only
 * where gale is installed, and how to do without. */
typedef struct kind {
    const char *name;
    const char *commands[5];
    const char *needs;
} kind;

static const char for_cmake[] =
    "CMake finds gale where it is installed (Debian: libgale-dev; or cmake --install BUILD --prefix FOLDER); where it "
    "does not:\n"
    "cmake -B build -DCMAKE_PREFIX_PATH=FOLDER\n";
static const char for_python[] =
    "Python finds gale where it is installed (Debian: python3-gale). With gale's sources and script/build alone:\n"
    "export PYTHONPATH=SOURCES/bindings/python GALE_LIBRARY=SOURCES/build\n";

static const kind kinds[] = {
    { "yaml", { "gale test .", "gale run topology.yaml" }, NULL },
    { "c",
      { "cmake -B build", "cmake --build build", "ctest --test-dir build", "build/bin/@NAME@ README.md" },
      for_cmake },
    { "plugin",
      { "cmake -B build", "cmake --build build", "gale test .", "gale run topology.yaml < README.md" },
      for_cmake },
    { "python", { "python3 words_test.py", "python3 words.py README.md" }, for_python },
};

/* --- Writing ------------------------------------------------------------------------------------------------------ */

/* `text` with the name in place of each @NAME@. */
static void fill_in(gale_str text, const char *name, gx_buf *out) {
    static const char mark[] = "@NAME@";
    const char *at;
    while (text.size && (at = memmem(text.data, text.size, mark, sizeof mark - 1))) {
        size_t before = (size_t)(at - text.data), used = before + sizeof mark - 1;
        gx_buf_add(out, text.data, before);
        gx_buf_add_text(out, name);
        text = (gale_str){ text.data + used, text.size - used };
    }
    gx_buf_add(out, text.data, text.size);
}

static int write_bytes(const char *path, const gx_buf *bytes, gale_error *error) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return gale_error_set(error, GALE_IO, "cannot write '%s': %s", path, strerror(errno));
    int rc = gx_file_write(fd, bytes->data, bytes->size, path, error);
    if (close(fd) != 0 && rc >= 0) rc = gale_error_set(error, GALE_IO, "cannot write '%s': %s", path, strerror(errno));
    return rc < 0 ? rc : 0;
}

static int write_one(const gx_template *file, const char *name, gale_error *error) {
    char path[PATH_SIZE];
    gx_buf bytes = GX_BUF_INIT(NULL);
    snprintf(path, sizeof path, "%s/%s", name, file->name);
    fill_in((gale_str){ (const char *)file->bytes, file->size }, name, &bytes);
    int rc = bytes.failed ? gale_error_set(error, GALE_NO_MEMORY, "out of memory") : write_bytes(path, &bytes, error);
    gx_buf_fini(&bytes);
    return rc;
}

/* Anything of that name stays as it is. */
static int make_folder(const char *name, gale_error *error) {
    if (mkdir(name, 0777) == 0) return 0;
    if (errno == EEXIST) return gale_error_set(error, GALE_EXISTS, "'%s' is there already: nothing was written", name);
    return gale_error_set(error, GALE_IO, "cannot make the folder '%s': %s", name, strerror(errno));
}

/* All of it, or nothing. */
static int write_project(const kind *k, const char *name, gale_error *error) {
    int rc = make_folder(name, error);
    if (rc < 0) return rc;
    for (size_t i = 0; i < gx_template_count && rc == 0; i++)
        if (strcmp(gx_templates[i].kind, k->name) == 0) rc = write_one(&gx_templates[i], name, error);
    if (rc < 0) (void)gx_scratch_remove(name, NULL);
    return rc;
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Words that mean something else to `cmake --build`: no program can be called so. */
static bool is_cmakes(const char *name) {
    static const char *const words[] = { "all",  "clean",      "edit_cache",    "help",      "install", "package",
                                         "test", "words_test", "rebuild_cache", "uninstall", "program" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i]) == 0) return true;
    return false;
}

/* A plugin is called as its file is (front/plugin_rows.h): in small letters. */
static int check_plugin_name(const char *name, gale_error *error) {
    char small[NAME_MAX_SIZE + 1];
    size_t size = strlen(name);
    for (size_t i = 0; i <= size; i++)
        small[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 'a' - 'A') : name[i];
    if (strcmp(name, small) != 0)
        return gale_error_set(error, GALE_INVALID,
                              "'%s' is no name for a plugin: small letters, digits, '-' and '_'; did you mean '%s'?",
                              name, small);
    if (strcmp(name, "gale") != 0 && strcmp(name, "org") != 0) return 0;
    return gale_error_set(error, GALE_INVALID,
                          "classes that begin with '%s.' are gale's or Storm's own: take another name", name);
}

/* What a folder, a topology, a program, a plugin and the prefix of its classes can all be called. */
static int check_name(const char *name, const kind *k, gale_error *error) {
    bool right = is_letter(name[0]) && strlen(name) <= NAME_MAX_SIZE;
    for (const char *c = name; *c && right; c++)
        right = is_letter(*c) || (*c >= '0' && *c <= '9') || *c == '-' || *c == '_';
    if (!right)
        return gale_error_set(error, GALE_INVALID,
                              "'%s' is no name for a project: a letter, then letters, digits, '-' and '_', at most %d",
                              name, NAME_MAX_SIZE);
    if (strcmp(k->name, "c") == 0 && is_cmakes(name))
        return gale_error_set(error, GALE_INVALID, "'%s' means something else to cmake --build: take another name",
                              name);
    return strcmp(k->name, "plugin") == 0 ? check_plugin_name(name, error) : 0;
}

static int choose(const choices *c, const gx_words *words, const kind **ret_kind, gale_error *error) {
    if (words->count != 1) return gale_error_set(error, GALE_INVALID, "new wants a name: gale %s", gx_cmd_new.usage);
    if (c->yaml + c->c + c->plugin + c->python > 1)
        return gale_error_set(error, GALE_INVALID, "a project is of one kind: --yaml, --c, --plugin or --python");
    *ret_kind = &kinds[c->c ? 1 : c->plugin ? 2 : c->python ? 3 : 0];
    return check_name(words->items[0], *ret_kind, error);
}

static int tell(const kind *k, const char *name, gx_terminal *errors) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_buf_format(&out, "%s is made. What comes next:\n\n  cd %s\n", name, name);
    for (const char *const *command = k->commands; *command; command++) {
        gx_buf_add_text(&out, "  ");
        fill_in(gx_str(*command), name, &out);
        gx_buf_add_byte(&out, '\n');
    }
    if (k->needs) gx_buf_format(&out, "\n%s", k->needs);
    return gx_session_print(errors, &out);
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .yaml = false };
    gx_words words = { .count = 0 };
    const kind *k = NULL;
    int rc = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &words, &error);
    if (rc == 0) rc = choose(&c, &words, &k, &error);
    if (rc < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    rc = write_project(k, words.items[0], &error);
    if (rc < 0) return gx_session_refuse(errors, &error, rc == GALE_EXISTS ? GX_EXIT_USAGE : GX_EXIT_IO);
    return tell(k, words.items[0], errors);
}

const gx_command gx_cmd_new = {
    .name = "new",
    .usage = "new NAME [--yaml|--c|--plugin|--python]",
    .text = "make a project that builds, runs and passes its test",
    .more = "It is a folder of that name; what is there already is not touched. The commands that build, test and run "
            "it are\n"
            "printed.\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run,
};
