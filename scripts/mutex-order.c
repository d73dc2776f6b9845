/* Reports to the thread sanitizer the order in which threads hold a contended Synchronization.Mutex.
 *
 * An uncontended Mutex is locked and unlocked by atomics in the calling code, which is instrumented. If a thread must
 * wait, futex calls inside the Swift runtime's library do this, which is not instrumented. The sanitizer then reports
 * races on data that the mutex protects. This library is preloaded and wraps the two functions of the runtime. It must
 * be compiled by clang, because they have Swift's calling convention. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
/* _MutexHandle._lockSlow(UInt32) and _MutexHandle._unlockSlow(). */
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void (*lock_function)(uint32_t thread, SELF void *mutex);
typedef SWIFT void (*unlock_function)(SELF void *mutex);

/* Functions of the sanitizer's runtime; null in programs without it. */
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void unlock_slow(SELF void *mutex) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
    ((lock_function)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((unlock_function)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
