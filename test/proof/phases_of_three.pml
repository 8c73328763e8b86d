/* phases.pml with three executors: two may be late. */
#define EXECUTORS 3
#define ONLY_DRAINED
#include "phases.pml"
