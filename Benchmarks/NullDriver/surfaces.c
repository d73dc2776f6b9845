// Surfaces: memory of the driver, or of the client (USER_PTR, DRM_PRIME, DRM_PRIME_2).
#include "null.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <va/va_drmcommon.h>

static uint32_t align(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

void lay_out(struct driver *driver, struct surface *surface) {
    surface->pitch = align(surface->width * (surface->fourcc == VA_FOURCC_P010 ? 2 : 1), driver->pitch);
    surface->offset[0] = 0;
    surface->offset[1] = surface->pitch * align(surface->height, 16);
    surface->size = align(surface->offset[1] * 3 / 2, 4096);
}

void free_surface(struct surface *surface) {
    if (surface->is_mapped) munmap(surface->memory, surface->size);
    if (surface->descriptor >= 0) close(surface->descriptor);
    free(surface);
}

static int map_memory(struct surface *surface, int protection) {
    if (surface->descriptor < 0) return 0;
    void *memory = mmap(NULL, surface->size, protection, MAP_SHARED, surface->descriptor, 0);
    if (memory == MAP_FAILED) return 0;
    surface->memory = memory;
    surface->is_mapped = 1;
    return 1;
}

static int allocate_memory(struct surface *surface) {
    surface->descriptor = memfd_create("vaenc-null", MFD_CLOEXEC);
    if (surface->descriptor < 0 || ftruncate(surface->descriptor, surface->size)) return 0;
    return map_memory(surface, PROT_READ | PROT_WRITE);
}

static int import_prime2(struct surface *surface, const VADRMPRIMESurfaceDescriptor *memory) {
    surface->pitch = memory->layers[0].pitch[0];
    surface->offset[0] = memory->layers[0].offset[0];
    surface->offset[1] = memory->num_layers > 1 ? memory->layers[1].offset[0] : memory->layers[0].offset[1];
    surface->descriptor = fcntl(memory->objects[0].fd, F_DUPFD_CLOEXEC, 0);
    surface->size = lseek(surface->descriptor, 0, SEEK_END);
    return map_memory(surface, PROT_READ);
}

static int import_external(struct surface *surface, const VASurfaceAttribExternalBuffers *memory, unsigned index, uint32_t type) {
    surface->pitch = memory->pitches[0];
    surface->offset[0] = memory->offsets[0];
    surface->offset[1] = memory->offsets[1];
    surface->size = memory->data_size;
    if (type == VA_SURFACE_ATTRIB_MEM_TYPE_USER_PTR) {
        surface->memory = (uint8_t *)memory->buffers[index];
        return 1;
    }
    surface->descriptor = fcntl(memory->buffers[index], F_DUPFD_CLOEXEC, 0);
    return map_memory(surface, PROT_READ);
}

static VAStatus create_surfaces2(
    VADriverContextP va, unsigned rt_format, unsigned width, unsigned height, VASurfaceID *ids, unsigned count,
    VASurfaceAttrib *attributes, unsigned attribute_count
) {
    struct driver *driver = driver_of(va);
    uint32_t fourcc = rt_format & VA_RT_FORMAT_YUV420_10 ? VA_FOURCC_P010 : VA_FOURCC_NV12;
    uint32_t type = VA_SURFACE_ATTRIB_MEM_TYPE_VA;
    void *external = NULL;
    for (unsigned i = 0; i < attribute_count; i++) {
        const VAGenericValue *value = &attributes[i].value;
        if (attributes[i].type == VASurfaceAttribPixelFormat) fourcc = value->value.i;
        if (attributes[i].type == VASurfaceAttribMemoryType) type = value->value.i;
        if (attributes[i].type == VASurfaceAttribExternalBufferDescriptor) external = value->value.p;
    }
    if (fourcc != VA_FOURCC_NV12 && fourcc != VA_FOURCC_P010) return VA_STATUS_ERROR_INVALID_VALUE;
    if (!(type & driver->memory_types)) return VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
    if (type == VA_SURFACE_ATTRIB_MEM_TYPE_VA) external = NULL;
    for (unsigned n = 0; n < count; n++) {
        struct surface *surface = calloc(1, sizeof *surface);
        *surface = (struct surface){ .fourcc = fourcc, .width = width, .height = height, .descriptor = -1 };
        lay_out(driver, surface);
        int has_memory;
        if (!external) has_memory = allocate_memory(surface);
        else if (type == VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2) has_memory = import_prime2(surface, external);
        else has_memory = import_external(surface, external, n, type);
        if (!has_memory) {
            free_surface(surface);
            return VA_STATUS_ERROR_ALLOCATION_FAILED;
        }
        COUNT(driver, surfaces, 1);
        if (external) COUNT(driver, imported_surfaces, 1);
        ids[n] = add_object(driver, SURFACE, surface);
    }
    return VA_STATUS_SUCCESS;
}

static VAStatus create_surfaces(VADriverContextP va, int width, int height, int rt_format, int count, VASurfaceID *ids) {
    return create_surfaces2(va, rt_format, width, height, ids, count, NULL, 0);
}

static VAStatus destroy_surfaces(VADriverContextP va, VASurfaceID *ids, int count) {
    for (int i = 0; i < count; i++) {
        struct surface *surface = take_object(driver_of(va), SURFACE, ids[i]);
        if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
        free_surface(surface);
    }
    return VA_STATUS_SUCCESS;
}

static VAStatus export_surface(VADriverContextP va, VASurfaceID id, uint32_t type, uint32_t flags, void *descriptor) {
    struct surface *surface = object(driver_of(va), SURFACE, id);
    if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
    if (type != VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2 || surface->descriptor < 0) return VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
    VADRMPRIMESurfaceDescriptor *result = descriptor;
    const int is_10_bit = surface->fourcc == VA_FOURCC_P010, is_separate = !!(flags & VA_EXPORT_SURFACE_SEPARATE_LAYERS);
    memset(result, 0, sizeof *result);
    result->fourcc = surface->fourcc;
    result->width = surface->width;
    result->height = surface->height;
    result->num_objects = 1;
    result->objects[0].fd = fcntl(surface->descriptor, F_DUPFD_CLOEXEC, 0);
    result->objects[0].size = surface->size;
    result->num_layers = is_separate ? 2 : 1;
    for (int plane = 0; plane < 2; plane++) {
        int layer = is_separate ? plane : 0, index = is_separate ? 0 : plane;
        result->layers[layer].num_planes = index + 1;
        result->layers[layer].offset[index] = surface->offset[plane];
        result->layers[layer].pitch[index] = surface->pitch;
    }
    result->layers[0].drm_format = surface->fourcc;
    if (is_separate) {
        result->layers[0].drm_format = is_10_bit ? VA_FOURCC('R', '1', '6', ' ') : VA_FOURCC('R', '8', ' ', ' ');
        result->layers[1].drm_format = is_10_bit ? VA_FOURCC('G', 'R', '3', '2') : VA_FOURCC('G', 'R', '8', '8');
    }
    return VA_STATUS_SUCCESS;
}

static uint64_t done_time(struct surface *surface) { return __atomic_load_n(&surface->done, __ATOMIC_ACQUIRE); }

void wait_for_surface(struct driver *driver, struct surface *surface) {
    wait_until(driver, done_time(surface), UINT64_MAX);
}

static VAStatus sync_surface(VADriverContextP va, VASurfaceID id) {
    struct surface *surface = object(driver_of(va), SURFACE, id);
    return surface ? wait_until(driver_of(va), done_time(surface), UINT64_MAX) : VA_STATUS_ERROR_INVALID_SURFACE;
}

static VAStatus sync_surface2(VADriverContextP va, VASurfaceID id, uint64_t timeout) {
    struct surface *surface = object(driver_of(va), SURFACE, id);
    if (!driver_of(va)->can_sync_buffers) return VA_STATUS_ERROR_UNIMPLEMENTED;
    return surface ? wait_until(driver_of(va), done_time(surface), timeout) : VA_STATUS_ERROR_INVALID_SURFACE;
}

static VAStatus surface_status(VADriverContextP va, VASurfaceID id, VASurfaceStatus *status) {
    struct surface *surface = object(driver_of(va), SURFACE, id);
    if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
    *status = done_time(surface) > now() ? VASurfaceRendering : VASurfaceReady;
    return VA_STATUS_SUCCESS;
}

void set_surface_functions(struct VADriverVTable *table) {
    table->vaCreateSurfaces = create_surfaces;
    table->vaCreateSurfaces2 = create_surfaces2;
    table->vaDestroySurfaces = destroy_surfaces;
    table->vaExportSurfaceHandle = export_surface;
    table->vaSyncSurface = sync_surface;
    table->vaSyncSurface2 = sync_surface2;
    table->vaQuerySurfaceStatus = surface_status;
}
