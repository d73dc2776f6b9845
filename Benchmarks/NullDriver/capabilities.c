// Profiles, attributes and configurations.
#include "null.h"
#include <stdlib.h>
#include <string.h>
#include <va/va_drmcommon.h>

static const VAProfile profiles[] = {
    VAProfileH264ConstrainedBaseline, VAProfileH264Main, VAProfileH264High, VAProfileHEVCMain, VAProfileHEVCMain10,
};
enum { profile_count = sizeof profiles / sizeof *profiles };

static VAStatus query_profiles(VADriverContextP va, VAProfile *list, int *count) {
    (void)va;
    memcpy(list, profiles, sizeof profiles);
    *count = profile_count;
    return VA_STATUS_SUCCESS;
}

static VAStatus check(VAProfile profile, VAEntrypoint entrypoint) {
    for (int i = 0; i < profile_count; i++) {
        if (profiles[i] != profile) continue;
        return entrypoint == VAEntrypointEncSlice ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT;
    }
    return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
}

static VAStatus query_entrypoints(VADriverContextP va, VAProfile profile, VAEntrypoint *list, int *count) {
    (void)va;
    *count = 0;
    VAStatus status = check(profile, VAEntrypointEncSlice);
    if (status == VA_STATUS_SUCCESS) list[(*count)++] = VAEntrypointEncSlice;
    return status;
}

static uint32_t rt_formats(VAProfile profile) {
    return profile == VAProfileHEVCMain10 ? VA_RT_FORMAT_YUV420_10 | VA_RT_FORMAT_YUV420 : VA_RT_FORMAT_YUV420;
}

static uint32_t attribute(struct driver *driver, VAProfile profile, VAConfigAttribType type) {
    switch (type) {
    case VAConfigAttribRTFormat: return rt_formats(profile);
    case VAConfigAttribRateControl: return VA_RC_CQP | VA_RC_CBR | VA_RC_VBR;
    case VAConfigAttribEncPackedHeaders:
        return VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE | VA_ENC_PACKED_HEADER_SLICE | VA_ENC_PACKED_HEADER_MISC
            | VA_ENC_PACKED_HEADER_RAW_DATA;
    case VAConfigAttribEncMaxRefFrames: return driver->max_references;
    case VAConfigAttribEncMaxSlices: return 64;
    case VAConfigAttribEncQualityRange: return 7;
    case VAConfigAttribEncSliceStructure: return VA_ENC_SLICE_STRUCTURE_ARBITRARY_ROWS;
    case VAConfigAttribMaxPictureWidth: return 8192;
    case VAConfigAttribMaxPictureHeight: return 8192;
    default: break;
    }
    // What iHD 25 reports for EncSlice of HEVC on Tiger Lake.
    if (is_hevc(profile)) switch (type) {
    case VAConfigAttribPredictionDirection: return 7;
    case VAConfigAttribEncHEVCFeatures: return 0x1900464;
    case VAConfigAttribEncHEVCBlockSizes: return 0x88c7;
    default: break;
    }
    return VA_ATTRIB_NOT_SUPPORTED;
}

static VAStatus get_attributes(VADriverContextP va, VAProfile profile, VAEntrypoint entrypoint, VAConfigAttrib *list, int count) {
    VAStatus status = check(profile, entrypoint);
    if (status != VA_STATUS_SUCCESS) return status;
    for (int i = 0; i < count; i++) list[i].value = attribute(driver_of(va), profile, list[i].type);
    return VA_STATUS_SUCCESS;
}

