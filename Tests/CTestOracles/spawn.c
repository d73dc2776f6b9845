#define _GNU_SOURCE
#include "CTestOracles.h"
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

int vaenc_oracle_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }

int vaenc_oracle_spawn(
    int *pid, const struct vaenc_oracle_child *child, char *const *argv, char *const *envp
) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child->input, 0);
    posix_spawn_file_actions_adddup2(&actions, child->output, 1);
    posix_spawn_file_actions_adddup2(&actions, child->errors, 2);
    if (child->folder) posix_spawn_file_actions_addchdir_np(&actions, child->folder);
    int status = posix_spawnp(pid, argv[0], &actions, NULL, argv, envp);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}
