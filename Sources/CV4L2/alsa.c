#define _GNU_SOURCE
#include "CV4L2.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>

typedef void (*Handler)(const char *file, int line, const char *function, int error, const char *format, va_list arguments);
typedef void (*LogHandler)(
    int priority, int interface, const char *file, int line, const char *function, int error, const char *format,
    va_list arguments);

static void nothing(const char *file, int line, const char *function, int error, const char *format, va_list arguments) {}

static void log_nothing(
    int priority, int interface, const char *file, int line, const char *function, int error, const char *format,
    va_list arguments) {}

void vaenc_silence_alsa(void) {
    // The library stays loaded: libavdevice keeps it loaded too.
    void *library = dlopen("libasound.so.2", RTLD_NOW);
    if (library == NULL) return;
    // snd_lib_log_set_local of <alsa/error.h> exists since version 1.2.15.
    LogHandler (*set_log)(LogHandler) = (LogHandler (*)(LogHandler))dlsym(library, "snd_lib_log_set_local");
    Handler (*set)(Handler) = (Handler (*)(Handler))dlsym(library, "snd_lib_error_set_local");
    if (set_log != NULL) set_log(log_nothing);
    else if (set != NULL) set(nothing);
}
