#include "workers/agent/system/child_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "workers/agent/system/state_files.hpp"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2U)
#endif

namespace tidepool::agent {
namespace {

enum class Step : int { kSetup, kWorkdir, kProgram };

// What the child writes into the pipe when it cannot become the program.
struct Failure {
  Step step = Step::kSetup;
  int error = 0;
};

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("create a pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

cpu_set_t set_of(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return set;
}

// Everything that the child needs, allocated before the fork: after it only async-signal-safe calls.
struct ChildPlan {
  const char* program;
  char* const* argv;
  char* const* environment;
  const char* workdir;
  const cpu_set_t* cpus;  // null: those of the agent
  int output;
  int go;
  int failure;
};

[[noreturn]] void fail_child(const ChildPlan& plan, Step step) {
  const Failure failure{step, errno};
  (void)!::write(plan.failure, &failure, sizeof failure);
  ::_exit(127);
}

// An ignored signal stays ignored across exec, and a blocked one blocked; a worker starts with neither.
void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become_program(const ChildPlan& plan) {
  reset_signals();
  char go = 0;
  ssize_t got = 0;
  do {
    got = ::read(plan.go, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(127);  // the agent died or could not record us
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (plan.cpus != nullptr && ::sched_setaffinity(0, sizeof *plan.cpus, plan.cpus) != 0) fail_child(plan, Step::kSetup);
  if (::setsid() < 0 || nothing < 0 || ::dup2(nothing, 0) < 0) fail_child(plan, Step::kSetup);
  if (::dup2(plan.output, 1) < 0 || ::dup2(plan.output, 2) < 0) fail_child(plan, Step::kSetup);
  if (::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0) fail_child(plan, Step::kSetup);
  if (plan.workdir[0] != '\0' && ::chdir(plan.workdir) != 0) fail_child(plan, Step::kWorkdir);
  ::execve(plan.program, plan.argv, plan.environment);
  fail_child(plan, Step::kProgram);
}

Error explain(const Failure& failure, const ChildSpec& spec) {
  const std::string reason = std::generic_category().message(failure.error);
  switch (failure.step) {
    case Step::kWorkdir:
      return invalid_argument("could not enter the working directory " + spec.workdir + ": " + reason);
    case Step::kProgram: return invalid_argument("could not start " + spec.program + ": " + reason);
    case Step::kSetup: break;
  }
  return io_error("could not prepare the process of " + spec.program + ": " + reason);
}

void reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// True if the child has become the program: then the pipe closes without a word.
bool read_failure(int pipe, Failure& failure) {
  ssize_t got = 0;
  do {
    got = ::read(pipe, &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  return got == 0;
}

}  // namespace

UniqueFd open_pidfd(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
}

Result<ChildProcess> start_child(const ChildSpec& spec, const std::function<Status(pid_t)>& record) {
  auto go = make_pipe();
  if (!go) return go.error();
  auto failures = make_pipe();
  if (!failures) return failures.error();
  const std::vector<char*> argv = pointers(spec.argv);
  const std::vector<char*> environment = pointers(spec.environment);
  const cpu_set_t cpus = set_of(spec.cpus);
  const ChildPlan plan{.program = spec.program.c_str(),
                       .argv = argv.data(),
                       .environment = environment.data(),
                       .workdir = spec.workdir.c_str(),
                       .cpus = spec.cpus.empty() ? nullptr : &cpus,
                       .output = spec.output,
                       .go = go->read.get(),
                       .failure = failures->write.get()};
  const pid_t pid = ::fork();
  if (pid < 0) return errno_error("start a process");
  if (pid == 0) {
    ::close(go->write.get());  // else the child would wait for itself if the agent died
    become_program(plan);
  }
  failures->write.reset();
  ChildProcess child{.pid = pid, .pidfd = open_pidfd(pid)};
  Status ready = child.pidfd ? record(pid) : Status(errno_error("watch the new process (pidfd_open needs Linux 5.3)"));
  if (ready.ok()) ready = write_all(go->write.get(), "g");
  go->write.reset();
  Failure failure;
  if (ready.ok() && read_failure(failures->read.get(), failure)) return child;
  reap(pid);
  if (!ready.ok()) return ready.error();
  return explain(failure, spec);
}

}  // namespace tidepool::agent
