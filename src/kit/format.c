/* Fields to one text: gale_format_bolt. */
#include "kit/scalar.h"
#include "kit/written.h"
#include "tuple/csv.h"

#include <gale/kit.h>
#include <gale/state.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEMPLATE = 4096, PARTS = 128 };

static const char who[] = "format bolt";

/* A piece of the template: text, or a field's place. */
typedef struct part {
    uint16_t at, size;
    int32_t field; /* -1: none */
} part;

typedef struct settings {
    gx_fields fields, keep;
    int32_t form;
    uint32_t part_count;
    part parts[PARTS];
    char template_[TEMPLATE];
    char names[2 * GX_FIELDS_TEXT + 2];
    gale_output output;
} settings;

typedef struct writer {
    gx_instance instance;
    const settings *given;
    gx_field_places places, keep_places;
    gx_buf text;
    gale_value values[GX_FIELDS_MAX], out[GX_FIELDS_MAX + 1];
} writer;

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    writer *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->given = user;
    bolt->text = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    *ret_self = bolt;
    return GALE_OK;
}

static void bolt_cleanup(void *self) {
    gx_buf_fini(&((writer *)self)->text);
    gx_define_instance_free(self);
}

static void write_template(writer *bolt) {
    const settings *given = bolt->given;
    for (uint32_t i = 0; i < given->part_count; i++) {
        const part *p = &given->parts[i];
        if (p->field < 0)
            gx_buf_add(&bolt->text, given->template_ + p->at, p->size);
        else
            gx_written_text(&bolt->text, &bolt->values[p->field]);
    }
}

static void write_csv(writer *bolt) {
    for (uint32_t i = 0; i < bolt->given->fields.count; i++) {
        if (i) gx_buf_add_byte(&bolt->text, ',');
        gx_csv_value(&bolt->text, &bolt->values[i]);
    }
}

static bool write_all(writer *bolt) {
    gx_buf_reset(&bolt->text);
    switch (bolt->given->form) {
    case GALE_FORMAT_JSON: gx_written_json(&bolt->text, &bolt->given->fields, bolt->values); break;
    case GALE_FORMAT_CSV: write_csv(bolt); break;
    default: write_template(bolt); break;
    }
    return gx_buf_text(&bolt->text) != NULL;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    writer *bolt = self;
    const settings *given = bolt->given;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_fields_take(&given->fields, &bolt->places, who, tuple, out, bolt->values);
    if (rc >= 0) rc = gx_fields_take(&given->keep, &bolt->keep_places, who, tuple, out, bolt->out);
    if (rc < 0) return rc;
    if (!write_all(bolt)) return GALE_NO_MEMORY;
    bolt->out[given->keep.count] = gx_scalar_text((gale_str){ bolt->text.data, bolt->text.size }, false);
    rc = gale_emit(out, 0, bolt->out, given->keep.count + 1);
    return rc < 0 ? rc : GALE_OK;
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "format bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &gale_stateless,
};

/* --- The template --- */

static int add_part(settings *made, const char *begin, size_t size, int32_t field, gale_error *error) {
    if (!size && field < 0) return GALE_OK;
    if (made->part_count == PARTS)
        return gale_error_set(error, GALE_INVALID, "%s: template has more than %d pieces", who, PARTS);
    made->parts[made->part_count++] = (part){ (uint16_t)(begin - made->template_), (uint16_t)size, field };
    return GALE_OK;
}

static int no_brace(const settings *made, const char *at, gale_error *error) {
    return gale_error_set(error, GALE_INVALID,
                          "%s: template: '%c' at byte %zu has no counterpart; a field is {name}, a brace %c%c", who,
                          *at, (size_t)(at - made->template_) + 1, *at, *at);
}

/* {name}, or a doubled brace, at `*at`; moves behind it. */
static int take_brace(settings *made, const char **at, gale_error *error) {
    const char *begin = *at, *end = *begin == '{' ? strpbrk(begin + 1, "{}") : NULL;
    if (begin[1] == begin[0]) {
        *at = begin + 2;
        return add_part(made, begin, 1, -1, error);
    }
    if (!end || *end == '{') return no_brace(made, begin, error);
    gale_str name = gx_str_trim((gale_str){ begin + 1, (size_t)(end - begin - 1) });
    int32_t field = gx_fields_place(&made->fields, "format bolt: template", name, error);
    if (field < 0) return GALE_INVALID;
    *at = end + 1;
    return add_part(made, begin, 0, field, error);
}

static int read_template(settings *made, const char *template_, gale_error *error) {
    size_t size = strlen(template_);
    if (size >= sizeof made->template_)
        return gale_error_set(error, GALE_INVALID, "%s: template has %zu bytes, at most %d", who, size, TEMPLATE - 1);
    memcpy(made->template_, template_, size);
    int rc = GALE_OK;
    for (const char *at = made->template_; *at && rc >= 0;) {
        size_t plain = strcspn(at, "{}");
        rc = add_part(made, at, plain, -1, error);
        at += plain;
        if (rc >= 0 && *at) rc = take_brace(made, &at, error);
    }
    return rc;
}

/* --- Options --- */

static int read_form(settings *made, const gale_format_options *given, gale_error *error) {
    if (given->form < 0 || given->form > GALE_FORMAT_CSV)
        return gale_error_set(error, GALE_INVALID, "%s: form is %d, which is neither text (%d), json (%d) nor csv (%d)",
                              who, given->form, GALE_FORMAT_TEXT, GALE_FORMAT_JSON, GALE_FORMAT_CSV);
    made->form = given->form;
    bool text = given->form == GALE_FORMAT_TEXT;
    if (text && !given->template_)
        return gale_error_set(error, GALE_INVALID, "%s: template is not given, which says what the text is", who);
    if (!text && given->template_)
        return gale_error_set(error, GALE_INVALID, "%s: template is given, which JSON and CSV do not have", who);
    return text ? read_template(made, given->template_, error) : GALE_OK;
}

static int read_fields(settings *made, const gale_format_options *given, gale_error *error) {
    gx_fields as;
    int rc = gx_fields_parse(given->fields, "format bolt: fields", &made->fields, error);
    if (rc >= 0 && given->keep && *given->keep)
        rc = gx_fields_parse(given->keep, "format bolt: keep", &made->keep, error);
    if (rc >= 0) rc = gx_fields_parse_one(given->as && *given->as ? given->as : "line", "format bolt: as", &as, error);
    for (uint32_t i = 0; rc >= 0 && i < made->keep.count; i++)
        if (gx_str_equal(gx_fields_name(&made->keep, i), gx_fields_name(&as, 0)))
            rc = gale_error_set(error, GALE_INVALID, "%s: as: '%.*s' goes out already", who,
                                GX_STR(gx_fields_name(&as, 0)));
    if (rc >= 0)
        snprintf(made->names, sizeof made->names, "%s%s%s", made->keep.text, made->keep.count ? ", " : "", as.text);
    return rc;
}

int gale_format_bolt(const gale_format_options *options, gale_bolt *ret_bolt, gale_error *error) {
    gale_format_options given;
    if (!ret_bolt) return gx_define_nowhere(who, error);
    settings *made = calloc(1, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    int rc = gx_options_take(&given, sizeof given, options, "format bolt: options", error);
    if (rc >= 0) rc = read_fields(made, &given, error);
    if (rc >= 0) rc = read_form(made, &given, error);
    if (rc < 0) {
        free(made);
        return rc;
    }
    made->output = (gale_output){ NULL, made->names };
    *ret_bolt = gx_define_bolt(&ops, made, &made->output, 1);
    return GALE_OK;
}
