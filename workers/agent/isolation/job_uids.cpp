#include "workers/agent/isolation/job_uids.hpp"

#include <sstream>

#include "base/files/whole_file.hpp"
#include "base/number_text.hpp"
#include "workers/agent/system/proc_info.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kLowest = 1'000;
constexpr uid_t kHighest = 4'000'000'000;

// Uses the process's status: its folder in /proc belongs to root if it has made itself unreadable.
bool has_user(const std::string& status, uid_t uid) {
  const std::size_t line = status.find("\nUid:");
  if (line == std::string::npos) return false;
  std::istringstream in(status.substr(line + 5, 80));
  for (uid_t each = 0; in >> each;) {
    if (each == uid) return true;
  }
  return false;
}

}  // namespace

Result<UidRange> UidRange::parse(const std::string& text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number<uid_t>(text.substr(0, dash));
  const auto last = dash == std::string::npos ? std::nullopt : parse_number<uid_t>(text.substr(dash + 1));
  if (!first || !last) return invalid_argument("\"" + text + "\" is no range of users; write it as 200000-299999");
  const UidRange range{.first = *first, .last = *last};
  if (range.first < kLowest || range.last > kHighest || range.first > range.last) {
    return invalid_argument("the range " + text + " must ascend, from " + std::to_string(kLowest) + " to " +
                            std::to_string(kHighest) + " at most");
  }
  return range;
}

uid_t JobUids::uid_of(JobId job) const {
  const std::uint64_t size = range_.last - range_.first + 1;
  return range_.first + static_cast<uid_t>(job.number() % size);
}

Result<uid_t> JobUids::claim(const std::string& cluster, JobId job) const {
  const uid_t uid = uid_of(job);
  TP_TRY(make_private_folder(claims_));
  const fs::path file = claims_ / std::to_string(uid);
  const std::string owner = cluster + " " + job.text();
  const auto claimed = read_whole_file(file);
  if (claimed.ok() && *claimed == owner) return uid;
  const auto living = processes_of(uid);
  if (!living.ok()) return living.error();
  if (!living->empty()) {
    return io_error("user " + std::to_string(uid) + ", which would be " + job.text() +
                    "'s, has living processes (pid " + std::to_string(living->front()) +
                    (claimed.ok() ? ", of " + *claimed : std::string()) +
                    "); give this agent a range of its own with --job-uids");
  }
  TP_TRY(replace_file(file, owner));
  return uid;
}

Result<std::vector<pid_t>> processes_of(uid_t uid) {
  return processes_where([&](const fs::path& process, const ProcStat& stat) {
    const auto status = read_whole_file(process / "status");
    return status && has_user(*status, uid) && stat.state != 'Z';
  });
}

}  // namespace tidepool::agent
