#include "workers/agent/system/proc_info.hpp"

#include <unistd.h>

#include <sys/ioctl.h>

#include <charconv>
#include <filesystem>
#include <functional>
#include <sstream>

#include "base/files/whole_file.hpp"
#include "base/number_text.hpp"

namespace tidepool::agent {
namespace {

// linux/pidfd.h of 6.15, first version of the structure (64 bytes); Debian 12's header has none.
struct PidfdInfo {
  std::uint64_t mask = 0;
  std::uint64_t cgroup_id = 0;
  std::uint32_t ids[11] = {};
  std::int32_t wait_status = 0;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr std::uint64_t kPidfdInfoExit = 1U << 3U;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);

}  // namespace

// proc(5): "pid (comm) state ppid pgrp ... starttime(22) ... exit_code(52)"; comm may contain any character.
std::optional<ProcStat> read_proc_stat(pid_t pid) {
  const auto text = read_whole_file("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  const std::size_t comm_end = text->rfind(')');
  if (comm_end == std::string::npos) return std::nullopt;
  std::istringstream words(text->substr(comm_end + 1));
  ProcStat stat;
  std::string word;
  for (int field = 3; words >> word; ++field) {
    const auto number = [&word](auto& into) {
      return std::from_chars(word.data(), word.data() + word.size(), into).ec == std::errc{};
    };
    if (field == 3) stat.state = word.front();
    if (field == 5 && !number(stat.group)) return std::nullopt;
    if (field == 22 && !number(stat.start_time)) return std::nullopt;
    if (field == 52) return number(stat.wait_status) ? std::optional(stat) : std::nullopt;
  }
  return std::nullopt;
}

std::string boot_id() {
  auto text = read_whole_file("/proc/sys/kernel/random/boot_id");
  if (!text) return {};
  while (text->ends_with('\n')) text->pop_back();
  return *text;
}

std::optional<int> wait_status_of_stranger(pid_t pid, int pidfd) {
  PidfdInfo info{.mask = kPidfdInfoExit};
  // Query the pidfd first: once it has the exit status, the pid may belong to another process.
  if (::ioctl(pidfd, kPidfdGetInfo, &info) == 0 && (info.mask & kPidfdInfoExit) != 0) return info.wait_status;
  const auto stat = read_proc_stat(pid);
  if (stat && stat->state == 'Z') return stat->wait_status;
  // The process may have been reaped between the two queries.
  info = {.mask = kPidfdInfoExit};
  if (::ioctl(pidfd, kPidfdGetInfo, &info) == 0 && (info.mask & kPidfdInfoExit) != 0) return info.wait_status;
  return std::nullopt;
}

namespace {

namespace fs = std::filesystem;

bool has_in_environment(const fs::path& process, const std::string& entry) {
  const auto environment = read_whole_file(process / "environ");
  return environment && ('\0' + *environment).find('\0' + entry + '\0') != std::string::npos;
}

}  // namespace

Result<std::vector<pid_t>> processes_where(const ProcessTest& wanted, const fs::path& proc) {
  std::vector<pid_t> found;
  std::error_code error;
  fs::directory_iterator entry(proc, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const auto pid = parse_number<pid_t>(entry->path().filename().string());
    const auto stat = pid ? read_proc_stat(*pid) : std::nullopt;
    if (stat && wanted(entry->path(), *stat)) found.push_back(*pid);
  }
  if (error) return io_error("which processes there are is not known: " + proc.string() + ": " + error.message());
  return found;
}

Result<std::vector<pid_t>> group_members(pid_t group, WorkerId worker) {
  return processes_where([&](const fs::path& process, const ProcStat& stat) {
    return stat.group == group && has_in_environment(process, "TIDEPOOL_WORKER=" + worker.text());
  });
}

Result<std::vector<pid_t>> processes_with(const std::string& entry) {
  return processes_where([&](const fs::path& process, const ProcStat& stat) {
    return stat.state != 'Z' && has_in_environment(process, entry);
  });
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) result[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return result;
}

}  // namespace tidepool::agent
