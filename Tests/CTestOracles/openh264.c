#include "result.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<wels/codec_api.h>)
#include <wels/codec_api.h>

static struct {
    long (*create)(ISVCDecoder **);
    void (*destroy)(ISVCDecoder *);
} library;

static void load(void) {
    void *handle = NULL;
    static const char *const names[] = { "libopenh264.so", "libopenh264.so.8", "libopenh264.so.7", "libopenh264.so.6" };
    for (size_t i = 0; !handle && i < sizeof names / sizeof *names; i++) handle = dlopen(names[i], RTLD_NOW);
    if (!handle) return;
    library.create = dlsym(handle, "WelsCreateDecoder");
    library.destroy = dlsym(handle, "WelsDestroyDecoder");
}

static void on_trace(void *context, int level, const char *text) {
    if (level <= WELS_LOG_WARNING) oracle_message(context, "openh264: %s", text);
}

// Returns the offset of the next access unit's first start code, searching from `from`. An access unit begins with an
// AUD, SPS, PPS or SEI after a slice, or with a slice whose first_mb_in_slice is 0 (H.264 7.4.1.2.3, for streams with
// one slice group and no redundant pictures).
static size_t next_access_unit(const uint8_t *bytes, size_t size, size_t from) {
    int seen_slice = 0;
    for (size_t i = from; i + 4 < size; i++) {
        if (bytes[i] || bytes[i + 1] || bytes[i + 2] != 1) continue;
        int type = bytes[i + 3] & 31;
        int slice = type == 1 || type == 5;
        size_t start = i > from && bytes[i - 1] == 0 ? i - 1 : i;
        if (seen_slice && ((slice && (bytes[i + 4] & 0x80)) || (type >= 6 && type <= 9))) return start;
        seen_slice |= slice;
        i += 3;
    }
    return size;
}

static void take(struct vaenc_oracle_result *r, unsigned char *planes[3], const SBufferInfo *info) {
    if (info->iBufferStatus != 1) return;
    const SSysMEMBuffer *layout = &info->UsrData.sSystemBuffer;
    oracle_frame(
        r, layout->iWidth, layout->iHeight, 8, (const uint8_t *const[]){ planes[0], planes[1], planes[2] },
        (int[]){ layout->iStride[0], layout->iStride[1], layout->iStride[1] });
}

struct vaenc_oracle_result vaenc_oracle_openh264(const uint8_t *bytes, size_t size) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    struct vaenc_oracle_result result = { 0 };
    ISVCDecoder *decoder = NULL;
    if (!library.create || library.create(&decoder) || !decoder) {
        oracle_message(&result, "openh264 cannot be loaded: install libopenh264-dev");
        return result;
    }
    int level = WELS_LOG_WARNING;
    WelsTraceCallback callback = on_trace;
    void *context = &result;
    (*decoder)->SetOption(decoder, DECODER_OPTION_TRACE_LEVEL, &level);
    (*decoder)->SetOption(decoder, DECODER_OPTION_TRACE_CALLBACK, &callback);
    (*decoder)->SetOption(decoder, DECODER_OPTION_TRACE_CALLBACK_CONTEXT, &context);
    SDecodingParam parameters = { 0 };
    parameters.uiTargetDqLayer = (unsigned char)-1;
    parameters.eEcActiveIdc = ERROR_CON_DISABLE;
    parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
    (*decoder)->Initialize(decoder, &parameters);

    for (size_t position = 0; position < size;) {
        size_t end = next_access_unit(bytes, size, position);
        unsigned char *planes[3] = { 0 };
        SBufferInfo info = { 0 };
        int state = (*decoder)->DecodeFrameNoDelay(decoder, bytes + position, (int)(end - position), planes, &info);
        if (state) oracle_message(&result, "openh264: decoding state 0x%x at byte %zu", state, position);
        take(&result, planes, &info);
        position = end;
    }
    int ended = 1;
    (*decoder)->SetOption(decoder, DECODER_OPTION_END_OF_STREAM, &ended);
    for (;;) {
        unsigned char *planes[3] = { 0 };
        SBufferInfo info = { 0 };
        int state = (*decoder)->FlushFrame(decoder, planes, &info);
        if (state) oracle_message(&result, "openh264: decoding state 0x%x at the end", state);
        if (info.iBufferStatus != 1) break;
        take(&result, planes, &info);
    }
    (*decoder)->Uninitialize(decoder);
    library.destroy(decoder);
    return result;
}

#else

struct vaenc_oracle_result vaenc_oracle_openh264(const uint8_t *bytes, size_t size) {
    struct vaenc_oracle_result result = { 0 };
    oracle_message(&result, "built without openh264's headers: install libopenh264-dev and build again");
    return result;
}

#endif
