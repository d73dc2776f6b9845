// Loads FFmpeg's libraries when they are first needed. Linking them would cost 29 ms and 28 MB before main.
//
// Every call goes through `struct VaencLibAV`, which dlsym fills. The header versions decide the sonames, so a build
// runs with the FFmpeg version that it was built for. The inline helpers at the end wrap macros, which Swift cannot
// import, and the differences between FFmpeg 5, 6 and 7.
#pragma once
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavdevice/avdevice.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libavutil/hdr_dynamic_metadata.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
#include <string.h>

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif

#define VAENC_LIBAV_UTIL(X) \
    X(av_buffer_create) \
    X(av_buffer_ref) \
    X(av_buffer_unref) \
    X(av_channel_layout_copy) \
    X(av_channel_layout_default) \
    X(av_channel_layout_uninit) \
    X(av_dict_copy) \
    X(av_dict_free) \
    X(av_dict_get) \
    X(av_dict_set) \
    X(av_frame_alloc) \
    X(av_frame_apply_cropping) \
    X(av_frame_clone) \
    X(av_frame_copy_props) \
    X(av_frame_free) \
    X(av_frame_get_buffer) \
    X(av_frame_get_side_data) \
    X(av_frame_make_writable) \
    X(av_frame_new_side_data) \
    X(av_frame_ref) \
    X(av_frame_unref) \
    X(av_free) \
    X(av_get_bytes_per_sample) \
    X(av_get_pix_fmt_name) \
    X(av_hwdevice_ctx_alloc) \
    X(av_hwdevice_ctx_init) \
    X(av_hwframe_transfer_data) \
    X(av_image_alloc) \
    X(av_image_copy) \
    X(av_log_format_line2) \
    X(av_log_set_callback) \
    X(av_malloc) \
    X(av_mallocz) \
    X(av_opt_set) \
    X(av_pix_fmt_desc_get) \
    X(av_realloc) \
    X(av_sample_fmt_is_planar) \
    X(av_strerror)

#define VAENC_LIBAV_SCALE(X) \
    X(sws_alloc_context) \
    X(sws_freeContext) \
    X(sws_getCoefficients) \
    X(sws_getContext) \
    X(sws_init_context) \
    X(sws_scale) \
    X(sws_setColorspaceDetails)

// FFmpeg 6.1 moved a stream's side data to its codec parameters.
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
#define VAENC_HAS_CODED_SIDE_DATA 1
#define VAENC_LIBAV_CODEC_SIDE_DATA(X) X(av_packet_side_data_new)
#define VAENC_LIBAV_FORMAT_SIDE_DATA(X)
#else
#define VAENC_HAS_CODED_SIDE_DATA 0
#define VAENC_LIBAV_CODEC_SIDE_DATA(X)
#define VAENC_LIBAV_FORMAT_SIDE_DATA(X) X(av_stream_new_side_data)
#endif

#define VAENC_LIBAV_CODEC(X) \
    VAENC_LIBAV_CODEC_SIDE_DATA(X) \
    X(av_bsf_alloc) \
    X(av_bsf_free) \
    X(av_bsf_get_by_name) \
    X(av_bsf_init) \
    X(av_bsf_receive_packet) \
    X(av_bsf_send_packet) \
    X(av_grow_packet) \
    X(av_new_packet) \
    X(av_packet_alloc) \
    X(av_packet_clone) \
    X(av_packet_free) \
    X(av_packet_get_side_data) \
    X(av_packet_move_ref) \
    X(av_packet_new_side_data) \
    X(av_packet_ref) \
    X(av_packet_unref) \
    X(av_parser_close) \
    X(av_parser_init) \
    X(av_parser_parse2) \
    X(avcodec_alloc_context3) \
    X(avcodec_default_get_buffer2) \
    X(avcodec_default_get_format) \
    X(avcodec_find_decoder) \
    X(avcodec_find_encoder) \
    X(avcodec_find_encoder_by_name) \
    X(avcodec_flush_buffers) \
    X(avcodec_free_context) \
    X(avcodec_get_name) \
    X(avcodec_open2) \
    X(avcodec_parameters_copy) \
    X(avcodec_parameters_from_context) \
    X(avcodec_parameters_to_context) \
    X(avcodec_receive_frame) \
    X(avcodec_receive_packet) \
    X(avcodec_send_frame) \
    X(avcodec_send_packet)

