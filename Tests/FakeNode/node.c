// Simulates a render node without a GPU, for LD_PRELOAD: /dev/dri/renderD128 exists for one program, without a device.
// libva gives the program a DRM display; LIBVA_DRIVER_NAME names the driver. FAKE_NODE_DRIVER is the name of the kernel
// driver, `none` if it is not set. GStreamer's plugin va, which looks for nodes
// through libgudev, finds this node.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char node[] = "/dev/dri/renderD128", stand_in[] = "/dev/null";

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        static int (*next)(const char *, int, ...); \
        if (!next) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
        va_list list; \
        va_start(list, flags); \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0; \
        va_end(list); \
        return next(strcmp(path, node) ? path : stand_in, flags, mode); \
    }
OPEN(open)
OPEN(open64)

// The struct of libdrm, as xf86drm.h declares it.
struct version {
    int major, minor, patch, name_length;
    char *name;
    int date_length;
    char *date;
    int description_length;
    char *description;
};

int drmGetNodeTypeFromFd(int descriptor) {
    (void)descriptor;
    return 2;  // DRM_NODE_RENDER
}

struct version *drmGetVersion(int descriptor) {
    (void)descriptor;
    struct version *version = calloc(1, sizeof *version);
    if (!version) return 0;
    const char *driver = getenv("FAKE_NODE_DRIVER");
    version->name = strdup(driver ? driver : "none");
    version->name_length = driver ? (int)strlen(driver) : 4;
    version->date = strdup("0");
    version->description = strdup("none");
    return version;
}

void drmFreeVersion(struct version *version) {
    if (!version) return;
    free(version->name);
    free(version->date);
    free(version->description);
    free(version);
}

// libgudev and GLib without their headers: a list of one device, which is an empty object.
void *g_udev_client_query_by_subsystem(void *client, const char *subsystem) {
    void *(*make)(size_t, const char *, ...) = (void *(*)(size_t, const char *, ...))dlsym(RTLD_DEFAULT, "g_object_new");
    void *(*append)(void *, void *) = (void *(*)(void *, void *))dlsym(RTLD_DEFAULT, "g_list_append");
    (void)client;
    if (!make || !append || strcmp(subsystem, "drm")) return 0;
    return append(0, make(20 << 2, 0));  // G_TYPE_OBJECT
}

const char *g_udev_device_get_name(void *device) {
    (void)device;
    return "renderD128";
}

const char *g_udev_device_get_device_file(void *device) {
    (void)device;
    return node;
}
