// Parameter buffers, packed headers and coded buffers.
#include "null.h"
#include <stdlib.h>
#include <string.h>

static VAStatus create_buffer(
    VADriverContextP va, VAContextID context, VABufferType type, unsigned size, unsigned count, void *data, VABufferID *id
) {
    (void)context;
    struct driver *driver = driver_of(va);
    // A coded buffer has room for the filler and the headers.
    if (type == VAEncCodedBufferType && size < driver->coded_bytes + 4096) size = driver->coded_bytes + 4096;
    struct buffer *buffer = calloc(1, sizeof *buffer);
    *buffer = (struct buffer){ .type = type, .size = size, .count = count, .capacity = count, .picture = -1, .references = 1 };
    buffer->data = type == VAEncCodedBufferType ? calloc(count, size) : malloc((size_t)size * count);
    if (!buffer->data) {
        free(buffer);
        return VA_STATUS_ERROR_ALLOCATION_FAILED;
    }
    if (data) memcpy(buffer->data, data, (size_t)size * count);
    COUNT(driver, buffers, 1);
    *id = add_object(driver, BUFFER, buffer);
    return VA_STATUS_SUCCESS;
}

static VAStatus set_element_count(VADriverContextP va, VABufferID id, unsigned count) {
    struct buffer *buffer = object(driver_of(va), BUFFER, id);
    if (!buffer) return VA_STATUS_ERROR_INVALID_BUFFER;
    if (count > buffer->capacity) return VA_STATUS_ERROR_INVALID_PARAMETER;
    buffer->count = count;
    return VA_STATUS_SUCCESS;
}

static VAStatus map_buffer(VADriverContextP va, VABufferID id, void **address) {
    struct driver *driver = driver_of(va);
    struct buffer *buffer = object(driver, BUFFER, id);
    if (!buffer) return VA_STATUS_ERROR_INVALID_BUFFER;
    COUNT(driver, maps, 1);
    if (buffer->type == VAEncCodedBufferType) {
        wait_until(driver, __atomic_load_n(&buffer->done, __ATOMIC_ACQUIRE), UINT64_MAX);
        if (driver->times && buffer->picture >= 0 && !driver->times[buffer->picture].read) driver->times[buffer->picture].read = now();
        *address = &buffer->segment;
        return VA_STATUS_SUCCESS;
    }
    struct surface *surface = buffer->surface ? object(driver, SURFACE, buffer->surface) : NULL;
    if (surface) wait_for_surface(driver, surface);
    *address = buffer->data;
    return VA_STATUS_SUCCESS;
}

static VAStatus unmap_buffer(VADriverContextP va, VABufferID id) {
    return object(driver_of(va), BUFFER, id) ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_BUFFER;
}

void release_buffer(struct buffer *buffer) {
    if (__atomic_sub_fetch(&buffer->references, 1, __ATOMIC_ACQ_REL)) return;
    if (!buffer->is_borrowed) free(buffer->data);
    free(buffer);
}

VAStatus destroy_buffer(VADriverContextP va, VABufferID id) {
    struct buffer *buffer = take_object(driver_of(va), BUFFER, id);
    if (!buffer) return VA_STATUS_ERROR_INVALID_BUFFER;
    release_buffer(buffer);
    return VA_STATUS_SUCCESS;
}

static VAStatus buffer_info(VADriverContextP va, VABufferID id, VABufferType *type, unsigned *size, unsigned *count) {
    struct buffer *buffer = object(driver_of(va), BUFFER, id);
    if (!buffer) return VA_STATUS_ERROR_INVALID_BUFFER;
    *type = buffer->type;
    *size = buffer->size;
    *count = buffer->count;
    return VA_STATUS_SUCCESS;
}

static VAStatus sync_buffer(VADriverContextP va, VABufferID id, uint64_t timeout) {
    struct driver *driver = driver_of(va);
    struct buffer *buffer = object(driver, BUFFER, id);
    if (!driver->can_sync_buffers) return VA_STATUS_ERROR_UNIMPLEMENTED;
    if (!buffer) return VA_STATUS_ERROR_INVALID_BUFFER;
    return wait_until(driver, __atomic_load_n(&buffer->done, __ATOMIC_ACQUIRE), timeout);
}

void set_buffer_functions(struct VADriverVTable *table) {
    table->vaCreateBuffer = create_buffer;
    table->vaBufferSetNumElements = set_element_count;
    table->vaMapBuffer = map_buffer;
    table->vaUnmapBuffer = unmap_buffer;
    table->vaDestroyBuffer = destroy_buffer;
    table->vaBufferInfo = buffer_info;
    table->vaSyncBuffer = sync_buffer;
}
