#define _GNU_SOURCE
#include "CLibAV.h"

#include <dlfcn.h>
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_vaapi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define SONAME(name, major) "lib" name ".so." TEXT(major)

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static struct VaencLibAV table;
static int loaded;

#define LOG_LINES 8
#define LOG_LENGTH 256
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    long thread;
    char text[LOG_LENGTH];
} log_lines[LOG_LINES];
static unsigned log_count;

_Bool vaenc_libav_names_option(const char *line) {
    for (const char *at = strchr(line, '-'); at; at = strchr(at + 1, '-')) {
        char before = at == line ? ' ' : at[-1];
        if (strchr(" '\"`(", before) && at[1] >= 'a' && at[1] <= 'z') return 1;
    }
    return 0;
}

// The first packet that libavformat called corrupt since the last query, by the thread that read it.
static struct {
    long thread;
    int stream;
    long long dts;
} corrupt;

static void keep_corrupt(void *context, int level, const char *format, va_list arguments) {
    char text[LOG_LENGTH];
    int print_prefix = 0, stream;
    long long dts;
    if (!table.av_log_format_line2 ||
        table.av_log_format_line2(context, level, format, arguments, text, sizeof text, &print_prefix) < 0) return;
    const char *message = strstr(text, "Packet corrupt");
    if (!message || sscanf(message, "Packet corrupt (stream = %d, dts = %lld", &stream, &dts) != 2) return;
    pthread_mutex_lock(&log_lock);
    if (!corrupt.thread) {
        corrupt.thread = syscall(SYS_gettid);
        corrupt.stream = stream;
        corrupt.dts = dts;
    }
    pthread_mutex_unlock(&log_lock);
}

_Bool vaenc_libav_take_corrupt(int *stream, int64_t *dts) {
    pthread_mutex_lock(&log_lock);
    _Bool found = corrupt.thread == syscall(SYS_gettid);
    *stream = corrupt.stream;
    *dts = corrupt.dts;
    corrupt.thread = 0;
    pthread_mutex_unlock(&log_lock);
    return found;
}

static void keep_line(void *context, int level, const char *format, va_list arguments) {
    if (level == AV_LOG_WARNING && !strncmp(format, "Packet corrupt", 14)) return keep_corrupt(context, level, format, arguments);
    if (level > AV_LOG_ERROR) return;
    char text[LOG_LENGTH];
    // The prefix is `[name @ address] `; only the message is useful.
    int print_prefix = 0;
    if (!table.av_log_format_line2 ||
        table.av_log_format_line2(context, level, format, arguments, text, sizeof text, &print_prefix) < 0) return;
    size_t length = strlen(text);
    while (length && (text[length - 1] == '\n' || text[length - 1] == '\r' || text[length - 1] == ' '
                      || text[length - 1] == '.' || text[length - 1] == ',')) text[--length] = 0;
    if (!length || vaenc_libav_names_option(text)) return;
    for (size_t index = 0; index < length; index++) if ((unsigned char)text[index] < 32) text[index] = ' ';
    pthread_mutex_lock(&log_lock);
    unsigned slot = log_count++ % LOG_LINES;
    log_lines[slot].thread = syscall(SYS_gettid);
    memcpy(log_lines[slot].text, text, length + 1);
    pthread_mutex_unlock(&log_lock);
}

_Bool vaenc_libav_take_log(char *line, size_t size) {
    pthread_mutex_lock(&log_lock);
    long thread = syscall(SYS_gettid);
    unsigned first = log_count > LOG_LINES ? log_count - LOG_LINES : 0;
    int found = -1;
    for (unsigned index = first; index < log_count; index++) {
        unsigned slot = index % LOG_LINES;
        if (!log_lines[slot].text[0]) continue;
        if (found < 0 || log_lines[slot].thread == thread || log_lines[found].thread != thread) found = (int)slot;
    }
    if (found >= 0 && size) {
        strncpy(line, log_lines[found].text, size - 1);
        line[size - 1] = 0;
    }
    log_count = 0;
    pthread_mutex_unlock(&log_lock);
    return found >= 0;
}

