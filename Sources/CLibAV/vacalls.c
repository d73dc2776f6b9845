// Records failed VA-API calls: libavcodec reports some of them as damage of the stream, and some not at all.
#include "CLibAV.h"

#include <pthread.h>
#include <stdlib.h>
#include <va/va_backend.h>

// A display whose driver's functions are replaced. It is never freed, because this code does not see the end of a
// driver context. A new context at the address of an old one takes over its entry.
struct noted_driver {
    VADriverContextP context;
    struct VADriverVTable calls;
    struct noted_driver *next;
};
static _Atomic(struct noted_driver *) drivers;
static pthread_mutex_t drivers_lock = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local struct {
    _Bool is_noting;
    const char *call;
    int status;
} noted;

static struct noted_driver *driver_of(VADriverContextP context) {
    struct noted_driver *driver = drivers;
    while (driver && driver->context != context) driver = driver->next;
    return driver;
}

static VAStatus note(const char *call, VAStatus status) {
    if (status != VA_STATUS_SUCCESS && noted.is_noting && !noted.call) {
        noted.call = call;
        noted.status = status;
    }
    return status;
}

// If the device lacks a capability, libavcodec detects that itself and decodes in software. Such failures are ignored.
static VAStatus note_set_up(const char *call, VAStatus status) {
    switch (status) {
    case VA_STATUS_ERROR_ATTR_NOT_SUPPORTED:
    case VA_STATUS_ERROR_MAX_NUM_EXCEEDED:
    case VA_STATUS_ERROR_UNSUPPORTED_PROFILE:
    case VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT:
    case VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT:
    case VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED:
    case VA_STATUS_ERROR_UNIMPLEMENTED:
    case VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE: return status;
    default: return note(call, status);
    }
}

// NAME(parameters)(arguments): calls the driver's function and records its failure.
#define NOTED(how, name, parameters, arguments) \
    static VAStatus noted_##name parameters { \
        struct noted_driver *driver = driver_of(context); \
        if (!driver) return VA_STATUS_ERROR_INVALID_DISPLAY; \
        return how(#name, driver->calls.name arguments); \
    }

NOTED(note_set_up, vaQueryConfigProfiles, (VADriverContextP context, VAProfile *profiles, int *count),
      (context, profiles, count))
NOTED(note_set_up, vaCreateConfig,
      (VADriverContextP context, VAProfile profile, VAEntrypoint entrypoint, VAConfigAttrib *attributes, int count,
       VAConfigID *config),
      (context, profile, entrypoint, attributes, count, config))
NOTED(note_set_up, vaQuerySurfaceAttributes,
      (VADriverContextP context, VAConfigID config, VASurfaceAttrib *attributes, unsigned *count),
      (context, config, attributes, count))
NOTED(note_set_up, vaCreateSurfaces2,
      (VADriverContextP context, unsigned format, unsigned width, unsigned height, VASurfaceID *surfaces, unsigned count,
       VASurfaceAttrib *attributes, unsigned attribute_count),
      (context, format, width, height, surfaces, count, attributes, attribute_count))
NOTED(note_set_up, vaCreateContext,
      (VADriverContextP context, VAConfigID config, int width, int height, int flag, VASurfaceID *targets, int count,
       VAContextID *made),
      (context, config, width, height, flag, targets, count, made))
NOTED(note, vaCreateBuffer,
      (VADriverContextP context, VAContextID id, VABufferType type, unsigned size, unsigned count, void *data,
       VABufferID *buffer),
      (context, id, type, size, count, data, buffer))
NOTED(note, vaBeginPicture, (VADriverContextP context, VAContextID id, VASurfaceID target), (context, id, target))
NOTED(note, vaRenderPicture, (VADriverContextP context, VAContextID id, VABufferID *buffers, int count),
      (context, id, buffers, count))
NOTED(note, vaEndPicture, (VADriverContextP context, VAContextID id), (context, id))

// Writes each pointer atomically, because other threads may be calling the driver.
#define REPLACE(name) \
    if (table->name) __atomic_store_n(&table->name, noted_##name, __ATOMIC_RELEASE);

_Bool vaenc_note_calls(void *display) {
    VADriverContextP context = display ? ((VADisplayContextP)display)->pDriverContext : 0;
    struct VADriverVTable *table = context ? context->vtable : 0;
    if (!table) return 0;
    pthread_mutex_lock(&drivers_lock);
    _Bool is_good = 1;
    if (table->vaEndPicture != noted_vaEndPicture) {
        struct noted_driver *driver = driver_of(context);
        if (driver) {
            driver->calls = *table;
        } else if ((driver = malloc(sizeof *driver))) {
            *driver = (struct noted_driver){context, *table, drivers};
            drivers = driver;
        }
        is_good = driver != 0;
        if (is_good) {
            REPLACE(vaQueryConfigProfiles)
            REPLACE(vaCreateConfig)
            REPLACE(vaQuerySurfaceAttributes)
            REPLACE(vaCreateSurfaces2)
            REPLACE(vaCreateContext)
            REPLACE(vaCreateBuffer)
            REPLACE(vaBeginPicture)
            REPLACE(vaRenderPicture)
            REPLACE(vaEndPicture)
        }
    }
    pthread_mutex_unlock(&drivers_lock);
    return is_good;
}

void vaenc_begin_notes(void) {
    noted.is_noting = 1;
    noted.call = 0;
}

const char *vaenc_end_notes(int *status) {
    noted.is_noting = 0;
    *status = noted.call ? noted.status : VA_STATUS_SUCCESS;
    return noted.call;
}
