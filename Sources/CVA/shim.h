// The libva headers that vaenc is built against, one module for all of them, and what their macros hide from Swift.
#pragma once
#include <linux/udmabuf.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
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

// VASurfaceAttribAlignmentSize of VA-API 1.21, behind what older headers know; a driver may be newer than they are.
#if VA_CHECK_VERSION(1, 21, 0)
#define VAENC_SURFACE_ALIGNMENT VASurfaceAttribAlignmentSize
#else
#define VAENC_SURFACE_ALIGNMENT (VASurfaceAttribDRMFormatModifiers + 1)
#endif
static const VASurfaceAttribType vaenc_surface_alignment = (VASurfaceAttribType)VAENC_SURFACE_ALIGNMENT;
_Static_assert(VAENC_SURFACE_ALIGNMENT == 10, "the number is part of the binary interface");

// VADRMPRIMESurfaceDescriptor, whose unnamed structures Swift does not see.
struct vaenc_prime_object {
    int fd;
    uint32_t size;
    uint64_t drm_format_modifier;
};
struct vaenc_prime_layer {
    uint32_t drm_format;
    uint32_t num_planes;
    uint32_t object_index[4];
    uint32_t offset[4];
    uint32_t pitch[4];
};
struct vaenc_prime_surface {
    uint32_t fourcc;
    uint32_t width;
    uint32_t height;
    uint32_t num_objects;
    struct vaenc_prime_object objects[4];
    uint32_t num_layers;
    struct vaenc_prime_layer layers[4];
};
_Static_assert(
    sizeof(struct vaenc_prime_surface) == sizeof(VADRMPRIMESurfaceDescriptor) &&
        offsetof(struct vaenc_prime_surface, objects) == offsetof(VADRMPRIMESurfaceDescriptor, objects) &&
        offsetof(struct vaenc_prime_surface, layers) == offsetof(VADRMPRIMESurfaceDescriptor, layers) &&
        sizeof(struct vaenc_prime_object) == sizeof(((VADRMPRIMESurfaceDescriptor *)0)->objects[0]) &&
        sizeof(struct vaenc_prime_layer) == sizeof(((VADRMPRIMESurfaceDescriptor *)0)->layers[0]),
    "vaenc_prime_surface is laid out as VADRMPRIMESurfaceDescriptor");

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

// memfd_create and fcntl's seals, which glibc declares for GNU sources only: the size cannot change any more.
extern int vaenc_memfd_create(const char *name, unsigned int flags) __asm__("memfd_create");
#define VAENC_MFD_CLOEXEC 1u
#define VAENC_MFD_ALLOW_SEALING 2u
#define VAENC_F_ADD_SEALS 1033
// F_SEAL_SEAL, F_SEAL_SHRINK and F_SEAL_GROW.
#define VAENC_SEALED_SIZE 7

// Whether a descriptor is of a DMA-BUF, by its file system's magic number (linux/magic.h).
static inline _Bool vaenc_is_dma_buffer(int descriptor) {
    struct statfs system;
    return fstatfs(descriptor, &system) == 0 && system.f_type == 0x444d4142;
}

// Makes a DMA-BUF of memory of memfd_create that cannot shrink any more. Returns its descriptor, or -1 with errno set.
static inline int vaenc_udmabuf_create(int device, int memory, uint64_t byte_count) {
    struct udmabuf_create request = {.memfd = (uint32_t)memory, .flags = UDMABUF_FLAGS_CLOEXEC, .offset = 0, .size = byte_count};
    return ioctl(device, UDMABUF_CREATE, &request);
}