#define VAENC_LIBAV_FORMAT(X) \
    VAENC_LIBAV_FORMAT_SIDE_DATA(X) \
    X(av_codec_get_id) \
    X(av_codec_get_tag2) \
    X(av_find_best_stream) \
    X(av_find_input_format) \
    X(av_guess_frame_rate) \
    X(av_guess_sample_aspect_ratio) \
    X(av_interleaved_write_frame) \
    X(av_read_frame) \
    X(av_seek_frame) \
    X(av_write_frame) \
    X(av_write_trailer) \
    X(avformat_alloc_context) \
    X(avformat_alloc_output_context2) \
    X(avformat_close_input) \
    X(avformat_find_stream_info) \
    X(avformat_free_context) \
    X(avformat_new_stream) \
    X(avformat_open_input) \
    X(avformat_query_codec) \
    X(avformat_write_header) \
    X(avio_alloc_context) \
    X(avio_closep) \
    X(avio_context_free) \
    X(avio_flush) \
    X(avio_open2)

#define VAENC_LIBAV_RESAMPLE(X) \
    X(swr_alloc_set_opts2) \
    X(swr_convert) \
    X(swr_free) \
    X(swr_get_delay) \
    X(swr_init) \
    X(swr_set_compensation)

#define VAENC_LIBAV_FILTER(X) \
    X(av_buffersink_get_frame) \
    X(av_buffersrc_add_frame_flags) \
    X(avfilter_get_by_name) \
    X(avfilter_graph_alloc) \
    X(avfilter_graph_config) \
    X(avfilter_graph_create_filter) \
    X(avfilter_graph_free) \
    X(avfilter_graph_parse_ptr) \
    X(avfilter_inout_alloc) \
    X(avfilter_inout_free) \
    X(avfilter_link)

#define VAENC_LIBAV_DEVICE(X) \
    X(avdevice_free_list_devices) \
    X(avdevice_list_input_sources) \
    X(avdevice_register_all)

/// The functions of FFmpeg's libraries. The functions of a library that is not loaded yet are null.
struct VaencLibAV {
#define VAENC_MEMBER(name) __typeof__(&name) _Nullable name;
    VAENC_LIBAV_UTIL(VAENC_MEMBER)
    VAENC_LIBAV_SCALE(VAENC_MEMBER)
    VAENC_LIBAV_CODEC(VAENC_MEMBER)
    VAENC_LIBAV_FORMAT(VAENC_MEMBER)
    VAENC_LIBAV_RESAMPLE(VAENC_MEMBER)
    VAENC_LIBAV_FILTER(VAENC_MEMBER)
    VAENC_LIBAV_DEVICE(VAENC_MEMBER)
#undef VAENC_MEMBER
};

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// The libraries that can be loaded, in any combination. libavutil is always loaded with them.
enum VaencLibAVPart {
    VaencLibAVScale = 1,
    VaencLibAVCodec = 2,
    /// Loads libavcodec too.
    VaencLibAVFormat = 4,
    VaencLibAVResample = 8,
    VaencLibAVFilter = 16,
    /// Loads libavformat too.
    VaencLibAVDevice = 32,
    /// Loads no library. The process's log callback is not replaced. For code that is itself loaded into other
    /// programs.
    VaencLibAVGuest = 64,
};

// Hidden: a program and a driver that it loads may come from different builds. Each has its own table.
#pragma GCC visibility push(hidden)

/// Loads the libraries of `parts` and returns the table. Each library is loaded once; any thread may call this. Returns
/// null if a library is missing, with the loader's message in `why` (`size` bytes).
const struct VaencLibAV *_Nullable vaenc_libav(int parts, char *_Nonnull why, size_t size);

