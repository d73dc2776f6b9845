// A library for LD_PRELOAD that keeps a program loaded. The dynamic linker needs 60 ms for the 200 libraries of ffmpeg,
// and a short run needs no more than that. The program stops before `main` and waits for requests on the socket
// LOADED_PROGRAM_SOCKET. For each request, a copy of the process (fork) calls `main` with the arguments, environment,
// working folder, limits and open files of client.c.
#define _GNU_SOURCE
#include "request.h"
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_function(int, char **, char **);
extern char **environ;
static main_function *program;

static char *receive(int connection, struct request *request, int *files) {
    char control[CMSG_SPACE(descriptors * sizeof(int))];
    struct iovec part = {request, sizeof *request};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t size = recvmsg(connection, &message, MSG_WAITALL);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (size != sizeof *request || !header || header->cmsg_len != CMSG_LEN(descriptors * sizeof(int))) return NULL;
    memcpy(files, CMSG_DATA(header), descriptors * sizeof(int));
    char *text = malloc(request->size);
    return text && recv(connection, text, request->size, MSG_WAITALL) == (ssize_t)request->size ? text : NULL;
}

static void split(char *text, char **words, uint32_t count) {
    for (uint32_t index = 0; index < count; index++, text += strlen(text) + 1) words[index] = text;
}

static _Noreturn void run(const struct request *request, char *text, const int *files) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char **arguments = calloc((size_t)request->arguments + 1, sizeof *arguments);
    char **variables = calloc((size_t)request->variables + 1, sizeof *variables);
    if (!arguments || !variables) _exit(126);
    split(text, arguments, request->arguments);
    for (uint32_t index = 0; index < request->arguments; index++) text += strlen(text) + 1;
    split(text, variables, request->variables);
    int failed = fchdir(files[3]);
    for (int index = 0; index < 3; index++) failed |= dup2(files[index], index) < 0;
    for (int index = 0; index < descriptors; index++) close(files[index]);
    for (int index = 0; index < RLIM_NLIMITS; index++) failed |= setrlimit(index, &request->limits[index]);
    if (failed) _exit(126);
    umask(request->mask);
    environ = variables;
    exit(program((int)request->arguments, arguments, variables));
}

// Runs one request. The client sends a byte for each signal, and gets the status that waitpid returns. If the client is
// killed, so is the program.
static _Noreturn void serve(int connection) {
    struct request request;
    int files[descriptors];
    char *text = receive(connection, &request, files);
    if (!text) _exit(1);
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
    sigaction(SIGCHLD, &action, NULL);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    pid_t child = fork();
    if (child == 0) {
        close(connection);
        sigprocmask(SIG_UNBLOCK, &ends, NULL);
        run(&request, text, files);
    }
    for (int index = 0; index < descriptors; index++) close(files[index]);
    struct pollfd events[2] = {{.fd = connection, .events = POLLIN}, {.fd = signalfd(-1, &ends, SFD_CLOEXEC), .events = POLLIN}};
    int status = 126 << 8;
    while (child > 0 && waitpid(child, &status, WNOHANG) == 0) {
        poll(events, 2, -1);
        unsigned char number = SIGKILL;
        struct signalfd_siginfo end;
        if (events[1].revents != 0) (void)!read(events[1].fd, &end, sizeof end);
        if (events[0].revents == 0) continue;
        if (read(connection, &number, 1) != 1) events[0].fd = -1;
        kill(child, number);
    }
    _exit(write(connection, &status, sizeof status) != sizeof status);
}

static int wait_for_requests(int count, char **arguments, char **variables) {
    (void)count, (void)arguments, (void)variables;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("LOADED_PROGRAM_SOCKET");
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!path || strlen(path) >= sizeof address.sun_path) return 126;
    strcpy(address.sun_path, path);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64)) return 126;
    signal(SIGCHLD, SIG_IGN);
    // The server ends with the process that has started it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0) continue;
        if (fork() == 0) {
            close(listener);
            serve(connection);
        }
        close(connection);
    }
}

int __libc_start_main(
    main_function *own, int count, char **arguments, void (*begin)(void), void (*end)(void), void (*unload)(void), void *stack
) {
    typedef int start(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    program = own;
    return ((start *)dlsym(RTLD_NEXT, "__libc_start_main"))(wait_for_requests, count, arguments, begin, end, unload, stack);
}
