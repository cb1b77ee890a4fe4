#include "workers/agent/system/first_process.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace tidepool::agent {

int stand_before(pid_t child, const sigset_t& awaited) {
  for (;;) {
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&awaited, &info);
    if (signal > 0 && signal != SIGCHLD) ::kill(child, signal);
    if (signal != SIGCHLD) continue;
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
  }
}

void leave_first_process() {
  if (::getpid() != 1) return;
  sigset_t awaited;
  sigset_t before;
  ::sigfillset(&awaited);
  ::sigprocmask(SIG_BLOCK, &awaited, &before);  // so that no end is missed
  const pid_t child = ::fork();
  if (child > 0) ::_exit(stand_before(child, awaited));
  ::sigprocmask(SIG_SETMASK, &before,
                nullptr);  // of the child; without a child this process is the agent after all
}

}  // namespace tidepool::agent