/// Whether the libraries of `parts` are installed in the major versions that this build was compiled for. It looks for
/// their files in the loader's usual folders, and loads a library only if none of these folders contains it.
_Bool vaenc_libav_is_installed(int parts);

/// Returns the major version of one library's headers. The Debian package name contains it.
int vaenc_libav_major(int part);

/// Whether a line of libav's log names an option of the ffmpeg program, such as `-strict -2` or `'-bsf:v …'`. vaenc has
/// none of these options, and discards such lines.
_Bool vaenc_libav_names_option(const char *_Nonnull line);

/// Copies the last error line that libav logged on this thread, or else on any thread, without its end of line. Then
/// discards all lines of all threads. Returns false if there is no line.
_Bool vaenc_libav_take_log(char *_Nonnull line, size_t size);

/// Copies the last error line that libav logged on this thread, and discards this thread's lines only. Returns false if
/// there is no line.
_Bool vaenc_libav_take_own_log(char *_Nonnull line, size_t size);

/// Whether one of the last lines of this thread contains `part`. Discards no line.
_Bool vaenc_libav_has_logged(const char *_Nonnull part);
// The first packet that libavformat called corrupt on this thread since the last call; false if there is none.
_Bool vaenc_libav_take_corrupt(int *_Nonnull stream, int64_t *_Nonnull dts);

typedef int (*_Nonnull VaencReadPacket)(void *_Nullable opaque, uint8_t *_Nonnull bytes, int count);
typedef int (*_Nonnull VaencWritePacket)(void *_Nullable opaque, const uint8_t *_Nonnull bytes, int count);
typedef int64_t (*_Nullable VaencSeek)(void *_Nullable opaque, int64_t offset, int whence);

/// Creates an AVIOContext that reads through callbacks; `seek` may be null. Free it with vaenc_avio_free. Returns null
/// if there is no memory.
AVIOContext *_Nullable vaenc_avio_reader(
    const struct VaencLibAV *_Nonnull av, int bufferSize, void *_Nullable opaque, VaencReadPacket read, VaencSeek seek);
/// Creates an AVIOContext that writes through callbacks. The signature of the write callback changed in FFmpeg 7. Free
/// it with vaenc_avio_free. Returns null if there is no memory.
AVIOContext *_Nullable vaenc_avio_writer(
    const struct VaencLibAV *_Nonnull av, int bufferSize, void *_Nullable opaque, VaencWritePacket write,
    VaencSeek seek);
void vaenc_avio_free(const struct VaencLibAV *_Nonnull av, AVIOContext *_Nullable context);

/// Makes a decoder fill the memory of every new picture with `value`. Call it before the decoder is opened.
void vaenc_fill_pictures(AVCodecContext *_Nonnull context, uint8_t value);

/// Creates libav's device context for a VADisplay, which must outlive it (AVVAAPIDeviceContext). Returns null on
/// failure, with an AVERROR in `code`.
AVBufferRef *_Nullable vaenc_vaapi_device(
    const struct VaencLibAV *_Nonnull av, void *_Nonnull display, int *_Nonnull code);

/// Makes a decoder use VA-API on `device` if the driver decodes the stream, and decode in software otherwise. Call it
/// before the decoder is opened. `extra` is the number of pictures that the caller holds at once. Returns false if
/// there is no memory.
_Bool vaenc_decode_on(
    const struct VaencLibAV *_Nonnull av, AVCodecContext *_Nonnull context, AVBufferRef *_Nonnull device, int extra);

/// Replaces functions of a VADisplay's driver so that their failures can be recorded, whichever library calls them.
/// Idempotent. Returns false if there is no memory, or if the display has no driver.
_Bool vaenc_note_calls(void *_Nonnull display);

/// Starts to record failed calls on this thread, and discards earlier records. Only calls that set up a decoder or
/// decode a picture are recorded. A failure of a set-up call is ignored if it means that the device lacks a capability.
void vaenc_begin_notes(void);

