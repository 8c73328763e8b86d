#include "connect/redis/command.h"

#include <gale/tuple.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* May or must a parameter be there? ONE: without it, it is 1. */
typedef enum part { NO, MAY, MUST, ONE } part;

struct redis_form {
    const char *name;
    part member, value;
    bool fields;      /* what is written are fields of the tuple, with their names */
    bool value_first; /* ZADD key score member */
};

static const redis_form forms[] = {
    { "XADD", NO, NO, true, false },        { "HSET", MAY, MAY, true, false },
    { "HINCRBY", MUST, ONE, false, false }, { "HINCRBYFLOAT", MUST, ONE, false, false },
    { "ZADD", MUST, MUST, false, true },    { "ZINCRBY", MUST, ONE, false, true },
    { "SADD", MUST, NO, false, false },     { "SET", NO, MUST, false, false },
    { "INCRBY", NO, ONE, false, false },    { "INCRBYFLOAT", NO, ONE, false, false },
    { "RPUSH", NO, MUST, false, false },    { "LPUSH", NO, MUST, false, false },
    { "PUBLISH", NO, MUST, false, false },
};

/* --- Making ----------------------------------------------------------------------------------------------------------------- */

static const redis_form *form_of(const char *name) {
    for (size_t i = 0; name && i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, name) == 0) return &forms[i];
    return NULL;
}

static int check_part(const redis_command *c, const char *parameter, part wanted, bool given, gale_error *error) {
    if (wanted == MUST && !given)
        return gale_error_set(error, GALE_INVALID, "%s: %s needs it", parameter, c->form->name);
    if (wanted == NO && given) return gale_error_set(error, GALE_INVALID, "%s: %s has none", parameter, c->form->name);
    return 0;
}

static bool writes_fields(const redis_command *c) {
    return c->form->fields && !c->member.count;
}

static int add_fields(redis_command *c, const char *names, gale_error *error) {
    for (names += strspn(names, ", "); *names; names += strspn(names, ", ")) {
        size_t size = strcspn(names, ", ");
        if (c->field_count == REDIS_FIELDS_MAX)
            return gale_error_set(error, GALE_INVALID, "fields: at most %d are written", REDIS_FIELDS_MAX);
        c->fields[c->field_count] = strndup(names, size);
        if (!c->fields[c->field_count]) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
        c->field_count++;
        names += size;
    }
    return 0;
}

/* Those that are named, or all that come in. */
static int read_fields(redis_command *c, const gale_args *args, gale_error *error) {
    const char *names = gale_args_text(args, "fields");
    gale_input input = GALE_INPUT_INIT;
    if (!writes_fields(c))
        return names && *names ? gale_error_set(error, GALE_INVALID,
                                                "fields: they are of XADD, and of HSET without "
                                                "`member`")
                               : 0;
    if ((!names || !*names) && gale_args_input(args, 0, &input)) names = input.fields;
    if (!names || !*names)
        return gale_error_set(error, GALE_FIELDS, "fields: what comes in is not known: they must be named here");
    return add_fields(c, names, error);
}

static int read_more(redis_command *c, const gale_args *args, gale_error *error) {
    bool adds = strcmp(c->form->name, "XADD") == 0, sets = strcmp(c->form->name, "SET") == 0;
    c->longest = gale_args_whole(args, "maxLength");
    c->exactly = gale_args_flag(args, "exactLength");
    c->expires = (int64_t)(gale_args_number(args, "expire") * 1000);
    if (!adds && c->longest) return gale_error_set(error, GALE_INVALID, "maxLength: it is of XADD");
    if (!c->longest && c->exactly) return gale_error_set(error, GALE_INVALID, "exactLength: of which `maxLength`?");
    if (!sets && c->expires) return gale_error_set(error, GALE_INVALID, "expire: it is of SET");
    return 0;
}

int redis_command_make(redis_command *c, const gale_args *args, gale_error *error) {
    c->form = form_of(gale_args_text(args, "command"));
    if (!c->form) return gale_error_set(error, GALE_INVALID, "command: it is none of " REDIS_COMMANDS);
    int rc = redis_template_make(&c->key, args, "key", error);
    if (rc == 0 && !c->key.count) rc = gale_error_set(error, GALE_INVALID, "key: it is empty");
    if (rc == 0) rc = redis_template_make(&c->member, args, "member", error);
    if (rc == 0) rc = redis_template_make(&c->value, args, "value", error);
    if (rc == 0) rc = check_part(c, "member", c->form->member, c->member.count, error);
    if (rc == 0) rc = check_part(c, "value", c->form->value, c->value.count, error);
    if (rc == 0 && c->form->value == MAY && !c->member.count != !c->value.count)
        rc = gale_error_set(error, GALE_INVALID, "%s: HSET has both, `member` and `value`, or the tuple's fields",
                            c->member.count ? "value" : "member");
    if (rc == 0) rc = read_fields(c, args, error);
    return rc == 0 ? read_more(c, args, error) : rc;
}

