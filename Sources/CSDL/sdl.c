#include "CSDL.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

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

typedef int (*IOErrorHandler)(void *display);
static IOErrorHandler others;
static _Thread_local void (*when_lost)(void *);
static _Thread_local void *lost_context;

// Called by Xlib, which ends the program when this function returns. The thread therefore sleeps forever, with
// everything that it owns.
static int display_lost(void *display) {
    if (!when_lost) return others ? others(display) : 0;
    when_lost(lost_context);
    for (;;) pause();
}

void vaenc_sdl_when_display_is_lost(void (*action)(void *), void *context) {
    when_lost = action;
    lost_context = context;
    void *x11 = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!x11) return;
    IOErrorHandler (*set)(IOErrorHandler) = (__typeof__(set))dlsym(x11, "XSetIOErrorHandler");
    if (set) {
        IOErrorHandler before = set(display_lost);
        if (before != display_lost) others = before;
    }
    dlclose(x11);
}
