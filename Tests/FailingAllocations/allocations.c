// A library for LD_PRELOAD in which one allocation of FFmpeg's libraries fails.
//
// An allocation counts if the return address of its caller is in a libav… or libsw… library. Allocations of the program
// itself, and those that other libraries make for FFmpeg's, do not count.
//
// FAIL_ALLOCATION=N     the N-th allocation fails, counted from 1; with N+, all from the N-th on; empty or 0: none
// ALLOCATION_COUNT=FILE if set, the number of allocations is written into FILE at the end
//
// FFmpeg's libraries themselves do not survive all of these failures: the close of a decoder uses a table that was not
// allocated, and an assertion requires options that could not be set. If a signal ends the program inside such a library,
// the exit status is 99. If it does so in the program's code, or in libavutil's memory functions that the program called,
// the signal is unchanged.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_long count;
static atomic_long wanted = -1;
static _Bool all_behind;

static long wanted_number(void) {
    long number = atomic_load(&wanted);
    if (number >= 0) return number;
    const char *text = getenv("FAIL_ALLOCATION");
    char *end = 0;
    number = text ? strtol(text, &end, 10) : 0;
    all_behind = end && *end == '+';
    if (number < 0) number = 0;
    atomic_store(&wanted, number);
    return number;
}

// Returns the file name of the library that contains an address; empty for the program, null for none.
static const char *library(void *address) {
    struct dl_find_object found;
    if (_dl_find_object(address, &found) != 0 || !found.dlfo_link_map || !found.dlfo_link_map->l_name) return 0;
    const char *name = strrchr(found.dlfo_link_map->l_name, '/');
    return name ? name + 1 : found.dlfo_link_map->l_name;
}

static _Bool begins(const char *name, const char *start) { return name && !strncmp(name, start, strlen(start)); }

static _Bool is_libav(void *caller) {
    const char *name = library(caller);
    return begins(name, "libav") || begins(name, "libsw");
}

// Returns whether the innermost frame outside the C library, libavutil's memory functions and this file is libav's.
static _Bool is_in_libav(void *instruction, void *caller) {
    void *frames[64];
    int count = backtrace(frames, 64);
    const char *own = library((void *)is_libav);
    // A call through a null pointer has no frame; the caller is on the stack.
    if (!library(instruction)) return is_libav(caller) && !begins(library(caller), "libavutil");
    for (int index = 0; index < count; index++) {
        const char *name = library(frames[index]);
        if (!name || name == own || begins(name, own) || begins(name, "libc.so") || begins(name, "libavutil")) continue;
        return is_libav(frames[index]);
    }
    return 0;
}

static void on_signal(int number, siginfo_t *info, void *context) {
    (void)info;
    void *instruction = 0, *caller = 0;
#if defined(__x86_64__)
    const mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    instruction = (void *)machine->gregs[REG_RIP];
    if (!library(instruction)) caller = *(void **)machine->gregs[REG_RSP];
#elif defined(__aarch64__)
    const mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    instruction = (void *)machine->pc;
    caller = (void *)machine->regs[30];
#else
    (void)context;
#endif
    if (is_in_libav(instruction, caller)) _exit(99);
    signal(number, SIG_DFL);
    raise(number);
}

__attribute__((constructor)) static void watch_signals(void) {
    // The first call loads the libraries that it needs.
    void *frames[2];
    backtrace(frames, 2);
    static char stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, 0);
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE};
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) sigaction(numbers[index], &action, 0);
}

static _Bool fails(void *caller) {
    if (!is_libav(caller)) return 0;
    long number = atomic_fetch_add(&count, 1) + 1, bad = wanted_number();
    if (!bad || (all_behind ? number < bad : number != bad)) return 0;
    errno = ENOMEM;
    return 1;
}

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

void *malloc(size_t size) { return fails(CALLER) ? 0 : __libc_malloc(size); }
void *calloc(size_t number, size_t size) { return fails(CALLER) ? 0 : __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { return size && fails(CALLER) ? 0 : __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { return fails(CALLER) ? 0 : __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return fails(CALLER) ? 0 : __libc_memalign(alignment, size); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (fails(CALLER)) return ENOMEM;
    void *found = __libc_memalign(alignment, size);
    if (!found) return ENOMEM;
    *memory = found;
    return 0;
}

__attribute__((destructor)) static void write_count(void) {
    const char *path = getenv("ALLOCATION_COUNT");
    if (!path) return;
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return;
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&count));
    if (write(file, text, (size_t)length) != length) unlink(path);
    close(file);
}
