#include "connect/redis/settings.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

int redis_copy(char **to, const gale_args *args, const char *parameter, gale_error *error) {
    const char *text = gale_args_text(args, parameter);
    *to = text && *text ? strdup(text) : NULL;
    return text && *text && !*to ? no_memory(error) : 0;
}

int redis_texts_make(redis_texts *list, const gale_args *args, const char *parameter, size_t most, gale_error *error) {
    gale_value given = gale_args_value(args, parameter);
    size_t count = given.type == GALE_TYPE_LIST ? given.size : 0;
    *list = (redis_texts){ .texts = calloc(count + 1, sizeof *list->texts) };
    if (!list->texts) return no_memory(error);
    if (!count) return gale_error_set(error, GALE_INVALID, "%s: it names none", parameter);
    if (count > most) return gale_error_set(error, GALE_INVALID, "%s: at most %zu are named", parameter, most);
    for (; list->count < count; list->count++) {
        gale_value text = gale_list_at(&given, list->count);
        if (!text.size) return gale_error_set(error, GALE_INVALID, "%s: one of them is empty", parameter);
        list->texts[list->count] = strndup(text.as.string, text.size);
        if (!list->texts[list->count]) return no_memory(error);
    }
    return 0;
}

void redis_texts_free(redis_texts *list) {
    for (size_t i = 0; i < list->count; i++) free(list->texts[i]);
    free(list->texts);
    *list = (redis_texts){ .texts = NULL };
}

int redis_settings_make(redis_settings *settings, const gale_args *args, gale_error *error) {
    *settings = (redis_settings){ .database = gale_args_whole(args, "database"),
                                  .most = (size_t)gale_args_whole(args, "maxReply") };
    int rc = wire_settings_make(&settings->wire, args, "redis", 6379, 6379, error);
    if (rc == 0) rc = redis_copy(&settings->user, args, "user", error);
    if (rc == 0) rc = redis_copy(&settings->password_from, args, "passwordFrom", error);
    if (rc == 0 && settings->user && !settings->password_from)
        rc = gale_error_set(error, GALE_INVALID, "user: where the password stands is missing (passwordFrom)");
    return rc;
}

void redis_settings_free(redis_settings *settings) {
    wire_settings_free(&settings->wire);
    free(settings->user);
    free(settings->password_from);
}
