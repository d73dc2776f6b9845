// A VA-API driver without a device (null_drv_video.so): it shows what a client costs if the device costs nothing, or
// takes a fixed time for each picture.
//
// A surface is memory that the client maps with vaDeriveImage. A coded picture is the client's packed headers with
// filler as slice data. The NAL units are valid, but no decoder can decode the slices. With VAENC_NULL_MS, the driver
// simulates one engine that takes this long for each picture: vaSync… and vaMapBuffer wait until the picture is done.
// The engine is a time line and not a thread, so it uses no CPU, and only the kernel's timer adds jitter.
//
// Benchmarks/run builds it. LIBVA_DRIVERS_PATH and LIBVA_DRIVER_NAME=null select it. Tests/FakeNode/node.c provides a
// render node. The driver reads these variables when a display is initialized:
//   VAENC_NULL_MS=F           time that the engine takes for a picture, in milliseconds (0)
//   VAENC_NULL_KEY_MS=F       the same for key pictures (VAENC_NULL_MS)
//   VAENC_NULL_BYTES=N        bytes of a coded picture's slices (1000)
//   VAENC_NULL_PITCH=N        pitches are multiples of N (64; iHD uses 128, radeonsi 256)
//   VAENC_NULL_DERIVE=0       vaDeriveImage fails, so clients use vaCreateImage and vaPutImage
//   VAENC_NULL_SYNC_BUFFER=0  vaSyncBuffer and vaSyncSurface2 are unimplemented, as in drivers before libva 2.9
//   VAENC_NULL_REFERENCES=N   VAConfigAttribEncMaxRefFrames (0x10004: four references in list 0, one in list 1)
//   VAENC_NULL_MEMORY=N       VASurfaceAttribMemoryType (VA, USER_PTR, DRM_PRIME and DRM_PRIME_2)
//   VAENC_NULL_NAME=TEXT      vendor string (null driver)
//   VAENC_NULL_ENGINE=FILE    processes with the same file share one engine
//   VAENC_NULL_STATS=FILE     vaTerminate appends a line of JSON with the counters
//   VAENC_NULL_TIMES=FILE     vaTerminate writes the times of each picture: submitted, begun, done and read, in
//                             nanoseconds of CLOCK_MONOTONIC
#include "null.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <va/va_drmcommon.h>

static VAStatus unimplemented(void) { return VA_STATUS_ERROR_UNIMPLEMENTED; }

static VAStatus query_subpictures(VADriverContextP va, VAImageFormat *formats, unsigned *flags, unsigned *count) {
    (void)va, (void)formats, (void)flags;
    *count = 0;
    return VA_STATUS_SUCCESS;
}

static VAStatus query_display_attributes(VADriverContextP va, VADisplayAttribute *list, int *count) {
    (void)va, (void)list;
    *count = 0;
    return VA_STATUS_SUCCESS;
}

static void write_stats(const struct driver *driver) {
    const struct counters *c = &driver->counters;
    FILE *file = driver->stats_path && c->pictures ? fopen(driver->stats_path, "a") : NULL;
    if (!file) return;
    const double span = c->last > c->first ? (c->last - c->first) / 1e6 : 0;
    fprintf(file, "{\"pictures\": %" PRIu64 ", \"spanMs\": %.3f, \"busyMs\": %.3f, \"idleMs\": %.3f, \"starved\": %" PRIu64,
        c->pictures, span, c->busy / 1e6, c->idle / 1e6, c->starved);
    fprintf(file, ", \"use\": %.5f, \"waits\": %" PRIu64 ", \"waitedMs\": %.3f, \"buffers\": %" PRIu64 ", \"maps\": %" PRIu64,
        span ? c->busy / 1e6 / span : 0, c->waits, c->waited / 1e6, c->buffers, c->maps);
    fprintf(file, ", \"derivedImages\": %" PRIu64 ", \"copiedImages\": %" PRIu64 ", \"copiedBytes\": %" PRIu64,
        c->derived_images, c->copied_images, c->copied_bytes);
    fprintf(file, ", \"codedBytes\": %" PRIu64 ", \"surfaces\": %" PRIu64 ", \"importedSurfaces\": %" PRIu64 "}\n",
        c->coded_bytes, c->surfaces, c->imported_surfaces);
    fclose(file);
}

static void write_times(const struct driver *driver) {
    FILE *file = driver->times && driver->counters.pictures ? fopen(driver->times_path, "w") : NULL;
    if (!file) return;
    for (uint64_t i = 0; i < driver->counters.pictures && i < MAX_TIMES; i++) {
        const struct times *t = &driver->times[i];
        fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", t->submitted, t->begun, t->done, t->read);
    }
    fclose(file);
}

