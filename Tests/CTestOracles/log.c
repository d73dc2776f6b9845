#include "log.h"
#include "result.h"
#include <libavutil/error.h>
#include <libavutil/log.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// libavutil has one log for the process. Its messages go to the decode on the calling thread (each decode uses only
// that thread). Messages of other threads are dropped.
static _Thread_local struct vaenc_oracle_result *listener;
// The information messages of trace_headers are not errors: they go to `bytes`.
static _Thread_local int is_tracing;

static void listen_to_log(void *source, int level, const char *format, va_list arguments) {
    if (!listener || level > (is_tracing ? AV_LOG_INFO : AV_LOG_WARNING)) return;
    char line[900];
    vsnprintf(line, sizeof line, format, arguments);
    if (level > AV_LOG_WARNING) {
        oracle_bytes(listener, (const uint8_t *)line, strlen(line));
        return;
    }
    AVClass *class = source ? *(AVClass **)source : NULL;
    oracle_message(listener, "%s: %s", class ? class->class_name : "libav", line);
}

static void set_log(void) { av_log_set_callback(listen_to_log); }

void oracle_listen(struct vaenc_oracle_result *result, int traces) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_log);
    listener = result;
    is_tracing = traces;
}
