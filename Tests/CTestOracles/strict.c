#include <stdlib.h>

// What runs with these tests makes no use of what the reference driver tolerates: neither does the program that they are in, nor
// the programs that they start.
__attribute__((constructor)) static void be_strict(void) { setenv("VAENC_REFERENCE_STRICT", "1", 0); }
