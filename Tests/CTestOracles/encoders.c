#include "log.h"
#include "result.h"
#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>
#include <string.h>

struct vaenc_oracle_result vaenc_oracle_encode(
    const char *name, const uint8_t *frames, int width, int height, int bit_depth, int frame_count,
    const char *options
) {
    struct vaenc_oracle_result result = { 0 };
    // Warnings of encoders are not errors.
    oracle_listen(NULL, 0);
    const AVCodec *implementation = avcodec_find_encoder_by_name(name);
    AVCodecContext *encoder = implementation ? avcodec_alloc_context3(implementation) : NULL;
    if (!encoder) {
        oracle_message(&result, "libavcodec has no %s", name);
        return result;
    }
    encoder->width = width;
    encoder->height = height;
    encoder->pix_fmt = bit_depth > 8 ? AV_PIX_FMT_YUV420P10LE : AV_PIX_FMT_YUV420P;
    encoder->time_base = (AVRational){ 1, 25 };
    encoder->framerate = (AVRational){ 25, 1 };
    encoder->thread_count = 1;
    int is_x265 = !strcmp(name, "libx265");
    av_opt_set(encoder->priv_data, is_x265 ? "x265-params" : "x264-params", options, 0);
    // With forced-idr, a forced I picture is an IDR picture.
    if (is_x265) av_opt_set(encoder->priv_data, "forced-idr", "1", 0);
    int status = avcodec_open2(encoder, implementation, NULL);
    AVFrame *frame = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    size_t bytes_per_sample = bit_depth > 8 ? 2 : 1;
    size_t luma = (size_t)width * height * bytes_per_sample, chroma = luma / 4;
    for (int index = 0; status >= 0 && index <= frame_count; index++) {
        if (index < frame_count) {
            uint8_t *base = (uint8_t *)frames + index * (luma + 2 * chroma);
            frame->width = width;
            frame->height = height;
            frame->format = encoder->pix_fmt;
            frame->data[0] = base;
            frame->data[1] = base + luma;
            frame->data[2] = base + luma + chroma;
            frame->linesize[0] = width * (int)bytes_per_sample;
            frame->linesize[1] = frame->linesize[2] = frame->linesize[0] / 2;
            frame->pts = index;
        }
        status = avcodec_send_frame(encoder, index < frame_count ? frame : NULL);
        while (status >= 0 && avcodec_receive_packet(encoder, packet) >= 0) {
            oracle_bytes(&result, packet->data, packet->size);
            av_packet_unref(packet);
        }
    }
    if (status < 0) oracle_message(&result, "%s: %s", name, av_err2str(status));
    // The caller owns the planes.
    frame->data[0] = frame->data[1] = frame->data[2] = NULL;
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&encoder);
    return result;
}