/// Stops the recording on this thread. Returns the C name of the first call that failed, with its VAStatus in `status`;
/// null if no call failed.
const char *_Nullable vaenc_end_notes(int *_Nonnull status);
#pragma GCC visibility pop

/// Whether a container needs packets with strictly increasing decoding times.
static inline _Bool vaenc_needs_increasing_times(const AVOutputFormat *_Nonnull format) {
    return !(format->flags & (AVFMT_TS_NONSTRICT | AVFMT_NOTIMESTAMPS));
}

/// Returns the VASurfaceID of a picture on a device.
static inline uint32_t vaenc_surface_of(const AVFrame *_Nonnull frame) {
    return (uint32_t)(uintptr_t)frame->data[3];
}
/// Reads the size and layout of that surface, which may be larger than the picture. Returns false if the frame has no
/// surface.
static inline _Bool vaenc_surface_shape(
    const AVFrame *_Nonnull frame, int *_Nonnull width, int *_Nonnull height, enum AVPixelFormat *_Nonnull format) {
    if (frame->format != AV_PIX_FMT_VAAPI || !frame->hw_frames_ctx) return 0;
    const AVHWFramesContext *frames = (const AVHWFramesContext *)frame->hw_frames_ctx->data;
    *width = frames->width;
    *height = frames->height;
    *format = frames->sw_format;
    return 1;
}

// A tag is a number that passes from a packet to the picture that is decoded from it, independently of the times.
#if LIBAVCODEC_VERSION_MAJOR >= 60
static inline void vaenc_carry_tags(AVCodecContext *_Nonnull context) { context->flags |= AV_CODEC_FLAG_COPY_OPAQUE; }
static inline void vaenc_set_tag(AVCodecContext *_Nonnull context, AVPacket *_Nonnull packet, int64_t tag) {
    (void)context;
    packet->opaque = (void *)(intptr_t)tag;
}
static inline int64_t vaenc_tag(const AVFrame *_Nonnull frame) { return (int64_t)(intptr_t)frame->opaque; }
#else
static inline void vaenc_carry_tags(AVCodecContext *_Nonnull context) { (void)context; }
static inline void vaenc_set_tag(AVCodecContext *_Nonnull context, AVPacket *_Nonnull packet, int64_t tag) {
    (void)packet;
    context->reordered_opaque = tag;
}
static inline int64_t vaenc_tag(const AVFrame *_Nonnull frame) { return frame->reordered_opaque; }
#endif

static inline int vaenc_averror(int error) { return AVERROR(error); }
/// Returns the errno inside an AVERROR, or 0 if it contains none.
static inline int vaenc_errno_of(int code) {
    int error = AVUNERROR(code);
    return error > 0 && error < 4096 ? error : 0;
}
static inline int vaenc_averror_eof(void) { return AVERROR_EOF; }
static inline int vaenc_averror_again(void) { return AVERROR(EAGAIN); }
static inline int vaenc_averror_invalid(void) { return AVERROR_INVALIDDATA; }
static inline int vaenc_averror_exit(void) { return AVERROR_EXIT; }
/// Whether the HEVC decoder keeps the AVFrame for which it has requested memory until the next picture. From FFmpeg 7
/// on, the frame belongs to a pool. The H.264 decoder keeps its own frames in every version.
static inline _Bool vaenc_keeps_hevc_frames(void) { return LIBAVCODEC_VERSION_MAJOR < 61; }
static inline int64_t vaenc_no_pts(void) { return AV_NOPTS_VALUE; }
// Returns a stream's side data of one type, or null if it has none.
static inline const AVPacketSideData *_Nullable vaenc_side_data(
    const AVStream *_Nonnull stream, enum AVPacketSideDataType type) {
#if VAENC_HAS_CODED_SIDE_DATA
    const AVPacketSideData *data = stream->codecpar->coded_side_data;
    int count = stream->codecpar->nb_coded_side_data;
#else
    const AVPacketSideData *data = stream->side_data;
    int count = stream->nb_side_data;
#endif
    for (int i = 0; i < count; i++) if (data[i].type == type) return data + i;
    return 0;
}

