#include "result.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<libde265/de265.h>)
#include <libavcodec/avcodec.h>
#include <libde265/de265.h>

#define FUNCTIONS(do) \
    do(de265_new_decoder) do(de265_free_decoder) do(de265_push_data) do(de265_flush_data) do(de265_decode) \
    do(de265_get_next_picture) do(de265_get_warning) do(de265_get_error_text) do(de265_isOK) \
    do(de265_get_image_width) do(de265_get_image_height) do(de265_get_bits_per_pixel) do(de265_get_image_plane) \
    do(de265_get_chroma_format) do(de265_disable_logging)

static struct {
#define FIELD(name) __typeof__(name) *name;
    FUNCTIONS(FIELD)
} library;
static int is_loaded;
// libde265 counts its users without a lock.
static pthread_mutex_t users = PTHREAD_MUTEX_INITIALIZER;

static void load(void) {
    void *handle = dlopen("libde265.so.0", RTLD_NOW);
    if (!handle) return;
    is_loaded = 1;
#define LOAD(name) is_loaded &= (library.name = (__typeof__(name) *)dlsym(handle, #name)) != NULL;
    FUNCTIONS(LOAD)
    if (is_loaded) library.de265_disable_logging();
}

struct size {
    int width, height;
};

// Returns the coded size of the stream's first pictures, from libavcodec's parser: libde265 reports only the size of
// the conformance window.
static struct size coded_size(const uint8_t *bytes, size_t size) {
    const AVCodec *implementation = avcodec_find_decoder(AV_CODEC_ID_HEVC);
    AVCodecContext *decoder = avcodec_alloc_context3(implementation);
    AVCodecParserContext *parser = av_parser_init(AV_CODEC_ID_HEVC);
    uint8_t *padded = calloc(1, size + AV_INPUT_BUFFER_PADDING_SIZE);
    if (size) memcpy(padded, bytes, size);
    for (size_t position = 0; position < size && parser->coded_width <= 0;) {
        uint8_t *unit;
        int unit_size;
        position += av_parser_parse2(
            parser, decoder, &unit, &unit_size, padded + position, (int)(size - position), AV_NOPTS_VALUE,
            AV_NOPTS_VALUE, 0);
        // The parser returns the last unit only after the end of the input.
        if (position == size)
            av_parser_parse2(
                parser, decoder, &unit, &unit_size, padded + size, 0, AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
    }
    struct size found = { parser->coded_width, parser->coded_height };
    free(padded);
    av_parser_close(parser);
    avcodec_free_context(&decoder);
    return found;
}

static void take(struct vaenc_oracle_result *r, const struct de265_image *image, const struct size *whole) {
    if (library.de265_get_chroma_format(image) != de265_chroma_420) {
        oracle_message(r, "libde265: unexpected chroma format");
        return;
    }
    int depth = library.de265_get_bits_per_pixel(image, 0);
    if (library.de265_get_bits_per_pixel(image, 1) != depth)
        oracle_message(r, "libde265: luma has %d bits, chroma %d", depth, library.de265_get_bits_per_pixel(image, 1));
    const uint8_t *planes[3];
    int pitches[3];
    for (int channel = 0; channel < 3; channel++)
        planes[channel] = library.de265_get_image_plane(image, channel, &pitches[channel]);
    int width = library.de265_get_image_width(image, 0), height = library.de265_get_image_height(image, 0);
    // If the window starts at the picture's corner, the hidden samples are to its right and below it in the same
    // memory.
    if (whole && whole->width >= width && whole->height >= height) {
        width = whole->width;
        height = whole->height;
    }
    oracle_frame(r, width, height, depth, planes, pitches);
}

struct vaenc_oracle_result vaenc_oracle_libde265(const uint8_t *bytes, size_t size, int is_whole) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    struct vaenc_oracle_result result = { 0 };
    if (!is_loaded) {
        oracle_message(&result, "libde265 cannot be loaded: install libde265-dev");
        return result;
    }
    struct size whole = { 0 };
    if (is_whole) whole = coded_size(bytes, size);
    pthread_mutex_lock(&users);
    de265_decoder_context *decoder = library.de265_new_decoder();
    pthread_mutex_unlock(&users);
    if (size) library.de265_push_data(decoder, bytes, (int)size, 0, NULL);
    library.de265_flush_data(decoder);
    for (int more = 1; more;) {
        more = 0;
        de265_error status = library.de265_decode(decoder, &more);
        if (status != DE265_OK && status != DE265_ERROR_WAITING_FOR_INPUT_DATA
            && status != DE265_ERROR_IMAGE_BUFFER_FULL)
            oracle_message(&result, "libde265: %s", library.de265_get_error_text(status));
        if (!library.de265_isOK(status) && status != DE265_ERROR_IMAGE_BUFFER_FULL) more = 0;
        const struct de265_image *image;
        while ((image = library.de265_get_next_picture(decoder))) take(&result, image, is_whole ? &whole : NULL);
        de265_error warning;
        while ((warning = library.de265_get_warning(decoder)) != DE265_OK)
            oracle_message(&result, "libde265: %s", library.de265_get_error_text(warning));
    }
    pthread_mutex_lock(&users);
    library.de265_free_decoder(decoder);
    pthread_mutex_unlock(&users);
    return result;
}

#else

struct vaenc_oracle_result vaenc_oracle_libde265(const uint8_t *bytes, size_t size, int is_whole) {
    (void)bytes, (void)size, (void)is_whole;
    struct vaenc_oracle_result result = { 0 };
    oracle_message(&result, "built without libde265's headers: install libde265-dev and build again");
    return result;
}

#endif
