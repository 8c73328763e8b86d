#include "sim/letters.h"

#include <string.h>

/* Somebody else has changed the file. */
static bool is_meddled(const gx_sim_letters *letters) {
    const gx_sim_meddling *m = &letters->disk->meddling;
    return m->done && strcmp(m->path, GX_SIM_LETTERS) == 0;
}

/* A file that was renamed is written to on. */
static gale_str content(const gx_sim_letters *letters) {
    bool renamed = is_meddled(letters) && letters->disk->meddling.what == GX_SIM_RENAME;
    const char *path = renamed ? GX_SIM_LETTERS ".moved" : GX_SIM_LETTERS;
    const gx_sim_file *file = gx_sim_disk_file(letters->disk, path, false);
    return file ? (gale_str){ file->bytes.data, file->bytes.size } : (gale_str){ NULL, 0 };
}

static void set(gx_sim_letters *letters, gx_buf *to, const char *bytes, size_t size) {
    gx_buf_reset(to);
    gx_buf_add(to, bytes, size);
    if (to->failed) gx_oracle_violated(letters->oracle, "the simulator has no memory");
}

void gx_sim_letters_begin(gx_sim_letters *letters, gx_heap *heap, gx_oracle *oracle, gx_sim_disk *disk) {
    letters->oracle = oracle;
    letters->disk = disk;
    letters->known.heap = letters->torn.heap = heap;
    gale_str now = content(letters);
    const char *newline = now.size ? memrchr(now.data, '\n', now.size) : NULL;
    size_t whole = newline ? (size_t)(newline - now.data) + 1 : 0;
    set(letters, &letters->known, now.data, whole);
    set(letters, &letters->torn, now.data + whole, now.size - whole);
}

void gx_sim_letters_fini(gx_sim_letters *letters) {
    gx_buf_fini(&letters->known);
    gx_buf_fini(&letters->torn);
}

static bool skip(gale_str *text, const gx_buf *head) {
    if (text->size < head->size || (head->size && memcmp(text->data, head->data, head->size) != 0)) return false;
    *text = (gale_str){ text->data + head->size, text->size - head->size };
    return true;
}

/* What this run has written since the last letter. A letter that lacked nothing but its newline may have got that. */
static gale_str news(gx_sim_letters *letters) {
    gale_str rest = content(letters), beyond;
    if (!skip(&rest, &letters->known))
        gx_oracle_violated(letters->oracle, "dead letters that were in their file are there no more, or others");
    beyond = rest;
    if (letters->torn.size && skip(&beyond, &letters->torn) && beyond.size && beyond.data[0] == '\n')
        rest = (gale_str){ beyond.data + 1, beyond.size - 1 };
    return rest;
}

static bool begins(gale_str text, const gx_buf *with) {
    return text.size >= with->size && memcmp(text.data, with->data, with->size) == 0;
}

/* One whole line, which is the letter of this tuple. */
static bool is_letter(gx_sim_letters *letters, gale_str line, const char *component, uint64_t message_id) {
    gx_buf wanted = GX_BUF_INIT(letters->known.heap);
    gx_buf_format(&wanted, "{\"component\":\"%s\",\"stream\":\"", component);
    bool right = line.size > 2 && begins(line, &wanted) && line.data[line.size - 2] == '}' &&
                 memchr(line.data, '\n', line.size) == line.data + line.size - 1;
    gx_buf_reset(&wanted);
    gx_buf_format(&wanted, "\",\"message_id\":%llu,\"tuple\":[", (unsigned long long)message_id);
    right = right && memmem(line.data, line.size, wanted.data, wanted.size) != NULL;
    gx_buf_fini(&wanted);
    return right;
}

void gx_sim_letters_told(gx_sim_letters *letters, const char *component, uint64_t message_id) {
    bool excused = is_meddled(letters) && !letters->excused;
    letters->excused |= excused;
    if (!excused && !is_letter(letters, news(letters), component, message_id))
        gx_oracle_violated(letters->oracle, "tree %llu of '%s' was given up, but its letter is not the one in the file",
                           (unsigned long long)message_id, component);
    gale_str now = content(letters);
    set(letters, &letters->known, now.data, now.size);
    gx_buf_reset(&letters->torn);
}

void gx_sim_letters_end(gx_sim_letters *letters) {
    if (is_meddled(letters)) return;
    gale_str rest = news(letters);
    bool torn = rest.size && !memchr(rest.data, '\n', rest.size);
    bool untouched = torn && rest.size == letters->torn.size && begins(rest, &letters->torn); /* it was never opened */
    if (rest.size && !untouched && !(torn && letters->disk->failed))
        gx_oracle_violated(letters->oracle, "%s at the end of the file of dead letters",
                           torn ? "half a letter is" : "there are letters of tuples that were not given up");
}
