#pragma once
#include <stddef.h>
#include <stdint.h>

// Decoders that this project did not write, behind one plain interface. All memory of a result is its own.

struct vaenc_oracle_frame {
    int width, height;
    // Of a sample: 8 is one byte, more is two, little-endian and low-aligned.
    int bit_depth;
    // Where the frame's planes Y, Cb, Cr start in `bytes`, without padding: width*height, then two of a quarter.
    size_t offset;
};

struct vaenc_oracle_result {
    uint8_t *_Nullable bytes;
    size_t size, capacity;
    struct vaenc_oracle_frame *_Nullable frames;
    int frame_count;
    // Everything that the decoder had to say at warning level or above, a line each; NULL for nothing.
    char *_Nullable messages;
    size_t messages_size;
};

// Decodes an Annex B stream (`codec`: "h264" or "hevc") as `ffmpeg -xerror -err_detect crccheck+explode` would, and
// goes on after an error. MD5 hashes in SEI messages of HEVC pictures are held against them. With `is_whole` frames have
// the coded size: what the cropping rectangle or the conformance window hides is there. Blocks; safe to call from
// several threads at once.
struct vaenc_oracle_result vaenc_oracle_libavcodec(
    const char *_Nonnull codec, const uint8_t *_Nullable bytes, size_t size, int is_whole);

// Reads an Annex B stream's headers with FFmpeg's trace_headers: its lines are in `bytes`, without the log's prefix.
struct vaenc_oracle_result vaenc_oracle_trace_headers(
    const char *_Nonnull codec, const uint8_t *_Nullable bytes, size_t size);

// Decodes an H.264 Annex B stream with openh264, concealment off. Without that library the result is one message.
struct vaenc_oracle_result vaenc_oracle_openh264(const uint8_t *_Nullable bytes, size_t size);

// Decodes an HEVC Annex B stream with libde265; `is_whole` as above, for streams of one size whose conformance window
// starts at the picture's corner. Without that library the result is one message.
struct vaenc_oracle_result vaenc_oracle_libde265(const uint8_t *_Nullable bytes, size_t size, int is_whole);

// Encodes planar 4:2:0 frames of `bit_depth` 8 or 10 with "libx264" or "libx265" (one thread) to make streams that the
// decoders are tried on. `options` are the library's own, `key=value:key=value`. The stream is in `bytes`.
struct vaenc_oracle_result vaenc_oracle_encode(
    const char *_Nonnull encoder, const uint8_t *_Nonnull frames, int width, int height, int bit_depth,
    int frame_count, const char *_Nonnull options);

void vaenc_oracle_free(struct vaenc_oracle_result *_Nonnull result);

// What Glibc's module leaves out: a pipe whose ends no child inherits, and a spawned child's working folder.
int vaenc_oracle_pipe(int *_Nonnull ends);
struct vaenc_oracle_child {
    int input, output, errors;
    const char *_Nullable folder;
};
// Starts `argv[0]` (looked for in PATH); 0, or an errno value.
int vaenc_oracle_spawn(
    int *_Nonnull pid, const struct vaenc_oracle_child *_Nonnull child, char *_Nullable const *_Nonnull argv,
    char *_Nullable const *_Nonnull envp);
