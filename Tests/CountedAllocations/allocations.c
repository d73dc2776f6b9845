// A library for LD_PRELOAD that counts the allocations of the program itself, without those of the libraries that it has
// loaded. When the program ends, the library appends the number to stderr.
#define _GNU_SOURCE
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_long count;
static uintptr_t start, end;

// The first object is the program.
static int range(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size, (void)context;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        start = info->dlpi_addr + part->p_vaddr;
        end = start + part->p_memsz;
    }
    return 1;
}

__attribute__((constructor)) static void find(void) { dl_iterate_phdr(range, NULL); }

#define COUNT() \
    do { \
        uintptr_t caller = (uintptr_t)__builtin_return_address(0); \
        if (caller >= start && caller < end) atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); \
    } while (0)

void *malloc(size_t size) {
    COUNT();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    COUNT();
    return __libc_calloc(number, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    COUNT();
    *memory = __libc_memalign(alignment, size);
    return *memory || !size ? 0 : 12;
}

void *aligned_alloc(size_t alignment, size_t size) {
    COUNT();
    return __libc_memalign(alignment, size);
}

__attribute__((destructor)) static void print(void) {
    char text[64];
    int length = snprintf(text, sizeof text, "allocations: %ld\n", count);
    if (write(STDERR_FILENO, text, length) < 0) _exit(1);
}
