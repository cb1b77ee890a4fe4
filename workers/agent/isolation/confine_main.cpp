// tidepool-confine: the first process of a worker's pid namespace. It creates the program's view, starts the program as
// the job's user, waits for it and ends with its outcome. When it ends, the kernel ends every process of the worker.
// Exit code: the program's; 128 + N if signal N ended it; 125 if it could not be started.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>

#include "workers/agent/isolation/confine_plan.hpp"
#include "workers/agent/isolation/privileges.hpp"
#include "workers/agent/isolation/view.hpp"
#include "workers/agent/system/exec_program.hpp"
#include "workers/agent/system/start_failure.hpp"
#include "workers/agent/system/syscall_filter.hpp"

namespace {

using namespace tidepool;
using namespace tidepool::agent;

constexpr int kNotStarted = 125;

[[noreturn]] void fail(StartStep step, const std::string& what, int error = 0) {
  StartFailure failure{.step = step, .error = error};
  std::strncpy(failure.what, what.c_str(), sizeof failure.what - 1);
  (void)!::write(kFailureDescriptor, &failure, sizeof failure);
  ::_exit(kNotStarted);
}

void require(const Status& status) {
  if (!status.ok()) fail(StartStep::kSetup, status.error().message);
}

std::string read_plan() {
  std::string text;
  char buffer[16'384];
  for (;;) {
    const ssize_t got = ::read(kPlanDescriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(StartStep::kSetup, "read the plan", errno);
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

void enter(const std::string& group) {
  const int file = ::open(group.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0 || ::write(file, "0", 1) != 1) fail(StartStep::kSetup, "enter " + group, errno);
  ::close(file);
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

[[noreturn]] void become_program(const ConfinePlan& plan) {
  const auto argv = pointers_to(plan.argv);
  const auto environment = pointers_to(plan.environment);
  require(set_limits(plan));
  require(become_user(plan.uid));
  const std::string workdir = plan.workdir.empty() ? "/tmp" : plan.workdir;
  if (::chdir(workdir.c_str()) != 0) fail(StartStep::kWorkdir, "", errno);
  std::error_code error;
  if (!plan.make_folder.empty()) std::filesystem::create_directories(plan.make_folder, error);
  if (error) fail(StartStep::kSetup, "make the checkpoint folder " + plan.make_folder, error.value());
  // Last, because the earlier steps may need calls that the filter denies.
  if (!plan.syscall_filter.empty() && !enter_syscall_filter(plan.syscall_filter)) {
    fail(StartStep::kSetup, "enter the system call filter", errno);
  }
  const std::vector<std::string> only{plan.program};
  exec_first(pointers_to(plan.places.empty() ? only : plan.places).data(), argv.data(), environment.data());
  fail(StartStep::kProgram, "", errno);
}

// Orphans of the namespace become children of this process and are reaped here too.
int outcome_of(pid_t program) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) return kNotStarted;
    if (ended == program) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}

int confine() {
  if (::fcntl(kFailureDescriptor, F_SETFD, FD_CLOEXEC) != 0) return kNotStarted;
  const auto plan = plan_from_text(read_plan());
  ::close(kPlanDescriptor);
  if (!plan) fail(StartStep::kSetup, plan.error().message);
  if (plan->uid == 0) fail(StartStep::kSetup, "a confined program cannot be root");
  if (::getpid() != 1) fail(StartStep::kSetup, "the agent must start this in a pid namespace of its own");
  for (const std::string& group : plan->groups) enter(group);
  require(make_view(*plan));
  const pid_t program = ::fork();
  if (program < 0) fail(StartStep::kSetup, "start a process", errno);
  if (program == 0) become_program(*plan);
  require(drop_capabilities());
  for (const int descriptor : {0, 1, 2, kFailureDescriptor}) ::close(descriptor);
  return outcome_of(program);
}

}  // namespace

int main() {
  try {
    return confine();
  } catch (const std::exception& error) {
    fail(StartStep::kSetup, error.what());
  }
}
