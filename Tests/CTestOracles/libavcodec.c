#include "result.h"
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavutil/opt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// The log is libavutil's, one for the process: what it says goes to the decode that runs on the calling thread
// (each decode uses that one thread), and elsewhere is dropped.
static _Thread_local struct vaenc_oracle_result *listener;
// What trace_headers says at information level is not about faults: it goes to `bytes`.
static _Thread_local int is_tracing;

static void listen_to_log(void *source, int level, const char *format, va_list arguments) {
    if (!listener || level > (is_tracing ? AV_LOG_INFO : AV_LOG_WARNING)) return;
    char line[900];
    vsnprintf(line, sizeof line, format, arguments);
    if (level > AV_LOG_WARNING) {
        oracle_bytes(listener, (const uint8_t *)line, strlen(line));
        return;
    }
    AVClass *class = source ? *(AVClass **)source : NULL;
    oracle_message(listener, "%s: %s", class ? class->class_name : "libav", line);
}

static void set_log(void) { av_log_set_callback(listen_to_log); }

static void ensure_log(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_log);
}

static void receive(AVCodecContext *decoder, AVFrame *frame, struct vaenc_oracle_result *r) {
    for (;;) {
        int status = avcodec_receive_frame(decoder, frame);
        if (status == AVERROR(EAGAIN) || status == AVERROR_EOF) return;
        if (status < 0) {
            oracle_message(r, "libavcodec: receiving a frame: %s", av_err2str(status));
            return;
        }
        if (frame->decode_error_flags || (frame->flags & AV_FRAME_FLAG_CORRUPT))
            oracle_message(r, "libavcodec: frame %d is marked corrupt", r->frame_count);
        if (frame->format != AV_PIX_FMT_YUV420P && frame->format != AV_PIX_FMT_YUVJ420P)
            oracle_message(r, "libavcodec: unexpected pixel format %d", frame->format);
        else
            oracle_frame(
                r, frame->width, frame->height,
                (const uint8_t *const[]){ frame->data[0], frame->data[1], frame->data[2] }, frame->linesize);
        av_frame_unref(frame);
    }
}

struct vaenc_oracle_result vaenc_oracle_libavcodec(const char *codec, const uint8_t *bytes, size_t size) {
    ensure_log();
    struct vaenc_oracle_result result = { 0 };
    listener = &result;

    const AVCodec *implementation = avcodec_find_decoder_by_name(codec);
    AVCodecContext *decoder = implementation ? avcodec_alloc_context3(implementation) : NULL;
    AVCodecParserContext *parser = implementation ? av_parser_init(implementation->id) : NULL;
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    // The parser reads past the end of its input.
    uint8_t *padded = calloc(1, size + AV_INPUT_BUFFER_PADDING_SIZE);
    if (size) memcpy(padded, bytes, size);
    if (!decoder || !parser) {
        oracle_message(&result, "libavcodec: no decoder or parser for %s", codec);
    } else {
        decoder->thread_count = 1;
        decoder->err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE;
        int status = avcodec_open2(decoder, implementation, NULL);
        if (status < 0) oracle_message(&result, "libavcodec: opening: %s", av_err2str(status));
        size_t position = 0;
        int flushed = 0;
        while (status >= 0 && !flushed) {
            uint8_t *unit = NULL;
            int unit_size = 0, given = (int)(size - position);
            position += av_parser_parse2(
                parser, decoder, &unit, &unit_size, padded + position, given, AV_NOPTS_VALUE,
                AV_NOPTS_VALUE, 0);
            if (!unit_size && given > 0) continue;
            flushed = !unit_size;
            packet->data = unit;
            packet->size = unit_size;
            int sent = avcodec_send_packet(decoder, flushed ? NULL : packet);
            if (sent < 0) oracle_message(&result, "libavcodec: sending a packet: %s", av_err2str(sent));
            receive(decoder, frame, &result);
        }
    }
    free(padded);
    av_frame_free(&frame);
    av_packet_free(&packet);
    av_parser_close(parser);
    avcodec_free_context(&decoder);
    listener = NULL;
    return result;
}

