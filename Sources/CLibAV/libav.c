#include "CLibAV.h"
const struct VaencLibAV *vaenc_libav(const char **why) { *why = "no"; return 0; }
