#include "workers/agent/process_runner.hpp"

#include <spdlog/spdlog.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "workers/agent/system/proc_info.hpp"

namespace tidepool::agent {
namespace {

namespace asio = boost::asio;

// waitid's idtype for a pidfd; glibc 2.36 names it only with its own header.
constexpr auto kIdOfPidfd = static_cast<idtype_t>(3);

constexpr int kSettingsAreWrong = 2;  // the protocol's exit code for "do not try again"

// tidepool-confine encodes the signal that ended the program in its exit code.
ProcessEnd end_with_code(const ProcessRecord& record, int code) {
  constexpr int kSignals = 128;
  if (record.uid != 0 && code > kSignals) return {.worker = record.worker, .signal = code - kSignals};
  return {.worker = record.worker, .exit_code = code};
}

ProcessEnd end_of(const ProcessRecord& record, int wait_status) {
  if (WIFEXITED(wait_status)) return end_with_code(record, WEXITSTATUS(wait_status));
  return {.worker = record.worker, .signal = WTERMSIG(wait_status)};
}

void kill_leftovers(const ProcessRecord& record) {
  const auto members = group_members(record.pid, record.worker);
  if (!members.ok()) return;
  for (const pid_t member : *members) ::kill(member, SIGKILL);
}

}  // namespace

ProcessEnd not_started(WorkerId worker, const Error& why) {
  const bool settings = why.code == ErrorCode::kInvalidArgument || why.code == ErrorCode::kNotFound;
  return {.worker = worker,
          .exit_code = settings ? kSettingsAreWrong : -1,
          .detail = why.message,
          .agent_failed = !settings};
}

ProcessRunner::ProcessRunner(asio::io_context& io, std::function<void(const ProcessEnd&)> on_end)
    : io_(io), on_end_(std::move(on_end)), boot_id_(boot_id()) {}

Status ProcessRunner::start(const ProcessRecord& identity, const ChildSpec& spec,
                            const std::function<Status(const ProcessRecord&)>& record) {
  ProcessRecord process = identity;
  process.boot_id = boot_id_;
  auto child = start_child(spec, [&](pid_t pid) -> Status {
    const auto stat = read_proc_stat(pid);
    if (!stat) return io_error("/proc does not show the new process; is /proc mounted?");
    process.pid = pid;
    process.start_time = stat->start_time;
    return record(process);
  });
  if (!child) return child.error();
  Running& running = watch(process, std::move(child->pidfd), true);
  if (child->open_start) {
    spdlog::warn(
        "event=start_slow worker={} why=\"it has not entered its folder and program yet; does their file "
        "system answer?\"",
        process.worker.text());
  }
  running.start = std::move(child->open_start);
  return ok_status();
}

bool ProcessRunner::adopt(const ProcessRecord& record) {
  if (record.boot_id != boot_id_) return false;
  UniqueFd pidfd = open_pidfd(record.pid);
  // Compare after opening the pidfd, so that the pid cannot be reused in between.
  const auto stat = read_proc_stat(record.pid);
  if (!pidfd || !stat || stat->start_time != record.start_time) {
    kill_leftovers(record);
    return false;
  }
  watch(record, std::move(pidfd), false);
  return true;
}

ProcessRunner::Running& ProcessRunner::watch(const ProcessRecord& record, UniqueFd pidfd, bool ours) {
  const WorkerId worker = record.worker;
  auto descriptor = std::make_unique<asio::posix::stream_descriptor>(io_, pidfd.release());
  descriptor->async_wait(asio::posix::stream_descriptor::wait_read, [this, worker](boost::system::error_code error) {
    if (!error) on_ended(worker);
  });
  return running_[worker] = Running{.record = record, .ours = ours, .pidfd = std::move(descriptor), .start = {}};
}

void ProcessRunner::signal(WorkerId worker, int signal) {
  const auto found = running_.find(worker);
  if (found == running_.end()) return;
  const Running& running = found->second;
  // The group's id is the leader's pid: it stays reserved while the leader lives, or has ended but is not reaped.
  const bool held =
      running.ours || ::syscall(SYS_pidfd_send_signal, running.pidfd->native_handle(), 0, nullptr, 0) == 0;
  if (held) ::kill(-running.record.pid, signal);
}

std::vector<WorkerId> ProcessRunner::workers() const {
  std::vector<WorkerId> workers;
  for (const auto& [worker, ignored] : running_) workers.push_back(worker);
  return workers;
}

void ProcessRunner::on_ended(WorkerId worker) {
  auto node = running_.extract(worker);
  if (node.empty()) return;
  const ProcessEnd end = reap(node.mapped());
  on_end_(end);
}

ProcessEnd ProcessRunner::reap(const Running& running) {
  const ProcessRecord& record = running.record;
  if (!running.ours) {
    const auto status = wait_status_of_stranger(record.pid, running.pidfd->native_handle());
    kill_leftovers(record);
    return status ? end_of(record, *status) : ProcessEnd{.worker = record.worker, .known = false};
  }
  // While the leader is an unreaped zombie, no other process group can have its id.
  ::kill(-record.pid, SIGKILL);
  siginfo_t info{};
  while (::waitid(kIdOfPidfd, static_cast<id_t>(running.pidfd->native_handle()), &info, WEXITED) < 0 &&
         errno == EINTR) {
  }
  const auto failure = running.start ? running.start->failure() : std::nullopt;
  if (failure) return not_started(record.worker, *failure);
  if (info.si_code == CLD_EXITED) return end_with_code(record, info.si_status);
  return {.worker = record.worker, .signal = info.si_status};
}

}  // namespace tidepool::agent
