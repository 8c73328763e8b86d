/* The classes of gale's own connectors, by a table of this test's: what is loaded when one is named, who may bring them, and what is said
 * of one that is missing. */
#include "front/connecting.h"

#include "base/str.h"
#include "front/builtin.h"
#include "front/linked_plugins.h"
#include "front/plugin_folders.h"
#include "harness/cm.h"

#include <stdio.h>
#include <stdlib.h>

const gx_connector gx_connectors[] = {
    { "one", "reads one", "gale.spout.One org.apache.storm.one.OneSpout" },
    { "two", "reads and writes two", "gale.spout.Two gale.bolt.Two" },
    { "none", "is nowhere", "gale.bolt.None" },
};
const size_t gx_connector_count = 3;

/* --- Plugins that are in this program ------------------------------------------------------------------------------ */

static int make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
    (void)user, (void)args, (void)ret_spout;
    return gale_error_set(error, GALE_UNSUPPORTED, "not for running");
}

static const gale_param params[] = { GALE_PARAM("path", GALE_PARAM_TEXT, NULL, "a path") };

static gale_class classes[] = { GALE_SPOUT_CLASS("gale.spout.One", "reads one", params, NULL, make_spout) };
static gale_plugin plugin = GALE_PLUGIN_INIT("one", "1.0", "gale.", "MIT", "reads one", classes);

/* The same one, whole, each time. */
static void describe(void) {
    classes[0].name = "gale.spout.One";
    classes[0].aliases = "org.apache.storm.one.OneSpout One";
    plugin.name = "one";
    plugin.prefix = "gale.";
}

static size_t asked; /* how often it was loaded */

static const gale_plugin *entry(void) {
    asked++;
    return &plugin;
}

static const gx_linked_plugin linked[] = { { "one", entry }, { "two", entry } };

static gx_plugins *begin(void) {
    describe();
    asked = 0;
    gx_linked_plugins_set(linked, sizeof linked / sizeof *linked);
    gx_plugins *plugins = gx_plugins_new(gx_registry_builtin());
    assert_non_null(plugins);
    return plugins;
}

static int name(gx_plugins *plugins, const char *class_, gale_error *error) {
    *error = (gale_error)GALE_ERROR_INIT;
    return gx_connecting_class(plugins, gx_str(class_), error);
}

static void says(gx_plugins *plugins, const char *class_, int code, const char *sentence) {
    gale_error error;
    assert_int_equal(name(plugins, class_, &error), code);
    assert_string_equal(error.text, sentence);
    assert_int_equal(gx_connecting_class(plugins, gx_str(class_), NULL), code);
}

/* --- The table ---------------------------------------------------------------------------------------------------- */

