#pragma once
#include "CTestOracles.h"

void oracle_message(struct vaenc_oracle_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void oracle_bytes(struct vaenc_oracle_result *r, const uint8_t *bytes, size_t size);
// Appends a 4:2:0 picture without the padding of its rows. Pitches are in bytes.
void oracle_frame(
    struct vaenc_oracle_result *r, int width, int height, int bit_depth, const uint8_t *const planes[3],
    const int pitches[3]);