_Bool vaenc_libav_take_own_log(char *line, size_t size) {
    pthread_mutex_lock(&log_lock);
    long thread = syscall(SYS_gettid);
    unsigned first = log_count > LOG_LINES ? log_count - LOG_LINES : 0;
    _Bool found = 0;
    for (unsigned index = first; index < log_count; index++) {
        unsigned slot = index % LOG_LINES;
        if (log_lines[slot].thread != thread || !log_lines[slot].text[0]) continue;
        found = 1;
        if (size) {
            strncpy(line, log_lines[slot].text, size - 1);
            line[size - 1] = 0;
        }
        log_lines[slot].text[0] = 0;
    }
    pthread_mutex_unlock(&log_lock);
    return found;
}

_Bool vaenc_libav_has_logged(const char *part) {
    pthread_mutex_lock(&log_lock);
    long thread = syscall(SYS_gettid);
    _Bool found = 0;
    for (unsigned slot = 0; slot < LOG_LINES && slot < log_count; slot++)
        found |= log_lines[slot].thread == thread && strstr(log_lines[slot].text, part) != 0;
    pthread_mutex_unlock(&log_lock);
    return found;
}

#define NAME(name) #name,
static const char *const function_names[] = {
    VAENC_LIBAV_UTIL(NAME) VAENC_LIBAV_SCALE(NAME) VAENC_LIBAV_CODEC(NAME) VAENC_LIBAV_FORMAT(NAME)
    VAENC_LIBAV_RESAMPLE(NAME) VAENC_LIBAV_FILTER(NAME) VAENC_LIBAV_DEVICE(NAME)
};
static const char *const sonames[] = {
    SONAME("avutil", LIBAVUTIL_VERSION_MAJOR), SONAME("swscale", LIBSWSCALE_VERSION_MAJOR),
    SONAME("avcodec", LIBAVCODEC_VERSION_MAJOR), SONAME("avformat", LIBAVFORMAT_VERSION_MAJOR),
    SONAME("swresample", LIBSWRESAMPLE_VERSION_MAJOR), SONAME("avfilter", LIBAVFILTER_VERSION_MAJOR),
    SONAME("avdevice", LIBAVDEVICE_VERSION_MAJOR),
};
#define COUNT(list) (sizeof list / sizeof *list)

// Whether `path` is a file of one of the libraries that this build loads.
static int is_own_library(const char *path) {
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    for (size_t i = 0; i < COUNT(sonames); i++) {
        size_t length = strlen(sonames[i]);
        if (!strncmp(file, sonames[i], length) && (!file[length] || file[length] == '.')) return 1;
    }
    return 0;
}

// Returns RTLD_DEEPBIND if the process has its own FFmpeg, as a program does that links FFmpeg statically. Without the
// flag the libraries would call the program's functions instead of each other's. Otherwise returns 0, because the flag
// also bypasses preloaded libraries. Also returns 0 with a sanitizer, because sanitizers end a process that uses the
// flag.
static int binding_flag(void) {
    static const char *const sanitizers[] = {"__asan_init", "__tsan_init", "__msan_init"};
    for (size_t i = 0; i < COUNT(sanitizers); i++) if (dlsym(RTLD_DEFAULT, sanitizers[i])) return 0;
    for (size_t i = 0; i < COUNT(function_names); i++) {
        void *function = dlsym(RTLD_DEFAULT, function_names[i]);
        Dl_info info;
        if (function && dladdr(function, &info) && info.dli_fname && !is_own_library(info.dli_fname)) return RTLD_DEEPBIND;
    }
    return 0;
}

static void *open_library(const char *name, char *why, size_t size) {
    void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL | binding_flag());
    if (!handle) {
        const char *error = dlerror();
        snprintf(why, size, "%s", error ? error : name);
    }
    return handle;
}

