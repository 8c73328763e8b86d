/* The ring of src/ds/batch_ring.h: two places, five batches, so that each place is written twice. Positions are weights,
 * and the third batch weighs more than the ring: it goes in when that is empty, and nothing beside it. Any number is
 * published and released at once. What must hold: batches arrive in order, filled, and are the consumer's from then on;
 * no place is written while it is read; the ring holds no more than its weight, but for one. A slight batch lies in its
 * place: the consumer writes there, too, as it reads on. */
#define PRODUCER 0
#define CONSUMER 1
#define THREADS 2
#define TAIL 0
#define HEAD 1
#define LOCATIONS 2
#define PLACES 2
#define CAPACITY 2
#define BATCHES 5
#define BYTES PLACES /* by batch */
#define CELLS (PLACES + BATCHES)
#define HISTORY (BATCHES + 1)
#include "weak.pml"

#define WEIGHT(batch) ((batch) == 3 -> 3 : 1)
#define ALL 7 /* what they weigh together */
#define FITS (tail + WEIGHT(put + 1) - head_cached <= CAPACITY || tail == head_cached)

byte inside; /* in the ring, as nobody sees it: not released */

active proctype producer() {
    byte tail, published, head_cached, put;
    do
    :: put < BATCHES && FITS -> /* filled, and gx_batch_ring_put */
        write_cell(PRODUCER, BYTES + put, put + 1);
        write_cell(PRODUCER, put % PLACES, put + 1);
        put++;
        tail = tail + WEIGHT(put);
        d_step {
            inside = inside + WEIGHT(put);
            wrong = inside > CAPACITY && inside != WEIGHT(3);
            assert(!wrong)
        }
    :: put < BATCHES && !FITS -> /* gx_batch_ring_has_room */
        load(PRODUCER, HEAD, batch_ring_A2, head_cached)
    :: published != tail -> /* gx_batch_ring_publish */
        published = tail;
        store(PRODUCER, TAIL, tail, batch_ring_R1)
    :: published == ALL -> break
    od
}

active proctype consumer() {
    byte head, released, tail_cached, batch, taken;
    do
    :: head == tail_cached && head < ALL -> /* gx_batch_ring_refresh */
        load(CONSUMER, TAIL, batch_ring_A1, tail_cached)
    :: head != tail_cached -> /* gx_batch_ring_peek, its rows, gx_batch_ring_advance */
        read_cell(CONSUMER, taken % PLACES, batch);
        write_cell(CONSUMER, taken % PLACES, batch);
        taken++;
        wrong = batch != taken;
        assert(!wrong);
        read_cell(CONSUMER, BYTES + taken - 1, batch);
        wrong = batch != taken;
        assert(!wrong);
        write_cell(CONSUMER, BYTES + taken - 1, 0);
        head = head + WEIGHT(taken)
    :: released != head -> /* gx_batch_ring_release */
        d_step {
            inside = inside - (head - released);
            released = head
        }
        store(CONSUMER, HEAD, head, batch_ring_R2)
    :: released == ALL -> break
    od
}
