#include "connect/redis/book.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = UINT32_MAX, FIRST_ROOM = 64, MOST = 1 << 26 };

/* --- Finding ---------------------------------------------------------------------------------------------------------------- */

static uint64_t hash_of(uint32_t source, gale_str bytes) {
    gale_value value = gale_bytes(bytes.data, bytes.size);
    return gale_value_hash(&value) ^ (source * UINT64_C(0x9e3779b97f4a7c15));
}

static uint32_t *chain_of(const redis_book *book, uint64_t hash) {
    return &book->chains[hash & (book->room - 1)];
}

static bool is_it(const redis_page *page, uint64_t hash, uint32_t source, gale_str bytes) {
    return page->hash == hash && page->source == source && page->size == bytes.size &&
           (!bytes.size || memcmp(page->bytes, bytes.data, bytes.size) == 0);
}

static int64_t place_of(uint32_t index, uint32_t number) {
    return (int64_t)((uint64_t)number << 32 | index) + 1;
}

static uint32_t index_of(int64_t place) {
    return (uint32_t)((uint64_t)(place - 1) & UINT32_MAX);
}

redis_page *redis_book_at(const redis_book *book, int64_t place) {
    uint32_t index = index_of(place);
    if (place <= 0 || index >= book->room) return NULL;
    redis_page *page = &book->pages[index];
    return page->state != REDIS_FREE && place_of(index, page->number) == place ? page : NULL;
}

bool redis_book_has(const redis_book *book, uint32_t source, gale_str bytes) {
    uint64_t hash = hash_of(source, bytes);
    uint32_t at = book->room ? *chain_of(book, hash) : (uint32_t)NONE;
    while (at != NONE && !is_it(&book->pages[at], hash, source, bytes)) at = book->pages[at].next;
    return at != NONE;
}

void redis_book_begin_round(redis_book *book) {
    book->round++;
}

bool redis_book_mark(redis_book *book, uint32_t source, gale_str bytes) {
    uint64_t hash = hash_of(source, bytes);
    uint32_t at = book->room ? *chain_of(book, hash) : (uint32_t)NONE;
    for (; at != NONE; at = book->pages[at].next) {
        redis_page *page = &book->pages[at];
        if (page->round == book->round || !is_it(page, hash, source, bytes)) continue;
        page->round = book->round;
        return true;
    }
    return false;
}

/* --- Room ------------------------------------------------------------------------------------------------------------------- */

void redis_book_free(redis_book *book) {
    for (uint32_t i = 0; i < book->room; i++) free(book->pages[i].bytes);
    free(book->pages);
    free(book->chains);
    *book = (redis_book){ .pages = NULL };
}

static void link_page(redis_book *book, uint32_t index) {
    uint32_t *chain = chain_of(book, book->pages[index].hash);
    book->pages[index].next = *chain;
    *chain = index;
}

/* The free ones are told anew, and the chains. */
static void link_all(redis_book *book) {
    book->first_free = NONE;
    for (uint32_t i = 0; i < book->room; i++) book->chains[i] = NONE;
    for (uint32_t i = book->room; i-- > 0;) {
        if (book->pages[i].state != REDIS_FREE) {
            link_page(book, i);
            continue;
        }
        book->pages[i].next = book->first_free;
        book->first_free = i;
    }
}

static int grow(redis_book *book, uint32_t least) {
    uint32_t room = book->room ? book->room : FIRST_ROOM;
    while (room < least) room *= 2;
    if (room > MOST) return GALE_NO_MEMORY;
    uint32_t *chains = malloc(room * sizeof *chains);
    redis_page *pages = chains ? realloc(book->pages, room * sizeof *pages) : NULL;
    if (!pages) {
        free(chains);
        return GALE_NO_MEMORY;
    }
    memset(pages + book->room, 0, (room - book->room) * sizeof *pages);
    free(book->chains);
    book->pages = pages;
    book->chains = chains;
    book->room = room;
    link_all(book);
    return 0;
}

static int fill(redis_page *page, redis_open state, uint32_t source, gale_str bytes) {
    char *copy = malloc(bytes.size + 1);
    if (!copy) return GALE_NO_MEMORY;
    if (bytes.size) memcpy(copy, bytes.data, bytes.size);
    page->state = state;
    page->source = source;
    page->hash = hash_of(source, bytes);
    page->size = bytes.size;
    page->bytes = copy;
    return 0;
}

