#include "front/keyed.h"

#include "base/str.h"

/* Does the list name the field? */
static bool names(const char *list, gale_str field) {
    gale_str rest = gx_str(list), name;
    while (gx_str_next(&rest, ',', &name))
        if (gx_str_equal(name, field)) return true;
    return false;
}

static int refuse(const gx_keyed *bolt, const char *source, gale_str field, const char *first, gale_error *error) {
    const char *parameter = gx_class_param_with(bolt->class_, GX_PARAM_KEY)->name;
    if (bolt->fields)
        return gale_error_set(
            error, GALE_TOPOLOGY,
            "'%s' is grouped by '%.*s', but its '%s' is '%s': what is equal would come to several tasks", bolt->id,
            GX_STR(field), parameter, bolt->fields);
    return gale_error_set(error, GALE_TOPOLOGY,
                          "'%s' is grouped by '%.*s', but counts '%s', the first field of '%s': give it the property "
                          "'%s' with the value %.*s, or group it by %s",
                          bolt->id, GX_STR(field), first, source, parameter, GX_STR(field), first);
}

int gx_keyed_check(const gx_keyed *bolt, const char *source, const gx_output *output, const char *fields,
                   gale_error *error) {
    const char *first = output->field_count ? output->fields[0] : "";
    gale_str rest = gx_str(fields), field;
    while (gx_str_next(&rest, ',', &field))
        if (!names(bolt->fields ? bolt->fields : first, field)) return refuse(bolt, source, field, first, error);
    return 0;
}
