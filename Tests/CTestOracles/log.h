#pragma once
#include "CTestOracles.h"

// From now on what libavutil logs on this thread goes to `result`: warnings and errors to its messages, and with
// `traces` information to its bytes. NULL: it is dropped.
void oracle_listen(struct vaenc_oracle_result *result, int traces);
