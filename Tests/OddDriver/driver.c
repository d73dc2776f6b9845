// A driver that libva loads, for tests. With ODD_DRIVER=hang, its loading never ends. Otherwise its name contains control
// characters, and it supports nothing.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <va/va_backend.h>

__attribute__((constructor)) static void load(void) {
    const char *what = getenv("ODD_DRIVER");
    if (what && !strcmp(what, "hang"))
        for (;;) pause();
}

static VAStatus unimplemented(void) { return VA_STATUS_ERROR_UNIMPLEMENTED; }
static VAStatus end(VADriverContextP context) {
    (void)context;
    return VA_STATUS_SUCCESS;
}

VAStatus __vaDriverInit_1_0(VADriverContextP context) {
    // libva refuses drivers that lack a call.
    void (**calls)(void) = (void (**)(void))context->vtable;
    for (size_t index = 0; index < offsetof(struct VADriverVTable, reserved) / sizeof *calls; index++)
        calls[index] = (void (*)(void))unimplemented;
    context->vtable->vaTerminate = end;
    context->version_major = 1;
    context->version_minor = 0;
    context->max_profiles = context->max_entrypoints = context->max_attributes = 1;
    context->max_image_formats = context->max_subpic_formats = context->max_display_attributes = 1;
    context->str_vendor = "odd \033[31mred\033[0m\n\x7f driver";
    return VA_STATUS_SUCCESS;
}