#define FETCH(name) \
    if (!(table.name = (__typeof__(table.name))dlsym(handle, #name))) { \
        snprintf(why, size, "%s has no %s", library, #name); \
        return 0; \
    }

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wpedantic"

#define LOADER(part, soname, list) \
    static int load_##part(char *why, size_t size) { \
        const char *library = soname; \
        void *handle = open_library(library, why, size); \
        if (!handle) return 0; \
        list(FETCH) \
        return 1; \
    }
LOADER(util, SONAME("avutil", LIBAVUTIL_VERSION_MAJOR), VAENC_LIBAV_UTIL)
LOADER(scale, SONAME("swscale", LIBSWSCALE_VERSION_MAJOR), VAENC_LIBAV_SCALE)
LOADER(codec, SONAME("avcodec", LIBAVCODEC_VERSION_MAJOR), VAENC_LIBAV_CODEC)
LOADER(format, SONAME("avformat", LIBAVFORMAT_VERSION_MAJOR), VAENC_LIBAV_FORMAT)
LOADER(resample, SONAME("swresample", LIBSWRESAMPLE_VERSION_MAJOR), VAENC_LIBAV_RESAMPLE)
LOADER(filter, SONAME("avfilter", LIBAVFILTER_VERSION_MAJOR), VAENC_LIBAV_FILTER)
LOADER(device, SONAME("avdevice", LIBAVDEVICE_VERSION_MAJOR), VAENC_LIBAV_DEVICE)

static int load_first(char *why, size_t size, int guest) {
    // A program that uses libav itself keeps its own log callback, and so does a program that loaded this code.
    void *library = dlopen(SONAME("avutil", LIBAVUTIL_VERSION_MAJOR), RTLD_LAZY | RTLD_NOLOAD);
    if (library) dlclose(library);
    if (!load_util(why, size)) return 0;
    if (!library && !guest) table.av_log_set_callback(keep_line);
    return 1;
}

const struct VaencLibAV *vaenc_libav(int parts, char *why, size_t size) {
    static const int utilities = 1 << 16;
    if (parts & VaencLibAVDevice) parts |= VaencLibAVFormat;
    if (parts & VaencLibAVFormat) parts |= VaencLibAVCodec;
    int guest = parts & VaencLibAVGuest;
    parts = (parts & ~guest) | utilities;
    pthread_mutex_lock(&load_lock);
    int missing = parts & ~loaded, good = 1;
    if (good && missing & utilities && (good = load_first(why, size, guest))) loaded |= utilities;
    if (good && missing & VaencLibAVScale && (good = load_scale(why, size))) loaded |= VaencLibAVScale;
    if (good && missing & VaencLibAVCodec && (good = load_codec(why, size))) loaded |= VaencLibAVCodec;
    if (good && missing & VaencLibAVFormat && (good = load_format(why, size))) loaded |= VaencLibAVFormat;
    if (good && missing & VaencLibAVResample && (good = load_resample(why, size))) loaded |= VaencLibAVResample;
    if (good && missing & VaencLibAVFilter && (good = load_filter(why, size))) loaded |= VaencLibAVFilter;
    if (good && missing & VaencLibAVDevice && (good = load_device(why, size))) loaded |= VaencLibAVDevice;
    pthread_mutex_unlock(&load_lock);
    return good ? &table : 0;
}

// Whether the loader finds a library. Loads it only if it is in none of the loader's usual folders.
static int is_installed(const char *soname) {
    void *library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD), *program = dlopen(0, RTLD_LAZY);
    int found = library != 0;
    Dl_serinfo head;
    if (!found && program && !dlinfo(program, RTLD_DI_SERINFOSIZE, &head)) {
        Dl_serinfo *folders = malloc(head.dls_size);
        if (folders && !dlinfo(program, RTLD_DI_SERINFOSIZE, folders) && !dlinfo(program, RTLD_DI_SERINFO, folders)) {
            for (unsigned i = 0; i < folders->dls_cnt && !found; i++) {
                char path[4096];
                int length = snprintf(path, sizeof path, "%s/%s", folders->dls_serpath[i].dls_name, soname);
                found = length > 0 && (size_t)length < sizeof path && !access(path, R_OK);
            }
        }
        free(folders);
    }
    // The loader's cache may name other folders.
    if (!found && (library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL | binding_flag()))) found = 1;
    if (library) dlclose(library);
    if (program) dlclose(program);
    return found;
}

_Bool vaenc_libav_is_installed(int parts) {
    static const struct { int part, index; } libraries[] = {
        {VaencLibAVScale, 1}, {VaencLibAVCodec, 2}, {VaencLibAVFormat, 3}, {VaencLibAVResample, 4}, {VaencLibAVFilter, 5},
        {VaencLibAVDevice, 6},
    };
    if (!is_installed(sonames[0])) return 0;
    for (size_t i = 0; i < COUNT(libraries); i++)
        if (parts & libraries[i].part && !is_installed(sonames[libraries[i].index])) return 0;
    return 1;
}

