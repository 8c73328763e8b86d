#include "topology/grouping.h"

#include "base/str.h"

static const char *const names[] = { "shuffle", "fields",           "all",         "global", "none",
                                     "direct",  "local_or_shuffle", "partial_key", "custom" };
static_assert(sizeof names / sizeof names[0] == GALE_GROUPING_COUNT, "a name for every grouping");

const char *gale_grouping_name(int32_t kind) {
    return kind >= 0 && kind < GALE_GROUPING_COUNT ? names[kind] : "unknown";
}

static const char *const drops[] = { "nothing", "oldest", "newest" };
static_assert(sizeof drops / sizeof drops[0] == GALE_DROP_COUNT, "a name for every policy");

const char *gale_drop_name(int32_t drop) {
    return drop >= 0 && drop < GALE_DROP_COUNT ? drops[drop] : "unknown";
}

static bool is_word(gale_str a, const char *word) {
    if (a.size != strlen(word)) return false;
    for (size_t i = 0; i < a.size; i++) {
        char c = a.data[i] >= 'A' && a.data[i] <= 'Z' ? (char)(a.data[i] + 'a' - 'A') : a.data[i];
        if (c != word[i]) return false;
    }
    return true;
}

int gx_grouping_parse(gale_str name) {
    for (int kind = 0; kind < GALE_GROUPING_COUNT; kind++)
        if (is_word(name, names[kind])) return kind;
    return GX_GROUPING_UNKNOWN;
}

int gx_drop_parse(gale_str name) {
    for (int drop = 0; drop < GALE_DROP_COUNT; drop++)
        if (is_word(name, drops[drop])) return drop;
    return GX_DROP_UNKNOWN;
}