static VAStatus create_config(
    VADriverContextP va, VAProfile profile, VAEntrypoint entrypoint, VAConfigAttrib *list, int count, VAConfigID *id
) {
    VAStatus status = check(profile, entrypoint);
    if (status != VA_STATUS_SUCCESS) return status;
    struct config *config = calloc(1, sizeof *config);
    config->profile = profile;
    config->entrypoint = entrypoint;
    config->rt_format = profile == VAProfileHEVCMain10 ? VA_RT_FORMAT_YUV420_10 : VA_RT_FORMAT_YUV420;
    config->rate_control = VA_RC_CQP;
    for (int i = 0; i < count; i++) {
        if (list[i].type == VAConfigAttribRTFormat) config->rt_format = list[i].value;
        if (list[i].type == VAConfigAttribRateControl) config->rate_control = list[i].value;
        if (list[i].type == VAConfigAttribEncPackedHeaders) config->packed_headers = list[i].value;
    }
    *id = add_object(driver_of(va), CONFIG, config);
    return VA_STATUS_SUCCESS;
}

static VAStatus destroy_config(VADriverContextP va, VAConfigID id) {
    struct config *config = take_object(driver_of(va), CONFIG, id);
    if (!config) return VA_STATUS_ERROR_INVALID_CONFIG;
    free(config);
    return VA_STATUS_SUCCESS;
}

static VAStatus query_config(
    VADriverContextP va, VAConfigID id, VAProfile *profile, VAEntrypoint *entrypoint, VAConfigAttrib *list, int *count
) {
    struct config *config = object(driver_of(va), CONFIG, id);
    if (!config) return VA_STATUS_ERROR_INVALID_CONFIG;
    *profile = config->profile;
    *entrypoint = config->entrypoint;
    list[0] = (VAConfigAttrib){ VAConfigAttribRTFormat, config->rt_format };
    list[1] = (VAConfigAttrib){ VAConfigAttribRateControl, config->rate_control };
    list[2] = (VAConfigAttrib){ VAConfigAttribEncPackedHeaders, config->packed_headers };
    *count = 3;
    return VA_STATUS_SUCCESS;
}

// With `list` NULL, reports only the number of attributes.
static VAStatus surface_attributes(VADriverContextP va, VAConfigID id, VASurfaceAttrib *list, unsigned *count) {
    struct config *config = object(driver_of(va), CONFIG, id);
    if (!config) return VA_STATUS_ERROR_INVALID_CONFIG;
    const uint32_t get = VA_SURFACE_ATTRIB_GETTABLE, both = VA_SURFACE_ATTRIB_GETTABLE | VA_SURFACE_ATTRIB_SETTABLE;
    const int is_main10 = config->profile == VAProfileHEVCMain10;
    const struct { int is_present; VASurfaceAttribType type; uint32_t flags, value; } all[] = {
        { !is_main10 || config->rt_format & VA_RT_FORMAT_YUV420, VASurfaceAttribPixelFormat, both, VA_FOURCC_NV12 },
        { is_main10, VASurfaceAttribPixelFormat, both, VA_FOURCC_P010 },
        { 1, VASurfaceAttribMinWidth, get, 16 },
        { 1, VASurfaceAttribMinHeight, get, 16 },
        { 1, VASurfaceAttribMaxWidth, get, 8192 },
        { 1, VASurfaceAttribMaxHeight, get, 8192 },
        { 1, VASurfaceAttribMemoryType, both, driver_of(va)->memory_types },
    };
    unsigned used = 0, room = list ? *count : 0;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].is_present) continue;
        if (used < room) {
            list[used].type = all[i].type;
            list[used].flags = all[i].flags;
            list[used].value.type = VAGenericValueTypeInteger;
            list[used].value.value.i = all[i].value;
        }
        used++;
    }
    *count = used;
    return list && used > room ? VA_STATUS_ERROR_MAX_NUM_EXCEEDED : VA_STATUS_SUCCESS;
}

void set_capability_functions(struct VADriverVTable *table) {
    table->vaQueryConfigProfiles = query_profiles;
    table->vaQueryConfigEntrypoints = query_entrypoints;
    table->vaGetConfigAttributes = get_attributes;
    table->vaCreateConfig = create_config;
    table->vaDestroyConfig = destroy_config;
    table->vaQueryConfigAttributes = query_config;
    table->vaQuerySurfaceAttributes = surface_attributes;
}
