// The parts of the null driver: objects, settings and counters. driver.c describes the driver and its variables.
#pragma once
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <va/va.h>
#include <va/va_backend.h>

#define MAX_OBJECTS 65536
#define MAX_TIMES 1000000  // pictures whose times are recorded
#define MAX_RENDERED 512   // buffers of one picture

enum object_kind { NO_OBJECT, CONFIG, CONTEXT, SURFACE, BUFFER, IMAGE };

struct config {
    VAProfile profile;
    VAEntrypoint entrypoint;
    uint32_t rt_format, rate_control, packed_headers;
};

struct surface {
    uint32_t fourcc, width, height, pitch, size, offset[2];
    uint8_t *memory;
    int descriptor;          // of the memory; -1 for a pointer of the client
    int is_mapped;           // whether the driver mapped the memory
    uint64_t done;           // when the engine has encoded the latest picture from it
};

// A client may destroy a buffer that it has rendered (GStreamer does): the context holds a reference until the picture
// ends.
struct buffer {
    VABufferType type;
    uint32_t size, count, capacity;  // bytes of an element; elements; elements that were allocated
    uint8_t *data;
    int is_borrowed;                 // whether `data` is the memory of a surface
    VASurfaceID surface;             // of an image buffer
    int references;
    // of a coded buffer
    VACodedBufferSegment segment;
    uint64_t done;                   // when the engine has encoded the picture
    int64_t picture;                 // the index of the picture's times; -1 for none
};

struct context {
    struct config config;
    VASurfaceID target;
    struct buffer *rendered[MAX_RENDERED];
    int count;
};

// The time line of an engine, in nanoseconds of CLOCK_MONOTONIC. Processes can share one.
struct engine { uint64_t busy_until; };

struct times { uint64_t submitted, begun, done, read; };

struct counters {
    uint64_t pictures, first, last, busy, idle, starved, coded_bytes;
    uint64_t waits, waited, buffers, maps, derived_images, copied_images, copied_bytes, surfaces, imported_surfaces;
};

struct driver {
    pthread_mutex_t lock;
    struct { enum object_kind kind; void *data; } objects[MAX_OBJECTS];
    uint32_t next, freed[MAX_OBJECTS], freed_count;
    // settings
    uint64_t picture_time, key_picture_time;
    uint32_t coded_bytes, pitch, max_references, memory_types;
    int can_derive, can_sync_buffers;
    const char *stats_path, *times_path;
    // state
    struct engine own_engine, *engine;
    struct times *times;
    struct counters counters;
};

#define COUNT(driver, what, n) __atomic_fetch_add(&(driver)->counters.what, n, __ATOMIC_RELAXED)

static inline struct driver *driver_of(VADriverContextP va) { return va->pDriverData; }
static inline int is_hevc(VAProfile profile) { return profile == VAProfileHEVCMain || profile == VAProfileHEVCMain10; }

// objects.c

// Adds an object. Returns its ID; 0 if there are too many.
uint32_t add_object(struct driver *driver, enum object_kind kind, void *data);
// Returns an object; NULL if the ID is not of this kind.
void *object(struct driver *driver, enum object_kind kind, uint32_t id);
// Removes an object and returns it. The caller frees it.
void *take_object(struct driver *driver, enum object_kind kind, uint32_t id);
uint64_t now(void);
// Sleeps until the time `done`, but at most `timeout` nanoseconds.
VAStatus wait_until(struct driver *driver, uint64_t done, uint64_t timeout);

// capabilities.c, surfaces.c, buffers.c, images.c, pictures.c: each sets its functions.

void set_capability_functions(struct VADriverVTable *table);
void set_surface_functions(struct VADriverVTable *table);
void set_buffer_functions(struct VADriverVTable *table);
void set_image_functions(struct VADriverVTable *table);
void set_picture_functions(struct VADriverVTable *table);

// Sets pitch, offsets and size from the format and the size in pixels.
void lay_out(struct driver *driver, struct surface *surface);
void free_surface(struct surface *surface);
// Waits until the surface is not in use by the engine.
void wait_for_surface(struct driver *driver, struct surface *surface);
// Removes a reference to a buffer, and frees it if it was the last.
void release_buffer(struct buffer *buffer);
VAStatus destroy_buffer(VADriverContextP va, VABufferID id);
// Releases the buffers of a context's picture.
void release_rendered(struct context *context);
