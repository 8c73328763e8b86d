/* phases.pml with a remote of a bolt's in place of the spout's: who may answer until the very end. */
#define SPOUT_COMMANDS 0
#define BOLT_COMMANDS 2
#include "phases.pml"
