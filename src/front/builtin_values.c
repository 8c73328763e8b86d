#include "front/builtin.h"
#include "front/table.h"

#include "topology/config.h"

static int take(const gx_args *args, gale_value *ret_value, gale_error *error) {
    (void)error;
    *ret_value = *gx_args_value(args, "value");
    return 0;
}

/* Java's number classes are made of a number or of its text. */
static gale_value number_of(const gale_value *value) {
    if (value->type != GALE_TYPE_STRING) return *value;
    return gx_config_scalar((gale_str){ value->as.string, value->size });
}

static int refuse(const gx_args *args, gale_error *error, const char *what) {
    const gale_value *value = gx_args_value(args, "value");
    bool text = value->type == GALE_TYPE_STRING;
    return gale_error_set(error, GALE_TYPE, "'value' must be %s, not %s%.*s%s", what,
                          text ? "'" : gale_type_name(value->type), text ? (int)value->size : 0,
                          text ? value->as.string : "", text ? "'" : "");
}

static int take_whole(const gx_args *args, gale_value *ret_value, gale_error *error) {
    gale_value value = number_of(gx_args_value(args, "value"));
    if (value.type != GALE_TYPE_I64) return refuse(args, error, "a whole number, or the text of one");
    *ret_value = value;
    return 0;
}

static int take_number(const gx_args *args, gale_value *ret_value, gale_error *error) {
    gale_value value = number_of(gx_args_value(args, "value"));
    if (value.type == GALE_TYPE_I64) value = gale_f64((double)value.as.i64);
    if (value.type != GALE_TYPE_F64) return refuse(args, error, "a number, or the text of one");
    *ret_value = value;
    return 0;
}

/* Java's Boolean takes every text, and all but "true" are false: here that is said. */
static int take_bool(const gx_args *args, gale_value *ret_value, gale_error *error) {
    gale_value value = number_of(gx_args_value(args, "value"));
    if (value.type != GALE_TYPE_BOOL) return refuse(args, error, "true or false, or the text of one");
    *ret_value = value;
    return 0;
}

static const gx_param any_params[] = {
    GX_ROW(ANY, "value", NULL, "a string, a number, true or false, a list or a map", .example = "12"),
};

static const gx_param text_params[] = { GX_ROW(TEXT, "value", "", "its text", .example = "topic") };

static int take_text(const gx_args *args, gale_value *ret_value, gale_error *error) {
    (void)error;
    const char *text = gx_args_text(args, "value");
    *ret_value = gale_text(text ? text : "");
    return 0;
}

static const gx_param list_params[] = {
    GX_ROW(ANY, "value", "", "a list, as it stands or as `{reflist: [...]}`", .example = "[a, b]"),
};

static int take_list(const gx_args *args, gale_value *ret_value, gale_error *error) {
    const gale_value *value = gx_args_value(args, "value");
    if (value->type == GALE_TYPE_NULL || value->type == GALE_TYPE_I64) { /* Java's takes a capacity, too */
        *ret_value = gale_list(NULL, 0);
        return 0;
    }
    if (value->type != GALE_TYPE_LIST) return refuse(args, error, "a list");
    *ret_value = *value;
    return 0;
}

static const gx_param map_params[] = {
    GX_ROW(ANY, "value", "", "a map", .example = "{a: 1}"),
};

static int take_map(const gx_args *args, gale_value *ret_value, gale_error *error) {
    const gale_value *value = gx_args_value(args, "value");
    if (value->type == GALE_TYPE_NULL || value->type == GALE_TYPE_I64) {
        *ret_value = gale_map(NULL, 0);
        return 0;
    }
    if (value->type != GALE_TYPE_MAP) return refuse(args, error, "a map");
    *ret_value = *value;
    return 0;
}

#define VALUE .kind = GX_CLASS_VALUE

/* clang-format off */
static const gx_class classes[] = {
    { .name = "gale.Value", .aliases = { "java.lang.Object" }, VALUE, GX_PARAMS(any_params),
      .text = "a value that arguments can refer to", .make_value = take },
    { .name = "java.lang.String", .aliases = { "java.lang.StringBuilder" }, VALUE, GX_PARAMS(text_params),
      .factories = "valueOf", .text = "a string", .make_value = take_text },
    { .name = "java.lang.Integer",
      .aliases = { "java.lang.Long", "java.lang.Short", "java.lang.Byte", "java.math.BigInteger" }, VALUE,
      GX_PARAMS(any_params), .factories = "valueOf parseInt parseLong decode", .text = "a whole number, or the text of one",
      .make_value = take_whole },
    { .name = "java.lang.Double", .aliases = { "java.lang.Float", "java.math.BigDecimal" }, VALUE,
      GX_PARAMS(any_params), .factories = "valueOf parseDouble parseFloat", .text = "a number, or the text of one",
      .make_value = take_number },
    { .name = "java.lang.Boolean", VALUE, GX_PARAMS(any_params), .factories = "valueOf parseBoolean",
      .text = "true or false, or the text of one", .make_value = take_bool },
    { .name = "java.util.ArrayList", .aliases = { "java.util.LinkedList", "java.util.HashSet" }, VALUE,
      GX_PARAMS(list_params), .text = "a list", .make_value = take_list },
    { .name = "java.util.HashMap",
      .aliases = { "java.util.LinkedHashMap", "java.util.TreeMap", "java.util.Properties" }, VALUE,
      GX_PARAMS(map_params), .text = "a map", .make_value = take_map },
};
/* clang-format on */

const gx_class_table gx_builtin_values = { classes, sizeof classes / sizeof *classes };