static VAStatus terminate(VADriverContextP va) {
    struct driver *driver = driver_of(va);
    write_stats(driver);
    write_times(driver);
    for (uint32_t id = 1; id < driver->next; id++) {
        void *data = driver->objects[id].data;
        switch (driver->objects[id].kind) {
        case NO_OBJECT: break;
        case SURFACE: free_surface(data); break;
        case BUFFER: release_buffer(data); break;
        case CONTEXT: release_rendered(data); free(data); break;
        case CONFIG: case IMAGE: free(data); break;
        }
    }
    if (driver->engine != &driver->own_engine) munmap(driver->engine, sizeof *driver->engine);
    if (driver->times) munmap(driver->times, sizeof *driver->times * MAX_TIMES);
    munmap(driver, sizeof *driver);
    va->pDriverData = NULL;
    return VA_STATUS_SUCCESS;
}

static double number(const char *name, double otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtod(text, NULL) : otherwise;
}

static void read_settings(struct driver *driver) {
    const double milliseconds = number("VAENC_NULL_MS", 0);
    driver->picture_time = milliseconds * 1e6;
    driver->key_picture_time = number("VAENC_NULL_KEY_MS", milliseconds) * 1e6;
    driver->coded_bytes = number("VAENC_NULL_BYTES", 1000);
    driver->pitch = number("VAENC_NULL_PITCH", 64);
    if (!driver->pitch) driver->pitch = 1;
    driver->can_derive = number("VAENC_NULL_DERIVE", 1);
    driver->can_sync_buffers = number("VAENC_NULL_SYNC_BUFFER", 1);
    driver->max_references = number("VAENC_NULL_REFERENCES", 0x10004);
    driver->memory_types = number("VAENC_NULL_MEMORY", VA_SURFACE_ATTRIB_MEM_TYPE_VA | VA_SURFACE_ATTRIB_MEM_TYPE_USER_PTR
        | VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME | VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2);
    driver->stats_path = getenv("VAENC_NULL_STATS");
    driver->times_path = getenv("VAENC_NULL_TIMES");
}

// Returns memory filled with zeros; NULL if there is none.
static void *map_zeros(size_t size, int flags) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static struct engine *shared_engine(const char *path) {
    struct engine *engine = NULL;
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return NULL;
    if (!ftruncate(descriptor, 4096)) {
        void *memory = mmap(NULL, sizeof *engine, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (memory != MAP_FAILED) engine = memory;
    }
    close(descriptor);
    return engine;
}

__attribute__((visibility("default"))) VAStatus __vaDriverInit_1_0(VADriverContextP va) {
    struct driver *driver = map_zeros(sizeof *driver, 0);
    if (!driver) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    pthread_mutex_init(&driver->lock, NULL);
    driver->next = 1;
    read_settings(driver);
    if (driver->times_path) driver->times = map_zeros(sizeof *driver->times * MAX_TIMES, MAP_NORESERVE);
    const char *engine = getenv("VAENC_NULL_ENGINE"), *name = getenv("VAENC_NULL_NAME");
    if (engine) driver->engine = shared_engine(engine);
    if (!driver->engine) driver->engine = &driver->own_engine;

    va->pDriverData = driver;
    va->version_major = VA_MAJOR_VERSION;
    va->version_minor = VA_MINOR_VERSION;
    va->max_profiles = 8;
    va->max_entrypoints = 2;
    va->max_attributes = 16;
    va->max_image_formats = 2;
    va->max_subpic_formats = 1;
    va->max_display_attributes = 1;
    va->str_vendor = name ? name : "null driver";
    // libva requires most functions to exist. The table has only pointers to functions before `reserved`.
    VAStatus (**functions)(void) = (void *)va->vtable;
    for (size_t i = 0; i < offsetof(struct VADriverVTable, reserved) / sizeof *functions; i++) functions[i] = unimplemented;
    va->vtable->vaTerminate = terminate;
    va->vtable->vaQuerySubpictureFormats = query_subpictures;
    va->vtable->vaQueryDisplayAttributes = query_display_attributes;
    set_capability_functions(va->vtable);
    set_surface_functions(va->vtable);
    set_buffer_functions(va->vtable);
    set_image_functions(va->vtable);
    set_picture_functions(va->vtable);
    return VA_STATUS_SUCCESS;
}