static void a_connector_is_found_by_its_name_and_by_each_of_its_classes(void **state) {
    (void)state;
    assert_ptr_equal(gx_connector_named(gx_str("two")), &gx_connectors[1]);
    assert_ptr_equal(gx_connector_of(gx_str("gale.bolt.Two")), &gx_connectors[1]);
    assert_ptr_equal(gx_connector_of(gx_str("org.apache.storm.one.OneSpout")), &gx_connectors[0]);
    static const char *const others[] = { "", "gale.spout.T", "gale.spout.Two gale.bolt.Two", "gale.spout.Tw", "Two" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_null(gx_connector_of(gx_str(others[i])));
    assert_null(gx_connector_named(gx_str("")));
    assert_null(gx_connector_named(gx_str("tw")));
}

/* --- Naming a class ----------------------------------------------------------------------------------------------- */

static void a_class_that_is_named_is_there_and_is_loaded_once(void **state) {
    (void)state;
    gale_error error;
    gx_plugins *plugins = begin();
    const gx_registry *all = gx_plugins_registry(plugins);
    assert_null(gx_registry_find(all, gx_str("gale.spout.One")));
    assert_int_equal(name(plugins, "org.apache.storm.one.OneSpout", &error), 0);
    assert_int_equal(name(plugins, "gale.spout.One", &error), 0);
    assert_int_equal(asked, 1);
    assert_ptr_equal(gx_registry_find(all, gx_str("One")), gx_registry_find(all, gx_str("gale.spout.One")));
    assert_string_equal(gx_plugins_at(plugins, 0)->path, "one, in this program");
    gx_plugins_free(plugins);
}

static void other_names_load_nothing(void **state) {
    (void)state;
    gale_error error;
    gx_plugins *plugins = begin();
    assert_int_equal(name(plugins, "gale.bolt.Split", &error), 0);
    assert_int_equal(name(plugins, "gale.spout.Unknown", &error), 0);
    assert_int_equal(name(plugins, "", &error), 0);
    assert_int_equal(name(NULL, "gale.bolt.Split", &error), 0);
    assert_int_equal(asked, 0);
    gx_plugins_free(plugins);
}

static void one_that_is_missing_says_where_it_was_looked_for_and_what_to_do(void **state) {
    (void)state;
    gx_plugins *plugins = begin();
    gx_buf folders = GX_BUF_INIT(NULL);
    char sentence[GALE_ERROR_TEXT];
    gx_plugin_folders_describe(&folders);
    snprintf(sentence, sizeof sentence,
             "class gale.bolt.None is brought by the plugin gale-none, which is not installed (no gale-none.so in %s): "
             "apt install gale-none, or build it with -DGALE_CONNECTORS=none",
             gx_buf_text(&folders));
    says(plugins, "gale.bolt.None", GALE_NOT_FOUND, sentence);
    assert_false(gx_connecting_has(&gx_connectors[2]));
    gx_buf_fini(&folders);
    gx_plugins_free(plugins);
}

static void who_loads_no_plugins_is_told_which_it_would_be(void **state) {
    (void)state;
    says(NULL, "gale.spout.One", GALE_UNSUPPORTED,
         "class gale.spout.One is brought by the plugin gale-one, and who reads this file does not load plugins");
}

static void one_that_has_another_ones_place_lacks_the_class(void **state) {
    (void)state;
    gx_plugins *plugins = begin();
    plugin.name = "two";
    plugin.prefix = "two.";
    classes[0].name = "two.spout.Two";
    classes[0].aliases = NULL;
    says(
        plugins, "gale.bolt.Two", GALE_NOT_FOUND,
        "class gale.bolt.Two is to be brought by the plugin gale-two, and the one that is there does not have it (gale "
        "plugins two): it is older than this gale, or another plugin of that name");
    gx_plugins_free(plugins);
}

/* --- Who may bring what ------------------------------------------------------------------------------------------- */

static void gales_names_are_for_those_to_whom_the_table_gives_them(void **state) {
    (void)state;
    gx_plugins *plugins = begin();
    classes[0].name = "gale.spout.Two";
    classes[0].aliases = NULL;
    says(plugins, "gale.spout.One", GALE_INVALID,
         "class gale.spout.One: 'one, in this program' has a class 'gale.spout.Two', and gale " GALE_VERSION_TEXT
         " gives its plugin 'one' these alone: gale.spout.One, org.apache.storm.one.OneSpout; update gale");
    describe();
    classes[0].aliases = "gale.spout.Two";
    says(
        plugins, "gale.spout.One", GALE_INVALID,
        "class gale.spout.One: 'one, in this program' has a class gale.spout.One with a name of gale's or Storm's own, "
        "'gale.spout.Two': leave it out");
    static const char *const prefixes[] = { "gale.spout.", "org.apache.storm.", "gale.one." };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        char sentence[200];
        describe();
        plugin.prefix = prefixes[i];
        snprintf(sentence, sizeof sentence,
                 "class gale.spout.One: 'one, in this program' has the prefix '%s', which is gale's or Storm's own: "
                 "take another",
                 prefixes[i]);
        says(plugins, "gale.spout.One", GALE_INVALID, sentence);
    }
    describe();
    plugin.name = "stranger";
    says(plugins, "gale.spout.One", GALE_INVALID,
         "class gale.spout.One: 'one, in this program' has the prefix 'gale.', which is gale's or Storm's own: take "
         "another");
    assert_null(gx_plugins_at(plugins, 0));
    gx_plugins_free(plugins);
}