struct vaenc_oracle_result vaenc_oracle_trace_headers(const char *codec, const uint8_t *bytes, size_t size) {
    ensure_log();
    struct vaenc_oracle_result result = { 0 };
    listener = &result;
    is_tracing = 1;
    const AVCodec *implementation = avcodec_find_decoder_by_name(codec);
    const AVBitStreamFilter *filter = av_bsf_get_by_name("trace_headers");
    AVCodecContext *decoder = implementation ? avcodec_alloc_context3(implementation) : NULL;
    AVCodecParserContext *parser = implementation ? av_parser_init(implementation->id) : NULL;
    AVBSFContext *tracer = NULL;
    AVPacket *packet = av_packet_alloc();
    uint8_t *padded = calloc(1, size + AV_INPUT_BUFFER_PADDING_SIZE);
    if (size) memcpy(padded, bytes, size);
    int status = filter && decoder && parser ? av_bsf_alloc(filter, &tracer) : AVERROR_BSF_NOT_FOUND;
    if (status >= 0) {
        tracer->par_in->codec_type = AVMEDIA_TYPE_VIDEO;
        tracer->par_in->codec_id = implementation->id;
        status = av_bsf_init(tracer);
    }
    if (status < 0) oracle_message(&result, "trace_headers: %s", av_err2str(status));
    int ended = status < 0;
    for (size_t position = 0; !ended;) {
        uint8_t *unit = NULL;
        int unit_size = 0, given = (int)(size - position);
        position += av_parser_parse2(
            parser, decoder, &unit, &unit_size, padded + position, given, AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
        if (!unit_size && given > 0) continue;
        ended = !unit_size;
        if (ended) break;
        status = av_new_packet(packet, unit_size);
        if (status >= 0) {
            memcpy(packet->data, unit, unit_size);
            status = av_bsf_send_packet(tracer, packet);
        }
        while (status >= 0 && (status = av_bsf_receive_packet(tracer, packet)) >= 0) av_packet_unref(packet);
        if (status < 0 && status != AVERROR(EAGAIN)) {
            oracle_message(&result, "trace_headers: %s", av_err2str(status));
            av_packet_unref(packet);
        }
    }
    free(padded);
    av_packet_free(&packet);
    av_bsf_free(&tracer);
    av_parser_close(parser);
    avcodec_free_context(&decoder);
    listener = NULL;
    is_tracing = 0;
    return result;
}

struct vaenc_oracle_result vaenc_oracle_x264(
    const uint8_t *frames, int width, int height, int frame_count, const char *options
) {
    ensure_log();
    struct vaenc_oracle_result result = { 0 };
    const AVCodec *implementation = avcodec_find_encoder_by_name("libx264");
    AVCodecContext *encoder = implementation ? avcodec_alloc_context3(implementation) : NULL;
    if (!encoder) {
        oracle_message(&result, "libavcodec has no libx264");
        return result;
    }
    encoder->width = width;
    encoder->height = height;
    encoder->pix_fmt = AV_PIX_FMT_YUV420P;
    encoder->time_base = (AVRational){ 1, 25 };
    encoder->framerate = (AVRational){ 25, 1 };
    encoder->thread_count = 1;
    av_opt_set(encoder->priv_data, "x264-params", options, 0);
    int status = avcodec_open2(encoder, implementation, NULL);
    AVFrame *frame = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    size_t luma = (size_t)width * height, chroma = luma / 4;
    for (int index = 0; status >= 0 && index <= frame_count; index++) {
        if (index < frame_count) {
            uint8_t *base = (uint8_t *)frames + index * (luma + 2 * chroma);
            frame->width = width;
            frame->height = height;
            frame->format = AV_PIX_FMT_YUV420P;
            frame->data[0] = base;
            frame->data[1] = base + luma;
            frame->data[2] = base + luma + chroma;
            frame->linesize[0] = width;
            frame->linesize[1] = frame->linesize[2] = width / 2;
            frame->pts = index;
        }
        status = avcodec_send_frame(encoder, index < frame_count ? frame : NULL);
        while (status >= 0 && avcodec_receive_packet(encoder, packet) >= 0) {
            oracle_bytes(&result, packet->data, packet->size);
            av_packet_unref(packet);
        }
    }
    if (status < 0) oracle_message(&result, "libx264: %s", av_err2str(status));
    // The planes are the caller's.
    frame->data[0] = frame->data[1] = frame->data[2] = NULL;
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&encoder);
    return result;
}
