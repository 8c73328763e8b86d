/* The ring of src/ds/ring.h: two cells, four items, so that each cell is written twice. Any number of items is published
 * and released at once. What must hold: items arrive whole and in order, and no cell is written while it is read. */
#define PRODUCER 0
#define CONSUMER 1
#define THREADS 2
#define TAIL 0
#define HEAD 1
#define LOCATIONS 2
#define CELLS 2
#define ITEMS 4
#define HISTORY (ITEMS + 1)
#include "weak.pml"

active proctype producer() {
    byte tail, published, head_cached;
    do
    :: tail < ITEMS && tail + 1 - head_cached <= CELLS -> /* gx_ring_claim, and the item */
        write_cell(PRODUCER, tail % CELLS, tail + 1);
        tail++
    :: tail < ITEMS && tail + 1 - head_cached > CELLS -> /* gx_ring_has_room */
        load(PRODUCER, HEAD, ring_A2, head_cached)
    :: published != tail -> /* gx_ring_publish */
        published = tail;
        store(PRODUCER, TAIL, tail, ring_R1)
    :: published == ITEMS -> break
    od
}

active proctype consumer() {
    byte head, released, tail_cached, item;
    do
    :: head == tail_cached && head < ITEMS -> /* gx_ring_refresh */
        load(CONSUMER, TAIL, ring_A1, tail_cached)
    :: head != tail_cached -> /* gx_ring_next */
        read_cell(CONSUMER, head % CELLS, item);
        head++;
        wrong = item != head;
        assert(!wrong)
    :: released != head -> /* gx_ring_release */
        released = head;
        store(CONSUMER, HEAD, head, ring_R2)
    :: released == ITEMS -> break
    od
}
