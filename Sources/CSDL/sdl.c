#include "CSDL.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#pragma GCC diagnostic ignored "-Wpedantic"

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static struct VaencSDL table;
static int loaded;

static int load(char *why, size_t size) {
    void *handle = dlopen("libSDL2-2.0.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        const char *error = dlerror();
        snprintf(why, size, "%s", error ? error : "libSDL2-2.0.so.0");
        return 0;
    }
#define FETCH(name) \
    if (!(table.name = (__typeof__(table.name))dlsym(handle, #name))) { \
        snprintf(why, size, "libSDL2 has no %s", #name); \
        return 0; \
    }
    VAENC_SDL_FUNCTIONS(FETCH)
    return 1;
}

const struct VaencSDL *vaenc_sdl(char *why, size_t size) {
    pthread_mutex_lock(&load_lock);
    if (!loaded) loaded = load(why, size);
    int good = loaded;
    pthread_mutex_unlock(&load_lock);
    return good ? &table : 0;
}
