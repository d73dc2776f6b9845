// Contexts and pictures: a coded picture is the client's packed headers with filler as slice data, and takes the engine
// a fixed time.
#include "null.h"
#include <stdlib.h>
#include <string.h>
#include <va/va_enc_h264.h>
#include <va/va_enc_hevc.h>

static VAStatus create_context(
    VADriverContextP va, VAConfigID config_id, int width, int height, int flag, VASurfaceID *targets, int count, VAContextID *id
) {
    (void)width, (void)height, (void)flag, (void)targets, (void)count;
    struct config *config = object(driver_of(va), CONFIG, config_id);
    if (!config) return VA_STATUS_ERROR_INVALID_CONFIG;
    struct context *context = calloc(1, sizeof *context);
    context->config = *config;
    *id = add_object(driver_of(va), CONTEXT, context);
    return VA_STATUS_SUCCESS;
}

void release_rendered(struct context *context) {
    for (int i = 0; i < context->count; i++) release_buffer(context->rendered[i]);
    context->count = 0;
}

static VAStatus destroy_context(VADriverContextP va, VAContextID id) {
    struct context *context = take_object(driver_of(va), CONTEXT, id);
    if (!context) return VA_STATUS_ERROR_INVALID_CONTEXT;
    release_rendered(context);
    free(context);
    return VA_STATUS_SUCCESS;
}

static VAStatus begin_picture(VADriverContextP va, VAContextID id, VASurfaceID target) {
    struct context *context = object(driver_of(va), CONTEXT, id);
    if (!context) return VA_STATUS_ERROR_INVALID_CONTEXT;
    if (!object(driver_of(va), SURFACE, target)) return VA_STATUS_ERROR_INVALID_SURFACE;
    release_rendered(context);
    context->target = target;
    return VA_STATUS_SUCCESS;
}

static VAStatus render_picture(VADriverContextP va, VAContextID id, VABufferID *list, int count) {
    struct context *context = object(driver_of(va), CONTEXT, id);
    if (!context) return VA_STATUS_ERROR_INVALID_CONTEXT;
    for (int i = 0; i < count; i++) {
        struct buffer *buffer = object(driver_of(va), BUFFER, list[i]);
        if (!buffer) return VA_STATUS_ERROR_INVALID_BUFFER;
        if (context->count == MAX_RENDERED) return VA_STATUS_ERROR_MAX_NUM_EXCEEDED;
        __atomic_add_fetch(&buffer->references, 1, __ATOMIC_RELAXED);
        context->rendered[context->count++] = buffer;
    }
    return VA_STATUS_SUCCESS;
}

// Finds the coded buffer, the number of slices, and whether the picture is a key picture.
static struct buffer *find_output(struct driver *driver, const struct context *context, int *slices, int *is_key) {
    VABufferID output = 0;
    *slices = 0;
    *is_key = 0;
    for (int i = 0; i < context->count; i++) {
        const struct buffer *buffer = context->rendered[i];
        if (buffer->type == VAEncSliceParameterBufferType) *slices += buffer->count;
        if (buffer->type != VAEncPictureParameterBufferType) continue;
        if (is_hevc(context->config.profile)) {
            const VAEncPictureParameterBufferHEVC *picture = (const void *)buffer->data;
            output = picture->coded_buf;
            *is_key = picture->pic_fields.bits.idr_pic_flag;
        } else {
            const VAEncPictureParameterBufferH264 *picture = (const void *)buffer->data;
            output = picture->coded_buf;
            *is_key = picture->pic_fields.bits.idr_pic_flag;
        }
    }
    struct buffer *buffer = object(driver, BUFFER, output);
    return buffer && buffer->type == VAEncCodedBufferType && *slices > 0 ? buffer : NULL;
}

// Writes a packed header as it appears in the stream, with emulation prevention bytes. Returns the number of bytes.
static uint32_t put_header(uint8_t *to, uint32_t room, const struct buffer *data, uint32_t bits, int is_escaped) {
    uint32_t count = (bits + 7) / 8, used = 0, zeros = 0, index = 0;
    if (count > data->size * data->count) count = data->size * data->count;
    if (is_escaped) {
        if (count > room) count = room;
        memcpy(to, data->data, count);
        return count;
    }
    // The start code is not escaped.
    while (index < count && !data->data[index]) index++;
    if (index < count) index++;
    if (index > room) return 0;
    memcpy(to, data->data, index);
    used = index;
    for (; index < count && used + 1 < room; index++) {
        if (zeros >= 2 && data->data[index] <= 3) {
            to[used++] = 3;
            zeros = 0;
        }
        zeros = data->data[index] ? 0 : zeros + 1;
        to[used++] = data->data[index];
    }
    return used;
}

