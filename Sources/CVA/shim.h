// The libva headers that vaenc is built against, one module for all of them, and what their macros hide from Swift.
#pragma once
#include <va/va.h>
#include <va/va_drm.h>
#include <va/va_drmcommon.h>
#include <va/va_enc_h264.h>
#include <va/va_enc_hevc.h>
#include <va/va_backend.h>
#include <va/va_str.h>

// How a mapping will be used: vaMapBuffer2 of VA-API 1.21; older ones map for everything.
#define VAENC_MAP_READ 1u
#define VAENC_MAP_WRITE 2u

static inline VAStatus vaenc_map_buffer(VADisplay display, VABufferID buffer, void **data, uint32_t flags) {
#if VA_CHECK_VERSION(1, 21, 0)
    return vaMapBuffer2(display, buffer, data, flags);
#else
    (void)flags;
    return vaMapBuffer(display, buffer, data);
#endif
}
