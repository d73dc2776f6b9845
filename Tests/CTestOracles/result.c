#include "result.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void oracle_bytes(struct vaenc_oracle_result *r, const uint8_t *bytes, size_t size) {
    if (r->size + size > r->capacity) {
        r->capacity = (r->size + size) * 2;
        r->bytes = realloc(r->bytes, r->capacity);
    }
    memcpy(r->bytes + r->size, bytes, size);
    r->size += size;
}

void oracle_message(struct vaenc_oracle_result *r, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    size_t length = strlen(line);
    while (length > 0 && line[length - 1] == '\n') length--;
    line[length++] = '\n';
    if (r->messages_size > 1 << 16) return; // The limit for a result's messages.
    r->messages = realloc(r->messages, r->messages_size + length + 1);
    memcpy(r->messages + r->messages_size, line, length);
    r->messages_size += length;
    r->messages[r->messages_size] = 0;
}

void oracle_frame(
    struct vaenc_oracle_result *r, int width, int height, int bit_depth, const uint8_t *const planes[3],
    const int pitches[3]
) {
    r->frames = realloc(r->frames, sizeof *r->frames * (r->frame_count + 1));
    r->frames[r->frame_count++] = (struct vaenc_oracle_frame){ width, height, bit_depth, r->size };
    size_t bytes_per_sample = bit_depth > 8 ? 2 : 1;
    for (int plane = 0; plane < 3; plane++) {
        int columns = plane ? (width + 1) / 2 : width, rows = plane ? (height + 1) / 2 : height;
        for (int y = 0; y < rows; y++)
            oracle_bytes(r, planes[plane] + (ptrdiff_t)y * pitches[plane], columns * bytes_per_sample);
    }
}

void vaenc_oracle_free(struct vaenc_oracle_result *r) {
    free(r->bytes);
    free(r->frames);
    free(r->messages);
    memset(r, 0, sizeof *r);
}
