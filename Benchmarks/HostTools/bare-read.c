// bare-read FILE FRAMEBYTES: reads a raw file frame by frame into three buffers of shared memory, and nothing else. No
// program that encodes raw frames can cost less, unless it does not copy them.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { buffer_count = 3 };

int main(int argc, char **argv) {
    const long size = argc == 3 ? atol(argv[2]) : 0;
    const int file = size > 0 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0) {
        fprintf(stderr, "usage: bare-read FILE FRAMEBYTES (a file that can be read, and a positive number)\n");
        return 64;
    }
    char *buffers[buffer_count];
    for (int i = 0; i < buffer_count; i++) {
        int memory = memfd_create("bare-read", 0);
        if (memory < 0 || ftruncate(memory, size)) return 71;
        buffers[i] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
        if (buffers[i] == MAP_FAILED) return 71;
    }
    for (int index = 0;; index = (index + 1) % buffer_count) {
        const ssize_t count = read(file, buffers[index], size);
        if (count < 0) {
            perror("bare-read");
            return 74;
        }
        // The last read of a file with a header is shorter.
        if (count < size) return 0;
    }
}
