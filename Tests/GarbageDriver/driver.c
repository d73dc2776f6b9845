// A libva driver that reports wrong numbers of its lists: negative ones, or more than there is room for.
//
// GARBAGE=NAME:NUMBER[,NAME:NUMBER…] sets maxProfiles and maxEntrypoints (the results of vaMaxNum…), profiles and
// entrypoints (the results of vaQueryConfig…), and side, the value of each surface attribute of a size. Numbers that are
// not set are correct: one profile, one entry point. Every other call is refused.
#include <stdlib.h>
#include <string.h>
#include <va/va.h>
#include <va/va_backend.h>

static int number(const char *name, int otherwise) {
    const char *text = getenv("GARBAGE");
    size_t length = strlen(name);
    while (text && *text) {
        if (!strncmp(text, name, length) && text[length] == ':') return (int)strtol(text + length + 1, 0, 10);
        text = strchr(text, ',');
        if (text) text++;
    }
    return otherwise;
}

static VAStatus unimplemented(void) { return VA_STATUS_ERROR_UNIMPLEMENTED; }
static VAStatus terminate(VADriverContextP context) { (void)context; return VA_STATUS_SUCCESS; }

static VAStatus query_profiles(VADriverContextP context, VAProfile *list, int *count) {
    (void)context;
    list[0] = VAProfileH264High;
    *count = number("profiles", 1);
    return VA_STATUS_SUCCESS;
}

static VAStatus query_entrypoints(VADriverContextP context, VAProfile profile, VAEntrypoint *list, int *count) {
    (void)context;
    if (profile != VAProfileH264High) return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
    list[0] = VAEntrypointEncSlice;
    *count = number("entrypoints", 1);
    return VA_STATUS_SUCCESS;
}

static VAStatus get_attributes(
    VADriverContextP context, VAProfile profile, VAEntrypoint entry, VAConfigAttrib *list, int count) {
    (void)context, (void)profile, (void)entry;
    for (int index = 0; index < count; index++)
        list[index].value = list[index].type == VAConfigAttribRTFormat ? VA_RT_FORMAT_YUV420
                          : list[index].type == VAConfigAttribRateControl ? VA_RC_CQP : (unsigned)number("attributes", -2147483648);
    return VA_STATUS_SUCCESS;
}

static VAStatus create_config(
    VADriverContextP context, VAProfile profile, VAEntrypoint entry, VAConfigAttrib *list, int count, VAConfigID *id) {
    (void)context, (void)profile, (void)entry, (void)list, (void)count;
    *id = 1;
    return VA_STATUS_SUCCESS;
}
static VAStatus destroy_config(VADriverContextP context, VAConfigID id) { (void)context, (void)id; return VA_STATUS_SUCCESS; }

static VAStatus query_surfaces(VADriverContextP context, VAConfigID id, VASurfaceAttrib *list, unsigned *count) {
    (void)context, (void)id;
    static const VASurfaceAttribType types[] = {
        VASurfaceAttribMinWidth, VASurfaceAttribMaxWidth, VASurfaceAttribMinHeight, VASurfaceAttribMaxHeight,
    };
    unsigned room = *count;
    *count = (unsigned)number("surfaceAttributes", 4);
    for (unsigned index = 0; list && index < 4 && index < room; index++) {
        list[index].type = types[index];
        list[index].value.type = VAGenericValueTypeInteger;
        list[index].value.value.i = number("side", index % 2 ? 4096 : 16);
    }
    return VA_STATUS_SUCCESS;
}

VAStatus __vaDriverInit_1_0(VADriverContextP context) {
    struct VADriverVTable *table = context->vtable;
    // Sets every function, and the reserved entries after them, which no one calls.
    void **entries = (void **)table;
    for (size_t index = 0; index < sizeof *table / sizeof *entries; index++) entries[index] = (void *)unimplemented;
    table->vaTerminate = terminate;
    table->vaQueryConfigProfiles = query_profiles;
    table->vaQueryConfigEntrypoints = query_entrypoints;
    table->vaGetConfigAttributes = get_attributes;
    table->vaCreateConfig = create_config;
    table->vaDestroyConfig = destroy_config;
    table->vaQuerySurfaceAttributes = query_surfaces;
    context->version_major = 1;
    context->version_minor = 0;
    context->max_profiles = number("maxProfiles", 4);
    context->max_entrypoints = number("maxEntrypoints", 4);
    context->max_attributes = 64;
    context->max_image_formats = 1;
    context->max_subpic_formats = 1;
    context->max_display_attributes = 1;
    context->str_vendor = "a driver that counts wrongly";
    return VA_STATUS_SUCCESS;
}