int vaenc_libav_major(int part) {
    switch (part) {
    case VaencLibAVScale: return LIBSWSCALE_VERSION_MAJOR;
    case VaencLibAVCodec: return LIBAVCODEC_VERSION_MAJOR;
    case VaencLibAVResample: return LIBSWRESAMPLE_VERSION_MAJOR;
    case VaencLibAVFilter: return LIBAVFILTER_VERSION_MAJOR;
    case VaencLibAVDevice: return LIBAVDEVICE_VERSION_MAJOR;
    default: return LIBAVFORMAT_VERSION_MAJOR;
    }
}

AVIOContext *vaenc_avio_reader(
    const struct VaencLibAV *av, int bufferSize, void *opaque, VaencReadPacket read, VaencSeek seek) {
    unsigned char *buffer = av->av_malloc((size_t)bufferSize);
    if (!buffer) return 0;
    AVIOContext *context = av->avio_alloc_context(buffer, bufferSize, 0, opaque, read, 0, seek);
    if (!context) av->av_free(buffer);
    return context;
}

AVIOContext *vaenc_avio_writer(
    const struct VaencLibAV *av, int bufferSize, void *opaque, VaencWritePacket write, VaencSeek seek) {
    unsigned char *buffer = av->av_malloc((size_t)bufferSize);
    if (!buffer) return 0;
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    AVIOContext *context = av->avio_alloc_context(buffer, bufferSize, 1, opaque, 0, write, seek);
#else
    AVIOContext *context = av->avio_alloc_context(
        buffer, bufferSize, 1, opaque, 0, (int (*)(void *, uint8_t *, int))write, seek);
#endif
    if (!context) av->av_free(buffer);
    return context;
}

void vaenc_avio_free(const struct VaencLibAV *av, AVIOContext *context) {
    if (!context) return;
    // A muxer or demuxer may have replaced the buffer that was passed at creation.
    av->av_free(context->buffer);
    context->buffer = 0;
    av->avio_context_free(&context);
}

static int get_filled_buffer(AVCodecContext *context, AVFrame *frame, int flags) {
    int code = table.avcodec_default_get_buffer2(context, frame, flags);
    if (code < 0) return code;
    for (int index = 0; index < AV_NUM_DATA_POINTERS; index++) {
        AVBufferRef *buffer = frame->buf[index];
        if (buffer) memset(buffer->data, (int)(intptr_t)context->opaque, (size_t)buffer->size);
    }
    return code;
}

void vaenc_fill_pictures(AVCodecContext *context, uint8_t value) {
    // The contexts of the decoder's threads are copies that include `opaque`.
    context->opaque = (void *)(intptr_t)value;
    context->get_buffer2 = get_filled_buffer;
}

_Bool vaenc_copy_stream(const struct VaencLibAV *av, AVStream *to, const AVStream *from) {
    // From FFmpeg 6.1 on, the parameters contain the side data.
    if (av->avcodec_parameters_copy(to->codecpar, from->codecpar) < 0) return 0;
#if !VAENC_HAS_CODED_SIDE_DATA
    for (int i = 0; i < from->nb_side_data; i++) {
        const AVPacketSideData *data = from->side_data + i;
        uint8_t *copy = av->av_stream_new_side_data(to, data->type, data->size);
        if (!copy) return 0;
        memcpy(copy, data->data, data->size);
    }
#endif
    to->id = from->id;
    to->time_base = from->time_base;
    to->avg_frame_rate = from->avg_frame_rate;
    to->r_frame_rate = from->r_frame_rate;
    // The container's aspect ratio takes precedence over the stream's own. A muxer writes one of the two, never both.
    AVRational aspect = from->sample_aspect_ratio.num > 0 ? from->sample_aspect_ratio : from->codecpar->sample_aspect_ratio;
    to->sample_aspect_ratio = to->codecpar->sample_aspect_ratio = aspect;
    to->disposition = from->disposition;
    return av->av_dict_copy(&to->metadata, from->metadata, 0) >= 0;
}

