// Has a program run by its server (server.c), as if it were started here: with the same arguments, environment, working
// folder, limits and open files. Signals reach it, and its status is this program's. The name of this program selects
// the server, whose socket is beside it.
//
// Without a server, if a variable is meant for the dynamic linker, or with other open files than the standard ones, the
// program is started directly.
#define _GNU_SOURCE
#include "request.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int connection = -1;

static int is_for_linker(const char *variable) {
    const char *prefixes[] = {"LD_", "GLIBC_", "MALLOC_"};
    for (int index = 0; index < 3; index++)
        if (strncmp(variable, prefixes[index], strlen(prefixes[index])) == 0) return 1;
    return 0;
}

// Returns whether descriptors 0 to 2 are open and no others.
static int has_standard_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return 0;
    int count = 0, others = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        int number = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || number == dirfd(folder)) continue;
        number < 3 ? count++ : others++;
    }
    closedir(folder);
    return count == 3 && others == 0;
}

// If the program has ended, the status is on its way.
static void forward(int number) {
    int error = errno;
    unsigned char byte = (unsigned char)number;
    (void)!send(connection, &byte, 1, MSG_NOSIGNAL);
    errno = error;
}

static int send_all(struct request *request, char *text, const int *files) {
    char control[CMSG_SPACE(descriptors * sizeof(int))] = {0};
    struct iovec part = {request, sizeof *request};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
    memcpy(CMSG_DATA(header), files, descriptors * sizeof(int));
    if (sendmsg(connection, &message, MSG_NOSIGNAL) != sizeof *request) return 0;
    for (size_t done = 0; done < request->size;) {
        ssize_t sent = send(connection, text + done, request->size - done, MSG_NOSIGNAL);
        if (sent < 0) return 0;
        done += (size_t)sent;
    }
    return 1;
}

static char *append(char *text, char **words) {
    for (; *words; words++) text = stpcpy(text, *words) + 1;
    return text;
}

int main(int count, char **arguments) {
    char own[4096] = "", real[4200];
    if (readlink("/proc/self/exe", own, sizeof own - 1) < 0) return 126;
    const char *name = basename(own);
    snprintf(real, sizeof real, "/usr/bin/%s", name);
    struct request request = {.arguments = (uint32_t)count, .mask = umask(0)};
    umask(request.mask);
    for (int index = 0; index < count; index++) request.size += (uint32_t)strlen(arguments[index]) + 1;
    int is_plain = has_standard_files();
    for (char **variable = environ; *variable; variable++) {
        request.size += (uint32_t)strlen(*variable) + 1, request.variables++;
        is_plain &= !is_for_linker(*variable);
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof address.sun_path, "%s.socket", own);
    connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!is_plain || length >= (int)sizeof address.sun_path || connect(connection, (struct sockaddr *)&address, sizeof address)) {
        execv(real, arguments);
        return 127;
    }
    for (int index = 0; index < RLIM_NLIMITS; index++)
        if (getrlimit(index, &request.limits[index])) return 126;
    char *text = malloc(request.size);
    int files[descriptors] = {0, 1, 2, open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!text || files[3] < 0) return 126;
    append(append(text, arguments), environ);
    // Signals are forwarded after the request.
    int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    sigset_t held, before;
    sigemptyset(&held);
    for (int index = 0; index < 6; index++) {
        sigaddset(&held, numbers[index]);
        if (signal(numbers[index], forward) == SIG_IGN) signal(numbers[index], SIG_IGN);
    }
    sigprocmask(SIG_BLOCK, &held, &before);
    if (!send_all(&request, text, files)) return 126;
    sigprocmask(SIG_SETMASK, &before, NULL);
    for (int index = 0; index < 3; index++) close(index);
    int status;
    ssize_t size;
    do size = recv(connection, &status, sizeof status, MSG_WAITALL);
    while (size < 0 && errno == EINTR);
    if (size != sizeof status) return 126;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 126;
}
