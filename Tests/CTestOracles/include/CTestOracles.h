#pragma once
#include <stddef.h>
#include <stdint.h>

// Decoders that this project did not write, behind one plain interface. A result owns all its memory.

struct vaenc_oracle_frame {
    int width, height;
    // Bits of a sample. 8-bit samples take one byte, others two, little-endian, in the low bits.
    int bit_depth;
    // The offset in `bytes` of the planes Y, Cb and Cr, without padding: width*height samples, then two planes of a
    // quarter.
    size_t offset;
};

struct vaenc_oracle_result {
    uint8_t *_Nullable bytes;
    size_t size, capacity;
    struct vaenc_oracle_frame *_Nullable frames;
    int frame_count;
    // All messages of the decoder at warning level or above, one per line; NULL for none.
    char *_Nullable messages;
    size_t messages_size;
};

// Decodes an Annex B stream (`codec`: "h264" or "hevc") like `ffmpeg -xerror -err_detect crccheck+explode`, but
// continues after an error. Checks MD5 hashes in SEI messages of HEVC pictures. With `is_whole`, frames have the coded
// size, including what the cropping rectangle or the conformance window hides. Blocks. Safe to call from several
// threads at once.
struct vaenc_oracle_result vaenc_oracle_libavcodec(
    const char *_Nonnull codec, const uint8_t *_Nullable bytes, size_t size, int is_whole);

// Reads an Annex B stream's headers with FFmpeg's trace_headers. Its lines are in `bytes`, without the log's prefix.
struct vaenc_oracle_result vaenc_oracle_trace_headers(
    const char *_Nonnull codec, const uint8_t *_Nullable bytes, size_t size);

// Decodes an H.264 Annex B stream with openh264, without concealment. If the library is missing, the result is one
// message.
struct vaenc_oracle_result vaenc_oracle_openh264(const uint8_t *_Nullable bytes, size_t size);

// Decodes an HEVC Annex B stream with libde265. `is_whole` is the same as in vaenc_oracle_libavcodec; it requires a
// stream of one size whose conformance window starts at the picture's corner. If the library is missing, the result is
// one message.
struct vaenc_oracle_result vaenc_oracle_libde265(const uint8_t *_Nullable bytes, size_t size, int is_whole);

// Encodes planar 4:2:0 frames of `bit_depth` 8 or 10 with "libx264" or "libx265" (one thread), for tests of the
// decoders. `options` are the library's own, `key=value:key=value`. The stream is in `bytes`.
struct vaenc_oracle_result vaenc_oracle_encode(
    const char *_Nonnull encoder, const uint8_t *_Nonnull frames, int width, int height, int bit_depth,
    int frame_count, const char *_Nonnull options);

// Frees the memory of a result and clears it.
void vaenc_oracle_free(struct vaenc_oracle_result *_Nonnull result);

// Functions that Glibc's Swift module lacks: a pipe whose ends no child inherits, and a spawned child's working folder.
int vaenc_oracle_pipe(int *_Nonnull ends);
struct vaenc_oracle_child {
    int input, output, errors;
    const char *_Nullable folder;
};
// Starts `argv[0]` (looked up in PATH). Returns 0, or an errno value.
int vaenc_oracle_spawn(
    int *_Nonnull pid, const struct vaenc_oracle_child *_Nonnull child, char *_Nullable const *_Nonnull argv,
    char *_Nullable const *_Nonnull envp);
