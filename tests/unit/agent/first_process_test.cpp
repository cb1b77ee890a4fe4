#include "workers/agent/system/first_process.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include <catch2/catch.hpp>

#include "tests/support/patience.hpp"
#include "workers/agent/system/wait_for_end.hpp"

namespace tidepool::agent {
namespace {

// As the first process of a container would: orphans below it become its children. `agent` runs as its child.
template <class Agent>
int outcome_of(const Agent& agent) {
  const pid_t first = ::fork();
  if (first == 0) {
    sigset_t awaited;
    ::sigfillset(&awaited);
    ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(agent());
    ::_exit(stand_before(child, awaited));
  }
  return wait_for_end(first);
}

}  // namespace

TEST_CASE("what a worker leaves behind is no zombie once it has ended, and the agent's exit code is kept") {
  const int status = outcome_of([] {
    int ends[2];
    if (::pipe(ends) != 0) return 1;
    const pid_t worker = ::fork();
    if (worker == 0) {
      const pid_t orphan = ::fork();
      if (orphan == 0) ::_exit(0);
      (void)!::write(ends[1], &orphan, sizeof orphan);
      ::_exit(0);
    }
    pid_t orphan = 0;
    if (::read(ends[0], &orphan, sizeof orphan) != sizeof orphan) return 2;
    if (wait_for_end(worker) != 0) return 3;
    // A zombie would still have its number.
    return test::eventually([&] { return ::kill(orphan, 0) < 0 && errno == ESRCH; }) ? 7 : 4;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("a signal to the first process is the agent's, and so is the signal that ended it") {
  const int status = outcome_of([] {
    sigset_t term;
    ::sigemptyset(&term);
    ::sigaddset(&term, SIGTERM);
    ::kill(::getppid(), SIGTERM);
    siginfo_t info{};
    if (::sigwaitinfo(&term, &info) != SIGTERM) return 1;  // blocked as in the first process
    ::raise(SIGKILL);
    return 2;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 128 + SIGKILL);
}

}  // namespace tidepool::agent
