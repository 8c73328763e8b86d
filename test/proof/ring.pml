/* The ring of src/ds/ring.h: two cells, four entries, so that each cell is written twice. Any number of entries is
 * published and released at once. What must hold: entries arrive whole and in order, and no cell is written while it is
 * read. Padding is an entry like others: its word is written before the tail is published, and read below it. */
#define PRODUCER 0
#define CONSUMER 1
#define THREADS 2
#define TAIL 0
#define HEAD 1
#define LOCATIONS 2
#define CELLS 2
#define ENTRIES 4
#define HISTORY (ENTRIES + 1)
#include "weak.pml"

active proctype producer() {
    byte tail, published, head_cached;
    do
    :: tail < ENTRIES && tail + 1 - head_cached <= CELLS -> /* gx_ring_claim, and the entry */
        write_cell(PRODUCER, tail % CELLS, tail + 1);
        tail++
    :: tail < ENTRIES && tail + 1 - head_cached > CELLS -> /* gx_ring_has_room */
        load(PRODUCER, HEAD, ring_A2, head_cached)
    :: published != tail -> /* gx_ring_publish */
        published = tail;
        store(PRODUCER, TAIL, tail, ring_R1)
    :: published == ENTRIES -> break
    od
}

active proctype consumer() {
    byte head, released, tail_cached, entry;
    do
    :: head == tail_cached && head < ENTRIES -> /* gx_ring_refresh */
        load(CONSUMER, TAIL, ring_A1, tail_cached)
    :: head != tail_cached -> /* gx_ring_peek, gx_ring_advance */
        read_cell(CONSUMER, head % CELLS, entry);
        head++;
        wrong = entry != head;
        assert(!wrong)
    :: released != head -> /* gx_ring_release */
        released = head;
        store(CONSUMER, HEAD, head, ring_R2)
    :: released == ENTRIES -> break
    od
}
