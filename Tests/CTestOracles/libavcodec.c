#include "log.h"
#include "result.h"
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <stdlib.h>
#include <string.h>

// Returns the bit depth of a planar 4:2:0 format; 0 for any other format.
static int bit_depth(enum AVPixelFormat format) {
    if (format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P) return 8;
    return format == AV_PIX_FMT_YUV420P10LE ? 10 : 0;
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
        int depth = bit_depth(frame->format);
        if (!depth)
            oracle_message(r, "libavcodec: unexpected pixel format %d", frame->format);
        else
            oracle_frame(
                r, frame->width, frame->height, depth,
                (const uint8_t *const[]){ frame->data[0], frame->data[1], frame->data[2] }, frame->linesize);
        av_frame_unref(frame);
    }
}

struct vaenc_oracle_result vaenc_oracle_libavcodec(
    const char *codec, const uint8_t *bytes, size_t size, int is_whole
) {
    struct vaenc_oracle_result result = { 0 };
    oracle_listen(&result, 0);

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
        decoder->apply_cropping = !is_whole;
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
    oracle_listen(NULL, 0);
    return result;
}

struct vaenc_oracle_result vaenc_oracle_trace_headers(const char *codec, const uint8_t *bytes, size_t size) {
    struct vaenc_oracle_result result = { 0 };
    oracle_listen(&result, 1);
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
    oracle_listen(NULL, 0);
    return result;
}
