#include "connect/rabbitmq/note.h"

#include <stdlib.h>
#include <string.h>

rmq_note *rmq_note_new(rmq_kind kind, uint32_t session, size_t size, size_t most) {
    rmq_note *note = calloc(1, size);
    if (!note) return NULL;
    note->kind = kind;
    note->session = session;
    note->arena.left = most;
    return note;
}

rmq_note *rmq_note_say(rmq_kind kind, uint32_t session, const char *text) {
    size_t size = strlen(text);
    rmq_note *note = rmq_note_new(kind, session, sizeof *note, size + 64);
    gale_str copy;
    if (!note) return NULL;
    if (!rmq_arena_copy(&note->arena, text, size, &copy)) {
        rmq_note_free(note);
        return NULL;
    }
    note->text = copy.data;
    return note;
}

/* Not left out by a compiler that sees nobody read it. */
static void overwrite(const char *text) {
    volatile char *at = (volatile char *)(uintptr_t)text;
    while (*at) *at++ = '\0';
}

void rmq_note_free(rmq_note *note) {
    if (!note) return;
    if (note->kind == RMQ_CONNECT && note->text) overwrite(note->text);
    rmq_arena_free(&note->arena);
    free(note);
}

void rmq_chain_add(rmq_chain *chain, rmq_note *note) {
    note->next = NULL;
    *(chain->last ? &chain->last->next : &chain->first) = note;
    chain->last = note;
}

rmq_note *rmq_chain_take(rmq_chain *chain) {
    rmq_note *note = chain->first;
    if (!note) return NULL;
    chain->first = note->next;
    if (!chain->first) chain->last = NULL;
    note->next = NULL;
    return note;
}

void rmq_chain_move(rmq_chain *from, rmq_chain *to) {
    if (!from->first) return;
    *(to->last ? &to->last->next : &to->first) = from->first;
    to->last = from->last;
    *from = (rmq_chain){ .first = NULL };
}

void rmq_chain_free(rmq_chain *chain) {
    for (rmq_note *note; (note = rmq_chain_take(chain));) rmq_note_free(note);
}
