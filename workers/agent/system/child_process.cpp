#include "workers/agent/system/child_process.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include "workers/agent/system/exec_program.hpp"
#include "workers/agent/system/start_failure.hpp"
#include "workers/agent/system/state_files.hpp"
#include "workers/agent/system/wait_for_end.hpp"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2U)
#endif

namespace tidepool::agent {
namespace {

// Local programs start within milliseconds; the caller has other workers to serve.
constexpr int kStartPatienceMs = 500;

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

// A path and those above it, outermost first.
std::vector<std::string> folders_to(const std::string& path) {
  std::vector<std::string> folders;
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    folders.push_back(path.substr(0, end));
  }
  return folders;
}

// The paths where the child looks for the program that it executes.
std::vector<std::string> paths_of(const ChildSpec& spec) {
  if (!spec.confiner.empty()) return {spec.confiner.front()};
  return spec.places.empty() ? std::vector<std::string>{spec.program} : spec.places;
}

cpu_set_t set_of(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return set;
}

// Everything that the child needs, allocated before the fork: after it only async-signal-safe calls are allowed.
struct ChildPlan {
  char* const* places;  // of the program
  char* const* argv;
  char* const* environment;
  const char* workdir;
  char* const* make_folders;            // outermost first
  const cpu_set_t* cpus;                // null: the agent's CPUs
  const SyscallFilter* syscall_filter;  // null: none here
  int output;
  int go;
  int failure;
  int confinement;  // contains the plan of a confined program; -1: not confined
};

[[noreturn]] void fail_child(const ChildPlan& plan, StartStep step, const char* what = "", const char* of = "") {
  StartFailure failure;
  failure.step = step;
  failure.error = errno;
  std::size_t length = 0;
  for (const char* text : {what, of}) {
    while (*text != '\0' && length + 1 < sizeof failure.what) failure.what[length++] = *text++;
  }
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

// Moves both descriptors away first, because either may have the other's number.
bool hand_over(ChildPlan& plan) {
  const int confinement = ::fcntl(plan.confinement, F_DUPFD_CLOEXEC, kFailureDescriptor + 1);
  const int failure = ::fcntl(plan.failure, F_DUPFD_CLOEXEC, kFailureDescriptor + 1);
  if (confinement < 0 || failure < 0) return false;
  plan.failure = failure;
  return ::dup2(confinement, kPlanDescriptor) >= 0 && ::dup2(failure, kFailureDescriptor) >= 0;
}

void make_folders(const ChildPlan& plan) {
  for (char* const* folder = plan.make_folders; *folder != nullptr; ++folder) {
    struct stat info{};
    if (::mkdir(*folder, 0777) == 0) continue;
    const int error = errno;
    if (::stat(*folder, &info) == 0 && S_ISDIR(info.st_mode)) continue;
    errno = error;
    fail_child(plan, StartStep::kSetup, "make the checkpoint folder ", *folder);
  }
}

[[noreturn]] void become_program(ChildPlan plan) {
  reset_signals();
  char go = 0;
  ssize_t got = 0;
  do {
    got = ::read(plan.go, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(127);  // the agent died or could not record this process
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (plan.cpus != nullptr && ::sched_setaffinity(0, sizeof *plan.cpus, plan.cpus) != 0)
    fail_child(plan, StartStep::kSetup);
  if (::setsid() < 0 || nothing < 0 || ::dup2(nothing, 0) < 0) fail_child(plan, StartStep::kSetup);
  if (::dup2(plan.output, 1) < 0 || ::dup2(plan.output, 2) < 0) fail_child(plan, StartStep::kSetup);
  const bool confined = plan.confinement >= 0;
  if (confined && !hand_over(plan)) fail_child(plan, StartStep::kSetup);
  const unsigned first = confined ? kFailureDescriptor + 1 : STDERR_FILENO + 1;
  if (::syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) != 0) fail_child(plan, StartStep::kSetup);
  if (!confined && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail_child(plan, StartStep::kSetup);
  if (plan.workdir[0] != '\0' && ::chdir(plan.workdir) != 0) fail_child(plan, StartStep::kWorkdir);
  make_folders(plan);
  const bool filtered = plan.syscall_filter == nullptr || enter_syscall_filter(*plan.syscall_filter);
  if (!filtered) fail_child(plan, StartStep::kSetup);
  exec_first(plan.places, plan.argv, plan.environment);
  fail_child(plan, StartStep::kProgram);
}

Error explain(const StartFailure& failure, const OpenStart& start) {
  std::string reason = failure.error == 0 ? "" : std::generic_category().message(failure.error);
  const std::string what(failure.what, ::strnlen(failure.what, sizeof failure.what));
  if (!what.empty()) reason = what + (reason.empty() ? "" : ": ") + reason;
  const bool is_name = start.program.find('/') == std::string::npos;
  if (is_name && failure.step == StartStep::kProgram) reason += " beside agentd or on PATH";
  if (start.confined && failure.step != StartStep::kSetup) reason += " (for the job's own user, in its view)";
  switch (failure.step) {
    case StartStep::kWorkdir:
      if (start.confined && start.workdir.starts_with("/tmp/")) {
        reason += "; an isolated job has a /tmp of its own, so name a folder elsewhere";
      }
      return invalid_argument("could not enter the working directory " + start.workdir + ": " + reason);
    case StartStep::kProgram: return invalid_argument("could not start " + start.program + ": " + reason);
    case StartStep::kSetup: break;
  }
  return io_error("could not prepare the process of " + start.program + ": " + reason);
}

enum class StartOutcome { kOpen, kProgram, kFailed };

// The pipe closes without a byte when the child executes the program.
StartOutcome outcome_of(int pipe, int patience_ms, StartFailure& failure) {
  pollfd entry{.fd = pipe, .events = POLLIN, .revents = 0};
  while (::poll(&entry, 1, patience_ms) < 0 && errno == EINTR) {
  }
  if (entry.revents == 0) return StartOutcome::kOpen;
  ssize_t got = 0;
  do {
    got = ::read(pipe, &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  return got == 0 ? StartOutcome::kProgram : StartOutcome::kFailed;
}

// Readable at `kPlanDescriptor` from the first byte.
Result<UniqueFd> file_in_memory(const std::string& text) {
  UniqueFd file(::memfd_create("plan", MFD_CLOEXEC));
  if (!file) return errno_error("create a file in memory");
  TP_TRY(write_all(file.get(), text));
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return errno_error("rewind a file in memory");
  return file;
}

// Like fork(2); the child of a confined program is the first process of a pid namespace.
pid_t fork_child(bool confined) {
  if (!confined) return ::fork();
  return static_cast<pid_t>(::syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, 0));
}

}  // namespace

std::vector<std::string> entries_of(const std::map<std::string, std::string>& environment) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : environment) entries.push_back(name + "=" + value);
  return entries;
}

UniqueFd open_pidfd(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
}

std::optional<Error> OpenStart::failure() const {
  StartFailure failure;
  if (outcome_of(failures.get(), 0, failure) != StartOutcome::kFailed) return std::nullopt;
  return explain(failure, *this);
}

Result<ChildProcess> start_child(const ChildSpec& spec, const std::function<Status(pid_t)>& record) {
  auto go = make_pipe();
  if (!go) return go.error();
  auto failures = make_pipe();
  if (!failures) return failures.error();
  const bool confined = !spec.confiner.empty();
  auto confinement = confined ? file_in_memory(spec.plan) : Result<UniqueFd>(UniqueFd());
  if (!confinement) return confinement.error();
  // What a job sets in its environment must not reach a program that runs as root.
  const std::vector<std::string> nothing;
  const std::vector<char*> argv = pointers(confined ? spec.confiner : spec.argv);
  const std::vector<char*> environment = pointers(confined ? nothing : spec.environment);
  const std::vector<std::string> paths = paths_of(spec);
  const std::vector<char*> places = pointers(paths);
  const std::vector<std::string> folders = folders_to(confined ? "" : spec.make_folder);
  const std::vector<char*> make_folders = pointers(folders);
  const cpu_set_t cpus = set_of(spec.cpus);
  const ChildPlan plan{.places = places.data(),
                       .argv = argv.data(),
                       .environment = environment.data(),
                       .workdir = confined ? "" : spec.workdir.c_str(),
                       .make_folders = make_folders.data(),
                       .cpus = spec.cpus.empty() ? nullptr : &cpus,
                       .syscall_filter = confined || spec.syscall_filter.empty() ? nullptr : &spec.syscall_filter,
                       .output = spec.output,
                       .go = go->read.get(),
                       .failure = failures->write.get(),
                       .confinement = confinement->get()};
  const pid_t pid = fork_child(confined);
  if (pid < 0) return errno_error("start a process");
  if (pid == 0) {
    ::close(go->write.get());  // otherwise the child would keep the pipe open itself if the agent died
    become_program(plan);
  }
  failures->write.reset();
  ChildProcess child{.pid = pid, .pidfd = open_pidfd(pid)};
  Status ready = child.pidfd ? record(pid) : Status(errno_error("watch the new process (pidfd_open needs Linux 5.3)"));
  if (ready.ok()) ready = write_all(go->write.get(), "g");
  go->write.reset();
  OpenStart start{std::move(failures->read), spec.program, spec.workdir, confined};
  StartFailure failure;
  if (ready.ok()) {
    const StartOutcome outcome = outcome_of(start.failures.get(), kStartPatienceMs, failure);
    if (outcome == StartOutcome::kOpen) child.open_start = std::move(start);
    if (outcome != StartOutcome::kFailed) return child;
  }
  (void)wait_for_end(pid);
  if (!ready.ok()) return ready.error();
  return explain(failure, start);
}

}  // namespace tidepool::agent
