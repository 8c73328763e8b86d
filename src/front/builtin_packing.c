#include "front/builtin.h"
#include "front/packing.h"
#include "front/passing.h"
#include "front/table.h"

static const gx_param pack_params[] = {
    GX_ROW(FIELDS, "key", NULL, "the fields that are the message's key: those of the grouping behind it",
           .roles = GX_PARAM_INPUT, .example = "[word]"),
    GX_PASSING_ROW,
};

static int make_pack(const gx_args *args, gale_bolt *ret, gale_error *error) {
    char room[GX_PASSING_TEXT];
    const char *fields;
    int rc = gx_passing_fields(args, room, &fields, error);
    return rc < 0 ? rc : gx_packing_bolt(fields, gx_args_text(args, "key"), ret, error);
}

static const gx_param unpack_params[] = {
    GX_ROW(FIELDS, "fields", NULL, "the fields that it makes; all must be in the message", .roles = GX_PARAM_OUTPUT,
           .example = "[word, line]"),
    GX_ROW(FIELD, "field", "", "the field that has the message; none: the first", .roles = GX_PARAM_INPUT,
           .example = "value"),
};

static int make_unpack(const gx_args *args, gale_bolt *ret, gale_error *error) {
    return gx_unpacking_bolt(gx_args_text(args, "fields"), gx_args_text(args, "field"), ret, error);
}

/* clang-format off */
static const gx_class classes[] = {
    { .name = "gale.bolt.Pack", .kind = GX_CLASS_BOLT, GX_PARAMS(pack_params), .outputs = "key, value", .types = "key string bytes, value string bytes",
      .text = "makes key and value of a message from a tuple, as JSON in which each value stays as it is",
      .make_bolt = make_pack },
    { .name = "gale.bolt.Unpack", .kind = GX_CLASS_BOLT, GX_PARAMS(unpack_params),
      .text = "makes a tuple of a message that gale.bolt.Pack has made; what is none is rejected",
      .make_bolt = make_unpack },
};
/* clang-format on */

const gx_class_table gx_builtin_packing = { classes, sizeof classes / sizeof *classes };
