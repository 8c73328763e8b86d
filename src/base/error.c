#include <gale/error.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What a report that was cut ends with; room for it is kept free, so that it always fits. */
static const char more[] = "\n...";
enum { MORE = sizeof more - 1, ROOM = GALE_ERROR_TEXT - 1 - MORE };

const char *gale_error_name(int code) {
    switch (code) {
    case GALE_OK: return "OK";
#define NAME(name, number, text)                                                                                       \
    case GALE_##name: return #name;
        GALE_ERROR_MAP(NAME)
#undef NAME
    default: return "UNKNOWN";
    }
}

const char *gale_error_text(int code) {
    switch (code) {
    case GALE_OK: return "no error";
#define TEXT(name, number, text)                                                                                       \
    case GALE_##name: return text;
        GALE_ERROR_MAP(TEXT)
#undef TEXT
    default: return "unknown error";
    }
}

static void append(gale_error *error, const char *text, size_t size) {
    memcpy(error->text + error->length, text, size);
    error->length += (uint32_t)size;
    error->text[error->length] = 0;
}

/* The longest beginning of `text`, at most `size` bytes, that ends between two characters. */
static size_t cut(const char *text, size_t size) {
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) size--;
    return size;
}

/* Formats first and stores later, because an argument may be the report's own text. Returns the size before cutting. */
static size_t format_line(char line[GALE_ERROR_TEXT], const char *format, va_list args) {
    int size = format ? vsnprintf(line, GALE_ERROR_TEXT, format, args) : -1;
    if (size >= 0) return (size_t)size;
    line[0] = 0;
    return 0;
}

int gale_error_set(gale_error *error, int code, const char *format, ...) {
    if (!error) return code;
    char line[GALE_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    size_t size = format_line(line, format, args);
    va_end(args);
    error->code = code;
    error->length = 0;
    if (size <= ROOM)
        append(error, line, size);
    else {
        append(error, line, cut(line, ROOM));
        append(error, more + 1, MORE - 1);
    }
    return code;
}

static bool was_cut(const gale_error *error) {
    return error->length > ROOM ||
           (error->length >= MORE && memcmp(error->text + error->length - MORE, more, MORE) == 0);
}

int gale_error_add(gale_error *error, const char *format, ...) {
    if (!error || error->code == 0) return GALE_OK;
    if (was_cut(error)) return error->code; /* a later line must not close the gap */
    char line[GALE_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    size_t size = format_line(line, format, args);
    va_end(args);
    if (error->length + 1 + size > ROOM) {
        append(error, more, MORE);
        return error->code;
    }
    append(error, "\n", 1);
    append(error, line, size);
    return error->code;
}