void redis_command_free(redis_command *c) {
    redis_template_free(&c->key);
    redis_template_free(&c->member);
    redis_template_free(&c->value);
    for (size_t i = 0; i < c->field_count; i++) free(c->fields[i]);
}

/* --- Writing ---------------------------------------------------------------------------------------------------------------- */

static int write_template(const redis_template *made, const gale_tuple *tuple, redis_text *scratch, redis_text *to,
                          char *why, size_t size) {
    scratch->size = 0;
    int rc = redis_template_write(made, tuple, scratch, why, size);
    if (rc == 0) redis_text_word(to, scratch->data, scratch->size);
    return rc;
}

/* One that is null is left out: `*ret_count` says how many there are. */
static int count_fields(const redis_command *c, const gale_tuple *tuple, size_t *ret_count, char *why, size_t size) {
    gale_value value;
    *ret_count = 0;
    for (size_t i = 0; i < c->field_count; i++)
        if (gale_tuple_get(tuple, c->fields[i], &value) && value.type != GALE_TYPE_NULL) ++*ret_count;
    if (*ret_count) return 0;
    snprintf(why, size, "fields: none of them is there, or all are null");
    return GALE_INVALID;
}

static int write_fields(const redis_command *c, const gale_tuple *tuple, redis_text *scratch, redis_text *to, char *why,
                        size_t size) {
    for (size_t i = 0; i < c->field_count; i++) {
        gale_value value;
        if (!gale_tuple_get(tuple, c->fields[i], &value) || value.type == GALE_TYPE_NULL) continue;
        scratch->size = 0;
        const char *wrong = redis_text_value(scratch, &value);
        if (wrong) {
            snprintf(why, size, "fields: %s %s", c->fields[i], wrong);
            return GALE_INVALID;
        }
        redis_text_word(to, c->fields[i], strlen(c->fields[i]));
        redis_text_word(to, scratch->data, scratch->size);
    }
    return 0;
}

static int write_value(const redis_command *c, const gale_tuple *tuple, redis_text *scratch, redis_text *to, char *why,
                       size_t size) {
    if (c->value.count) return write_template(&c->value, tuple, scratch, to, why, size);
    if (c->form->value == ONE) redis_text_word(to, "1", 1);
    return 0;
}

static int write_parts(const redis_command *c, const gale_tuple *tuple, redis_text *scratch, redis_text *to, char *why,
                       size_t size) {
    int rc = c->form->value_first ? write_value(c, tuple, scratch, to, why, size) : 0;
    if (rc == 0 && c->member.count) rc = write_template(&c->member, tuple, scratch, to, why, size);
    if (rc == 0 && !c->form->value_first) rc = write_value(c, tuple, scratch, to, why, size);
    if (rc == 0 && c->expires) {
        redis_text_word(to, "PX", 2);
        redis_text_number(to, c->expires);
    }
    return rc;
}

static void write_stream_words(const redis_command *c, redis_text *to) {
    if (c->longest) {
        redis_text_words(to, "MAXLEN", c->exactly ? "=" : "~", NULL);
        redis_text_number(to, c->longest);
    }
    redis_text_word(to, "*", 1);
}

static bool is_stream(const redis_command *c) {
    return c->form->fields && c->form->member == NO;
}

static int write_command(const redis_command *c, const gale_tuple *tuple, redis_text *scratch, redis_text *to,
                         char *why, size_t size) {
    size_t words = 2, fields = 0;
    int rc = writes_fields(c) ? count_fields(c, tuple, &fields, why, size) : 0;
    if (rc < 0) return rc;
    words += 2 * fields + (c->member.count > 0) + (c->value.count || c->form->value == ONE) + (c->expires ? 2 : 0);
    if (is_stream(c)) words += c->longest ? 4 : 1;
    redis_text_command(to, words);
    redis_text_words(to, c->form->name, NULL);
    rc = write_template(&c->key, tuple, scratch, to, why, size);
    if (rc < 0) return rc;
    if (is_stream(c)) write_stream_words(c, to);
    return fields ? write_fields(c, tuple, scratch, to, why, size) : write_parts(c, tuple, scratch, to, why, size);
}

int redis_command_write(const redis_command *c, const gale_tuple *tuple, redis_text *scratch, redis_text *to, char *why,
                        size_t size) {
    size_t before = to->size;
    int rc = write_command(c, tuple, scratch, to, why, size);
    if (to->failed || scratch->failed) {
        to->failed = scratch->failed = false;
        rc = GALE_NO_MEMORY;
        snprintf(why, size, "out of memory");
    }
    if (rc < 0) to->size = before;
    return rc;
}