// Adds zeroed side data of one type to a stream, for the caller to fill. Returns null if there is no memory.
static inline void *_Nullable vaenc_new_side_data(
    const struct VaencLibAV *_Nonnull av, AVStream *_Nonnull stream, enum AVPacketSideDataType type, size_t size) {
#if VAENC_HAS_CODED_SIDE_DATA
    AVCodecParameters *parameters = stream->codecpar;
    AVPacketSideData *data = av->av_packet_side_data_new(
        &parameters->coded_side_data, &parameters->nb_coded_side_data, type, size, 0);
    void *bytes = data ? data->data : 0;
#else
    void *bytes = av->av_stream_new_side_data(stream, type, size);
#endif
    if (bytes) memset(bytes, 0, size);
    return bytes;
}

/// ST 2086 mastering display data in the units of SEI messages: chromaticities in steps of 0.00002, luminances in steps
/// of 0.0001 cd/m².
struct VaencMasteringDisplay {
    // Red, green, blue and white, each as x and y.
    uint32_t points[4][2];
    uint32_t max_luminance, min_luminance;
};

static inline uint32_t vaenc_steps(AVRational value, int64_t steps) {
    if (value.den <= 0 || value.num < 0) return 0;
    int64_t result = (value.num * steps + value.den / 2) / value.den;
    return result > UINT32_MAX ? UINT32_MAX : (uint32_t)result;
}

/// Reads AVMasteringDisplayMetadata. Returns false if the primaries or the luminances are missing.
static inline _Bool vaenc_read_mastering_display(
    const void *_Nonnull bytes, size_t size, struct VaencMasteringDisplay *_Nonnull display) {
    const AVMasteringDisplayMetadata *from = bytes;
    if (size < sizeof *from || !from->has_primaries || !from->has_luminance) return 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) display->points[i][j] = vaenc_steps(from->display_primaries[i][j], 50000);
    for (int j = 0; j < 2; j++) display->points[3][j] = vaenc_steps(from->white_point[j], 50000);
    display->max_luminance = vaenc_steps(from->max_luminance, 10000);
    display->min_luminance = vaenc_steps(from->min_luminance, 10000);
    return 1;
}

/// Reads MaxCLL and MaxFALL from AVContentLightMetadata. Returns false if the data is too short.
static inline _Bool vaenc_read_content_light(
    const void *_Nonnull bytes, size_t size, unsigned *_Nonnull content, unsigned *_Nonnull average) {
    const AVContentLightMetadata *from = bytes;
    if (size < sizeof *from) return 0;
    *content = from->MaxCLL;
    *average = from->MaxFALL;
    return 1;
}

static inline void vaenc_fill_mastering_display(
    AVMasteringDisplayMetadata *_Nonnull to, struct VaencMasteringDisplay display) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            to->display_primaries[i][j] = (AVRational){(int)display.points[i][j], 50000};
    for (int j = 0; j < 2; j++) to->white_point[j] = (AVRational){(int)display.points[3][j], 50000};
    to->max_luminance = (AVRational){(int)display.max_luminance, 10000};
    to->min_luminance = (AVRational){(int)display.min_luminance, 10000};
    to->has_primaries = to->has_luminance = 1;
}

/// Adds the metadata to a stream that will be written. Returns false if there is no memory.
static inline _Bool vaenc_set_mastering_display(
    const struct VaencLibAV *_Nonnull av, AVStream *_Nonnull stream, struct VaencMasteringDisplay display) {
    AVMasteringDisplayMetadata *to = vaenc_new_side_data(
        av, stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, sizeof *to);
    if (to) vaenc_fill_mastering_display(to, display);
    return to != 0;
}
static inline _Bool vaenc_set_content_light(
    const struct VaencLibAV *_Nonnull av, AVStream *_Nonnull stream, unsigned content, unsigned average) {
    AVContentLightMetadata *to = vaenc_new_side_data(av, stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, sizeof *to);
    if (to) {
        to->MaxCLL = content;
        to->MaxFALL = average;
    }
    return to != 0;
}

