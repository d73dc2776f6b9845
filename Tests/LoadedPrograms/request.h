// What client.c and server.c exchange.
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

// Descriptors 0 to 2 and the working folder, which are passed with the request.
enum { descriptors = 4 };

// A run of the program. The arguments and the environment follow as `size` bytes of strings, each with its zero.
struct request {
    uint32_t arguments, variables, size;
    mode_t mask;
    struct rlimit limits[RLIM_NLIMITS];
};
