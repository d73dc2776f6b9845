#pragma once
#include "CTestOracles.h"

// Directs messages that libavutil logs on this thread to `result`: warnings and errors to its messages, and with
// `traces` information to its bytes. With NULL, messages are dropped.
void oracle_listen(struct vaenc_oracle_result *result, int traces);