int redis_book_add(redis_book *book, uint32_t source, gale_str bytes, int64_t *ret_place) {
    int rc = !book->room || book->first_free == NONE ? grow(book, book->room + 1) : 0;
    if (rc < 0) return rc;
    uint32_t index = book->first_free;
    redis_page *page = &book->pages[index];
    uint32_t next = page->next;
    rc = fill(page, REDIS_OPEN, source, bytes);
    if (rc < 0) return rc;
    book->first_free = next;
    page->number = (page->number + 1) & (UINT32_MAX >> 2);
    page->round = book->round;
    link_page(book, index);
    book->count++;
    *ret_place = place_of(index, page->number);
    return 0;
}

void redis_book_remove(redis_book *book, int64_t place) {
    redis_page *page = redis_book_at(book, place);
    if (!page) return;
    uint32_t index = index_of(place), *at = chain_of(book, page->hash);
    while (*at != index) at = &book->pages[*at].next;
    *at = page->next;
    free(page->bytes);
    page->bytes = NULL;
    page->state = REDIS_FREE;
    page->next = book->first_free;
    book->first_free = index;
    book->count--;
}

void redis_book_each(redis_book *book, redis_open state, redis_book_fn *each, void *user) {
    for (uint32_t i = 0; i < book->room; i++)
        if (book->pages[i].state == state) each(user, place_of(i, book->pages[i].number), &book->pages[i]);
}

/* --- Beyond the process ----------------------------------------------------------------------------------------------------- */

static bool is_saved(const redis_page *page) {
    return page->state == REDIS_OPEN || page->state == REDIS_ANSWERED;
}

int redis_book_save(const redis_book *book, gale_saver *to) {
    int64_t count = 0;
    for (uint32_t i = 0; i < book->room; i++) count += is_saved(&book->pages[i]);
    gale_value head = gale_i64(count);
    int rc = gale_save(to, &head, 1);
    for (uint32_t i = 0; rc == 0 && i < book->room; i++) {
        const redis_page *page = &book->pages[i];
        if (!is_saved(page)) continue;
        const gale_value values[] = { gale_i64(place_of(i, page->number)), gale_i64(page->source),
                                      gale_bytes(page->bytes, page->size) };
        rc = gale_save(to, values, 3);
    }
    return rc;
}

static int restore_page(redis_book *book, const gale_value *v, size_t count) {
    if (count != 3 || v[0].type != GALE_TYPE_I64 || v[1].type != GALE_TYPE_I64 || v[2].type != GALE_TYPE_BYTES)
        return GALE_DAMAGED;
    uint32_t index = index_of(v[0].as.i64);
    if (v[0].as.i64 <= 0 || index >= MOST || v[1].as.i64 < 0 || v[1].as.i64 > UINT32_MAX) return GALE_DAMAGED;
    int rc = index < book->room ? 0 : grow(book, index + 1);
    if (rc < 0) return rc;
    redis_page *page = &book->pages[index];
    if (page->state != REDIS_FREE) return GALE_DAMAGED;
    rc = fill(page, REDIS_ANSWERED, (uint32_t)v[1].as.i64, (gale_str){ v[2].as.bytes, v[2].size });
    if (rc < 0) return rc;
    page->number = (uint32_t)((uint64_t)(v[0].as.i64 - 1) >> 32);
    book->count++;
    return 0;
}

int redis_book_restore(redis_book *book, gale_saved *from) {
    const gale_value *values;
    size_t count;
    int rc = gale_saved_next(from, &values, &count);
    if (rc <= 0 || count != 1 || values[0].type != GALE_TYPE_I64) return rc < 0 ? rc : GALE_DAMAGED;
    for (int64_t left = values[0].as.i64; left > 0; left--) {
        rc = gale_saved_next(from, &values, &count);
        if (rc > 0) rc = restore_page(book, values, count);
        if (rc != 0) return rc < 0 ? rc : GALE_DAMAGED;
    }
    if (book->room) link_all(book);
    return 0;
}