/* --- Lists -------------------------------------------------------------------------------------------------------- */

static void who_lists_classes_has_those_that_are_there(void **state) {
    (void)state;
    gx_plugins *plugins = begin();
    gx_connecting_all(plugins); /* the second is refused: it is called as the first */
    assert_int_equal(asked, 2);
    assert_non_null(gx_registry_find(gx_plugins_registry(plugins), gx_str("gale.spout.One")));
    assert_null(gx_plugins_at(plugins, 1));
    gx_plugins_free(plugins);
}

static void a_hint_knows_their_names_and_kinds(void **state) {
    (void)state;
    const gx_registry *registry = gx_registry_builtin();
    char hint[GX_HINT_SIZE];
    assert_string_equal(gx_registry_hint(registry, gx_str("gale.spout.Twoo"), GX_CLASS_SPOUT, hint),
                        "; did you mean 'gale.spout.Two'?");
    assert_string_equal(gx_registry_hint(registry, gx_str("gale.bolt.Nome"), GX_CLASS_BOLT, hint),
                        "; did you mean 'gale.bolt.None'?");
    assert_string_equal(gx_registry_hint(registry, gx_str("gale.bolt.Nome"), GX_CLASS_KIND_COUNT, hint),
                        "; did you mean 'gale.bolt.None'?");
    assert_string_equal(gx_registry_hint(registry, gx_str("a.b.OneSpout"), GX_CLASS_SPOUT, hint),
                        "; did you mean 'org.apache.storm.one.OneSpout'?");
    assert_null(strstr(gx_registry_hint(registry, gx_str("gale.spout.None"), GX_CLASS_SPOUT, hint), "None"));
}

/* --- Without memory ----------------------------------------------------------------------------------------------- */

static long calls_left; /* the one that fails; 0: none */

static bool fails(void) {
    return calls_left && --calls_left == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size) {
    return fails() ? NULL : __real_realloc(old, size);
}

/* What a sentence was to say may be cut; that there is one, and its code, stay. */
static void without_memory_it_is_told_and_nothing_is_lost(void **state) {
    (void)state;
    for (long n = 1; n < 40; n++) {
        gale_error error;
        gx_plugins *plugins = begin();
        calls_left = n;
        int one = name(plugins, "gale.spout.One", &error);
        calls_left = 0;
        assert_true(one == 0 || one == GALE_NO_MEMORY);
        assert_true(one == 0 || *error.text);
        calls_left = n;
        int none = name(plugins, "gale.bolt.None", &error);
        calls_left = 0;
        assert_int_equal(none, GALE_NOT_FOUND);
        assert_memory_equal(error.text, "class gale.bolt.None is brought by the plugin gale-none, ", 57);
        gx_plugins_free(plugins);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connector_is_found_by_its_name_and_by_each_of_its_classes),
        cmocka_unit_test(a_class_that_is_named_is_there_and_is_loaded_once),
        cmocka_unit_test(other_names_load_nothing),
        cmocka_unit_test(one_that_is_missing_says_where_it_was_looked_for_and_what_to_do),
        cmocka_unit_test(who_loads_no_plugins_is_told_which_it_would_be),
        cmocka_unit_test(one_that_has_another_ones_place_lacks_the_class),
        cmocka_unit_test(gales_names_are_for_those_to_whom_the_table_gives_them),
        cmocka_unit_test(who_lists_classes_has_those_that_are_there),
        cmocka_unit_test(a_hint_knows_their_names_and_kinds),
        cmocka_unit_test(without_memory_it_is_told_and_nothing_is_lost),
    };
    setenv("GALE_PLUGIN_PATH", "", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
