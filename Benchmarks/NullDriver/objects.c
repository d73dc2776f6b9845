// The table of objects, and waiting.
#include "null.h"
#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

uint32_t add_object(struct driver *driver, enum object_kind kind, void *data) {
    pthread_mutex_lock(&driver->lock);
    uint32_t id = 0;
    if (driver->freed_count) id = driver->freed[--driver->freed_count];
    else if (driver->next < MAX_OBJECTS) id = driver->next++;
    if (id) {
        driver->objects[id].kind = kind;
        driver->objects[id].data = data;
    }
    pthread_mutex_unlock(&driver->lock);
    return id;
}

// Does not lock: a client does not use an object in one thread while it destroys it in another.
void *object(struct driver *driver, enum object_kind kind, uint32_t id) {
    return id && id < MAX_OBJECTS && driver->objects[id].kind == kind ? driver->objects[id].data : NULL;
}

void *take_object(struct driver *driver, enum object_kind kind, uint32_t id) {
    pthread_mutex_lock(&driver->lock);
    void *data = object(driver, kind, id);
    if (data) {
        driver->objects[id].kind = NO_OBJECT;
        driver->objects[id].data = NULL;
        driver->freed[driver->freed_count++] = id;
    }
    pthread_mutex_unlock(&driver->lock);
    return data;
}

uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

VAStatus wait_until(struct driver *driver, uint64_t done, uint64_t timeout) {
    static __thread int has_slack_set;
    uint64_t begin = now();
    if (done <= begin) return VA_STATUS_SUCCESS;
    uint64_t end = timeout < done - begin ? begin + timeout : done;
    // By default, the kernel may wake a thread 50 µs late.
    if (!has_slack_set) {
        has_slack_set = 1;
        prctl(PR_SET_TIMERSLACK, 1);
    }
    struct timespec time = { end / 1000000000ull, end % 1000000000ull };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {}
    COUNT(driver, waits, 1);
    COUNT(driver, waited, now() - begin);
    return end == done ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_TIMEDOUT;
}
