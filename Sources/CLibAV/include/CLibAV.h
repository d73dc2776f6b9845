#pragma once
#include <libavformat/avformat.h>
#include <libavcodec/avcodec.h>
#include <libavutil/avutil.h>
struct VaencLibAV {
  __typeof__(&avformat_open_input) avformat_open_input;
  __typeof__(&av_frame_alloc) av_frame_alloc;
};
const struct VaencLibAV * _Nullable vaenc_libav(const char * _Nullable * _Nonnull why);