static int64_t in_ticks(int64_t time, AVRational base) {
    if (base.num <= 0 || base.den <= 0) return 0;
    __int128 ticks = (__int128)time * base.den / ((__int128)base.num * AV_TIME_BASE);
    return ticks > INT64_MAX ? INT64_MAX : ticks < INT64_MIN ? INT64_MIN : (int64_t)ticks;
}

_Bool vaenc_copy_file(
    const struct VaencLibAV *av, AVFormatContext *to, const AVFormatContext *from, int64_t start, int64_t end) {
    static const char *excluded[] = {"major_brand", "minor_version", "compatible_brands", "encoder"};
    if (av->av_dict_copy(&to->metadata, from->metadata, 0) < 0) return 0;
    for (size_t i = 0; i < sizeof excluded / sizeof *excluded; i++) av->av_dict_set(&to->metadata, excluded[i], 0, 0);
    if (!from->nb_chapters) return 1;
    // avformat_free_context frees the list, as it frees libavformat's own.
    to->chapters = av->av_mallocz(from->nb_chapters * sizeof *to->chapters);
    if (!to->chapters) return 0;
    for (unsigned i = 0; i < from->nb_chapters; i++) {
        AVRational base = from->chapters[i]->time_base;
        int64_t first = in_ticks(start, base), last = in_ticks(end, base);
        // In some files the last chapter has no end.
        _Bool is_open = from->chapters[i]->end <= from->chapters[i]->start;
        if (from->chapters[i]->start >= last || (!is_open && from->chapters[i]->end <= first)) continue;
        AVChapter *chapter = av->av_mallocz(sizeof *chapter);
        if (!chapter) return 0;
        to->chapters[to->nb_chapters++] = chapter;
        *chapter = *from->chapters[i];
        if (chapter->start < first) chapter->start = first;
        if (chapter->end > last) chapter->end = last;
        if (chapter->end < chapter->start) chapter->end = chapter->start;
        chapter->start -= first;
        chapter->end -= first;
        chapter->metadata = 0;
        if (av->av_dict_copy(&chapter->metadata, from->chapters[i]->metadata, 0) < 0) return 0;
    }
    return 1;
}

_Bool vaenc_reserve_chapters(const struct VaencLibAV *av, AVFormatContext *to, unsigned count) {
    // avformat_free_context frees the list, as it frees libavformat's own.
    if (!to->chapters) to->chapters = av->av_mallocz((size_t)count * sizeof *to->chapters);
    return to->chapters != 0;
}

AVChapter *vaenc_add_chapter(const struct VaencLibAV *av, AVFormatContext *to, int64_t id, int64_t start, int64_t end) {
    AVChapter *chapter = av->av_mallocz(sizeof *chapter);
    if (!chapter) return 0;
    *chapter = (AVChapter){.id = id, .time_base = {1, AV_TIME_BASE}, .start = start, .end = end};
    return to->chapters[to->nb_chapters++] = chapter;
}

AVBufferRef *vaenc_vaapi_device(const struct VaencLibAV *av, void *display, int *code) {
    AVBufferRef *device = av->av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_VAAPI);
    *code = AVERROR(ENOMEM);
    if (!device) return 0;
    AVHWDeviceContext *context = (AVHWDeviceContext *)device->data;
    ((AVVAAPIDeviceContext *)context->hwctx)->display = display;
    *code = av->av_hwdevice_ctx_init(device);
    if (*code < 0) av->av_buffer_unref(&device);
    return device;
}

static enum AVPixelFormat take_device(AVCodecContext *context, const enum AVPixelFormat *formats) {
    // If the device rejects the stream, libavcodec calls this function again without AV_PIX_FMT_VAAPI in the list.
    for (const enum AVPixelFormat *format = formats; *format != AV_PIX_FMT_NONE; format++)
        if (*format == AV_PIX_FMT_VAAPI) return *format;
    return table.avcodec_default_get_format(context, formats);
}

_Bool vaenc_decode_on(const struct VaencLibAV *av, AVCodecContext *context, AVBufferRef *device, int extra) {
    context->hw_device_ctx = av->av_buffer_ref(device);
    context->get_format = take_device;
    context->extra_hw_frames = extra;
    return context->hw_device_ctx != 0;
}
