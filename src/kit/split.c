/* Lines to words: gale_split_bolt. */
#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"
#include "ds/bytes_map.h"
#include "kit/cut.h"
#include "kit/fields.h"

#include <gale/kit.h>
#include <gale/state.h>
#include <stdlib.h>

enum { AT_ONCE = 32 }; /* words */

static const char who[] = "split";

/* The user block: the options and a copy of the stop words behind them. */
typedef struct settings {
    gale_split_options options;
    gx_fields field; /* empty: the first */
    size_t stop_size;
    char stop_words[];
} settings;

typedef struct split {
    gx_instance instance;
    gale_split_options options;
    const gx_fields *field;
    gx_field_places places;
    bool plain; /* words go out as they are */
    gx_bytes_map *stop_words;
    gx_buf word;
} split;

static void to_lower(char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (text[i] >= 'A' && text[i] <= 'Z') text[i] = (char)(text[i] + ('a' - 'A'));
    }
}

static void bolt_cleanup(void *self) {
    split *bolt = self;
    gx_bytes_map_free(bolt->stop_words);
    gx_buf_fini(&bolt->word);
    gx_define_instance_free(bolt);
}

/* The word as it is compared and emitted: lower case, if that was asked for. Borrowed until the next call. */
static bool normal(split *bolt, gale_str *word) {
    if (!bolt->options.lower_case) return true;
    gx_buf_reset(&bolt->word);
    gx_buf_add(&bolt->word, word->data, word->size);
    if (bolt->word.failed) return false;
    to_lower(bolt->word.data, bolt->word.size);
    *word = (gale_str){ bolt->word.data, bolt->word.size };
    return true;
}

static bool learn_stop_words(split *bolt, gale_str all) {
    bolt->stop_words = gx_bytes_map_new(&bolt->instance.heap, 8, gale_context_random(bolt->instance.context));
    if (!bolt->stop_words) return false;
    gale_str word;
    for (gx_cut cut = gx_cut_begin(all); gx_cut_next(&cut, &word);) {
        if (!normal(bolt, &word) || !gx_bytes_map_put(bolt->stop_words, word, NULL)) return false;
    }
    return true;
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    const settings *given = user;
    split *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->options = given->options;
    bolt->field = &given->field;
    bolt->word = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    const gale_split_options *options = &bolt->options;
    bolt->plain = !options->lower_case && !options->letters_only && !options->min_letters && !given->stop_size;
    if (given->stop_size && !learn_stop_words(bolt, (gale_str){ given->stop_words, given->stop_size })) {
        bolt_cleanup(bolt);
        return GALE_NO_MEMORY;
    }
    *ret_self = bolt;
    return 0;
}

/* Cuts and checks the word as the options say; `*word` is empty when it is dropped. */
static int dress(split *bolt, gale_str *word, bool text) {
    if (bolt->options.letters_only) *word = gx_character_class_trim(*word, text);
    bool dropped = gx_character_class_count(*word, text) < bolt->options.min_letters;
    if (!dropped && word->size) {
        if (!normal(bolt, word)) return GALE_NO_MEMORY;
        dropped = bolt->stop_words && gx_bytes_map_get(bolt->stop_words, *word);
    }
    if (dropped) word->size = 0;
    return 0;
}

/* The words as they are, some in one call. */
GX_INLINE int emit_plain(gale_str whole, bool all_text, gale_collector *out) {
    gale_value words[AT_ONCE];
    size_t count = 0;
    gale_str word;
    int rc = 0;
    for (gx_cut cut = gx_cut_begin(whole); rc >= 0 && gx_cut_next(&cut, &word);) {
        bool text = all_text || gx_utf8_valid(word.data, word.size);
        words[count++] = text ? gale_string(word.data, word.size) : gale_bytes(word.data, word.size);
        if (count < AT_ONCE) continue;
        rc = gale_emit_many(out, 0, words, 1, count, NULL);
        count = 0;
    }
    return rc >= 0 && count ? gale_emit_many(out, 0, words, 1, count, NULL) : rc;
}

GX_UNPROTECTED static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    split *bolt = self;
    if (gale_tuple_is_tick(tuple)) return 0;
    if (GX_UNLIKELY(bolt->field->count)) {
        gale_value named;
        int rc = gx_fields_take(bolt->field, &bolt->places, who, tuple, out, &named);
        if (rc < 0) return rc;
    } else if (gale_tuple_size(tuple) < 1) {
        return gx_define_need(out, who, tuple, 1);
    }
    gale_value line = gale_tuple_value(tuple, bolt->places.at[0]);
    if (line.type != GALE_TYPE_STRING && line.type != GALE_TYPE_BYTES) {
        return gx_define_wrong_type(out, who, tuple, bolt->places.at[0], "string or bytes");
    }
    gale_str whole = { line.as.string, line.size }, word;
    bool all_text = line.type == GALE_TYPE_STRING || gx_utf8_valid(whole.data, whole.size);
    if (bolt->plain) return emit_plain(whole, all_text, out);
    for (gx_cut cut = gx_cut_begin(whole); gx_cut_next(&cut, &word);) {
        bool text = all_text || gx_utf8_valid(word.data, word.size);
        int rc = dress(bolt, &word, text);
        if (rc == 0 && word.size) {
            gale_value value = text ? gale_string(word.data, word.size) : gale_bytes(word.data, word.size);
            rc = gale_emit(out, 0, &value, 1);
        }
        if (rc < 0) return rc;
    }
    return 0;
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "split bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &gale_stateless,
};

int gale_split_bolt(const gale_split_options *options, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_output outputs[] = { { NULL, "word" } };
    if (!ret_bolt) return gx_define_nowhere("split bolt", error);
    gale_split_options given;
    int rc = gx_options_take(&given, sizeof given, options, "split bolt: options", error);
    if (rc < 0) return rc;
    gx_fields field;
    rc = gx_fields_parse_one(given.field, "split bolt: field", &field, error);
    if (rc < 0) return rc;
    gale_str stop = gx_str(given.stop_words);
    settings *user = calloc(1, sizeof *user + stop.size);
    if (!user) return gale_error_set(error, GALE_NO_MEMORY, "split bolt: out of memory");
    user->options = given;
    user->options.stop_words = user->options.field = NULL;
    user->field = field;
    user->stop_size = stop.size;
    if (stop.size) memcpy(user->stop_words, stop.data, stop.size);
    *ret_bolt = gx_define_bolt(&ops, user, outputs, 1);
    return 0;
}