// Writes the start code and the first bytes of a slice whose header the client did not pack.
static uint32_t put_slice_start(uint8_t *to, uint32_t room, int is_hevc, int is_key) {
    static const uint8_t h264[2][6] = { { 0, 0, 0, 1, 0x41, 0x9a }, { 0, 0, 0, 1, 0x65, 0x88 } };
    static const uint8_t hevc[2][6] = { { 0, 0, 0, 1, 0x02, 0x01 }, { 0, 0, 0, 1, 0x26, 0x01 } };
    if (room < 6) return 0;
    memcpy(to, is_hevc ? hevc[is_key] : h264[is_key], 6);
    return 6;
}

// Writes the coded picture: the headers in the order of their buffers, and filler after each slice header.
static void write_picture(struct driver *driver, const struct context *context, struct buffer *coded, int slices, int is_key) {
    const uint32_t share = driver->coded_bytes / slices;
    uint32_t filler = share * slices, used = 0, type = 0, bits = 0;
    int is_escaped = 0, has_slice_header = 0;
    for (int i = 0; i < context->count; i++) {
        const struct buffer *buffer = context->rendered[i];
        // The filler that is still to come fits in any case.
        const uint32_t room = coded->size - used - filler;
        if (buffer->type == VAEncPackedHeaderParameterBufferType) {
            const VAEncPackedHeaderParameterBuffer *header = (const void *)buffer->data;
            type = header->type;
            bits = header->bit_length;
            is_escaped = header->has_emulation_bytes;
        } else if (buffer->type == VAEncPackedHeaderDataBufferType) {
            used += put_header(coded->data + used, room, buffer, bits, is_escaped);
            has_slice_header = type == VAEncPackedHeaderSlice;
        } else if (buffer->type == VAEncSliceParameterBufferType) {
            for (uint32_t n = 0; n < buffer->count; n++) {
                if (!has_slice_header) {
                    used += put_slice_start(
                        coded->data + used, coded->size - used - filler, is_hevc(context->config.profile), is_key);
                }
                has_slice_header = 0;
                memset(coded->data + used, 0xa5, share);
                used += share;
                filler -= share;
            }
        }
    }
    coded->segment = (VACodedBufferSegment){ .size = used, .status = 26, .buf = coded->data };  // status: the average QP
}

// Reserves the engine for one picture, after all pictures before. Sets when it begins and ends.
static void reserve_engine(struct engine *engine, uint64_t duration, struct times *times) {
    times->begun = times->done = times->submitted;
    if (!duration) return;
    uint64_t before = __atomic_load_n(&engine->busy_until, __ATOMIC_ACQUIRE);
    do {
        times->begun = before > times->submitted ? before : times->submitted;
        times->done = times->begun + duration;
    } while (!__atomic_compare_exchange_n(&engine->busy_until, &before, times->done, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

static VAStatus encode(struct driver *driver, struct context *context) {
    int slices, is_key;
    struct buffer *coded = find_output(driver, context, &slices, &is_key);
    struct surface *surface = object(driver, SURFACE, context->target);
    if (!coded || !surface) return VA_STATUS_ERROR_INVALID_BUFFER;
    write_picture(driver, context, coded, slices, is_key);

    const uint64_t duration = is_key ? driver->key_picture_time : driver->picture_time;
    struct times times = { .submitted = now() };
    struct counters *counters = &driver->counters;
    // Several contexts may encode at once.
    pthread_mutex_lock(&driver->lock);
    reserve_engine(driver->engine, duration, &times);
    const uint64_t index = counters->pictures++;
    if (!index) {
        counters->first = times.submitted;
    } else if (times.begun > counters->last) {
        counters->idle += times.begun - counters->last;
        counters->starved++;
    }
    counters->last = times.done;
    counters->busy += duration;
    counters->coded_bytes += coded->segment.size;
    pthread_mutex_unlock(&driver->lock);
    coded->picture = -1;
    if (driver->times && index < MAX_TIMES) {
        driver->times[index] = times;
        coded->picture = index;
    }
    __atomic_store_n(&surface->done, times.done, __ATOMIC_RELEASE);
    __atomic_store_n(&coded->done, times.done, __ATOMIC_RELEASE);
    return VA_STATUS_SUCCESS;
}

static VAStatus end_picture(VADriverContextP va, VAContextID id) {
    struct context *context = object(driver_of(va), CONTEXT, id);
    if (!context) return VA_STATUS_ERROR_INVALID_CONTEXT;
    VAStatus status = encode(driver_of(va), context);
    release_rendered(context);
    return status;
}

void set_picture_functions(struct VADriverVTable *table) {
    table->vaCreateContext = create_context;
    table->vaDestroyContext = destroy_context;
    table->vaBeginPicture = begin_picture;
    table->vaRenderPicture = render_picture;
    table->vaEndPicture = end_picture;
}
