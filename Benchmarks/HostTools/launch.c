// launch JOBS RESULT COMMAND [ARGUMENT]...: runs a command JOBS times at once, with /dev/null as stdin and stdout, and
// writes four numbers to the file RESULT: user and system time in seconds (the sum of all jobs), peak memory in KiB (of
// the largest job), and elapsed time in seconds. The exit status is that of the first job that fails.
//
// The kernel counts the memory of the process that starts a program in the program's peak. This program is small.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void become(char **command) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    if (null > 2) close(null);
    execvp(command[0], command);
    fprintf(stderr, "%s: %s\n", command[0], strerror(errno));
    _exit(127);
}

int main(int argc, char **argv) {
    enum { most = 64 };
    const int jobs = argc > 3 ? atoi(argv[1]) : 0;
    if (jobs < 1 || jobs > most) {
        fprintf(stderr, "usage: launch JOBS RESULT COMMAND [ARGUMENT]... (1 to %d jobs)\n", most);
        return 64;
    }
    const double start = now();
    for (int i = 0; i < jobs; i++) {
        pid_t child = fork();
        if (child == 0) become(argv + 3);
        if (child < 0) {
            perror("launch");
            return 71;
        }
    }
    double user = 0, system = 0;
    long peak = 0;
    int failure = 0;
    for (int i = 0; i < jobs; i++) {
        struct rusage usage;
        int status;
        while (wait4(-1, &status, 0, &usage) < 0) if (errno != EINTR) return 71;
        user += seconds(usage.ru_utime);
        system += seconds(usage.ru_stime);
        if (usage.ru_maxrss > peak) peak = usage.ru_maxrss;
        if (status && !failure) failure = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    const double elapsed = now() - start;
    FILE *result = fopen(argv[2], "w");
    if (!result) {
        perror(argv[2]);
        return 73;
    }
    fprintf(result, "%.6f %.6f %ld %.6f\n", user, system, peak, elapsed);
    if (fclose(result)) return 74;
    return failure;
}