// Whether the stream has a display matrix by which players rotate or mirror the pictures.
static inline int vaenc_is_turned(const AVStream *_Nonnull stream) {
    const AVPacketSideData *data = vaenc_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX);
    if (!data || data->size < 9 * sizeof(int32_t)) return 0;
    const int32_t *m = (const int32_t *)data->data;
    return m[0] <= 0 || m[1] != 0 || m[3] != 0 || m[4] <= 0;
}
#pragma GCC visibility push(hidden)
// Copies a container's description of a stream, but no times of packets. The container's aspect ratio replaces the
// stream's own. Returns false if there is no memory.
_Bool vaenc_copy_stream(const struct VaencLibAV *_Nonnull av, AVStream *_Nonnull to, const AVStream *_Nonnull from);

// Copies a file's metadata, except the entries that name the file's format and encoder, and the chapters between
// `start` and `end`. Both are times of `from` in AV_TIME_BASE; the copied chapters count from `start`. Returns false if
// there is no memory.
_Bool vaenc_copy_file(
    const struct VaencLibAV *_Nonnull av, AVFormatContext *_Nonnull to, const AVFormatContext *_Nonnull from, int64_t start,
    int64_t end);

// Allocates the chapter list of a container that has none. Returns false if there is no memory.
_Bool vaenc_reserve_chapters(const struct VaencLibAV *_Nonnull av, AVFormatContext *_Nonnull to, unsigned count);

// Adds a chapter, whose times are in AV_TIME_BASE, to a list that vaenc_reserve_chapters made large enough. Returns
// null if there is no memory.
AVChapter *_Nullable vaenc_add_chapter(
    const struct VaencLibAV *_Nonnull av, AVFormatContext *_Nonnull to, int64_t id, int64_t start, int64_t end);
#pragma GCC visibility pop

// Keeps a stream's four-character code if the output container knows the code, or has no code of its own for the codec.
// Otherwise clears it, so that the container chooses one.
static inline void vaenc_fit_codec_tag(
    const struct VaencLibAV *_Nonnull av, AVStream *_Nonnull stream, const AVOutputFormat *_Nonnull format) {
    AVCodecParameters *parameters = stream->codecpar;
    unsigned other;
    if (!format->codec_tag || av->av_codec_get_id(format->codec_tag, parameters->codec_tag) == parameters->codec_id ||
        !av->av_codec_get_tag2(format->codec_tag, parameters->codec_id, &other)) return;
    parameters->codec_tag = 0;
}

static inline int64_t vaenc_time_base(void) { return AV_TIME_BASE; }
static inline int vaenc_seek_size(void) { return AVSEEK_SIZE; }
static inline int vaenc_seek_force(void) { return AVSEEK_FORCE; }
static inline int vaenc_input_padding(void) { return AV_INPUT_BUFFER_PADDING_SIZE; }

static inline _Bool vaenc_is_key(const AVFrame *_Nonnull frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    return (frame->flags & AV_FRAME_FLAG_KEY) != 0;
#else
    return frame->key_frame != 0;
#endif
}

static inline _Bool vaenc_is_interlaced(const AVFrame *_Nonnull frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame->interlaced_frame != 0;
#endif
}

/// Returns the frame's duration in the stream's time base, or 0 if it is unknown.
static inline int64_t vaenc_frame_duration(const AVFrame *_Nonnull frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

/// Copies a picture to another of the same format and size. The constness of the arguments differs between versions.
static inline void vaenc_image_copy(
    const struct VaencLibAV *_Nonnull av, uint8_t *_Nullable *_Nonnull to, const int *_Nonnull toStrides,
    uint8_t *_Nullable *_Nonnull from, const int *_Nonnull fromStrides, enum AVPixelFormat format, int width,
    int height) {
    av->av_image_copy(to, (int *)toStrides, (const uint8_t **)from, (int *)fromStrides, format, width, height);
}
