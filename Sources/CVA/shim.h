// The libva headers that vaenc is built against, one module for all of them, and what their macros hide from Swift.
#pragma once
#include <va/va.h>
#include <va/va_drm.h>
#include <va/va_drmcommon.h>
#include <va/va_enc_h264.h>
#include <va/va_enc_hevc.h>
#include <va/va_vpp.h>
#include <va/va_prot.h>
#include <va/va_backend.h>
#include <va/va_backend_vpp.h>
#include <va/va_backend_prot.h>
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

// dladdr and its answer, which glibc declares for GNU sources only.
struct vaenc_file_info {
    const char *file;
    void *base;
    const char *symbol;
    void *address;
};
extern int vaenc_dladdr(const void *address, struct vaenc_file_info *info) __asm__("dladdr");

// The path of the program or library that holds a function; NULL where it is not known. Valid while that is loaded.
static inline const char *vaenc_file_of(VAStatus (*function)(VADriverContextP)) {
    struct vaenc_file_info info;
    return vaenc_dladdr((const void *)function, &info) ? info.file : 0;
}
