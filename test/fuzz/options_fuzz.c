/* Words, separated by NUL, read as the command line of each command of the program: what is accepted is what its table
 * allows. */
#include "fuzz.h"

#include "base/str.h"
#include "cli/command.h"
#include "front/builtin.h"

#include <math.h>

enum { WORDS_MAX = 200, CHOICES_MAX = 4096 };

static const gx_command *const commands[] = { &gx_cmd_run, &gx_cmd_dead_letters, &gx_cmd_demo, &gx_cmd_simulate };

static bool is_within(const char *text, const char *begin, size_t size) {
    return text >= begin && text <= begin + size;
}

static void check_words(const gx_words *words, const char *begin, size_t size) {
    expect(words->count <= GX_WORDS_MAX);
    for (size_t i = 0; i < words->count; i++) expect(is_within(words->items[i], begin, size));
}

static void check_field(const gx_option *option, const void *field, const char *begin, size_t size) {
    uint64_t whole;
    double rate;
    const char *text;
    switch (option->kind) {
    case GX_OPTION_FLAG: expect(*(const uint8_t *)field <= 1); break;
    case GX_OPTION_TEXT:
        memcpy(&text, field, sizeof text);
        expect(!text || is_within(text, begin, size));
        break;
    case GX_OPTION_WHOLE:
        memcpy(&whole, field, sizeof whole);
        expect(!whole || (whole >= option->min && whole <= option->max));
        break;
    case GX_OPTION_RATE:
        memcpy(&rate, field, sizeof rate);
        expect(isfinite(rate) && rate >= 0);
        break;
    default: check_words(field, begin, size);
    }
}

static void read_with(const gx_command *command, int argc, char **argv, const char *begin, size_t size) {
    static _Alignas(16) char choices[CHOICES_MAX];
    gale_error error = GALE_ERROR_INIT;
    gx_words words = { .count = 0 };
    memset(choices, 0, sizeof choices);
    for (size_t i = 0; i < command->option_count; i++)
        expect(command->options[i].offset + sizeof(gx_words) <= sizeof choices);
    int rc = gx_options_read(command->options, command->option_count, argc, argv, choices, &words, &error);
    expect((rc < 0) == (error.length > 0));
    check_words(&words, begin, size);
    for (size_t i = 0; i < command->option_count; i++)
        check_field(&command->options[i], choices + command->options[i].offset, begin, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    char *text = fuzz_text(&in), *argv[WORDS_MAX], hint[GX_HINT_SIZE];
    int argc = 0;
    for (size_t at = 0; at < size && argc < WORDS_MAX; at += strlen(text + at) + 1) argv[argc++] = text + at;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) read_with(commands[i], argc, argv, text, size);
    for (int i = 0; i < argc; i++) /* gale help classes NAME */
        if (!gx_registry_find(gx_registry_builtin(), gx_str(argv[i])))
            expect(strlen(gx_registry_hint(gx_registry_builtin(), gx_str(argv[i]), GX_CLASS_KIND_COUNT, hint)) <
                   sizeof hint);
    free(text);
    return 0;
}
