// A program that has its own FFmpeg functions, like one that FFmpeg is linked into. It exports the names that the test
// links to it, and each of those functions ends it. It lets a driver process a picture and open decoders.
#include <fcntl.h>
#include <stdio.h>
#include <va/va.h>
#include <va/va_drm.h>
#include <va/va_vpp.h>

#define CHECK(call) \
    do { \
        VAStatus status = call; \
        if (status) { \
            fprintf(stderr, "%s: %s\n", #call, vaErrorStr(status)); \
            return 1; \
        } \
    } while (0)

static int process(VADisplay display) {
    VAConfigID config;
    VAContextID context;
    VASurfaceID from, to;
    VABufferID buffer;
    VAProcPipelineParameterBuffer pipeline = {0};
    CHECK(vaCreateConfig(display, VAProfileNone, VAEntrypointVideoProc, 0, 0, &config));
    CHECK(vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, 64, 64, &from, 1, 0, 0));
    CHECK(vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, 96, 32, &to, 1, 0, 0));
    CHECK(vaCreateContext(display, config, 96, 32, VA_PROGRESSIVE, &to, 1, &context));
    pipeline.surface = from;
    CHECK(vaCreateBuffer(display, context, VAProcPipelineParameterBufferType, sizeof pipeline, 1, &pipeline, &buffer));
    CHECK(vaBeginPicture(display, context, to));
    CHECK(vaRenderPicture(display, context, &buffer, 1));
    CHECK(vaEndPicture(display, context));
    CHECK(vaSyncSurface(display, to));
    return 0;
}

static int open_decoder(VADisplay display, VAProfile profile) {
    VAConfigID config;
    VAContextID context;
    CHECK(vaCreateConfig(display, profile, VAEntrypointVLD, 0, 0, &config));
    CHECK(vaCreateContext(display, config, 64, 64, VA_PROGRESSIVE, 0, 0, &context));
    CHECK(vaDestroyContext(display, context));
    return 0;
}

int main(void) {
    int major, minor;
    VADisplay display = vaGetDisplayDRM(open("/dev/dri/renderD128", O_RDWR));
    CHECK(vaInitialize(display, &major, &minor));
    int failed = process(display) || open_decoder(display, VAProfileH264High) || open_decoder(display, VAProfileHEVCMain);
    CHECK(vaTerminate(display));
    return failed;
}
