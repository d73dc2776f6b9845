#include <stdlib.h>

// Makes the reference driver strict, for the test program and the programs that it starts: the tests must not rely on
// what the driver tolerates.
__attribute__((constructor)) static void be_strict(void) { setenv("VAENC_REFERENCE_STRICT", "1", 0); }
