// Images: of a surface's own memory (vaDeriveImage), or of memory from which the driver copies.
#include "null.h"
#include <stdlib.h>
#include <string.h>

static const VAImageFormat formats[] = {
    { .fourcc = VA_FOURCC_NV12, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 12 },
    { .fourcc = VA_FOURCC_P010, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 24 },
};

static VAStatus query_formats(VADriverContextP va, VAImageFormat *list, int *count) {
    (void)va;
    memcpy(list, formats, sizeof formats);
    *count = 2;
    return VA_STATUS_SUCCESS;
}

// Makes an image with the layout of `surface`. If `id` is not 0, the image shares the surface's memory.
static VAStatus make_image(struct driver *driver, const struct surface *surface, VASurfaceID id, VAImage *image) {
    struct buffer *buffer = calloc(1, sizeof *buffer);
    *buffer = (struct buffer){
        .type = VAImageBufferType, .size = surface->size, .count = 1, .capacity = 1, .picture = -1, .references = 1, .surface = id,
        .is_borrowed = id != 0,
    };
    buffer->data = id ? surface->memory : malloc(surface->size);
    memset(image, 0, sizeof *image);
    image->format = formats[surface->fourcc == VA_FOURCC_P010];
    image->width = surface->width;
    image->height = surface->height;
    image->data_size = surface->size;
    image->num_planes = 2;
    for (int plane = 0; plane < 2; plane++) {
        image->pitches[plane] = surface->pitch;
        image->offsets[plane] = surface->offset[plane];
    }
    image->buf = add_object(driver, BUFFER, buffer);
    VAImage *kept = malloc(sizeof *kept);
    image->image_id = add_object(driver, IMAGE, kept);
    *kept = *image;
    return VA_STATUS_SUCCESS;
}

static VAStatus create_image(VADriverContextP va, VAImageFormat *format, int width, int height, VAImage *image) {
    struct surface layout = { .fourcc = format->fourcc, .width = width, .height = height };
    if (format->fourcc != VA_FOURCC_NV12 && format->fourcc != VA_FOURCC_P010) return VA_STATUS_ERROR_INVALID_IMAGE_FORMAT;
    lay_out(driver_of(va), &layout);
    return make_image(driver_of(va), &layout, 0, image);
}

static VAStatus derive_image(VADriverContextP va, VASurfaceID id, VAImage *image) {
    struct driver *driver = driver_of(va);
    struct surface *surface = object(driver, SURFACE, id);
    if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
    if (!driver->can_derive) return VA_STATUS_ERROR_OPERATION_FAILED;
    COUNT(driver, derived_images, 1);
    return make_image(driver, surface, id, image);
}

static VAStatus destroy_image(VADriverContextP va, VAImageID id) {
    VAImage *image = take_object(driver_of(va), IMAGE, id);
    if (!image) return VA_STATUS_ERROR_INVALID_IMAGE;
    destroy_buffer(va, image->buf);
    free(image);
    return VA_STATUS_SUCCESS;
}

static VAStatus copy_image(
    struct driver *driver, VASurfaceID surface_id, VAImageID image_id, unsigned width, unsigned height, int is_put
) {
    struct surface *surface = object(driver, SURFACE, surface_id);
    VAImage *image = object(driver, IMAGE, image_id);
    struct buffer *buffer = image ? object(driver, BUFFER, image->buf) : NULL;
    if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
    if (!buffer) return VA_STATUS_ERROR_INVALID_IMAGE;
    if (width > surface->width || height > surface->height || width > image->width || height > image->height) {
        return VA_STATUS_ERROR_INVALID_PARAMETER;
    }
    wait_for_surface(driver, surface);
    const unsigned bytes = (width + 1) / 2 * 2 * (surface->fourcc == VA_FOURCC_P010 ? 2 : 1);
    for (int plane = 0; plane < 2; plane++) {
        uint8_t *inside = surface->memory + surface->offset[plane], *outside = buffer->data + image->offsets[plane];
        for (unsigned row = 0; row < (plane ? (height + 1) / 2 : height); row++) {
            if (is_put) memcpy(inside, outside, bytes);
            else memcpy(outside, inside, bytes);
            inside += surface->pitch;
            outside += image->pitches[plane];
        }
    }
    COUNT(driver, copied_images, 1);
    COUNT(driver, copied_bytes, (uint64_t)bytes * height * 3 / 2);
    return VA_STATUS_SUCCESS;
}

static VAStatus get_image(VADriverContextP va, VASurfaceID surface, int x, int y, unsigned width, unsigned height, VAImageID image) {
    if (x || y) return VA_STATUS_ERROR_UNIMPLEMENTED;
    return copy_image(driver_of(va), surface, image, width, height, 0);
}

static VAStatus put_image(
    VADriverContextP va, VASurfaceID surface, VAImageID image, int x, int y, unsigned width, unsigned height, int to_x, int to_y,
    unsigned to_width, unsigned to_height
) {
    if (x || y || to_x || to_y || to_width != width || to_height != height) return VA_STATUS_ERROR_UNIMPLEMENTED;
    return copy_image(driver_of(va), surface, image, width, height, 1);
}

void set_image_functions(struct VADriverVTable *table) {
    table->vaQueryImageFormats = query_formats;
    table->vaCreateImage = create_image;
    table->vaDeriveImage = derive_image;
    table->vaDestroyImage = destroy_image;
    table->vaGetImage = get_image;
    table->vaPutImage = put_image;
}
